/** Workers of the window's folders: started when they are needed, never in an untrusted workspace. */

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import * as vscode from "vscode";
import { describe, isAbort, MemoryError } from "../core/error";
import { livingWorker } from "../core/heartbeat";
import { inbox, teamCopy } from "../core/layout";
import type { Memory } from "../core/memory";
import type { Services } from "../core/services";
import { isAwaited, isOutdated } from "./decide";
import { Guard } from "./guard";

export class Workers implements vscode.Disposable {
  private readonly starting = new Map<string, Promise<void>>();
  /** The error of a folder's last start: it is shown once, until a start succeeds. */
  private readonly shown = new Map<string, string>();
  private readonly disposal = new AbortController();

  private readonly guard: Guard;

  constructor(private readonly services: Services) {
    this.guard = new Guard(
      services,
      (memory) => this.wake(memory),
      (workspace, error) => this.tell(workspace, error),
    );
  }

  /** Looks at the window's folders, now and when they, the program or a memory call for it. */
  begin(): vscode.Disposable {
    const inBackground = (work: Promise<void>): void =>
      void work.catch((error: unknown) => this.services.log.error(describe(error)));
    const look = (): void => inBackground(this.lookAtAll());
    look();
    return vscode.Disposable.from(
      this,
      this.services.onDidNeedWorker((memory) => this.wake(memory)),
      this.services.programs.onDidChange((change) =>
        change === "installed" ? inBackground(this.restartAll()) : look(),
      ),
      vscode.workspace.onDidGrantWorkspaceTrust(look),
      vscode.workspace.onDidChangeWorkspaceFolders(look),
    );
  }

  dispose(): void {
    this.guard.dispose();
    this.disposal.abort();
  }

  /** Starts a worker in the background, unless one is being started. An error is shown once. */
  wake(memory: Memory): void {
    if (!vscode.workspace.isTrusted || this.disposal.signal.aborted) return;
    if (this.starting.has(memory.workspace)) return;
    const start = memory
      .startWorker(this.disposal.signal)
      .then(() => void this.shown.delete(memory.workspace))
      .catch((error: unknown) => this.tell(memory.workspace, error))
      .finally(() => void this.starting.delete(memory.workspace));
    this.starting.set(memory.workspace, start);
  }

  /**
   * Starts workers for jobs that wait since the editor was closed, and for copies of a team's memory, and replaces those
   * of a former version.
   */
  async lookAtAll(): Promise<void> {
    if (!vscode.workspace.isTrusted) return;
    for (const folder of this.services.folders()) {
      const memory = this.services.memoryOf(folder);
      const worker = livingWorker(memory.workspace);
      const names = await readdir(inbox(memory.workspace)).catch((): string[] => []);
      if (isAwaited(names, existsSync(teamCopy(memory.workspace)), worker)) this.wake(memory);
      if (worker === null) continue;
      const program = await this.services.programs.find().catch(() => null);
      if (program !== null && isOutdated(worker, program.version)) await this.restart(memory);
    }
  }

  /** Restarts the workers that live in the window's folders: their program was replaced. */
  async restartAll(): Promise<void> {
    if (!vscode.workspace.isTrusted) return;
    for (const folder of this.services.folders()) {
      const memory = this.services.memoryOf(folder);
      if (livingWorker(memory.workspace) !== null) await this.restart(memory);
    }
    await this.lookAtAll();
  }

  private async restart(memory: Memory): Promise<void> {
    this.services.log.info(`Restarting the worker of ${memory.workspace}: its program was updated.`);
    await memory.restartWorker(this.disposal.signal).catch((error: unknown) => this.tell(memory.workspace, error));
  }

  private tell(workspace: string, error: unknown): void {
    if (isAbort(error)) return;
    const code = error instanceof MemoryError ? error.code : describe(error);
    this.services.log.error(`${workspace}: ${describe(error)}`);
    if (this.shown.get(workspace) === code) return;
    this.shown.set(workspace, code);
    void this.services.show(error);
  }
}
