"""The record that a topic's memories become: what is united, in which order, and what is marked."""

import re
import time
from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest
from fake_embedder import FakeEmbedder

from bridge.compaction import duplicates, record_draft
from bridge.compaction.contradictions import conflict_id
from bridge.compaction.record_draft import Draft, draft, sources_of
from bridge.compaction.statements import Clause, clauses
from bridge.embedding.embedder import Vectors
from bridge.memory import Content, Memory, Metadata, References, TimeScope
from bridge.store.values import KnownPair
from bridge.text.decision_lines import digest
from bridge.text.sections import normalise

EMBEDDER = FakeEmbedder(64)
_numbers = count(1)


def memory(
    day: int, *decisions: str, status: Any = "Active", kind: Any = "summary", metadata: Any = None, **content: Any
) -> Memory:
    number, date = next(_numbers), f"2026-10-{day:02d}T12:00:00Z"
    known = Metadata(**{"topic_id": "t", "status": status, "created_at": date, **(metadata or {})})
    said = Content(**{"topic": "Topic", "context": f"Context of day {day}.", "decisions": decisions, **content})
    return Memory(f"id-{number}", number, kind, known, "2026-11-01T00:00:00Z", said)


def embed(texts: Sequence[str]) -> Vectors:
    return EMBEDDER.embed(texts)


def made(*memories: Memory) -> Draft:
    return draft(sources_of(memories), embed)


def words(found: Draft) -> tuple[str, ...]:
    """The record's decisions without dates and numbers."""
    return tuple(re.sub(r" \(2026-1\d-\d\d, #\d+\)", "", line) for line in found.content.decisions)


def as_record(found: Draft, day: int) -> Memory:
    """The record as it would be stored."""
    return memory(day, kind="decision_record")._replace(
        content=found.content,
        metadata=found.metadata._replace(created_at=f"2026-10-{day:02d}T18:00:00Z"),
        sources=tuple(source.id for source in found.sources),
    )


# --- sources ---


def test_drafts_what_is_superseded_and_raw_texts_are_no_sources() -> None:
    kept = [memory(2), memory(1), memory(3, kind="decision_record", status="DecisionRecord")]
    raw = memory(1)._replace(content=None, kind="legacy", metadata=Metadata(topic_id="t"), text="raw")
    others = [memory(1, status="Draft"), memory(1, status="Superseded"), raw]
    withdrawn = memory(1, kind="decision_record", status="Superseded")
    assert sources_of([*kept, *others, withdrawn]) == [kept[1], kept[0], kept[2]]


def test_sources_are_in_order_of_when_they_were_said_not_stored() -> None:
    late = memory(9, metadata={"source_created_at": "2026-10-01T00:00:00Z"})
    assert sources_of([memory(2), late])[0] == late
    first, second = memory(5), memory(5)
    assert sources_of([second, first]) == [first, second]


# --- uniting ---


def test_lists_are_united_in_order_of_time() -> None:
    found = made(
        memory(2, "Sign last", rationale=("R2",), open_questions=("Q2",), next_steps=("N2",)),
        memory(1, "Use tabs", "Name files by date", rationale=("R1",), open_questions=("Q1",), next_steps=("N1",)),
    )
    assert words(found) == ("Use tabs", "Name files by date", "Sign last")
    lists = found.content
    assert (lists.rationale, lists.open_questions, lists.next_steps) == (("R1", "R2"), ("Q1", "Q2"), ("N1", "N2"))


def test_the_same_words_are_there_once_as_they_were_said_last() -> None:
    found = made(memory(1, "sign  LAST.", "Use tabs"), memory(2, "Sign last"))
    assert words(found) == ("Use tabs", "Sign last")
    assert found.warnings == ()


def test_the_same_meaning_is_there_once_and_told() -> None:
    found = made(memory(1, "Uploads are retried with backoff"), memory(2, "With backoff uploads are retried"))
    assert words(found) == ("With backoff uploads are retried",)
    (warning,) = found.warnings
    assert "Uploads are retried with backoff" in warning
    assert "1.00" in warning


