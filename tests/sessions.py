"""Sessions in the docs: the commands of a page's ``console`` blocks, and whether a run prints what is shown.

What differs from run to run may differ: times, durations, ages, ids and digests, process ids, ports, this machine's
folders and disk, and the width of columns. An id that is shown stands for the one that this run gave, also in later
commands. A line ``…`` stands for any lines.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```json \S+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}"
_VARYING = {
    "time": r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?",
    "amount": r"\d+(?:\.\d+)? (?:ms|s|min|h|d|[MG]iB)\b",
    "address": r"127\.0\.0\.1:\d+",
    "process": r"pid \d+",
    "folder": r"/home/ana\S*",
}
_TOKEN = re.compile("|".join(f"(?P<{name}>{shape})" for name, shape in {"id": _ID, **_VARYING}.items()))


@dataclass(frozen=True)
class Step:
    """A command and what is shown below it; or a file that the page says to write."""

    command: str = ""
    shown: tuple[str, ...] = ()
    file: str = ""
    content: str = ""


def steps(page: str) -> Iterator[Step]:
    """The commands and files of a page, in their order."""
    found = [(match.start(), match) for pattern in (_CONSOLE, _FILE) for match in pattern.finditer(page)]
    for _, match in sorted(found, key=lambda pair: pair[0]):
        if match.re is _FILE:
            yield Step(file=match[1], content=match[2])
            continue
        for part in re.split(r"^\$ ", match[1], flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield Step(command, tuple(shown))


@dataclass
class Session:
    """What the ids of the page are called in this run."""

    ids: dict[str, str] = field(default_factory=dict)

    def command(self, shown: str) -> str:
        """The command with this run's ids."""
        return re.sub(_ID, lambda match: self.ids.get(match[0], match[0]), shown)

    def difference(self, shown: tuple[str, ...], printed: str) -> str | None:
        """The first shown line that was not printed where it should be; None if all is as shown."""
        lines = [line for line in printed.splitlines() if line.strip()]
        gap = False
        for line in shown:
            if not line.strip():
                continue
            if line.strip() == "…":
                gap = True
                continue
            while lines and gap and not self._is(line, lines[0]):
                del lines[0]
            if not lines or not self._is(line, lines.pop(0)):
                return line
            gap = False
        return None if gap or not lines else f"(more: {lines[0]})"

    def _is(self, shown: str, printed: str) -> bool:
        new: list[str] = []
        pattern, done = "", 0
        for token in _TOKEN.finditer(shown):
            pattern += _spaced(shown[done : token.start()])
            done = token.end()
            if token.lastgroup == "folder":
                pattern += r"/\S+"
            elif token.lastgroup != "id":
                pattern += _VARYING[str(token.lastgroup)]
            elif token[0] in self.ids:
                pattern += re.escape(self.ids[token[0]])
            else:
                new.append(token[0])
                pattern += f"({_ID})"
        found = re.fullmatch(pattern + _spaced(shown[done:]) + r"\s*", printed)
        if found is None:
            return False
        self.ids.update(zip(new, found.groups(), strict=True))
        return True


def _spaced(text: str) -> str:
    """A pattern for the text in which columns may be of another width."""
    return r"\s+".join(re.escape(word) for word in re.split(r"\s+", text))
