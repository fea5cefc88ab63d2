/** Runs the steps of a set-up with uv, or with Python's venv and pip. */

import { randomBytes } from "node:crypto";
import { statfs } from "node:fs/promises";
import { MemoryError } from "../core/error";
import { interpreterOf, programOf, type Machine } from "./places";
import type { Environments } from "./environments";
import { failureOf, noPython, tooFull } from "./failure";
import { plan, type Bundle, type Plan, type Step } from "./plan";
import { addGraph, errorOf, runStep, type Context, type Watch } from "./step";
import { PackageCounter } from "./progress";
import { findPython, findUv, isSupported, type Interpreter } from "./python";
import { isAtLeast, OLDEST, versionIn } from "../core/version";

/** What makes environments and installs packages. `python` is null if uv is to fetch one. */
type Tool =
  | { readonly kind: "uv"; readonly uv: string; readonly python: string }
  | { readonly kind: "pip"; readonly python: string };

const UV_PYTHON = ">=3.11,<3.14";
/** About how many seconds of a hundred each step takes; the graph four times as long as all others. */
const SHARE: Readonly<Record<Step["kind"], number>> = {
  clear: 0,
  create: 15,
  dependencies: 70,
  program: 5,
  check: 10,
  graph: 400,
  switch: 0,
};
/** After these failures of uv, pip is tried: it reads pip's configuration, which may name a mirror. */
const PIP_MAY_HELP = new Set(["NO_NETWORK", "NO_PACKAGE", "SETUP_FAILED"]);

export class Installer {
  constructor(
    private readonly machine: Machine,
    private readonly environments: Environments,
    private readonly bundle: Bundle,
    private readonly signal: AbortSignal,
  ) {}

  /** Makes the bundle's program the one in use. Throws MemoryError; then the former program is still in use. */
  async install(watch: Watch): Promise<void> {
    try {
      await this.environments.exclusively(() => this.installAlone(watch));
    } catch (error) {
      throw errorOf(error, this.signal);
    }
  }

  /** Adds the graph to the environment in use, which works meanwhile. Throws MemoryError. */
  async addGraph(watch: Watch): Promise<void> {
    try {
      await this.environments.exclusively(async () => {
        const name = await this.environments.current();
        if (name === null) throw failureOf("find the environment", "", "add the graph");
        await this.graph(name, watch);
      });
    } catch (error) {
      throw errorOf(error, this.signal, "add the graph");
    }
  }

  private async graph(name: string, watch: Watch): Promise<void> {
    const program = programOf(this.environments.path(name), this.machine.platform);
    await addGraph(program, this.context(watch));
    await this.environments.addGraph(name);
  }

  private async installAlone(watch: Watch): Promise<void> {
    const made = plan(this.bundle, await this.environments.stock(), randomBytes(3).toString("hex"));
    const isNew = made.steps.some((step) => step.kind === "create");
    if (!isNew) {
      await this.perform(made, undefined, watch);
      return;
    }
    watch.report("Looking for Python", 0);
    const full = tooFull(await freeBytes(this.environments.folder));
    if (full !== undefined) throw full;
    const tools = await this.tools(watch);
    for (const [index, tool] of tools.entries()) {
      try {
        await this.perform(made, tool, watch);
        return;
      } catch (error) {
        const canTryPip = index + 1 < tools.length && error instanceof MemoryError && PIP_MAY_HELP.has(error.code);
        if (!canTryPip) throw error;
        watch.log(`${error.message} Trying again with pip.`);
        await this.environments.remove(made.name);
      }
    }
  }

  /** The tools to try, in this order. */
  private async tools(watch: Watch): Promise<readonly Tool[]> {
    const cwd = this.environments.folder;
    const { chosen, seen } = await findPython(this.machine, cwd, this.signal);
    const uv = await findUv(this.machine, cwd, this.signal);
    watch.log(`Python: ${chosen === null ? "none" : `${chosen.path} (${chosen.version})`}; uv: ${uv ?? "none"}`);
    return toolsOf(chosen, uv, seen);
  }

  private async perform(made: Plan, tool: Tool | undefined, watch: Watch): Promise<void> {
    const total = made.steps.reduce((sum, step) => sum + SHARE[step.kind], 0);
    for (const step of made.steps) {
      this.signal.throwIfAborted();
      watch.log(`— ${step.kind}`);
      const share = (SHARE[step.kind] * 100) / total;
      await this.step(step, made.name, tool, {
        ...watch,
        report: (text, part) => watch.report(text, part * share),
      });
    }
  }

