/** Opens memories, explanations, histories and reports as read-only documents, and makes their texts and pages. */

import * as vscode from "vscode";
import type { ExplainRequest } from "#types";
import { describe, MemoryError } from "../core/error";
import type { Memory } from "../core/memory";
import { readRecord } from "../core/records";
import { rankingOf } from "../core/settings";
import { type Services, signalOf } from "../core/services";
import { explanation } from "./explanation";
import { historyDocument, type TopicHistory } from "./history";
import { compactionsOf, memoriesOf, memoryText } from "./reads";
import { memoryDocument } from "./memory-document";
import { pageOf } from "./page";
import { REVIEW, reviewLink } from "./standing";
import { addressOf, type Asked, SCHEME, type Target, targetOf } from "./target";
import { escaped } from "../core/text";

/** The editor of package.json that shows the Markdown documents of the scheme. */
export const EDITOR = "cognee.document";

const REPORTS_KEPT = 20;
const HISTORY_MEMORIES = 100;
/** Of so many memories of a history, the texts are shown as well. */
const HISTORY_TEXTS = 12;

export class Documents implements vscode.TextDocumentContentProvider, vscode.CustomReadonlyEditorProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly reports = new Map<number, string>();
  /** The open pages, by their address. */
  private readonly panels = new Map<string, vscode.WebviewPanel>();
  private latestReport = 0;

  constructor(private readonly services: Services) {
    services.owns(this.changed);
  }

  /** Opens a document as text, read-only. */
  async open(title: string, target: Target): Promise<void> {
    const uri = uriOf(title, target);
    this.changed.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }

  /** Opens a document as rendered Markdown. */
  async openRendered(title: string, target: Target): Promise<void> {
    const uri = uriOf(title, target);
    this.changed.fire(uri);
    await vscode.commands.executeCommand("vscode.openWith", uri, EDITOR);
  }

  /** Shows a text that a command made, as rendered Markdown. Returns what closes it. */
  async report(title: string, markdown: string): Promise<() => void> {
    const id = ++this.latestReport;
    this.reports.set(id, markdown);
    this.reports.delete(id - REPORTS_KEPT);
    const target = { kind: "report", id } as const;
    await this.openRendered(title, target);
    return () => {
      this.panels.get(uriOf(title, target).toString())?.dispose();
    };
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor(
    { uri }: vscode.CustomDocument,
    panel: vscode.WebviewPanel,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const target = targetOf(uri.query);
    if (target?.kind === "report" && !this.reports.has(target.id)) {
      panel.dispose(); // of before the window was loaded again: what it showed has been decided or left
      return;
    }
    panel.webview.options = { enableCommandUris: [REVIEW] };
    const show = async (): Promise<void> => {
      panel.webview.html = await pageOf(await this.provideTextDocumentContent(uri, token));
    };
    const address = uri.toString();
    const listener = this.onDidChange((changed) => changed.toString() === address && void show());
    this.panels.set(address, panel);
    panel.onDidDispose(() => {
      listener.dispose();
      this.panels.delete(address);
    });
    await show();
  }

  /** Reads the open documents again, but for reports: a memory may have changed or gone. */
  refresh(): void {
    const texts = vscode.workspace.textDocuments.map(({ uri }) => uri);
    for (const uri of [...texts, ...[...this.panels.keys()].map((address) => vscode.Uri.parse(address))]) {
      const target = targetOfUri(uri);
      if (target !== undefined && target.kind !== "report") this.changed.fire(uri);
    }
  }

  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    try {
      return await this.text(targetOf(uri.query), signalOf(token));
    } catch (error) {
      return `# This cannot be shown\n\n${escaped(describe(error))}\n`;
    }
  }

  /** The memory of the folder that an address names: only one that is open in this window, and trusted. */
  memoryAt(path: string): Memory {
    const folder = this.services.folders().find((each) => each.uri.fsPath === path);
    if (folder === undefined || !vscode.workspace.isTrusted) {
      throw new MemoryError(
        "NO_FOLDER",
        "The folder of this memory is not open in this window, or is not trusted.",
        "Open the folder, and recall the memory again.",
      );
    }
    return this.services.memoryOf(folder);
  }

  private async text(target: Target | undefined, signal: AbortSignal): Promise<string> {
    switch (target?.kind) {
      case "memory": {
        const { folder, id } = target;
        return this.memory(folder, id, signal, reviewLink(folder, id));
      }
      case "explanation":
        return explanation(
          await this.memoryAt(target.folder).ask("explain", this.explainRequest(target.number, target.asked), signal),
          target.number,
        );
      case "history":
        return historyDocument(await this.history(this.memoryAt(target.folder), target.topicId, signal));
      case "job": {
        const record = readRecord(this.memoryAt(target.folder).workspace, target.jobId);
        return record === null ? "This job has no record (any more)." : JSON.stringify(record, null, 2);
      }
      case "report":
        return this.reports.get(target.id) ?? "This report is not kept any more. Run the command again.";
      case undefined:
        throw new MemoryError("ADDRESS_UNKNOWN", "This is no address of a memory.");
    }
  }

  /** The text of a memory with what is remarked of its decisions. */
  async memory(folder: string, id: string, signal: AbortSignal, review = ""): Promise<string> {
    return memoryDocument(await memoryText(this.memoryAt(folder), id, signal), review);
  }

  private explainRequest(number: number, asked: Asked | undefined): ExplainRequest {
    if (asked === undefined) return { ids: [number] };
    return {
      ...rankingOf(this.services.settings()),
      query: asked.query,
      ids: [number],
      ...(asked.asOf ? { as_of: asked.asOf } : {}),
    };
  }

  private async history(memory: Memory, topicId: string, signal: AbortSignal): Promise<TopicHistory> {
    const [page, compactions] = await Promise.all([
      memoriesOf(memory, { topic_id: topicId, limit: HISTORY_MEMORIES }, signal),
      compactionsOf(memory, topicId, signal),
    ]);
    const texts = await Promise.all(
      page.memories.slice(0, HISTORY_TEXTS).map((each) => memoryText(memory, each.memory_id, signal)),
    );
    return {
      topicId,
      memories: page.memories,
      total: page.total,
      texts: new Map(texts.map((each) => [each.memory_id, each])),
      compactions,
    };
  }
}

export function uriOf(title: string, target: Target): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, ...addressOf(title, target) });
}

/** What an open document of this scheme shows. */
export function targetOfUri(uri: vscode.Uri | undefined): Target | undefined {
  return uri?.scheme === SCHEME ? targetOf(uri.query) : undefined;
}
