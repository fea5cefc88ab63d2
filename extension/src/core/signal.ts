/** Errors of signals and of what was caught, as errors. */

/** Why a signal was aborted. */
export function reasonOf(signal: AbortSignal): Error {
  return asError(signal.reason);
}

/** What was caught: an error as it is, anything else as the message of one. */
export function asError(caught: unknown): Error {
  return caught instanceof Error ? caught : new Error(String(caught));
}
