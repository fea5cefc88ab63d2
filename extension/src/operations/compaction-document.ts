/** The preview of a compaction, as a Markdown document. */

import type { CompactionConflict, CompactionPreview } from "#types";
import { day, escaped } from "../core/text";

/** What would be merged, the decisions that contradict each other side by side, and the record that it would become. */
export function compactionDocument(preview: CompactionPreview): string {
  const { decision_record: record, summaries, conflicts, kept_both, warnings } = preview;
  const numbers = new Map(summaries.map((each) => [each.memory_id, each.memory_number]));
  const list = (title: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`### ${title}`, items.map((item) => `- ${escaped(item)}`).join("\n")];
  const sources = summaries.map(
    ({ memory_number, topic, created_at, source_created_at, decisions }) =>
      `| ${memory_number} | ${escaped(topic)} | ${day(source_created_at ?? created_at)} | ${decisions.length} |`,
  );
  const lines = [
    `# Compaction of ${escaped(record.topic)}`,
    `This is a preview: nothing has been changed. ${summaries.length} memories would become one decision record.`,
    ...warnings.map((warning) => `> **Check this:** ${escaped(warning)}`),
    "## Conflicts",
    conflicts.length === 0 ? "No two decisions contradict each other." : conflictTable(conflicts, numbers),
    ...(kept_both.length === 0
      ? []
      : ["## Conflicts that you rejected: both hold", conflictTable(kept_both, numbers, "later")]),
    "## The record it would become",
    escaped(record.summary_text),
    ...list("Decisions", record.consolidated_decisions),
    ...list("Rationale", record.consolidated_rationale),
    ...list("Open questions", record.key_open_questions),
    ...list("Next steps", record.next_steps),
    ...list("References", [
      ...record.key_references_files,
      ...record.key_references_plans,
      ...record.key_references_branches,
      ...record.key_references_issues,
    ]),
    "## The memories it would merge",
    ["| memory | topic | date | decisions |", "| ---: | --- | --- | ---: |", ...sources].join("\n"),
  ];
  return lines.join("\n\n").concat("\n");
}

function conflictTable(
  conflicts: readonly CompactionConflict[],
  numbers: ReadonlyMap<string, number>,
  later = "later, supersedes it",
): string {
  const side = ({ memory_id, text }: CompactionConflict["earlier"]): string =>
    `${escaped(text)} (memory ${numbers.get(memory_id) ?? "?"})`;
  const rows = conflicts.map(
    ({ earlier, later, kind, confidence }) =>
      `| ${side(earlier)} | ${side(later)} | ${kindOf(kind)}, ${Math.round(confidence * 100)} % |`,
  );
  return [`| earlier | ${later} | why |`, "| --- | --- | --- |", ...rows].join("\n");
}

function kindOf(kind: CompactionConflict["kind"]): string {
  const kinds: Readonly<Record<CompactionConflict["kind"], string>> = {
    negation: "one denies the other",
    choice: "another choice",
    value: "another amount",
    toggle: "the opposite",
    reversal: "taken back",
    replacement: "replaced",
  };
  return kinds[kind];
}

/** The conflicts of a compaction, as one sentence for its message; empty without any. */
export function conflictSentence(conflicts: number): string {
  if (conflicts === 0) return "";
  return conflicts === 1
    ? "1 conflict was found: the later decision holds."
    : `${conflicts} conflicts were found: the later decisions hold.`;
}
