/** The jobs whose end the window waits for: a small file of the workspace, so that a reload of the window loses none. */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { IngestResult, JobError, State } from "#types";
import { inbox } from "../core/layout";
import { readRecord } from "../core/records";

export interface Followed {
  readonly jobId: string;
  /** The workspace folder. */
  readonly folder: string;
  readonly topic: string;
  readonly by: "user" | "capture";
}

/** How a job is doing. `gone`: neither its file nor a record is there (any more). */
export interface Outcome {
  readonly state: State | "waiting" | "gone";
  /** Rises when the job runs again; 0 without a record. */
  readonly generation: number;
  readonly error: JobError | null;
  readonly result: IngestResult | null;
}

const NO_RECORD = { generation: 0, error: null, result: null } as const;

/** Reads how a job is doing from its record. Never throws. */
export function outcomeOf({ folder, jobId }: Followed): Outcome {
  try {
    const isInInbox = existsSync(join(inbox(folder), `${jobId}.json`));
    const record = readRecord<"ingest">(folder, jobId); // after the inbox: the worker writes it before it takes the file
    if (record !== null) {
      const { state, generation, error, result } = record;
      return { state, generation, error, result };
    }
    return { state: isInInbox ? "waiting" : "gone", ...NO_RECORD };
  } catch {
    return { state: "waiting", ...NO_RECORD }; // it is being written
  }
}

interface Saved {
  readonly jobs: Followed[];
  /** What was captured last, for “Undo”. */
  readonly captured: Followed | null;
}

export class FollowedJobs {
  private saved: Saved;

  /** Without a `file`, nothing is kept beyond the window. */
  constructor(private readonly file: string | null) {
    this.saved = read(file);
  }

  get all(): readonly Followed[] {
    return this.saved.jobs;
  }

  get captured(): Followed | null {
    return this.saved.captured;
  }

  add(job: Followed): void {
    this.write({
      jobs: [...this.saved.jobs.filter(({ jobId }) => jobId !== job.jobId), job],
      captured: job.by === "capture" ? job : this.saved.captured,
    });
  }

  remove(jobs: ReadonlySet<string>): void {
    if (jobs.size === 0) return;
    this.write({ ...this.saved, jobs: this.saved.jobs.filter(({ jobId }) => !jobs.has(jobId)) });
  }

  forgetCaptured(): void {
    this.write({ ...this.saved, captured: null });
  }

  private write(saved: Saved): void {
    this.saved = saved;
    if (this.file === null) return;
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      writeFileSync(`${this.file}.tmp`, JSON.stringify(saved), { mode: 0o600 });
      renameSync(`${this.file}.tmp`, this.file);
    } catch {
      // the disk is full or busy: the window follows the jobs, only a reload would not
    }
  }
}

function read(file: string | null): Saved {
  try {
    const saved = JSON.parse(readFileSync(file ?? "", "utf8")) as Partial<Saved>;
    return { jobs: saved.jobs ?? [], captured: saved.captured ?? null };
  } catch {
    return { jobs: [], captured: null };
  }
}
