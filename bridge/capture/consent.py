"""The tools from which a workspace may capture, which of them may be shown notes while they work (``recall``), and
which summarise their own sessions (``own_models``). All are off until the user enables them, per tool and workspace.

The list is a file in the user's configuration folder, named by the workspace's owner id, so that no repository can
enable anything. It also says which folder was meant: a workspace that is moved within its file system keeps what its
user enabled, and a copy, which has the same owner id, begins with nothing. A damaged file means: nothing is enabled.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, get_args

from jobs import clock, state_file
from jobs.layout import Workspace

from .. import trust

Moments = Literal["prompts", "files", "failures"]
MOMENTS: tuple[Moments, ...] = get_args(Moments)
"""Before a prompt is answered; before a file is read or changed; after a command failed."""


def enabled_tools(workspace: Workspace, config_folder: Path) -> frozenset[str]:
    """The names of the enabled tools; none in a workspace that is not this user's."""
    none = frozenset[str]()
    path = _path(workspace, config_folder)

    def of_this_folder(entry: Any) -> frozenset[str]:
        return _tools(entry) if entry["folder"] == identity(workspace) else none

    return none if path is None else state_file.read(path, of_this_folder, absent=none, damaged=none)


def recalls(workspace: Workspace, config_folder: Path) -> dict[str, frozenset[str]]:
    """Tool -> the moments at which it may be shown notes, of ``MOMENTS``; only enabled tools have any."""
    path, tools = _path(workspace, config_folder), enabled_tools(workspace, config_folder)

    def of_tools(entry: Any) -> dict[str, frozenset[str]]:
        return {tool: frozenset(entry.get("recall", {}).get(tool, ())) & set(MOMENTS) for tool in tools}

    found = None if path is None else state_file.read(path, of_tools, absent=None, damaged=None)
    return {tool: moments for tool, moments in (found or {}).items() if moments}


def own_models(workspace: Workspace, config_folder: Path) -> dict[str, str]:
    """Tool whose own command line may summarise its sessions -> the model that it is to take; empty: its own choice.
    Only enabled tools are among them."""
    path, tools = _path(workspace, config_folder), enabled_tools(workspace, config_folder)

    def of_tools(entry: Any) -> dict[str, str]:
        return {tool: str(model) for tool, model in entry.get("own_models", {}).items() if tool in tools}

    return {} if path is None else state_file.read(path, of_tools, absent={}, damaged={})


def is_damaged(workspace: Workspace, config_folder: Path) -> bool:
    """Whether there is a list that cannot be read, so that nothing is enabled."""
    path = _path(workspace, config_folder)
    return path is not None and state_file.read(path, _tools, absent=(), damaged=None) is None


def set_enabled(
    workspace: Workspace,
    config_folder: Path,
    tool: str,
    enabled: bool,
    moments: Collection[str] | None = None,
    own_model: str | Literal[False] | None = None,
) -> frozenset[str]:
    """Enable or disable a tool. Returns the enabled ones. ``moments``: at which it may be shown notes. ``own_model``:
    the model that summarises its sessions, as in ``own_models``; False for none. None leaves either as it is.

    Raises JobError: WORKSPACE_NOT_TRUSTED; also as ``trust.write_entry``.

    The workspace's folders are created if they do not exist yet.
    """
    trust.adopt(workspace, config_folder)
    path = _path(workspace, config_folder)
    assert path is not None
    tools = enabled_tools(workspace, config_folder)
    tools = tools | {tool} if enabled else tools - {tool}
    recall = recalls(workspace, config_folder) | ({} if moments is None else {tool: frozenset(moments)})
    models = own_models(workspace, config_folder) | ({} if own_model is None else {tool: own_model})
    entry = {
        "tools": sorted(tools),
        "recall": {name: sorted(of) for name, of in recall.items() if of and name in tools},
        "own_models": {name: model for name, model in models.items() if model is not False and name in tools},
        "path": str(workspace.root),
        "folder": identity(workspace),
        "written_at": clock.iso(clock.now()),
    }
    trust.write_entry(path, entry)
    return tools


def identity(workspace: Workspace) -> list[int]:
    """The inodes of the workspace's folder and of its job folder, which a copy does not share. The device is left out,
    since its number may change when the machine starts. Raises OSError."""
    return [folder.stat().st_ino for folder in (workspace.root, workspace.spool.root)]


def _tools(entry: Any) -> frozenset[str]:
    if not isinstance(entry["tools"], list):
        raise TypeError("not a list of tools")
    return frozenset(tool for tool in entry["tools"] if isinstance(tool, str))


def _path(workspace: Workspace, config_folder: Path) -> Path | None:
    """The workspace's file; None for a workspace that is not this user's, or not a workspace yet."""
    try:
        owner = trust.inspect_trust(workspace, config_folder).owner
    except OSError:
        return None
    return None if owner is None else config_folder / "captures" / f"{owner}.json"
