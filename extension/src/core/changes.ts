/** Events of what changes in the folders of the window: jobs, and what the worker says of itself. */

import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { JOBS } from "../core/layout";

export interface Change {
  readonly folder: vscode.WorkspaceFolder;
  /** `heartbeat` comes at least every 10 seconds while a worker lives. */
  readonly what: "jobs" | "heartbeat";
  /** The file that was made, changed or removed. */
  readonly path: string;
}

const FILES = `${JOBS}/{*.json,results/*.json,rejected/*.json,worker/heartbeat.json}`;

export class Changes implements vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<Change>();
  readonly onDidChange = this.emitter.event;
  private readonly subscriptions: { dispose(): void }[] = [this.emitter];
  private watchers: vscode.Disposable[] = [];

  constructor(private readonly folders: () => readonly vscode.WorkspaceFolder[]) {
    this.watch();
    this.subscriptions.push(
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.watch()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.watch()),
    );
  }

  /** Tells a change that the editor's watchers may miss: of a file that was made and removed in one moment. */
  tell(change: Change): void {
    this.emitter.fire(change);
  }

  dispose(): void {
    for (const each of [...this.watchers, ...this.subscriptions]) each.dispose();
    this.watchers = [];
  }

  private watch(): void {
    for (const watcher of this.watchers) watcher.dispose();
    this.watchers = vscode.workspace.isTrusted ? this.folders().flatMap((folder) => this.watcherOf(folder)) : [];
  }

  private watcherOf(folder: vscode.WorkspaceFolder): vscode.Disposable[] {
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, FILES));
    const changed = ({ fsPath }: vscode.Uri): void => {
      const what = basename(dirname(fsPath)) === "worker" ? "heartbeat" : "jobs";
      this.emitter.fire({ folder, what, path: fsPath });
    };
    return [watcher, watcher.onDidCreate(changed), watcher.onDidChange(changed), watcher.onDidDelete(changed)];
  }
}
