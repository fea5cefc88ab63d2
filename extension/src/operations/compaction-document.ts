/** The preview of a compaction, as a Markdown document. */

import type { CompactionConflict, CompactionPreview } from "#types";
import type { Translate } from "../recall/hit";
import { day, escaped } from "../core/text";

/** What would be merged, the decisions that contradict each other side by side, and the record that it would become. */
export function compactionDocument(preview: CompactionPreview, t: Translate): string {
  const { decision_record: record, summaries, conflicts, kept_both, warnings } = preview;
  const numbers = new Map(summaries.map((each) => [each.memory_id, each.memory_number]));
  const list = (title: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`### ${title}`, items.map((item) => `- ${escaped(item)}`).join("\n")];
  const sources = summaries.map(
    ({ memory_number, topic, created_at, source_created_at, decisions }) =>
      `| ${memory_number} | ${escaped(topic)} | ${day(source_created_at ?? created_at)} | ${decisions.length} |`,
  );
  const lines = [
    `# ${t("Compaction of {0}", escaped(record.topic))}`,
    t("This is a preview: nothing has been changed. {0} memories would become one decision record.", summaries.length),
    ...warnings.map((warning) => `> **${t("Check this:")}** ${escaped(warning)}`),
    `## ${t("Conflicts")}`,
    conflicts.length === 0 ? t("No two decisions contradict each other.") : conflictTable(conflicts, numbers, t),
    ...(kept_both.length === 0
      ? []
      : [`## ${t("Conflicts that you rejected: both hold")}`, conflictTable(kept_both, numbers, t, t("later"))]),
    `## ${t("The record it would become")}`,
    escaped(record.summary_text),
    ...list(t("Decisions"), record.consolidated_decisions),
    ...list(t("Rationale"), record.consolidated_rationale),
    ...list(t("Open questions"), record.key_open_questions),
    ...list(t("Next steps"), record.next_steps),
    ...list(t("References"), [
      ...record.key_references_files,
      ...record.key_references_plans,
      ...record.key_references_branches,
      ...record.key_references_issues,
    ]),
    `## ${t("The memories it would merge")}`,
    [
      `| ${t("memory")} | ${t("topic")} | ${t("date")} | ${t("decisions")} |`,
      "| ---: | --- | --- | ---: |",
      ...sources,
    ].join("\n"),
  ];
  return lines.join("\n\n").concat("\n");
}

function conflictTable(
  conflicts: readonly CompactionConflict[],
  numbers: ReadonlyMap<string, number>,
  t: Translate,
  later = t("later, supersedes it"),
): string {
  const side = ({ memory_id, text }: CompactionConflict["earlier"]): string =>
    `${escaped(text)} (${t("memory {0}", numbers.get(memory_id) ?? "?")})`;
  const rows = conflicts.map(
    ({ earlier, later, kind, confidence }) =>
      `| ${side(earlier)} | ${side(later)} | ${kindOf(kind, t)}, ${Math.round(confidence * 100)} % |`,
  );
  return [`| ${t("earlier")} | ${later} | ${t("why")} |`, "| --- | --- | --- |", ...rows].join("\n");
}

function kindOf(kind: CompactionConflict["kind"], t: Translate): string {
  const kinds: Readonly<Record<CompactionConflict["kind"], string>> = {
    negation: t("one denies the other"),
    choice: t("another choice"),
    value: t("another amount"),
    toggle: t("the opposite"),
    reversal: t("taken back"),
    replacement: t("replaced"),
  };
  return kinds[kind];
}

/** The conflicts of a compaction, as one sentence for its message; empty without any. */
export function conflictSentence(conflicts: number, t: Translate): string {
  if (conflicts === 0) return "";
  return conflicts === 1
    ? t("1 conflict was found: the later decision holds.")
    : t("{0} conflicts were found: the later decisions hold.", conflicts);
}
