/** Folders of JSON files: each is written as a whole, and read if it can be. */

import { randomUUID } from "node:crypto";
import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Errors of a rename that pass on Windows, where a virus scanner may hold the file for a moment. */
const PASSING = new Set(["EPERM", "EACCES", "EBUSY"]);
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 10;

/** What a file holds; null if it cannot be read: it is damaged, being replaced, or not there (any more). */
export async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as unknown;
  } catch {
    return null;
  }
}

/** What the files of a folder hold, without those that cannot be read; nothing if the folder is not there. */
export async function readAll(folder: string): Promise<unknown[]> {
  const names = await readdir(folder).catch((): string[] => []);
  const files = names.filter((name) => name.endsWith(".json") && !name.startsWith("."));
  const all = await Promise.all(files.map((name) => readJson(join(folder, name))));
  return all.filter((each) => each !== null);
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
