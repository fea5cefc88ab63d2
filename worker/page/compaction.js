// What a compaction would give: the sources, the record they become, and what contradicts what.
import { html } from "./html.js";
import { Status, Time } from "./parts.js";
import { to } from "./route.js";
import { day, many } from "./words.js";

// ``reject`` is called with a conflict's id and whether both of its decisions hold; ``busy`` while that is done.
export function Preview({ preview, reject, busy, children }) {
  const { summaries, decision_record: record, conflicts, kept_both: keptBoth, warnings } = preview;
  return html`<div class="preview">
    ${warnings.length > 0 && html`<div class="warnings"><h3>Look at this first</h3><ul>${warnings.map((warning) => html`<li key=${warning}>${warning}</li>`)}</ul></div>`}
    <${Conflicts} conflicts=${conflicts} act=${(id) => reject(id, true)} busy=${busy} />
    ${keptBoth.length > 0 && html`<h3>${many(keptBoth.length, "pair")} of which both hold, as you said</h3>
      <${Pairs} pairs=${keptBoth} verb="They contradict each other" act=${(id) => reject(id, false)} busy=${busy} />`}
    <h3>${many(summaries.length, "source")}</h3>
    <ol class="lines">${summaries.map((source) => html`<li key=${source.memory_id}>
      <p class="row"><span class="faint">#${source.memory_number}</span> <a href=${to(["memories", source.memory_id])}><strong>${source.topic}</strong></a>
        <${Status} status=${source.status} /> <span class="faint"><${Time} at=${source.source_created_at ?? source.created_at} /></span></p>
      <ul class="lines-plain small">${source.decisions.map((text, place) => html`<li key=${place}>${text}</li>`)}</ul>
    </li>`)}</ol>
    <h3>The record they become</h3>
    <div class="record">
      <p><strong>${record.topic}</strong> <span class="faint">${record.time_scope.text}</span></p>
      <p class="text">${record.summary_text}</p>
      <${Listed} title="Decisions" lines=${record.consolidated_decisions} />
      <${Listed} title="Why" lines=${record.consolidated_rationale} />
      <${Listed} title="Open questions" lines=${record.key_open_questions} />
      <${Listed} title="Next steps" lines=${record.next_steps} />
      <${Listed} title="References" lines=${[...record.key_references_files, ...record.key_references_plans, ...record.key_references_branches, ...record.key_references_issues]} />
      <p class="faint small">The narrative was written by ${record.narrative_source === "llm" ? "the language model" : "a template"}.</p>
    </div>
    <div class="row">${children}</div>
  </div>`;
}

function Listed({ title, lines }) {
  if (!lines.length) return null;
  return html`<h4>${title}</h4><ul class="lines-plain">${lines.map((line, place) => html`<li key=${place}>${line}</li>`)}</ul>`;
}

function Conflicts({ conflicts, act, busy }) {
  if (!conflicts.length) return html`<p class="faint">No two decisions contradict each other.</p>`;
  return html`<h3>${many(conflicts.length, "conflict")}: decisions that cannot both hold</h3>
    <${Pairs} pairs=${conflicts} verb="Both hold" act=${act} busy=${busy} />`;
}

const JUDGED = { rules: "judged by rules", llm: "judged by the language model", judge: "found when it was stored", said: "as somebody settled it" };

function Pairs({ pairs, verb, act, busy }) {
  return html`<ul class="conflicts">${pairs.map((pair) => html`<li key=${pair.conflict_id} class="conflict">
      <div class="row small"><span class="grow"><span class="tag">${pair.kind}</span> <span class="faint">${Math.round(pair.confidence * 100)} % sure, ${JUDGED[pair.judged_by ?? "rules"]}${pair.reason ? `: ${pair.reason}` : ""}</span></span>
        <button disabled=${busy} onClick=${() => act(pair.conflict_id)}>${verb}</button></div>
      <div class="sides"><${Side} name="earlier" title="Earlier" side=${pair.earlier} /><${Side} name="later" title=${pair.earlier.date > pair.later.date ? "Holds" : "Later"} side=${pair.later} /></div>
    </li>`)}</ul>`;
}

/** One decision of a pair: `name` tells which, `side` has its date, memory and text; the children follow the memory. */
export function Side({ name, title, side, children }) {
  return html`<div class="side" data-side=${name}>
    <p class="small"><b>${title}</b> <span class="faint">${side.date ? day(side.date) : "no date"} · <a href=${to(["memories", side.memory_id])}>#${side.memory_number}</a>${children}</span></p>
    <p>${side.text}</p>
  </div>`;
}
