"""Every error that a person or a program can meet: one table, one exception.

A code is stable: programs may compare it. The reaction says what the worker does with a job
that met the error; the remediation tells a person what to do next.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from . import schema
    from .states import Advice


class Reaction(Enum):
    """What the worker does with a job whose attempt met the error."""

    REJECT = "reject"  # the input can never become a job: keep the file, say why
    RETRY = "retry"  # try again after a pause; the attempt counts towards max_attempts
    WAIT = "wait"  # not the job's fault: try again after a pause, uncounted
    GIVE_UP = "give up"  # trying again cannot help: end the job as failed


class ErrorKind(NamedTuple):
    """A row of the table: the code, the worker's reaction, the cause, and what a person can do."""

    code: str
    reaction: Reaction
    cause: str
    remediation: str
    http: int | None = None
    """The HTTP status, where it is not that of the reaction."""

    @property
    def http_status(self) -> int:
        """The status of an HTTP reply with this error, of the worker and of a team's gateway."""
        return self.http or _HTTP_OF_REACTION[self.reaction]


_HTTP_OF_REACTION = {Reaction.REJECT: 422, Reaction.RETRY: 500, Reaction.WAIT: 503, Reaction.GIVE_UP: 500}


_R, _T, _W, _G = Reaction.REJECT, Reaction.RETRY, Reaction.WAIT, Reaction.GIVE_UP

# The codes of files that may come from somebody else. Each must be read before it is run, so no request about many jobs
# means them, unless it names the code.
BROUGHT = frozenset({"FILE_NOT_TRUSTED", "FILE_TRACKED"})

# A person's slip, such as a second forgetting of the same topic: no failure that an operator has to look into.
SLIPS = frozenset(
    {"MEMORY_NOT_FOUND", "TOPIC_NOT_FOUND", "PLAN_NOT_FOUND", "SESSION_NOT_FOUND", "PREVIEW_NOT_FOUND",
     "RECEIPT_NOT_FOUND"}
)  # fmt: skip

# Errors of a job that names what is not there, or cannot be merged: the same job would fail again.
FAILS_AGAIN = SLIPS | {"MEMORY_FORGOTTEN", "NOTHING_TO_COMPACT", "PREVIEW_STALE", "CONFLICT_NOT_FOUND"}
CAPACITY_ERRORS = frozenset({"BACKLOG_FULL", "DISK_FULL"})  # the rejected file was valid


def advice(state: str, code: str) -> Advice:
    """What to do with jobs of this state and error, for terminal and page alike."""
    if state == "retrying":
        return "wait"
    if state == "rejected" and code not in CAPACITY_ERRORS:
        return "correct"
    return "dismiss" if code in FAILS_AGAIN else "retry"


