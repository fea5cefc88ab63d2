/** A hit of a question, as a row of a list and as lines of the log. */

import type { MemoryType, RetrievalHit, RetrievalSuccess, Status } from "#types";
import { age, contextOf, day, plain } from "../core/text";

export interface Row {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
}

/** The status beside a memory; empty for an active one, and for a legacy one, which has none. */
export function badge(type: MemoryType, status: Status | null): string {
  if (type === "legacy" || status === null || status === "Active") return "";
  if (status === "DecisionRecord") return "Decision";
  return status === "Superseded" ? "Superseded" : "Draft";
}

/** The title of a memory: its topic, or a legacy text's first line. */
export function titleOf(hit: Pick<RetrievalHit, "topic" | "summary_text">): string {
  return hit.topic ?? hit.summary_text.trim().split("\n")[0] ?? "";
}

/** The date of a memory: that of what it is about, else that of its making. */
export const dateOf = (hit: Pick<RetrievalHit, "source_created_at" | "created_at">): string | null =>
  hit.source_created_at ?? hit.created_at;

/** A hit as a row: its topic; its folder if one is named, its age, status and score; its best passage, with what that replaced. */
export function rowOf(hit: RetrievalHit, now: number, language: string, folder = ""): Row {
  const isLegacy = hit.memory_type === "legacy";
  const status = badge(hit.memory_type, hit.status);
  const description = [
    plain(folder, 40),
    isLegacy ? "" : age(dateOf(hit), now, language),
    status === "" ? "" : `[${status}]`,
    standing(hit),
    lost(hit),
    `score ${hit.final_score.toFixed(2)}`,
  ];
  return {
    label: isLegacy ? `[Legacy] ${plain(titleOf(hit), 100)}` : plain(titleOf(hit), 100),
    description: description.filter(Boolean).join(" · "),
    detail: [plain(passageOf(hit), 300), replaces(hit)].filter(Boolean).join(" · "),
  };
}

/** That what answers the question was replaced, or may be contradicted, by a newer memory; empty if it holds. */
export function standing({ standing }: Pick<RetrievalHit, "standing">): string {
  if (standing?.by === undefined || standing.by === null) return "";
  const number = String(standing.by.memory_number);
  return standing.state === "replaced" ? `replaced by #${number}` : `disputed by #${number}`;
}

/** That something which a hit names is no longer in the code; empty if all is there, or nothing is certain. */
function lost({ in_code }: Pick<RetrievalHit, "in_code">): string {
  const isLost = in_code?.state === "gone" || in_code?.state === "not_found";
  return isLost ? plain(in_code.remark, 100) : "";
}

/** What the decision of a hit replaced; empty if that is nothing. */
export function replaces({ standing }: Pick<RetrievalHit, "standing">): string {
  const said = (standing?.replaces ?? []).map(({ statement, memory_number, dated_at, state }) => {
    const where = [day(dated_at), `#${memory_number}`].filter(Boolean).join(", ");
    return `${state === "disputed" ? "may replace" : "replaces"}: ${plain(statement, 100)} (${where})`;
  });
  return said.join("; ");
}

/** Whether there are hits, and all of them are probably no answer. */
export const isOnlyWeak = ({ results }: Pick<RetrievalSuccess, "results">): boolean =>
  results.length > 0 && results.every(({ fit }) => fit === "weak");

/**
 * What of a memory fits best: a passage if the answer has one, else its first decision that was not given up, else what
 * it is about; never the form of its text.
 */
export function passageOf(hit: RetrievalHit): string {
  const [passage] = hit.best_passages ?? [];
  const decision = hit.decisions?.find((each) => !each.startsWith("[Earlier]"));
  return passage ?? decision ?? contextOf(hit.summary_text);
}

/** A question and its hits as the log has them; with the parts of each score if `withParts`. */
export function logLines(query: string, answer: RetrievalSuccess, withParts: boolean): string[] {
  const hits = answer.results.map((hit, index) => {
    const fields = [
      `topic_id=${hit.topic_id ?? "none"}`,
      `final_score=${hit.final_score.toFixed(4)}`,
      `created_at=${day(dateOf(hit)) || "unknown"}`,
    ];
    if (withParts) {
      fields.push(
        `memory=${hit.memory_number}`,
        `semantic_score=${hit.semantic_score.toFixed(4)}`,
        `recency_multiplier=${hit.recency_multiplier.toFixed(4)}`,
        `status_multiplier=${hit.status_multiplier}`,
        `status=${hit.status ?? "none"}`,
      );
    }
    return `[Retrieve] Result ${index + 1}: ${fields.join(", ")}`;
  });
  return [`[Retrieve] Query: ${JSON.stringify(query)}`, ...hits];
}
