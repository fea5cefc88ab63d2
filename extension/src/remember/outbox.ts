/** Gives summaries to a folder's memory without waiting for it. What cannot be dropped is kept and tried again. */

import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { offer } from "../core/ask";
import { describe, MemoryError } from "../core/error";
import { livingWorker } from "../core/heartbeat";
import { ownerFile } from "../core/layout";
import { jobFile } from "../core/memory";
import { isOwnFile } from "../core/own";
import { plain } from "../core/text";
import type { Services } from "../core/services";
import type { StatusBar } from "../status/bar";
import { type KeptJob, KeptJobs } from "./kept";
import { idOf, type Session, sessionAt } from "./session";
import { type Draft, summaryOf } from "./summary";

const SESSION = "cognee.session";

/** `dropped`: its file is in the inbox. `kept`: it could not be dropped (yet), and will be tried again. */
export type Sent = "dropped" | "kept";

export class Outbox {
  private readonly kept: KeptJobs;
  /** The sending of each folder's first jobs, which waits for a worker. */
  private readonly firsts = new Map<string, Promise<unknown>>();

  constructor(
    private readonly services: Services,
    private readonly bar: StatusBar,
  ) {
    this.kept = new KeptJobs(vscode.Uri.joinPath(services.context.globalStorageUri, "kept").fsPath);
    const again = (): void => void this.sendKept().catch((error: unknown) => services.log.error(describe(error)));
    services.owns(
      services.programs.onDidChange(again),
      vscode.workspace.onDidGrantWorkspaceTrust(again),
      vscode.workspace.onDidChangeWorkspaceFolders(again),
    );
  }

  /**
   * Drops a summary into a folder's memory, or keeps it: `folder` is null if none is open. Returns when it is on the
   * disk. Throws MemoryError NOT_KEPT if not even that is possible; then the caller keeps the text on the screen.
   */
  async send(folder: vscode.WorkspaceFolder | null, draft: Draft, by: KeptJob["by"] = "user"): Promise<Sent> {
    const summary = summaryOf(draft, await this.session(by === "capture"));
    const kept = (reason: string): KeptJob => ({
      job: jobFile({ kind: "ingest", payload: { summary }, submitted_at: new Date().toISOString() }),
      topic: draft.topic,
      folder: folder?.uri.fsPath ?? null,
      reason,
      by,
    });
    if (folder === null) return this.keep(kept("No folder was open."));
    if (!vscode.workspace.isTrusted) return this.keep(kept("The workspace was in Restricted Mode."));
    const job = kept("The folder's memory is being prepared.");
    if (!isPrepared(folder)) {
      await this.keep(job, false);
      this.sendFirst(folder);
      return "kept";
    }
    try {
      await this.drop(folder, job);
      return "dropped";
    } catch (error) {
      return this.keep({ ...job, reason: describe(error) });
    }
  }

  /** Drops what was kept for the folders of this window. Returns how many could not be dropped. */
  async sendKept(): Promise<number> {
    const all = await this.kept.all();
    if (vscode.workspace.isTrusted) {
      for (const each of all) {
        const folder = this.services.folders().find(({ uri }) => uri.fsPath === each.folder);
        if (folder === undefined) continue;
        if (isPrepared(folder)) await this.sendOne(folder, each).catch((error: unknown) => this.log(error));
        else this.sendFirst(folder);
      }
    }
    return this.count();
  }

  /** Sends what could not be stored when the window was closed, or else offers it. */
  async offerKept(): Promise<void> {
    const count = await this.sendKept();
    if (count === 0) return;
    offer(this.services, `${count} summaries are kept that could not be stored yet.`, {
      "Remember Again…": () => vscode.commands.executeCommand("cognee.dropKept"),
    });
  }

  /** What is kept now. */
  waiting(): Promise<KeptJob[]> {
    return this.kept.all();
  }

