import { describe, expect, it } from "vitest";
import { alreadyRunning, cancelled, failureOf, noPython, tooFull } from "../../src/setup/failure";
import { toolsOf } from "../../src/setup/installer";
import { isOutdated, outdated, plan, type Bundle, type Stock } from "../../src/setup/plan";
import { interpreters, programOf, programs, type Machine } from "../../src/setup/places";
import { progressIn } from "../../src/setup/progress";
import { isSupported, type Interpreter } from "../../src/setup/python";
import { environmentFor } from "../../src/setup/step";
import { isAtLeast, versionIn } from "../../src/core/version";

const bundle: Bundle = { build: "b2", version: "0.4.0", wheel: "w.whl", lock: "l", packages: 3, modules: [] };
const planned = (environments: Stock["environments"], current: string | null) =>
  plan(bundle, { environments, current }, "new");
const WHOLE = { clear: [], name: "new", isNew: true, addsGraph: false, isSwitched: true };
const environment = (name: string, build: string | null, hasGraph = false) => ({ name, build, hasGraph });

describe("plan", () => {
  it("installs everything on a fresh machine", () => {
    expect(planned([], null)).toEqual(WHOLE);
  });

  it("removes what an interrupted set-up left, and begins again", () => {
    expect(planned([environment("half", null)], null)).toEqual({ ...WHOLE, clear: ["half"] });
  });

  it("uses an environment where everything was installed before an interruption", () => {
    expect(planned([environment("done", "b2")], null)).toEqual({ ...WHOLE, name: "done", isNew: false });
  });

  it("adds the graph before the switch of an update, where it was in use, and only once", () => {
    const former = environment("former", "b1", true);
    expect(planned([former], "former")).toEqual({ ...WHOLE, addsGraph: true });
    const half = { ...WHOLE, name: "done", isNew: false };
    expect(planned([former, environment("done", "b2")], "former")).toEqual({ ...half, addsGraph: true });
    expect(planned([former, environment("done", "b2", true)], "former")).toEqual(half);
  });

  it("leaves the former environment in use until the last step of an update", () => {
    expect(planned([environment("former", "b1")], "former")).toEqual(WHOLE);
  });

  it("only checks an environment that is in use already", () => {
    const now = { ...WHOLE, name: "now", isNew: false, isSwitched: false };
    expect(planned([environment("now", "b2")], "now")).toEqual(now);
    expect(planned([environment("now", "b2", true)], "now")).toEqual(now);
  });

  it("does not remove the environment in use, though its mark is lost", () => {
    expect(planned([environment("now", null)], "now")).toEqual(WHOLE);
  });

  it("knows whether an update is to be offered", () => {
    expect(isOutdated(bundle, { environments: [environment("now", "b1")], current: "now" })).toBe(true);
    expect(isOutdated(bundle, { environments: [environment("now", "b2")], current: "now" })).toBe(false);
    expect(isOutdated(bundle, { environments: [], current: null })).toBe(false);
  });

  it("keeps the former environment for a day, because other windows may use it", () => {
    const stock = { environments: ["former", "now"].map((name) => environment(name, name)), current: "now" };
    const day = 24 * 3600 * 1000;
    expect(outdated(stock, 0, day - 1)).toEqual([]);
    expect(outdated(stock, 0, day)).toEqual(["former"]);
  });
});

