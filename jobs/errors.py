"""Every error that a person or a program can meet: one table, one exception.

A code is stable: programs may compare it. The reaction says what the worker does with a job
that met the error; the remediation tells a person what to do next.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import schema


class Reaction(Enum):
    """What the worker does with a job whose attempt met the error."""

    REJECT = "reject"  # the input can never become a job: keep the file, say why
    RETRY = "retry"  # try again after a pause; the attempt counts towards max_attempts
    WAIT = "wait"  # not the job's fault: try again after a pause, uncounted
    GIVE_UP = "give up"  # trying again cannot help: end the job as failed


@dataclass(frozen=True)
class ErrorKind:
    code: str
    reaction: Reaction
    cause: str
    remediation: str


def _table(*kinds: ErrorKind) -> dict[str, ErrorKind]:
    return {kind.code: kind for kind in kinds}


_R, _T, _W, _G = Reaction.REJECT, Reaction.RETRY, Reaction.WAIT, Reaction.GIVE_UP

ERRORS: dict[str, ErrorKind] = _table(
    # --- a file that cannot become a job ---
    ErrorKind(
        "NAME_INVALID", _R, "The file's name is not a job id.",
        "Name the file <job_id>.json, where the id is 1 to 64 characters of a-z, 0-9, '-' and '_' and starts"
        " with a letter or digit; a UUIDv7 is a good choice.",
    ),
    ErrorKind(
        "FILE_UNSAFE", _R, "The entry is not a plain file of this user (a link, a device, a pipe, a folder).",
        "Write a plain file and rename it into the inbox.",
    ),
    ErrorKind(
        "FILE_TOO_LARGE", _R, "The file is larger than the limit for job files.",
        "Split the content, or raise COGNEE_MEMORY_MAX_JOB_BYTES.",
    ),
    ErrorKind(
        "JSON_INVALID", _R, "The file is not valid JSON in UTF-8.",
        "Write the whole file under another name first, then rename it into the inbox.",
    ),
    ErrorKind(
        "SCHEMA_VERSION_UNSUPPORTED", _R, "The job's schema_version is not one that this program reads.",
        "Send schema_version 1, or update cognee-memory.",
    ),
    ErrorKind(
        "JOB_INVALID", _R, "A field of the job is missing, unknown or of the wrong type.",
        "Correct the named field; the JSON Schemas are in docs/schemas.",
    ),
    ErrorKind(
        "KIND_UNKNOWN", _R, "There is no job kind of that name.",
        "Use one of the kinds in docs/job-protocol.md.",
    ),
    ErrorKind(
        "JOB_ID_CONFLICT", _R, "Another job with this id but other content was accepted before.",
        "Use a new id. The first job's record is untouched.",
    ),
    ErrorKind(
        "BACKLOG_FULL", _R, "Too many jobs are waiting.",
        "Wait until the queue has shrunk and submit again, or raise COGNEE_MEMORY_MAX_ACTIVE_JOBS.",
    ),
    ErrorKind(
        "DISK_FULL", _W, "The disk has too little free space.",
        "Free some space. Accepted jobs wait and go on by themselves; rejected files must be dropped again.",
    ),
    ErrorKind(
        "METADATA_BROKEN", _R, "The text has a metadata block, and a line of it cannot be read.",
        "Correct the named line, or remove the whole block to store the text without metadata.",
    ),
    # --- running ---
    ErrorKind(
        "EXPIRED", _G, "The job's expires_at passed before it could run.",
        "Submit it again with a later expires_at, or without one.",
    ),
    ErrorKind(
        "CHILD_DIED", _T, "The process that ran the job ended unexpectedly.",
        "Nothing: the job is tried again. If it goes on, see the worker's log.",
    ),
    ErrorKind(
        "CHILD_TOO_LARGE", _T, "The process that ran the job took more memory than it may, and was ended.",
        "Nothing: the job is tried again. If it goes on, split its content or raise COGNEE_MEMORY_CHILD_MEMORY_MIB.",
    ),
    ErrorKind(
        "WORKER_DIED", _T, "The worker itself died while the job ran.",
        "Nothing: the job is tried again. If it goes on, see the worker's log.",
    ),
    ErrorKind(
        "JOB_TIMEOUT", _T, "The attempt took longer than the job's timeout_seconds, and was ended.",
        "Submit the job again with a longer timeout_seconds, or with less content.",
    ),
    ErrorKind(
        "CANCELLED", _G, "The job was cancelled.",
        "Nothing, if that was meant. Else run it again: cognee-memory jobs retry <job_id>.",
    ),
    ErrorKind(
        "CANCEL_TOO_LATE", _G, "The job's effect is committed already; it ends as it would have.",
        "Nothing: see what it did with cognee-memory jobs show <job_id>.",
    ),
    ErrorKind(
        "POISON", _G, "The job ended its process again and again.",
        "Look at the job's content and the worker's log before running it again.",
    ),
    ErrorKind(
        "INTERNAL", _T, "An unexpected error; the worker's log has the traceback.",
        "Run: cognee-memory jobs retry <job_id>. If it goes on, report it with the log.",
    ),
    ErrorKind(
        "SYSTEM_BUSY", _W, "The system refuses what the job needs: a process, an open file, memory.",
        "End programs that are not needed, or raise the system's limits; the worker goes on by itself.",
    ),
    ErrorKind(
        "TEST_FAILURE", _G, "A noop job was asked to fail.", "Nothing: this is a test job.",
    ),
    ErrorKind(
        "TEST_RETRY", _T, "A noop job was asked to fail for a while.", "Nothing: this is a test job.",
    ),
    # --- the stores ---
    ErrorKind(
        "GRAPH_UNAVAILABLE", _W, "cognee's knowledge graph cannot be opened.",
        "The memory itself is stored and retrievable. Mend the permissions or files under .cognee_system; the"
        " worker goes on by itself. If the files are lost, run: cognee-memory rebuild --what graph.",
    ),
    ErrorKind(
        "GRAPH_WRITE_FAILED", _T, "cognee refused to write the memory into its knowledge graph.",
        "The memory itself is stored and retrievable. The worker's log says where it happened.",
    ),
    ErrorKind(
        "STORE_MOUNT_UNSAFE", _W, "The workspace lies on a mount where SQLite's log cannot be trusted.",
        "Move the workspace to a local disk, or accept the risk: COGNEE_MEMORY_ALLOW_UNSAFE_MOUNT=1.",
    ),
    ErrorKind(
        "STORE_BUSY", _W, "Another process is using the memory store.",
        "Wait for the other process to end, or stop it.",
    ),
    ErrorKind(
        "STORE_NEWER", _W, "The memory store was written by a newer version of cognee-memory.",
        "Update cognee-memory. Nothing was changed.",
    ),
    ErrorKind(
        "STORE_UNREADABLE", _W, "The memory store cannot be opened.",
        "Check the permissions of .cognee_memory, and restore memory.db from a backup if it is damaged.",
    ),
    ErrorKind(
        "EMBEDDER_MISMATCH", _W, "The store was made with another embedding model than the one configured.",
        "Set the former model again, or embed everything anew: cognee-memory rebuild --what index.",
    ),
    ErrorKind(
        "MODEL_MISSING", _W, "The embedding model is not on this machine.",
        "Run: cognee-memory setup.",
    ),
    ErrorKind(
        "MODEL_CORRUPT", _W, "The embedding model's files do not have the expected checksum.",
        "Run: cognee-memory setup.",
    ),
    ErrorKind(
        "EMBEDDING_FAILED", _T, "The embedding provider did not answer as it should.",
        "Check EMBEDDING_ENDPOINT, EMBEDDING_MODEL and the key.",
    ),
    ErrorKind(
        "EMBEDDING_UNREACHABLE", _W, "The embedding provider cannot be reached.",
        "Nothing, if it comes back: the job waits, uncounted. Else check EMBEDDING_ENDPOINT and the network.",
    ),
    ErrorKind(
        "RATE_LIMITED", _W, "A provider asks for a pause: too many requests, or a budget that is spent.",
        "Nothing: the job waits, uncounted, and goes on by itself. Else raise the limit at the provider.",
    ),
    ErrorKind(
        "EMBEDDING_CONFIG", _W, "The settings of the embedding provider do not fit together.",
        "Correct EMBEDDING_PROVIDER, EMBEDDING_MODEL and EMBEDDING_DIMENSIONS: cognee-memory settings.",
    ),
    ErrorKind(
        "MEMORY_NOT_FOUND", _G, "There is no memory with that id.", "List them: cognee-memory memories list.",
    ),
    ErrorKind(
        "TOPIC_NOT_FOUND", _G, "There is no topic with that id.", "List them: cognee-memory topics.",
    ),
    ErrorKind(
        "NOTHING_TO_COMPACT", _G, "The topic has fewer than two memories that could be merged.",
        "Nothing: there is nothing to merge. Drafts and superseded memories do not count: cognee-memory memories list.",
    ),
    ErrorKind(
        "TOPIC_TOO_LARGE", _G, "The topic's memories hold more text than a job's record may.",
        "Set those that no longer matter to Superseded, and ask again.",
    ),
    ErrorKind(
        "PREVIEW_NOT_FOUND", _G, "There is no preview with that digest, or it was forgotten since.",
        "Ask for a new preview of the topic, look at it, and apply that one.",
    ),
    ErrorKind(
        "PREVIEW_STALE", _G, "The topic has changed since the preview was made.",
        "Nothing was changed. Ask for a new preview of the topic, look at it, and apply that one.",
    ),
    ErrorKind(
        "RESTORE_BLOCKED", _G, "The record was merged into a later one.",
        "Nothing was changed. Restore the later record first; the message names it.",
    ),
    ErrorKind(
        "RECEIPT_NOT_FOUND", _G, "There is no receipt of a migration with that id.",
        "The receipts lie in .cognee_memory/receipts, each under its id.",
    ),
    ErrorKind(
        "IMPORT_INVALID", _G, "The file is not an export of cognee-memory.",
        "Nothing was stored. Name a file that an export has written; docs/export.md describes its lines.",
    ),
    # --- language models ---
    ErrorKind(
        "LLM_NOT_CONFIGURED", _G, "No language model is configured, and this needs one.",
        "Set LLM_API_KEY, and LLM_PROVIDER, LLM_MODEL and LLM_ENDPOINT where they differ from cognee's defaults, in the"
        " environment or in config.toml; restart the worker; then run: cognee-memory jobs retry <job_id>.",
    ),
    ErrorKind(
        "LLM_KEY_REFUSED", _G, "The language model's provider refuses the key, or what it may be used for.",
        "Correct LLM_API_KEY, restart the worker, then run: cognee-memory jobs retry <job_id>.",
    ),
    ErrorKind(
        "LLM_CONFIG", _G, "The settings of the language model do not fit together.",
        "Correct LLM_PROVIDER, LLM_MODEL and LLM_ENDPOINT, restart the worker, then run: cognee-memory jobs retry"
        " <job_id>.",
    ),
    ErrorKind(
        "LLM_UNREACHABLE", _W, "The language model's provider cannot be reached.",
        "Check the network and LLM_ENDPOINT. The job waits and goes on by itself.",
    ),
    ErrorKind(
        "LLM_TIMEOUT", _T, "The language model did not answer in time.",
        "Nothing: the job is tried again. If it goes on, raise COGNEE_MEMORY_LLM_TIMEOUT_SECONDS.",
    ),
    ErrorKind(
        "LLM_FAILED", _T, "The language model's provider did not answer as it should.",
        "Nothing: the job is tried again. If it goes on, try another LLM_MODEL.",
    ),
    ErrorKind(
        "LLM_TEXT_REFUSED", _G, "The language model's provider refuses this text: too long, or against its rules.",
        "Shorten or split the text and submit it again, or set another LLM_MODEL.",
    ),
    ErrorKind(
        "LLM_BUDGET_SPENT", _W, "The job has used up what it, or this day, may ask of the language model.",
        "Nothing is lost: the job waits. A day's budget is there again with the next UTC day; a job's once the setting"
        " that the message names is raised and the worker restarted.",
    ),
    ErrorKind(
        "MEMORY_FORGOTTEN", _G, "The memory was forgotten after this job was accepted.",
        "Submit the content again if it is to be stored anew.",
    ),
    # --- asking ---
    ErrorKind(
        "WORKSPACE_MISSING", _G, "There is no folder at the workspace path.",
        "Check the path; it is the folder that is open in the editor.",
    ),
    ErrorKind(
        "WORKSPACE_NOT_TRUSTED", _G, "The workspace holds jobs or memories that this user did not make here.",
        "Look at .cognee_jobs and .cognee_memory, then run: cognee-memory trust.",
    ),
    ErrorKind(
        "CONFIG_UNWRITABLE", _G, "The user's configuration folder cannot be written.",
        "Make it writable, or set COGNEE_MEMORY_CONFIG_DIR to a folder that is.",
    ),
    ErrorKind(
        "SETTING_INVALID", _G, "A setting has a value that cannot be read.",
        "Correct it; see: cognee-memory settings.",
    ),
    ErrorKind(
        "QUERY_EMPTY", _G, "The query holds no text.", "Ask with at least one word.",
    ),
    ErrorKind(
        "ARGUMENT_INVALID", _G, "An argument is of the wrong form.", "See --help.",
    ),
    ErrorKind(
        "NOT_CONFIRMED", _G, "Somebody has to say yes to this first, and nobody has.",
        "Nothing was done. Answer yes; where nobody can be asked, say --yes.",
    ),
    ErrorKind(
        "PROJECT_MISMATCH", _G, "Another workspace than this one was asked for.",
        "Leave project out, or name this workspace by its path or its folder's name. Nothing was done.",
    ),
    ErrorKind(
        "JOB_NOT_FOUND", _G, "No record or waiting file has that job id.",
        "Check the id: cognee-memory jobs list.",
    ),
    ErrorKind(
        "WORKER_RUNNING", _G, "Another worker works on this workspace.",
        "Use it: cognee-memory worker status. Or stop it: cognee-memory worker stop.",
    ),
    ErrorKind(
        "WORKER_NOT_RUNNING", _G, "No worker works on this workspace.",
        "Start one: cognee-memory worker start.",
    ),
    ErrorKind(
        "WORKER_START_FAILED", _G, "The worker could not be started.",
        "Run it in the foreground to see why: cognee-memory worker.",
    ),
    ErrorKind(
        "WAIT_TIMEOUT", _G, "The job had not ended when the waiting time was over.",
        "The job goes on. Look again: cognee-memory jobs show <job_id>.",
    ),
    ErrorKind(
        "PROBLEMS_FOUND", _G, "Something is wrong with this workspace or this machine.",
        "Each finding says what to do. To have done what is safe: cognee-memory doctor --fix.",
    ),
    ErrorKind(
        "PARTLY_REFUSED", _G, "Some of the jobs were refused what was asked for them.",
        "Nothing is lost: each that was refused is listed with the reason.",
    ),
    ErrorKind(
        "JOBS_FAILED", _G, "Jobs failed while they were watched.",
        "See why, and what to do: cognee-memory jobs causes.",
    ),
    # --- over HTTP ---
    ErrorKind(
        "HTTP_OFF", _G, "The worker does not serve over HTTP: it is switched off, or it cannot listen.",
        "Set COGNEE_MEMORY_HTTP=1 and restart the worker; what keeps it from listening is in: cognee-memory status.",
    ),
    ErrorKind(
        "HTTP_TICKET_INVALID", _G, "The link that signs in to the page was used before, or its minute is over.",
        "Make a new one: cognee-memory open.",
    ),
    ErrorKind(
        "HTTP_UNAUTHORIZED", _G, "The request does not carry the worker's token.",
        "Send Authorization: Bearer with the content of the file that the heartbeat names under http.token_file;"
        " it is another one after each start of the worker.",
    ),
    ErrorKind(
        "HTTP_FORBIDDEN", _G, "The request comes from elsewhere than this machine's own programs: a page in a browser.",
        "Ask the address in the heartbeat's http.url by that name, and send no Origin header.",
    ),
    ErrorKind(
        "HTTP_NO_ROUTE", _G, "There is nothing under that path and method.", "See docs/http.md for what there is.",
    ),
    ErrorKind(
        "HTTP_NOT_JSON", _G, "The request's Content-Type is not application/json.",
        "Send one JSON object in UTF-8, with Content-Type: application/json.",
    ),
    ErrorKind(
        "HTTP_TOO_LARGE", _G, "The body is larger than 1 MiB.", "Ask with a shorter query.",
    ),
    ErrorKind(
        "HTTP_TOO_SLOW", _W, "The body did not arrive in time.", "Send the request whole, at once.",
    ),
    ErrorKind(
        "HTTP_BUSY", _W, "Too many questions are being answered already, or the model is still being loaded.",
        "Ask again after the seconds of the Retry-After header, or use the command line.",
    ),
    ErrorKind(
        "NOT_READY", _W, "Asked whether it is ready, the worker says why not: the message names what is missing.",
        "Wait a moment; if it stays so, run cognee-memory doctor.",
    ),
)  # fmt: skip


class JobError(Exception):
    """An error of the table with what happened this time.

    ``message`` tells a person what happened and what was kept; ``remediation`` defaults to the
    table's; ``details`` holds values for programs (never secrets).
    """

    def __init__(
        self, code: str, message: str = "", *, remediation: str = "", details: dict[str, Any] | None = None
    ) -> None:
        kind = ERRORS[code]
        self.code = code
        self.message = message or kind.cause
        self.remediation = remediation or kind.remediation
        self.details = details or {}
        super().__init__(f"{code}: {self.message}")

    @property
    def reaction(self) -> Reaction:
        return ERRORS[self.code].reaction

    @property
    def retryable(self) -> bool:
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