  /** Drops a kept job into a folder. Throws what prevents it; the job is kept then. */
  async sendOne(folder: vscode.WorkspaceFolder, kept: KeptJob): Promise<void> {
    if (!isPrepared(folder)) await this.services.memoryOf(folder).startWorker(this.services.ended);
    await this.drop(folder, kept);
    await this.discard(kept);
  }

  async discard(kept: KeptJob): Promise<void> {
    await this.kept.remove(kept.job.job_id);
    await this.count();
  }

  private async drop(folder: vscode.WorkspaceFolder, { job, topic, by }: KeptJob): Promise<void> {
    const jobId = await this.services.memoryOf(folder).drop<"ingest">(job);
    this.services.log.info(`[Remember] ${jobId} is in the inbox of ${folder.uri.fsPath}`);
    this.bar.follow({ jobId, folder: folder.uri.fsPath, topic, by });
  }

  private async keep(kept: KeptJob, isTold = true): Promise<Sent> {
    try {
      await this.kept.add(kept);
    } catch (error) {
      throw new MemoryError(
        "NOT_KEPT",
        `“${plain(kept.topic, 100)}” could not be written: ${describe(error)}.`,
        "Make room on the disk, then remember it again.",
      );
    }
    await this.count();
    if (!isTold) return "kept";
    this.services.log.warn(`[Remember] ${kept.job.job_id} is kept: ${kept.reason}`);
    const again = "Remember Again…";
    const message = `“${plain(kept.topic, 100)}” is kept, not remembered yet: ${plain(kept.reason)}`;
    void vscode.window.showWarningMessage(message, again).then((pressed) => {
      if (pressed === again) void vscode.commands.executeCommand("cognee.dropKept");
    });
    return "kept";
  }

  /**
   * Sends a folder's kept jobs when a worker has made the folder this user's: a file that waits there before is not
   * run unasked.
   */
  private sendFirst(folder: vscode.WorkspaceFolder): void {
    const path = folder.uri.fsPath;
    if (this.firsts.has(path) || this.services.ended.aborted) return;
    const memory = this.services.memoryOf(folder);
    const ours = async (): Promise<KeptJob[]> => (await this.kept.all()).filter((each) => each.folder === path);
    const sending = (async () => {
      await memory.startWorker(this.services.ended);
      for (const each of await ours()) await this.sendOne(folder, each);
    })()
      // The jobs are kept, and the status bar says so. Nothing waits for the user to close the message.
      .catch(async (error: unknown) => {
        if (this.services.ended.aborted) return;
        try {
          for (const each of await ours()) await this.kept.add({ ...each, reason: describe(error) });
        } catch (failure) {
          this.services.log.warn(`[Remember] the former reason stays: ${describe(failure)}`);
        }
        void this.services.show(error);
      })
      .finally(() => {
        this.firsts.delete(path);
        return this.count();
      });
    this.firsts.set(path, sending);
    void this.count();
  }

  /** Counts what this window can send: a window of another folder has its own. A folder that was moved has none. */
  private async count(): Promise<number> {
    const paths = new Set(this.services.folders().map(({ uri }) => uri.fsPath));
    const isOurs = ({ folder }: KeptJob): boolean => folder === null || paths.has(folder) || !existsSync(folder);
    const ours = (await this.kept.all()).filter(isOurs);
    const preparing = ours.filter(({ folder }) => folder !== null && this.firsts.has(folder)).length;
    const stuck = ours.length - preparing;
    this.bar.setKept({ stuck, preparing });
    return stuck;
  }

  private async session(ends: boolean): Promise<string> {
    const state = this.services.context.workspaceState;
    const session = sessionAt(state.get<Session>(SESSION), new Date());
    // what follows a captured conversation is another session
    await state.update(SESSION, ends ? { ...session, usedAt: 0 } : session);
    return idOf(session);
  }

  private log(error: unknown): void {
    this.services.log.error(describe(error));
  }
}

/** Whether a drop is accepted: the folder is this user's since a worker ran there. */
function isPrepared(folder: vscode.WorkspaceFolder): boolean {
  const path = folder.uri.fsPath;
  return livingWorker(path) !== null || isOwnFile(ownerFile(path));
}
