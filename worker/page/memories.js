// What is remembered: the newest first, or what fits a question, with the parts of each score.
import { withQuery } from "./api.js";
import { Explanation } from "./explanation.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { useAnswer, useLive } from "./live.js";
import { announce, Empty, Heading, HIGHEST_FEEDBACK, HIGHEST_STATUS, Meter, Notes, Status, Time, Waiting } from "./parts.js";
import { go, to } from "./route.js";
import { inCode, many, said, score } from "./words.js";

const FILTERS = ["topic_id", "status", "type"];
const STATUSES = ["Active", "Draft", "Superseded", "DecisionRecord"];
const TYPES = [["summary", "summary"], ["decision_record", "decision record"], ["legacy", "legacy"], ["raw", "raw text"]];

export function Memories({ query }) {
  const [text, setText] = useState(query.q ?? "");
  useLayoutEffect(() => setText(query.q ?? ""), [query.q]);
  const topics = useLive("/v1/topics", 30);
  const change = (changed) => go(to(["memories"], { ...query, after: "", ...changed }));
  const select = (name, label, options) => html`<label class="field inline">${label}
    <select value=${query[name] ?? ""} onChange=${(event) => change({ [name]: event.target.value })}>
      <option value="">any</option>
      ${options.map(([value, title]) => html`<option key=${value} value=${value}>${title}</option>`)}
    </select></label>`;
  const ids = new Set([...(topics.data?.topics ?? []).map((topic) => topic.topic_id), ...(query.topic_id ? [query.topic_id] : [])]);
  return html`
    <${Heading}>Memories<//>
    <form class="search" role="search" onSubmit=${(event) => { event.preventDefault(); change({ q: text.trim() }); }}>
      <label class="unseen" for="question">Search memories</label>
      <input id="question" type="search" value=${text} placeholder="Ask in your own words   /"
        onInput=${(event) => { setText(event.target.value); if (!event.target.value) change({ q: "" }); }} />
      <button data-tone="accent" type="submit">Search</button>
    </form>
    <div class="row filters">
      ${select("topic_id", "Topic", [...ids].sort().map((id) => [id, id]))}
      ${select("status", "Status", STATUSES.map((status) => [status, status === "DecisionRecord" ? "Decision record" : status]))}
      ${!query.q && select("type", "Type", TYPES)}
      ${query.q && html`<label class="check"><input type="checkbox" checked=${query.superseded === "yes"} onChange=${(event) => change({ superseded: event.target.checked ? "yes" : "" })} /> also superseded ones</label>`}
    </div>
    ${query.q ? html`<${Hits} query=${query} />` : html`<${Newest} query=${query} />`}
  `;
}