ERRORS: dict[str, ErrorKind] = {kind.code: kind for kind in (
    # --- a file that cannot become a job ---
    ErrorKind(
        "NAME_INVALID", _R, "The file's name is not a job id.",
        "Name the file <job_id>.json. A job id has 1 to 64 characters of a-z, 0-9, '-' and '_' and starts with a letter"
        " or digit; a UUIDv7 is a good choice.",
    ),
    ErrorKind(
        "FILE_UNSAFE", _R,
        "The entry is not a plain file owned by this user: for example a link, a device, a pipe or a folder.",
        "Write a plain file and rename it into the inbox.",
    ),
    ErrorKind(
        "FILE_NOT_TRUSTED", _R, "The file was in the job folder before this user made the folder theirs.",
        "It was kept, and not run. If you want it, read it and run: cognee-memory jobs retry <job_id>.",
    ),
    ErrorKind(
        "FILE_TRACKED", _R, "git tracks the file, so it came with the repository and not from a program of this user.",
        "It was kept, and not run. If you want it, read it and run: cognee-memory jobs retry <job_id>; it runs under a"
        " new id. The command git rm -r --cached .cognee_jobs takes such files out of the repository.",
    ),
    ErrorKind(
        "FILE_TOO_LARGE", _R, "The file is larger than the limit for job files.",
        "Split the content, or raise COGNEE_MEMORY_MAX_JOB_BYTES.",
    ),
    ErrorKind(
        "JSON_INVALID", _R, "The file is not valid JSON in UTF-8.",
        "Correct what the message names. Write a file under another name, then rename it.",
    ),
    ErrorKind(
        "SCHEMA_VERSION_UNSUPPORTED", _R, "This program does not read the job's schema_version.",
        "Send schema_version 1, or update cognee-memory.",
    ),
    ErrorKind(
        "JOB_INVALID", _R, "A field of the job is missing, unknown or of the wrong type.",
        "Correct the field that the message names; the JSON Schemas are in docs/schemas.",
    ),
    ErrorKind(
        "KIND_UNKNOWN", _R, "There is no job kind with that name.", "Use one of the kinds in docs/job-protocol.md.",
    ),
    ErrorKind(
        "JOB_ID_CONFLICT", _R, "A job with this id but different content was accepted before.",
        "Use a new id. The first job's record is unchanged.", http=409,
    ),
    ErrorKind(
        "BACKLOG_FULL", _R, "Too many jobs are waiting.",
        "Wait until the queue is shorter and submit again, or raise COGNEE_MEMORY_MAX_ACTIVE_JOBS.",
    ),
    ErrorKind(
        "DISK_FULL", _W, "The disk has too little free space.",
        "Free some disk space. Accepted jobs wait and continue automatically; drop rejected files again.",
    ),
    ErrorKind(
        "METADATA_BROKEN", _R, "The text has a metadata block with a line that cannot be read.",
        "Correct the line that the message names, or remove the whole block to store the text without metadata.",
    ),
    # --- running ---
    ErrorKind(
        "EXPIRED", _G, "The job's expires_at passed before the job could run.",
        "Submit the job again with a later expires_at, or without one.",
    ),
    ErrorKind(
        "CHILD_DIED", _T, "The process that ran the job ended unexpectedly.",
        "No action needed: the job is retried. If it happens again, see the worker's log.",
    ),
    ErrorKind(
        "CHILD_START_FAILED", _W, "The process that runs jobs ended while it was loading, before the job was executed.",
        "The job waits, and the attempt is not counted. If it happens again, see the worker's log. After an upgrade,"
        " run: cognee-memory worker restart.",
    ),
    ErrorKind(
        "CHILD_TOO_LARGE", _T, "The process that ran the job exceeded its memory limit, so the worker ended it.",
        "No action needed: the job is retried. If it happens again, split the job's content or raise"
        " COGNEE_MEMORY_CHILD_MEMORY_MIB.",
    ),
    ErrorKind(
        "WORKER_DIED", _T, "The worker itself died while the job ran.",
        "No action needed: the job is retried. If it happens again, see the worker's log.",
    ),
    ErrorKind(
        "JOB_TIMEOUT", _T, "The attempt took longer than the job's timeout_seconds, so the worker ended it.",
        "Submit the job again with a longer timeout_seconds, or with less content.",
    ),
    ErrorKind(
        "CANCELLED", _G, "The job was cancelled.",
        "No action needed if you intended this. Otherwise run the job again: cognee-memory jobs retry <job_id>.",
    ),
    ErrorKind(
        "CANCEL_TOO_LATE", _G, "The job's change is already committed, so the job ends with its normal outcome.",
        "No action needed. To see what the job did: cognee-memory jobs show <job_id>.", http=409,
    ),
    ErrorKind(
        "POISON", _G, "The job's process or the worker died repeatedly while the job was executed.",
        "Only deaths while the job alone was executed were counted, not those while its process was loading. Check the"
        " job's content and the worker's log before you run the job again.",
    ),
    ErrorKind(
        "INTERNAL", _T, "An unexpected error occurred; the worker's log has the traceback.",
        "Run: cognee-memory jobs retry <job_id>. If it happens again, report it with the log.",
    ),
    ErrorKind(
        "SYSTEM_BUSY", _W,
        "The operating system refused a resource that the job needs: a process, an open file or memory.",
        "End programs that you do not need, or raise the system's limits; the worker continues automatically.",
    ),
    ErrorKind(
        "TEST_FAILURE", _G, "A noop job failed as requested.", "No action needed: this is a test job.",
    ),
    ErrorKind(
        "TEST_RETRY", _T, "A noop job failed temporarily, as requested.", "No action needed: this is a test job.",
    ),
    # --- the stores ---
    ErrorKind(
        "GRAPH_UNAVAILABLE", _W, "cognee's knowledge graph cannot be opened.",
        "The memory itself is stored and retrievable. Repair the permissions or files under .cognee_system; the worker"
        " continues automatically. If the files are lost, run: cognee-memory rebuild --what graph.",
    ),
    ErrorKind(
        "GRAPH_NOT_INSTALLED", _G, "The knowledge graph is not installed here.",
        "Run: cognee-memory setup --graph. It adds the graph to this installation: 360 MB to download. Memories are"
        " stored and found without it.",
    ),
    ErrorKind(
        "GRAPH_WRITE_FAILED", _T, "cognee refused to write the memory into its knowledge graph.",
        "The memory itself is stored and retrievable. The worker's log says where the write failed.",
    ),
    ErrorKind(
        "STORE_MOUNT_UNSAFE", _W, "The workspace is on a mount where SQLite's write-ahead log is not safe.",
        "Move the workspace to a local disk, or accept the risk: COGNEE_MEMORY_ALLOW_UNSAFE_MOUNT=1.",
    ),
    ErrorKind(
        "STORE_BUSY", _W, "Another process is using the memory store.",
        "Wait for the other process to end, or stop it.",
    ),
    ErrorKind(
        "STORE_REPLACED", _W, "The files of the memory were removed or replaced while the job ran.",
        "No action needed: the job is kept, its attempt is not counted, and it runs again over the files that are there"
        " now.",
    ),
    ErrorKind(
        "STORE_NEWER", _W, "The memory store was written by a newer version of cognee-memory.",
        "Update cognee-memory. Nothing was changed.",
    ),
    ErrorKind(
        "STORE_UNREADABLE", _W, "The memory store cannot be opened.",
        "Check the permissions of .cognee_memory, and restore memory.db from a backup if it is damaged.",
    ),
    # --- a team's store ---
    ErrorKind(
        "TEAM_NOT_INSTALLED", _W, "The driver of a team's database is not installed here.",
        "Run: cognee-memory setup --team. It adds the driver to this installation: 5 MB to download. A team's gateway"
        " needs no driver on this machine.",
    ),
    ErrorKind(
        "TEAM_UNREACHABLE", _W, "The team's database cannot be reached or used now.",
        "No action needed if it comes back: jobs wait, and memories are found in the copy on this machine. Otherwise"
        " check the address in the setting store or team, and the log of the database or the gateway.",
    ),
    ErrorKind(
        "TEAM_MISCONFIGURED", _W, "What is set here about the way to the team does not fit what answers there.",
        "Check the settings team and team_ca_file, or store: docs/team.md. Jobs wait, and nothing is lost.",
    ),
    ErrorKind(
        "TEAM_REFUSED", _W, "The team's database or gateway refused this machine.",
        "With a gateway, the token is wrong, expired or revoked: ask an operator for a new one, write it into"
        " team_token, and restart the worker. With the database's address: check the setting store, the password file,"
        " and the rights of the database's role.", http=401,
    ),
    ErrorKind(
        "TEAM_NEWER", _W, "The team's database was upgraded by a newer version of cognee-memory.",
        "Update the program on this machine. Nothing was changed.", http=409,
    ),
    ErrorKind(
        "TEAM_UNUSABLE", _T, "The team's database answered with an error.",
        "See the worker's log and the database's log. Nothing was changed.", http=503,
    ),
    ErrorKind(
        "TEAM_CONFLICT", _W, "Another machine changed the workspace while the job ran.",
        "No action needed: nothing was changed, the attempt is not counted, and the job runs again over the new state.",
        http=409,
    ),
    ErrorKind(
        "TEAM_COPY_TOO_OLD", _G, "This machine's copy of the team's memories is older than the setting allows.",
        "Let the worker reach the team's database: cognee-memory team status. Or raise team_copy_days.",
    ),
    ErrorKind(
        "TEAM_COPY_BEHIND", _G, "This machine's copy still has memories that others in the team have forgotten.",
        "Ask again in some seconds: the worker removes them. If it stays so, see: cognee-memory doctor.",
    ),
    ErrorKind(
        "TEAM_NO_COPY", _G, "The workspace has more memories than this machine keeps a copy of.",
        "Questions are answered by the team's gateway. For the rest, raise team_copy_memories, and restart the worker.",
        http=404,
    ),
    ErrorKind(
        "TEAM_READER_BUSY", _T, "The team's gateway does not have the memories of this workspace yet.",
        "Ask again: a large workspace takes minutes, once. If it stays, see the gateway's log.", http=503,
    ),
    ErrorKind(
        "TEAM_LIMITED", _W, "This person asks the team's gateway for more than a person may in a minute.",
        "No action needed: what waits is asked again later. An operator can raise the limits of the gateway.", http=429,
    ),
    ErrorKind(
        "TEAM_LEASE_LOST", _W, "Another worker has taken over the workspace's jobs.",
        "No action needed: this attempt changed nothing, and the other worker runs the job.", http=409,
    ),
    ErrorKind(
        "TEAM_NOT_SHARED", _W,
        "The team does not know this workspace for you, or the folder has memories of another workspace.",
        "Join a workspace that you may see, in a folder without memories: cognee-memory team list.", http=404,
    ),
    ErrorKind(
        "EMBEDDER_MISMATCH", _G, "The store was created with an embedding model other than the configured one.",
        "Configure the former model again and restart the worker; or embed all texts again: cognee-memory rebuild"
        " --what index. What failed meanwhile can run again: cognee-memory jobs causes.", http=409,
    ),
    ErrorKind(
        "EMBEDDER_CHANGING", _W, "All texts are being embedded with another model, and the earlier one is not here.",
        "A worker does it; if none runs: cognee-memory worker start. How far it is: cognee-memory model status.",
    ),
    ErrorKind(
        "MODEL_MISSING", _G, "The embedding model that was chosen is not on this machine. The default one always is.",
        "Run: cognee-memory setup.", http=503,
    ),
    ErrorKind(
        "MODEL_CORRUPT", _G, "The embedding model's files do not have the expected checksums.",
        "Run: cognee-memory setup.", http=503,
    ),
    ErrorKind(
        "MODEL_UNUSABLE", _G, "The folder does not hold a sentence model that this program can run.",
        "Nothing was added. What the folder must hold: docs/settings.md, “Another model on this machine”.",
    ),
    ErrorKind(
        "EMBEDDING_FAILED", _T, "The embedding provider returned an error or an unusable answer.",
        "Check EMBEDDING_ENDPOINT, EMBEDDING_MODEL and the key.",
    ),
    ErrorKind(
        "EMBEDDING_UNREACHABLE", _W, "The embedding provider cannot be reached.",
        "No action needed if the provider comes back: the job waits, and the attempt is not counted. Otherwise check"
        " EMBEDDING_ENDPOINT and the network.",
    ),
    ErrorKind(
        "RATE_LIMITED", _W, "A provider asks for a pause: too many requests, or a spent budget.",
        "No action needed: the job waits, the attempt is not counted, and the job continues automatically. To wait"
        " less, raise the limit at the provider.",
    ),
    ErrorKind(
        "EMBEDDING_CONFIG", _G, "The settings of the embedding provider are wrong or inconsistent.",
        "Correct EMBEDDING_PROVIDER, EMBEDDING_MODEL and EMBEDDING_DIMENSIONS. To see them: cognee-memory settings.",
        http=503,
    ),
    ErrorKind(
        "MEMORY_NOT_FOUND", _G, "There is no memory with that id.", "List the memories: cognee-memory memories list.",
        http=404,
    ),
    ErrorKind(
        "CAPTURE_OFF", _G, "The tool's sessions may not be captured in this workspace: nobody has enabled that.",
        "To see what it would keep: cognee-memory capture preview. To enable one: cognee-memory capture enable --help.",
    ),
    ErrorKind(
        "TOOL_CONFIG_UNUSABLE", _G, "The configuration file of another tool cannot be changed safely.",
        "Nothing was changed. Add the hook by hand: docs/capture.md, or correct the file and repeat the command.",
    ),
    ErrorKind(
        "SESSION_NOT_FOUND", _G, "Nothing was captured from that session.",
        "List the captured sessions: cognee-memory capture list.",
    ),
    ErrorKind(
        "TOPIC_NOT_FOUND", _G, "There is no topic with that id.", "List the topics: cognee-memory topics.", http=404,
    ),
    ErrorKind(
        "PLAN_NOT_FOUND", _G, "There is no plan with that id.",
        "Name one of the nearest, or leave the plan out: each hit names its own.", http=404,
    ),
    ErrorKind(
        "NOTHING_TO_COMPACT", _G, "The topic has fewer than two memories that can be merged.",
        "No action needed. Drafts and superseded memories do not count; to see them: cognee-memory memories list.",
    ),
    ErrorKind(
        "TOPIC_TOO_LARGE", _G, "The topic's memories contain more text than a job's record can hold.",
        "Set the memories that no longer matter to Superseded, and submit the job again.",
    ),
    ErrorKind(
        "PREVIEW_NOT_FOUND", _G, "There is no preview with that digest, or it has been deleted since.",
        "Make a new preview of the topic, read it, and apply that one.",
    ),
    ErrorKind(
        "PREVIEW_STALE", _G, "The topic has changed since the preview was made.",
        "Nothing was changed. Make a new preview of the topic, read it, and apply that one.",
    ),
    ErrorKind(
        "CONFLICT_NOT_FOUND", _G, "The topic has no conflict of that id.",
        "List the conflicts with their ids: cognee-memory compact TOPIC --preview.",
    ),
    ErrorKind(
        "RESTORE_BLOCKED", _G, "The record was merged into a later one.",
        "Nothing was changed. Restore the later record first; the message names it.",
    ),
    ErrorKind(
        "RECEIPT_NOT_FOUND", _G, "There is no migration receipt with that id.",
        "The receipts are in .cognee_memory/receipts; each file is named after its id.",
    ),
    ErrorKind(
        "IMPORT_INVALID", _G, "The file is not an export of cognee-memory.",
        "Nothing was stored. Give a file that the export command wrote; docs/export.md describes its lines.",
    ),
    # --- language models ---
    ErrorKind(
        "LLM_NOT_CONFIGURED", _G, "This operation needs a language model, and none is configured.",
        "Set LLM_API_KEY, and LLM_PROVIDER, LLM_MODEL and LLM_ENDPOINT where they differ from cognee's defaults, in the"
        " environment or in config.toml. Restart the worker, then run: cognee-memory jobs retry <job_id>.",
    ),
    ErrorKind(
        "LLM_KEY_REFUSED", _G, "The language model's provider rejects the key, or the key does not permit this use.",
        "Correct LLM_API_KEY, restart the worker, then run: cognee-memory jobs retry <job_id>.",
    ),
    ErrorKind(
        "LLM_CONFIG", _G, "The settings of the language model are wrong or inconsistent.",
        "Correct LLM_PROVIDER, LLM_MODEL and LLM_ENDPOINT, restart the worker, then run: cognee-memory jobs retry"
        " <job_id>.",
    ),
    ErrorKind(
        "LLM_UNREACHABLE", _W, "The language model's provider cannot be reached.",
        "Check the network and LLM_ENDPOINT. The job waits and continues automatically.",
    ),
    ErrorKind(
        "LLM_TIMEOUT", _T, "The language model did not answer in time.",
        "No action needed: the job is retried. If it happens again, raise COGNEE_MEMORY_LLM_TIMEOUT_SECONDS.",
    ),
    ErrorKind(
        "LLM_FAILED", _T, "The language model's provider returned an error or an unusable answer.",
        "No action needed: the job is retried. If it happens again, try another LLM_MODEL.",
    ),
    ErrorKind(
        "LLM_TEXT_REFUSED", _G,
        "The language model's provider rejects this text: it is too long, or against the provider's rules.",
        "Shorten or split the text and submit it again, or set another LLM_MODEL.",
    ),
    ErrorKind(
        "LLM_BUDGET_SPENT", _W, "The job's budget or the day's budget for the language model is spent.",
        "Nothing is lost: the job waits. A day's budget is renewed with the next UTC day. For a job's budget, raise the"
        " setting that the message names and restart the worker.",
    ),
    ErrorKind(
        "MEMORY_FORGOTTEN", _G, "The memory was forgotten after this job was accepted.",
        "To store the content again, submit it again.",
    ),
    # --- asking ---
    ErrorKind(
        "WORKSPACE_MISSING", _G, "There is no folder at the workspace path.",
        "Check the path: the workspace is the folder that is open in the editor.",
    ),
    ErrorKind(
        "WORKSPACE_MOVED", _W, "The workspace was moved or removed while this process was using it.",
        "Nothing was changed. The worker at the former path ends by itself; name the workspace by its present path.",
    ),
    ErrorKind(
        "WORKSPACE_NOT_CHOSEN", _G,
        "No workspace was named, and the current folder is the home folder or a folder above it.",
        "Nothing was read or stored. Go into the project's folder, or name it with the option --workspace.",
    ),
    ErrorKind(
        "WORKSPACE_NOT_TRUSTED", _W, "The workspace contains jobs or memories that this user did not create here.",
        "Inspect .cognee_jobs and .cognee_memory, then run: cognee-memory trust.", 500,
    ),
    ErrorKind(
        "PURGE_INCOMPLETE", _G, "Some of the workspace's own folders could not be removed.",
        "Remove the cause that the message names, then run again: cognee-memory purge.",
    ),
    ErrorKind(
        "CONFIG_UNWRITABLE", _G, "The user's configuration folder is not writable.",
        "Make it writable, or set COGNEE_MEMORY_CONFIG_DIR to a writable folder.",
    ),
    ErrorKind(
        "FOLDER_UNWRITABLE", _G, "This user cannot write to a folder.",
        "Make the folder writable, or use another workspace: --workspace.",
    ),
    ErrorKind(
        "SETTING_INVALID", _G, "A setting cannot be read or has an invalid value.",
        "Correct the setting that the message names; docs/settings.md lists all settings.",
    ),
    ErrorKind(
        "QUERY_EMPTY", _G, "The query contains no text.", "Ask with at least one word.", http=400,
    ),
    ErrorKind(
        "ARGUMENT_INVALID", _G, "An argument is invalid.", "See --help.", http=400,
    ),
    ErrorKind(
        "NOT_CONFIRMED", _G, "This operation needs your confirmation, and you have not given it.",
        "Nothing was done. Answer yes, or pass --yes where no prompt is possible.",
    ),
    ErrorKind(
        "PROJECT_MISMATCH", _G, "The request names a workspace other than this one.",
        "Leave project out, or name this workspace by its path or its folder's name. Nothing was done.",
    ),
    ErrorKind(
        "JOB_NOT_FOUND", _G, "No record or waiting file has that job id.",
        "Check the id: cognee-memory jobs list.", http=404,
    ),
    ErrorKind(
        "WORKER_RUNNING", _G, "Another worker is running on this workspace.",
        "Use that worker, or stop it: cognee-memory worker stop. Its status: cognee-memory worker status.",
    ),
    ErrorKind(
        "WORKER_NOT_RUNNING", _G, "No worker is running on this workspace.", "Start one: cognee-memory worker start.",
    ),
    ErrorKind(
        "EXTRA_NOT_ADDED", _G, "The extra could not be added to this installation.",
        "Connect to the package index, or name its mirror to uv or pip (UV_DEFAULT_INDEX, PIP_INDEX_URL); then run the"
        " command again. What was downloaded is kept.",
    ),
    ErrorKind(
        "WORKER_START_FAILED", _G, "The worker could not be started.",
        "To see why, run it in the foreground: cognee-memory worker.",
    ),
    ErrorKind(
        "WAIT_TIMEOUT", _G, "The job did not end within the waiting time.",
        "The job continues. Check it later: cognee-memory jobs show <job_id>.",
    ),
    ErrorKind(
        "PROBLEMS_FOUND", _G, "This workspace or this machine has a problem.",
        "Each finding says what to do. To apply the safe fixes: cognee-memory doctor --fix.",
    ),
    ErrorKind(
        "PARTLY_REFUSED", _G, "The request was refused for some of the jobs.",
        "Nothing is lost: each refused job is listed with the reason.",
    ),
    ErrorKind(
        "JOBS_FAILED", _G, "Jobs failed while you watched the queue.",
        "To see why, and what to do: cognee-memory jobs causes.",
    ),
    # --- over HTTP ---
    ErrorKind(
        "HTTP_OFF", _G, "The worker does not serve HTTP: HTTP is switched off, or the worker cannot listen.",
        "Set COGNEE_MEMORY_HTTP=1 and restart the worker. To see why it cannot listen: cognee-memory status.",
    ),
    ErrorKind(
        "HTTP_TICKET_INVALID", _G, "The sign-in link to the page was used before, or is older than a minute.",
        "Make a new link: cognee-memory open.", http=401,
    ),
    ErrorKind(
        "HTTP_UNAUTHORIZED", _G, "The request does not carry the worker's token.",
        "Send Authorization: Bearer with the content of the file that the heartbeat names under http.token_file. Each"
        " start of the worker makes a new token.", http=401,
    ),
    ErrorKind(
        "HTTP_FORBIDDEN", _G, "The request comes from a web page of another site or names another host.",
        "Send the request to the address in the heartbeat's http.url, under that name and without an Origin header.",
        http=403,
    ),
    ErrorKind(
        "HTTP_NO_ROUTE", _G, "There is no route with that path and method.", "docs/http.md lists the routes.", http=404,
    ),
    ErrorKind(
        "HTTP_NOT_JSON", _G, "The request's Content-Type is not application/json.",
        "Send one JSON object in UTF-8, with Content-Type: application/json.", http=415,
    ),
    ErrorKind(
        "HTTP_TOO_LARGE", _G, "The body is larger than 1 MiB.", "Send less at once.", http=413,
    ),
    ErrorKind(
        "HTTP_TOO_SLOW", _W, "The body did not arrive in time.", "Send the whole request at once.", http=408,
    ),
    ErrorKind(
        "HTTP_BUSY", _W, "The worker is already answering too many queries, or is still loading the model.",
        "Try again after the seconds in the Retry-After header, or use the command line.",
    ),
    ErrorKind(
        "NOT_READY", _W, "The worker is not ready; the message names what is missing.",
        "Wait a moment. If it stays so, run: cognee-memory doctor.",
    ),
)}  # fmt: skip


