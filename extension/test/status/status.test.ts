import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Memento } from "vscode";
import { type Followed, FollowedJobs, type Outcome, outcomeOf } from "../../src/status/followed";
import { type Follow, tallyOf } from "../../src/status/tally";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "status-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const job = (jobId: string, by: Followed["by"] = "user"): Followed => ({
  jobId,
  folder: root,
  topic: `Topic ${jobId}`,
  by,
});
const follow = (state: Outcome["state"], by: Followed["by"] = "user"): Follow => ({
  ...job(state, by),
  outcome: {
    state,
    generation: 1,
    result: null,
    error: { code: "STORE_BROKEN", message: "It $(broke).", remediation: "Mend it.", retryable: true },
  },
});
const say = (jobs: Follow[], stuck = 0, preparing = 0) => tallyOf(jobs, { stuck, preparing });

describe("what the status bar says", () => {
  it("puts failures first, with their remedy as text", () => {
    const tally = say([follow("running"), follow("failed"), follow("succeeded")], 2);
    expect(tally).toMatchObject({ text: "$(error) Memory: failed", severity: "error" });
    expect(tally.tooltip).toContain("Mend it.");
    expect(tally.tooltip).not.toContain("$(broke)");
    expect(say([follow("failed"), follow("rejected"), follow("expired")]).text).toBe("$(error) Memory: 3 failed");
  });

  it("then what is kept, what is in work, what was remembered, and nothing", () => {
    expect(say([follow("running")], 1)).toMatchObject({
      text: "$(warning) Memory: 1 not stored yet",
      severity: "warning",
    });
    expect(say([follow("queued")], 0, 1).text).toBe("$(sync~spin) Memory: starting");
    expect(say([follow("waiting"), follow("queued")]).text).toBe("$(clock) Memory: 2 queued");
    expect(say([follow("queued"), follow("running"), follow("retrying")]).text).toBe(
      "$(sync~spin) Memory: 1 being stored, 1 queued, 1 trying again",
    );
    expect(say([follow("succeeded")]).text).toBe("$(check) Remembered: Topic succeeded");
    expect(say([follow("succeeded", "capture")]).text).toBe("$(check) Remembered by itself: Topic succeeded");
    expect(say([follow("succeeded"), follow("succeeded")]).text).toBe("$(check) Remembered: Topic succeeded (+1)");
    expect(say([]).text).toBe("$(bookmark) Memory");
  });
});

describe("how a followed job is doing", () => {
  it("is said by its record only: never remembered from hope", () => {
    expect(outcomeOf(job("a")).state).toBe("gone");
    mkdirSync(join(root, ".cognee_jobs", "results"), { recursive: true });
    writeFileSync(join(root, ".cognee_jobs", "a.json"), "{}");
    expect(outcomeOf(job("a")).state).toBe("waiting");
    const record = join(root, ".cognee_jobs", "results", "a.json");
    writeFileSync(record, JSON.stringify({ state: "running", error: null, result: null }));
    expect(outcomeOf(job("a")).state).toBe("running");
    writeFileSync(record, JSON.stringify({ state: "succeeded", error: null, result: { memory_id: "m" } }));
    expect(outcomeOf(job("a"))).toMatchObject({ state: "succeeded", result: { memory_id: "m" } });
    writeFileSync(record, "{");
    expect(outcomeOf(job("a")).state).toBe("waiting");
  });
});

describe("the jobs that are followed", () => {
  it("outlive a reload of the window, with what was captured last", () => {
    const kept = new Map<string, unknown>();
    const state = {
      get: (key: string) => kept.get(key),
      update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)),
    } as unknown as Memento;
    const jobs = new FollowedJobs(state);
    jobs.add(job("a"));
    jobs.add(job("b", "capture"));
    jobs.remove(new Set(["b"]));
    const again = new FollowedJobs(state);
    expect(again.all).toEqual([job("a")]);
    expect(again.captured).toEqual(job("b", "capture"));
    again.forgetCaptured();
    expect(new FollowedJobs(state).captured).toBeNull();
  });
});
