/** Why a memory is found, as a Markdown document. */

import type { ExplainItem, ExplainSuccess, ScoreComponents } from "#types";
import { day, escaped } from "../core/text";
import { standing } from "./hit";

/** The explanation of a memory's score: how it adds up, and which terms of the question the memory contains. */
export function explanation(answer: ExplainSuccess, number: number): string {
  const item = answer.items.find((each) => each.id === number);
  const problems = answer.errors.map((problem) => `- ${escaped(problem.message)}`);
  if (item === undefined) {
    return [`# Memory ${number} is not there`, "It may have been forgotten.", ...problems].join("\n\n");
  }
  const { query, ranking } = answer.metadata;
  const facts = [`Memory ${item.id}`, kindOf(item), day(item.created_at), standing(item)].filter(Boolean);
  const lines = [`# ${escaped(item.title)}`, facts.join(", ")];
  if (query === null) {
    lines.push("Without a question, a memory has no score. These are the parts that do not depend on one.");
  } else {
    lines.push(`Question: *${escaped(query)}*`, found(item));
  }
  const isBlend = ranking?.mode === "blend";
  lines.push("## Score", table(item, isBlend));
  if (ranking !== null && !isBlend && item.score.total !== null)
    lines.push(sum(item.score.components, item.score.total));
  if (query !== null) lines.push("## Words of the question", terms(item));
  if (ranking !== null) {
    lines.push(
      "## Ranking",
      [
        `- preset ${ranking.preset}, mode ${ranking.mode}`,
        `- half-life ${ranking.half_life_days} days, recency floor ${ranking.recency_floor}`,
        ...(isBlend ? [`- weight of relevance (alpha) ${ranking.alpha}`] : []),
        `- relevance floor ${ranking.relevance_floor}`,
        `- ages measured at ${ranking.as_of}`,
      ].join("\n"),
    );
  }
  return [...lines, ...problems].join("\n\n").concat("\n");
}

function kindOf(item: ExplainItem): string {
  if (item.kind === "legacy") return "legacy";
  return item.kind === "decision" ? "decision record" : "summary";
}

function found(item: ExplainItem): string {
  return item.retrieval.rank === null
    ? "The question does not find this memory: it fits too little, or others are kept in front of it."
    : `It is number ${item.retrieval.rank} of the answer.`;
}

function terms(item: ExplainItem): string {
  const contained = item.matches.query_terms;
  if (contained.length === 0) return "The memory contains none of them: it was found by its meaning.";
  return contained.map((term) => `- ${escaped(term)}`).join("\n");
}

function table({ score }: ExplainItem, isBlend: boolean): string {
  const { base, semantic_boost, recency, kind_bonus, feedback } = score.components;
  const rows: readonly (readonly [string, number | null])[] = [
    ["words (base)", base],
    ["meaning (semantic boost)", semantic_boost],
    ["recency", recency],
    ["status (kind bonus)", kind_bonus],
    ...(feedback === undefined ? [] : [["feedback", feedback] as const]),
    [isBlend ? "**total**, blended" : "**total**", score.total],
  ];
  const cells = rows.map(([name, value]) => `| ${name} | ${value ?? "–"} |`);
  return ["| part | value |", "| --- | ---: |", ...cells].join("\n");
}

function sum({ base, semantic_boost, recency, kind_bonus, feedback }: ScoreComponents, total: number): string {
  const rated = feedback === undefined ? "" : ` × ${feedback}`;
  return `(${base ?? 0} + ${semantic_boost ?? 0}) × ${recency} × (1 + ${kind_bonus})${rated} = ${total}`;
}