  /** Does a step. `watch.report` counts from 0 to 1. */
  private async step(step: Step, name: string, tool: Tool | undefined, watch: Watch): Promise<void> {
    const environment = this.environments.path(name);
    const python = interpreterOf(environment, this.machine.platform);
    const program = programOf(environment, this.machine.platform);
    switch (step.kind) {
      case "clear":
        watch.report("Removing an unfinished set-up", 0);
        return this.environments.remove(step.name);
      case "create": {
        watch.report("Making an environment", 0);
        const [path, args] = created(required(tool), environment);
        await this.run("make an environment", path, args, watch);
        break;
      }
      case "dependencies":
        return this.dependencies(environment, required(tool), watch);
      case "program": {
        watch.report("Installing the program", 0);
        const [path, args] = installed(required(tool), python, ["--no-deps", "--no-index", this.bundle.wheel]);
        await this.run("install the program", path, args, watch);
        break;
      }
      case "check": {
        watch.report("Checking the program", 0);
        const said = await this.run("start the program", program, ["--version"], watch);
        if (!isAtLeast(versionIn(said) ?? "", OLDEST)) throw failureOf("start the program", said);
        const load = this.bundle.modules.map((module) => `import ${module}`).join("\n");
        await this.run("load the program's libraries", python, ["-I", "-c", load], watch);
        await this.environments.complete(name, this.bundle.build);
        break;
      }
      case "graph":
        await this.graph(name, watch);
        break;
      case "switch":
        return this.environments.use(name);
    }
    watch.report("", 1);
  }

  private context(watch: Watch): Context {
    return { watch, signal: this.signal, cwd: this.environments.folder, environment: this.machine.environment };
  }

  private run(doing: string, path: string, args: readonly string[], watch: Watch): Promise<string> {
    return runStep(doing, path, args, this.context(watch));
  }

  private async dependencies(environment: string, tool: Tool, watch: Watch): Promise<void> {
    watch.report("Downloading packages (62 MB)", 0);
    const counter = new PackageCounter(environment, this.bundle.packages, watch.report);
    const log = (line: string): void => {
      watch.log(line);
      counter.line(line);
    };
    const python = interpreterOf(environment, this.machine.platform);
    // The lock constrains itself, since pip before 23.3 looks for the newest release of what is asked for with extras.
    const lock = this.bundle.lock;
    const [path, args] = installed(tool, python, ["--require-hashes", "--constraint", lock, "--requirement", lock]);
    try {
      await this.run("install the packages", path, args, { ...watch, log });
      counter.finish();
    } finally {
      counter.stop();
    }
  }
}

/** The tools that can be used, the preferred one first. Throws MemoryError if there is none. */
export function toolsOf(python: Interpreter | null, uv: string | null, seen: readonly string[]): readonly Tool[] {
  const usable = python !== null && isSupported(python) ? python : null;
  const tools: Tool[] = [];
  if (uv !== null) tools.push({ kind: "uv", uv, python: usable?.path ?? UV_PYTHON });
  if (usable?.hasVenv === true) tools.push({ kind: "pip", python: usable.path });
  if (tools.length > 0) return tools;
  throw usable === null ? noPython(seen) : failureOf("make an environment", "ensurepip is not available");
}

type Command = readonly [path: string, args: readonly string[]];

/** pip is needed in the environment with uv too: where uv is not found, the program adds the graph with it. */
function created(tool: Tool, environment: string): Command {
  return tool.kind === "uv"
    ? [tool.uv, ["venv", "--seed", "--no-project", "--python", tool.python, environment]]
    : [tool.python, ["-I", "-m", "venv", environment]];
}

function installed(tool: Tool, python: string, what: readonly string[]): Command {
  return tool.kind === "uv"
    ? [tool.uv, ["pip", "install", "--compile-bytecode", "--python", python, ...what]]
    : [python, ["-I", "-m", "pip", "install", "--progress-bar", "off", ...what]];
}

function required(tool: Tool | undefined): Tool {
  if (tool === undefined) throw new Error("a plan with a new environment needs a tool");
  return tool;
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
