// Made from the code by `python -m tools.schemas`: do not edit.

/** The states in which a job has ended. */
export const ENDS = ["succeeded", "failed", "cancelled", "expired", "rejected"];

/** The states of jobs that a request can be about. */
export const VERBS = {
  cancel: new Set(["queued", "running", "retrying"]),
  retry: new Set(["failed", "expired", "cancelled", "rejected"]),
  dismiss: new Set(["succeeded", "failed", "expired", "cancelled", "rejected"]),
};

/** The errors of files that came with a repository: each is run by itself, never with all others. */
export const FROM_ELSEWHERE = new Set(["FILE_NOT_TRUSTED", "FILE_TRACKED"]);
