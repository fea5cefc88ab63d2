/** What an agent gives to be remembered: its input, checked; and what the user is asked to confirm. */

import { escaped } from "../core/text";
import { type Draft, EMPTY, type List, LISTS, planOf } from "../remember/summary";

/** The most characters of all texts together. */
const LONGEST = 50_000;

/** The draft of an agent's input. Throws an error with a sentence that says what is wrong with it, for the agent. */
export function draftOf(input: unknown): Draft {
  if (typeof input !== "object" || input === null)
    throw new Error("The input must be an object with topic and context.");
  const given = input as Record<string, unknown>;
  const topic = textOf(given["topic"]);
  const context = textOf(given["context"]);
  if (topic === "" || context === "") throw new Error("topic and context must be texts that are not empty.");
  const lists: Partial<Record<List, string[]>> = {};
  for (const [name] of LISTS) {
    const value = given[name];
    if (value === undefined || value === null) continue;
    if (!Array.isArray(value) || value.some((each) => typeof each !== "string"))
      throw new Error(`${name} must be a list of texts.`);
    lists[name] = (value as string[]).map((each) => each.trim()).filter(Boolean);
  }
  const draft: Draft = { ...EMPTY, topic: topic.replace(/\s+/gu, " "), context, ...lists };
  const length = JSON.stringify(draft).length;
  if (length <= LONGEST) return draft;
  throw new Error(`The summary has ${length} characters; at most ${LONGEST} are stored. Shorten it.`);
}

/** All that would be stored, as Markdown in which the texts have no meaning of their own. */
export function confirmationOf(draft: Draft, folder: string): string {
  const plan = planOf(draft.references);
  const lines = [
    `Into the memory of ${escaped(folder)}:`,
    "",
    `**${escaped(draft.topic)}**`,
    "",
    ...draft.context.split(/\r?\n/u).map((line) => `> ${escaped(line)}`),
  ];
  const add = (title: string, items: readonly string[]): void => {
    if (items.length > 0) lines.push("", `**${title}**`, "", ...items.map((item) => `- ${escaped(item)}`));
  };
  for (const [name, title] of LISTS) add(title, draft[name]);
  add("Plan", plan === null ? [] : [plan]);
  return lines.join("\n");
}

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");
