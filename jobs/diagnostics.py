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
    "start a worker",  # where jobs wait for one
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


def _table(*troubles: Diagnostic) -> dict[str, Diagnostic]:
    return {trouble.code: trouble for trouble in troubles}


_NOTHING = "Nothing."

DIAGNOSTICS: dict[str, Diagnostic] = _table(
    Diagnostic("OK", _M, "ok", "Everything of this kind was looked at, and is well.", _NOTHING),
    Diagnostic(
        "CHECK_NOT_MADE", _M, "warning", "A check could not be made.",
        "Mend what the message names, and look again; if it names nothing of yours, report it.",
    ),
    # --- the machine ---
    Diagnostic(
        "DISK_LOW", _M, "error", "The disk has less free space than new jobs need: drops are rejected, jobs wait.",
        "Free some space, or lower COGNEE_MEMORY_MIN_FREE_BYTES. Accepted jobs go on by themselves.",
    ),
    Diagnostic(
        "DISK_TIGHT", _M, "warning", "The disk is nearly as full as it may be before drops are rejected.",
        "Free some space soon.",
    ),
    Diagnostic(
        "INODES_LOW", _M, "error", "The file system has nearly no room for further files, whatever their size.",
        "Remove files from this disk: each job is a few small ones.",
    ),
    Diagnostic(
        "DISK_READ_ONLY", _M, "error", "The workspace lies on a file system that is mounted read-only.",
        "Mount it for writing. Until then memories are found, and nothing is taken in.",
    ),
    Diagnostic(
        "MOUNT_UNSAFE", _M, "error", "SQLite's log is not safe on this mount, which another system may use as well.",
        "Move the workspace to a local disk, or accept the risk: COGNEE_MEMORY_ALLOW_UNSAFE_MOUNT=1. Jobs wait.",
    ),
    Diagnostic(
        "MOUNT_UNSAFE_ALLOWED", _M, "warning", "memory.db is kept on a mount where SQLite's log is not safe.",
        "Move the workspace to a local disk, or export the memories now and then: cognee-memory export.",
    ),
    Diagnostic(
        "MOUNT_WITHOUT_EVENTS", _M, "note", "File events do not tell of all changes on this mount: it is polled.",
        "Nothing: drops are noticed within half a second.",
    ),
    Diagnostic(
        "WATCHES_FEW", _M, "warning", "The kernel lets this user watch only few folders, or from few programs.",
        "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances with sysctl. Until then it is polled.",
    ),
    Diagnostic(
        "OPEN_FILES_FEW", _M, "warning", "Processes may open only few files here; cognee's stores need hundreds.",
        "Raise the limit (ulimit -n 4096) where the worker is started from, and restart it.",
    ),
    Diagnostic(
        "RAM_LOW", _M, "warning", "Little main memory is free; the process that runs jobs needs about 700 MB.",
        "End programs that are not needed.",
    ),
    Diagnostic(
        "CLOCK_WRONG", _M, "error", "The clock of this machine cannot be right.",
        "Set the clock. Ages of memories, and with them scores, are wrong until then.",
    ),
    Diagnostic(
        "CLOCK_WAS_AHEAD", _M, "warning", "There are times in the future: the clock was set back since.",
        "Nothing, if the clock is right now: jobs run in their order all the same.",
    ),
    Diagnostic(
        "CLOCK_OF_DISK", _M, "warning", "The file system has another time than this machine.",
        "Set the clock of the machine that has the disk. Ages of files, such as of parts and requests, are wrong.",
    ),
    # --- the installation ---
    Diagnostic(
        "PYTHON_UNSUPPORTED", _I, "error", "This version of Python is not one that the program runs on.",
        "Install it with a Python that it names.",
    ),
    Diagnostic(
        "PACKAGE_MISSING", _I, "error", "A package that the program needs is not installed.",
        "Install it anew, with its dependencies.",
    ),
    Diagnostic(
        "PACKAGE_OTHER_VERSION", _I, "warning", "A package has another version than the one that was tested.",
        "Install the program anew, in an environment of its own.",
    ),
    Diagnostic(
        "NAME_TAKEN", _I, "error", "Another package brings modules named jobs, bridge or worker, as ours are.",
        "Install it in an environment of its own: one of the two does not work beside the other.",
    ),
    Diagnostic(
        "NOT_INSTALLED", _I, "note", "The program runs from its folder and was not installed.",
        "Nothing, for trying it out. Else: pip install it.",
    ),
    Diagnostic(
        "SQLITE_LACKING", _I, "error", "Python's SQLite is too old, or lacks FTS5 or JSON.",
        "Use a Python whose SQLite is 3.35 or newer, with FTS5, such as that of python.org.",
    ),
    Diagnostic(
        "CONFIG_CLOSED", _I, "error", "The user's configuration folder cannot be written: no workspace can be marked.",
        "Make it writable, or set COGNEE_MEMORY_CONFIG_DIR to a folder that is.",
    ),
    Diagnostic(
        "CONFIG_OPEN", _I, "warning", "Others may read config.toml, and it holds a key.",
        "Close it: cognee-memory doctor --fix.", "close to others",
    ),
    # --- the settings ---
    Diagnostic(
        "SETTING_WRONG", _S, "error", "A setting cannot be read: no command but this one works.",
        "Correct what the message names: the variable, the workspace's .env, or config.toml.",
    ),
    Diagnostic(
        "VARIABLE_UNKNOWN", _S, "warning", "A variable begins like ours and is none: it has no effect.",
        "Correct its name. All there are: cognee-memory settings.",
    ),
    Diagnostic(
        "ENV_FILE_IGNORED", _S, "note", "The workspace's .env says something that it may not say: it has no effect.",
        "Set it in the environment or in config.toml. Providers and keys count once you trust it: cognee-memory trust.",
    ),
    Diagnostic(
        "SOURCES_APART", _S, "warning", "A key and its endpoint come from different places: the weaker one is ignored.",
        "Set both in the same place: a key is only ever sent to an endpoint that was set beside it.",
    ),
    Diagnostic(
        "COGNEE_VARIABLE_IGNORED", _S, "note", "A variable of cognee's own is set, and has no effect here.",
        "Nothing: cognee's stores of a workspace lie in the workspace.",
    ),
    Diagnostic(
        "REDACTION_OFF", _S, "warning", "Likely secrets in texts are stored as they are: COGNEE_MEMORY_REDACT_SECRETS.",
        "Set COGNEE_MEMORY_REDACT_SECRETS=1, unless that is meant.",
    ),
    Diagnostic(
        "EMBEDDING_MISFIT", _S, "error", "The settings of the embedding provider do not fit together.",
        "Correct EMBEDDING_PROVIDER, EMBEDDING_MODEL and EMBEDDING_DIMENSIONS.",
    ),
    Diagnostic(
        "LLM_MISFIT", _S, "warning", "A language model is named, and cannot be asked with these settings.",
        "Correct LLM_PROVIDER, LLM_MODEL, LLM_ENDPOINT and LLM_API_KEY, or remove them.",
    ),
    Diagnostic(
        "LLM_ABSENT", _S, "note", "No language model is configured.",
        "Nothing: all but cognify and answers in prose works without. Else set LLM_API_KEY.",
    ),
    Diagnostic("LLM_SET", _S, "note", "A language model is configured.", "Nothing: it costs what its provider asks."),
    Diagnostic("SETTINGS_SET", _S, "note", "Settings that are not the defaults.", "All: cognee-memory settings."),
    Diagnostic(
        "TEST_JOBS_ON", _S, "note", "Jobs for tests are accepted: COGNEE_MEMORY_TEST_JOBS.", "Unset it outside tests.",
    ),
    # --- the workspace ---
    Diagnostic(
        "WORKSPACE_ABSENT", _P, "error", "There is no folder at the workspace's path.",
        "Check the path; it is the folder that is open in the editor.",
    ),
    Diagnostic(
        "WORKSPACE_UNUSED", _P, "note", "Nothing was remembered in this workspace yet.",
        "Begin with: cognee-memory ingest.",
    ),
    Diagnostic(
        "WORKSPACE_FOREIGN", _P, "error", "The workspace holds jobs or memories that this user did not make here.",
        "Look at .cognee_jobs and .cognee_memory; if they are yours, run: cognee-memory trust. Nothing was read.",
    ),
    Diagnostic(
        "WORKSPACE_CLOSED", _P, "error", "A folder of ours cannot be read or written.",
        "Give it back to this user, with the right to read and write.",
    ),
    Diagnostic(
        "OTHER_OWNER", _P, "error", "Files in our folders belong to another user.",
        "Give them to this user (chown), once you know how that came about.",
    ),
    Diagnostic(
        "OPEN_TO_OTHERS", _P, "warning", "Other users of this machine may read folders or files of ours.",
        "Close them: cognee-memory doctor --fix.", "close to others",
    ),
    Diagnostic(
        "LINKS_INSIDE", _P, "warning", "There are links in our folders; none of ours is one.",
        "Remove them, or put what they lead to in their place.",
    ),
    Diagnostic(
        "NOT_IGNORED", _P, "warning", "A folder of ours lacks its .gitignore: memories could be committed.",
        "Add it: cognee-memory doctor --fix.", "add .gitignore",
    ),
    Diagnostic(
        "PARTS_LEFT", _P, "note", "Parts of files that were never finished are left, for more than a day.",
        "Remove them: cognee-memory doctor --fix.", "remove parts",
    ),
    # --- the worker ---
    Diagnostic(
        "JOBS_WITHOUT_WORKER", _W, "warning", "Jobs wait, and no worker works on this workspace.",
        "Start one: cognee-memory worker start.", "start a worker",
    ),
    Diagnostic(
        "WORKER_ABSENT", _W, "note", "No worker works on this workspace, and nothing waits for one.",
        "Nothing: whoever asks for something starts one.",
    ),
    Diagnostic(
        "WORKER_DIED", _W, "note", "The last worker did not end in order.",
        "Nothing: what it left is mended by the next one. If it goes on, see: cognee-memory worker logs.",
    ),
    Diagnostic(
        "WORKER_SILENT", _W, "error", "A worker holds the lock and has said nothing for long: it hangs, or is stopped.",
        "See cognee-memory worker logs, then restart it: cognee-memory worker restart. If that does not end it, kill"
        " the process.",
    ),
    Diagnostic(
        "HEARTBEAT_DAMAGED", _W, "warning", "The heartbeat cannot be read.",
        "Nothing: a worker writes it anew within seconds. If it stays so, restart the worker.",
    ),
    Diagnostic(
        "HEARTBEAT_LEFT", _W, "note", "A worker that is gone has left its heartbeat or its token.",
        "Remove them: cognee-memory doctor --fix.", "remove what a dead worker left",
    ),
    Diagnostic(
        "HEARTBEAT_FOREIGN", _W, "warning",
        "The heartbeat is not of the process that holds the lock: of another run of the machine, or another machine.",
        "See that only one machine uses this folder; then: cognee-memory worker restart.",
    ),
    Diagnostic(
        "LOCK_GONE", _W, "error", "A worker runs, and its lock is gone: a second one could start beside it.",
        "Nothing, for some seconds: it leaves by itself as it notices. Else restart it: cognee-memory worker restart.",
    ),
    Diagnostic(
        "LOCK_UNSAFE", _W, "error", "What lies in the lock's place is no plain file of this user.",
        "Stop what uses it, and remove .cognee_jobs/worker/lock.",
    ),
    Diagnostic(
        "WORKERS_MANY", _W, "error", "More than one worker runs on this workspace.",
        "End them by their process ids, and start one: cognee-memory worker start.",
    ),
    Diagnostic(
        "SUCCESSOR_WAITS", _W, "note", "A worker waits for the one that is leaving.", "Nothing: it takes over.",
    ),
    Diagnostic(
        "WORKER_OF_OTHER_VERSION", _W, "warning", "The worker runs another version than the one that is installed.",
        "Restart it: cognee-memory worker restart.",
    ),
    Diagnostic(
        "WORKER_OF_OTHER_SETTINGS", _W, "warning", "The worker was started with other settings than those of now.",
        "Restart it: cognee-memory worker restart.",
    ),
    Diagnostic("PAUSED", _W, "note", "The worker is paused: jobs are taken in, and wait.",
            "Go on: cognee-memory jobs resume."),
    Diagnostic(
        "PAUSED_FOR_LONG", _W, "warning", "The queue has been paused for long, and a restart does not end that.",
        "Go on: cognee-memory jobs resume.",
    ),
    Diagnostic(
        "LEAVING", _W, "note", "The worker is leaving: it finishes what runs, and takes nothing more in.",
        "Nothing: the next drop starts another one.",
    ),
    Diagnostic(
        "HTTP_PROBLEM", _W, "warning", "The worker cannot serve over HTTP.",
        "Set COGNEE_MEMORY_HTTP_PORT=0, or end what has the port; then: cognee-memory worker restart.",
    ),
    Diagnostic(
        "HTTP_SILENT", _W, "error", "The worker names an address for HTTP, and nobody answers there.",
        "Restart it: cognee-memory worker restart. Questions are answered without it meanwhile.",
    ),
    Diagnostic(
        "TOKEN_OPEN", _W, "error", "Others may read the token, with which anybody may use the worker over HTTP.",
        "Close it: cognee-memory doctor --fix; then cognee-memory worker restart, which makes another one.",
        "close to others",
    ),
    Diagnostic(
        "EVENTS_FAILED", _W, "warning", "The worker wanted file events and got none: it polls.",
        "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances; it tries again by itself.",
    ),
    Diagnostic(
        "ORPHANS", _W, "warning", "Processes of a worker that is gone still run.",
        "End them: cognee-memory doctor --fix.", "end orphans",
    ),
    Diagnostic(
        "CHILD_LARGE", _W, "warning", "The process that runs jobs takes nearly as much memory as it may.",
        "Nothing, once: it is replaced. If it goes on, raise COGNEE_MEMORY_CHILD_MEMORY_MIB.",
    ),
    Diagnostic(
        "LOG_HAS_ERRORS", _W, "note", "The worker has logged errors within a day.", "See: cognee-memory worker logs.",
    ),
    # --- the queue ---
    Diagnostic(
        "QUEUE_STUCK", _Q, "error", "Jobs are due, and nothing runs although a worker is there.",
        "See cognee-memory worker logs, then: cognee-memory worker restart.",
    ),
    Diagnostic(
        "JOBS_FAILED", _Q, "warning", "Jobs failed.",
        "See them: cognee-memory jobs list --state failed. Each says what to do.",
    ),
    Diagnostic(
        "JOBS_REJECTED", _Q, "warning", "Files were rejected: they could not become jobs.",
        "The reason lies beside each in .cognee_jobs/rejected.",
    ),
    Diagnostic(
        "JOBS_RETRYING", _Q, "warning", "Jobs have been tried again and again for more than an hour.",
        "See them: cognee-memory jobs list --state retrying. Each says what it waits for.",
    ),
    Diagnostic(
        "INBOX_NOT_TAKEN", _Q, "error", "A worker is there, and does not take in what was dropped.",
        "See cognee-memory worker logs; a name that ends otherwise than in .json is rejected, not left.",
    ),
    Diagnostic(
        "REQUESTS_NOT_OBEYED", _Q, "warning", "Requests to the worker, such as to cancel a job, are not obeyed.",
        "See cognee-memory worker logs. A running job ends once what it is just writing is written.",
    ),
    Diagnostic(
        "BACKLOG_LARGE", _Q, "warning", "Nearly as many jobs wait as may: further ones will be rejected.",
        "Wait, cancel what is not needed, or raise COGNEE_MEMORY_MAX_ACTIVE_JOBS.",
    ),
    Diagnostic(
        "RECORDS_DAMAGED", _Q, "error", "Records of jobs cannot be read.",
        "Restart the worker, which sets them aside and accepts their copies anew: cognee-memory worker restart.",
    ),
    Diagnostic(
        "COPIES_ALONE", _Q, "warning", "Copies of jobs have no record, or records of waiting jobs no copy.",
        "Restart the worker, which mends it: cognee-memory worker restart.",
    ),
    Diagnostic(
        "RECORDS_MANY", _Q, "note", "More ended jobs are kept than are meant to be.",
        "Remove what is over: cognee-memory jobs prune.",
    ),
    Diagnostic(
        "QUEUE_FILE_DAMAGED", _Q, "warning", "The queue's own file is damaged. Nothing rests on it.",
        "Restart the worker, which makes it anew from the records: cognee-memory worker restart.",
    ),
    # --- memory.db and its index ---
    Diagnostic(
        "STORE_CLOSED", _D, "error", "memory.db cannot be opened.",
        "Check the permissions of .cognee_memory and the disk.",
    ),
    Diagnostic(
        "STORE_DAMAGED", _D, "error", "memory.db is damaged.",
        "Stop the worker (cognee-memory worker stop), keep a copy of .cognee_memory, and restore memory.db from a"
        " backup; or save what can be read: cognee-memory export.",
    ),
    Diagnostic(
        "STORE_NOT_READ_WHOLE", _D, "note", "memory.db is too large to be read whole in a moment.",
        "Read it whole: cognee-memory doctor --deep.",
    ),
    Diagnostic(
        "STORE_OF_NEWER_FORMAT", _D, "error", "memory.db was written by a newer version of cognee-memory.",
        "Update cognee-memory. Nothing was changed.",
    ),
    Diagnostic(
        "STORE_OF_OLDER_FORMAT", _D, "note", "memory.db is of an older format.",
        "Nothing: the next job brings it to the present one, and keeps a copy.",
    ),
    Diagnostic(
        "LOG_OF_STORE_LARGE", _D, "warning", "The log of memory.db is large: a reader has kept it from being emptied.",
        "End programs that keep memory.db open, other than the worker. It is emptied by itself.",
    ),
    Diagnostic(
        "MODEL_CHANGED", _D, "error", "The memories were embedded with another model than the one that is configured.",
        "Set the former model again, or embed everything anew: cognee-memory rebuild --what index.",
    ),
    Diagnostic(
        "VECTORS_LACKING", _D, "error", "The vector files are missing, or shorter than memory.db says.",
        "Make them anew, without embedding again: cognee-memory rebuild --what index.",
    ),
    Diagnostic(
        "WORDS_LACKING", _D, "error", "The full-text index does not have all memories, or has others.",
        "Make it anew: cognee-memory rebuild --what index.",
    ),
    Diagnostic(
        "INDEX_OF_OLDER_FORMAT", _D, "note", "The search index is of an older format.",
        "Nothing: the next job makes it anew. Or now: cognee-memory rebuild --what index.",
    ),
    Diagnostic(
        "FORGETTING_UNFINISHED", _D, "error", "A forgetting has begun and not ended: something may still be in a file.",
        "Run it again: cognee-memory jobs list --state failed, then cognee-memory jobs retry <job_id>.",
    ),
    Diagnostic(
        "BACKUPS_LEFT", _D, "note", "Copies of memory.db from before an upgrade are kept.",
        "Remove memory.format-*.db from .cognee_memory once all is well.",
    ),
    # --- the graph ---
    Diagnostic(
        "GRAPH_BEHIND", _G, "warning", "The knowledge graph has not been told of changes for long.",
        "Memories are found all the same. It is told as soon as a worker is idle: cognee-memory worker start.",
    ),
    Diagnostic(
        "GRAPH_REFUSED", _G, "warning", "The knowledge graph refused some memories.",
        "They are found all the same. Write it anew: cognee-memory rebuild --what graph.",
    ),
    Diagnostic(
        "GRAPH_GONE", _G, "warning", "The knowledge graph's files are gone.",
        "Nothing: the next job writes it anew from memory.db. Or now: cognee-memory rebuild --what graph.",
    ),
    Diagnostic(
        "GRAPH_CUT_OFF", _G, "note", "A checkpoint of the knowledge graph was cut off.",
        "Nothing: the next opening mends it.",
    ),
    Diagnostic(
        "GRAPH_DEADLY", _G, "warning", "Opening the knowledge graph has ended its process.",
        "Nothing: after the second time in a row it is set aside and written anew.",
    ),
    Diagnostic(
        "GRAPH_OF_OTHER_MODEL", _G, "warning", "The graph's vectors are of another embedding model.",
        "Nothing: the next job writes it anew. Or now: cognee-memory rebuild --what graph.",
    ),
    Diagnostic(
        "SET_ASIDE", _G, "note", "Damaged or replaced stores were set aside and take up room.",
        "Remove .cognee_memory/set-aside once all is well; it goes by itself after COGNEE_MEMORY_KEEP_FAILED_DAYS.",
    ),
    Diagnostic(
        "OLD_STORES", _G, "note", "cognee's stores of an earlier version lie here.",
        "See what they hold, and take it over: cognee-memory migrate --dry-run, then cognee-memory migrate.",
    ),
    # --- the model ---
    Diagnostic(
        "MODEL_ABSENT", _E, "error", "The embedding model is not on this machine.", "Fetch it: cognee-memory setup.",
    ),
    Diagnostic(
        "MODEL_WRONG", _E, "error", "The embedding model's files are not those that were published.",
        "Fetch it anew: cognee-memory setup.",
    ),
    # --- what only the job finds ---
    Diagnostic(
        "CHECK_FAILED", _D, "error", "The stores could not be read whole.",
        "What the job met is in: cognee-memory jobs list. Mend that, and look again.", deep=True,
    ),
    Diagnostic(
        "WORDS_DAMAGED", _D, "error", "The full-text index does not agree with the memories' words.",
        "Make it anew: cognee-memory rebuild --what index.", deep=True,
    ),
    Diagnostic(
        "VECTORS_DAMAGED", _D, "error", "The vector files are not as they were written.",
        "Make them anew, without embedding again: cognee-memory rebuild --what index.", deep=True,
    ),
    Diagnostic(
        "VECTORS_MISPLACED", _D, "error", "Memories have other rows in the vector files than they have passages.",
        "Make them anew: cognee-memory rebuild --what index.", deep=True,
    ),
    Diagnostic(
        "VECTORS_DIFFER", _D, "error", "A text embedded once more gives another vector than the one that is kept.",
        "See that the model is right: cognee-memory setup. If the message names kept embeddings, keep an export"
        " (cognee-memory export) and import it into a new workspace.", deep=True,
    ),
    Diagnostic(
        "EMBEDDINGS_MISSIZED", _D, "error", "Kept embeddings are not of their model's length.",
        "Keep an export (cognee-memory export) and import it into a new workspace.", deep=True,
    ),
    Diagnostic(
        "MEMORIES_INVALID", _D, "error", "Memories cannot be read, or have a status or a kind that there is not.",
        "Restore memory.db from a backup, or give them another status with memories set-status.", deep=True,
    ),
    Diagnostic(
        "SOURCES_MISSING", _D, "warning", "Records name sources that are neither here nor forgotten.",
        "Nothing, for records that were imported without them. Else restore memory.db from a backup.", deep=True,
    ),
    Diagnostic(
        "FORGOTTEN_HERE", _D, "error", "Memories that were forgotten are here again.",
        "Forget them once more: cognee-memory forget <memory_id>.", deep=True,
    ),
    Diagnostic(
        "OUTBOX_INVALID", _D, "warning", "The graph is owed something that there is not.",
        "Write the graph anew: cognee-memory rebuild --what graph.", deep=True,
    ),
    Diagnostic(
        "SECRETS_STORED", _D, "warning", "Memories hold what looks like keys or passwords.",
        "Look at them (cognee-memory memories show <memory_id>), change the secrets at their provider, and forget the"
        " memories: cognee-memory forget <memory_id>.", deep=True,
    ),
    Diagnostic(
        "GRAPH_DAMAGED", _G, "error", "The knowledge graph cannot be opened, or not be read whole.",
        "Write it anew from memory.db: cognee-memory rebuild --what graph.", deep=True,
    ),
    Diagnostic(
        "GRAPH_LACKS", _G, "error", "The knowledge graph lacks nodes, edges or vectors of memories.",
        "Write it anew from memory.db: cognee-memory rebuild --what graph.", deep=True,
    ),
    Diagnostic(
        "GRAPH_HOLDS_MORE", _G, "error", "The knowledge graph holds nodes or vectors that no memory has.",
        "Write it anew: cognee-memory rebuild --what graph. What is left of it is set aside, and goes with"
        " the next forgetting.", deep=True,
    ),
    Diagnostic(
        "GRAPH_HOLDS_FORGOTTEN", _G, "error", "The knowledge graph still holds something of forgotten memories.",
        "Write it anew: cognee-memory rebuild --what graph. Then forget the named memories once more, so that what was"
        " set aside goes as well: cognee-memory forget <memory_id>.", deep=True,
    ),
    Diagnostic(
        "TEXTS_STRAY", _G, "note", "Raw texts lie in .cognee_data that no memory of ours has.",
        "They are of an earlier version, or of cognee itself: cognee-memory migrate --dry-run.", deep=True,
    ),
)  # fmt: skip