describe("failures", () => {
  // Each output is that of the real program, shortened.
  it.each([
    ["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "DISK_FULL"],
    ["OSError: [WinError 112] There is not enough space on the disk", "DISK_FULL"],
    ["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "HASH_MISMATCH"],
    ["The virtual environment was not created successfully because ensurepip is not available.", "VENV_MISSING"],
    [
      "WARNING: Retrying after connection broken by 'NewConnectionError(... Failed to establish a new connection: [Errno -2] " +
        "Name or service not known')'\nERROR: No matching distribution found for cognee==1.6.5",
      "NO_NETWORK",
    ],
    ["error: Failed to fetch: `https://pypi.org/simple/cognee/`\n  Caused by: dns error", "NO_NETWORK"],
    ['{"success": false, "error": "x", "error_code": "MODEL_MISSING", "remediation": "y"}', "NO_NETWORK"],
    ["PermissionError: [Errno 13] Permission denied: '/x/env'", "NO_PERMISSION"],
    ["ERROR: No matching distribution found for onnxruntime==1.23.2", "NO_PACKAGE"],
    ["Traceback\nValueError: unexpected", "SETUP_FAILED"],
  ])("%s", (output, code) => {
    const error = failureOf("install the packages", output);
    expect(error.code).toBe(code);
    expect(error.remediation).not.toBe("");
  });

  it("names the last line if the cause is not known", () => {
    expect(failureOf("start the program", "Traceback\nValueError: unexpected").message).toContain(
      "could not start the program: ValueError: unexpected.",
    );
  });

  it("says that the memory works without the graph that could not be added", () => {
    const full = failureOf("add the knowledge graph", "OSError: [Errno 28] No space left on device", "add the graph");
    expect(full).toMatchObject({
      code: "GRAPH_NOT_ADDED",
      message: "The disk is full. The memory works without the graph.",
      remediation: "Free some space, then add the graph again. What was downloaded is kept.",
    });
    expect(cancelled("add the graph").code).toBe("GRAPH_CANCELLED");
    expect(cancelled().remediation).toBe("To continue, set up again.");
  });

  it("refuses a disk that is too full, before anything is changed", () => {
    expect(tooFull(250_000_000)?.message).toContain("has 0.3 GB free");
    expect(tooFull(600_000_000)).toBeUndefined();
  });

  it("says which versions of Python were found", () => {
    expect(noPython([]).code).toBe("PYTHON_NOT_FOUND");
    expect(noPython(["3.9.18", "3.10.13", "3.9.18"])).toMatchObject({
      code: "PYTHON_NOT_SUPPORTED",
      message: expect.stringContaining("only 3.9.18, 3.10.13.") as string,
    });
    expect(alreadyRunning().code).toBe("SETUP_RUNNING");
  });
});

describe("tools", () => {
  const python: Interpreter = { version: "3.12.1", path: "/p", bits: 64, isFreeThreaded: false, hasVenv: true };

  it.each([
    ["3.11.0", true],
    ["3.13.9", true],
    ["3.14.0", false],
    ["3.10.13", false],
  ])("Python %s is supported: %s", (version, expected) => {
    expect(isSupported({ ...python, version })).toBe(expected);
  });

  it("refuses interpreters for which there are no packages", () => {
    expect(isSupported({ ...python, bits: 32 })).toBe(false);
    expect(isSupported({ ...python, isFreeThreaded: true })).toBe(false);
  });

  it("tries uv first, then pip", () => {
    expect(toolsOf(python, "/uv", [])).toEqual([
      { kind: "uv", uv: "/uv", python: "/p" },
      { kind: "pip", python: "/p" },
    ]);
  });

  it("lets uv fetch a Python where there is none", () => {
    expect(toolsOf(null, "/uv", ["3.9.1"])).toEqual([{ kind: "uv", uv: "/uv", python: ">=3.11,<3.14" }]);
  });

  it("names what is missing", () => {
    expect(() => toolsOf({ ...python, hasVenv: false }, null, [])).toThrow(/cannot make environments/);
    expect(() => toolsOf(null, null, ["3.9.1"])).toThrow(/found only 3.9.1/);
  });
});

describe("places", () => {
  const linux: Machine = { platform: "linux", home: "/home/u", environment: { PATH: "/a:.:relative/bin:/b" } };
  const windows: Machine = {
    platform: "win32",
    home: "C:\\Users\\u",
    environment: { Path: "C:\\tools;bin", LOCALAPPDATA: "C:\\Users\\u\\AppData\\Local" },
  };

  it("looks on PATH first, and never in the open folder", () => {
    expect(programs(linux).slice(0, 5)).toEqual([
      "/a/cognee-memory",
      "/b/cognee-memory",
      "/home/u/.cognee-env/bin/cognee-memory",
      "/home/u/.cognee-memory/bin/cognee-memory",
      "/home/u/.local/bin/cognee-memory",
    ]);
    expect(programs(windows).slice(0, 3)).toEqual([
      "C:\\tools\\cognee-memory.exe",
      "C:\\Users\\u\\.cognee-env\\Scripts\\cognee-memory.exe",
      "C:\\Users\\u\\.cognee-memory\\Scripts\\cognee-memory.exe",
    ]);
    const all = [...programs(linux), ...interpreters(linux).map(({ path }) => path)];
    expect(all.filter((path) => !path.startsWith("/"))).toEqual([]);
  });

  it("prefers a later Python, and asks the launcher on Windows", () => {
    expect(
      interpreters(linux)
        .slice(0, 3)
        .map(({ path }) => path),
    ).toEqual(["/a/python3.13", "/b/python3.13", "/a/python3.12"]);
    expect(interpreters(windows)[0]).toEqual({ path: "C:\\tools\\py.exe", args: ["-3.13"] });
    expect(interpreters(windows)).toContainEqual({
      path: "C:\\Users\\u\\AppData\\Local\\Programs\\Python\\Python312\\python.exe",
      args: [],
    });
  });

  it("knows where an environment has its program", () => {
    expect(programOf("/e", "linux")).toBe("/e/bin/cognee-memory");
    expect(programOf("C:\\e", "win32")).toBe("C:\\e\\Scripts\\cognee-memory.exe");
  });
});

describe("output and versions", () => {
  it.each([
    ["Collecting huey==3.5.4 (from -r requirements.lock (line 12))", { packages: 1, message: "huey" }],
    [
      "  Downloading onnxruntime-1.23.2-cp311-cp311-manylinux.whl (17.2 MB)",
      { packages: 0, message: "onnxruntime (17.2 MB)" },
    ],
    ["Downloading https://host/files/numpy-2.3.5-cp311.whl (16.8 MB)", { packages: 0, message: "numpy (16.8 MB)" }],
    ["Downloading lancedb (40.1MiB)", { packages: 0, message: "lancedb (40.1MiB)" }],
    [" Downloaded lancedb", { packages: 1 }],
    ["Requirement already satisfied: pip", { packages: 0 }],
  ])("%s", (line, expected) => {
    expect(progressIn(line)).toEqual(expected);
  });

  it("compares versions by number", () => {
    expect([isAtLeast("0.10.0", "0.4.0"), isAtLeast("0.4.0", "0.4.0"), isAtLeast("0.3.9", "0.4.0")]).toEqual([
      true,
      true,
      false,
    ]);
    expect(isAtLeast("", "0.4.0")).toBe(false);
    expect([versionIn("version: 0.4.0\n"), versionIn('{"version": "0.4.1"}'), versionIn("Python")]).toEqual([
      "0.4.0",
      "0.4.1",
      undefined,
    ]);
  });

  it("keeps the user's network settings, and drops what sends packages elsewhere", () => {
    const environment = environmentFor({ PIP_INDEX_URL: "https://mirror", PIP_TARGET: "/x", PYTHONPATH: "/y" });
    expect(environment).toMatchObject({ PIP_INDEX_URL: "https://mirror", PIP_USER: "0" });
    expect(Object.keys(environment).filter((name) => /TARGET|PYTHONPATH/.test(name))).toEqual([]);
  });
});
