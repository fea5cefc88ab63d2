/** The view “Health”: the findings of `doctor`, made again when a worker comes or goes, or memories begin. */

import { existsSync } from "node:fs";
import * as vscode from "vscode";
import type { Findings, FoundTrouble } from "#types";
import { isConfirmed, waiting } from "../core/ask";
import { describe, MemoryError, NOT_SET_UP } from "../core/error";
import { livingWorker } from "../core/heartbeat";
import { plain, when } from "../core/text";
import type { Services } from "../core/services";
import { commandOf, type Fix, fixOf, rowOfFinding, rowOfRemedy } from "./findings";
import { Pause } from "../core/pause";
import { itemOf, type Row, rowOfFolder } from "./row";

export interface HealthItem {
  readonly folder: vscode.WorkspaceFolder;
  readonly row: Row;
  /** Of a finding, and of its remedy. */
  readonly finding?: FoundTrouble;
}

export class HealthTree implements vscode.TreeDataProvider<HealthItem> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<HealthItem>;
  private checking = new AbortController();
  /** By folder, what of it the findings depend on. */
  private readonly followed = new Map<string, string>();
  private isStale = false;
  private readonly pause = new Pause(() => (this.view.visible ? this.refresh() : (this.isStale = true)));

  constructor(private readonly services: Services) {
    this.view = vscode.window.createTreeView("cognee.health", { treeDataProvider: this });
    services.owns(
      { dispose: () => this.checking.abort() },
      this.view,
      this.changed,
      this.pause,
      services.changes.onDidChange(({ folder }) => this.follow(folder)),
      this.view.onDidChangeVisibility(({ visible }) => visible && this.isStale && this.refresh()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.refresh()),
      services.programs.onDidChange(() => this.refresh()),
      services.command("cognee.refreshHealth", () => this.refresh()),
      services.command("cognee.checkHealth", async () => {
        await vscode.commands.executeCommand("cognee.health.focus");
        this.refresh();
      }),
      services.command("cognee.fixFinding", (item?: HealthItem) => this.fix(item ?? this.view.selection[0])),
    );
  }

  /** Checks again if the worker, or whether anything is stored or has failed, is other than before. */
  private follow(folder: vscode.WorkspaceFolder): void {
    const path = folder.uri.fsPath;
    const beat = livingWorker(path);
    const { succeeded = 0, failed = 0 } = beat?.counts ?? {};
    const now = JSON.stringify([existsSync(path), beat?.pid, succeeded > 0, failed]);
    const before = this.followed.get(path);
    this.followed.set(path, now);
    if (before !== now) this.pause.begin();
  }

  refresh(): void {
    this.isStale = false;
    this.checking.abort();
    this.checking = new AbortController();
    this.changed.fire(undefined);
  }

  getTreeItem({ folder, row }: HealthItem): vscode.TreeItem {
    return itemOf({ ...row, id: `${folder.uri.toString()}|${row.id}` });
  }

  async getChildren(item?: HealthItem): Promise<HealthItem[]> {
    if (!vscode.workspace.isTrusted) return [];
    if (item === undefined) {
      const folders = this.services.folders();
      if (folders.length > 1) return folders.map((folder) => ({ folder, row: rowOfFolder(folder) }));
      return folders[0] === undefined ? [] : this.findings(folders[0]);
    }
    if (item.row.children === undefined) return [];
    return item.finding === undefined ? this.findings(item.folder) : [{ ...item, row: rowOfRemedy(item.finding) }];
  }

  private async findings(folder: vscode.WorkspaceFolder): Promise<HealthItem[]> {
    const { signal } = this.checking;
    try {
      const { findings } = await this.services.memoryOf(folder).command<Findings>(["doctor"], [], signal);
      this.view.description = `checked ${when(new Date().toISOString())}`;
      return findings.map((finding) => ({ folder, finding, row: rowOfFinding(finding) }));
    } catch (error) {
      if (!signal.aborted) this.view.description = "";
      if (signal.aborted || (error instanceof MemoryError && NOT_SET_UP.has(error.code))) return [];
      const label = plain(describe(error), 300);
      return [{ folder, row: { id: "error", label, tooltip: describe(error), icon: "error" } }];
    }
  }

  private async fix(item: HealthItem | undefined): Promise<void> {
    if (item?.finding === undefined) return;
    const fix = fixOf(item.finding);
    if (fix === null) return;
    if (fix.by === "extension") await vscode.commands.executeCommand(fix.command);
    else if (!(await this.runFix(item.folder, item.finding, fix))) return;
    this.refresh();
  }

  private async runFix(
    folder: vscode.WorkspaceFolder,
    finding: FoundTrouble,
    fix: Extract<Fix, { by: "program" }>,
  ): Promise<boolean> {
    const question = `Run “${commandOf(fix)}” in ${folder.name}?`;
    const detail = `${plain(finding.message, 1000)}\n\n${plain(finding.remedy, 1000)}`;
    if (!(await isConfirmed(question, "Run", detail))) return false;
    await waiting(commandOf(fix), (signal) => this.services.memoryOf(folder).command(fix.verb, fix.args, signal));
    return true;
  }
}
