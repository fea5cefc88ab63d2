"""The anchors of memories that are stored: which of their words stand in the code now, or stood in it where the memory
was captured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..memory import AnchorKind, Memory
from . import anchor
from .anchor import FOLDER, Anchor
from .budget import Budget, OutOfTime
from .repository import repository_of
from .tree import Tree, content_id, is_code, is_manifest
from .words import Word, words

SECONDS = 0.5  # of the processor, for jobs that are stored together; what is not found by then is no anchor
_TEST = re.compile(r"(?:^|/)(?:tests?|specs?|__tests__|fixtures|testdata)/|[._-](?:test|spec)\.|(?:^|/)test_")


class Code:
    """The code in a workspace, in which the words of many texts are looked for. It is as it was when it was first read.
    Outside of a repository there is none."""

    def __init__(self, root: Path, seconds: float = SECONDS) -> None:
        repository = repository_of(root)
        self._commit = repository.commit() if repository else None
        self._tree = Tree(root, Budget(seconds))

    def anchored(self, memory: Memory) -> Memory:
        """The memory with its anchors."""
        found = self.taken(said(memory))
        return memory._replace(metadata=memory.metadata._replace(anchors=found)) if found else memory

    def taken(self, text: str) -> tuple[str, ...]:
        """The anchors of a text, as they are stored; empty if none of its words is there."""
        if self._commit is None:
            return ()
        found, tree = words(text), self._tree
        anchors: list[Anchor] = []
        try:
            for each in _paths(found, tree):
                anchors.append(each)  # one after another: what is found before the time is over counts
            named = [each.file for each in anchors if each.word != FOLDER and is_code(each.file)]
            for each in _others([word for word in found if not _is_end(word.text, anchors)], tree, named):
                anchors.append(each)
        except OutOfTime:
            pass
        return anchor.stored(self._commit, anchors)


def said(memory: Memory) -> str:
    """What a memory states: neither what is open nor what is to be done."""
    content = memory.content
    if content is None:
        return memory.text
    files = [f"`{path}`" for path in content.references.files]
    return "\n".join([content.topic, content.context, *content.decisions, *content.rationale, *files])


def chosen(memory: Memory, taken_before: Iterable[str]) -> Memory:
    """The memory with those of these anchors whose words it states: for one that is made elsewhere than in its tree."""
    paths, others = set[str](), set[str]()
    for word in words(said(memory)):
        (paths if word.kind == "path" else others).add(f"{word.text}={word.value}" if word.value else word.text)
    found: tuple[str, ...] = ()
    for commit, anchors in anchor.read(list(taken_before)):
        own = (each for each in anchors if each.word in others or _is_named(each, paths))
        found = found or anchor.stored(commit, own)
    return memory._replace(metadata=memory.metadata._replace(anchors=found)) if found else memory


def _is_named(path: Anchor, ends: Iterable[str]) -> bool:
    return path.kind == "path" and any(f"/{path.file}".endswith(f"/{end.rstrip('/')}") for end in ends)


def _is_end(text: str, paths: list[Anchor]) -> bool:
    """Whether a word is the end of a path that was found: ``config.toml`` is no name then."""
    return any(f"/{each.file}".endswith(f"/{text.rstrip('/')}") for each in paths)


def _paths(found: list[Word], tree: Tree) -> Iterator[Anchor]:
    """The paths that are there, or whose end is that of one single file."""
    for word in found:
        if word.kind != "path":
            continue
        path = word.text.rstrip("/")
        if not tree.is_missing(path):
            data = tree.content(path)
            if data is not None:
                yield Anchor("path", content_id(data), path)
            elif tree.is_folder(path) and "/" in word.text:
                yield Anchor("path", FOLDER, path)
            continue
        ends = [file for file in tree.files if file.endswith(f"/{path}")]
        if len(ends) == 1 and (data := tree.content(ends[0])) is not None:
            yield Anchor("path", content_id(data), ends[0])


def _others(found: list[Word], tree: Tree, named: list[str]) -> Iterator[Anchor]:
    """The other words, each with a file in which it stands: one that the text names, else one that is no test."""
    for word in found:
        if word.kind == "path":
            continue
        text = f"{word.text}={word.value}" if word.kind == "value" else word.text
        kind = word.kind
        is_version = kind == "value" and "." in word.value

        def stands(data: bytes, kind: AnchorKind = kind, text: str = text) -> bool:
            return anchor.in_file(kind, text, data, is_new=True)

        def among(path: str, is_limited: bool = kind == "command" or is_version) -> bool:
            return not is_limited or is_manifest(path)

        places = [path for path in named if among(path) and stands(tree.content(path) or b"")]
        places = places or _first(tree.search(stands, among))
        if places:
            yield Anchor(kind, text, places[0])


def _first(paths: Iterator[str]) -> list[str]:
    """The first path that is no test, else the first one."""
    first: list[str] = []
    for path in paths:
        if not _TEST.search(path):
            return [path]
        first = first or [path]
    return first
