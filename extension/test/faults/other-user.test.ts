/** A folder of another user, and one that somebody brought: nothing is started, read or written, and it is said why. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type * as vscode from "vscode";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { livingWorker } from "../../src/core/heartbeat";
import { heartbeatFile, ownerFile } from "../../src/core/layout";
import { EMPTY } from "../../src/remember/summary";
import { commands, reset, shown, user, workspace } from "../vscode";
import { PROGRAM, type Session, session } from "../live/session";

/** Much longer than anything takes; the machine may be busy. */
const LONG = 180_000;
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

interface Tree {
  getChildren(item?: unknown): Promise<unknown[]>;
  getTreeItem(item: unknown): { label: string };
}

describe.skipIf(PROGRAM === "" || !isRoot)("a folder of another user (root makes one)", { timeout: 2 * LONG }, () => {
  let my: Session;
  const folder = () => workspace.workspaceFolders[0] as unknown as vscode.WorkspaceFolder;
  const files = () =>
    readdirSync(my.folder, { recursive: true, encoding: "utf8" })
      .sort()
      .map((name) => name);
  const kept = () => {
    const path = join(my.root, "global", "kept");
    return existsSync(path) ? readdirSync(path) : [];
  };
  let before: string[];

  beforeAll(() => {
    reset();
    const prepare = (root: string): void => {
      const jobs = join(root, "ws", ".cognee_jobs");
      for (const name of ["results", "rejected", "worker"]) mkdirSync(join(jobs, name), { recursive: true });
      mkdirSync(join(root, "ws", ".cognee_memory"));
      writeFileSync(join(root, "ws", ".cognee_memory", "memory.db"), "somebody's");
    };
    my = session({ hasLife: true, prepare });
    // as their own worker leaves it
    writeFileSync(ownerFile(my.folder), "0".repeat(32));
    const beat = {
      state: "ready",
      pid: process.pid,
      heartbeat_at: new Date().toISOString(),
      counts: {},
      in_flight: [],
    };
    const http = { url: "http://127.0.0.1:9", token_file: "/etc/passwd" };
    writeFileSync(heartbeatFile(my.folder), JSON.stringify({ ...beat, http }));
    expect(spawnSync("chown", ["-R", `${NOBODY}:${NOBODY}`, my.folder]).status).toBe(0);
    before = files();
  });
  beforeEach(reset);
  afterEach(() => {
    expect(files()).toEqual(before);
    expect(readFileSync(join(my.folder, ".cognee_memory", "memory.db"), "utf8")).toBe("somebody's");
    expect(livingWorker(my.folder)).toBeNull();
  });
  afterAll(() => my.end(), LONG);

  it("is not asked: the list says why, with the button that helps", async () => {
    await commands.executeCommand("cognee.recall");
    const [list] = shown.lists;
    list?.value.fire("what did they decide?");
    await vi.waitFor(() => expect(list?.items).toHaveLength(1), LONG);
    expect(list?.items[0]?.label).toMatch(/^\$\(error\) .*Nothing in it was read or changed\.$/u);
    if (list !== undefined) list.activeItems = list.items;
    user.presses = [undefined];
    list?.accept.fire(undefined);
    await vi.waitFor(() => expect(shown.messages.join()).toContain("Nothing in it was read or changed."));
  });

  it("shows one row with the reason in its views, and no memory", async () => {
    const labels = async (id: string) => {
      const tree = shown.trees.get(id)?.provider as Tree;
      return (await tree.getChildren()).map((item) => tree.getTreeItem(item).label);
    };
    const memories = await labels("cognee.memories");
    expect(memories).toHaveLength(1);
    expect(memories[0]).toContain("belongs to another user");
    expect(await labels("cognee.queue")).toEqual([]);
    expect((await labels("cognee.health")).join("\n")).toMatch(/another user/u);
  });

  it("gets no job: the summary is kept, and the message says why", async () => {
    const sent = my.outbox.send(folder(), { ...EMPTY, topic: "Mine", context: "What was said." });
    expect(await sent).toBe("kept");
    await vi.waitFor(() => expect(shown.messages.join()).toContain("Nothing in it was read or changed."), LONG);
    expect(kept()).toHaveLength(1);
    for (const name of kept()) rmSync(join(my.root, "global", "kept", name));
  });

  it("is not written to by any drop", async () => {
    const summary = { topic: "Mine", context: "What was said." };
    const dropped = my.memory.drop({ kind: "ingest", payload: { summary } });
    await expect(dropped).rejects.toMatchObject({ code: "WORKSPACE_NOT_TRUSTED" });
  });

  it("has no worker started, whatever waits in it", async () => {
    writeFileSync(join(my.folder, ".cognee_jobs", "theirs.json"), "{}");
    before = files();
    await commands.executeCommand("cognee.startWorker");
    expect(shown.messages.join()).toContain("Nothing in it was read or changed.");
    expect(existsSync(join(dirname(heartbeatFile(my.folder)), "lock"))).toBe(false);
  });
});
