// Made from the code by `python -m tools.schemas`: do not edit.

/** The states of jobs that ended without success by themselves. */
export const FAILED: ReadonlySet<string> = new Set(["failed", "expired", "rejected"]);

/** The states of jobs that a request can be about. */
export const VERBS = {
  cancel: new Set<string>(["queued", "running", "retrying"]),
  retry: new Set<string>(["failed", "expired", "cancelled", "rejected"]),
  dismiss: new Set<string>(["succeeded", "failed", "expired", "cancelled", "rejected"]),
};
