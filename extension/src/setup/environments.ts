/** The environments that the extension made, in its folder on this machine: which are there, and which is in use. */

import { lstat, mkdir, open, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { readJson, writeWhole } from "../core/json-files";
import { alreadyRunning } from "./failure";
import { outdated, type Environment, type Stock } from "./plan";

const CURRENT = "current.json";
const COMPLETE = "complete.json";
const GRAPH = "graph.json";
const LOCK = "set-up.lock";
/** A lock whose owner has not renewed it for this long belongs to a window that was ended. */
const LOCK_MS = 120_000;
const RENEW_MS = 20_000;
/** The unit of `blocks` in a file's status, whatever the file system's own. */
const BLOCK = 512;

export class Environments {
  constructor(readonly folder: string) {}

  path(name: string): string {
    return join(this.folder, name);
  }

  /** What is there; nothing if the folder does not exist. */
  async stock(): Promise<Stock> {
    const entries = await readdir(this.folder, { withFileTypes: true }).catch(() => []);
    const environments = entries
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }): Promise<Environment> => ({
        name,
        build: await readText(join(this.path(name), COMPLETE), "build"),
        hasGraph: (await readText(join(this.path(name), GRAPH), "graph")) !== null,
      }));
    return { environments: await Promise.all(environments), current: await this.current() };
  }

  /** The environment in use; null before the first set-up. */
  async current(): Promise<string | null> {
    return readText(join(this.folder, CURRENT), "environment");
  }

  /** Notes that everything is installed in an environment, and works. */
  async complete(name: string, build: string): Promise<void> {
    await writeWhole(this.path(name), COMPLETE, { build });
  }

  /** Notes that the knowledge graph was added to an environment. */
  async addGraph(name: string): Promise<void> {
    await writeWhole(this.path(name), GRAPH, { graph: "added" });
  }

  /** Makes an environment the one in use. */
  async use(name: string): Promise<void> {
    await writeWhole(this.folder, CURRENT, { environment: name });
  }

  /** Removes an environment; first its mark, so that what remains after an interruption counts as unfinished. */
  async remove(name: string): Promise<void> {
    await rm(join(this.path(name), COMPLETE), { force: true });
    await rm(this.path(name), { recursive: true, force: true, maxRetries: 3 });
  }

  /** Removes all environments; first the mark of the one in use, so that nobody starts it any more. */
  async removeAll(): Promise<void> {
    await rm(join(this.folder, CURRENT), { force: true });
    for (const { name } of (await this.stock()).environments) await this.remove(name);
  }

  /** Bytes on the disk: `own` comes back when the environments are removed, `shared` is in uv's cache too. */
  async size(): Promise<{ readonly own: number; readonly shared: number }> {
    const [total, entries] = [
      { own: 0, shared: 0 },
      await readdir(this.folder, { recursive: true, withFileTypes: true }).catch(() => []),
    ];
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      const { blocks, nlink } = await lstat(join(entry.parentPath, entry.name));
      total[nlink > 1 ? "shared" : "own"] += blocks * BLOCK;
    }
    return total;
  }

  /** Removes the environments that are not needed any more. On Windows, one whose files are open stays until next time. */
  async removeOutdated(now: number): Promise<void> {
    const { mtimeMs: switched } = await stat(join(this.folder, CURRENT));
    if (outdated(await this.stock(), switched, now).length === 0) return;
    await this.exclusively(async () => {
      for (const name of outdated(await this.stock(), switched, now)) await this.remove(name).catch(() => undefined);
    });
  }

  /**
   * Runs `work` while no other window does the same. Throws MemoryError SETUP_RUNNING if one does. The lock is a file
   * with the owner's process; that of a window that was ended is taken over.
   */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const lock = join(this.folder, LOCK);
    if (await isAbandoned(lock)) await rm(lock, { force: true });
    try {
      const file = await open(lock, "wx", 0o600);
      await file.writeFile(JSON.stringify({ pid: String(process.pid) }));
      await file.close();
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === "EEXIST" ? alreadyRunning() : error;
    }
    const renewal = setInterval(() => void renew(lock), RENEW_MS);
    try {
      return await work();
    } finally {
      clearInterval(renewal);
      await rm(lock, { force: true });
    }
  }
}

async function renew(lock: string): Promise<void> {
  const now = new Date();
  await utimes(lock, now, now).catch(() => undefined); // a full disk, for example; the lock is still there
}

async function isAbandoned(lock: string): Promise<boolean> {
  try {
    if (Date.now() - (await stat(lock)).mtimeMs > LOCK_MS) return true;
    const pid = Number(await readText(lock, "pid"));
    if (!Number.isInteger(pid) || pid <= 0) return false; // its owner is just writing it
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

async function readText(file: string, field: string): Promise<string | null> {
  const value = ((await readJson(file)) as Record<string, unknown> | null)?.[field];
  return typeof value === "string" ? value : null;
}
