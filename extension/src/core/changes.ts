/** Events of the window's folders: jobs, what the worker says of itself, and that a folder has gone or is back. */

import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { JOBS } from "../core/layout";

export interface Change {
  readonly folder: vscode.WorkspaceFolder;
  /** `heartbeat` comes at least every 10 seconds while a worker lives; `folder` if it has gone, or is back. */
  readonly what: "jobs" | "heartbeat" | "folder";
  /** What was made, changed or removed. */
  readonly path: string;
}

const FILES = `${JOBS}/{*.json,results/*.json,rejected/*.json,worker/heartbeat.json}`;
/** How often the folders are looked for: the editor tells nothing of the files of a folder that was renamed. */
const LOOK_MS = 5000;

export class Changes implements vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<Change>();
  readonly onDidChange = this.emitter.event;
  private readonly subscriptions: { dispose(): void }[] = [this.emitter];
  private watchers: vscode.Disposable[] = [];
  private readonly gone = new Set<string>();

  constructor(private readonly folders: () => readonly vscode.WorkspaceFolder[]) {
    this.watch();
    const timer = setInterval(() => this.look(), LOOK_MS);
    this.subscriptions.push(
      { dispose: () => clearInterval(timer) },
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

  private look(): void {
    for (const folder of this.folders()) {
      const path = folder.uri.fsPath;
      if (existsSync(path) !== this.gone.has(path)) continue;
      if (!this.gone.delete(path)) this.gone.add(path);
      this.emitter.fire({ folder, what: "folder", path });
    }
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
