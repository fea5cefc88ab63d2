import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Jobs } from "../../src/views/jobs";

let workspace: string;
beforeEach(() => (workspace = mkdtempSync(join(tmpdir(), "jobs "))));
afterEach(() => rmSync(workspace, { recursive: true }));

const path = (...names: string[]): string => join(workspace, ".cognee_jobs", ...names);

function write(file: string, value: unknown): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
  return file;
}

const record = (job_id: string, state: string, kind: string | null = "ingest") => ({
  job_id,
  kind,
  state,
  attempt: 1,
  max_attempts: 4,
  error: null,
  finished_at: null,
  started_at: null,
  accepted_at: "2026-11-20T12:00:00Z",
  next_attempt_at: null,
});
const reason = (file: string, kept_as: string) => ({ file, kept_as, rejected_at: "2026-11-20T12:00:00Z", error: null });

async function states(jobs: Jobs): Promise<string[]> {
  return Promise.resolve(
    jobs
      .all()
      .map(({ id, state }) => `${id} ${state}`)
      .sort(),
  );
}

describe("the jobs of a workspace", () => {
  it("are none before anything was dropped", async () => {
    const jobs = new Jobs(workspace);
    await jobs.load(AbortSignal.timeout(5000));
    expect(jobs.all()).toEqual([]);
  });

  it("are each read once, from the inbox, the records and the rejected files", async () => {
    write(path("waits.json"), "{}");
    write(path("accepted.json"), "{}");
    write(path(".part.tmp"), "{");
    write(path("results", "accepted.json"), record("accepted", "queued"));
    write(path("results", "bad.json"), record("bad", "rejected", null));
    write(path("rejected", "bad.1.json"), "{");
    write(path("rejected", "bad.1.reason.json"), reason("bad.json", "bad.1.json"));
    write(path("rejected", "no job.1.reason.json"), reason("no job.json", "no job.1.json"));
    const jobs = new Jobs(workspace);
    await jobs.load(AbortSignal.timeout(5000));
    expect(await states(jobs)).toEqual(["accepted queued", "bad rejected", "no job.1.json rejected", "waits waiting"]);
  });

  it("follow a file that changes or goes, and survive one that is damaged", async () => {
    const file = write(path("results", "a.json"), record("a", "running"));
    const jobs = new Jobs(workspace);
    await jobs.load(AbortSignal.timeout(5000));
    write(file, record("a", "succeeded"));
    await jobs.update(file);
    expect(await states(jobs)).toEqual(["a succeeded"]);
    write(file, '{"job_id":');
    await jobs.update(file);
    expect(jobs.all()).toEqual([]);
    write(file, record("a", "failed"));
    await jobs.update(file);
    rmSync(file);
    await jobs.update(file);
    expect(jobs.all()).toEqual([]);
  });
});
