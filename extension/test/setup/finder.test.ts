import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run } from "../../src/core/program";
import { Environments } from "../../src/setup/environments";
import { Finder } from "../../src/setup/finder";

let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "finder-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that prints a version, and counts how often it was asked. */
function program(path: string, version: string): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho x >> "${folder}/asked"\necho "version: ${version}"\n`);
  chmodSync(path, 0o755);
  return path;
}
const asked = (): number => readFileSync(join(folder, "asked"), "utf8").trim().split("\n").length;

function finder(setting = ""): Finder {
  const machine = {
    platform: "linux" as const,
    home: folder,
    environment: { PATH: `${folder}/first:${folder}/second` },
  };
  return new Finder(machine, new Environments(join(folder, "env")), () => setting);
}

// The programs are shell scripts.
describe.skipIf(process.platform === "win32")("finder", () => {
  it("takes the first that is new enough", async () => {
    program(join(folder, "first", "cognee-memory"), "0.4.9");
    const second = program(join(folder, "second", "cognee-memory"), "0.5.1");
    expect(await finder().find()).toEqual({ path: second, version: "0.5.1", isOwn: false });
  });

  it("says which one is too old if there is no other", async () => {
    program(join(folder, "first", "cognee-memory"), "0.4.9");
    await expect(finder().find()).rejects.toMatchObject({
      code: "PROGRAM_TOO_OLD",
      message: `${folder}/first/cognee-memory has version 0.4.9, and this extension needs 0.5.0 or later.`,
    });
  });

  it("uses the setting and nothing else", async () => {
    program(join(folder, "first", "cognee-memory"), "0.5.0");
    await expect(finder(join(folder, "none")).find()).rejects.toMatchObject({ code: "COMMAND_PATH_WRONG" });
    const named = program(join(folder, "named"), "0.5.0");
    expect(await finder(named).find()).toEqual({ path: named, version: "0.5.0", isOwn: false });
  });

  it("uses the environment that was set up", async () => {
    const own = program(join(folder, "env", "a1", "bin", "cognee-memory"), "0.5.0");
    await expect(finder().find()).rejects.toMatchObject({ code: "PROGRAM_NOT_FOUND" });
    await new Environments(join(folder, "env")).use("a1");
    expect(await finder().find()).toEqual({ path: own, version: "0.5.0", isOwn: true });
  });

  it("asks for the version again only when the file has changed", async () => {
    const path = program(join(folder, "first", "cognee-memory"), "0.5.0");
    const one = finder();
    await one.find();
    await one.find();
    expect(asked()).toBe(1);
    program(path, "0.5.1");
    utimesSync(path, new Date(), new Date(Date.now() + 5000));
    expect((await one.find()).version).toBe("0.5.1");
  });
});

describe.skipIf(process.platform === "win32")("a program of the set-up", () => {
  it("is ended by a cancel with all that it started", async () => {
    const cancel = new AbortController();
    const script = "sleep 600 & echo $!; wait";
    let child = 0;
    const ran = run("/bin/sh", ["-c", script], cancel.signal, { cwd: folder }, (line) => {
      child = Number(line);
      cancel.abort();
    });
    // It ends only when the pipe is closed, which the process that it started holds open too.
    await expect(ran).rejects.toThrow(/abort/i);
    expect(child).toBeGreaterThan(0);
  });
});
