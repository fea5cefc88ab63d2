"""Settings that are edited as text: what is added is read, what is removed leaves every other byte."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from worker.hooks import claude_code, gemini_cli, json_text

COMMAND = ("/opt/python", "-S", "/opt/lib/worker/hooks/hook.py", "--tool", "gemini-cli")

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)
COMMENTED = """// the settings of Ana
{
    /* quiet */ "ui": {"hideTips": true}, // no "hooks": {} here
    "url": "http://x//y", // two slashes in a text
    "hooks": {
        // each evening
        "SessionEnd": [
            {"hooks": [{"type": "command", "command": "beep"}]} // mine
        ]
    } // the end
}
"""


@given(JSON, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_json_is_read_as_by_the_standard_library(value: Any, indent: Any, comments: bool) -> None:
    assert json_text.parsed(json.dumps(value, indent=indent), comments).value == value


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1 2]", "[1,]", '{"a" 1}', '{"a": }', "{1: 2}", "[]]", "nul", "01", '"a', "[" * 5000, "/* ", "{} /*"],
)
def test_what_is_no_json_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^it is no JSON \(line 1\)\.$"):
        json_text.parsed(text, comments=True)


def test_comments_stay_where_they_are_and_mean_nothing() -> None:
    added = gemini_cli.added(COMMENTED, COMMAND)
    assert gemini_cli.added(added, COMMAND) == added, "twice is once"
    assert gemini_cli.removed(added) == COMMENTED
    left = [line for line in added.splitlines() if line not in COMMENTED.splitlines()]
    assert not any("ui" in line or "url" in line for line in left)
    read = json_text.parsed(added, comments=True).value
    assert [len(read["hooks"][event]) for event in gemini_cli.EVENTS] == [1, 1, 2]


def test_a_comment_after_the_last_entry_does_not_swallow_ours() -> None:
    added = gemini_cli.added('{"hooks": {"SessionEnd": [ // none yet\n]} // end\n}', COMMAND)
    assert "// none yet" in added
    assert len(json_text.parsed(added, comments=True).value["hooks"]["SessionEnd"]) == 1


def test_comments_among_our_entries_stay_when_these_are_removed() -> None:
    added = gemini_cli.added("{}", COMMAND).replace('"SessionEnd": [', '"SessionEnd": [ // keep me\n')
    kept = gemini_cli.removed(added.replace('"PreCompress"', '/* and me */ "PreCompress"'))
    assert json_text.parsed(kept, comments=True).value == {"hooks": {"SessionEnd": []}}
    assert "/* and me */" in kept
    assert "// keep me" in kept


def test_only_our_command_of_an_entry_with_several_is_removed() -> None:
    ours = {"type": "command", "command": "python /opt/worker/hooks/hook.py"}
    settings = {"hooks": {"SessionEnd": [{"matcher": "", "hooks": [{"command": "a"}, ours, {"command": "b"}]}]}}
    kept = json.loads(claude_code.removed(json.dumps(settings)))
    assert kept == {"hooks": {"SessionEnd": [{"matcher": "", "hooks": [{"command": "a"}, {"command": "b"}]}]}}


@pytest.mark.parametrize("text", ['\ufeff{"model": "x"}', '{"model":"x"}', '{\r\n\t"model": "x"\r\n}\r\n'])
def test_a_mark_of_the_byte_order_and_the_ends_of_lines_stay(text: str) -> None:
    added = claude_code.added(text, COMMAND)
    assert claude_code.removed(added) == text
    assert ("\r\n" in text) == ("\r\n" in added)


def test_claude_code_reads_no_comments_so_a_file_with_them_is_refused() -> None:
    with pytest.raises(ValueError, match="no JSON"):
        claude_code.added("{} // mine", COMMAND)
