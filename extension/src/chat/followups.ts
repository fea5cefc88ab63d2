/** What is offered after an answer: the next questions, and to remember the conversation. */

import type { ChatFollowup } from "vscode";

/** What an answer leaves for the offers after it, as the editor stores it with the conversation. */
export interface Outcome {
  readonly command: string;
  /** The topic of the first hit; undefined if nothing was found. */
  readonly topic?: string;
  /** Whether the user stated a decision, so that the conversation is worth remembering. */
  readonly hasDecisions: boolean;
  /** What the model said, without the memories that were shown beside it. */
  readonly said?: string;
}

export function followupsOf(outcome: Outcome): ChatFollowup[] {
  const offers: ChatFollowup[] = [];
  const { command, topic } = outcome;
  if (topic !== undefined && command !== "history") {
    offers.push({ prompt: topic, command: "history", label: "What was decided about it before?" });
  }
  if (topic !== undefined && command === "recall") {
    offers.push({ prompt: `What did we decide about ${topic}, and why?`, label: "Answer from these memories" });
  }
  if (outcome.hasDecisions && command !== "remember") {
    offers.push({ prompt: "", command: "remember", label: "Remember this conversation" });
  }
  return offers;
}

/** An outcome that the editor gives back; undefined if it is none of ours. */
export function outcomeOf(metadata: unknown): Outcome | undefined {
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const { command, topic, said, hasDecisions: decided } = metadata as Partial<Record<keyof Outcome, unknown>>;
  if (typeof command !== "string" || typeof decided !== "boolean") return undefined;
  return {
    command,
    hasDecisions: decided,
    ...(typeof topic === "string" ? { topic } : {}),
    ...(typeof said === "string" ? { said } : {}),
  };
}
