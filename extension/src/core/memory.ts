/** The memory of one workspace folder: ask it, and give it jobs. HTTP where a worker runs, else the command line. */

import { randomUUID } from "node:crypto";
import type { Heartbeat, JobFile, Kind, NewJob, Results, Routes } from "#types";
import { drop } from "./drop";
import { MemoryError } from "./error";
import { livingWorker } from "./heartbeat";
import { address, request } from "./http";
import { command, type Program } from "./program";
import { type Answer, argumentsOf, type Request, type Route } from "./read";
import { ended, readRecord, resultOf } from "./records";

/** Codes after which the command line may still answer: the worker has changed or gone since its heartbeat was read. */
const WORKER_CHANGED: ReadonlySet<string> = new Set([
  "HTTP_UNAUTHORIZED",
  "NOT_READY",
  "HTTP_BUSY",
  "HTTP_NO_ROUTE",
  "WORKSPACE_MOVED",
]);
const SUBMITTED_BY = "vscode";
/** A worker that the editor starts ends by itself; the next question or job starts another. */
export const LEAVE_WHEN_IDLE = "--leave-when-idle";

export class Memory {
  /** Jobs that were dropped here, of which it is not known yet that they have ended. */
  private readonly dropped = new Set<string>();

  /**
   * `program` finds the program; it throws MemoryError PROGRAM_NOT_FOUND if it is not set up. `wake` is called when the
   * memory was used and no worker lives, `started` with the id of each worker that was started; both return at once.
   */
  constructor(
    readonly workspace: string,
    private readonly program: () => Promise<Program>,
    private readonly wake: (memory: Memory) => void = () => undefined,
    private readonly started: (workspace: string, workerId: string) => void = () => undefined,
  ) {}

  // --- questions ---

  /** Asks a question, and has a worker started for the next one. */
  async ask<Q extends "retrieve" | "explain" | "context">(
    question: Q,
    body: Routes[`POST /v1/${Q}`]["body"],
    signal: AbortSignal,
  ): Promise<Answer<`POST /v1/${Q}`>> {
    const route = `POST /v1/${question}` as const;
    const answer = await this.send({ route, command: question, values: { ...body } }, signal);
    this.wakeUnlessLiving();
    return answer;
  }

  /**
   * Answers a request: with a worker that lives over HTTP, else with the program. Starts no worker. Throws MemoryError
   * with the answer's code and remedy.
   */
  async send<R extends Route>(asked: Request<R>, signal: AbortSignal): Promise<Answer<R>> {
    const url = address(this.workspace);
    if (url !== null) {
      try {
        return await request(this.workspace, url, asked, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof MemoryError && !WORKER_CHANGED.has(error.code)) throw error;
      }
    }
    return this.command<Answer<R>>(asked.command.split(" "), argumentsOf(asked), signal);
  }

  /** Runs a command of the program for this workspace, and returns its JSON. */
  async command<Answer>(verb: readonly string[], args: readonly string[], signal: AbortSignal): Promise<Answer> {
    return command<Answer>(await this.program(), this.workspace, verb, args, signal);
  }

  /** Makes the folder this user's, and starts a worker unless one runs. */
  async startWorker(signal: AbortSignal): Promise<void> {
    if (livingWorker(this.workspace) === null) await this.begin("start", signal);
  }

  /** Lets the worker finish what it runs, and starts one of the program as it is now. */
  restartWorker(signal: AbortSignal): Promise<void> {
    return this.begin("restart", signal);
  }

  private async begin(verb: "start" | "restart", signal: AbortSignal): Promise<void> {
    type Answer = { readonly started: boolean; readonly worker: { readonly heartbeat: Heartbeat | null } };
    const { started, worker } = await this.command<Answer>(["worker", verb], [LEAVE_WHEN_IDLE], signal);
    if (started && worker.heartbeat !== null) this.started(this.workspace, worker.heartbeat.worker_id);
  }

  /** Starts a worker in the background unless one lives. */
  wakeUnlessLiving(): void {
    if (livingWorker(this.workspace) === null) this.wake(this);
  }

  // --- jobs ---

  /** Drops a job without waiting for anything but the file. Returns its id. */
  async drop<K extends Kind>(job: NewJob<K>): Promise<string> {
    const file = jobFile(job);
    await drop(this.workspace, file as JobFile);
    this.dropped.add(file.job_id);
    this.wakeUnlessLiving();
    return file.job_id;
  }

  /** Whether a job that was dropped here and that a worker accepted has not ended. */
  hasOpenJobs(): boolean {
    for (const jobId of this.dropped) {
      if (readRecord(this.workspace, jobId)?.success !== null) this.dropped.delete(jobId);
    }
    return this.dropped.size > 0;
  }

  /** Drops a job, starts a worker if needed, and waits for the result. When the signal comes, the job goes on. */
  async run<K extends Kind>(job: NewJob<K>, signal: AbortSignal): Promise<Results[K]> {
    await this.startWorker(signal); // before the first drop, so that the folder is this user's
    const jobId = await this.drop(job);
    await this.startWorker(signal); // the worker may have exited meanwhile
    return resultOf<K>(await ended<K>(this.workspace, jobId, signal));
  }
}

/** The job file of a new job: with an id of its own, unless it has one. */
export function jobFile<K extends Kind>(job: NewJob<K>): JobFile<K> {
  return {
    submitted_by: SUBMITTED_BY,
    ...job,
    schema_version: 1,
    job_id: job.job_id ?? `${SUBMITTED_BY}-${randomUUID()}`,
  };
}