def test_of_two_that_mean_the_same_the_fuller_wording_is_kept() -> None:
    full, short = "Uploads are retried quickly with exponential backoff", "Uploads are retried with exponential backoff"
    vectors = EMBEDDER.embed([full, full])
    (group,) = duplicates.group_duplicates([full, short], vectors)
    assert (group.kept, group.members) == (0, [0, 1])


ONE_THING_APART = [
    ("Retry uploads five times", "Retry uploads three times"),
    ("Enable telemetry", "Disable telemetry"),
    ("Retry uploads", "Do not retry uploads"),
    ("The left panel shows the tree", "The right panel shows the tree"),
    ("Read the config at startup", "Write the config at startup"),
    ("Write tokens to a table in token renewal", "Write messages to a table in token renewal"),
    ("Timeouts are reported to the client", "Timeouts are reported"),
    ("Store drafts as UTC in the wizard", "Store drafts as UTC in the release pipeline"),
    ("Errors go to Ada at once", "Errors go to Ben at once"),
    ("Log E1042 as a warning", "Log E1043 as a warning"),
    ("Use Postgres for jobs", "Use SQLite for jobs"),
    ("Edit src/a.py", "Edit src/b.py"),
    ("Deploy with approval", "Deploy without approval"),
    ("Store tokens in the keychain", "Store tokens outside the keychain"),
    ("Sync notes from laptop to server", "Sync notes from server to laptop"),
    ("Tests need the network", "Tests rarely need the network"),
    ("Encrypt backups", "Encrypt backups partially"),
    # denials of other languages
    ("Der Cache liegt in Redis", "Der Cache liegt nicht in Redis"),
    ("Utiliser Redis pour le cache", "Ne pas utiliser Redis pour le cache"),
    ("Usar Redis para o cache", "Não usar Redis para o cache"),
    ("Gebruik Redis voor de cache", "Gebruik geen Redis voor de cache"),
    ("Мы используем Redis для кеша", "Мы не используем Redis для кеша"),
]


@pytest.mark.parametrize(("one", "other"), ONE_THING_APART)
def test_what_differs_in_one_thing_is_never_taken_for_one(one: str, other: str) -> None:
    """Their embeddings are as close as can be."""
    assert len(duplicates.group_duplicates([one, other], EMBEDDER.embed(["same", "same"]))) == 2


def test_close_texts_are_merged_from_the_threshold_on() -> None:
    import numpy as np

    texts = ["Show an error when the disk is full", "Display an error message if the disk is full"]
    for cosine, groups in ((duplicates.SAME_MEANING + 0.001, 1), (duplicates.SAME_MEANING - 0.001, 2)):
        vectors = np.array([[1, 0], [cosine, (1 - cosine**2) ** 0.5]], np.float32)
        assert len(duplicates.group_duplicates(texts, vectors)) == groups


def test_references_are_united_by_kind() -> None:
    found = made(
        memory(1, references=References(files=("a.py", "b.py"), issues=("#1",))),
        memory(2, references=References(files=("b.py", "A.py"), branches=("main",), plans=("plan-021",))),
        memory(3, references=References(plans=("021",))),
    ).content.references
    assert found == References(("a.py", "b.py", "A.py"), ("plan-021",), ("main",), ("#1",))


def test_a_memory_without_decisions_counts_and_is_told() -> None:
    found = made(memory(1), memory(2, "Sign last"))
    assert words(found) == ("Sign last",)
    assert found.warnings == ("1 of 2 memories hold no decision: what they say is in the narrative.",)
    assert "Context of day 1." in found.content.context
    assert made(memory(1), memory(2)).content.decisions == ()


# --- metadata ---


