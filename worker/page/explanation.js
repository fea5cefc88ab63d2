// Why a memory is found: the parts of its score, adding up, as the worker explains them.
import { html } from "./html.js";
import { useAnswer } from "./live.js";
import { Facts, HIGHEST_FEEDBACK, HIGHEST_STATUS, Meter, Waiting } from "./parts.js";
import { exact, score } from "./words.js";

/** `answer` is the one that contains the hit: its `as_of` and filters give the same digits again. */
export function Explanation({ hit, query, answer }) {
  const { topic_id, status } = query;
  const { data, error } = useAnswer("/v1/explain", {
    query: query.q, ids: [hit.memory_number], limit: Math.max(1, answer.result_count), as_of: answer.as_of,
    include_superseded: answer.include_superseded, ...(topic_id && { topic_id }), ...(status && { status }),
  });
  if (!data) return html`<div class="why"><${Waiting} error=${error} what="the explanation" /></div>`;
  const item = data.items.find((each) => each.id === hit.memory_number);
  if (!item) return html`<div class="why"><p>It is not there any more.</p></div>`;
  return html`<${Parts} hit=${hit} item=${item} ranking=${data.metadata.ranking} />`;
}

function Parts({ hit, item, ranking }) {
  const { total, components } = item.score;
  const { base, semantic_boost, rerank, recency, feedback } = components;
  const sum = [base, semantic_boost, ...(rerank === undefined ? [] : [rerank])].map(score).join(" + ");
  const { semantic_score: relevance, status_multiplier: status } = hit;
  const blend = ranking.mode === "blend";
  const rated = feedback === undefined ? "" : ` × ${score(feedback)}`;
  return html`<div class="why" aria-label="Explanation">
    <div class="why-parts">
      <${Meter} label=${`words (at most ${ranking.weights.base})`} value=${base} text=${score(base)} tone="part" />
      <${Meter} label=${`+ meaning (at most ${ranking.weights.semantic_boost})`} value=${semantic_boost} text=${score(semantic_boost)} tone="part" />
      ${rerank !== undefined && html`<${Meter} label=${`+ reranker (at most ${ranking.weights.rerank})`} value=${rerank} text=${score(rerank)} tone="part" />`}
      <${Meter} label="= relevance" value=${relevance} text=${score(relevance)} />
      <${Meter} label=${blend ? "and recency" : "× recency"} value=${recency} text=${score(recency)} tone="recency" />
      <${Meter} label="× status" value=${status} most=${HIGHEST_STATUS} text=${score(status)} tone="status" />
      ${feedback !== undefined && html`<${Meter} label="× feedback" value=${feedback} most=${HIGHEST_FEEDBACK} text=${score(feedback)} tone="part" />`}
      <${Meter} label="= score" value=${total} text=${score(total)} tone="total" />
    </div>
    <p class="formula"><code>${blend
      ? `(${ranking.alpha} × (${sum}) + ${(1 - ranking.alpha).toFixed(2)} × ${score(recency)}) × ${score(status)}${rated} = ${score(total)}`
      : `(${sum}) × ${score(recency)} × ${score(status)}${rated} = ${score(total)}`}</code></p>
    <${Facts} facts=${[
      ["Place", item.retrieval.rank === null ? "not among the hits" : `${item.retrieval.rank}.`],
      ["Terms that match", item.matches.query_terms.length
        ? item.matches.query_terms.map((term) => html`<span key=${term} class="term">${term}</span> `) : "none: it was found by meaning alone"],
      ["Half-life", `${ranking.half_life_days} days${ranking.recency_floor ? `, not below ${ranking.recency_floor}` : ""}`],
      ["Ranking", `${ranking.mode}, preset ${ranking.preset}`],
      ["Ages measured at", exact(ranking.as_of)],
      ...(item.feedback ? [["Feedback", `${item.feedback.helpful} helpful, ${item.feedback.wrong} wrong`]] : []),
      ...(ranking.time ? [["Time in the question", `${ranking.time.phrase}: ${ranking.time.used}`]] : []),
      ["All digits", html`<code>${String(total)}</code>`],
    ]} />
  </div>`;
}
