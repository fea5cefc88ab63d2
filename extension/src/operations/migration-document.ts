/** What a migration would do, as a Markdown document. */

import type { MigratedItem, Migration } from "#types";
import type { Translate } from "../recall/hit";
import { day, escaped } from "../core/text";

export function migrationDocument(migration: Migration, t: Translate): string {
  const { items } = migration;
  const failed = items.filter(({ outcome }) => outcome === "failed");
  const others = items.filter(({ outcome }) => outcome !== "failed" && outcome !== "skipped");
  const lines = [
    `# ${t("Migration: what would happen")}`,
    t("Nothing has been changed. The texts of the earlier version stay where they are."),
    counts(migration, t),
    ...migration.warnings.map((warning) => `> **${t("Check this:")}** ${escaped(warning)}`),
  ];
  if (failed.length > 0) {
    const rows = failed.map(({ source, reason }) => `| ${escaped(source.file)} | ${escaped(reason ?? "")} |`);
    lines.push(`## ${t("Would fail")}`, [`| ${t("file")} | ${t("reason")} |`, "| --- | --- |", ...rows].join("\n"));
  }
  if (others.length > 0) {
    const head = [t("becomes"), t("title"), t("topic"), t("session"), t("plan"), t("status"), t("date")];
    const rows = others.map((item) => rowOf(item, t));
    lines.push(
      `## ${t("Would be migrated")}`,
      [`| ${head.join(" | ")} |`, `|${" --- |".repeat(head.length)}`, ...rows].join("\n"),
    );
  }
  if (migration.items_omitted > 0) lines.push(t("{0} more are not listed here.", migration.items_omitted));
  return lines.join("\n\n").concat("\n");
}

function counts(
  { found, migrated, already_migrated, forgotten, failed, skipped, redactions }: Migration,
  t: Translate,
): string {
  const rows: readonly (readonly [string, number])[] = [
    [t("texts of an earlier version"), found],
    [t("would be migrated"), migrated],
    [t("are migrated already"), already_migrated],
    [t("were forgotten, and stay forgotten"), forgotten],
    [t("would fail"), failed],
    [t("other texts, left alone"), skipped],
    [t("likely secrets that would be replaced"), redactions?.total ?? 0],
  ];
  return rows.map(([name, count]) => `- ${name}: ${count}`).join("\n");
}

function rowOf(item: MigratedItem, t: Translate): string {
  const became =
    item.outcome === "migrated"
      ? item.memory_type === "legacy"
        ? t("legacy memory")
        : t("summary")
      : item.outcome === "forgotten"
        ? t("nothing: forgotten")
        : t("nothing: migrated already");
  const cells = [item.title, item.topic_id, item.session_id, item.plan_id, item.status, day(item.created_at)];
  return `| ${became} | ${cells.map((cell) => escaped(cell ?? "")).join(" | ")} |`;
}