function Newest({ query }) {
  const before = useRef(new Map());
  const asked = Object.fromEntries(FILTERS.map((name) => [name, query[name]]));
  const { data, error, stale } = useLive(withQuery("/v1/memories", { limit: 50, ...asked, after: query.after }), 3);
  if (!data) return html`<${Waiting} error=${error} what="memories" />`;
  if (data.next && !stale) before.current.set(String(data.next), query.after ?? "");
  if (!data.memories.length) {
    return html`<${Notes} of=${data} />${FILTERS.some((name) => query[name])
      ? html`<${Empty} title="No memory matches."><p><a href="#/memories">Show all memories</a></p><//>`
      : html`<${Empty} title="Nothing is remembered yet."><p>A memory comes from a job:</p>
          <pre>cognee-memory ingest --summary "What we decided, and why"</pre><//>`}`;
  }
  return html`
    <${Notes} of=${data} />
    <div class="scrolling"><table class="cards memories">
      <caption class="unseen">Memories, newest first</caption>
      <thead><tr><th class="number">No.</th><th>Memory</th><th>Status</th><th>When</th></tr></thead>
      <tbody>${data.memories.map((memory) => html`<tr key=${memory.memory_id}>
        <td class="number faint">#${memory.memory_number}</td>
        <td class="what"><a href=${to(["memories", memory.memory_id])}><strong>${said(memory)}</strong></a>
          <p class="faint small">${memory.topic_id ? html`<a class="plain" href=${to(["topics", memory.topic_id])}>${memory.title}</a>` : said(memory).startsWith(memory.title) ? "" : memory.title}</p></td>
        <td><${Status} status=${memory.status} /></td>
        <td class="when"><${Time} at=${memory.source_created_at ?? memory.created_at ?? memory.stored_at} /></td>
      </tr>`)}</tbody>
    </table></div>
    <nav class="row pages" aria-label="Pages">
      <span class="faint">${many(data.total, "memory", "memories")}</span><span class="grow"></span>
      ${query.after && html`<a class="button" href=${to(["memories"], { ...query, after: before.current.get(query.after) ?? "" })}>Newer</a>`}
      ${data.next && html`<a class="button" href=${to(["memories"], { ...query, after: data.next })}>Older</a>`}
    </nav>`;
}

const MOST_HITS = 10, MOST_TOKENS = 20_000;

function Hits({ query }) {
  const { q, topic_id, status, superseded } = query;
  const asked = { query: q, max_results: MOST_HITS, max_tokens: MOST_TOKENS, include_superseded: superseded === "yes" };
  const body = { ...asked, ...(topic_id && { topic_id }), ...(status && { status }) };
  const { busy, data: answer, error } = useAnswer("/v1/retrieve", body, [q, topic_id, status, superseded]);
  useEffect(() => {
    if (answer) announce(`${many(answer.result_count, "memory", "memories")} found.`);
  }, [answer]);
  if (!answer) return html`<${Waiting} error=${error} what="what fits" />`;
  return html`<section aria-label="What fits" aria-busy=${busy}>
    <p class="faint">${answer.result_count === answer.total_results ? many(answer.result_count, "memory", "memories") : `the best ${answer.result_count} of ${many(answer.total_results, "memory", "memories")} that fit`},
      half-life ${answer.half_life_days} days${answer.include_superseded ? ", superseded ones too" : ""}</p>
    <${Notes} of=${answer} />
    ${answer.results.length === 0 && html`<${Empty} title="Nothing is near enough to that question."><p>Try other words, or fewer filters.</p><//>`}
    <ol class="hits">${answer.results.map((hit, place) => html`<${Hit} key=${hit.memory_id} hit=${hit} rank=${place + 1} query=${query} answer=${answer} />`)}</ol>
  </section>`;
}

/** What of a text is shown below a hit's title. Pure. */
export function excerpt(hit) {
  const lines = hit.decisions?.length ? hit.decisions.slice(0, 3) : [hit.summary_text.replace(/\s+/g, " ").trim().slice(0, 300)];
  return lines.filter(Boolean);
}

const BY = { replaced: "Replaced by", disputed: "Disputed by" };

/** What replaced or disputes the decision by which a hit answers, and what it replaced itself. Pure. */
export function standingLines(standing) {
  if (!standing) return [];
  return [
    ...standing.replaces.map((of) => ({ said: of.state === "disputed" ? "May replace" : "Replaces", of })),
    ...(standing.by ? [{ said: BY[standing.state], of: standing.by }] : []),
  ];
}

function Hit({ hit, rank, query, answer }) {
  const [why, setWhy] = useState(false);
  const title = hit.topic ?? `${excerpt(hit)[0]?.slice(0, 80)}…`;
  const lines = excerpt(hit);
  return html`<li class="hit panel">
    <div class="hit-head">
      <h2><a href=${to(["memories", hit.memory_id])}>${title}</a></h2>
      <p class="faint small">#${hit.memory_number} · <${Status} status=${hit.status} /> · <${Time} at=${hit.source_created_at ?? hit.created_at} none="no date" />
        ${hit.feedback && html` · ${hit.feedback.helpful} helpful, ${hit.feedback.wrong} wrong`}
        ${hit.topic_id && html` · <a class="plain" href=${to(["topics", hit.topic_id])}>${hit.topic_id}</a>`}</p>
      ${hit.decisions?.length ? html`<ul class="lines-plain">${lines.map((line) => html`<li key=${line}>${line}</li>`)}</ul>` : html`<p>${lines[0]}</p>`}
      ${standingLines(hit.standing).map(({ said, of }) => html`<p class="faint small" key=${said + of.memory_id}>${said}
        ${" "}<a href=${to(["memories", of.memory_id])}>#${of.memory_number}</a>: ${of.statement}</p>`)}
      ${hit.in_code && html`<p class="faint small break">${inCode(hit.in_code)}</p>`}
    </div>
    <div class="hit-score">
      <p class="total" title="relevance × recency × status"><b>${score(hit.score)}</b> <span class="faint small">score</span></p>
      <${Meter} label="Relevance" value=${hit.semantic_score} text=${hit.semantic_score.toFixed(2)} />
      <${Meter} label="meaning" value=${hit.vector_score} text=${hit.vector_score.toFixed(2)} tone="part" />
      <${Meter} label="words" value=${hit.lexical_score} text=${hit.lexical_score.toFixed(2)} tone="part" />
      <${Meter} label="Recency" value=${hit.recency_multiplier} text=${hit.recency_multiplier.toFixed(2)} tone="recency" />
      <${Meter} label="Status" value=${hit.status_multiplier} most=${HIGHEST_STATUS} text=${`× ${hit.status_multiplier.toFixed(1)}`} tone="status" />
      ${hit.feedback_multiplier !== undefined && html`<${Meter} label="Feedback" value=${hit.feedback_multiplier} most=${HIGHEST_FEEDBACK} text=${`× ${hit.feedback_multiplier.toFixed(2)}`} tone="part" />`}
      <button class="quiet" aria-expanded=${why} onClick=${() => setWhy(!why)}>${why ? "Close" : "Why?"}</button>
    </div>
    ${why && html`<${Explanation} hit=${hit} rank=${rank} query=${query} answer=${answer} />`}
  </li>`;
}