def test_the_records_date_is_its_newest_sources() -> None:
    found = made(memory(4, metadata={"source_created_at": "2026-09-01T00:00:00Z"}), memory(3))
    assert found.metadata.source_created_at == "2026-10-03T12:00:00Z"
    assert (found.metadata.created_at, found.metadata.status) == (None, "DecisionRecord")


def test_what_all_have_in_common_is_kept_and_the_most_important_counts() -> None:
    same = made(
        memory(1, metadata={"session_id": "s", "plan_id": "021", "importance": 0.3}),
        memory(2, metadata={"session_id": "s", "plan_id": "plan-021", "importance": 0.9}),
    )
    assert (same.metadata.session_id, same.metadata.plan_id, same.metadata.importance) == ("s", "plan-021", 0.9)
    assert same.content.references.plans == ()
    differing = made(memory(1, metadata={"session_id": "s", "plan_id": "020"}), memory(2, metadata={"plan_id": "021"}))
    assert (differing.metadata.session_id, differing.metadata.plan_id) == (None, "021")
    assert differing.content.references.plans == ("020",)
    assert any("several plans" in warning for warning in differing.warnings)


def test_the_time_scope_reaches_from_the_first_beginning_to_the_last_end() -> None:
    scope = TimeScope(start="2026-09-30T08:00:00Z", end="2026-09-30T09:00:00Z", turn_count=4)
    found = made(memory(1, time_scope=scope), memory(5), memory(3, time_scope=TimeScope("morning", turn_count=2)))
    assert found.content.time_scope == TimeScope("", "2026-09-30T08:00:00Z", "2026-10-05T12:00:00Z", 6)


# --- conflicts ---


def test_both_sides_of_a_conflict_stay_and_are_marked() -> None:
    old, new = memory(1, "Retry five times", "Sign last"), memory(2, "Retry three times")
    found = made(old, new)
    assert words(found) == (
        "Sign last", "[Later] Retry three times supersedes Retry five times", "[Earlier] Retry five times",
    )  # fmt: skip
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.earlier.memory, conflict.later.memory) == ("value", old, new)
    assert (conflict.earlier.text, conflict.later.text) == ("Retry five times", "Retry three times")
    assert (
        f"“Retry three times” (2026-10-02, #{new.number}) replaced “Retry five times” (2026-10-01, #{old.number})."
        in (found.content.context)
    )


def test_of_three_in_a_row_the_last_supersedes_the_one_before() -> None:
    found = made(memory(1, "Retry 5 times"), memory(2, "Retry 3 times"), memory(3, "Retry 2 times"))
    assert words(found) == (
        "[Later] Retry 2 times supersedes Retry 3 times", "[Earlier] Retry 5 times", "[Earlier] Retry 3 times",
    )  # fmt: skip
    told = [(conflict.earlier.text, conflict.later.text) for conflict in found.conflicts]
    assert told == [("Retry 5 times", "Retry 3 times"), ("Retry 3 times", "Retry 2 times")]


def test_a_decision_that_was_made_again_is_the_one_that_holds() -> None:
    """Whether a record was made of the others in between or not."""
    others = memory(1, "Enable telemetry"), memory(2, "Disable telemetry")
    for earlier in (others, [as_record(made(*others), 2)]):
        assert words(made(*earlier, memory(5, "Enable telemetry"))) == (
            "[Later] Enable telemetry supersedes Disable telemetry", "[Earlier] Disable telemetry",
        )  # fmt: skip


def test_each_decision_ends_with_the_day_and_the_memory_that_stated_it_last() -> None:
    """Two that nobody recognised as a conflict can be told apart."""
    old = memory(1, "Access tokens are valid for 15 minutes.", "Sign last.")
    new = memory(9, "A token lives ten minutes.", "Sign last.")
    assert made(old, new).content.decisions == (
        f"Access tokens are valid for 15 minutes (2026-10-01, #{old.number})",
        f"A token lives ten minutes (2026-10-09, #{new.number})",
        f"Sign last (2026-10-09, #{new.number})",
    )


