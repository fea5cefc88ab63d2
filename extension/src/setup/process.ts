/** Runs a program of the set-up: its lines go to the log as they come, and a cancel ends it with all it started. */

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

/** The last lines that are kept, to tell why a program failed. */
const KEPT_LINES = 200;

export interface Run {
  readonly path: string;
  readonly args: readonly string[];
  /** Never the open folder: Python and Windows look for modules and programs where they are started. */
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface Ended {
  readonly code: number | null;
  /** The last lines of both streams. */
  readonly output: string;
}

/** Runs a program until it ends. Rejects if it cannot be started, or with the signal's reason if that comes first. */
export function runLines(program: Run, signal: AbortSignal, onLine: (line: string) => void): Promise<Ended> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const child = spawn(program.path, program.args, {
      cwd: program.cwd,
      env: program.environment,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      detached: process.platform !== "win32", // a group of its own, which can be ended as a whole
    });
    const kept: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        kept.push(line);
        if (kept.length > KEPT_LINES) kept.shift();
        onLine(line);
      });
    }
    const stop = (): void => endTree(child);
    signal.addEventListener("abort", stop);
    child.on("error", (error) => {
      signal.removeEventListener("abort", stop);
      reject(error);
    });
    child.on("close", (code) => {
      signal.removeEventListener("abort", stop);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ code, output: kept.join("\n") });
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
