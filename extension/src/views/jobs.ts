/** The jobs of a workspace as its files have them, whether they came by file or over HTTP. Needs no worker. */

import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { JobError, JobRecord, Kind, RejectionReason, State } from "#types";
import { inbox, rejected, results } from "../core/layout";

/** A job that waits in the inbox has no record yet; a rejected file may never have been a job. */
export interface Job {
  /** The job's id, or the name of a rejected file. */
  readonly id: string;
  readonly kind: Kind | null;
  readonly state: State | "waiting";
  readonly error: JobError | null;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** When it came to this state, as far as that is known. */
  readonly at: string | null;
  readonly nextAttemptAt: string | null;
  /** The id that a rejected file was dropped under. */
  readonly droppedAs?: string;
}

const READ_AT_ONCE = 64;
const REASON = ".reason.json";

export class Jobs {
  private readonly byFile = new Map<string, Job>();

  /** The latest read of a file that goes on: reads of one file may end in another order than they began. */
  private readonly reads = new Map<string, symbol>();

  constructor(private readonly workspace: string) {}

  /** Each job once: its record counts more than its file in the inbox or in `rejected/`. */
  all(): Job[] {
    const jobs = [...this.byFile.values()];
    const recorded = new Map(
      jobs.flatMap(({ id, state, kind }) => (kind !== null || state === "rejected" ? [[id, state]] : [])),
    );
    return jobs.filter((job) => {
      if (job.state === "waiting") return !recorded.has(job.id);
      return job.droppedAs === undefined || recorded.get(job.droppedAs) !== "rejected";
    });
  }

  /** Reads all files. */
  async load(signal: AbortSignal): Promise<void> {
    this.byFile.clear();
    const folders = [inbox(this.workspace), results(this.workspace), rejected(this.workspace)];
    const files = (await Promise.all(folders.map(filesIn))).flat();
    for (let from = 0; from < files.length; from += READ_AT_ONCE) {
      signal.throwIfAborted();
      await Promise.all(files.slice(from, from + READ_AT_ONCE).map((file) => this.update(file)));
    }
  }

  /** Reads a file that was made, changed or removed. */
  async update(path: string): Promise<void> {
    const turn = Symbol(path);
    this.reads.set(path, turn);
    const job = await this.read(path);
    if (this.reads.get(path) !== turn) return; // a read that began later sees what is at least as new
    this.reads.delete(path);
    if (job === "busy") return; // it is being replaced; another event follows
    if (job === null) this.byFile.delete(path);
    else this.byFile.set(path, job);
  }

  private async read(path: string): Promise<Job | "busy" | null> {
    const name = basename(path);
    if (name.startsWith(".") || !name.endsWith(".json")) return null;
    const folder = dirname(path);
    try {
      const text = await readFile(path, "utf8");
      if (folder === inbox(this.workspace)) return waiting(name);
      if (folder === results(this.workspace)) return ofRecord(JSON.parse(text) as JobRecord);
      return name.endsWith(REASON) ? ofReason(JSON.parse(text) as RejectionReason) : null;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === "EPERM" || code === "EACCES" || code === "EBUSY" ? "busy" : null;
    }
  }
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).map((name) => join(folder, name));
  } catch {
    return []; // nothing has been dropped or rejected yet
  }
}

const waiting = (name: string): Job => ({
  id: name.slice(0, -".json".length),
  kind: null,
  state: "waiting",
  error: null,
  attempt: 0,
  maxAttempts: 0,
  at: null,
  nextAttemptAt: null,
});

function ofRecord(record: JobRecord): Job {
  return {
    id: record.job_id,
    kind: record.kind,
    state: record.state,
    error: record.error,
    attempt: record.attempt,
    maxAttempts: record.max_attempts,
    at: record.finished_at ?? record.started_at ?? record.accepted_at,
    nextAttemptAt: record.next_attempt_at,
  };
}

const ofReason = (reason: RejectionReason): Job => ({
  ...waiting(reason.kept_as),
  id: reason.kept_as,
  state: "rejected",
  error: reason.error,
  at: reason.rejected_at,
  droppedAs: waiting(reason.file).id,
});
