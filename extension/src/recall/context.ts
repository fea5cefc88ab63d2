/** “Insert Context” and “Copy Context”: the block of memories for a prompt. */

import * as vscode from "vscode";
import { rankingOf } from "../core/settings";
import { noteOf, plain } from "../core/text";
import { type Services, signalOf } from "../services";

const LONGEST_SUGGESTION = 200;

/** Asks for a question and returns its block; undefined if the user leaves, or if nothing fits. */
export async function askForContext(services: Services): Promise<string | undefined> {
  const folder = await services.folder();
  if (folder === undefined) return undefined;
  const query = await vscode.window.showInputBox({
    title: vscode.l10n.t("Context from Memory"),
    prompt: vscode.l10n.t("What is the context for? Ask in your own words."),
    value: selectedText(),
  });
  if (query === undefined || query.trim() === "") return undefined;
  const answer = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: vscode.l10n.t("Recalling…"), cancellable: true },
    (_, token) =>
      services.memoryOf(folder).context({ ...rankingOf(services.settings()), query: query.trim() }, signalOf(token)),
  );
  if (services.settings().logLevel !== "off") {
    services.log.info(`[Context] Query: ${JSON.stringify(query.trim())}`);
    for (const { position, memory_number, score, tokens } of answer.memories) {
      services.log.info(`[Context] ${position}: memory=${memory_number}, score=${score.toFixed(4)}, tokens=${tokens}`);
    }
  }
  for (const warning of answer.warnings) services.log.warn(warning);
  if (answer.context !== "") return answer.context;
  const nothing = vscode.l10n.t("Nothing that is remembered fits this question.");
  const notes = answer.warnings.map((warning) => plain(noteOf(warning)));
  void vscode.window.showInformationMessage([nothing, ...notes].join(" "));
  return undefined;
}

/** The selection of the active editor, if it is short enough to be a question. */
function selectedText(): string {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection).replace(/\s+/gu, " ").trim() ?? "";
  return text.length <= LONGEST_SUGGESTION ? text : "";
}
