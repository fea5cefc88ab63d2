import { describe, expect, it } from "vitest";
import type { InFlight, JobError } from "#types";
import { when } from "../../src/core/text";
import type { Job } from "../../src/views/jobs";
import { type About, childrenOf, type QueueNode, rowOf, topOf } from "../../src/views/queue";

const error = (code: string): JobError => ({
  code,
  message: `It was ${code}.`,
  remediation: "Do this.",
  retryable: false,
});
const job = (id: string, state: Job["state"], more: Partial<Job> = {}): Job => ({
  id,
  kind: "ingest",
  state,
  error: null,
  attempt: 1,
  maxAttempts: 4,
  at: "2026-11-20T11:58:00Z",
  nextAttemptAt: null,
  ...more,
});
const AT = when(job("a", "queued").at);
const NONE: ReadonlyMap<string, About> = new Map();

describe("the queue", () => {
  it("shows what runs, waits and failed by cause, the most frequent first", () => {
    const top = topOf([
      job("a", "succeeded"),
      job("b", "failed", { error: error("DISK_FULL") }),
      job("c", "failed", { error: error("JOB_TIMEOUT") }),
      job("d", "rejected", { error: error("JOB_TIMEOUT") }),
      job("e", "retrying", { error: error("STORE_BUSY") }),
      job("f", "running"),
      job("g", "waiting"),
    ]);
    expect(top.map((node) => [rowOf(node).label, rowOf(node).description])).toEqual([
      ["Running", "1"],
      ["Waiting", "2"],
      ["It was JOB_TIMEOUT.", "2 · JOB_TIMEOUT"],
      ["It was DISK_FULL.", "1 · DISK_FULL"],
      ["Ended last", "1"],
    ]);
    expect(rowOf(top[2] as QueueNode).tooltip).toBe("It was JOB_TIMEOUT.\n\nDo this.");
  });

  it("is empty without jobs, so that the welcome text is shown", () => expect(topOf([])).toEqual([]));

  it("shows the progress of a running job", () => {
    const [running] = topOf([job("f", "running", { kind: "migrate" })]);
    const inFlight = [
      { job_id: "f", kind: "migrate", jobs: 1, seconds: 3, progress: { done: 1, total: 3, message: "texts" } },
    ];
    const [child] = childrenOf(running as QueueNode, inFlight as InFlight[], NONE);
    expect(rowOf(child as QueueNode)).toMatchObject({
      label: "Migrate",
      description: `runs 33 % · texts · ${AT}`,
    });
  });

  it("says what a job is about, and the memory that it made", () => {
    const [done] = topOf([job("a", "succeeded"), job("b", "succeeded")]);
    const about = new Map([["a", { subject: "Loan $(x) periods", memory_numbers: [12] }]]);
    const rows = childrenOf(done as QueueNode, [], about).map((node) => rowOf(node));
    expect(rows.map(({ label, description }) => [label, description])).toEqual([
      ["Remember: Loan $\u200b(x) periods", `succeeded · ${AT} · #12`],
      ["Remember", `succeeded · ${AT}`],
    ]);
  });

  it("shows a hundred jobs of a cause, and counts the others", () => {
    const failed = Array.from({ length: 130 }, (_, n) => job(`j${n}`, "failed", { error: error("DISK_FULL") }));
    const [cause] = topOf(failed);
    const children = childrenOf(cause as QueueNode, [], NONE);
    expect([children.length, rowOf(children.at(-1) as QueueNode).label]).toEqual([101, "and 30 more"]);
  });
});
