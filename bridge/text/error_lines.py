"""Error lines: the line of a command's output that says what is wrong, and whether two lines are the same error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PureWindowsPath

from .sections import one_line
from .terms import STOP_WORDS

_LONGEST = 600  # characters; a longer line is no message
_SHORTEST = 8
_WORDS = 2  # of a normalised line, so that equal lines are the same error
_MOST = 200  # lines of one output

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0e-\x1f\x7f]")
_LABEL = re.compile(r"^\s*(?:\[[\w:./-]+\]\s+|E\s{2,}|(?:Output|vet):\s+|npm (?:ERR!|error)\s+|\d{4}-\d\d-\d\d\S*\s+)+")
_FILE = r"(?:[A-Za-z]:)?[\w.\\/@+-]+\.\w{1,5}"
_AT_PLACE = re.compile(_FILE + r"(?::\d+:\d+:|\(\d+,\d+\):|:\d+:(?=\s+(?:fatal )?error:))\s+(?!: #)\S")
_PLACE = re.compile(rf"^({_FILE})(?::\d+(?::\d+)?|\(\d+,\d+\)):\s+")
_SAYS_ERROR = re.compile(
    r"^(?:\w+: )?(?:[\w.]*(?:Error|Exception)\b(?:\s\[\w+\])?:|(?:error|fatal|panic)\b(?:\[\w+\]|\s?TS\d+)?:?\s)"
    r"|\b(?:unknown|unrecognized|illegal|invalid|unsupported) (?:flag|option|argument|command|choice)"
    r"|\b(?:no such file|not found|no matches found|permission denied|parse error|syntax error|cannot |could not"
    r"|unable to|undefined|is not |are not |does not|did not match|needed; to|already (?:exists|used)|refused|timed out"
    r"|missing|failed to|can't|couldn't|no rule to)",
    re.IGNORECASE,
)
_SAYS_NOTHING = re.compile(
    r"task failed|exit(?:ed)? (?:status|code|with)|^\W*FAIL(?!ed to)|^ERROR collecting|^ImportError while|error\(s\)"
    r"|^\W*\d+ (?:issue|error|problem)|make(?:\[\d+\])?: \*\*\* \[|ELIFECYCLE|^at |^File \"|Traceback|conflict"
    r"|^(?:hint|usage|note|warning|info):|could not apply|^#|\bINFO\b|\bWARN|\[build failed\]|^from "
    r"|^(?:ok|PASS|---|===|\?)\s|too many errors|Request interrupted|runtime error",
    re.IGNORECASE,
)
# A test that failed, mostly in the middle of work on it.
_TESTED = re.compile(
    r"^[ \t]*(?:--- FAIL: |FAILED |=+ FAILURES|test result: FAILED|Tests?:? +\d+ failed|\u25cf |\u2716 |AssertionError"
    r"|not ok \d)",
    re.MULTILINE,
)
_ASIDE = re.compile(
    r"(?P<path>(?:https?://|~|(?<![\w.@+%-]))[\w.@+%-]*(?:/[\w.@+%-]+)+/?|[A-Za-z]:\\[\w.\\-]+)|\b\w*\d[\w-]*\b"
)
_WORD = re.compile(r"[^\W\d_]{3,}")


def error_lines(output: str) -> Iterator[str]:
    """The lines of a command's output that say what is wrong, in order. Of a test that failed, only what ended it."""
    is_test = _TESTED.search(output) is not None
    for line, after in pairwise([*output.splitlines(), ""]):
        if _is_error(line := _plain(line), is_test):
            whole = one_line(f"{line} {_plain(after)[:_LONGEST] if line.endswith(':') else ''}")
            if len([word for word in _WORD.findall(normalised(whole)) if word not in STOP_WORDS]) >= _WORDS:
                yield whole


def normalised(line: str) -> str:
    """A line of an error without what differs each time: its place, numbers, addresses, ids, and folders of paths."""

    def aside(found: re.Match[str]) -> str:
        return PureWindowsPath(found["path"]).name if found["path"] else "#"

    return " ".join(_ASIDE.sub(aside, without_place(_plain(line))).lower().split())


def signatures(text: str) -> set[str]:
    """The normalised error lines of an output or of what somebody pasted."""
    return {normalised(line) for line, _ in zip(error_lines(text), range(_MOST), strict=False)}


def place(line: str) -> str:
    """The path of the file in which the error stands; empty if the line begins with none."""
    found = _PLACE.match(line)
    return found[1] if found else ""


def without_place(line: str) -> str:
    """The line without the place of the error at its beginning."""
    return _PLACE.sub("", line)


def _plain(line: str) -> str:
    return _LABEL.sub("", _ESCAPES.sub("", line)).strip()


def _is_error(line: str, is_test: bool) -> bool:
    if not _SHORTEST <= len(line) <= _LONGEST or _SAYS_NOTHING.search(line):
        return False
    return line.startswith("panic: ") if is_test else bool(_AT_PLACE.match(line) or _SAYS_ERROR.search(line))
