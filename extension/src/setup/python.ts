/** Finds a Python that can make the program's environment, and uv. */

import { access, constants, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isAbort } from "../core/error";
import { run } from "../core/program";
import { interpreters, PYTHONS, pyenvVersions, uvs, type Candidate, type Machine } from "./places";
import { isAtLeast } from "../core/version";

/** What an interpreter says of itself. */
export interface Interpreter {
  readonly version: string;
  readonly path: string;
  readonly bits: number;
  readonly isFreeThreaded: boolean;
  /** Whether it has the modules that make an environment with pip. */
  readonly hasVenv: boolean;
}

export interface Pythons {
  /** The preferred one that is supported; null if none is. */
  readonly chosen: Interpreter | null;
  /** Versions that were found and are not supported. */
  readonly seen: readonly string[];
}

const PROBE = `
import importlib.util as u, json, struct, sys, sysconfig
print(json.dumps({
    "version": "%d.%d.%d" % sys.version_info[:3],
    "path": sys.executable,
    "bits": struct.calcsize("P") * 8,
    "isFreeThreaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "hasVenv": bool(u.find_spec("venv") and u.find_spec("ensurepip")),
}))
`;
const PROBE_MS = 20_000;

/**
 * The interpreter to use: the first supported one with venv, else the first supported one. They run in `cwd`, which
 * is not the open folder, and import nothing from there.
 */
export async function findPython(machine: Machine, cwd: string, signal: AbortSignal): Promise<Pythons> {
  const seen: string[] = [];
  let withoutVenv: Interpreter | null = null;
  for (const candidate of await existing([...interpreters(machine), ...(await ofPyenv(machine))])) {
    const interpreter = await probe(candidate, cwd, signal);
    if (interpreter === null) continue;
    if (!isSupported(interpreter)) seen.push(describe(interpreter));
    else if (interpreter.hasVenv) return { chosen: interpreter, seen };
    else withoutVenv ??= interpreter;
  }
  return { chosen: withoutVenv, seen };
}

/** Whether the program and its dependencies have packages for an interpreter. */
export function isSupported({ version, bits, isFreeThreaded }: Interpreter): boolean {
  return bits === 64 && !isFreeThreaded && isAtLeast(version, `${PYTHONS[2]}.0`) && !isAtLeast(version, "3.14.0");
}

/** The path of uv; null without one that runs. */
export async function findUv(machine: Machine, cwd: string, signal: AbortSignal): Promise<string | null> {
  for (const { path } of await existing(uvs(machine).map((each) => ({ path: each, args: [] })))) {
    const output = await attempt(path, ["--version"], cwd, signal);
    if (output?.startsWith("uv ")) return path;
  }
  return null;
}

async function probe({ path, args }: Candidate, cwd: string, signal: AbortSignal): Promise<Interpreter | null> {
  const output = await attempt(path, [...args, "-I", "-c", PROBE], cwd, signal);
  try {
    return output === null ? null : (JSON.parse(output) as Interpreter);
  } catch {
    return null;
  }
}

/** What a program prints; null if it does not run, fails, or hangs. Throws the signal's reason. */
async function attempt(path: string, args: string[], cwd: string, signal: AbortSignal): Promise<string | null> {
  try {
    const output = await run(path, args, AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]), { cwd });
    return output.code === 0 ? output.stdout : null;
  } catch (error) {
    signal.throwIfAborted();
    if (isAbort(error) || "code" in (error as object)) return null;
    throw error;
  }
}

async function ofPyenv(machine: Machine): Promise<Candidate[]> {
  const folder = pyenvVersions(machine);
  const names = await readdir(folder).catch((): string[] => []);
  const program = machine.platform === "win32" ? ["python.exe"] : ["bin", "python"];
  return PYTHONS.flatMap((version) =>
    names
      .filter((name) => name.startsWith(`${version}.`))
      .map((name) => ({ path: join(folder, name, ...program), args: [] })),
  );
}

async function existing(candidates: readonly Candidate[]): Promise<Candidate[]> {
  const found: Candidate[] = [];
  const known = new Set<string>();
  for (const candidate of candidates) {
    const key = JSON.stringify(candidate);
    if (known.has(key)) continue;
    known.add(key);
    try {
      await access(candidate.path, constants.X_OK);
      found.push(candidate);
    } catch {
      // not here
    }
  }
  return found;
}

function describe({ version, bits, isFreeThreaded }: Interpreter): string {
  return `${version}${bits === 64 ? "" : ` (${bits}-bit)`}${isFreeThreaded ? " (free-threaded)" : ""}`;
}