def test_a_day_that_a_text_itself_names_stays() -> None:
    found = made(memory(1, "Ship on Friday (2026-12-01)", rationale=("Measured again (2026-09-30, #3)",)), memory(2))
    number = found.sources[0].number
    for _ in range(2):
        assert found.content.decisions == (f"Ship on Friday (2026-12-01) (2026-10-01, #{number})",)
        assert found.content.rationale == ("Measured again (2026-09-30, #3)",)
        found = made(as_record(found, 2), memory(3))
    without = as_record(found, 4)._replace(content=Content("T", "C", ("Ship on Friday (2026-12-01)",)))
    assert made(without, memory(5)).content.decisions == (
        f"Ship on Friday (2026-12-01) (2026-10-03, #{without.number})",
    )


def test_a_decision_that_a_summary_quotes_from_a_record_is_the_same_decision_stated_anew() -> None:
    first = made(memory(1, "Sign last."), memory(2, "Use tabs."))
    quoting = memory(9, next(line for line in first.content.decisions if "Sign" in line))
    assert made(as_record(first, 2), quoting).content.decisions[-1] == f"Sign last (2026-10-09, #{quoting.number})"


def test_a_summary_of_before_a_records_decision_does_not_replace_it() -> None:
    """A record is as old as its newest source; its decisions have their own days."""
    first = made(memory(1, "Sign last"), memory(20, "Retry three times"))
    late = memory(10, "Retry five times", metadata={"source_created_at": "2026-10-10T00:00:00Z"})
    found = made(as_record(first, 20), late)
    assert words(found)[1:] == ("[Later] Retry three times supersedes Retry five times", "[Earlier] Retry five times")
    earliest = made(
        as_record(made(memory(1, "Retry five times"), memory(20, "Sign last")), 20), memory(10, "Retry two times")
    )
    assert words(earliest)[0] == "[Later] Retry two times supersedes Retry five times"


# --- rejected conflicts ---


def kept(ids: Sequence[str], *memories: Memory) -> Draft:
    return draft(sources_of(memories), embed, keep_both=ids)


def test_of_a_rejected_conflict_both_decisions_hold_unmarked() -> None:
    old, new = memory(1, "Retry five times", "Use tabs"), memory(2, "Retry three times", "Use spaces")
    found = made(old, new)
    assert [c.earlier.text for c in found.conflicts] == ["Retry five times", "Use tabs"]
    without = kept([found.conflicts[0].id], old, new)
    assert [c.earlier.text for c in without.conflicts] == ["Use tabs"]
    assert [c.earlier.text for c in without.kept_both] == ["Retry five times"]
    assert words(without) == (
        "Retry five times", "Retry three times", "[Later] Use spaces supersedes Use tabs", "[Earlier] Use tabs",
    )  # fmt: skip
    assert "Retry five" not in without.content.context
    assert without.unknown == ()


def test_a_conflicts_id_is_of_its_two_statements_whichever_memories_have_them() -> None:
    (one,) = made(memory(1, "Retry five times."), memory(2, "Retry three times.")).conflicts
    (other,) = made(memory(3, "Sign last"), memory(4, "retry five times"), memory(5, "Retry three  times")).conflicts
    assert one.id == other.id == conflict_id("Retry three times", "Retry five times")
    (third,) = made(memory(1, "Retry five times"), memory(2, "Retry two times")).conflicts
    assert third.id != one.id


def test_a_rejected_conflict_stays_rejected_when_the_record_is_merged_again_even_if_one_side_is_repeated() -> None:
    old, new = memory(1, "Retry five times"), memory(2, "Retry three times")
    both = kept([made(old, new).conflicts[0].id], old, new)
    again = made(as_record(both, 2), memory(5, "Retry three times", "Use tabs"))
    assert again.conflicts == ()
    assert words(again) == ("Retry five times", "Retry three times", "Use tabs")
    third = made(as_record(again, 5), memory(6, "Retry two times"))
    assert sorted(c.earlier.text for c in third.conflicts) == ["Retry five times", "Retry three times"]


