"""LongMemEval, LoCoMo and BEAM are read as they are published, and judged like any other set."""

import json
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder

from benchmarks import judged, published, quality

LONGMEMEVAL = [
    {
        "question_id": "q1", "question_type": "multi-session", "question": "Which boat is blue?", "answer": "the ferry",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_session_ids": ["s1", "s2", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 09:00", "2023/05/21 (Sun) 09:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "The ferry is blue."}, {"role": "assistant", "content": "Ah."}],
            [{"role": "user", "content": "I like soup."}, {"role": "user", "content": "And bread."}],
            [{"role": "user", "content": "I like soup."}],
        ],
        "answer_session_ids": ["s1"],
    },
    {
        "question_id": "q2_abs", "question_type": "multi-session", "question": "Which boat is red?", "answer": "None",
        "haystack_session_ids": ["s3"], "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "The ferry is blue."}]], "answer_session_ids": ["s3"],
    },
]  # fmt: skip
LOCOMO = [
    {
        "sample_id": "conv-26",
        "conversation": {
            "speaker_a": "Ann", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "I saw a ferry."}],
            "session_2_date_time": "1:14 pm on 25 May, 2023",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "I made soup."}],
            "session_3_date_time": "1:14 pm on 26 May, 2023", "session_3": [],
        },
        "session_summary": {"session_1_summary": "They spoke of boats."},
        "observation": {"session_1_observation": {"Ann": [["Ann saw a ferry.", "D1:1"]], "Ben": []}},
        "qa": [
            {"question": "What did Ann see?", "answer": "a ferry", "evidence": ["D1:1; D2:1", "D:2:1"], "category": 1},
            {"question": "What did Cid see?", "adversarial_answer": "x", "evidence": ["D1:1"], "category": 5},
        ],
    }
]  # fmt: skip
BEAM_QUESTIONS = {
    "abstention": [{"question": "Who am I?"}],
    "knowledge_update": [{"question": "Which sprint?", "source_chat_ids": {"original": [2], "updated": [0, 99]}}],
    "event_ordering": [{"question": "In which order?", "source_chat_ids": [0, 1, 2]}],
}


def turn(number: int, role: str, text: str) -> dict[str, Any]:
    return {"id": number, "role": role, "content": text}


def test_a_memory_of_longmemeval_is_what_the_user_said_in_a_session(tmp_path: Path) -> None:
    path = tmp_path / "longmemeval_s.json"
    path.write_text(json.dumps(LONGMEMEVAL))
    memories, queries = published.read(path)
    assert [(row["id"], row["text"]) for row in memories] == [
        ("q1/s1", "The ferry is blue."), ("q1/s2", "I like soup.\n\nAnd bread."), ("q2_abs/s3", "The ferry is blue."),
    ]  # fmt: skip
    assert (memories[0]["topic"], memories[0]["created_at"]) == ("Chat of 20 May 2023", "2023-05-20T02:21:00+00:00")
    assert [row["relevant"] for row in queries] == [["q1/s1"], []]


def test_a_memory_of_locomo_is_a_summary_with_what_was_observed_or_the_turns(tmp_path: Path) -> None:
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps(LOCOMO))
    memories, queries = published.read(path)
    assert [row["text"] for row in memories] == ["They spoke of boats.\n- Ann saw a ferry.", "Ben: I made soup."]
    assert memories[0]["facts"] == ["Ann saw a ferry."]
    assert [row["relevant"] for row in queries] == [["conv-26/1", "conv-26/2"], []]


def test_a_memory_of_beam_is_what_the_user_said_in_an_exchange(tmp_path: Path) -> None:
    questions = tmp_path / "100K" / "1" / "probing_questions" / "probing_questions.json"
    questions.parent.mkdir(parents=True)
    questions.write_text(json.dumps(BEAM_QUESTIONS))
    chat = questions.parents[1]
    (chat / "topic.json").write_text(json.dumps({"title": "A budget"}))
    exchanges = [[turn(0, "user", "Plan it. ->-> 1,1"), turn(1, "assistant", "Yes.")], [turn(2, "user", "Sprint 2.")]]
    (chat / "chat.json").write_text(json.dumps([{"turns": exchanges[:1]}, {"turns": exchanges[1:]}]))
    assert published.is_published(tmp_path / "100K")
    memories, queries = published.read(tmp_path / "100K")
    assert [(row["topic"], row["text"]) for row in memories] == [("A budget", "Plan it."), ("A budget", "Sprint 2.")]
    assert [row["relevant"] for row in queries] == [[], ["1/1", "1/0"], ["1/0", "1/1"]]


def test_a_published_file_is_judged_beside_the_plain_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(judged, "create", lambda config, bulk: FakeEmbedder(64))
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps(LOCOMO))
    quality.main(["--data", str(path)])
    out = capsys.readouterr().out
    assert "| method | locomo10: 2 memories, 1 questions | mean of the sets |" in out
    assert "| grep: words found | " in out


@pytest.mark.parametrize("text", ["{", "[]", '[{"a": 1}]', '[{"qa": []}]'])
def test_a_file_of_another_form_ends_the_program_with_a_sentence(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(SystemExit, match=r"other\.json cannot be read as a set"):
        quality.main(["--data", str(path)])
