/** A conversation, and the draft of its summary: by a language model, or by the user from its turns. */

import * as vscode from "vscode";
import { decisionsIn, promptOf, topicOf, type Turn, withinBudget, withinTokens } from "./turns";
import { type Draft, EMPTY, lackOf, parseDraft } from "./summary";

/** The part of a model's input that the conversation may fill; the rest is for the request and the answer. */
const SHARE = 0.7;
/** The most of a conversation that a draft without a model holds. */
const LONGEST_CONTEXT = 20_000;

/**
 * The draft of a conversation's summary, for the user to edit. Without a model, or where its answer is no summary, the
 * draft's context is the conversation itself. Throws the model's error, or the signal's reason if that comes first.
 */
export async function draftSummary(
  turns: readonly Turn[],
  model: vscode.LanguageModelChat | undefined,
  signal: AbortSignal,
): Promise<Draft> {
  const spoken = turns.filter(({ text }) => text.trim() !== "");
  if (model === undefined) return draftOfTurns(spoken);
  const sent = withinTokens(spoken, model.maxInputTokens * SHARE);
  const message = vscode.LanguageModelChatMessage.User(promptOf(sent));
  const justification = "To write the summary of this conversation, which you read before it is stored.";
  signal.throwIfAborted();
  const source = new vscode.CancellationTokenSource();
  signal.addEventListener("abort", () => source.cancel());
  const response = await model.sendRequest([message], { justification }, source.token);
  let answer = "";
  for await (const part of response.text) {
    signal.throwIfAborted();
    answer += part;
  }
  signal.throwIfAborted();
  const draft = parseDraft(answer);
  return lackOf(draft) === undefined ? { ...draft, turns: spoken.length } : draftOfTurns(spoken);
}

/** The draft without a model: its topic is the first request, its context the latest turns. */
export function draftOfTurns(turns: readonly Turn[]): Draft {
  return {
    ...EMPTY,
    topic: topicOf(turns),
    context: withinBudget(turns, LONGEST_CONTEXT)
      .map(({ role, text }) => `${role === "user" ? "User" : "Assistant"}: ${text.trim()}`)
      .join("\n\n"),
    decisions: decisionsIn(turns),
    turns: turns.length,
  };
}
