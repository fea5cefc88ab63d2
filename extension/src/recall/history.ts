/** The history of a topic, as a Markdown document: its memories with those that were replaced, and its compactions. */

import type { MemoryLine, MemoryText, PastCompaction } from "#types";
import { badge } from "./hit";
import { day, escaped } from "../core/text";
import { bodyOf } from "./memory-document";
import { remarksOf } from "./standing";

export interface TopicHistory {
  readonly topicId: string;
  /** The newest first. */
  readonly memories: readonly MemoryLine[];
  readonly total: number;
  /** The texts of the newest ones, by id. */
  readonly texts: ReadonlyMap<string, MemoryText>;
  readonly compactions: readonly PastCompaction[];
}

export function historyDocument({ topicId, memories, total, texts, compactions }: TopicHistory): string {
  const replacements = new Map<string, PastCompaction>();
  for (const compaction of compactions.filter((each) => each.restored_at === null)) {
    for (const id of compaction.superseded) replacements.set(id, compaction);
  }
  const title = memories[0]?.title ?? topicId;
  const lines = [`# ${escaped(title)}`, `${total} memories, the newest first.`];
  for (const memory of memories) {
    lines.push(`## ${headingOf(memory)}`);
    const replacement = replacements.get(memory.memory_id);
    if (replacement !== undefined)
      lines.push(`Merged into ${recordOf(replacement)} on ${day(replacement.applied_at)}.`);
    const text = texts.get(memory.memory_id);
    lines.push(...remarksOf(memory).map(escaped));
    if (text !== undefined) lines.push(quoted(bodyOf(text, title)));
  }
  if (memories.length < total) lines.push(`${total - memories.length} older memories are not shown.`);
  if (compactions.length > 0) lines.push("## Compactions", compactions.map((each) => lineOf(each)).join("\n"));
  return lines.join("\n\n").concat("\n");
}

function headingOf(memory: MemoryLine): string {
  const status = badge(memory.memory_type, memory.status);
  const date = day(memory.source_created_at ?? memory.created_at);
  return [`Memory ${memory.memory_number}`, date, status === "" ? "" : `**${status}**`].filter(Boolean).join(" · ");
}

/** As a quotation: its headings do not mix with those of the document. */
function quoted(markdown: string): string {
  return markdown.trim().replace(/^/gmu, "> ");
}

const recordOf = (compaction: PastCompaction): string =>
  compaction.memory_number === null ? "a record" : `memory ${compaction.memory_number}`;

function lineOf(compaction: PastCompaction): string {
  const made = `${day(compaction.applied_at)}: ${compaction.superseded.length} memories merged into ${recordOf(compaction)}`;
  return compaction.restored_at === null ? `- ${made}` : `- ${made}; undone on ${day(compaction.restored_at)}`;
}
