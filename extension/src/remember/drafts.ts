/** Drafts of summaries as documents that the user edits, with a button that has them remembered. */

import * as vscode from "vscode";
import { answered } from "../core/ask";
import { MemoryError } from "../core/error";
import type { Services } from "../core/services";
import type { Outbox } from "./outbox";
import { type Draft, draftText, lackOf, parseDraft } from "./summary";

/** The comment of a draft: by it, a draft is known again after a restart of the editor. */
const MARK = "Draft of a memory";
const IS_DRAFT = new RegExp(`^<!-- ${MARK}`, "u");
const CONTEXT_KEY = "cognee.isSummaryDraft";

export class Drafts implements vscode.CodeLensProvider {
  private readonly folders = new Map<string, string>();
  /** Whether the active document is a draft, as the context key says. */
  private isActive: boolean | undefined;

  constructor(
    private readonly services: Services,
    private readonly outbox: Outbox,
  ) {
    services.owns(
      vscode.languages.registerCodeLensProvider({ scheme: "untitled", language: "markdown" }, this),
      vscode.window.onDidChangeActiveTextEditor(() => this.setContextKey()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === vscode.window.activeTextEditor?.document) this.setContextKey();
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => void this.folders.delete(uri.toString())),
    );
    this.setContextKey();
  }

  /** Opens a draft to be edited. It is stored when the user presses the button; `folder` is null if none is open. */
  async open(draft: Draft, folder: vscode.WorkspaceFolder | null): Promise<void> {
    const hint = "Read and change it, then press “Remember This Summary”. Nothing is stored before.";
    const document = await vscode.workspace.openTextDocument({
      language: "markdown",
      content: draftText(draft, `${MARK}. ${hint}`),
    });
    if (folder !== null) this.folders.set(document.uri.toString(), folder.uri.fsPath);
    const end = document.lineAt(0).text.length; // of the topic, which comes first
    await vscode.window.showTextDocument(document, { preview: false, selection: new vscode.Range(0, end, 0, end) });
    this.setContextKey();
  }

  /** Remembers what a form gave. Where it cannot even be kept, the text stays on the screen as a draft. */
  async send(draft: Draft, folder: vscode.WorkspaceFolder | null): Promise<void> {
    try {
      await this.outbox.send(folder, draft); // the status bar says what becomes of it
    } catch (error) {
      await this.open(draft, folder);
      throw error;
    }
  }

  /** Remembers the draft of the active editor, or the one with this address, and closes it. */
  async save(uri: vscode.Uri | undefined): Promise<void> {
    const document =
      uri === undefined
        ? vscode.window.activeTextEditor?.document
        : vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
    if (document === undefined || !isDraft(document)) {
      throw new MemoryError("NO_DRAFT", "This is no draft of a memory.", "Make one with “Remember a Decision…”.");
    }
    const draft = parseDraft(document.getText());
    const lack = lackOf(draft);
    if (lack !== undefined) {
      throw new MemoryError(
        "DRAFT_INCOMPLETE",
        lack === "topic" ? "The summary has no topic." : "The summary has no context.",
        lack === "topic" ? "Write it after “# Conversation Summary:”." : "Write below “## Context” what it was about.",
      );
    }
    const folder = await this.folderOf(document);
    await this.outbox.send(folder, draft);
    await close(document);
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (!isDraft(document)) return [];
    const title = "$(check) Remember This Summary";
    const range = new vscode.Range(0, 0, 0, 0);
    return [new vscode.CodeLens(range, { title, command: "cognee.saveSummary", arguments: [document.uri] })];
  }

  private async folderOf(document: vscode.TextDocument): Promise<vscode.WorkspaceFolder | null> {
    const path = this.folders.get(document.uri.toString());
    return this.services.folders().find(({ uri }) => uri.fsPath === path) ?? (await targetFolder(this.services));
  }

  private setContextKey(): void {
    const document = vscode.window.activeTextEditor?.document;
    const isActive = document !== undefined && isDraft(document);
    if (isActive === this.isActive) return;
    this.isActive = isActive;
    void vscode.commands.executeCommand("setContext", CONTEXT_KEY, isActive);
  }
}

/** The folder that a summary is for: null if none can have it now, so that it is kept. Throws Ended if the user cancels. */
export async function targetFolder(services: Services): Promise<vscode.WorkspaceFolder | null> {
  const folders = services.folders();
  if (folders.length === 0) return null;
  return vscode.workspace.isTrusted ? answered(await services.folder()) : (folders[0] ?? null);
}

const isDraft = (document: vscode.TextDocument): boolean =>
  document.isUntitled && [0, 1].some((line) => line < document.lineCount && IS_DRAFT.test(document.lineAt(line).text));

/** Closes a draft whose text is on the disk now, without asking whether to save it. */
async function close(document: vscode.TextDocument): Promise<void> {
  await vscode.window.showTextDocument(document, { preview: false });
  await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
}
