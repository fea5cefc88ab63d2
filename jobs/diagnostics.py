"""Everything that a check can find: one table, with the level, the cause and the remedy of each.

A code is stable: programs may compare it. ``error``: something does not work, or data is at stake. ``warning``: it
works, and worse than it should, or not for long. ``note``: worth knowing. ``ok``: looked at, and well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Level = Literal["ok", "note", "warning", "error"]
LEVELS: tuple[Level, ...] = get_args(Level)

Group = Literal["machine", "installation", "settings", "workspace", "worker", "queue", "memory", "graph", "model"]
GROUPS: tuple[Group, ...] = get_args(Group)

Fix = Literal[
    "close to others",  # modes of our folders and files
    "add .gitignore",
    "remove parts",  # of files that were never finished, older than a day
    "remove what a dead worker left",  # its heartbeat and its token
    "end orphans",  # processes of ours whose worker is gone
    "start a worker",  # where jobs wait for one, or a team's copy does
]
FIXES: tuple[str, ...] = get_args(Fix)

_M, _I, _S, _P, _W, _Q, _D, _G, _E = GROUPS


@dataclass(frozen=True)
class Diagnostic:
    """``deep``: only the job ``check`` looks for it, which reads the stores whole."""

    code: str
    group: Group
    level: Level
    cause: str
    remedy: str
    fix: Fix | None = None
    deep: bool = False


_NOTHING = "Nothing."

DIAGNOSTICS: dict[str, Diagnostic] = {diagnostic.code: diagnostic for diagnostic in (
    Diagnostic("OK", _M, "ok", "All checks of this group passed.", _NOTHING),
    Diagnostic(
        "CHECK_NOT_MADE", _M, "warning", "A check could not be made.",
        "Repair what the message names, then run doctor again. If it names nothing that you can repair, report it.",
    ),
    # --- the machine ---
    Diagnostic(
        "DISK_LOW", _M, "error", "The disk has less free space than new jobs need: drops are rejected and jobs wait.",
        "Free some disk space, or lower COGNEE_MEMORY_MIN_FREE_BYTES. Accepted jobs continue automatically.",
    ),
    Diagnostic(
        "DISK_TIGHT", _M, "warning", "The disk is close to the limit of free space below which drops are rejected.",
        "Free some disk space soon.",
    ),
    Diagnostic(
        "INODES_LOW", _M, "error", "The file system has almost no room for more files, whatever their size.",
        "Remove files from this disk; each job needs a few small files.",
    ),
    Diagnostic(
        "DISK_READ_ONLY", _M, "error", "The workspace is on a file system that is mounted read-only.",
        "Mount it for writing. Until then retrieval works, but no job is accepted.",
    ),
    Diagnostic(
        "MOUNT_UNSAFE", _M, "error",
        "SQLite's write-ahead log is not safe on this mount, which another system may also use.",
        "Move the workspace to a local disk, or accept the risk: COGNEE_MEMORY_ALLOW_UNSAFE_MOUNT=1. Until then jobs"
        " wait.",
    ),
    Diagnostic(
        "MOUNT_UNSAFE_ALLOWED", _M, "warning", "memory.db is on a mount where SQLite's write-ahead log is not safe.",
        "Move the workspace to a local disk, or export the memories regularly: cognee-memory export.",
    ),
    Diagnostic(
        "MOUNT_WITHOUT_EVENTS", _M, "note",
        "File events do not report all changes on this mount, so the worker polls it.",
        "No action needed: the worker notices drops within half a second.",
    ),
    Diagnostic(
        "WATCHES_FEW", _M, "warning",
        "The kernel's limit on watched folders, or on programs that watch them, is low for this user.",
        "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances with sysctl. If file events fail, the"
        " worker polls.",
    ),
    Diagnostic(
        "OPEN_FILES_FEW", _M, "warning", "The limit on open files per process is low; cognee's stores need hundreds.",
        "Raise the limit (ulimit -n 4096) where you start the worker, and restart it.",
    ),
    Diagnostic(
        "RAM_LOW", _M, "warning", "Little RAM is free; the process that runs jobs needs about 700 MB.",
        "End programs that you do not need.",
    ),
    Diagnostic(
        "CLOCK_WRONG", _M, "error", "The clock of this machine is wrong.",
        "Set the clock. Until then the ages of memories are wrong, and so are the scores.",
    ),
    Diagnostic(
        "CLOCK_WAS_AHEAD", _M, "warning", "Some stored times are in the future: the clock was set back.",
        "No action needed if the clock is right now: jobs still run in their order.",
    ),
    Diagnostic(
        "CLOCK_OF_DISK", _M, "warning", "The clock of the file system differs from the clock of this machine.",
        "Set the clock of the machine that has the disk. Until then the ages of files, such as temporary files and"
        " requests, are wrong.",
    ),
    # --- the installation ---
    Diagnostic(
        "PYTHON_UNSUPPORTED", _I, "error", "The program does not support this version of Python.",
        "Install it with a Python version that the message names.",
    ),
    Diagnostic(
        "PACKAGE_MISSING", _I, "error", "A package that the program needs is not installed.",
        "Reinstall the program with its dependencies.",
    ),
    Diagnostic(
        "PACKAGE_OTHER_VERSION", _I, "warning", "A package has a version other than the tested one.",
        "Reinstall the program in an environment of its own.",
    ),
    Diagnostic(
        "NAME_TAKEN", _I, "error",
        "Another package contains modules named jobs, bridge or worker, as this program does.",
        "Install the program in an environment of its own: side by side, one of the two does not work.",
    ),
    Diagnostic(
        "NOT_INSTALLED", _I, "note", "The program runs from its source folder and is not installed.",
        "No action needed for a trial. Otherwise install it with pip.",
    ),
    Diagnostic(
        "SQLITE_LACKING", _I, "error", "Python's SQLite is too old, or lacks FTS5 or JSON.",
        "Use a Python whose SQLite is 3.35 or newer and has FTS5, such as the one from python.org.",
    ),
    Diagnostic(
        "CONFIG_CLOSED", _I, "error",
        "The user's configuration folder is not writable, so no workspace can be marked as trusted.",
        "Make it writable, or set COGNEE_MEMORY_CONFIG_DIR to a writable folder.",
    ),
    Diagnostic(
        "CONFIG_OPEN", _I, "warning", "Other users can read config.toml, which contains a key.",
        "Restrict its permissions: cognee-memory doctor --fix.", "close to others",
    ),
    # --- the settings ---
    Diagnostic(
        "SETTING_WRONG", _S, "error", "A setting cannot be read: no command except doctor works.",
        "Correct what the message names: the variable, the workspace's .env, or config.toml.",
    ),
    Diagnostic(
        "VARIABLE_UNKNOWN", _S, "warning",
        "A variable starts with COGNEE_MEMORY_ but is not a setting: it has no effect.",
        "Correct its name. To list all settings: cognee-memory settings.",
    ),
    Diagnostic(
        "ENV_FILE_IGNORED", _S, "note", "The workspace's .env sets variables that it may not set: they have no effect.",
        "Set them in the environment or in config.toml. Providers and keys take effect there once you trust the"
        " workspace: cognee-memory trust.",
    ),
    Diagnostic(
        "SOURCES_APART", _S, "warning",
        "A key and its endpoint come from different sources: the one from the weaker source is ignored.",
        "Set both in the same source: a key is only ever sent to an endpoint that was set beside it.",
    ),
    Diagnostic(
        "CAPTURE_ON", _S, "note", "Sessions of other tools are captured in this workspace.",
        "No action needed. What was captured: cognee-memory capture list. To stop it: cognee-memory capture disable"
        " --help.",
    ),
    Diagnostic(
        "OWN_MODEL_MISSING", _S, "warning",
        "A tool that is to summarise its own sessions is not found: rules do.",
        "Put it on the PATH, then: cognee-memory worker restart.",
    ),
    Diagnostic(
        "CAPTURE_LIST_DAMAGED", _S, "warning",
        "The list of tools from which this workspace captures cannot be read: nothing is enabled.",
        "Enable each tool again: cognee-memory capture enable --help.",
    ),
    Diagnostic(
        "HOOK_PROGRAM_MISSING", _S, "warning",
        "A tool's configuration calls a hook of this program that is not there any more, so that nothing is captured.",
        "Install it again: cognee-memory capture install --help. Or remove it: cognee-memory capture uninstall --help.",
    ),
    Diagnostic(
        "HOOKS_FAIL", _S, "warning", "Hooks that other tools called could not do their work. The tools went on.",
        "See why in hooks.log of the configuration folder.",
    ),
    Diagnostic(
        "TEAM_OF", _S, "note", "The workspace belongs to a team.",
        "No action needed. Who runs its jobs, and how far each copy is: cognee-memory team status.",
    ),
    Diagnostic(
        "TEAM_NOT_REACHED", _S, "error", "The team is not reached: jobs wait, and answers are from the copy here.",
        "Check the network, the setting team, and the token: docs/team.md.",
    ),
    Diagnostic(
        "TEAM_COPY_NOT_FOLLOWED", _S, "error",
        "No worker runs here, so this copy does not follow the team: what others change and forget is missing.",
        "Start one: cognee-memory worker start. To start it at each login: docs/operations.md.", "start a worker",
    ),
    Diagnostic(
        "TEAM_CLOCK_DIFFERS", _S, "warning",
        "This machine's clock is wrong: it differs by more than 30 seconds from the team's.",
        "Set the clock, or let it be set (NTP). Until then, jobs of this machine, and memories without a date of their"
        " own, have the team's time; dates that were given are kept as they are.",
    ),
    Diagnostic(
        "TEAM_TOKEN_ENDS", _S, "warning", "This machine's token for the team's gateway ends soon.",
        "Ask an operator for a new one, write it into team_token in config.toml, and run:"
        " cognee-memory worker restart.",
    ),
    Diagnostic(
        "TEAM_JOBS_WAIT", _S, "warning", "Jobs of the team wait, and no worker has taken them for ten minutes.",
        "The team's service runs them: an operator starts it with workers, serve --workers 2: docs/team-operations.md.",
    ),
    Diagnostic(
        "TEAM_COPY_HOLDS_FORGOTTEN", _S, "warning",
        "A copy on another machine may still hold what was forgotten: it has not been seen for days.",
        "Start that machine's worker: it removes it. If the machine will not come back, revoke its token, and remove"
        " the folder by other means: cognee-memory team tokens, then team revoke.",
    ),
    Diagnostic(
        "TEAM_COPY_SILENT", _S, "warning", "A copy of the workspace on another machine has not been seen for days.",
        "If that machine will not come back, revoke its token: cognee-memory team tokens, then team revoke. Then"
        " remove the copy's row: docs/team-operations.md, 'A laptop is lost'.",
    ),
    Diagnostic(
        "TEAM_ROW_SET_ASIDE", _S, "warning",
        "The copy here leaves out a row of the team that it cannot apply; all others are applied.",
        "Update the program. If it stays, somebody wrote it without the program: ask the persons of the workspace."
        " A later version of the row is applied when it comes.",
    ),
    Diagnostic(
        "TEAM_LOST", _S, "warning",
        "The team's database lost memories that this copy had, as after a restore. They are kept in a file.",
        "Import the file, on one machine, and then remove its folder: docs/team-operations.md. The worker removes it"
        " after COGNEE_MEMORY_KEEP_FAILED_DAYS.",
    ),
    Diagnostic(
        "TEAM_LOST_IS_BACK", _S, "note",
        "All that the team's database had lost is back, and what was forgotten is forgotten: nothing more is needed of"
        " what was set aside here.",
        "Remove the folder.",
    ),
    Diagnostic(
        "TEAM_UNFORGOTTEN", _S, "warning",
        "The team's database has memories again that were forgotten: it was restored to an earlier state.",
        "Forget them again, by these ids: cognee-memory forget ID. Then remove the file's folder.",
    ),
    Diagnostic(
        "COGNEE_VARIABLE_IGNORED", _S, "note", "A variable of cognee itself is set, but has no effect here.",
        "No action needed: cognee's stores of a workspace are inside the workspace.",
    ),
    Diagnostic(
        "REDACTION_OFF", _S, "warning",
        "COGNEE_MEMORY_REDACT_SECRETS is off: likely secrets in texts are stored as they are.",
        "Set COGNEE_MEMORY_REDACT_SECRETS=1, unless you intend this.",
    ),
    Diagnostic(
        "RERANKER_BROKEN", _S, "warning", "The configured reranker cannot be used: hits are ranked without it.",
        "Do what the message says, or unset COGNEE_MEMORY_RERANK_MODEL.",
    ),
    Diagnostic(
        "EMBEDDING_MISFIT", _S, "error", "The settings of the embedding provider are wrong or inconsistent.",
        "Correct EMBEDDING_PROVIDER, EMBEDDING_MODEL and EMBEDDING_DIMENSIONS.",
    ),
    Diagnostic(
        "LLM_MISFIT", _S, "warning", "A language model is configured, but it cannot be used with these settings.",
        "Correct COGNEE_MEMORY_LLM_TOOL, or LLM_PROVIDER, LLM_MODEL, LLM_ENDPOINT and LLM_API_KEY, or remove them.",
    ),
    Diagnostic(
        "LLM_ABSENT", _S, "note", "No language model is configured.",
        "No action needed: everything except cognify and answers in prose works without one. To configure one, set"
        " LLM_API_KEY.",
    ),
    Diagnostic(
        "LLM_SET", _S, "note", "A language model is configured.",
        "No action needed: its use costs what its provider charges.",
    ),
    Diagnostic(
        "SETTINGS_SET", _S, "note", "Some settings differ from their defaults.",
        "To list all settings: cognee-memory settings.",
    ),
    Diagnostic(
        "TEST_JOBS_ON", _S, "note", "COGNEE_MEMORY_TEST_JOBS is on: test jobs are accepted.", "Unset it outside tests.",
    ),
    # --- the workspace ---
    Diagnostic(
        "WORKSPACE_ABSENT", _P, "error", "There is no folder at the workspace path.",
        "Check the path: the workspace is the folder that is open in the editor.",
    ),
    Diagnostic(
        "WORKSPACE_UNUSED", _P, "note", "Nothing has been stored in this workspace yet.",
        "Start with: cognee-memory ingest.",
    ),
    Diagnostic(
        "WORKSPACE_FOREIGN", _P, "error", "The workspace contains jobs or memories that this user did not create here.",
        "Inspect .cognee_jobs and .cognee_memory. If they are yours, run: cognee-memory trust. Nothing was read.",
    ),
    Diagnostic(
        "WORKSPACE_CLOSED", _P, "error", "A folder of the program cannot be read or written.",
        "Make this user its owner, with the right to read and write.",
    ),
    Diagnostic(
        "OTHER_OWNER", _P, "error", "Files in the program's folders belong to another user.",
        "Find out why, then make this user their owner (chown).",
    ),
    Diagnostic(
        "OPEN_TO_OTHERS", _P, "warning", "Other users of this machine can access the program's folders or files.",
        "Restrict their permissions: cognee-memory doctor --fix.", "close to others",
    ),
    Diagnostic(
        "LINKS_INSIDE", _P, "warning", "The program's folders contain links; the program creates none.",
        "Remove the links, or replace them with what they point to.",
    ),
    Diagnostic(
        "NOT_IGNORED", _P, "warning", "A folder of the program lacks its .gitignore: memories could be committed.",
        "Add it: cognee-memory doctor --fix.", "add .gitignore",
    ),
    Diagnostic(
        "FILES_TRACKED", _P, "warning",
        "git tracks files in the program's folders: who clones the repository gets them, and a pull can bring jobs.",
        "Take them out of the repository: git rm -r --cached .cognee_jobs .cognee_memory .cognee_system .cognee_data.",
    ),
    Diagnostic(
        "WORKSPACE_SHARED", _P, "warning",
        "Other members of a group may write to a folder that the workspace is in, and so can replace its files.",
        "Take the right to write from the group: chmod g-w FOLDER; or set the sticky bit: chmod +t FOLDER.",
    ),
    Diagnostic(
        "PARTS_LEFT", _P, "note", "Temporary files of unfinished writes are more than a day old.",
        "Remove them: cognee-memory doctor --fix.", "remove parts",
    ),
    # --- the worker ---
    Diagnostic(
        "JOBS_WITHOUT_WORKER", _W, "warning", "Jobs wait, and no worker is running on this workspace.",
        "Start one: cognee-memory worker start.", "start a worker",
    ),
    Diagnostic(
        "WORKER_ABSENT", _W, "note", "No worker is running on this workspace, and nothing waits for one.",
        "No action needed: a command that submits a job starts one.",
    ),
    Diagnostic(
        "WORKER_DIED", _W, "note", "The last worker did not shut down in order.",
        "No action needed: the next worker repairs what it left. If it happens again, see: cognee-memory worker logs.",
    ),
    Diagnostic(
        "WORKER_SILENT", _W, "error",
        "A worker holds the lock but has written no heartbeat for long: it hangs or is stopped.",
        "See cognee-memory worker logs, then restart it: cognee-memory worker restart. If that does not end it, kill"
        " the process.",
    ),
    Diagnostic(
        "HEARTBEAT_DAMAGED", _W, "warning", "The heartbeat file cannot be read.",
        "No action needed: a running worker rewrites it within seconds. If it stays damaged, restart the worker.",
    ),
    Diagnostic(
        "HEARTBEAT_LEFT", _W, "note", "A worker that is gone has left its heartbeat or its token behind.",
        "Remove them: cognee-memory doctor --fix.", "remove what a dead worker left",
    ),
    Diagnostic(
        "HEARTBEAT_FOREIGN", _W, "warning",
        "The heartbeat is not from the process that holds the lock: it is from another boot of this machine, or from"
        " another machine.",
        "Make sure that only one machine uses this folder, then run: cognee-memory worker restart.",
    ),
    Diagnostic(
        "LOCK_GONE", _W, "error",
        "A worker is running, but its lock file is gone: a second worker could start beside it.",
        "Wait some seconds: the worker exits when it notices. If it does not, restart it: cognee-memory worker"
        " restart.",
    ),
    Diagnostic(
        "LOCK_UNSAFE", _W, "error", "The entry at the path of the lock is not a plain file owned by this user.",
        "Stop the program that uses it, and remove .cognee_jobs/worker/lock.",
    ),
    Diagnostic(
        "WORKERS_MANY", _W, "error", "More than one worker is running on this workspace.",
        "End them by their process ids, then start one: cognee-memory worker start.",
    ),
    Diagnostic(
        "SUCCESSOR_WAITS", _W, "note", "A new worker waits for the present one to exit.",
        "No action needed: it takes over.",
    ),
    Diagnostic(
        "WORKER_OF_OTHER_VERSION", _W, "warning", "The running worker has a version other than the installed one.",
        "Restart it: cognee-memory worker restart.",
    ),
    Diagnostic(
        "WORKER_OF_OTHER_SETTINGS", _W, "warning",
        "The worker was started with settings that differ from the present ones.",
        "Restart it: cognee-memory worker restart.",
    ),
    Diagnostic(
        "PAUSED", _W, "note", "The worker is paused: it accepts jobs, but starts none.",
        "Resume it: cognee-memory jobs resume.",
    ),
    Diagnostic(
        "PAUSED_FOR_LONG", _W, "warning", "The queue has been paused for long; a restart does not resume it.",
        "Resume it: cognee-memory jobs resume.",
    ),
    Diagnostic(
        "LEAVING", _W, "note", "The worker is shutting down: it finishes the running jobs and accepts no more.",
        "No action needed: the next command that submits a job starts another worker.",
    ),
    Diagnostic(
        "HTTP_PROBLEM", _W, "warning", "The worker cannot serve HTTP.",
        "Set COGNEE_MEMORY_HTTP_PORT=0, or end the program that uses the port; then run: cognee-memory worker restart.",
    ),
    Diagnostic(
        "HTTP_SILENT", _W, "error", "The worker names an HTTP address, but nothing answers there.",
        "Restart it: cognee-memory worker restart. Meanwhile queries are answered without it.",
    ),
    Diagnostic(
        "TOKEN_OPEN", _W, "error", "Other users can read the token, which gives access to the worker over HTTP.",
        "Restrict its permissions: cognee-memory doctor --fix; then cognee-memory worker restart, which makes a new"
        " token.", "close to others",
    ),
    Diagnostic(
        "EVENTS_FAILED", _W, "warning", "The worker could not set up file events, so it polls.",
        "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances; the worker tries again automatically.",
    ),
    Diagnostic(
        "ORPHANS", _W, "warning", "Processes of a worker that is gone are still running.",
        "End them: cognee-memory doctor --fix.", "end orphans",
    ),
    Diagnostic(
        "CHILD_LARGE", _W, "warning", "The process that runs jobs is near its memory limit.",
        "No action needed the first time: the process is recycled. If it happens again, raise"
        " COGNEE_MEMORY_CHILD_MEMORY_MIB.",
    ),
    Diagnostic(
        "LOG_HAS_ERRORS", _W, "note", "The worker logged errors within the last day.",
        "See: cognee-memory worker logs.",
    ),
    # --- the queue ---
    Diagnostic(
        "QUEUE_STUCK", _Q, "error", "Jobs are due and a worker is running, but no job runs.",
        "See cognee-memory worker logs, then run: cognee-memory worker restart.",
    ),
    Diagnostic(
        "JOBS_FAILED", _Q, "warning", "Jobs failed.",
        "List them: cognee-memory jobs list --state failed. Each says what to do.",
    ),
    Diagnostic(
        "JOBS_REJECTED", _Q, "warning", "Files were rejected because they could not become jobs.",
        "The reason is beside each file in .cognee_jobs/rejected.",
    ),
    Diagnostic(
        "JOBS_FROM_ELSEWHERE", _Q, "warning",
        "Job files came with a repository, or were there before this folder was yours. They do not run.",
        "Read each one. To run it after it was rejected: cognee-memory jobs retry <job_id>. To remove it: cognee-memory"
        " jobs dismiss <job_id>.",
    ),
    Diagnostic(
        "JOBS_RETRYING", _Q, "warning", "Jobs have been retried for more than an hour.",
        "List them: cognee-memory jobs list --state retrying. Each says what it waits for.",
    ),
    Diagnostic(
        "CHILD_NOT_STARTING", _Q, "warning", "The process that runs jobs ends before it executes a job.",
        "No job is lost. See cognee-memory worker logs, then run: cognee-memory worker restart.",
    ),
    Diagnostic(
        "INBOX_NOT_TAKEN", _Q, "error", "A worker is running, but does not accept the dropped files.",
        "See cognee-memory worker logs. Names that do not end in .json are not the cause: such files are rejected.",
    ),
    Diagnostic(
        "REQUESTS_NOT_OBEYED", _Q, "warning", "The worker does not carry out requests, for example to cancel a job.",
        "See cognee-memory worker logs. A running job ends once its present write is complete.",
    ),
    Diagnostic(
        "BACKLOG_LARGE", _Q, "warning", "The queue is nearly full; when it is full, new jobs are rejected.",
        "Wait, cancel jobs that you do not need, or raise COGNEE_MEMORY_MAX_ACTIVE_JOBS.",
    ),
    Diagnostic(
        "RECORDS_DAMAGED", _Q, "error", "Records of jobs cannot be read.",
        "Restart the worker, which accepts the copies of these jobs again: cognee-memory worker restart. Records that"
        " cannot be recovered are moved to .cognee_jobs/rejected.",
    ),
    Diagnostic(
        "COPIES_ALONE", _Q, "warning", "Copies of jobs have no record, or records of waiting jobs have no copy.",
        "Restart the worker, which repairs this: cognee-memory worker restart.",
    ),
    Diagnostic(
        "RECORDS_MANY", _Q, "note", "More ended jobs are kept than configured.",
        "Remove the expired ones: cognee-memory jobs prune.",
    ),
    Diagnostic(
        "QUEUE_FILE_DAMAGED", _Q, "warning", "The queue's own file is damaged. No job depends on it.",
        "Restart the worker, which rebuilds it from the records: cognee-memory worker restart.",
    ),
    # --- memory.db and its index ---
    Diagnostic(
        "STORE_CLOSED", _D, "error", "memory.db cannot be opened.",
        "Check the disk and the permissions of .cognee_memory.",
    ),
    Diagnostic(
        "STORE_DAMAGED", _D, "error", "memory.db is damaged.",
        "Stop the worker (cognee-memory worker stop), keep a copy of .cognee_memory, and restore memory.db from a"
        " backup. Or save what can still be read: cognee-memory export.",
    ),
    Diagnostic(
        "STORE_NOT_READ_WHOLE", _D, "note", "memory.db is too large to be read completely in a quick check.",
        "Read it completely: cognee-memory doctor --deep.",
    ),
    Diagnostic(
        "STORE_OF_NEWER_FORMAT", _D, "error", "memory.db was written by a newer version of cognee-memory.",
        "Update cognee-memory. Nothing was changed.",
    ),
    Diagnostic(
        "STORE_OF_OLDER_FORMAT", _D, "note", "memory.db has an older format.",
        "No action needed: the next job upgrades it and keeps a copy.",
    ),
    Diagnostic(
        "LOG_OF_STORE_LARGE", _D, "warning",
        "The write-ahead log of memory.db is large, because a reader kept it from being emptied.",
        "End programs other than the worker that keep memory.db open. The log is then emptied automatically.",
    ),
    Diagnostic(
        "MODEL_CHANGED", _D, "error", "The memories were embedded with a model other than the configured one.",
        "Configure the former model again, or embed all texts again: cognee-memory rebuild --what index.",
    ),
    Diagnostic(
        "MODEL_FORMER", _D, "note", "The memories are of another local embedding model, and are to be embedded again.",
        "No action needed: a running worker does it. Until then, queries use the earlier model.",
    ),
    Diagnostic(
        "VECTORS_LACKING", _D, "error", "The vector files are missing, or shorter than memory.db says.",
        "Rebuild them, without embedding again: cognee-memory rebuild --what index.",
    ),
    Diagnostic(
        "WORDS_LACKING", _D, "error", "The full-text index lacks memories, or contains others.",
        "Rebuild it: cognee-memory rebuild --what index.",
    ),
    Diagnostic(
        "INDEX_OF_OLDER_FORMAT", _D, "note", "The search index has an older format.",
        "No action needed: the next job rebuilds it. To rebuild it now: cognee-memory rebuild --what index.",
    ),
    Diagnostic(
        "FORGETTING_UNFINISHED", _D, "error",
        "A forget job began but did not finish: files may still contain forgotten texts.",
        "Run it again: cognee-memory jobs list --state failed, then cognee-memory jobs retry <job_id>.",
    ),
    Diagnostic(
        "BACKUPS_LEFT", _D, "note", "Copies of memory.db from before an upgrade are kept.",
        "Remove memory.format-*.db from .cognee_memory once the upgraded store works.",
    ),
    Diagnostic(
        "MEMORIES_UNCOMPARED", _D, "note",
        "Memories are not compared with the others yet: an outdated one may come first in answers.",
        "No action needed: a worker compares them when it is idle. If none runs: cognee-memory worker start.",
    ),
    Diagnostic(
        "MEMORIES_STALE", _D, "note", "Memories name files, symbols or versions that are no longer in the code.",
        "Look at them: cognee-memory memories list --stale. If one no longer holds, mark it:"
        " cognee-memory memories set-status NUMBER Superseded.",
    ),
    # --- the graph ---
    Diagnostic(
        "GRAPH_ABSENT", _G, "note", "The knowledge graph is not installed here.",
        "No action needed: only ask, graph, cognify and migrate need it. To add it, run: cognee-memory setup --graph.",
    ),
    Diagnostic(
        "GRAPH_BEHIND", _G, "warning", "The knowledge graph could not be brought up to date.",
        "Retrieval is not affected. Try again, and see the error: cognee-memory graph.",
    ),
    Diagnostic(
        "GRAPH_REFUSED", _G, "warning", "The knowledge graph refused some memories.",
        "Retrieval still finds them. Rebuild the graph: cognee-memory rebuild --what graph.",
    ),
    Diagnostic(
        "GRAPH_GONE", _G, "warning", "The knowledge graph's files are missing.",
        "No action needed: the next job that needs the graph makes it again from memory.db. To make it now:"
        " cognee-memory graph.",
    ),
    Diagnostic(
        "GRAPH_CUT_OFF", _G, "note", "A checkpoint of the knowledge graph was interrupted.",
        "No action needed: the graph is repaired when it is opened next.",
    ),
    Diagnostic(
        "GRAPH_DEADLY", _G, "warning", "Opening the knowledge graph has crashed the child process.",
        "No action needed: after the second crash in a row the graph is quarantined and rebuilt.",
    ),
    Diagnostic(
        "GRAPH_OF_OTHER_MODEL", _G, "note", "The graph's vectors come from another embedding model.",
        "No action needed: the next job that needs the graph makes it again. To make it now: cognee-memory graph.",
    ),
    Diagnostic(
        "GRAPH_ORPHANED", _G, "note",
        "The knowledge graph belongs to a memory.db that was removed or replaced, and still holds its texts.",
        "No action needed: before the next job uses the graph, it moves it to .cognee_memory/set-aside and makes a new"
        " one. To remove everything that this workspace remembers: cognee-memory purge.",
    ),
    Diagnostic(
        "SET_ASIDE", _G, "note", "Damaged or replaced stores are quarantined and take up disk space.",
        "Remove .cognee_memory/set-aside once the new stores work. The worker removes it after"
        " COGNEE_MEMORY_KEEP_FAILED_DAYS.",
    ),
    Diagnostic(
        "OLD_STORES", _G, "note", "The workspace contains cognee stores of an earlier version.",
        "Preview, then migrate what they contain: cognee-memory migrate --dry-run, then cognee-memory migrate.",
    ),
    # --- the model ---
    Diagnostic(
        "MODEL_ABSENT", _E, "error", "The embedding model that was chosen is not on this machine.",
        "Fetch it: cognee-memory setup.",
    ),
    Diagnostic(
        "MODEL_WRONG", _E, "error", "The embedding model cannot be used.",
        "Run: cognee-memory setup.",
    ),
    # --- what only the job finds ---
    Diagnostic(
        "CHECK_FAILED", _D, "error", "The stores could not be read completely.",
        "The error of the check job is in: cognee-memory jobs list. Repair the cause, then check again.", deep=True,
    ),
    Diagnostic(
        "WORDS_DAMAGED", _D, "error", "The full-text index does not match the words of the memories.",
        "Rebuild it: cognee-memory rebuild --what index.", deep=True,
    ),
    Diagnostic(
        "VECTORS_DAMAGED", _D, "error", "The content of the vector files has changed since they were written.",
        "Rebuild them, without embedding again: cognee-memory rebuild --what index.", deep=True,
    ),
    Diagnostic(
        "VECTORS_MISPLACED", _D, "error", "The rows of memories in the vector files do not match their passages.",
        "Rebuild them: cognee-memory rebuild --what index.", deep=True,
    ),
    Diagnostic(
        "VECTORS_DIFFER", _D, "error", "A text that was embedded again has a vector other than the stored one.",
        "Verify the model: cognee-memory setup. If the message names kept embeddings, make an export (cognee-memory"
        " export) and import it into a new workspace.", deep=True,
    ),
    Diagnostic(
        "EMBEDDINGS_MISSIZED", _D, "error", "Kept embeddings do not have the length of their model.",
        "Make an export (cognee-memory export) and import it into a new workspace.", deep=True,
    ),
    Diagnostic(
        "MEMORIES_INVALID", _D, "error", "Memories cannot be read, or have an unknown status or kind.",
        "Restore memory.db from a backup, or set another status with memories set-status.", deep=True,
    ),
    Diagnostic(
        "SOURCES_MISSING", _D, "warning", "Records name sources that are neither stored nor forgotten.",
        "No action needed for records that were imported without their sources. Otherwise restore memory.db from a"
        " backup.", deep=True,
    ),
    Diagnostic(
        "FORGOTTEN_HERE", _D, "error", "Memories that were forgotten are in the store again.",
        "Forget them again: cognee-memory forget <memory_id>.", deep=True,
    ),
    Diagnostic(
        "OUTBOX_INVALID", _D, "warning", "The outbox contains entries for memories or actions that do not exist.",
        "Rebuild the graph: cognee-memory rebuild --what graph.", deep=True,
    ),
    Diagnostic(
        "SECRETS_STORED", _D, "warning", "Memories contain what looks like keys or passwords.",
        "Look at them (cognee-memory memories show <memory_id>), change the secrets at their provider, and forget the"
        " memories: cognee-memory forget <memory_id>.", deep=True,
    ),
    Diagnostic(
        "GRAPH_DAMAGED", _G, "error", "The knowledge graph cannot be opened, or cannot be read completely.",
        "Rebuild it from memory.db: cognee-memory rebuild --what graph.", deep=True,
    ),
    Diagnostic(
        "GRAPH_LACKS", _G, "error", "The knowledge graph lacks nodes, edges or vectors of memories.",
        "Rebuild it from memory.db: cognee-memory rebuild --what graph.", deep=True,
    ),
    Diagnostic(
        "GRAPH_HOLDS_MORE", _G, "error", "The knowledge graph contains nodes or vectors that belong to no memory.",
        "Rebuild it: cognee-memory rebuild --what graph. The old graph is quarantined, and the next forget job deletes"
        " it.", deep=True,
    ),
    Diagnostic(
        "GRAPH_HOLDS_FORGOTTEN", _G, "error", "The knowledge graph still contains data of forgotten memories.",
        "Rebuild it: cognee-memory rebuild --what graph. Then forget the named memories again, which also deletes the"
        " quarantined graph: cognee-memory forget <memory_id>.", deep=True,
    ),
    Diagnostic(
        "TEXTS_STRAY", _G, "note", "Raw texts in .cognee_data belong to no memory.",
        "They come from an earlier version, or from cognee itself. To see what they would become: cognee-memory migrate"
        " --dry-run.", deep=True,
    ),
)}  # fmt: skip
