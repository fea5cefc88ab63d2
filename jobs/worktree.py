"""The main checkout of a linked git worktree: where a project's memory usually is.

A worktree's ``.git`` is a file that names a folder below the main checkout's ``.git/worktrees``. That folder names the
worktree in turn. Both are required: a copied or unpacked folder may name any checkout, but only a program that can
write into the checkout makes it name the folder.
"""

from __future__ import annotations

from pathlib import Path

_MOST_BYTES = 4096  # of a path


def main_checkout(folder: Path) -> Path | None:
    """The root of the main checkout if ``folder`` is the root of a worktree that it knows; else None.

    Also None for a submodule, a bare repository, and a repository whose ``.git`` is elsewhere.
    """
    own = own_folder(folder)
    return None if own is None else own.parent.parent.parent


def own_folder(folder: Path) -> Path | None:
    """The folder below ``.git/worktrees`` in which a worktree that its main checkout knows has its HEAD; else None."""
    git = folder / ".git"
    if not git.is_file():
        return None
    try:
        own = _path_in(git, folder, "gitdir:")
        if own is None or own.parent.name != "worktrees" or own.parent.parent.name != ".git":
            return None
        back = _path_in(own / "gitdir", own)
        is_known = back is not None and back.samefile(git)
    except (OSError, ValueError):  # a path that is gone, or that is none
        return None
    return own if is_known else None


def _path_in(file: Path, base: Path, label: str = "") -> Path | None:
    """The path that a file of git holds, after the label; a relative one is below ``base``. Raises OSError."""
    with file.open("rb") as opened:
        text = opened.read(_MOST_BYTES).decode(errors="surrogateescape").removesuffix("\n")
    if not text.startswith(label):
        return None
    return (base / text.removeprefix(label).lstrip(" ")).resolve(strict=True)
