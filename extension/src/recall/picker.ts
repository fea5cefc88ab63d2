/** The list “Recall…”: it answers while one types. */

import * as vscode from "vscode";
import type { RetrievalHit, RetrievalSuccess } from "#types";
import { describe, MemoryError } from "../core/error";
import { rankingOf } from "../core/settings";
import type { Services } from "../services";
import { isOnlyWeak, logLines, rowOf } from "./hit";
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
  folder: vscode.WorkspaceFolder,
  act: (action: Action, subject: MemorySubject) => unknown,
): vscode.Disposable {
  const t = vscode.l10n.t;
  const memory = services.memoryOf(folder);
  const pick = vscode.window.createQuickPick<HitItem>();
  const buttons: ActionButton[] = [
    { action: "insert", iconPath: new vscode.ThemeIcon("insert"), tooltip: t("Insert into Editor") },
    { action: "explain", iconPath: new vscode.ThemeIcon("question"), tooltip: t("Explain the Score") },
    { action: "history", iconPath: new vscode.ThemeIcon("history"), tooltip: t("Show History of the Topic") },
  ];

  const title = services.folders().length > 1 ? t("Recall from {0}", folder.name) : t("Recall");
  const latest = new Latest<RetrievalSuccess>(
    (query, signal) => memory.retrieve({ ...rankingOf(services.settings()), query, best_passages: true }, signal),
    {
      busy: (isBusy) => (pick.busy = isBusy),
      answered: (answer, query) => {
        logAnswer(services, query, answer);
        pick.items = itemsOf(answer, query);
        const isCut = answer.result_count < answer.total_results;
        pick.title = isCut ? t("{0}: {1} of {2}", title, answer.result_count, answer.total_results) : title;
      },
      failed: (error) => {
        services.log.error(describe(error));
        pick.items = [itemOf(error)];
      },
    },
  );

  const itemsOf = (answer: RetrievalSuccess, query: string): HitItem[] => {
    const asked = { query, asOf: answer.as_of };
    const item = (hit: RetrievalHit): HitItem => ({
      ...rowOf(hit, Date.now(), vscode.env.language, t),
      subject: subjectOfHit(folder.uri.fsPath, hit, asked),
      buttons: hit.topic_id === null ? buttons.filter(({ action }) => action !== "history") : buttons,
      alwaysShow: true, // the answer is what fits, also without the words that were typed
    });
    const none: HitItem = { label: t("Nothing that is remembered fits this question."), alwaysShow: true };
    const notes = answer.warnings.map((warning): HitItem => ({ label: plain(noteOf(warning)), alwaysShow: true }));
    // Above hits that are probably no answer, and no row that Enter chooses.
    const above = notes.map((note): HitItem => ({ ...note, kind: vscode.QuickPickItemKind.Separator }));
    if (isOnlyWeak(answer)) return [...above, ...answer.results.map(item)];
    return [...(answer.results.length > 0 ? answer.results.map(item) : [none]), ...notes];
  };

  const choose = (action: Action, item: HitItem | undefined): void => {
    if (item?.subject !== undefined) act(action, item.subject);
    else if (item?.error !== undefined) void services.show(item.error);
    else return;
    pick.hide();
  };

  pick.title = title;
  pick.placeholder = t("Ask in your own words");
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

/** The answer's order is by score; by itself, the list would move labels with the typed words to the top. */
function keepOrder(pick: vscode.QuickPick<HitItem>): void {
  try {
    Object.assign(pick, { sortByLabel: false });
  } catch {
    // the editor does not let extensions set it: such labels come first
  }
}

function itemOf(error: unknown): HitItem {
  const remedy = error instanceof MemoryError ? error.remediation : "";
  const message = error instanceof Error ? error.message : describe(error);
  return { label: `$(error) ${plain(message)}`, detail: plain(remedy), error, alwaysShow: true };
}

/** Writes a question and its ranking to the log, as much as the setting says. */
export function logAnswer(services: Services, query: string, answer: RetrievalSuccess): void {
  const { logLevel } = services.settings();
  if (logLevel === "off") return;
  for (const line of logLines(query, answer, logLevel === "debug")) services.log.info(line);
  for (const warning of answer.warnings) services.log.warn(warning);
}
