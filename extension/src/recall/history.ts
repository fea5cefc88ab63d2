/** The history of a topic, as a Markdown document: its memories with those that were replaced, and its compactions. */

import type { MemoryLine, MemoryText, PastCompaction } from "#types";
import { badge, type Translate } from "./hit";
import { day, escaped } from "../core/text";
import { bodyOf } from "./memory-document";

export interface TopicHistory {
  readonly topicId: string;
  /** The newest first. */
  readonly memories: readonly MemoryLine[];
  readonly total: number;
  /** The texts of the newest ones, by id. */
  readonly texts: ReadonlyMap<string, MemoryText>;
  readonly compactions: readonly PastCompaction[];
}

export function historyDocument({ topicId, memories, total, texts, compactions }: TopicHistory, t: Translate): string {
  const replacements = new Map<string, PastCompaction>();
  for (const compaction of compactions.filter((each) => each.restored_at === null)) {
    for (const id of compaction.superseded) replacements.set(id, compaction);
  }
  const title = memories[0]?.title ?? topicId;
  const lines = [`# ${escaped(title)}`, t("{0} memories, the newest first.", total)];
  for (const memory of memories) {
    lines.push(`## ${headingOf(memory, t)}`);
    const replacement = replacements.get(memory.memory_id);
    if (replacement !== undefined)
      lines.push(t("Merged into {0} on {1}.", recordOf(replacement, t), day(replacement.applied_at)));
    const text = texts.get(memory.memory_id);
    if (text !== undefined) lines.push(quoted(bodyOf(text, title)));
  }
  if (memories.length < total) lines.push(t("{0} older memories are not shown.", total - memories.length));
  if (compactions.length > 0)
    lines.push(`## ${t("Compactions")}`, compactions.map((each) => lineOf(each, t)).join("\n"));
  return lines.join("\n\n").concat("\n");
}

function headingOf(memory: MemoryLine, t: Translate): string {
  const status = badge(memory.memory_type, memory.status, t);
  const date = day(memory.source_created_at ?? memory.created_at);
  return [t("Memory {0}", memory.memory_number), date, status === "" ? "" : `**${status}**`]
    .filter(Boolean)
    .join(" · ");
}

/** As a quotation: its headings do not mix with those of the document. */
function quoted(markdown: string): string {
  return markdown.trim().replace(/^/gmu, "> ");
}

const recordOf = (compaction: PastCompaction, t: Translate): string =>
  compaction.memory_number === null ? t("a record") : t("memory {0}", compaction.memory_number);

function lineOf(compaction: PastCompaction, t: Translate): string {
  const made = t(
    "{0}: {1} memories merged into {2}",
    day(compaction.applied_at),
    compaction.superseded.length,
    recordOf(compaction, t),
  );
  return compaction.restored_at === null
    ? `- ${made}`
    : `- ${made}; ${t("undone on {0}", day(compaction.restored_at))}`;
}
