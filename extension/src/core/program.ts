/** The program `cognee-memory`: running a command of it, and reading its answer. */

import { execFile } from "node:child_process";
import type { Refusal } from "#types";
import { asError, MemoryError } from "./error";

const LARGEST_ANSWER = 64 * 1024 * 1024;

/** A program that was found: its path, and the arguments that come before each command. */
export interface Program {
  readonly path: string;
  readonly version: string;
}

/**
 * Runs a command such as `["worker", "start"]` for a workspace, and returns what it prints as JSON. Throws MemoryError
 * with the program's own code and remedy; PROGRAM_FAILED if it printed no answer; the signal's reason if it came first.
 */
export async function command<Answer>(
  program: Program,
  workspace: string,
  verb: readonly string[],
  args: readonly string[],
  signal: AbortSignal,
): Promise<Answer> {
  const output = await run(program.path, [...verb, "--json", "--workspace", workspace, ...args], signal);
  const answer = parse(output.stdout);
  if (isRefusal(answer)) throw MemoryError.of(answer);
  if (answer !== undefined) return answer as Answer;
  const said = output.stderr.trim().split("\n").at(-1) ?? "";
  throw new MemoryError(
    "PROGRAM_FAILED",
    `cognee-memory ${verb.join(" ")} ended with ${output.code} and no answer${said ? `: ${said}` : "."}`,
    "Run the command “Cognee Memory: Check Health”, or see the output channel.",
  );
}

export interface Output {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without a shell. Rejects only if it cannot be started or the signal is aborted. */
export function run(
  path: string,
  args: readonly string[],
  signal: AbortSignal,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Output> {
  return new Promise((resolve, reject) => {
    execFile(
      path,
      [...args],
      { signal, maxBuffer: LARGEST_ANSWER, windowsHide: true, encoding: "utf8", ...options },
      (error, stdout, stderr) => {
        if (signal.aborted) reject(signal.reason as Error);
        else if (error === null) resolve({ code: 0, stdout, stderr });
        else if (typeof error.code === "number") resolve({ code: error.code, stdout, stderr });
        else if (error.killed || error.signal) resolve({ code: error.signal ?? "killed", stdout, stderr });
        else reject(asError(error));
      },
    );
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** An answer of doctor is none: it has the findings that were asked for, also where one of them is an error. */
function isRefusal(answer: unknown): answer is Refusal {
  return typeof answer === "object" && answer !== null && "error_code" in answer && !("findings" in answer);
}
