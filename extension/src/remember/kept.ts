/** Jobs that could not be dropped: files in a folder of the extension, until they are dropped or discarded. */

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobOf } from "#types";
import { readAll, writeWhole } from "../core/json-files";

export interface KeptJob {
  readonly job: JobOf<"ingest">;
  readonly topic: string;
  /** The folder whose memory is meant; null if none was open. */
  readonly folder: string | null;
  /** What it waits for, or what went wrong, for a person. */
  readonly reason: string;
  readonly by: "user" | "capture";
}

export class KeptJobs {
  constructor(private readonly folder: string) {}

  /** Throws the error of the file system. */
  async add(kept: KeptJob): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await writeWhole(this.folder, `${kept.job.job_id}.json`, kept);
  }

  /** Those that can be read, in the order of their submission. */
  async all(): Promise<KeptJob[]> {
    return ((await readAll(this.folder)) as Partial<KeptJob>[])
      .filter((each): each is KeptJob => typeof each.job?.job_id === "string" && typeof each.topic === "string")
      .sort((one, other) => (one.job.submitted_at ?? "").localeCompare(other.job.submitted_at ?? ""));
  }

  async remove(jobId: string): Promise<void> {
    await rm(join(this.folder, `${jobId}.json`), { force: true });
  }
}
