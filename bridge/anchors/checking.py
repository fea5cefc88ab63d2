"""What has become of the anchors of memories, looked up in the tree of the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..memory import AnchorState, Memory
from ..text.passages import whole_text
from . import anchor
from .anchor import FOLDER, Anchor, Checked, Commit
from .budget import Budget, OutOfTime
from .repository import Repository, repository_of
from .tree import Tree, content_id, is_manifest

if TYPE_CHECKING:
    from ..memory_shapes import InCode

SECONDS = 0.005  # of the processor, for each memory of an answer
_ORDINARY = 5  # memories of an answer; one with fewer has no less time in all

Missing = list[tuple[int, Anchor]]


def in_code(memories: Sequence[Memory], root: Path, seconds: float | None = None) -> dict[int, InCode]:
    """Number -> what an answer says, for those of the memories of which there is something to say.

    ``seconds``: of the processor, in all; else ``SECONDS`` for each. What would take longer is not said.
    """
    anchored = {memory.number: memory for memory in memories if memory.metadata.anchors}
    repository = repository_of(root) if anchored else None
    now = repository.commit() if repository else None
    if repository is None or now is None:
        return {}
    budget = Budget(SECONDS * max(len(memories), _ORDINARY) if seconds is None else seconds)
    line = _Line(repository, now, budget)
    tree = Tree(root, budget)
    found: dict[int, list[Checked]] = {}
    commits: dict[int, Commit] = {}
    missing: Missing = []
    try:
        for number, memory in anchored.items():
            for commit, anchors in anchor.read(memory.metadata.anchors):
                for each in anchors if line.has(commit) else ():
                    commits[number] = commit
                    state = _looked_up(each, memory, tree)
                    if state in ("verified", "changed") or (state == "gone" and line.leads_from(commit)):
                        found.setdefault(number, []).append(Checked(each, state))
                    elif state is None and line.leads_from(commit):
                        missing.append((number, each))
        for number, checked in _searched(missing, tree):
            found.setdefault(number, []).append(checked)
    except OutOfTime:
        pass
    return {number: _said(commits[number], checked) for number, checked in found.items()}


class _Line:
    """What is checked out, and which commits lead to it; each is looked up once."""

    def __init__(self, repository: Repository, now: Commit, budget: Budget) -> None:
        self._repository = repository
        self._objects = repository.objects
        self._now = now
        self._budget = budget
        # Whether the repository has a commit: else that is of another project, or not fetched yet.
        self.has = cache(lambda commit: self._objects.has(commit.id))
        self.leads_from = cache(self._leads_from)

    def _leads_from(self, commit: Commit) -> bool:
        """Whether what was there at the commit must have been here: on this branch, or on one that was merged. One that
        does not exist any more was merged in another form, or given up."""
        return (
            commit.id == self._now.id
            or (bool(commit.branch) and commit.branch == self._now.branch)
            or (bool(commit.branch) and not self._repository.has_branch(commit.branch))
            or self._objects.is_before(commit.id, self._now.id, self._budget)
        )


def _looked_up(each: Anchor, memory: Memory, tree: Tree) -> AnchorState | None:
    """Its state by its own file alone; None if it has to be searched for. Raises OutOfTime."""
    if each.kind == "path":
        if tree.is_missing(each.file):
            is_whole = each.file in whole_text(memory)
            name = each.file.rpartition("/")[2]
            return "gone" if is_whole or not any(f"/{path}".endswith(f"/{name}") for path in tree.files) else "changed"
        data = None if each.word == FOLDER else tree.content(each.file)
        return "verified" if data is None or content_id(data) == each.word else "changed"
    data = tree.content(each.file)
    if data is not None and anchor.in_file(each.kind, each.word, data):
        return "verified"
    return None


def _searched(missing: Missing, tree: Tree) -> list[tuple[int, Checked]]:
    """What is not in its own file any more: found elsewhere, or nowhere. Raises OutOfTime."""
    left = dict.fromkeys(each for _, each in missing)
    for each in list(left):
        data = tree.content(each.file)
        if each.kind == "value" and data is not None and anchor.names_it(each.word, data):
            left.pop(each)  # it has another value there
    elsewhere: set[Anchor] = set()

    def holds(data: bytes) -> bool:
        elsewhere.update(each for each in left if anchor.in_file(each.kind, each.word, data))
        for each in elsewhere:
            left.pop(each, None)
        return not left

    if left and all(each.kind == "command" or (each.kind == "value" and "." in each.word) for each in left):
        next(tree.search(holds, is_manifest), None)
    elif left:
        next(tree.search(holds), None)
    return [(number, Checked(each, "verified" if each in elsewhere else "not_found")) for number, each in missing]


def _said(commit: Commit, checked: Sequence[Checked]) -> InCode:
    return {
        "state": anchor.worst(each.state for each in checked),
        "commit": commit.id,
        "remark": anchor.remark(checked),
        "anchors": [
            {"kind": each.anchor.kind, "word": each.anchor.shown, "file": each.anchor.file, "state": each.state}
            for each in checked
        ],
    }
