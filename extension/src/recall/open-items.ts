/** The list “Show What Is Open…”: open questions and next steps by topic. */

import * as vscode from "vscode";
import type { OpenItem } from "#types";
import { answered, pick, reading } from "../core/ask";
import { Ended } from "../core/error";
import { plain } from "../core/text";
import type { Services } from "../core/services";
import { ofEach } from "./everywhere";
import { openItemsOf } from "./reads";

/** An item with the folder whose memory has it. */
interface Open {
  readonly folder: vscode.WorkspaceFolder;
  readonly item: OpenItem;
}

interface Row extends vscode.QuickPickItem {
  readonly open?: Open;
}

/** Shows the list, of all folders. Returns the item whose memory is to be opened; Throws Ended if the user leaves, or if nothing is open. */
export async function chooseOpenItem(services: Services): Promise<Open> {
  const folders = services.foldersToAsk();
  const { answers, warnings } = await reading(
    (signal) => ofEach(folders, (folder) => openItemsOf(services.memoryOf(folder), signal)),
    "Recalling…",
  );
  for (const warning of warnings) services.log.warn(warning);
  const items = answers.flatMap(({ folder, answer }) => answer.items.map((item): Open => ({ folder, item })));
  if (items.length === 0) throw new Ended("No memory has an open question or a next step that is not closed.");
  const row = ({ folder, item }: Open): Row => ({
    label: `$(${item.kind === "question" ? "question" : "arrow-right"}) ${plain(item.text)}`,
    description: `#${item.memory_number}${item.date === null ? "" : ` · ${item.date.slice(0, 10)}`}`,
    open: { folder, item },
  });
  const rows = items.flatMap((open, at): Row[] => {
    const { folder, item } = open;
    const before = items[at - 1];
    const isFirst = before?.folder !== folder || before.item.topic_id !== item.topic_id;
    const title = folders.length === 1 ? item.title : `${item.title} · ${folder.name}`;
    const heading: Row = { label: plain(title), kind: vscode.QuickPickItemKind.Separator };
    return isFirst ? [heading, row(open)] : [row(open)];
  });
  const chosen = await pick(rows, {
    title: "Still Open",
    placeHolder: "Choose one to open its memory",
    matchOnDescription: true,
  });
  return answered(chosen.open);
}
