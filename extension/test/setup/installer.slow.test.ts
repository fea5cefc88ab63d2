/** A set-up with the Python of this machine: a real environment, filled by real pip from a tiny bundle. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MemoryError } from "../../src/core/error";
import { readBundle } from "../../src/setup/bundle";
import { Environments } from "../../src/setup/environments";
import { Finder } from "../../src/setup/finder";
import { Installer } from "../../src/setup/installer";
import type { Machine } from "../../src/setup/places";
import { findPython } from "../../src/setup/python";

const SLOW = 180_000;
const folder = mkdtempSync(join(tmpdir(), "set up "));
const storage = join(folder, "env");
const environments = new Environments(storage);
const never = new AbortController().signal;
/** Without uv and other programs of this machine, and with a home of its own. */
const machine: Machine = { platform: process.platform, home: folder, environment: { ...process.env, PATH: "" } };
let python = "";

beforeAll(async () => {
  const here = { platform: process.platform, home: homedir(), environment: process.env };
  const { chosen } = await findPython(here, folder, never);
  if (chosen?.hasVenv !== true) throw new Error("these tests need Python 3.11 to 3.13 with venv");
  python = chosen.path;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }), SLOW);

function tiny(version: string): string {
  const bundle = join(folder, `bundle ${version}`);
  execFileSync(python, ["-I", join(import.meta.dirname, "tiny_bundle.py"), bundle, version]);
  return bundle;
}

/** A machine whose only Python is the one of the tests. */
function withPython(environment: Record<string, string> = {}): Machine {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "python3.13"), `#!/bin/sh\nexec "${python}" "$@"\n`, { mode: 0o755 });
  return { ...machine, environment: { ...machine.environment, PATH: `${bin}:/usr/bin:/bin`, ...environment } };
}

async function install(bundle: string, on: Machine, onLine: (line: string) => void = () => undefined, signal = never) {
  const lines: string[] = [];
  let percent = 0;
  const watch = {
    report: (_message: string, part: number) => void (percent += part),
    log: (line: string) => {
      lines.push(line);
      onLine(line);
    },
  };
  const error = await new Installer(on, environments, await readBundle(bundle), signal).install(watch).then(
    () => null,
    (reason: unknown) => reason as MemoryError,
  );
  return { code: error?.code, error, percent, lines };
}

async function addGraph(
  bundle: string,
  on: Machine,
  onLine: (line: string) => void = () => undefined,
  signal = never,
): Promise<MemoryError | null> {
  const watch = { report: () => undefined, log: onLine };
  return new Installer(on, environments, await readBundle(bundle), signal).addGraph(watch).then(
    () => null,
    (reason: unknown) => reason as MemoryError,
  );
}

const finder = () => new Finder(machine, environments, () => "");

