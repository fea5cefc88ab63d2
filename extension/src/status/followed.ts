/** The jobs whose end the window waits for: the editor keeps them with the workspace, so that a reload of the window loses none. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type * as vscode from "vscode";
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

const JOBS = "cognee.followed";
/** What was captured last, for “Undo”. */
const CAPTURED = "cognee.captured";

export class FollowedJobs {
  /** `state` is the editor's storage for the workspace. */
  constructor(private readonly state: vscode.Memento) {}

  get all(): readonly Followed[] {
    return this.state.get<readonly Followed[]>(JOBS) ?? [];
  }

  get captured(): Followed | null {
    return this.state.get<Followed>(CAPTURED) ?? null;
  }

  add(job: Followed): void {
    void this.state.update(JOBS, [...this.all.filter(({ jobId }) => jobId !== job.jobId), job]);
    if (job.by === "capture") void this.state.update(CAPTURED, job);
  }

  remove(jobs: ReadonlySet<string>): void {
    if (jobs.size === 0) return;
    const left = this.all.filter(({ jobId }) => !jobs.has(jobId));
    void this.state.update(JOBS, left);
  }

  forgetCaptured(): void {
    void this.state.update(CAPTURED, undefined);
  }
}
