/** An error that a person can act on: what happened, and what to do next. */

import type { Refusal } from "#types";

/** `code` is stable, for programs; `message` and `remediation` are sentences for a person. */
export class MemoryError extends Error {
  override readonly name = "MemoryError";

  constructor(
    readonly code: string,
    message: string,
    readonly remediation = "",
  ) {
    super(message);
  }

  /** The error that the program or the worker answered. */
  static of(refusal: Pick<Refusal, "error" | "error_code" | "remediation">): MemoryError {
    return new MemoryError(refusal.error_code, refusal.error, refusal.remediation);
  }
}

/** Ends a command without an error: the user gave up; or there is nothing to do, as the message says. */
export class Ended extends Error {
  override readonly name = "AbortError";
}

/** What went wrong, as one text for a person. */
export function describe(error: unknown): string {
  if (error instanceof MemoryError) return [error.message, error.remediation].filter(Boolean).join(" ");
  return error instanceof Error ? error.message : String(error);
}

/** Whether an error only says that the signal was aborted: the user cancelled, or a newer request replaced this one. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
}

/** Codes for a program that cannot be used: the views stay empty, and their welcome text offers the set-up. */
export const NOT_SET_UP: ReadonlySet<string> = new Set(["PROGRAM_NOT_FOUND", "PROGRAM_TOO_OLD", "COMMAND_PATH_WRONG"]);
