"""The tools from which a workspace may capture, which of them may be shown notes while they work, and which summarise
their own sessions. All are off until the user enables them, per tool and workspace.

The list is a file in the user's configuration folder, named by the workspace's owner id, so that no repository can
enable anything. It also says which folder was meant: a workspace that is moved within its file system keeps what its
user enabled, and a copy, which has the same owner id, begins with nothing. A damaged file means: nothing is enabled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from jobs import clock, state_file
from jobs.layout import Workspace

from .. import trust

_FOLDER = "captures"
Moments = Literal["prompts", "files", "failures"]
MOMENTS: tuple[Moments, ...] = get_args(Moments)
"""Before a prompt is answered; before a file is read or changed; after a command failed."""


class Consent(NamedTuple):
    """What a user has enabled in a workspace; nothing where the list is damaged.

    ``recall``: tool -> the moments at which it may be shown notes, of ``MOMENTS``. ``own_models``: tool whose own
    command line may summarise its sessions -> the model that it is to take; empty: its own choice. Only enabled tools
    are in either.
    """

    tools: frozenset[str] = frozenset()
    recall: Mapping[str, frozenset[str]] = {}
    own_models: Mapping[str, str] = {}
    is_damaged: bool = False


def read(workspace: Workspace, config_folder: Path) -> Consent:
    """What is enabled here; nothing in a workspace that is not this user's."""

    def of_this_folder(entry: Any) -> Consent:
        if not isinstance(entry["tools"], list):
            raise TypeError("not a list of tools")
        if entry["folder"] != identity(workspace):
            return Consent()
        tools = frozenset(tool for tool in entry["tools"] if isinstance(tool, str))
        recall = {tool: frozenset(entry.get("recall", {}).get(tool, ())) & set(MOMENTS) for tool in tools}
        models = {tool: str(model) for tool, model in entry.get("own_models", {}).items() if tool in tools}
        return Consent(tools, {tool: moments for tool, moments in recall.items() if moments}, models)

    path, damaged = trust.entry_path(workspace, config_folder, _FOLDER), Consent(is_damaged=True)
    return Consent() if path is None else state_file.read(path, of_this_folder, absent=Consent(), damaged=damaged)


def set_enabled(
    workspace: Workspace,
    config_folder: Path,
    tool: str,
    enabled: bool,
    moments: Collection[str] | None = None,
    own_model: str | Literal[False] | None = None,
) -> frozenset[str]:
    """Enable or disable a tool. Returns the enabled ones. ``moments``: at which it may be shown notes. ``own_model``:
    the model that summarises its sessions, as in ``Consent``; False for none. None leaves either as it is.

    Raises JobError: WORKSPACE_NOT_TRUSTED; also as ``trust.write_entry``.

    The workspace's folders are created if they do not exist yet.
    """
    trust.adopt(workspace, config_folder)
    path = trust.entry_path(workspace, config_folder, _FOLDER)
    assert path is not None
    known = read(workspace, config_folder)
    tools = known.tools | {tool} if enabled else known.tools - {tool}
    recall = {**known.recall} if moments is None else {**known.recall, tool: frozenset(moments)}
    models = {**known.own_models} if own_model is None else {**known.own_models, tool: own_model}
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
