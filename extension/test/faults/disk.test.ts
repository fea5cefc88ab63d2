/** A disk that is full, truly: what is to be remembered is kept elsewhere, offered again, and stored once there is room. */

import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type * as vscode from "vscode";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Draft, EMPTY } from "../../src/remember/summary";
import { commands, FakeDocument, reset, shown, user, window, workspace } from "../vscode";
import { PROGRAM, type Session, session } from "../live/session";

/** Much longer than anything takes; the machine may be busy. */
const LONG = 180_000;
const soon = () => AbortSignal.timeout(LONG);
const isRoot = process.getuid?.() === 0;

describe.skipIf(PROGRAM === "" || !isRoot)("a full disk (root mounts one)", { timeout: 2 * LONG }, () => {
  let my: Session;
  let cannotMount = "";
  const folder = () => workspace.workspaceFolders[0] as unknown as vscode.WorkspaceFolder;
  const bar = () => shown.status.at(-1)?.text ?? "";
  const files = (path: string) => (existsSync(path) ? readdirSync(path).filter((name) => !name.startsWith(".")) : []);
  const kept = () => files(join(my.root, "global", "kept"));
  const inbox = () => files(join(my.folder, ".cognee_jobs")).filter((name) => name.endsWith(".json"));
  const filler = (place: string) => join(place, "filler");
  const fill = (place: string): void => {
    const file = openSync(filler(place), "w");
    try {
      for (const size of [1024 * 1024, 4096, 1]) {
        for (;;) writeSync(file, Buffer.alloc(size));
      }
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
    } finally {
      closeSync(file);
    }
  };
  const mount = (place: string): string => {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=96m,mode=0700", "tmpfs", place]);
    return status === 0 ? "" : `mount: ${String(stderr)}`;
  };
  const draft = (topic: string): Draft => ({ ...EMPTY, topic, context: "What was said.", decisions: ["Keep it"] });
  const topics = async () =>
    (await my.memory.ask("retrieve", { query: "keep it" }, soon())).results.map(({ topic }) => topic);

  beforeAll(async () => {
    reset();
    process.env["COGNEE_MEMORY_MIN_FREE_BYTES"] = "100000"; // the disk is small
    const prepare = (root: string): void => {
      cannotMount = mount(join(root, "ws")) || mount(join(root, "global"));
    };
    my = session({ hasLife: true, prepare });
    if (cannotMount !== "") return;
    await my.memory.startWorker(soon());
  }, 2 * LONG);
  beforeEach((test) => {
    reset();
    if (cannotMount !== "") test.skip(cannotMount);
  });
  afterAll(async () => {
    delete process.env["COGNEE_MEMORY_MIN_FREE_BYTES"];
    await my.memory.command(["worker", "stop"], [], soon()).catch(() => undefined);
    for (const place of [my.folder, join(my.root, "global")]) spawnSync("umount", ["-l", place]);
    await my.end();
  }, LONG);

  it("of the folder: the summary is kept and offered again, and stored when there is room", async () => {
    fill(my.folder);
    expect(await my.outbox.send(folder(), draft("Kept for later"))).toBe("kept");
    expect(shown.messages.join("\n")).toMatch(/“Kept for later” is kept, not remembered yet: ENOSPC/u);
    expect(bar()).toBe("$(warning) Memory: 1 not stored yet");
    expect([inbox(), kept()]).toEqual([[], [expect.stringMatching(/^vscode-.*\.json$/u)]]);

    user.picks = [(items) => items[0]];
    user.presses = ["Remember Again"];
    await commands.executeCommand("cognee.dropKept"); // too early
    expect(shown.messages.at(-1)).toContain("ENOSPC");
    expect(kept()).toHaveLength(1);

    rmSync(filler(my.folder));
    user.picks = [(items) => items[0]];
    user.presses = ["Remember Again"];
    await commands.executeCommand("cognee.dropKept");
    expect(kept()).toEqual([]);
    await expect.poll(bar, { timeout: LONG }).toBe("$(check) Remembered: Kept for later");
    expect(await topics()).toEqual(["Kept for later"]);
  });

  it("of the folder and of the extension: the text stays on the screen, and nothing half remains", async () => {
    fill(my.folder);
    fill(join(my.root, "global"));
    user.inputs = ["Keep it too", "", ""];
    const asked = commands.executeCommand("cognee.rememberDecision");
    await expect.poll(() => shown.lists.length).toBe(1);
    const [list] = shown.lists;
    list?.value.fire("On the screen");
    list?.accept.fire(undefined);
    await asked;
    expect(shown.messages.at(-1)).toMatch(/“On the screen” could not be written: ENOSPC.* Make room on the disk/u);
    const document = window.activeTextEditor?.document as FakeDocument;
    expect(document.text).toContain("- Keep it too");
    expect([inbox(), kept()]).toEqual([[], []]);

    rmSync(filler(my.folder));
    rmSync(filler(join(my.root, "global")));
    await commands.executeCommand("cognee.saveSummary");
    await expect.poll(bar, { timeout: LONG }).toMatch(/Remembered: On the screen/u);
    expect((await topics()).sort()).toEqual(["Kept for later", "On the screen"]);
  });

  it("almost, so that the worker rejects what is dropped: it is told, and run again when there is room", async () => {
    delete process.env["COGNEE_MEMORY_MIN_FREE_BYTES"]; // the worker wants more than this disk has
    await my.memory.command(["worker", "restart"], [], soon());
    user.presses = [undefined];
    expect(await my.outbox.send(folder(), draft("Rejected first"))).toBe("dropped");
    await expect.poll(() => shown.messages.join("\n"), { timeout: LONG }).toContain("Rejected first");
    expect(shown.messages.join("\n")).toMatch(/“Rejected first” was not remembered\. .*[Ff]ree/u);
    expect(bar()).toBe("$(error) Memory: failed");

    expect(spawnSync("mount", ["-o", "remount,size=400m", my.folder]).status).toBe(0);
    user.picks = [(items) => items.find(({ label }) => label.includes("Run again"))];
    await commands.executeCommand("cognee.showStatus");
    await expect.poll(bar, { timeout: LONG }).toMatch(/Remembered: Rejected first/u);
    expect(await topics()).toContain("Rejected first");
    expect((await topics()).length).toBe(3);
  });
});
