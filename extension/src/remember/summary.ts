/** A summary while it is written: as a Markdown document of the contract's template, and as the payload of a job. */

import type { Summary } from "#types";

/** The lists in the template's order; each item is one line. */
export const LISTS = [
  ["decisions", "Key Decisions"],
  ["rationale", "Rationale"],
  ["open_questions", "Open Questions"],
  ["next_steps", "Next Steps"],
  ["references", "References"],
] as const;

export type List = (typeof LISTS)[number][0];

export interface Draft extends Readonly<Record<List, string[]>> {
  readonly topic: string;
  /** The id of a known topic; otherwise the program makes it from the topic. */
  readonly topic_id?: string;
  readonly context: string;
  /** How many messages it sums up. */
  readonly turns?: number;
}

export const EMPTY: Draft = {
  topic: "",
  context: "",
  decisions: [],
  rationale: [],
  open_questions: [],
  next_steps: [],
  references: [],
};

type Section = List | "context" | "metadata" | "timeScope";

/** The headings that are read, in lower case. */
const SECTIONS: Readonly<Record<string, Section>> = {
  metadata: "metadata",
  context: "context",
  decisions: "decisions",
  "key decisions": "decisions",
  rationale: "rationale",
  "open questions": "open_questions",
  "next steps": "next_steps",
  references: "references",
  "time scope": "timeScope",
};

/** The document that the user edits. `hint` is a comment below its title, which names the tab. */
export function draftText(draft: Draft, hint: string): string {
  const lines = [`# Conversation Summary: ${line(draft.topic)}`, `<!-- ${line(hint.replaceAll("--", "–"))} -->`, ""];
  if (draft.topic_id !== undefined) lines.push("**Metadata:**", `- Topic ID: ${draft.topic_id}`, "");
  lines.push("## Context", ...draft.context.trim().split(/\r?\n/u).map(protect), "");
  for (const [list, title] of LISTS) {
    const items = draft[list].map(line).filter(Boolean);
    lines.push(`## ${title}`, ...(items.length === 0 ? ["- "] : items.map((item) => `- ${item}`)), "");
  }
  if (draft.turns !== undefined) lines.push("## Time Scope", `- Turn Count: ${draft.turns}`, "");
  return lines.join("\n");
}

/**
 * Reads an edited draft, or the answer of a model: the template, or its plain form (`Topic: …`, `Decisions:`). What it
 * does not know becomes context, so that nothing is lost.
 */
export function parseDraft(text: string): Draft {
  const lines = text
    .replace(/^\uFEFF/u, "")
    .replace(/^\s*```(?:markdown|md)?[ \t]*\n([\s\S]*?)\n```\s*$/u, "$1")
    .replace(/^(?:\s*<!--[\s\S]*?-->)+/u, "")
    .split(/\r?\n/u);
  const isTemplate = lines.some((each) => headingOf(each, true) !== undefined);
  const reader = new Reader();
  for (const each of lines) {
    const heading = headingOf(each, isTemplate);
    if (heading !== undefined) reader.begin(heading.section, heading.rest);
    else reader.add(each);
  }
  return reader.draft();
}

class Reader {
  private section: Section | undefined;
  private readonly context: string[] = [];
  private readonly read: { -readonly [Field in keyof Draft]: Draft[Field] } = structuredClone(EMPTY);

  begin(section: Section, rest: string): void {
    this.section = section;
    if (rest !== "") this.add(rest);
  }

  add(text: string): void {
    if (this.section === undefined) {
      const title = titleOf(text);
      if (title !== undefined && this.read.topic === "") this.read.topic = title;
      else if (text.trim() !== "" && !/^<!--.*-->$/u.test(text.trim())) this.context.push(text);
    } else if (this.section === "metadata") {
      const id = /^\s*-\s*Topic ID:\s*([a-z0-9][a-z0-9._-]{0,127})\s*$/iu.exec(text)?.[1];
      if (id !== undefined) this.read.topic_id = id.toLowerCase();
    } else if (this.section === "timeScope") {
      const count = /^\s*-?\s*Turn Count:\s*(\d{1,6})\s*$/iu.exec(text)?.[1];
      if (count !== undefined) this.read.turns = Number(count);
    } else if (this.section === "context") {
      this.context.push(text.replace(/^\\(?=\\*(?:#|\*\*Metadata))/u, ""));
    } else if (/^#{1,6}\s/u.test(text)) {
      this.section = "context"; // a section of the user's own
      this.context.push("", text);
    } else {
      this.addItem(this.read[this.section], text);
    }
  }

  private addItem(items: string[], text: string): void {
    const isContinued = /^\s/u.test(text) && !/^\s*(?:[-*+•]|\d{1,3}[.)])\s/u.test(text);
    const item = line(text.replace(/^\s*(?:[-*+•]|\d{1,3}[.)])(?:\s+|$)/u, ""));
    if (item === "" || /^(?:none|n\/a)\.?$/iu.test(item)) return;
    const last = items.at(-1);
    if (isContinued && last !== undefined) items[items.length - 1] = `${last} ${item}`;
    else items.push(item);
  }

  draft(): Draft {
    return { ...this.read, context: this.context.join("\n").trim() };
  }
}

/** The section that a line begins, in the template or in the plain form. */
function headingOf(text: string, isTemplate: boolean): { section: Section; rest: string } | undefined {
  const [, name, rest = ""] =
    /^(\*\*Metadata:\*\*)\s*$/u.exec(text) ??
    (isTemplate
      ? /^#{1,6}\s+([A-Za-z ]+?)\s*:?\s*$/u.exec(text)
      : /^(?:\*\*)?([A-Za-z ]+?)(?:\*\*)?:(?:\*\*)?\s*(.*)$/u.exec(text)) ??
    [];
  const section = SECTIONS[name?.replace(/[*:]/gu, "").toLowerCase() ?? ""];
  return section === undefined ? undefined : { section, rest };
}

function titleOf(text: string): string | undefined {
  const title =
    /^#\s+(?:(?:Conversation )?Summary:)?\s*(.*)$/iu.exec(text) ??
    /^(?:\*\*)?(?:Topic|Summary)(?:\*\*)?:(?:\*\*)?\s*(.*)$/iu.exec(text);
  return title?.[1] === undefined ? undefined : line(title[1]);
}

/** A line of the context that would begin a section is marked as text. */
function protect(text: string): string {
  return headingOf(text.replace(/^\\+/u, ""), true) === undefined ? text : `\\${text}`;
}

const line = (text: string): string => text.replace(/\s+/gu, " ").trim();

/** What the program cannot store: the section that lacks; undefined if it can. */
export function lackOf(draft: Draft): "topic" | "context" | undefined {
  if (draft.topic === "") return "topic";
  return draft.context === "" ? "context" : undefined;
}

/** The summary as a job has it. The program makes the topic's id from the topic unless the draft has one. */
export function summaryOf({ turns, ...draft }: Draft, sessionId: string): Summary {
  const plan = planOf(draft.references);
  return {
    ...draft,
    session_id: sessionId,
    ...(plan === null ? {} : { plan_id: plan }),
    ...(turns === undefined ? {} : { time_scope: { turn_count: turns } }),
  };
}

/** The first plan among the references: `Plan 015` and `agent-output/planning/plan-015-x.md` give `plan-015`. */
export function planOf(references: readonly string[]): string | null {
  for (const reference of references) {
    const number = /(?<![a-z0-9])plan[\s_-]*(\d+)(?![a-z0-9])/iu.exec(reference)?.[1];
    if (number !== undefined) return `plan-${number}`;
  }
  return null;
}
