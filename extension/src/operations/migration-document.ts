/** What a migration would do, as a Markdown document. */

import type { MigratedItem, Migration } from "#types";
import { day, escaped } from "../core/text";

export function migrationDocument(migration: Migration): string {
  const { items } = migration;
  const failed = items.filter(({ outcome }) => outcome === "failed");
  const others = items.filter(({ outcome }) => outcome !== "failed" && outcome !== "skipped");
  const lines = [
    "# Migration: what would happen",
    "Nothing has been changed. The texts of the earlier version stay where they are.",
    counts(migration),
    ...migration.warnings.map((warning) => `> **Check this:** ${escaped(warning)}`),
  ];
  if (failed.length > 0) {
    const rows = failed.map(({ source, reason }) => `| ${escaped(source.file)} | ${escaped(reason ?? "")} |`);
    lines.push("## Would fail", ["| file | reason |", "| --- | --- |", ...rows].join("\n"));
  }
  if (others.length > 0) {
    const head = ["becomes", "title", "topic", "session", "plan", "status", "date"];
    const rows = others.map((item) => rowOf(item));
    lines.push(
      "## Would be migrated",
      [`| ${head.join(" | ")} |`, `|${" --- |".repeat(head.length)}`, ...rows].join("\n"),
    );
  }
  if (migration.items_omitted > 0) lines.push(`${migration.items_omitted} more are not listed here.`);
  return lines.join("\n\n").concat("\n");
}

function counts({ found, migrated, already_migrated, forgotten, failed, skipped, redactions }: Migration): string {
  const rows: readonly (readonly [string, number])[] = [
    ["texts of an earlier version", found],
    ["would be migrated", migrated],
    ["are migrated already", already_migrated],
    ["were forgotten, and stay forgotten", forgotten],
    ["would fail", failed],
    ["other texts, left alone", skipped],
    ["likely secrets that would be replaced", redactions?.total ?? 0],
  ];
  return rows.map(([name, count]) => `- ${name}: ${count}`).join("\n");
}

function rowOf(item: MigratedItem): string {
  const became =
    item.outcome === "migrated"
      ? item.memory_type === "legacy"
        ? "legacy memory"
        : "summary"
      : item.outcome === "forgotten"
        ? "nothing: forgotten"
        : "nothing: migrated already";
  const cells = [item.title, item.topic_id, item.session_id, item.plan_id, item.status, day(item.created_at)];
  return `| ${became} | ${cells.map((cell) => escaped(cell ?? "")).join(" | ")} |`;
}