def error_kind(code: str) -> ErrorKind:
    """The row of a code. For a code of a later version, which a record may have: an unknown error, which ends a job."""
    return ERRORS.get(code) or ErrorKind(
        code, Reaction.GIVE_UP, f"An error that this version of cognee-memory does not know: {code}.",
        "Update cognee-memory, or read about the code in the documentation of the version that wrote it.",
    )  # fmt: skip


class JobError(Exception):
    """An error of the table with what happened this time. A code that is not in the table ends a job as failed.

    ``message`` tells a person what happened and what was kept; ``remediation`` defaults to the
    table's; ``details`` holds values for programs (never secrets).
    """

    def __init__(
        self, code: str, message: str = "", *, remediation: str = "", details: dict[str, Any] | None = None
    ) -> None:
        kind = error_kind(code)
        self.code = code
        self.message = message or kind.cause
        self.remediation = remediation or kind.remediation
        self.details = details or {}
        super().__init__(f"{code}: {self.message}")

    def with_message(self, message: str, **details: Any) -> JobError:
        """The same error with another message, and with more details."""
        return JobError(self.code, message, remediation=self.remediation, details=self.details | details)

    @property
    def reaction(self) -> Reaction:
        """What the worker does with a job that met this error."""
        return error_kind(self.code).reaction

    @property
    def retryable(self) -> bool:
        """Whether the same job may succeed later without a change."""
        return self.reaction in (Reaction.RETRY, Reaction.WAIT)

    def as_dict(self) -> schema.JobError:
        """The ``error`` object of a record."""
        error: schema.JobError = {
            "code": self.code,
            "message": self.message,
            "remediation": self.remediation,
            "retryable": self.retryable,
        }
        if self.details:
            error["details"] = self.details
        return error
