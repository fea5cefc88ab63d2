"""Failures and their fixes: commands that failed in a session, and what made them work later in it.

A failure needs the error's own line, and a fix: the same command succeeds later, or one of the same program with other
arguments soon after. Most failures teach nothing and are left out: searches without a hit, tests that fail in the
middle of work, mistakes in a file that the session itself wrote, and what nobody said a word about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from pathlib import PureWindowsPath

from ..text import error_lines, turn_words as words
from ..text.failures import Failure
from ..text.query_words import subject_words
from ..text.sections import one_line, shortened
from .beats import plain
from .sentences import sentences
from .session import Call, Turn

_COMMAND = 160  # characters of a command
_LONGEST = 4_000  # characters of a command; a longer one brings a file's content
_SENTENCE = 220  # characters of what the assistant said of it
_SOON = 4  # commands after a failure among which one with other arguments is its fix
_LATER = 60  # calls after a failure among which the same command is
_MOST_FILES = 3
_TELLING = 8  # characters of a word that alone shows what a sentence is about

# Where a pipe or what follows hides the exit code, and how an output says nevertheless that something failed.
_MASKED = re.compile(r"\||;\s*(?:true|echo)\b")
_FAILED = re.compile(
    r"ERROR task failed|exit status [1-9]|exited with (?:code )?[1-9]"
    r"|^(?:make(?:\[\d+\])?: \*\*\*|npm ERR!|fatal: |error(?:\[\w+\])?: |Traceback |FAIL$)",
    re.MULTILINE,
)
# What only looks, and words of the shell: they change nothing, and fail where they find nothing.
_LOOKS = frozenset(
    "ls cat grep rg egrep find fd head tail sed awk wc test [ stat which type pgrep ps diff cmp echo printf tree file"
    " du jq lsof curl cd pwd true false sleep export source . set env kill pkill open"
    " # for while until if case done fi esac { } ( ) [[".split()
)
# What changes nothing but git's own state, or takes a change back: no fix.
_LOOKS_AT = re.compile(
    r"git (?:-C \S+ )?(?:status|log|diff|show|branch|remote|rev-parse|ls-files|cat-file|config|fetch|stash|add|commit"
    r"|checkout|restore)\b"
    r"|gh \w+ (?:view|list|diff|checks)\b|.* --(?:version|help)$"
)
_ABOUT_ARGUMENTS = re.compile(
    r"(?:unknown|unrecognized|illegal|invalid|unsupported) (?:flag|option|argument|command|choice)|parse error"
    r"|syntax error|no matches found|unexpected token|command not found",
    re.IGNORECASE,
)
_ABOUT_FOLDER = re.compile(
    r"(?:not contain|cannot find) main module|no Go files in|not a git repository|no such file or directory|ENOENT"
)
_FOLDER = re.compile(r"(?:^|&&|;)\s*cd (\S+)")
_ENVIRONMENT = re.compile(
    r"^(?:\w+=\S*\s+)+|^(?:do|then|else|sudo|time|timeout \S+|command|exec|nohup|npx|uv run|poetry run)\s+"
)
_REDIRECTION = re.compile(r"\d?>>?\s?(?:&\d|\S+)")
_QUOTED = re.compile(r"\\\S|'[^']*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`")
_HEREDOC = re.compile(_QUOTED.pattern + r"|(\s<<-?\s*['\"]?[A-Za-z_]).*", re.DOTALL)
_SIGNS = ";&|<>"
_HIDDEN = str.maketrans(_SIGNS, "".join(chr(0xE000 + ord(sign)) for sign in _SIGNS))  # within quotes, while it is cut
_SHOWN = {hidden: sign for sign, hidden in _HIDDEN.items()}
_UNRELATED = re.compile(r"pre-?existing|unrelated|not (?:from|related)|\bagain\b", re.IGNORECASE)


def failures(turns: Sequence[Turn]) -> list[Failure]:
    """The failures that were mended within these turns, in order; the same error once, with its last fix."""
    found: dict[str, Failure] = {}
    for part in dict.fromkeys(turn.part for turn in turns):
        for each in _mended([(call, turn) for turn in turns if turn.part == part for call in turn.calls]):
            found[error_lines.normalised(each.error)] = each
    return list(found.values())


def ended(call: Call, output: str, exit_code: int | None) -> Call | None:
    """A call with its outcome, of a command that failed with the error's own line if one says what is wrong, without
    the content of a file; ``exit_code`` is None where the tool says only that it failed. None for a call that neither
    runs such a command nor has changed files."""
    command = _HEREDOC.sub(lambda found: found[1] or found[0], call.command)
    if not 0 < len(command) <= _LONGEST:
        return call if call.files and exit_code == 0 else None
    call = replace(call, command=command)
    if exit_code == 0 and not (_MASKED.search(command) and _parts(command) and _FAILED.search(output)):
        return call
    return replace(call, exit_code=exit_code or None, error=next(error_lines.error_lines(output), ""))


def _parts(command: str) -> tuple[str, ...]:
    """The commands in a line of a shell that do more than look, each without where its output goes, its environment,
    and what it is piped to. One that reads what the line says after it is none: it is another one each time."""
    line = _QUOTED.sub(lambda found: one_line(found[0]).translate(_HIDDEN), command.replace("\\\n", " "))
    told, here, _ = line.partition("<<")
    parts = re.split(r"&&|\|\||;|\n", told)
    found = []
    for part in parts[:-1] if here else parts:
        text = _REDIRECTION.sub("", part.partition("|")[0]).strip()
        while text != (text := _ENVIRONMENT.sub("", text)):
            pass
        if text and text.split()[0] not in _LOOKS:
            found.append(one_line(text).translate(_SHOWN))
    return tuple(found)


def _mended(calls: Sequence[tuple[Call, Turn]]) -> Iterator[Failure]:
    written: set[str] = set()
    for number, (call, turn) in enumerate(calls):
        if call.error and _name(error_lines.place(call.error)) not in written:
            found = _failure(call, [each for each, _ in calls[number + 1 : number + 1 + _LATER]], turn)
            if found is not None:
                yield found
        written.update(filter(None, map(_name, call.files)))


def _failure(call: Call, later: Sequence[Call], turn: Turn) -> Failure | None:
    mine = _parts(call.command)
    is_soon = True
    between: list[Call] = []
    for other in later if mine else ():
        theirs = _parts(other.command) if other.exit_code == 0 else ()
        alike = next((part for part in theirs if _program(part) == _program(mine[-1])), "")
        folder = _FOLDER.search(other.command)
        if alike and is_soon and folder and folder[1] not in call.command and _ABOUT_FOLDER.search(call.error):
            return _with_fix(call, [*between, other], f"cd {folder[1]} && {alike}", turn)
        if mine[-1] in theirs:
            return _with_fix(call, [*between, other], "", turn)
        if alike and is_soon and _ABOUT_ARGUMENTS.search(call.error):
            return _with_fix(call, [*between, other], alike, turn)
        between.append(other)
        is_soon = is_soon and not other.files and len(between) < _SOON
    return None


def _with_fix(call: Call, after: Sequence[Call], fix: str, turn: Turn) -> Failure | None:
    """The failure with what was done for it until the last of these calls; None if nothing was, or nobody said what."""
    mine = _parts(call.command)
    done = [part for each in after[:-1] if each.exit_code == 0 for part in _parts(each.command) if part not in mine]
    done += takewhile(lambda part: part not in mine, _parts(after[-1].command))
    advised = [part for part in done if part in call.error]
    files = () if advised or fix else tuple(dict.fromkeys(path for each in after for path in each.files))
    acts = [part for part in done if not _LOOKS_AT.match(part) and _program(part) != _program(mine[-1])]
    fix = fix or next(iter(advised or ([] if files else acts[-1:])), "")
    said = _said(after, call.error)
    if not fix and not (files and said):
        return None
    return Failure(
        shortened(" && ".join(mine), _COMMAND), call.error, call.exit_code,
        shortened(fix, _COMMAND), files[-_MOST_FILES:], said, call.place or turn.place, turn.at,
    )  # fmt: skip


def _said(calls: Iterable[Call], error: str) -> str:
    """The sentence of the assistant between failure and fix that speaks most of the error, and the next one if there is
    room; empty if none does."""
    about = subject_words(error_lines.normalised(error))
    best, following, common = "", "", frozenset[str]()
    for call in calls:
        said = [one for one in sentences(call.said) if not one.endswith(("?", "\uff1f"))]
        for one, after in pairwise([*said, ""]):
            if len(shared := about & subject_words(one)) > len(common):
                best, following, common = one, after, shared
    is_about = len(common) > 1 or (not words.begins("intends", best) and any(len(one) >= _TELLING for one in common))
    if not is_about or _UNRELATED.search(best):
        return ""
    both = plain(f"{best} {following}")
    return both if len(both) <= _SENTENCE else shortened(plain(best), _SENTENCE)


def _name(path: str) -> str:
    return PureWindowsPath(path).name  # which knows both slashes


def _program(command: str) -> tuple[str, ...]:
    """The program and its first word, which is mostly a subcommand."""
    said = [word for word in re.sub(r"\s-C\s\S+", "", command).split() if not word.startswith("-")]
    return tuple(said[: 2 if len(said) > 1 and said[1].isalpha() else 1])
