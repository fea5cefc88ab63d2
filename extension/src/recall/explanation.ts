/** Why a memory is found, as a Markdown document. */

import type { ExplainItem, ExplainSuccess, ScoreComponents } from "#types";
import type { Translate } from "./hit";
import { day, escaped } from "../core/text";

/** The explanation of a memory's score: how it adds up, and which terms of the question the memory contains. */
export function explanation(answer: ExplainSuccess, number: number, t: Translate): string {
  const item = answer.items.find((each) => each.id === number);
  const problems = answer.errors.map((problem) => `- ${escaped(problem.message)}`);
  if (item === undefined) {
    return [`# ${t("Memory {0} is not there", number)}`, t("It may have been forgotten."), ...problems].join("\n\n");
  }
  const { query, ranking } = answer.metadata;
  const lines = [
    `# ${escaped(item.title)}`,
    `${t("Memory {0}", item.id)}, ${kindOf(item, t)}, ${day(item.created_at)}`,
  ];
  if (query === null) {
    lines.push(t("Without a question, a memory has no score. These are the parts that do not depend on one."));
  } else {
    lines.push(`${t("Question:")} *${escaped(query)}*`, found(item, t));
  }
  const isBlend = ranking?.mode === "blend";
  lines.push(`## ${t("Score")}`, table(item, isBlend, t));
  if (ranking !== null && !isBlend && item.score.total !== null)
    lines.push(sum(item.score.components, item.score.total));
  if (query !== null) lines.push(`## ${t("Words of the question")}`, terms(item, t));
  if (ranking !== null) {
    lines.push(
      `## ${t("Ranking")}`,
      [
        `- ${t("preset {0}, mode {1}", ranking.preset, ranking.mode)}`,
        `- ${t("half-life {0} days, recency floor {1}", ranking.half_life_days, ranking.recency_floor)}`,
        ...(isBlend ? [`- ${t("weight of relevance (alpha) {0}", ranking.alpha)}`] : []),
        `- ${t("relevance floor {0}", ranking.relevance_floor)}`,
        `- ${t("ages measured at {0}", ranking.as_of)}`,
      ].join("\n"),
    );
  }
  return [...lines, ...problems].join("\n\n").concat("\n");
}

function kindOf(item: ExplainItem, t: Translate): string {
  if (item.kind === "legacy") return t("legacy");
  return item.kind === "decision" ? t("decision record") : t("summary");
}

function found(item: ExplainItem, t: Translate): string {
  return item.retrieval.rank === null
    ? t("The question does not find this memory: it fits too little, or others are kept in front of it.")
    : t("It is number {0} of the answer.", item.retrieval.rank);
}

function terms(item: ExplainItem, t: Translate): string {
  const contained = item.matches.query_terms;
  if (contained.length === 0) return t("The memory contains none of them: it was found by its meaning.");
  return contained.map((term) => `- ${escaped(term)}`).join("\n");
}

function table({ score }: ExplainItem, isBlend: boolean, t: Translate): string {
  const { base, semantic_boost, recency, kind_bonus, feedback } = score.components;
  const rows: readonly (readonly [string, number | null])[] = [
    [t("words (base)"), base],
    [t("meaning (semantic boost)"), semantic_boost],
    [t("recency"), recency],
    [t("status (kind bonus)"), kind_bonus],
    ...(feedback === undefined ? [] : [[t("feedback"), feedback] as const]),
    [isBlend ? t("**total**, blended") : t("**total**"), score.total],
  ];
  const cells = rows.map(([name, value]) => `| ${name} | ${value ?? "–"} |`);
  return [`| ${t("part")} | ${t("value")} |`, "| --- | ---: |", ...cells].join("\n");
}

function sum({ base, semantic_boost, recency, kind_bonus, feedback }: ScoreComponents, total: number): string {
  const rated = feedback === undefined ? "" : ` × ${feedback}`;
  return `(${base ?? 0} + ${semantic_boost ?? 0}) × ${recency} × (1 + ${kind_bonus})${rated} = ${total}`;
}
