/** Jobs that could not be dropped: files in a folder of the extension, until they are dropped or discarded. */

import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobOf } from "#types";
import { writeWhole } from "../core/drop";

/** Why a job was kept. A `first` job waits until a worker has made the folder this user's. */
export type Cause = "first" | "no-folder" | "restricted" | "error";

export interface KeptJob {
  readonly job: JobOf<"ingest">;
  readonly topic: string;
  /** The folder whose memory is meant; null if none was open. */
  readonly folder: string | null;
  readonly cause: Cause;
  /** What went wrong, for a person. */
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
    const names = await readdir(this.folder).catch((): string[] => []);
    const kept = await Promise.all(
      names
        .filter((name) => name.endsWith(".json") && !name.startsWith("."))
        .map(async (name) => parse(await readFile(join(this.folder, name), "utf8").catch(() => ""))),
    );
    return kept
      .filter((each) => each !== null)
      .sort((one, other) => (one.job.submitted_at ?? "").localeCompare(other.job.submitted_at ?? ""));
  }

  async remove(jobId: string): Promise<void> {
    await rm(join(this.folder, `${jobId}.json`), { force: true });
  }
}

function parse(text: string): KeptJob | null {
  try {
    const kept = JSON.parse(text) as Partial<KeptJob>;
    return typeof kept.job?.job_id === "string" && typeof kept.topic === "string" ? (kept as KeptJob) : null;
  } catch {
    return null; // another window has dropped it meanwhile, or it is no file of ours
  }
}
