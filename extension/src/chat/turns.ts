/** The turns of a chat with this participant, from the editor's history. */

import * as vscode from "vscode";
import type { Turn } from "../remember/turns";

/** The requests and answers before this one, oldest first. An answer's buttons and references are left out. */
export function turnsOf(history: vscode.ChatContext["history"]): Turn[] {
  return history
    .map((turn): Turn =>
      turn instanceof vscode.ChatRequestTurn
        ? { role: "user", text: turn.prompt }
        : { role: "assistant", text: textOf(turn) },
    )
    .filter(({ text }) => text.trim() !== "");
}

function textOf({ response }: vscode.ChatResponseTurn): string {
  return response
    .map((part) => (part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : ""))
    .join("")
    .trim();
}
