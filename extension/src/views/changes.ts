/** Events of what changes in the folders of the window: jobs, and what the worker says of itself. */

import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { JOBS } from "../core/layout";
import type { Services } from "../services";

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

  private static readonly ofServices = new WeakMap<Services, Changes>();

  /** The changes of this window: one set of watchers, disposed with the extension. */
  static of(services: Services): Changes {
    let changes = Changes.ofServices.get(services);
    if (changes === undefined) {
      changes = new Changes(services);
      Changes.ofServices.set(services, changes);
      services.context.subscriptions.push(changes);
    }
    return changes;
  }

  private constructor(private readonly services: Services) {
    this.watch();
    this.subscriptions.push(
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.watch()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.watch()),
    );
  }

  dispose(): void {
    for (const each of [...this.watchers, ...this.subscriptions]) each.dispose();
    this.watchers = [];
  }

  private watch(): void {
    for (const watcher of this.watchers) watcher.dispose();
    this.watchers = vscode.workspace.isTrusted
      ? this.services.folders().flatMap((folder) => this.watcherOf(folder))
      : [];
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
