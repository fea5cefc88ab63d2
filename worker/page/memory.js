// One memory whole: its text, what is known about it, where it came from, and what can be done with it.
import { runJob } from "./api.js";
import { html, useState } from "./html.js";
import { useLive } from "./live.js";
import { announce, Confirm, Facts, Heading, Problem, Status, Time, useAction, Waiting } from "./parts.js";
import { Standings } from "./review.js";
import { to } from "./route.js";
import { day, inCode, many, plain } from "./words.js";

export function Memory({ id }) {
  const { data, error, again } = useLive(`/v1/memories/${encodeURIComponent(id)}`, 5);
  const [forgotten, setForgotten] = useState(null);
  const back = html`<p class="crumb"><a href="#/memories">Memories</a></p>`;
  if (forgotten) return html`${back}<${Heading}>Forgotten<//><${Forgotten} job=${forgotten} />`;
  if (!data || error?.status === 404) return html`${back}<${Heading} title="Memory">Memory ${id}<//><${Waiting} error=${error} what="the memory" />`;
  const { memory } = data;
  return html`
    ${back}
    <${Heading} title=${memory.title || `Memory ${memory.memory_number}`} extra=${html`<${Status} status=${memory.status} />`}>${memory.title || "Memory"} <span class="faint">#${memory.memory_number}</span><//>
    ${memory.hidden && html`<p class="note">It is kept and not found: its compaction was undone, or another memory was made of it.</p>`}
    ${(memory.rests_on ?? []).map((each) => html`<p class="note">“${each.text}” may rest on <a href=${to(["memories", each.memory_id])}>#${each.memory_number}</a>, “${each.statement}”, which was replaced by #${each.replaced_by}.</p>`)}
    <${Actions} memory=${memory} again=${again} gone=${setForgotten} />
    <div class="two wide-first">
      <section class="panel" aria-label="Text"><${Text} memory=${memory} /></section>
      <section class="panel" aria-labelledby="known"><h2 id="known">What is known</h2>
        <${Facts} facts=${[
          ["Type", plain(memory.memory_type)],
          ["Topic", memory.topic_id && html`<a href=${to(["topics", memory.topic_id])}>${memory.topic_id}</a>`],
          ["Plan", memory.plan_id],
          ["Tags", memory.tags.join(", ")],
          ["Session", memory.session_id && html`<span class="break">${memory.session_id}</span>`],
          ["Captured", captured(memory.captured_from)],
          ["Code", memory.in_code && html`<span class="break">${inCode(memory.in_code)}</span>`],
          ["Importance", memory.importance],
          ["Of", memory.source_created_at && html`${day(memory.source_created_at)} (<${Time} at=${memory.source_created_at} />)`],
          ["Created", memory.created_at && html`${day(memory.created_at)} (<${Time} at=${memory.created_at} />)`],
          ["Changed", memory.updated_at && html`<${Time} at=${memory.updated_at} />`],
          ["Stored", html`<${Time} at=${memory.stored_at} />`],
          ["Id", html`<code class="break">${memory.memory_id}</code>`],
        ]} />
        <${Feedback} memory=${memory} again=${again} />
        <${Lineage} memory=${memory} />
        <${Standings} memory=${memory} />
      </section>
    </div>
  `;
}

/** Where a captured memory comes from: nobody wrote it, so a reader may want to look it up. */
function captured(source) {
  if (!source) return null;
  return html`${source.method === "model" ? "By the language model" : "By rules"}, from ${source.tool},
    ${source.first_place} to ${source.last_place} of <span class="break">${source.path}</span>`;
}

/** The text from its first section on; the table beside it shows what comes before that. Pure. */
export function body(memory) {
  const text = memory.summary_text;
  const start = memory.memory_type === "summary" || memory.memory_type === "decision_record" ? text.indexOf("\n## ") : -1;
  return start < 0 ? text : text.slice(start + 1);
}

/** Markdown as text: headings are set stronger, and nothing else of it is interpreted. */
function Text({ memory }) {
  const shown = body(memory).trimEnd();
  return html`<div class="text" tabindex="0" role="region" aria-label="Its text">${shown.split("\n").map((line, place) =>
      /^#{1,6} /.test(line) ? html`<strong key=${place} class="text-heading">${line.replace(/^#+ /, "")}${"\n"}</strong>` : `${line}\n`)}</div>
    ${shown.length < memory.summary_text.trimEnd().length && html`<details class="json"><summary class="faint">The whole text as it is given to an assistant</summary>
      <pre tabindex="0">${memory.summary_text}</pre></details>`}`;
}

const VERDICTS = [["helpful", "This helped"], ["wrong", "This is wrong"]];

/** What was said of the memory, and two buttons: a second press takes the own feedback back. */
function Feedback({ memory, again }) {
  const giving = useAction();
  const { given } = memory.feedback;
  const own = given.find((each) => each.by === "person")?.verdict;
  const give = (verdict) => giving.run(async () => {
    const job = await runJob("feedback", { memory_id: memory.memory_id, verdict: verdict === own ? "withdrawn" : verdict, by: "person" });
    announce(verdict === own ? "The feedback was taken back." : "The feedback is recorded.");
    again();
    return job;
  });
  return html`<h2 id="feedback">Feedback</h2>
    <div class="row" role="group" aria-labelledby="feedback">
      ${VERDICTS.map(([verdict, label]) => html`<button key=${verdict} aria-pressed=${own === verdict} disabled=${giving.busy} onClick=${() => give(verdict)}>${label} <span class="faint">${memory.feedback[verdict]}</span></button>`)}
    </div>
    <${Problem} error=${giving.error} />
    ${given.length > 0 && html`<ul class="lines-plain">${given.map((each) => html`<li key=${each.by}>${each.by}: ${each.verdict}, <${Time} at=${each.at} />
      ${each.note && html`<br /><span class="break">${each.note}</span>`}
      ${each.query && html`<br /><span class="faint break">asked: ${each.query}</span>`}</li>`)}</ul>`}`;
}

function Lineage({ memory }) {
  const links = (ids) => html`<ul class="lines-plain">${ids.map((id) => html`<li key=${id}><a href=${to(["memories", id])}><code class="break">${id}</code></a></li>`)}</ul>`;
  const parts = [
    ["Merged from", memory.sources],
    ["Converted from", memory.migrated_from ? [memory.migrated_from] : []],
    ["Converted to", memory.migrated_to],
  ].filter(([, ids]) => ids?.length);
  if (!parts.length) return null;
  return html`<h2>Where it came from</h2>${parts.map(([title, ids]) => html`<h3 key=${title}>${title}</h3>${links(ids)}`)}`;
}

const SETTABLE = ["Draft", "Active", "Superseded"];

function Actions({ memory, again, gone }) {
  const setting = useAction(), forgetting = useAction();
  const [wanted, setWanted] = useState(null);
  const [asking, setAsking] = useState(false);
  const chosen = wanted ?? memory.status;
  const set = () => setting.run(async () => {
    const job = await runJob("set_status", { memory_id: memory.memory_id, status: chosen });
    announce(`The status is ${chosen}.`);
    setWanted(null);
    again();
    return job;
  });
  const can = SETTABLE.includes(memory.status);
  const number = String(memory.memory_number);
  return html`<div class="row actions">
    ${can && html`<label class="field inline">Status
      <select value=${chosen} disabled=${setting.busy} onChange=${(event) => setWanted(event.target.value)}>
        ${SETTABLE.map((status) => html`<option key=${status} value=${status}>${status}</option>`)}
      </select></label>
      <button disabled=${setting.busy || chosen === memory.status} onClick=${set}>${setting.busy ? "Setting…" : "Set"}</button>`}
    <button data-tone="danger" onClick=${() => setAsking(true)}>Forget…</button>
    ${setting.done && html`<span class="note">Done, by the job <a href=${to(["jobs", setting.done.job_id])}><code>${setting.done.job_id}</code></a>.</span>`}
    <${Problem} error=${setting.error} />
    ${asking && html`<${Confirm} title=${`Forget memory #${number}?`} verb="Forget it for good" typed=${number} action=${forgetting}
      act=${async () => gone(await runJob("forget", { memory_ids: [memory.memory_id] }))} close=${() => setAsking(false)}>
      <p>Its words leave the memory, the index, the graph and the jobs that brought it. Records that were merged from it
        are rebuilt from the remaining memories. This cannot be undone.</p>
    <//>`}
  </div>`;
}

function Forgotten({ job }) {
  const { result } = job;
  const parts = [
    many(result.forgotten.length, "memory was", "memories were") + " forgotten",
    result.records_rebuilt.length && `${many(result.records_rebuilt.length, "record")} rebuilt`,
    result.records_removed.length && `${many(result.records_removed.length, "record")} removed`,
    result.jobs_scrubbed && `${many(result.jobs_scrubbed, "job has", "jobs have")} lost the text`,
  ].filter(Boolean);
  return html`<p>${parts.join("; ")}.</p>
    ${result.warnings.map((warning) => html`<p key=${warning} class="note">${warning}</p>`)}
    <p class="row"><a class="button" href="#/memories">All memories</a> <a class="button" href=${to(["jobs", job.job_id])}>The job</a></p>`;
}
