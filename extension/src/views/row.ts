/** A row of a view, before it becomes an item of the editor's tree. All texts are plain. */

import * as vscode from "vscode";

export interface Row {
  /** Keeps a row open and selected when the view is made again. */
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly tooltip?: string;
  /** An icon of the editor, and the colour of the theme for it. */
  readonly icon?: string;
  readonly colour?: string;
  readonly context?: string;
  readonly children?: "open" | "closed";
  readonly command?: { readonly command: string; readonly title: string; readonly arguments: unknown[] };
}

/** The row of a folder, in a window with several. */
export const rowOfFolder = ({ name, uri }: vscode.WorkspaceFolder): Row => ({
  id: uri.toString(),
  label: name,
  icon: "root-folder",
  children: "open",
});

export function itemOf(row: Row): vscode.TreeItem {
  const state = {
    open: vscode.TreeItemCollapsibleState.Expanded,
    closed: vscode.TreeItemCollapsibleState.Collapsed,
    none: vscode.TreeItemCollapsibleState.None,
  }[row.children ?? "none"];
  const item = new vscode.TreeItem(row.label, state);
  item.id = row.id;
  item.tooltip = row.tooltip ?? row.label;
  item.accessibilityInformation = { label: [row.label, row.description].filter(Boolean).join(", ") };
  if (row.description !== undefined) item.description = row.description;
  if (row.context !== undefined) item.contextValue = row.context;
  if (row.command !== undefined) item.command = row.command;
  if (row.icon !== undefined) {
    item.iconPath = new vscode.ThemeIcon(
      row.icon,
      row.colour === undefined ? undefined : new vscode.ThemeColor(row.colour),
    );
  }
  return item;
}