def test_an_id_of_no_pair_is_told_and_one_of_a_pair_without_a_conflict_is_none_to_tell() -> None:
    old, new = memory(1, "Retry five times"), memory(2, "Sign last")
    found = kept(["00000000", conflict_id("Sign last", "Retry five times")], old, new)
    assert (found.unknown, found.kept_both) == (("00000000",), ())


# --- what the store knows ---


def pair(fell: Memory, holds: Memory, probability: float, *, said: bool = False) -> KnownPair:
    """Of the first decisions of two memories."""
    places = [(each.id, digest(each.content.decisions[0])) for each in (fell, holds)]
    return KnownPair(*places, probability, said)


def knowing(memories: Sequence[Memory], *known: KnownPair) -> Draft:
    return draft(sources_of(memories), embed, known=known)


def test_what_the_store_knows_as_replaced_is_replaced_whatever_the_rules_say() -> None:
    old, new = memory(1, "Jobs run in Sidekiq"), memory(2, "Everything on Redis is switched off")
    assert made(old, new).conflicts == ()
    found = knowing([old, new], pair(old, new, 0.93))
    assert [(c.kind, c.confidence, c.judged_by) for c in found.conflicts] == [("replacement", 0.93, "judge")]
    assert words(found)[1:] == ("[Earlier] Jobs run in Sidekiq",)


def test_a_conflict_that_the_store_knows_has_its_confidence_and_the_rules_kind() -> None:
    old, new = memory(1, "Retry five times"), memory(2, "Retry three times")
    (conflict,) = knowing([old, new], pair(old, new, 0.71)).conflicts
    assert (conflict.kind, conflict.confidence) == ("value", 0.71)


def test_what_was_said_of_one_memory_counts_for_all_that_say_the_same() -> None:
    old, same, new = memory(1, "Retry five times."), memory(2, "Retry five times"), memory(3, "Retry three times")
    assert knowing([old, same, new], pair(old, new, 0.0, said=True)).conflicts == ()


def test_decisions_that_stand_beside_each_other_in_a_record_stay_unless_somebody_says_otherwise() -> None:
    old, new = memory(1, "Retry five times"), memory(2, "Retry three times")
    record = as_record(kept([made(old, new).conflicts[0].id], old, new), 2)
    again = memory(5, "Retry three times")
    five = (record.id, digest("Retry five times"))
    known = KnownPair(five, (again.id, digest("Retry three times")), 0.95)
    assert knowing([record, again], known).conflicts == ()
    assert len(knowing([record, again], known._replace(is_said=True, probability=1.0)).conflicts) == 1


def test_of_decisions_that_replace_each_other_in_a_circle_one_holds() -> None:
    first, second, third = (memory(day, f"Retry {n} times") for day, n in ((1, "two"), (2, "five"), (3, "nine")))
    found = knowing([first, second, third], pair(third, first, 1.0, said=True))
    assert [line for line in words(found) if not line.startswith("[Earlier]")] != []
    assert "[Earlier] Retry nine times" in words(found)


# --- a former record ---


def test_a_former_record_is_merged_in_without_nesting_its_marks() -> None:
    first = made(memory(1, "Retry five times", "Sign last"), memory(2, "Retry three times"))
    found = made(as_record(first, 2), memory(5, "Use tabs"))
    sign, retry, earlier = first.content.decisions
    assert found.content.decisions == (sign, retry, f"Use tabs (2026-10-05, #{found.sources[1].number})", earlier)
    assert found.conflicts == ()
    again = made(as_record(found, 5), memory(6, "Retry two times"))
    assert words(again) == (
        "Sign last", "Use tabs", "[Later] Retry two times supersedes Retry three times",
        "[Earlier] Retry five times", "[Earlier] Retry three times",
    )  # fmt: skip
    assert [(c.earlier.text, c.later.text) for c in again.conflicts] == [("Retry three times", "Retry two times")]


