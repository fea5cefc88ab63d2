/** The worker is killed in the middle of what the user does: the question is answered, each job runs once. */

import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JobRecord, Summary } from "#types";
import { livingWorker } from "../../src/core/heartbeat";
import { results } from "../../src/core/layout";
import { ended } from "../../src/core/records";
import { compactionsOf, memoriesOf } from "../../src/recall/reads";
import { commands, reset, shown, user } from "../vscode";
import { PROGRAM, type Session, session } from "../live/session";

/** Much longer than anything takes; the machine may be busy. */
const LONG = 180_000;
const soon = () => AbortSignal.timeout(LONG);

describe.skipIf(PROGRAM === "")("the worker is killed", { timeout: 2 * LONG }, () => {
  let my: Session;
  const worker = () => livingWorker(my.folder);
  const summary = (decision: string): Summary => ({
    topic: "Retry policy",
    topic_id: "retry-policy",
    context: "How uploads are tried again.",
    decisions: [decision],
  });
  const total = async () => (await memoriesOf(my.memory, { limit: 50 }, soon())).total;
  const kill = async (): Promise<number> => {
    const pid = worker()?.pid;
    if (pid === undefined) throw new Error("no worker");
    process.kill(pid, "SIGKILL");
    await expect.poll(worker, { timeout: LONG }).not.toMatchObject({ pid });
    return pid;
  };
  /** By the records: a heartbeat may tell of a job when it has ended. */
  const isUnderWay = (kind: string): boolean =>
    readdirSync(results(my.folder))
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(join(results(my.folder), name), "utf8")) as JobRecord)
      .some((record) => record.kind === kind && (record.state === "queued" || record.state === "running"));
  const restarts = () => my.log.filter((line) => line.includes("another is started")).length;

  beforeAll(async () => {
    reset();
    my = session({ hasLife: true });
    mkdirSync(my.folder, { recursive: true });
    for (const decision of ["Use five retries", "Log each retry"]) {
      await my.memory.run({ kind: "ingest", payload: { summary: summary(decision) } }, soon());
    }
  }, 2 * LONG);
  beforeEach(() => {
    reset();
    my.log.length = 0;
  });
  afterAll(() => my.end(), LONG);

  it("during a recall: it is answered, and the next question has a worker again", async () => {
    const asked = my.memory.ask("retrieve", { query: "how many retries" }, soon());
    // the first question has the worker start the process that answers
    await expect.poll(() => worker()?.http?.server, { timeout: LONG, interval: 5 }).toBeTruthy();
    await kill();
    expect((await asked).results[0]?.topic).toBe("Retry policy");
    expect((await my.memory.ask("retrieve", { query: "how many retries" }, soon())).results).toHaveLength(2);
    await expect.poll(() => worker()?.state, { timeout: LONG }).toBe("ready");
    expect(shown.messages).toEqual([]);
  });

  it("just after a drop: another worker remembers it, once", async () => {
    const before = await total();
    const jobId = await my.memory.drop({ kind: "ingest", payload: { summary: summary("Wait a second between two") } });
    const pid = await kill();
    const record = await ended<"ingest">(my.folder, jobId, soon());
    expect(record).toMatchObject({ state: "succeeded", generation: 1 });
    expect(worker()?.pid).not.toBe(pid);
    expect(await total()).toBe(before + 1);
    expect(restarts()).toBe(1);
    expect(shown.messages).toEqual([]);
  });

  it("during the preview of a compaction: the preview comes, and is applied once", async () => {
    let killed: Promise<number> | undefined;
    user.picks = [
      (items) => {
        const began = setInterval(() => {
          if (!isUnderWay("compact")) return;
          clearInterval(began);
          killed = kill();
        }, 1);
        return items[0]; // the topic
      },
      (items) => items.find(({ label }) => label === "Confirm"),
    ];
    user.presses = [undefined];
    await commands.executeCommand("cognee.compactMemories");
    await killed;
    expect(killed).toBeDefined();
    expect(shown.messages.join("\n")).toMatch(/^Compacted 3 summaries for topic retry-policy\./u);
    expect(await compactionsOf(my.memory, null, soon())).toHaveLength(1);
    expect(await total()).toBe(4);
    expect(restarts()).toBe(1);
  });
});
