"""docs/recipes.md: the steps for a property, a kind of job, a command and a model, in a copy of the program."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import PROJECT, Place

PAGE = (PROJECT / "docs" / "recipes.md").read_text("utf-8")
_STEP = re.compile(r"^(?:\d+\. In `([\w/.]+)`|and a row)(.*?)^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_WHERE = re.compile(r"a new file|at the end|above `\w+`|a row of `\w+`")


@dataclass(frozen=True)
class Step:
    """Code to add to a file: ``where`` is as the page says it."""

    path: str
    where: str
    code: str

    def follow(self, program: Path) -> None:
        path = program / self.path
        assert path.exists() is (self.where != "a new file"), self.path
        if self.where == "a new file":
            path.write_text(self.code)
            return
        lines = path.read_text("utf-8").splitlines(keepends=True)
        at, code = len(lines), f"\n\n{self.code}"
        if self.where != "at the end":
            place, _, name = self.where.rstrip("`").rpartition(" `")
            at = next(number for number, line in enumerate(lines) if re.match(rf" *{name}\b", line))
            code = self.code if lines[at].startswith(" ") else f"{self.code}\n\n"
            if place == "a row of":
                at, code = next(n for n in range(at, len(lines)) if lines[n][0] in ")]}"), self.code
        path.write_text("".join([*lines[:at], code, *lines[at:]]))


def steps(title: str) -> Iterator[Step]:
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    path = ""
    for named, text, code in _STEP.findall(section):
        path = named or path
        [where] = _WHERE.findall("a row" + text if not named else text)
        yield Step(path, where, code)


def follow(title: str, program: Path) -> set[str]:
    """Take the steps below a title of the page; the files that they change."""
    taken = list(steps(title))
    for step in taken:
        step.follow(program)
    return {step.path for step in taken}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    found = tmp_path / "program"
    for package in ("jobs", "bridge", "worker"):
        shutil.copytree(PROJECT / package, found / package, ignore=shutil.ignore_patterns("__pycache__"))
    return found


def test_a_property_added_by_the_steps_of_the_page_is_stored_found_and_exported(program: Path, tmp_path: Path) -> None:
    assert len(follow("A property of a memory", program)) == 5
    place = Place(tmp_path, PYTHONPATH=str(program))
    try:
        for name, text in (("Ana", "The till is counted at six."), ("Ben", "The till is emptied on Fridays.")):
            place.json("ingest", "--wait", "--speaker", name, "--topic", "Till", "--context", "A.", "--decision", text)
        found = place.json("retrieve", "--speaker", "ben", "when is the till emptied")["results"]
        assert [(hit["memory_number"], hit["speakers"]) for hit in found] == [(2, ["ben"])]
        assert [row["speakers"] for row in place.json("memories", "list")["memories"]] == [["ben"], ["ana"]]
        assert "said by  ana" in place.cli("memories", "show", "1").stdout
        assert '"speakers": ["ana"]' in place.cli("export").stdout
    finally:
        place.cli("worker", "stop")


def test_a_kind_that_is_added_by_the_steps_of_the_page_runs_and_is_shown(program: Path, tmp_path: Path) -> None:
    assert 1 < len(follow("A kind of job", program)) < 7, "with the page, seven files to open"
    place = Place(tmp_path, PYTHONPATH=str(program))
    try:
        done = place.cli("echo", "Hello there")
        assert (done.stdout, done.returncode) == ("Hello there\n", 0), done.stderr
        [job] = place.json("jobs", "list", "--kind", "echo")["jobs"]
        record = place.ended(job["job_id"])
        assert (record.kind, record.state, record.priority) == ("echo", "succeeded", 10)
        assert record.result == {"text": "Hello there"}
        assert "\nHello there\n" in place.cli("jobs", "show", job["job_id"]).stdout
        assert "  echo       return a text\n" in place.cli("--help").stdout
        wrong = place.json("echo", " ")
        assert (wrong["error_code"], wrong["error_details"]["fields"]) == ("JOB_INVALID", ["payload.text"])
    finally:
        place.cli("worker", "stop")
    described = "from bridge.interface.result_shapes import RESULTS; print(RESULTS['echo'].__doc__)"
    assert place.python("-c", described).stdout == "The text of the job.\n"


def test_a_command_that_is_added_by_the_steps_of_the_page_runs_and_is_shown(program: Path, tmp_path: Path) -> None:
    assert 1 < len(follow("A command", program)) < 7, "with the page, seven files to open"
    place = Place(tmp_path, PYTHONPATH=str(program))
    assert place.cli("tally").stdout == "0 memories\n"
    assert place.json("tally") == {"success": True, "memories": 0}
    assert "  tally      count the memories\n" in place.cli("--help").stdout


def test_a_model_that_is_added_by_the_steps_of_the_page_is_offered_and_used(program: Path, tmp_path: Path) -> None:
    assert follow("Another local model", program) == {"bridge/embedding/local_models.py"}
    place = Place(tmp_path, PYTHONPATH=str(program))
    assert [row["name"] for row in place.json("model", "list")["models"]][-1] == "english-first"
    used = place.json("model", "use", "english-first")
    assert used["identity"] == "fastembed/sentence-transformers/all-MiniLM-L6-v2:first/384"
    embedded = (
        "from bridge.settings import load; from bridge.embedding.factory import create;"
        "made = create(load().embedding); print(made.identity, made.embed(['word']).shape)"
    )
    assert place.python("-c", embedded).stdout == f"{used['identity']} (1, 384)\n"