def test_a_record_that_was_merged_twice_still_tells_each_memory_once() -> None:
    first = made(memory(1, "Retry five times"), memory(2, "Retry three times"))
    numbers = [source.number for source in reversed(first.sources)]
    found = made(as_record(first, 2), memory(5, "Use tabs"))
    assert found.content.context.split("\n") == [
        "Merged from 3 memories, 2026-10-01 to 2026-10-05.",
        "2026-10-01: Context of day 1.",
        "2026-10-02: Context of day 2.",
        "2026-10-05: Context of day 5.",
        "“Retry three times” (2026-10-02, #{}) replaced “Retry five times” (2026-10-01, #{}).".format(*numbers),
    ]


def test_a_later_one_that_supersedes_several_is_read_back() -> None:
    first = made(memory(1, "Use Redis for jobs"), memory(2, "Use Kafka; for jobs supersedes all"), memory(3, "Tabs"))
    assert words(made(as_record(first, 3), memory(4, "Sign last"))) == (*words(first), "Sign last")
    marked = ("[Earlier] A one", "[Earlier] A one; B two", "[Later] C three supersedes A one; B two; A one")
    statements = record_draft._statements([memory(1, *marked)], "decisions")
    assert [s.text for s in statements] == ["A one", "A one; B two", "C three"]
    assert statements[2].supersedes == ("A one; B two", "A one")


# --- the whole ---


def test_the_same_sources_give_the_same_record_in_whichever_order_they_come() -> None:
    memories = [memory(day, f"Decision {day}", "Sign last", rationale=(f"Since {day}",)) for day in range(1, 9)]
    assert made(*memories) == made(*reversed(memories))


def test_a_record_is_stored_as_it_was_shown() -> None:
    """Storing normalises content, so what is shown must be normalised already."""
    found = made(
        memory(1, "Größe: 5 µm\nzweite Zeile", context="多行\n文本 🙂\r\nund so"),
        memory(2, "キューには耐久性が要る", "# no heading", context="   "),
    )
    assert normalise(found.content) == found.content
    assert words(found) == ("Größe: 5 µm\nzweite Zeile", "キューには耐久性が要る", "# no heading")


def test_a_long_topic_is_cut_in_its_narrative_alone_and_told() -> None:
    found = made(*[memory(1 + day % 28, f"Decision {day}", context="Long words here. " * 60) for day in range(60)])
    assert len(found.content.context) < 10_000
    assert found.content.context.count(" …") == 60
    assert any("shortened" in warning for warning in found.warnings)
    assert len(found.content.decisions) == 60


def test_a_topic_of_100_memories_takes_seconds_at_most() -> None:
    subjects = ["uploader", "parser", "worker", "index", "queue", "report", "login", "cache"]
    memories = [
        memory(
            1 + n % 28,
            *(f"The {subjects[(n + k) % 8]} keeps part {n * 7 % 50}-{k} for {n % 9} days" for k in range(5)),
            rationale=tuple(f"Because of {n} and {k}" for k in range(3)),
            next_steps=(f"Do step {n}",),
        )
        for n in range(100)
    ]
    began = time.process_time()
    found = made(*memories)
    assert time.process_time() - began < 20, "it is about one second, and several where every line is traced"
    assert len(found.sources) == 100


def test_what_every_memory_of_a_topic_repeats_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said = ["Store rows in SQLite", "Keep the log small", "Ship on Friday"]
    compared: list[str] = []

    def taken_apart(text: str) -> tuple[Clause, ...]:
        compared.append(text)
        return clauses(text)

    monkeypatch.setattr(duplicates, "clauses", taken_apart)
    texts = said * 200
    found = duplicates.group_duplicates(texts, EMBEDDER.embed(texts))
    assert [texts[group.kept] for group in found] == said
    assert [len(group.members) for group in found] == [200, 200, 200]
    assert compared == said