// The interpreter of the tests is a shell script, which Windows does not have.
describe.skipIf(process.platform === "win32")("set-up with the real Python", () => {
  it(
    "goes from nothing to a program that is found; is interrupted, resumed, updated, and goes back",
    { timeout: SLOW },
    async () => {
      await expect(finder().find()).rejects.toMatchObject({ code: "PROGRAM_NOT_FOUND" });
      const first = tiny("0.5.0");

      // A cancel in the middle: nothing is in use yet.
      const cancel = new AbortController();
      const onLine = (line: string): void => {
        if (line === "— program") cancel.abort();
      };
      const stopped = await install(first, withPython(), onLine, cancel.signal);
      expect(stopped.code).toBe("SETUP_CANCELLED");
      await expect(finder().find()).rejects.toMatchObject({ code: "PROGRAM_NOT_FOUND" });

      // Again: what was left is removed first.
      const resumed = await install(first, withPython());
      expect(resumed.error).toBeNull();
      const steps = ["clear", "create", "dependencies", "program", "check", "switch"];
      expect(resumed.lines.filter((line) => line.startsWith("— "))).toEqual(steps.map((step) => `— ${step}`));
      const found = await finder().find();
      expect(found).toMatchObject({ version: "0.5.0", isOwn: true });

      // The graph is added to it. If that fails or is cancelled, the program stays as it was.
      expect(await addGraph(first, withPython({ TINY_GRAPH: "offline" }))).toMatchObject({ code: "GRAPH_NOT_ADDED" });
      const unwanted = new AbortController();
      const endless = withPython({ TINY_GRAPH: "endless" });
      const stop = (line: string): void => {
        if (line === "endless") unwanted.abort();
      };
      expect(await addGraph(first, endless, stop, unwanted.signal)).toMatchObject({ code: "GRAPH_CANCELLED" });
      expect(await environments.stock()).toMatchObject({ environments: [{ hasGraph: false }] });
      expect(await addGraph(first, withPython())).toBeNull();
      expect(await environments.stock()).toMatchObject({ environments: [{ hasGraph: true }] });

      // An update whose dependency is not the file that the lock names: the former program is still in use.
      const second = tiny("0.5.0");
      const lock = readFileSync(join(second, "requirements-core.lock"), "utf8");
      writeFileSync(join(second, "requirements-core.lock"), lock.replace(/sha256:..../, "sha256:0000"));
      const tampered = await install(second, withPython());
      expect(tampered.code).toBe("HASH_MISMATCH");
      expect(await finder().find()).toEqual(found);

      // The update as it should be; what the failed one left is removed, and the former environment is kept for a day.
      writeFileSync(join(second, "requirements-core.lock"), lock);
      const updated = await install(second, withPython());
      expect(updated.error).toBeNull();
      const kept = await environments.stock();
      expect(kept.environments.find((each) => each.name === kept.current)?.hasGraph).toBe(true);
      expect(updated.lines[0]).toMatch(/^Python: .*; uv: none$/);
      expect(Math.round(updated.percent)).toBe(100);
      expect(await finder().find()).toMatchObject({ version: "0.5.0", isOwn: true });
      expect(readdirSync(storage, { withFileTypes: true }).filter((entry) => entry.isDirectory())).toHaveLength(2);
      await environments.removeOutdated(Date.now());
      expect(existsSync(found.path)).toBe(true);
      await environments.removeOutdated(Date.now() + 25 * 3600 * 1000);
      expect(existsSync(found.path)).toBe(false);
      expect(await finder().find()).toMatchObject({ version: "0.5.0" });
    },
  );

  it("says that the network is missing, by what pip prints then", { timeout: SLOW }, async () => {
    const bundle = tiny("0.6.0");
    const hash = "0".repeat(64);
    writeFileSync(join(bundle, "requirements-core.lock"), `huey==3.5.4 --hash=sha256:${hash}\n`);
    const offline = {
      PIP_CONFIG_FILE: "/dev/null",
      PIP_INDEX_URL: "http://127.0.0.1:1/simple",
      PIP_EXTRA_INDEX_URL: "",
      PIP_FIND_LINKS: "",
      PIP_RETRIES: "1",
    };
    const failed = await install(bundle, withPython(offline));
    expect(failed.code, failed.lines.join("\n")).toBe("NO_NETWORK");
  });

  it("takes the next Python if one does not run, as pyenv's commands of versions that are not selected", async () => {
    const on = withPython();
    const bin = join(folder, "bin");
    writeFileSync(join(bin, "python3.12"), readFileSync(join(bin, "python3.13")), { mode: 0o755 });
    writeFileSync(join(bin, "python3.13"), "#!/bin/sh\nexit 127\n", { mode: 0o755 });
    const seen = await findPython({ ...on, environment: { PATH: bin } }, folder, never);
    expect(seen.chosen?.path).toBe(python);
  });

  it("does not set up while another window does, and takes over what an ended one left", async () => {
    const other = new Environments(storage);
    await environments.exclusively(async () => {
      await expect(other.exclusively(() => Promise.resolve())).rejects.toMatchObject({ code: "SETUP_RUNNING" });
    });
    const ended = spawnSync(process.execPath, ["--version"]).pid;
    writeFileSync(join(storage, "set-up.lock"), JSON.stringify({ pid: String(ended) }));
    expect(await other.exclusively(() => Promise.resolve("done"))).toBe("done");
  });
});

// What a user gets: the bundle that `make extension` made, and 62 MB of packages.
describe.skipIf(process.env["COGNEE_MEMORY_REAL_SETUP"] !== "1")("set-up with the real bundle", () => {
  it("ends with a program that checks itself", { timeout: 3_600_000 }, async () => {
    const real = join(import.meta.dirname, "..", "..", "dist", "python");
    const home = { platform: process.platform, home: homedir(), environment: process.env };
    const fresh = new Environments(join(folder, "real"));
    const began = Date.now();
    const watch = {
      report: (message: string, part: number) =>
        message && console.log(`${(Date.now() - began) / 1000} s`, message, part),
      log: (line: string) => line.startsWith("— ") && console.log(`${(Date.now() - began) / 1000} s`, line),
    };
    await new Installer(home, fresh, await readBundle(real), never).install(watch);
    const { version } = JSON.parse(readFileSync(join(real, "bundle.json"), "utf8")) as { version: string };
    const own = new Finder({ ...home, home: folder, environment: {} }, fresh, () => "");
    const found = await own.find();
    expect(found).toMatchObject({ version, isOwn: true });
    const workspace = mkdtempSync(join(folder, "workspace "));
    const said = execFileSync(found.path, ["doctor", "--json", "--workspace", workspace], { encoding: "utf8" });
    expect(JSON.parse(said)).toMatchObject({ success: true });
  });
});
