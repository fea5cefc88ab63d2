/** Runs the steps of a set-up with uv, or with Python's venv and pip. */

import { randomBytes } from "node:crypto";
import { statfs } from "node:fs/promises";
import { MemoryError } from "../core/error";
import { programOf, type Machine } from "./places";
import type { Environments } from "./environments";
import { failureOf, noPython, tooFull } from "./failure";
import { plan, type Bundle, type Plan } from "./plan";
import { addGraph, explained, runStep, type Context, type Watch } from "./step";
import { PackageCounter } from "./progress";
import { findPython, findUv, isSupported, type Interpreter } from "./python";
import { isAtLeast, OLDEST, versionIn } from "../core/version";

/** What makes environments and installs packages. `python` is null if uv is to fetch one. */
type Tool =
  | { readonly kind: "uv"; readonly uv: string; readonly python: string }
  | { readonly kind: "pip"; readonly python: string };

const UV_PYTHON = ">=3.11,<3.14";
/** About how many seconds of a hundred each step takes; the graph four times as long as all others. */
const SHARE = { clear: 0, create: 15, dependencies: 70, program: 5, check: 10, graph: 400, switch: 0 };
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
  install(watch: Watch): Promise<void> {
    return explained("set up", this.signal, () => this.environments.exclusively(() => this.installAlone(watch)));
  }

  /** Adds the graph to the environment in use, which works meanwhile. Throws MemoryError. */
  addGraph(watch: Watch): Promise<void> {
    const add = async (): Promise<void> => {
      const name = await this.environments.current();
      if (name === null) throw failureOf("find the environment", "", "add the graph");
      await this.graph(name, watch);
    };
    return explained("add the graph", this.signal, () => this.environments.exclusively(add));
  }

  private async graph(name: string, watch: Watch): Promise<void> {
    const program = programOf(this.environments.path(name), this.machine.platform);
    await addGraph(program, this.context(watch));
    await this.environments.addGraph(name);
  }

  private async installAlone(watch: Watch): Promise<void> {
    const made = plan(this.bundle, await this.environments.stock(), randomBytes(3).toString("hex"));
    if (!made.isNew) return this.perform(made, undefined, watch);
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

  /** `tool` makes the environment, if it is new. */
  private async perform(made: Plan, tool: Tool | undefined, watch: Watch): Promise<void> {
    const { name } = made;
    const environment = this.environments.path(name);
    const whole = (tool === undefined ? SHARE.check : 100) + (made.addsGraph ? SHARE.graph : 0);
    const step = async (kind: keyof typeof SHARE, text: string, work: (watch: Watch) => Promise<unknown>) => {
      this.signal.throwIfAborted();
      watch.log(`— ${kind}`);
      let left = 1;
      const report = (message: string, part: number): void => {
        left -= part;
        watch.report(message, (part * SHARE[kind] * 100) / whole);
      };
      report(text, 0);
      await work({ ...watch, report });
      report("", left);
    };
    for (const half of made.clear)
      await step("clear", "Removing an unfinished set-up", () => this.environments.remove(half));
    if (tool !== undefined) {
      const [path, args] = created(tool, environment);
      await step("create", "Making an environment", (its) => this.run("make an environment", path, args, its));
      await step("dependencies", "Downloading packages (62 MB)", (its) => this.dependencies(environment, tool, its));
      const [installer, what] = installed(tool, this.python(environment), [
        "--no-deps",
        "--no-index",
        this.bundle.wheel,
      ]);
      await step("program", "Installing the program", (its) => this.run("install the program", installer, what, its));
    }
    await step("check", "Checking the program", (its) => this.check(environment, its));
    await this.environments.complete(name, this.bundle.build);
    if (made.addsGraph) await step("graph", "", (its) => this.graph(name, its));
    if (made.isSwitched) await step("switch", "", () => this.environments.use(name));
  }

  private async check(environment: string, watch: Watch): Promise<void> {
    const program = programOf(environment, this.machine.platform);
    const said = await this.run("start the program", program, ["--version"], watch);
    if (!isAtLeast(versionIn(said) ?? "", OLDEST)) throw failureOf("start the program", said);
    const load = this.bundle.modules.map((module) => `import ${module}`).join("\n");
    await this.run("load the program's libraries", this.python(environment), ["-I", "-c", load], watch);
  }

  private python(environment: string): string {
    return programOf(environment, this.machine.platform, "python");
  }

  private context(watch: Watch): Context {
    return { watch, signal: this.signal, cwd: this.environments.folder, environment: this.machine.environment };
  }

  private run(doing: string, path: string, args: readonly string[], watch: Watch): Promise<string> {
    return runStep(doing, path, args, this.context(watch));
  }

  private async dependencies(environment: string, tool: Tool, watch: Watch): Promise<void> {
    const counter = new PackageCounter(environment, this.bundle.packages, watch.report);
    const log = (line: string): void => {
      watch.log(line);
      counter.line(line);
    };
    // The lock constrains itself, since pip before 23.3 looks for the newest release of what is asked for with extras.
    const lock = this.bundle.lock;
    const [path, args] = installed(tool, this.python(environment), ["--require-hashes", "-c", lock, "-r", lock]);
    try {
      await this.run("install the packages", path, args, { ...watch, log });
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

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
