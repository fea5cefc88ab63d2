import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type KeptJob, KeptJobs } from "../../src/remember/kept";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kept-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const kept = (id: string, submitted_at: string): KeptJob => ({
  job: {
    schema_version: 1,
    job_id: id,
    kind: "ingest",
    payload: { summary: { topic: "T", context: "c" } },
    submitted_at,
  },
  topic: "T",
  folder: null,
  reason: "No folder was open.",
  by: "user",
});

it("keeps jobs as private files, in their order, until they are removed", async () => {
  const jobs = new KeptJobs(join(folder, "kept"));
  expect(await jobs.all()).toEqual([]);
  const [first, second] = [kept("b", "2026-01-01T00:00:00Z"), kept("a", "2026-01-02T00:00:00Z")];
  await jobs.add(second);
  await jobs.add(first);
  await jobs.add(first);
  writeFileSync(join(folder, "kept", "broken.json"), "{");
  writeFileSync(join(folder, "kept", ".half.tmp"), "{");
  expect(await jobs.all()).toEqual([first, second]);
  expect(statSync(join(folder, "kept", "a.json")).mode & 0o777).toBe(0o600);
  await jobs.remove("a");
  await jobs.remove("a");
  expect(await jobs.all()).toEqual([first]);
});

it("throws where it cannot write", async () => {
  writeFileSync(join(folder, "file"), "");
  await expect(new KeptJobs(join(folder, "file")).add(kept("a", ""))).rejects.toThrow(/EEXIST|ENOTDIR/u);
});
