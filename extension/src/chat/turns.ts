/** The turns of a chat with this participant, from the editor's history. */

import * as vscode from "vscode";
import type { Turn } from "../remember/turns";
import { outcomeOf } from "./followups";

/**
 * The requests and answers before this one, oldest first. Memories that an answer showed are left out: they would be
 * remembered again, and a model would get them without their quotation.
 */
export function turnsOf(history: vscode.ChatContext["history"]): Turn[] {
  return history
    .map((turn): Turn =>
      turn instanceof vscode.ChatRequestTurn
        ? { role: "user", text: turn.prompt }
        : { role: "assistant", text: textOf(turn) },
    )
    .filter(({ text }) => text.trim() !== "");
}

function textOf({ response, result }: vscode.ChatResponseTurn): string {
  const outcome = outcomeOf(result.metadata);
  if (outcome !== undefined) return outcome.said ?? "";
  return response
    .map((part) => (part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : ""))
    .join("")
    .trim();
}
