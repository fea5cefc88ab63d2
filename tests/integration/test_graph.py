"""The knowledge graph: what it has of memories, that nothing is left of those that go, and its picture."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cognee_forks import Died, Fork, Forks, task
from harness import CHROMIUM, PATIENCE

pytestmark = pytest.mark.cognee


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    forks = Forks(tmp_path_factory.mktemp("graph"))
    yield forks
    forks.close()


def memory(topic_id: str, name: str, **fields: Any) -> dict[str, Any]:
    fields.setdefault("decisions", [f"Use {name}", f"Drop {name}"])
    return {"id": str(uuid.uuid5(uuid.NAMESPACE_URL, name)), "topic_id": topic_id, **fields}


def names(fork: Fork, kind: str) -> set[str]:
    return {name for found, name, _ in fork.ask("graph")["nodes"] if found == kind}


def superseded(fork: Fork, record: dict[str, Any]) -> set[str]:
    edges = fork.ask("graph")["edges"]
    return {target for source, name, target in edges if (source, name) == (record["id"], "supersedes")}


def test_a_record_leads_to_what_it_supersedes_in_whichever_order_they_are_written(forks: Forks) -> None:
    first, second = memory("lakes", "first lake"), memory("lakes", "second lake")
    record = memory("lakes", "lakes merged", sources=[first["id"], second["id"]])
    later = memory("lakes", "merged again", sources=[record["id"]])
    with forks.start() as fork:
        fork.ask("keep", [first, later, record])
        assert superseded(fork, record) == {first["id"]}
        fork.ask("keep", [second])
        assert superseded(fork, record) == {first["id"], second["id"]}
        assert superseded(fork, later) == {record["id"]}
        fork.ask("drop", [record["id"]])
        assert superseded(fork, record) == superseded(fork, later) == set()
        assert fork.ask("reconcile") == 0


def test_an_edge_to_a_source_that_was_lost_is_written_again(forks: Forks) -> None:
    source = memory("hills", "a hill")
    record = memory("hills", "hills merged", sources=[source["id"]])
    with forks.start() as fork:
        fork.ask("keep", [source, record])
        fork.ask(
            "query", "MATCH (n:Node)-[e:EDGE]->(m:Node) WHERE n.id = $id AND m.id = $source DELETE e",
            {"id": record["id"], "source": source["id"]},
        )  # fmt: skip
        assert fork.ask("missing", [record["id"], source["id"]]) == [record["id"]]
        assert fork.ask("reconcile") == 1
        fork.ask("deliver_all")
        assert superseded(fork, record) == {source["id"]}


def test_a_deleted_memory_leaves_nothing_and_the_others_keep_what_they_share(forks: Forks) -> None:
    kept = memory("woods", "an oak", topic="Woods", session_id="shared", decisions=["Keep the oak"])
    with forks.start() as fork:
        fork.ask("keep", [kept])
        before = fork.ask("graph")
        gone = [
            memory("woods", "a beech", topic="Beeches", session_id="shared", plan_id="041"),
            memory("swamps", "a swamp", topic="Swamps", session_id="alone"),
        ]
        fork.ask("keep", gone)
        assert {"Beeches", "Swamps"} <= names(fork, "Topic")
        ids = [given["id"] for given in gone]
        fork.ask("drop", ids)
        assert fork.ask("graph") == before, "the topic has its name from a memory that stays"
        fork.ask("drop", [*ids, str(uuid.uuid4())])
        assert fork.ask("graph") == before


def test_a_memory_that_says_less_than_before_has_no_more_in_the_graph_than_that(forks: Forks) -> None:
    long = memory("seas", "a sea", decisions=["One", "Two", "Three"], plan_id="042")
    short = {**long, "decisions": ["One"], "plan_id": None}
    with forks.start() as fork:
        fork.ask("keep", [memory("seas", "another sea", decisions=["Four"])])
        fork.ask("keep", [short])
        wanted = fork.ask("graph")
        fork.ask("drop", [short["id"]])
        fork.ask("keep", [long])
        fork.ask("forgo", long["id"])
        fork.ask("keep", [short])
        found = fork.ask("graph")
    assert [found["nodes"], found["vectors"]] == [wanted["nodes"], wanted["vectors"]]
    assert sorted(found["edges"]) == sorted(wanted["edges"])


def holding(forks: Forks, *words: str) -> list[str]:
    """The files of cognee's that hold a word, as it is or as 16 bits a letter."""
    forms = [word.encode(code) for word in words for code in ("utf-8", "utf-16-le")]
    files = [path for path in forks.place.workspace.cognee_system.rglob("*") if path.is_file()]
    return [path.name for path in files if any(form in path.read_bytes() for form in forms)]


