/** Notices that the worker of a folder was killed, and has another started for the work that it left. */

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import * as vscode from "vscode";
import { MemoryError } from "../core/error";
import { latestHeartbeat, livingWorker } from "../core/heartbeat";
import { inbox, teamCopy } from "../core/layout";
import type { Memory } from "../core/memory";
import type { Services } from "../core/services";
import { isAwaited, isMissed } from "./decide";

/** Three heartbeats have not come. */
const SILENT_MS = 6000;
/** So many workers of a folder may be killed in a while; then only a drop or a question starts one. */
const MOST_STARTS = 3;
const WHILE_MS = 10 * 60_000;

export class Guard implements vscode.Disposable {
  /** Since the last heartbeat of a folder. */
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly starts = new Map<string, readonly number[]>();
  private readonly subscription: vscode.Disposable;
  private isDisposed = false;

  constructor(
    private readonly services: Services,
    private readonly wake: (memory: Memory) => void,
    private readonly tell: (workspace: string, error: unknown) => void,
  ) {
    this.subscription = services.changes.onDidChange(({ folder, what }) => {
      if (what === "heartbeat") this.listen(folder);
    });
  }

  dispose(): void {
    this.subscription.dispose();
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    this.isDisposed = true;
  }

  private listen(folder: vscode.WorkspaceFolder): void {
    const path = folder.uri.fsPath;
    clearTimeout(this.timers.get(path));
    const timer = setTimeout(() => {
      this.timers.delete(path);
      void this.look(folder);
    }, SILENT_MS);
    this.timers.set(path, timer);
  }

  private async look(folder: vscode.WorkspaceFolder): Promise<void> {
    const memory = this.services.memoryOf(folder);
    const path = memory.workspace;
    const names = await readdir(inbox(path)).catch((): string[] => []);
    if (this.isDisposed) return;
    const worker = livingWorker(path);
    if (worker !== null) this.listen(folder); // it is late: the machine is busy
    const isWaiting = isAwaited(names, existsSync(teamCopy(path)), worker) || memory.hasOpenJobs();
    if (!isMissed(latestHeartbeat(path), worker, isWaiting)) return;
    const earlier = (this.starts.get(path) ?? []).filter((at) => Date.now() - at < WHILE_MS);
    if (earlier.length >= MOST_STARTS) {
      this.tell(
        path,
        new MemoryError(
          "WORKER_KILLED",
          `The worker of ${path} was killed ${MOST_STARTS + 1} times in a short time. Its jobs are kept.`,
          "Run “Cognee Memory: Check Health”. Then “Cognee Memory: Start the Worker” runs the jobs.",
        ),
      );
      return;
    }
    this.starts.set(path, [...earlier, Date.now()]);
    this.services.log.warn(`[Worker] The worker of ${path} is gone, and jobs wait: another is started.`);
    this.wake(memory);
  }
}
