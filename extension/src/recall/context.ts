/** “Insert Context” and “Copy Context”: the block of memories for a prompt. */

import * as vscode from "vscode";
import type { ContextRequest } from "#types";
import { input, waiting } from "../core/ask";
import { Ended } from "../core/error";
import { rankingOf } from "../core/settings";
import { noteOf, plain } from "../core/text";
import type { Services } from "../core/services";
import { ofEach } from "./everywhere";

const LONGEST_SUGGESTION = 200;

/** Asks for a question and returns its block. Throws Ended if the user leaves, or if nothing fits. */
export async function askForContext(services: Services): Promise<string> {
  const folders = services.foldersToAsk();
  const query = await input({
    title: "Context from Memory",
    prompt: "What is the context for? Ask in your own words.",
    value: selectedText(),
  });
  if (query.trim() === "") throw new Ended();
  const { context, warnings } = await waiting("Recalling…", (signal) =>
    contextEverywhere(services, folders, query.trim(), signal),
  );
  if (context !== "") return context;
  const nothing = "Nothing that is remembered fits this question.";
  const notes = warnings.map((warning) => plain(noteOf(warning)));
  throw new Ended([nothing, ...notes].join(" "));
}

/** The block of memories for a question, of all folders, each with its share of the room. It is written to the log. */
export async function contextEverywhere(
  services: Services,
  folders: readonly vscode.WorkspaceFolder[],
  query: string,
  signal: AbortSignal,
  wanted: Partial<ContextRequest> = {},
): Promise<{ readonly context: string; readonly warnings: readonly string[] }> {
  const ranking = rankingOf(services.settings());
  const room = wanted.max_tokens ?? services.settings().maxTokens;
  const max_tokens = Math.max(1, Math.floor(room / folders.length));
  const { answers, warnings } = await ofEach(folders, (folder) =>
    services.memoryOf(folder).ask("context", { ...ranking, ...wanted, query, max_tokens }, signal),
  );
  services.log.info(`[Context] Query: ${JSON.stringify(query)}`);
  const blocks = answers.flatMap(({ folder, answer: { context, memories } }) => {
    for (const { position, memory_number, score, tokens } of memories)
      services.log.info(`[Context] ${position}: memory=${memory_number}, score=${score.toFixed(4)}, tokens=${tokens}`);
    if (context === "") return [];
    return [folders.length === 1 ? context : `Folder ${JSON.stringify(folder.name)}:\n\n${context}`];
  });
  for (const warning of warnings) services.log.warn(warning);
  return { context: blocks.join("\n\n"), warnings };
}

/** The selection of the active editor, if it is short enough to be a question. */
function selectedText(): string {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection).replace(/\s+/gu, " ").trim() ?? "";
  return text.length <= LONGEST_SUGGESTION ? text : "";
}
