/** Drops a job file into a workspace's inbox: the whole file appears at once, and survives a power cut. */

import { mkdir } from "node:fs/promises";
import type { JobFile } from "#types";
import { MemoryError } from "./error";
import { writeWhole } from "./json-files";
import { inbox } from "./layout";
import { isOwnFolder } from "./own";

/**
 * Writes a hidden file, syncs it, and renames it to `<job_id>.json`. An equal file that is dropped again, as by another
 * window at the same time, is accepted once. Throws the error of the file system, such as ENOSPC, or MemoryError
 * WORKSPACE_NOT_TRUSTED for an inbox of another user; then no file of this job remains.
 */
export async function drop(workspace: string, job: JobFile): Promise<void> {
  const folder = inbox(workspace);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!isOwnFolder(folder)) {
    throw new MemoryError(
      "WORKSPACE_NOT_TRUSTED",
      `${folder} belongs to another user, or is a link. Nothing was written to it.`,
      "Use a folder of your own.",
    );
  }
  await writeWhole(folder, `${job.job_id}.json`, job);
}
