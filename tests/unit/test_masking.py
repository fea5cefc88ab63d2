"""No secret that was read from the settings is shown by the process that read it."""

import pytest

from bridge.interface import envelope
from bridge.privacy import masking
from bridge.settings import load
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded
from worker.child.protocol import encode

KEY = "sk-read-from-the-settings"


@pytest.fixture(autouse=True)
def _nothing_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "_hidden", ())


def test_whoever_reads_the_settings_shows_no_key_of_theirs() -> None:
    assert masking.masked(f"before: {KEY}") == f"before: {KEY}"
    load(environment={"LLM_API_KEY": KEY, "EMBEDDING_API_KEY": f"{KEY}-too"})
    assert masking.masked(f"one {KEY}, another {KEY}-too") == "one [hidden], another [hidden]"


def test_a_key_that_was_replaced_stays_hidden() -> None:
    load(environment={"LLM_API_KEY": KEY})
    load(environment={"LLM_API_KEY": "sk-the-new-one"})
    assert masking.masked(f"{KEY} sk-the-new-one") == "[hidden] [hidden]"


def test_what_is_too_short_to_be_a_key_is_no_reason_to_spoil_texts() -> None:
    load(environment={"LLM_API_KEY": "ollama"})
    assert masking.masked("ollama answers") == "ollama answers"


@pytest.mark.parametrize("word", ["password", "placeholder", "ANYTHING", "Redactions"])
def test_a_word_that_stands_in_for_a_key_is_no_reason_either(word: str) -> None:
    load(environment={"LLM_API_KEY": word})
    value = {word: f"The {word} is wrong: [REDACTED:{word}]"}
    assert masking.masked_value(value) == value


@pytest.mark.parametrize("key", ["no-key-needed", "s3cretword", "aRandomKey", "x" * 20])
def test_what_may_be_a_key_is_hidden_also_where_its_end_of_line_was_read_with_it(key: str) -> None:
    load(environment={"LLM_API_KEY": f"{key}\n"})
    assert masking.masked(f"It was {key}.") == "It was [hidden]."


def test_values_are_masked_at_every_depth_and_keep_their_form() -> None:
    masking.hide([KEY])
    value = {"a": [f"x{KEY}y", 1, None, {KEY: True}], "b": 0.5}
    assert masking.masked_value(value) == {"a": ["x[hidden]y", 1, None, {"[hidden]": True}], "b": 0.5}


def test_neither_an_answer_nor_what_goes_into_a_record_quotes_a_key() -> None:
    masking.hide([KEY])
    error = JobError("LLM_FAILED", f"It said: {KEY}.", remediation=f"Replace {KEY}.", details={"said": [KEY]})
    assert KEY not in str(envelope.failure(error))
    assert KEY not in str(encode(Failed(error)))
    assert encode(Succeeded({"answer": f"The key is {KEY}."})) == {"result": {"answer": "The key is [hidden]."}}
