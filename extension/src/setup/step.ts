/** Runs the programs of a set-up: with the user's network settings, with their output in the log, and with errors for a person. */

import { isAbort, MemoryError } from "../core/error";
import { cancelled, failureOf } from "./failure";
import type { Machine } from "./places";
import { runLines } from "./process";

/** What a person sees of a set-up: a message, and how much of the whole (0 to 100) a moment has added. */
export type Report = (message: string, percent: number) => void;

/** How a set-up shows what it does. */
export interface Watch {
  readonly report: Report;
  readonly log: (line: string) => void;
}

/** What every program of a set-up is run with. `cwd` is never the open folder. */
export interface Context {
  readonly watch: Watch;
  readonly signal: AbortSignal;
  readonly cwd: string;
  readonly environment: Machine["environment"];
}

/** Runs a program, and returns what it printed. Throws MemoryError if it fails. `doing` is what it does, for a person. */
export async function runStep(doing: string, path: string, args: readonly string[], context: Context): Promise<string> {
  const { watch, signal, cwd } = context;
  watch.log(`$ ${[path, ...args].join(" ")}`);
  const environment = environmentFor(context.environment);
  const { code, output } = await runLines({ path, args, cwd, environment }, signal, watch.log);
  if (code !== 0) throw failureOf(doing, output);
  return output;
}

/** Verifies the embedding model of a program that is installed, or fetches the one that the user chose. Throws MemoryError. */
export async function fetchModel(program: string, context: Context): Promise<void> {
  context.watch.report("Checking the embedding model", 0);
  await runStep("check the model", program, ["setup", "--json"], context);
}

/**
 * The environment of the set-up's programs: without what would send packages or imports elsewhere. Indexes, proxies and
 * certificates of the user apply.
 */
export function environmentFor(machine: Machine["environment"]): NodeJS.ProcessEnv {
  const elsewhere =
    /^(PYTHON(PATH|HOME|STARTUP|DONTWRITEBYTECODE|USERBASE)|VIRTUAL_ENV|PIP_(TARGET|PREFIX|ROOT|REQUIRE_VIRTUALENV|CONSTRAINT|REQUIREMENT|NO_DEPS)|UV_(SYSTEM_PYTHON|CONSTRAINT|OVERRIDE|PYTHON))$/;
  const kept = Object.entries(machine).filter(([name]) => !elsewhere.test(name));
  return {
    ...Object.fromEntries(kept),
    PIP_USER: "0",
    PIP_NO_INPUT: "1",
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    PYTHONNOUSERSITE: "1",
    PYTHONUTF8: "1",
    UV_NO_PROGRESS: "1",
  };
}

/** What failed, for a person: a cancel too has a code and a remedy. */
export function errorOf(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof MemoryError) return error;
  if (signal.aborted || isAbort(error)) return cancelled();
  return failureOf("go on", error instanceof Error ? error.message : String(error));
}
