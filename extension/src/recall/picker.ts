/** The list “Recall…”: it answers while one types. */

import * as vscode from "vscode";
import { describe, MemoryError } from "../core/error";
import { rankingOf } from "../core/settings";
import type { Services } from "../core/services";
import { type Everywhere, type Found, retrieveEverywhere } from "./everywhere";
import { rowOf } from "./hit";
import { Latest } from "./latest";
import { type MemorySubject, subjectOfHit } from "./subject";
import { noteOf, plain } from "../core/text";

/** What is done with the memory that was chosen. */
export type Action = "open" | "insert" | "explain" | "history";

interface HitItem extends vscode.QuickPickItem {
  readonly subject?: MemorySubject;
  readonly error?: unknown;
}

interface ActionButton extends vscode.QuickInputButton {
  readonly action: Action;
}

/** Shows the list until the user chooses or leaves it. */
export function recall(
  services: Services,
  act: (action: Action, subject: MemorySubject) => unknown,
): vscode.Disposable {
  const pick = vscode.window.createQuickPick<HitItem>();
  const buttons: ActionButton[] = [
    { action: "insert", iconPath: new vscode.ThemeIcon("insert"), tooltip: "Insert into Editor" },
    { action: "explain", iconPath: new vscode.ThemeIcon("question"), tooltip: "Explain the Score" },
    { action: "history", iconPath: new vscode.ThemeIcon("history"), tooltip: "Show History of the Topic" },
  ];

  const title = "Recall";
  const latest = new Latest<Everywhere>(
    (query, signal) => retrieveEverywhere(services, { ...rankingOf(services.settings()), query }, signal),
    {
      busy: (isBusy) => (pick.busy = isBusy),
      answered: (answer, query) => {
        pick.items = itemsOf(answer, query);
        const { found, total } = answer;
        pick.title = found.length < total ? `${title}: ${found.length} of ${total}` : title;
      },
      failed: (error) => {
        services.log.error(describe(error));
        pick.items = [itemOf(error)];
      },
    },
  );

  const itemsOf = (answer: Everywhere, query: string): HitItem[] => {
    const item = ({ folder, folderName, hit, asOf }: Found): HitItem => ({
      ...rowOf(hit, Date.now(), vscode.env.language, folderName),
      subject: subjectOfHit(folder.uri.fsPath, hit, { query, asOf }),
      buttons: hit.topic_id === null ? buttons.filter(({ action }) => action !== "history") : buttons,
      alwaysShow: true, // the answer is what fits, also without the words that were typed
    });
    const none: HitItem = { label: "Nothing that is remembered fits this question.", alwaysShow: true };
    const notes = answer.warnings.map((warning): HitItem => ({ label: plain(noteOf(warning)), alwaysShow: true }));
    // Above hits that are probably no answer, and no row that Enter chooses.
    const above = notes.map((note): HitItem => ({ ...note, kind: vscode.QuickPickItemKind.Separator }));
    const rows = answer.found.map(item);
    if (answer.isOnlyWeak) return [...above, ...rows];
    return [...(rows.length > 0 ? rows : [none]), ...notes];
  };

  const choose = (action: Action, item: HitItem | undefined): void => {
    if (item?.subject !== undefined) act(action, item.subject);
    else if (item?.error !== undefined) void services.show(item.error);
    else return;
    pick.hide();
  };

  pick.title = title;
  pick.placeholder = "Ask in your own words";
  keepOrder(pick);
  const all = vscode.Disposable.from(
    pick,
    new vscode.Disposable(() => latest.cancel()),
    pick.onDidChangeValue((value) => {
      if (value.trim() === "") pick.items = [];
      latest.question(value);
    }),
    pick.onDidAccept(() => choose("open", pick.activeItems[0])),
    pick.onDidTriggerItemButton(({ item, button }) => choose((button as ActionButton).action, item)),
    pick.onDidHide(() => {
      all.dispose();
    }),
  );
  pick.show();
  return all;
}

/**
 * The answer's order is by score; by itself, the list moves labels with the typed words to the top. The property is no
 * part of the stable API, which has no other way, but editors take it; a run of the workbench shows if one does not.
 */
function keepOrder(pick: vscode.QuickPick<HitItem> & { sortByLabel?: boolean }): void {
  if ("sortByLabel" in pick) pick.sortByLabel = false;
}

function itemOf(error: unknown): HitItem {
  const remedy = error instanceof MemoryError ? error.remediation : "";
  const message = error instanceof Error ? error.message : describe(error);
  return { label: `$(error) ${plain(message)}`, detail: plain(remedy), error, alwaysShow: true };
}
