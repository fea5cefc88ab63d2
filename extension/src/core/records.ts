/** The records of jobs in `results/`: the only truth about how a job is doing. */

import { readFileSync, watch, type FSWatcher } from "node:fs";
import type { EndedRecord, JobRecord, Kind, Results } from "#types";
import { MemoryError } from "./error";
import { recordFile, results } from "./layout";

const LOOK_AGAIN_MS = 1000;
/** The record is not there yet, or is being replaced on Windows. */
const PASSING = new Set(["ENOENT", "EPERM", "EACCES", "EBUSY"]);

/** The record of a job; null if no worker has accepted the job yet. */
export function readRecord<K extends Kind>(workspace: string, jobId: string): JobRecord<K> | null {
  try {
    return JSON.parse(readFileSync(recordFile(workspace, jobId), "utf8")) as JobRecord<K>;
  } catch (error) {
    if (PASSING.has((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

/**
 * Waits until a job has ended. Events of the file system make it quick, and a look each second makes it sure. When the
 * signal comes, it throws the signal's reason; the job goes on.
 */
export function ended<K extends Kind>(workspace: string, jobId: string, signal: AbortSignal): Promise<EndedRecord<K>> {
  return new Promise((resolve, reject) => {
    let watcher: FSWatcher | undefined;
    const finish = (settle: () => void): void => {
      clearInterval(timer);
      watcher?.close();
      signal.removeEventListener("abort", stop);
      settle();
    };
    const stop = (): void => finish(() => reject(signal.reason as Error));
    const look = (): void => {
      watcher ??= watchResults(workspace, look);
      try {
        const record = readRecord<K>(workspace, jobId);
        if (record !== null && record.success !== null) finish(() => resolve(record));
      } catch (error) {
        finish(() => reject(error instanceof Error ? error : new Error(String(error))));
      }
    };
    const timer = setInterval(look, LOOK_AGAIN_MS);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    else look();
  });
}

/** A watcher of the folder of records; undefined while the folder is not there. */
function watchResults(workspace: string, look: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(results(workspace), look);
    watcher.on("error", () => undefined); // the looks each second go on
    return watcher;
  } catch {
    return undefined;
  }
}

/** The result of a job that ended; throws what the record says if it did not succeed. */
export function resultOf<K extends Kind>(record: EndedRecord<K>): Results[K] {
  if (record.success) return record.result;
  const { state, error } = record;
  if (error === null) throw new MemoryError("CANCELLED", `The job was ${state}.`);
  throw new MemoryError(error.code, error.message, error.remediation);
}
