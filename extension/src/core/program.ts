/** The program `cognee-memory`: running a command of it, and reading its answer. */

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Refusal } from "#types";
import { MemoryError } from "./error";

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
  const all = [...verb, "--json", "--workspace", workspace, ...args];
  const output = await run(program.path, all, signal, { startsWorker: true });
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
  /** Or the signal that ended it. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program without a shell until it ends; each line goes to `onLine` as it comes. Rejects if it cannot be started,
 * or with the signal's reason if that comes first: then it has ended with all that it started, but for a worker
 * (`startsWorker`). `cwd` is never the open folder, in which Python and Windows would look for modules and programs.
 */
export function run(
  path: string,
  args: readonly string[],
  signal: AbortSignal,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly startsWorker?: boolean } = {},
  onLine?: (line: string) => void,
): Promise<Output> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(path, args, {
      ...options,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      detached: process.platform !== "win32", // a group of its own, which can be ended as a whole
    });
    child.on("error", reject); // before its streams are used: without descriptors it has none
    const printed = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      const stream = (child as ChildProcess)[name]?.setEncoding("utf8");
      stream?.on("data", (piece: string) => (printed[name] += piece));
      if (stream !== undefined && onLine !== undefined) createInterface({ input: stream }).on("line", onLine);
    }
    const stop = (): void => {
      // On Windows, a worker that was started belongs to the tree; elsewhere it has a group of its own.
      if (options.startsWorker && process.platform === "win32") child.kill();
      else endTree(child);
    };
    signal.addEventListener("abort", stop);
    child.on("close", (code, killedBy) => {
      signal.removeEventListener("abort", stop);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ code: code ?? killedBy ?? "killed", ...printed });
    });
  });
}

/** Ends a process and those that it started: an environment's python on Windows is only a launcher of the real one. */
function endTree(child: ChildProcess): void {
  if (child.pid === undefined) return;
  if (process.platform === "win32") {
    spawnSync("taskkill", ["/pid", String(child.pid), "/T", "/F"], { windowsHide: true });
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL"); // the group is gone already, or was never made
  }
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
