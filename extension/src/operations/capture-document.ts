/** What a capture of other tools' sessions would keep, as a Markdown document. */

import type { Captured, CapturedSessionItem } from "#types";
import { day, escaped, withoutMark } from "../core/text";

export function captureDocument(captured: Captured): string {
  // Of a tool that is not enabled, the list beside the document asks.
  const warnings = captured.warnings.filter((warning) => !warning.includes("capture enable"));
  const shown = captured.items.filter(({ outcome }) => outcome !== "unchanged");
  const lines = [
    "# Capture: what would be kept",
    "Nothing has been stored. Tool output, file contents and private parts are left out; secrets are replaced.",
    counts(captured),
    ...warnings.map((warning) => `> **Check this:** ${escaped(warning)}`),
  ];
  if (shown.length > 0) {
    const head = ["tool", "date", "topic", "decisions", "reason"];
    lines.push([`| ${head.join(" | ")} |`, `|${" --- |".repeat(head.length)}`, ...shown.flatMap(rowsOf)].join("\n"));
  }
  if (captured.items_omitted > 0) lines.push(`${captured.items_omitted} more are not listed here.`);
  for (const { summary_text: text, topic } of shown.flatMap(({ memories }) => memories))
    if (text !== null) lines.push(`## ${escaped(topic)}`, withoutHeading(text).split("\n").map(escaped).join("  \n"));
  return lines.join("\n\n").concat("\n");
}

/** A summary's text without its title, which stands above it, and its metadata. */
const withoutHeading = (text: string): string =>
  withoutMark(text)
    .replace(/^# [^\n]*\n+\*\*Metadata:\*\*\n(?:- [^\n]*\n)*/u, "")
    .trim();

/** The tools that have something to keep. */
export function toolsIn(captured: Captured): string[] {
  const tools = captured.items.filter(({ outcome }) => outcome === "captured").map(({ tool }) => tool);
  return [...new Set(tools)].sort();
}

function counts({ sessions, memories, unchanged, failed, redactions }: Captured): string {
  const rows: readonly (readonly [string, number])[] = [
    ["sessions of this folder", sessions],
    ["memories that would be added", memories],
    ["are captured already", unchanged],
    ["cannot be read", failed],
    ["likely secrets that would be replaced", redactions?.total ?? 0],
  ];
  return rows.map(([name, count]) => `- ${name}: ${count}`).join("\n");
}

function rowsOf({ tool, modified_at, title, reason, memories }: CapturedSessionItem): string[] {
  const row = (date: string | null, topic: string, decisions: string) =>
    `| ${[tool, day(date), topic, decisions, reason ?? ""].map(escaped).join(" | ")} |`;
  if (memories.length === 0) return [row(modified_at, title ?? "", "")];
  return memories.map(({ created_at, topic, decisions }) => row(created_at, topic, decisions ? String(decisions) : ""));
}
