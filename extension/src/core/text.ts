/** What a memory says, as text: on one line, in Markdown, and as a document that holds no link, image or HTML. */

/** Control characters, and marks that change the direction of the text around them. */
// eslint-disable-next-line no-control-regex -- they are what is removed
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const ZERO_WIDTH_SPACE = "\u200b";

/**
 * Text for a label or a message, which show `$(name)` as an icon and `[name](command:…)` as a link: on one line, and
 * without either.
 */
export function plain(text: string, longest = 200): string {
  return cut(onOneLine(text).replace(/[$\]](?=\()/gu, `$&${ZERO_WIDTH_SPACE}`), longest);
}

/** A text of at most so many characters. */
export function cut(text: string, longest: number): string {
  const characters = Array.from(text);
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join("")}…`;
}

/** Text for a rendered Markdown document, on one line: nothing in it has a meaning in Markdown. */
export function escaped(text: string): string {
  return onOneLine(text)
    .replace(/[\\`*_{}[\]()#+\-.!|~$:/@]/gu, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

const onOneLine = (text: string): string => text.replace(/\s+/gu, " ").replace(CONTROLS, "").trim();

/**
 * A Markdown text without links, images and HTML: a backslash before their signs makes them text. Headings, lists and
 * emphasis stay.
 */
export function inert(markdown: string): string {
  return markdown
    .replace(CONTROLS, "")
    .replace(/\](?=[([:])/gu, "]\\")
    .replace(/(\\*)<(?=[A-Za-z/!?])/gu, (_, before: string) =>
      before.length % 2 === 0 ? `${before}\\<` : `${before}<`,
    );
}

/** The text of a memory as its reader wants it: without the mark of the template at its beginning. */
export function withoutMark(summary: string): string {
  return summary.replace(/^\s*\\?<!-- [^\n]*Template: [^\n]* -->\n/u, "");
}

/** What a memory is about: the text of its section “Context”, or all of a text that has none. */
export function contextOf(summary: string): string {
  const section = /^## Context\n+([\s\S]*?)(?=^## |(?![\s\S]))/mu.exec(withoutMark(summary));
  return section?.[1]?.trim() || withoutMark(summary);
}

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 365 * 86_400_000],
  ["month", 30 * 86_400_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** How long ago a date was, such as “3 days ago”; empty without a date. */
export function age(date: string | null, now: number, language: string): string {
  const then = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(then)) return "";
  const format = new Intl.RelativeTimeFormat(language, { numeric: "always" });
  const [unit, length] = STEPS.find(([, each]) => Math.abs(now - then) >= each) ?? (["second", 1000] as const);
  return format.format(Math.trunc((then - now) / length), unit);
}

/** The day and the time of a date, which stay true while they are shown; empty without a date. */
export function when(date: string | null): string {
  const then = new Date(date ?? Number.NaN);
  if (Number.isNaN(then.getTime())) return "";
  return then.toLocaleString("sv", { dateStyle: "short", timeStyle: "short" }); // Swedish: 2026-11-20 09:05
}

/** The day of a date. */
export const day = (date: string | null): string => date?.slice(0, 10) ?? "";

/** A warning of an answer as a sentence. */
export function noteOf(warning: string): string {
  return `Note: ${warning.replace(/\.$/u, "")}.`;
}
