/** What was said or found about the decisions of a memory: which another one replaced, and which are disputed. */

import type { MemoryLine, ReviewedPair, ReviewedStatement } from "#types";
import { day, escaped, plain } from "../core/text";

export const REVIEW = "cognee.reviewContradictions";

/** The pairs that a decision of this memory belongs to; what is disputed first. */
export function pairsOf(pairs: readonly ReviewedPair[], memoryId: string): ReviewedPair[] {
  const own = pairs.filter(({ older, newer }) => older.memory_id === memoryId || newer.memory_id === memoryId);
  return own.sort((one, other) => Number(other.state === "disputed") - Number(one.state === "disputed"));
}

/** A sentence for each decision of a memory that is disputed or was replaced, and by what. */
export function remarksOf({ standings }: Pick<MemoryLine, "standings">): string[] {
  return standings.map(({ state, statement, by }) => {
    const what = state === "replaced" ? "was replaced by" : "may contradict";
    return `“${statement}” ${what} “${by.statement}” (${placeOf(by)}).`;
  });
}

/** Where a statement stands: its memory and date. */
export function placeOf({ memory_number, dated_at }: ReviewedStatement): string {
  return [`memory ${memory_number}`, day(dated_at)].filter(Boolean).join(", ");
}

/** The remarks as a Markdown quotation, a paragraph each; empty without remarks. */
export function quoted(remarks: readonly string[]): string {
  return remarks.map((text) => `> ${escaped(plain(text, 1000))}`).join("\n>\n");
}

/** A link to the review of a memory's decisions. It stands below the quotation, where links have contrast. */
export function reviewLink(folder: string, id: string): string {
  const subject = encodeURIComponent(JSON.stringify([{ kind: "memory", folder, id }]));
  return `[Review…](<command:${REVIEW}?${subject}>)`;
}
