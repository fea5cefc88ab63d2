/** The findings of `doctor` as rows, and which of their fixes this extension can carry out. */

import type { FoundTrouble } from "#types";
import { LEAVE_WHEN_IDLE } from "../core/memory";
import { plain } from "../core/text";
import type { Row } from "./row";

/** A fix: a command of the program, or one of this extension. */
export type Fix =
  | { readonly by: "program"; readonly verb: readonly string[]; readonly args: readonly string[] }
  | { readonly by: "extension"; readonly command: string };

/**
 * The program's commands that a remedy may name and that neither lose anything nor need a decision beyond “yes”. Only
 * these are run: a remedy is a text for a person.
 */
const COMMANDS: Readonly<Record<string, Fix>> = {
  "doctor --fix": { by: "program", verb: ["doctor"], args: ["--fix"] },
  "worker start": { by: "program", verb: ["worker", "start"], args: [LEAVE_WHEN_IDLE] },
  "worker restart": { by: "program", verb: ["worker", "restart"], args: [LEAVE_WHEN_IDLE] },
  "jobs resume": { by: "program", verb: ["jobs", "resume"], args: [] },
  "rebuild --what index": { by: "program", verb: ["rebuild"], args: ["--what=index"] },
  "rebuild --what graph": { by: "program", verb: ["rebuild"], args: ["--what=graph"] },
  setup: { by: "extension", command: "cognee.setUp" },
  trust: { by: "extension", command: "cognee.trust" },
};

const COMMAND = /cognee-memory ([a-z]+(?: (?:--what )?[a-z-]+)?)/gu;

/** How a finding can be fixed from here; null if a person must do something, or decide between several things. */
export function fixOf(finding: Pick<FoundTrouble, "level" | "fix" | "remedy">): Fix | null {
  if (finding.fix !== null) return COMMANDS["doctor --fix"] ?? null;
  if (finding.level === "ok") return null;
  const named = [...finding.remedy.matchAll(COMMAND)].map(([, words = ""]) => words);
  const known = [...new Set(named.flatMap((words) => nameIn(words) ?? []))];
  return named.length === 1 && known[0] !== undefined ? (COMMANDS[known[0]] ?? null) : null;
}

/** The longest known command that the words begin with. */
function nameIn(words: string): string | undefined {
  return Object.keys(COMMANDS).find((name) => words === name || words.startsWith(`${name} `));
}

/** What a fix runs, as a person would type it. */
export function commandOf(fix: Extract<Fix, { by: "program" }>): string {
  return ["cognee-memory", ...fix.verb, ...fix.args].join(" ");
}

const ICONS: Readonly<Record<FoundTrouble["level"], readonly [string, string]>> = {
  error: ["error", "list.errorForeground"],
  warning: ["warning", "list.warningForeground"],
  note: ["info", "foreground"],
  ok: ["pass", "testing.iconPassed"],
};

export function rowOfFinding(finding: FoundTrouble): Row {
  const [icon, colour] = ICONS[finding.level];
  const isOk = finding.level === "ok";
  return {
    id: `${finding.code}:${finding.group}:${finding.subject}`,
    label: isOk ? plain(finding.group) : plain(finding.message, 300),
    description: isOk ? "all checks passed" : `${finding.level} · ${plain(finding.subject)}`,
    tooltip: [plain(finding.message, 1000), isOk ? "" : plain(finding.remedy, 1000)].filter(Boolean).join("\n\n"),
    icon,
    colour,
    context: fixOf(finding) === null ? "finding" : "finding.command",
    ...(isOk ? {} : { children: finding.level === "note" ? "closed" : "open" }),
  };
}

/** The remedy below a finding, so that it is read without a mouse. */
export function rowOfRemedy(finding: FoundTrouble): Row {
  const id = `remedy:${finding.code}:${finding.group}:${finding.subject}`;
  return { id, label: plain(finding.remedy, 500), tooltip: plain(finding.remedy, 1000), icon: "lightbulb" };
}
