/** The editor in which the user last worked: what is recalled is inserted there, or else copied. */

import * as vscode from "vscode";

/** Schemes of documents that a user writes. Others are logs, diffs and our own documents. */
const WRITTEN = new Set(["file", "untitled", "vscode-notebook-cell", "vscode-userdata"]);

export class Origin implements vscode.Disposable {
  private editor: vscode.TextEditor | undefined;
  private readonly listener: vscode.Disposable;

  constructor() {
    this.note(vscode.window.activeTextEditor);
    this.listener = vscode.window.onDidChangeActiveTextEditor((editor) => this.note(editor));
  }

  dispose(): void {
    this.listener.dispose();
    this.editor = undefined;
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
