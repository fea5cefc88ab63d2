/** Drops a job file into a workspace's inbox: the whole file appears at once, and survives a power cut. */

import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { JobFile } from "#types";
import { MemoryError } from "./error";
import { inbox } from "./layout";
import { isOwnFolder } from "./own";

/** Errors of a rename that pass on Windows, where a virus scanner may hold the file for a moment. */
const PASSING = new Set(["EPERM", "EACCES", "EBUSY"]);
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 10;

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

/** Writes a JSON file of a folder, synced: the whole file appears at once. Throws the error of the file system; then nothing of it remains. */
export async function writeWhole(folder: string, name: string, content: unknown): Promise<void> {
  const part = join(folder, `.${name}.${randomUUID()}.tmp`);
  try {
    const file = await open(part, "w", 0o600);
    try {
      await file.writeFile(JSON.stringify(content));
      await file.sync();
    } finally {
      await file.close();
    }
    await renameWithRetries(part, join(folder, name));
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function renameWithRetries(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await rename(from, to);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !PASSING.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
      await pause(FIRST_PAUSE_MS * 2 ** attempt);
    }
  }
}
