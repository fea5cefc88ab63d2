/** The editor in which the user last worked: what is recalled is inserted there, or else copied. */

import * as vscode from "vscode";
import type { Services } from "../core/services";

/** Schemes of documents that a user writes. Others are logs, diffs and our own documents. */
const WRITTEN = new Set(["file", "untitled", "vscode-notebook-cell", "vscode-userdata"]);

export class Origin {
  private editor: vscode.TextEditor | undefined;

  constructor(services: Services) {
    this.note(vscode.window.activeTextEditor);
    services.owns(vscode.window.onDidChangeActiveTextEditor((editor) => this.note(editor)));
  }

  /** Replaces the selection of that editor; copies the text where there is none, or where it cannot be written to. */
  async insert(text: string): Promise<void> {
    const origin = this.editor;
    if (origin !== undefined && !origin.document.isClosed) {
      const shown = await vscode.window.showTextDocument(origin.document, {
        ...(origin.viewColumn === undefined ? {} : { viewColumn: origin.viewColumn }),
        selection: origin.selection,
      });
      if (await shown.edit((edit) => edit.replace(shown.selection, text))) return;
    }
    await vscode.env.clipboard.writeText(text);
    void vscode.window.showInformationMessage(
      "No editor to write to is open, so the text was copied to the clipboard.",
    );
  }

  private note(editor: vscode.TextEditor | undefined): void {
    if (editor !== undefined && WRITTEN.has(editor.document.uri.scheme)) this.editor = editor;
  }
}
