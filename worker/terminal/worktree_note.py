"""The note that a git worktree does not share the memory of its main checkout, for as long as it has none itself.

Agents and people often work in worktrees; without the note, an empty answer looks as if nothing were known.
"""

from __future__ import annotations

import shlex

from jobs.errors import JobError
from jobs.layout import Workspace


def worktree_note(workspace: Workspace) -> str | None:
    """The note, with the number of memories there and how to use them.

    None outside of a worktree, if the workspace is in use already, and if the main checkout has no memory that this
    user may open.
    """
    if not (workspace.root / ".git").is_file() or workspace.spool.root.exists() or workspace.memory.exists():
        return None
    # Not at the top: nearly all queries end above.
    from bridge import trust
    from bridge.search import listing
    from jobs.worktree import main_checkout

    from ..wording import counted

    root = main_checkout(workspace.root)
    if root is None:
        return None
    main = Workspace(root)
    try:
        trust.settings_of(main)
        count = listing.counts(main)["memories"]
    except JobError:
        return None
    if not count:
        return None
    return (
        f"This git worktree does not share the memory of its main checkout, which has {counted(count, 'memory')}."
        f" To use that one: --workspace {shlex.quote(str(root))}"
    )
