/** Runs the programs of a set-up: with the user's network settings, with their output in the log, and with errors for a person. */

import { isAbort, MemoryError } from "../core/error";
import { run } from "../core/program";
import { cancelled, failureOf, type Purpose } from "./failure";
import type { Machine } from "./places";
import { progressIn, type Report } from "./progress";

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
export async function runStep(
  doing: string,
  path: string,
  args: readonly string[],
  context: Context,
  purpose: Purpose = "set up",
): Promise<string> {
  const { watch, signal, cwd, environment } = context;
  watch.log(`$ ${[path, ...args].join(" ")}`);
  const options = { cwd, env: environmentFor(environment) };
  const { code, stdout, stderr } = await run(path, args, signal, options, watch.log);
  const output = `${stdout}${stderr}`;
  if (code !== 0) throw failureOf(doing, output, purpose);
  return output;
}

/** Has a program that the user installed see to its embedding model. Throws MemoryError. */
export async function checkModel(program: string, context: Context): Promise<void> {
  context.watch.report("Checking the embedding model", 0);
  await runStep("check the model", program, ["setup", "--json"], context);
}

/** Adds cognee to the environment of a program. Its version works meanwhile, without the graph. Throws MemoryError. */
export async function addGraph(program: string, context: Context): Promise<void> {
  const { report } = context.watch;
  report("Downloading cognee (360 MB)", 0);
  const log = (line: string): void => {
    context.watch.log(line);
    report(progressIn(line).message ?? "", 0);
  };
  const watched = { ...context, watch: { report, log } };
  await runStep("add the knowledge graph", program, ["setup", "--graph"], watched, "add the graph");
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

/** Does a part of a set-up. Throws MemoryError: a cancel too has a code and a remedy. */
export async function explained(purpose: Purpose, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    if (signal.aborted || isAbort(error)) throw cancelled(purpose);
    throw failureOf("go on", error instanceof Error ? error.message : String(error), purpose);
  }
}
