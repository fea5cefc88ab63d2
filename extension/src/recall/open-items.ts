/** The list “Show What Is Open…”: open questions and next steps by topic. */

import * as vscode from "vscode";
import type { OpenItem } from "#types";
import { plain } from "../core/text";
import { type Services, signalOf } from "../services";
import { openItemsOf } from "./reads";

interface Row extends vscode.QuickPickItem {
  readonly item?: OpenItem;
}

/** Shows the list. Returns the item whose memory is to be opened; undefined if the user leaves, or if nothing is open. */
export async function chooseOpenItem(
  services: Services,
  folder: vscode.WorkspaceFolder,
): Promise<OpenItem | undefined> {
  const t = vscode.l10n.t;
  const items = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: t("Recalling…") },
    (_, token) => openItemsOf(services.memoryOf(folder), signalOf(token)),
  );
  if (items.length === 0) {
    void vscode.window.showInformationMessage(t("No memory has an open question or a next step that is not closed."));
    return undefined;
  }
  const row = (item: OpenItem): Row => ({
    label: `$(${item.kind === "question" ? "question" : "arrow-right"}) ${plain(item.text)}`,
    description: `#${item.memory_number}${item.date === null ? "" : ` · ${item.date.slice(0, 10)}`}`,
    item,
  });
  const rows = items.flatMap((item, at): Row[] => {
    const isFirst = at === 0 || items[at - 1]?.topic_id !== item.topic_id;
    const heading: Row = { label: plain(item.title), kind: vscode.QuickPickItemKind.Separator };
    return isFirst ? [heading, row(item)] : [row(item)];
  });
  const chosen = await vscode.window.showQuickPick(rows, {
    title: t("Still Open"),
    placeHolder: t("Choose one to open its memory"),
    matchOnDescription: true,
  });
  return chosen?.item;
}
