/** A memory as its reader wants it: what was decided and why first, and what else is known of it as one line at the end. */

import type { MemoryText } from "#types";
import { day, escaped, inert, withoutMark } from "../core/text";
import { badge } from "./hit";
import { quoted, remarksOf } from "./standing";

/** The sections that come first; the others follow as they are. */
const FIRST = [/Decisions$/u, /Rationale$/u];

/**
 * The text of a memory in Markdown, without the marks and the metadata of its template. Below its title stand what was
 * replaced or is disputed, and then `review`, a link to the review of these decisions.
 */
export function memoryDocument(memory: MemoryText, review = ""): string {
  const body = bodyOf(memory);
  const title = /^# .*\n+/u.exec(body)?.[0] ?? "";
  const remarks = remarksOf(memory);
  const top = [quoted([...outdated(memory), ...remarks]), remarks.length > 0 ? review : ""];
  const parts = [title.trim(), ...top, body.slice(title.length), "---", factsOf(memory)];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

/** That answers leave a memory out, and why: by what it is superseded if somebody said so. */
function outdated({ hidden, status, feedback }: MemoryText): string[] {
  if (hidden) return ["Answers leave it out: its compaction was undone, or another memory was made of it."];
  const by = feedback.given.find((each) => each.by === "status")?.note ?? "";
  return status === "Superseded" ? [`Superseded: answers leave it out. ${by}`] : [];
}

/** The text of a memory without the line of what else is known of it; without its title below a heading that has it. */
export function bodyOf({ summary_text, title }: Pick<MemoryText, "summary_text" | "title">, above?: string): string {
  const text = withoutMark(summary_text);
  const isForm = /^\*\*Metadata:\*\*$/mu.test(text);
  return isForm
    ? [...(title === above ? [] : [`# ${escaped(title)}`]), ...ordered(text)].join("\n\n")
    : inert(text.trim());
}

/** The sections of a text of the template, without what comes before them. Only a context may hold Markdown. */
function ordered(text: string): string[] {
  const [, ...sections] = text.split(/^(?=## )/mu).map((section) => section.trim());
  const place = (section: string): number => {
    const heading = section.split("\n", 1)[0] ?? "";
    const at = FIRST.findIndex((each) => each.test(heading));
    return at === -1 ? FIRST.length : at;
  };
  sections.sort((one, other) => place(one) - place(other));
  return sections.map((section) => (section.startsWith("## Context") ? inert(section) : asWritten(section)));
}

/** Headings and items in which nothing else has a meaning in Markdown. The template puts a backslash before a line that
 * looks like one of its own. */
const asWritten = (section: string): string =>
  section.replace(
    /^(## |- | {2})?(?:\\(?=\\*(?:#|<!--|\*\*|-)))?(.*)$/gmu,
    (_, sign: string | undefined, line: string) => (sign ?? "") + escaped(line),
  );

function factsOf(memory: MemoryText): string {
  const { memory_number, memory_type, status, topic_id, session_id, plan_id, tags, source_created_at, created_at } =
    memory;
  const facts = [
    `Memory ${memory_number}`,
    memory_type === "legacy" ? "Legacy" : badge(memory_type, status),
    day(source_created_at ?? created_at),
    topic_id === null ? "" : `topic ${topic_id}`,
    session_id === null ? "" : `session ${session_id}`,
    plan_id === null ? "" : `plan ${plan_id}`,
    tags.length === 0 ? "" : `tags ${escaped(tags.join(", "))}`,
    escaped(memory.in_code?.remark ?? ""),
  ];
  return inert(facts.filter(Boolean).join(" · "));
}
