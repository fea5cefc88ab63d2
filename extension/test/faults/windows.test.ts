/** Two windows on one folder: one worker, and each job once. */

import { existsSync, mkdirSync, readdirSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import type * as vscode from "vscode";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { latestHeartbeat, livingWorker } from "../../src/core/heartbeat";
import { heartbeatFile } from "../../src/core/layout";
import { ended } from "../../src/core/records";
import { memoriesOf } from "../../src/recall/reads";
import { type Draft, EMPTY } from "../../src/remember/summary";
import { outcomeOf } from "../../src/status/followed";
import { reset, shown, workspace } from "../vscode";
import { PROGRAM, type Session, session } from "../live/session";

/** Much longer than anything takes; the machine may be busy. */
const LONG = 180_000;
const soon = () => AbortSignal.timeout(LONG);

describe.skipIf(PROGRAM === "")("two windows on one folder", { timeout: 2 * LONG }, () => {
  let one: Session;
  let other: Session;
  const workers = new Set<string>();
  let stopWatching: () => void = () => undefined;
  const folder = () => workspace.workspaceFolders[0] as unknown as vscode.WorkspaceFolder;
  const both = () => [one, other];
  const draft = (topic: string): Draft => ({
    ...EMPTY,
    topic,
    context: "What was said.",
    decisions: [`${topic} it is`],
  });
  const memories = async () => (await memoriesOf(one.memory, { limit: 50 }, soon())).memories;
  const kept = () => {
    const path = join(one.root, "global", "kept");
    return existsSync(path) ? readdirSync(path) : [];
  };
  /** Until all that both windows follow is remembered. */
  const remembered = () =>
    expect
      .poll(() => both().flatMap(({ bar }) => bar.jobs.map((job) => outcomeOf(job).state)), {
        timeout: LONG,
      })
      .toSatisfy((states: string[]) => states.length > 0 && states.every((state) => state === "succeeded"));

  beforeAll(() => {
    reset();
    one = session({ hasLife: true });
    other = session({ hasLife: true, beside: one.root });
    mkdirSync(dirname(heartbeatFile(one.folder)), { recursive: true });
    const watcher = watch(dirname(heartbeatFile(one.folder)), () => {
      const beat = latestHeartbeat(one.folder);
      if (beat !== null && beat.state !== "stopped") workers.add(beat.worker_id);
    });
    stopWatching = () => watcher.close();
  });
  beforeEach(() => {
    workers.clear();
    shown.messages.length = 0;
  });
  afterAll(async () => {
    stopWatching();
    await other.end();
    await one.end();
  }, LONG);

  it("that both remember at first: one worker, each summary once, though both windows send what is kept", async () => {
    await Promise.all(both().map(({ outbox }, n) => outbox.send(folder(), draft(`First ${n}`))));
    await expect.poll(kept, { timeout: LONG }).toEqual([]);
    await remembered();
    expect((await memories()).map(({ title }) => title).sort()).toEqual(["First 0", "First 1"]);
    expect(workers.size).toBe(1);
    expect(shown.messages).toEqual([]);
  });

  it("that drop and ask at once when none lives: one worker is started", async () => {
    await one.memory.command(["worker", "stop"], [], soon());
    workers.clear();
    await Promise.all(
      both().flatMap(({ outbox, memory }, n) => [
        ...[0, 1].map((m) => outbox.send(folder(), draft(`Window ${n} drop ${m}`))),
        memory.ask("retrieve", { query: "it is" }, soon()),
      ]),
    );
    await remembered();
    expect(new Set((await memories()).map(({ title }) => title)).size).toBe(6);
    expect(await memories()).toHaveLength(6);
    expect(workers).toEqual(new Set([livingWorker(one.folder)?.worker_id]));
    expect(shown.messages).toEqual([]);
  });

  it("that miss the same worker: one is started, and each job runs once", async () => {
    const former = livingWorker(one.folder);
    if (former === null) throw new Error("no worker");
    const summary = { topic: "Killed", context: "What was said.", decisions: ["Killed it is"] };
    const ids = await Promise.all(both().map(({ memory }) => memory.drop({ kind: "ingest", payload: { summary } })));
    process.kill(former.pid, "SIGKILL");
    const records = await Promise.all(ids.map((id) => ended<"ingest">(one.folder, id, soon())));
    expect(records.map(({ state, generation }) => [state, generation])).toEqual([
      ["succeeded", 1],
      ["succeeded", 1],
    ]);
    workers.delete(former.worker_id);
    expect(workers).toEqual(new Set([livingWorker(one.folder)?.worker_id]));
    expect((await memories()).filter(({ title }) => title === "Killed")).toHaveLength(1); // both said the same
    expect(shown.messages).toEqual([]);
  });
});
