/** What was said or found about the decisions of a memory: which another one replaced, and which are disputed. */

import type { ReviewedPair, ReviewedStatement } from "#types";
import { day, escaped, plain } from "../core/text";
import type { Translate } from "./hit";

export interface Remark {
  readonly state: "disputed" | "replaced";
  readonly text: string;
}

export const REVIEW = "cognee.reviewContradictions";

/** The pairs that a decision of this memory belongs to; what is disputed first. */
export function pairsOf(pairs: readonly ReviewedPair[], memoryId: string): ReviewedPair[] {
  const own = pairs.filter(({ older, newer }) => older.memory_id === memoryId || newer.memory_id === memoryId);
  return own.sort((one, other) => Number(other.state === "disputed") - Number(one.state === "disputed"));
}

/** A sentence for each decision of this memory that is disputed or was replaced, and by what. */
export function remarksOf(pairs: readonly ReviewedPair[], memoryId: string, t: Translate): Remark[] {
  return pairsOf(pairs, memoryId).flatMap(({ state, holds, older, newer }): Remark[] => {
    if (state === "both") return [];
    if (state === "disputed") {
      const [own, other] = newer.memory_id === memoryId ? [newer, older] : [older, newer];
      const text = t("“{0}” may contradict “{1}” ({2}).", own.statement, other.statement, placeOf(other, t));
      return [{ state, text }];
    }
    const [fallen, successor] = holds === "newer" ? [older, newer] : [newer, older];
    if (fallen.memory_id !== memoryId) return [];
    const text = t("“{0}” was replaced by “{1}” ({2}).", fallen.statement, successor.statement, placeOf(successor, t));
    return [{ state, text }];
  });
}

/** Where a statement stands: its memory and date. */
export function placeOf({ memory_number, dated_at }: ReviewedStatement, t: Translate): string {
  return [t("memory {0}", memory_number), day(dated_at)].filter(Boolean).join(", ");
}

/** The remarks as a Markdown quotation, and below it, where links have contrast, one to their review; nothing without remarks. */
export function remarksBlock(remarks: readonly Remark[], folder: string, id: string, t: Translate): string {
  if (remarks.length === 0) return "";
  const subject = encodeURIComponent(JSON.stringify([{ kind: "memory", folder, id }]));
  const quoted = remarks.map(({ text }) => `> ${escaped(plain(text, 1000))}`).join("\n>\n");
  return `${quoted}\n\n[${t("Review…")}](<command:${REVIEW}?${subject}>)`;
}
