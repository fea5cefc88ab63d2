/** The workers that the extension started: noted in its storage, a file for each folder, so that they end with it. */

import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { livingWorker } from "../core/heartbeat";
import { readAll } from "../core/json-files";

/** In the extension's own folder, for the script that the editor runs when it is uninstalled: where the notes are. */
const POINTER = "workers.path";
const POLL_MS = 50;

interface Started {
  readonly workspace: string;
  readonly workerId: string;
}

export class StartedWorkers {
  constructor(private readonly folder: string) {}

  /** As the uninstall script finds it. Rejects if nothing was left for it. */
  static async leftIn(extension: string): Promise<StartedWorkers> {
    return new StartedWorkers(await readFile(join(extension, POINTER), "utf8"));
  }

  /** Says in `extension`, the folder of the bundle, where the notes are. It may be read-only: then workers end when idle. */
  async tellUninstall(extension: string): Promise<void> {
    await writeFile(join(extension, POINTER), this.folder).catch(() => undefined);
  }

  /** Notes a worker, in place of the folder's former one. On a full disk it is not noted, and ends when idle. */
  note(workspace: string, workerId: string): void {
    const name = `${createHash("sha256").update(workspace).digest("hex").slice(0, 32)}.json`;
    const started: Started = { workspace, workerId };
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(this.folder, name), JSON.stringify(started), { mode: 0o600 });
    } catch {
      // as the docstring says
    }
  }

  /**
   * Lets those that live finish what they run, and stop. Returns the folders of those that still run when the signal
   * comes. A worker that somebody else started in one of the folders goes on.
   */
  async stop(signal: AbortSignal): Promise<readonly string[]> {
    let living = await this.living();
    for (const { pid } of living) process.kill(pid, "SIGTERM");
    while (living.length > 0 && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      living = await this.living();
    }
    return living.map(({ workspace }) => workspace);
  }

  private async living(): Promise<readonly { readonly workspace: string; readonly pid: number }[]> {
    const notes = (await readAll(this.folder)) as Started[];
    return notes.flatMap(({ workspace, workerId }) => {
      const worker = livingWorker(workspace);
      return worker?.worker_id === workerId ? [{ workspace, pid: worker.pid }] : [];
    });
  }
}
