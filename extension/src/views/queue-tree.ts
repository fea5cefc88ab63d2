/** The view “Queue”: live by the events of the job files. */

import * as vscode from "vscode";
import type { InFlight } from "#types";
import { describe } from "../core/error";
import { livingWorker } from "../core/heartbeat";
import { VERBS } from "../core/job-states";
import { request, type Verb } from "../core/requests";
import { jobsOf as listedJobs } from "../recall/reads";
import type { Documents } from "../recall/documents";
import { plain } from "../core/text";
import { type Services, signalOf } from "../core/services";
import type { Change } from "../core/changes";
import { Jobs } from "./jobs";
import { Pause } from "../core/pause";
import { type About, childrenOf, jobsOf, type QueueNode, rowOf, topOf } from "./queue";
import { itemOf, rowOfFolder } from "./row";

/** A row in the folder that it belongs to. Without a node, it is the folder's own row. */
export interface QueueItem {
  readonly folder: vscode.WorkspaceFolder;
  readonly node: QueueNode | null;
}

export class QueueTree implements vscode.TreeDataProvider<QueueItem> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly folders = new Map<string, { readonly jobs: Jobs; readonly loaded: Promise<void> }>();
  /** What the program says of the jobs of a folder, asked once for each time that the rows are made. */
  private readonly told = new Map<string, Promise<ReadonlyMap<string, About>>>();
  private inFlight = "";
  private readonly pause = new Pause(() => this.show());
  private readonly view: vscode.TreeView<QueueItem>;

  constructor(
    private readonly services: Services,
    private readonly documents: Documents,
  ) {
    this.view = vscode.window.createTreeView("cognee.queue", { treeDataProvider: this, canSelectMany: true });
    services.owns(
      this.view,
      this.changed,
      this.pause,
      services.changes.onDidChange((change) => void this.follow(change)),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.reload()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.reload()),
      this.view.onDidChangeVisibility(({ visible }) => visible && this.reload()),
      services.command("cognee.retryJob", (item?: QueueItem, all?: QueueItem[]) => this.act("retry", item, all)),
      services.command("cognee.cancelJob", (item?: QueueItem, all?: QueueItem[]) => this.act("cancel", item, all)),
      services.command("cognee.dismissJob", (item?: QueueItem, all?: QueueItem[]) => this.act("dismiss", item, all)),
      services.command("cognee.openJob", (item?: QueueItem) => this.open(item)),
    );
  }

  getTreeItem(item: QueueItem): vscode.TreeItem {
    const { folder, node } = item;
    if (node === null) return itemOf(rowOfFolder(folder));
    const row = rowOf(node);
    const command = row.command === undefined ? {} : { command: { ...row.command, arguments: [item] } };
    return itemOf({ ...row, ...command, id: `${folder.uri.toString()}|${row.id}` });
  }

  async getChildren(item?: QueueItem): Promise<QueueItem[]> {
    if (!vscode.workspace.isTrusted) return [];
    if (item === undefined) {
      const folders = this.services.folders();
      if (folders.length !== 1) return folders.map((folder) => ({ folder, node: null }));
      return folders[0] === undefined ? [] : this.top(folders[0]);
    }
    if (item.node === null) return this.top(item.folder);
    return childrenOf(item.node, this.running(item.folder), await this.aboutJobs(item.folder)).map((node) => ({
      folder: item.folder,
      node,
    }));
  }

  private async top(folder: vscode.WorkspaceFolder): Promise<QueueItem[]> {
    const jobs = (await this.jobsIn(folder)).all();
    return topOf(jobs).map((node) => ({ folder, node }));
  }

  private async jobsIn(folder: vscode.WorkspaceFolder): Promise<Jobs> {
    const path = folder.uri.fsPath;
    let known = this.folders.get(path);
    if (known === undefined) {
      const jobs = new Jobs(path);
      known = { jobs, loaded: jobs.load(this.services.ended) };
      this.folders.set(path, known);
    }
    await known.loaded;
    this.countFailures();
    return known.jobs;
  }

  /** What the jobs are about; where the program does not answer, rows have their kind alone. */
  private aboutJobs(folder: vscode.WorkspaceFolder): Promise<ReadonlyMap<string, About>> {
    const path = folder.uri.fsPath;
    const told = this.told.get(path) ?? this.ask(folder);
    this.told.set(path, told);
    return told;
  }

  private async ask(folder: vscode.WorkspaceFolder): Promise<ReadonlyMap<string, About>> {
    try {
      const jobs = await listedJobs(this.services.memoryOf(folder), this.services.ended);
      return new Map(jobs.map((job) => [job.job_id, job]));
    } catch (error) {
      if (!this.services.ended.aborted) this.services.log.debug(`[Queue] ${describe(error)}`);
      return new Map();
    }
  }

  private running(folder: vscode.WorkspaceFolder): readonly InFlight[] {
    return livingWorker(folder.uri.fsPath)?.in_flight ?? [];
  }

  /** Follows a file that changed. A heartbeat matters only for the progress of what runs. */
  private async follow({ folder, what, path }: Change): Promise<void> {
    const jobs = this.folders.get(folder.uri.fsPath)?.jobs;
    if (jobs === undefined) return; // nothing is shown yet
    if (what === "folder") this.folders.clear();
    else if (what === "jobs") await jobs.update(path);
    else if (!this.view.visible || !this.hasProgressed(folder)) return;
    this.pause.begin();
  }

  private hasProgressed(folder: vscode.WorkspaceFolder): boolean {
    const now = JSON.stringify(this.running(folder).map(({ job_id, progress }) => [job_id, progress]));
    const hasProgressed = now !== this.inFlight;
    this.inFlight = now;
    return hasProgressed;
  }

  private show(): void {
    this.countFailures();
    this.told.clear();
    this.changed.fire(undefined);
  }

  private reload(): void {
    this.told.clear();
    this.folders.clear();
    this.changed.fire(undefined);
  }

  private countFailures(): void {
    const rows = [...this.folders.values()].flatMap(({ jobs }) => topOf(jobs.all()));
    const failed = rows.flatMap((node) => (node.kind === "cause" ? node.jobs : [])).length;
    this.view.badge = failed === 0 ? undefined : { value: failed, tooltip: `${failed} jobs of the memory failed` };
  }

  // --- commands ---

  /** Carries out a request about the jobs of the rows, and says which of them it could not be carried out for. */
  private async act(verb: Verb, item: QueueItem | undefined, all: readonly QueueItem[] | undefined): Promise<void> {
    const items = all !== undefined && all.length > 0 ? all : item === undefined ? [...this.view.selection] : [item];
    const [first] = items;
    if (first === undefined) return;
    const jobs = items
      .filter(({ folder }) => folder === first.folder)
      .flatMap(({ node }) => (node === null ? [] : [...jobsOf(node)]))
      .filter(({ state }) => VERBS[verb].has(state));
    if (jobs.length === 0) return;
    const skipped = await vscode.window.withProgress({ location: { viewId: "cognee.queue" } }, (_, token) =>
      request(
        this.services.memoryOf(first.folder),
        verb,
        jobs.map(({ id }) => id),
        signalOf(token),
      ),
    );
    this.reload();
    if (skipped.length > 0) {
      void vscode.window.showWarningMessage(
        `${skipped.length} of ${jobs.length} jobs were left as they are: ${plain(skipped.join(" "), 1000)}`,
      );
    }
  }

  private async open(item: QueueItem | undefined): Promise<void> {
    const { folder, node } = item ?? this.view.selection[0] ?? {};
    if (folder === undefined || node?.kind !== "job") return;
    await this.documents.open(node.job.id, { kind: "job", folder: folder.uri.fsPath, jobId: node.job.id });
  }
}