def secrets_and_others(topic_id: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    secret = [
        memory(topic_id, f"{topic_id} secret {n}", topic="Wombatlore", context="quokkazebra " * 200,
               decisions=["quokkazebra hides", f"numbatfox {n}"])
        for n in range(4)
    ]  # fmt: skip
    others = [memory(f"{topic_id}-{n}", f"{topic_id} other {n}", context=f"keepsake{n} " * 30) for n in range(4)]
    return secret, [*others, memory(topic_id, f"{topic_id} heir", topic="Birds")]


def scrub_until_killed(fork: Fork) -> None:
    fork.ask("scrub")
    fork.ask("count")


# At the start of the scrubbing, amid the vector tables, and when the graph's new file lies whole beside the old one.
CUTS = [("graph.scrub", 0.0), ("graph.scrub", 0.4), ("graph rewrite", 0.0)]


def test_no_byte_of_what_was_deleted_stays_in_cognees_files_wherever_that_is_cut_off(forks: Forks) -> None:
    secret, others = secrets_and_others("scrubbed")
    with forks.start() as fork:
        fork.ask("keep", [*others, *secret])
        fork.ask("drop", [given["id"] for given in secret])
        before = fork.ask("graph")
    assert holding(forks, "quokkazebra")
    for place, after in CUTS:
        fork = forks.start()
        fork.kill_in(place, 1, after)
        with pytest.raises(Died):
            scrub_until_killed(fork)
        fork.kill()
    with forks.start() as fork:
        assert fork.ask("reconcile") == 0
        fork.ask("scrub")
        found = fork.ask("graph")
        assert fork.ask("missing", [given["id"] for given in others]) == []
    assert holding(forks, "quokkazebra", "numbatfox", "Wombatlore") == []
    assert holding(forks, "keepsake3")
    assert {part: sorted(found[part]) for part in found} == {part: sorted(before[part]) for part in before}


EVIL = [
    "<img src=x onerror=\"document.title='OWNED'\">", "</script><script>document.title='OWNED'</script>",
    "__LINKS_DATA__ __NODES_DATA__", "<!--<script>", "\"];document.title='OWNED';//", "<b id=bold>bold</b>",
]  # fmt: skip
# Run in the page: opens what cognee shows of the worst node, and says what came of it.
LOOK = """
<script nonce="%s">addEventListener("load", () => setTimeout(() => {
  const search = document.querySelector("input");
  search.value = "Worst"; search.dispatchEvent(new Event("input", {bubbles: true}));
  search.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
  setTimeout(() => { document.documentElement.innerHTML = "<body>SEEN " + JSON.stringify({
    title: document.title, text: document.body.innerText, bold: document.querySelectorAll("#bold").length,
    drawn: [...document.querySelectorAll("canvas")].some(canvas => canvas.width > 100),
  }).replaceAll("<", "&lt;") + " SEEN"; }, 1500);
}, 1500));</script></body>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_the_picture_shows_texts_as_texts_in_a_browser_and_loads_nothing(forks: Forks, tmp_path: Path) -> None:
    source = memory(
        "evil", "evil", topic=f"Worst {EVIL[0]}", context=" ".join(EVIL), decisions=EVIL, session_id=EVIL[1]
    )
    record = memory("evil", "merged evil", topic="Merged", sources=[source["id"]])
    with forks.start() as fork:
        fork.ask("keep", [source, record])
        (outcome,) = fork.run("graph", task("picture", "graph", {}))
    result = outcome["result"]
    picture = forks.place.workspace.picture
    assert (result["path"], result["memories_left_out"]) == (str(picture), 0)
    assert picture.stat().st_mode & 0o777 == 0o600
    html = picture.read_text("utf-8")
    nonce = html.split("'nonce-")[1].split("'")[0]
    assert "<link " not in html
    assert 'src="http' not in html
    page = tmp_path / "page.html"
    page.write_text((LOOK % nonce).join(html.rsplit("</body>", 1)), "utf-8")
    seen = in_browser(page, tmp_path / "profile")
    assert (seen["title"], seen["bold"], seen["drawn"]) == ("Cognee Knowledge Graph", 0, True)
    assert f"{result['nodes']} nodes" in seen["text"]
    assert f"{result['edges']} edges" in seen["text"]
    words = set(seen["text"].split())
    assert {"Topic", "Decision", "ConversationSummary", "DecisionRecord"} <= words
    assert not words & {"Schema", "Semantic", "Ontology", "OWL", "tasks"}, "what cognee's page has and no memory has"
    assert "showLoading=false" in html, "no cover hides a layout that is fixed"


def in_browser(page: Path, profile: Path) -> dict[str, Any]:
    assert CHROMIUM is not None
    done = subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         f"--user-data-dir={profile}", "--virtual-time-budget=10000", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(
        done.stdout.split("SEEN")[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    )
    return found
