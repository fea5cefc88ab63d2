// Pairs of decisions that contradict each other, or may: which of two holds is said by a button.
import { runJob } from "./api.js";
import { Side } from "./compaction.js";
import { html, useRef, useState } from "./html.js";
import { useLive } from "./live.js";
import { announce, Empty, Heading, Problem, Time, useAction, Waiting } from "./parts.js";
import { to } from "./route.js";
import { count, many } from "./words.js";

const ALL = "/v1/review?all=true", DISPUTED = "/v1/review";
const MOST_SHOWN = 50;
const HOLDS = { newer: "The newer holds", older: "The older holds", both: "Both hold" };
const UNDECIDED = "undecided";

export function Review({ query }) {
  const { data, error, again } = useLive(ALL, 5);
  const [settledHere, setSettledHere] = useState(new Set());
  if (!data) return html`<${Heading}>Review<//><${Waiting} error=${error} what="the pairs" />`;
  const pairs = data.pairs.filter((pair) => fits(pair, query));
  // A pair that is settled here keeps its place, with what takes it back.
  const open = pairs.filter((pair) => pair.state === "disputed" || settledHere.has(pair.pair));
  const settled = pairs.filter((pair) => !open.includes(pair));
  const changed = (pair) => {
    setSettledHere((before) => new Set(before).add(pair.pair));
    again();
  };
  const list = (shown) => html`<ul>${shown.slice(0, MOST_SHOWN).map((pair) => html`<${Pair} key=${pair.pair} pair=${pair} changed=${changed} />`)}</ul>
    ${shown.length > MOST_SHOWN && html`<p class="faint">${count(MOST_SHOWN)} of ${count(shown.length)} are shown; all: <code>cognee-memory review --all</code></p>`}`;
  return html`
    <${Heading}>Review<//>
    ${(query.topic_id || query.memory) && html`<p>Only pairs of ${query.topic_id ? html`the topic <code class="break">${query.topic_id}</code>` : `the memory #${query.memory}`}. <a href="#/review">Show all</a></p>`}
    ${open.length ? html`<section class="panel" aria-labelledby="disputed"><h2 id="disputed">Disputed</h2>
        <p class="faint">The newer may contradict the older. Which one holds?</p>${list(open)}</section>`
      : html`<${Empty} title="Nothing is disputed."><p>Decisions that may contradict each other appear here.</p><//>`}
    ${settled.length > 0 && html`<section class="panel" aria-labelledby="settled"><h2 id="settled">Replaced or settled</h2>${list(settled)}</section>`}
  `;
}

/** Whether a pair belongs to the topic or the memory (by its number) of a query. Pure. */
export function fits({ older, newer }, { topic_id, memory }) {
  const either = (name, wanted) => !wanted || String(older[name]) === wanted || String(newer[name]) === wanted;
  return either("topic_id", topic_id) && either("memory_number", memory);
}

function Pair({ pair, changed }) {
  const action = useAction();
  const [reason, setReason] = useState("");
  const place = useRef(null);
  const settle = (verdict) => action.run(async () => {
    const named = ({ memory_id, statement }) => ({ memory_id, statement });
    const why = reason.trim() && { reason: reason.trim() };
    const job = await runJob("resolve", { older: named(pair.older), newer: named(pair.newer), verdict, ...why });
    setReason("");
    announce(verdict === UNDECIDED ? "The verdict is taken back." : `It is kept: ${HOLDS[verdict].toLowerCase()}.`);
    place.current?.focus({ preventScroll: true }); // the button that was pressed goes
    changed(pair);
    return job;
  });
  const disputed = pair.state === "disputed";
  const side = (name, title) => html`<${Side} name=${name} title=${title} side=${{ ...pair[name], date: pair[name].dated_at, text: pair[name].statement }}>
    ${pair[name].topic_id && html` · <a class="break" href=${to(["topics", pair[name].topic_id])}>${pair[name].topic_id}</a>`}
    ${pair.holds === name && html` <b class="good">holds</b>`}<//>`;
  return html`<li class="conflict" data-disputed=${String(disputed)} ref=${place} tabindex="-1" aria-label=${`Pair ${pair.pair}`}>
    <p class="small"><${Said} pair=${pair} /></p>
    <div class="sides">${side("older", "Older")}${side("newer", "Newer")}</div>
    <div class="row">
      ${Object.entries(HOLDS).filter(([verdict]) => verdict !== pair.holds).map(([verdict, label]) => html`<button key=${verdict} disabled=${action.busy}
        onClick=${() => settle(verdict)}>${pair.state === "replaced" && pair.cause === "judge" && verdict === "both" ? "Take back: both hold" : label}</button>`)}
      ${pair.cause === "said" && html`<button disabled=${action.busy} onClick=${() => settle(UNDECIDED)}>Take back</button>`}
      ${disputed && html`<input class="grow" value=${reason} maxlength="1000" placeholder="Why (optional)" aria-label="Why (optional)" autocomplete="off"
        onInput=${(event) => setReason(event.target.value)} />`}
    </div>
    <${Problem} error=${action.error} />
  </li>`;
}

function Said({ pair }) {
  const sure = `${Math.round(pair.confidence * 100)} % sure`;
  const by = pair.cause === "said" && html` <span class="faint">said by ${pair.by}, <${Time} at=${pair.at} /></span>`;
  if (pair.state === "disputed") return html`May contradict each other <span class="faint">${sure}</span>${by}`;
  if (pair.cause === "judge") return html`The newer replaced the older <span class="faint">${sure}</span>`;
  const suspended = pair.state === "suspended" && ", but its memory is superseded or a draft: nothing falls by it";
  return html`${HOLDS[pair.holds]}${suspended}${by}${pair.reason && html`<br /><span class="break">${pair.reason}</span>`}`;
}

/** The number of disputed pairs, for the navigation; nothing where nothing is disputed. */
export function Disputed() {
  const { data } = useLive(DISPUTED, 3);
  const number = data?.pairs.length;
  if (!number) return null;
  return html`<span class="badge">${count(number)}<span class="unseen"> disputed</span></span>`;
}

const TOLD = { replaced: { newer: "Replaced by", older: "Replaces" }, disputed: { newer: "Disputed by", older: "Disputes" } };

/** What replaced the decisions of a memory, or may, and what they replaced; nothing where there is no such pair. */
export function Standings({ memory }) {
  const { data } = useLive(ALL, 10);
  const lines = (data?.pairs ?? []).filter((pair) => pair.state in TOLD && fits(pair, { memory: String(memory.memory_number) })).map((pair) => {
    const [own, other] = pair.older.memory_id === memory.memory_id ? [pair.older, pair.newer] : [pair.newer, pair.older];
    const lasting = pair.holds === "older" ? pair.older : pair.newer;
    return { pair, own, other, told: TOLD[pair.state][lasting === other ? "newer" : "older"] };
  });
  if (!lines.length) return null;
  return html`<h2>What holds</h2>
    <ul class="lines-plain">${lines.map(({ pair, own, other, told }) => html`<li key=${pair.pair}>${own.statement}
      <br /><span class="small">${told} <a href=${to(["memories", other.memory_id])}>#${other.memory_number}</a>: ${other.statement}</span></li>`)}</ul>
    <p><a href=${to(["review"], { memory: String(memory.memory_number) })}>${many(lines.length, "pair")} in the review</a></p>`;
}
