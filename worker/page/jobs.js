// The table of jobs: newest first, in pages; several can be chosen, to be run again or cancelled.
import { hasEnded, post, postForJobs } from "./api.js";
import { html, useRef, useState } from "./html.js";
import { FROM_ELSEWHERE, VERBS } from "./job-states.js";
import { outcome } from "./notice.js";
import { Confirm, Empty, Problem, State, Time, useAction, Waiting } from "./parts.js";
import { to } from "./route.js";
import { count, many, plain, span } from "./words.js";

export function Jobs({ list, query, showNotice }) {
  const [chosen, setChosen] = useState(new Map());
  const before = useRef(new Map());
  const { data, error, stale } = list;
  if (!data) return html`<${Waiting} error=${error} what="jobs" />`;
  if (data.next && !stale) before.current.set(data.next, query.after ?? "");
  const toggle = (job, on) => {
    const now = new Map(chosen);
    if (on) now.set(job.job_id, job);
    else now.delete(job.job_id);
    setChosen(now);
  };
  const choosable = data.jobs.filter((job) => !FROM_ELSEWHERE.has(job.error?.code));
  const all = choosable.length > 0 && choosable.every((job) => chosen.has(job.job_id));
  const toggleAll = () => {
    const now = new Map(chosen);
    for (const job of choosable) all ? now.delete(job.job_id) : now.set(job.job_id, job);
    setChosen(now);
  };
  return html`
    ${error && error.status > 0 && html`<${Problem} error=${error} />`}
    <${ForAll} query=${query} total=${data.total} showNotice=${showNotice} />
    ${data.jobs.length === 0
      ? html`<${Nothing} query=${query} />`
      : html`<div class="scrolling"><table class="cards jobs">
          <caption class="unseen">Jobs, newest first</caption>
          <thead><tr>
            <th class="pick"><input type="checkbox" aria-label="Choose all on this page" checked=${all} onChange=${toggleAll} /></th>
            <th>State</th><th>Job</th><th>Came</th><th class="number">Took</th>
          </tr></thead>
          <tbody>${data.jobs.map((job) => html`<${Row} key=${job.job_id} job=${job} chosen=${chosen.has(job.job_id)} toggle=${toggle} />`)}</tbody>
        </table></div>`}
    <nav class="row pages" aria-label="Pages">
      <span class="faint">${many(data.total, "job")}</span>
      <span class="grow"></span>
      ${query.after && html`<a class="button" data-scroll="jobs" href=${to(["queue"], { ...query, after: before.current.get(query.after) ?? "" })}>Newer</a>`}
      ${data.next && html`<a class="button" data-scroll="jobs" href=${to(["queue"], { ...query, after: data.next })}>Older</a>`}
    </nav>
    ${chosen.size > 0 && html`<${Chosen} chosen=${asOfNow(chosen, data.jobs)} clear=${() => setChosen(new Map())} showNotice=${showNotice} />`}
  `;
}

/** What was chosen, with the state that each has now as far as it is seen. */
function asOfNow(chosen, jobs) {
  const seen = new Map(jobs.map((job) => [job.job_id, job]));
  return new Map([...chosen].map(([id, job]) => [id, seen.get(id) ?? job]));
}

function Row({ job, chosen, toggle }) {
  return html`<tr data-chosen=${chosen}>
    <td class="pick"><input type="checkbox" aria-label=${`Choose ${job.job_id}`} checked=${chosen} onChange=${(event) => toggle(job, event.target.checked)} /></td>
    <td><${State} state=${job.state} /></td>
    <td class="what">
      <div class="line"><a class="message" href=${to(["jobs", job.job_id])} title=${job.subject}><strong>${plain(job.kind ?? "file")}</strong> ${job.subject}</a><${Made} numbers=${job.memory_numbers} /><code class="id">${job.job_id}</code></div>
      <${What} job=${job} />
    </td>
    <td class="when"><${Time} at=${job.accepted_at ?? job.finished_at} /></td>
    <td class="number" data-label="took">${job.elapsed_ms === null ? "" : span(job.elapsed_ms)}</td>
  </tr>`;
}

const NAMED = 3;

/** The ways to the memories that the job made or changed. */
function Made({ numbers }) {
  return html`<span class="nowrap">${numbers.slice(0, NAMED).map((number) => html`<a key=${number} class="tag" href=${to(["memories", String(number)])} aria-label=${`Memory #${number}`}>#${number}</a> `)}${numbers.length > NAMED && "…"}</span>`;
}

/** What went wrong, or what it waits for. */
function What({ job }) {
  const attempts = job.attempt > 1 ? html`<span class="faint nowrap">attempt ${job.attempt}</span>` : "";
  if (job.error) {
    const next = job.state === "retrying" && job.next_attempt_at
      ? html`<span class="nowrap">next <${Time} at=${job.next_attempt_at} every=${1} /></span>` : "";
    return html`<div class="line small">${next}<span class="message" title=${job.error.message}>${job.error.message}</span><code class="faint small">${job.error.code}</code>${attempts}</div>`;
  }
  if (job.state === "queued" && job.next_attempt_at) return html`<span class="faint small">starts <${Time} at=${job.next_attempt_at} every=${1} /></span>`;
  return attempts;
}

function Nothing({ query }) {
  if (Object.values(query).some(Boolean)) {
    return html`<${Empty} title="No job matches."><p><a href="#/queue">Show all jobs</a></p><//>`;
  }
  return html`<${Empty} title="No jobs yet.">
    <p>Drop a job file into <code>.cognee_jobs/</code> by rename, or run one of these:</p>
    <pre>cognee-memory ingest --summary "What we decided, and why"${"\n"}cognee-memory demo --keep</pre>
  <//>`;
}

const CANCEL = new Set(["queued", "retrying"]);

/** The same for all that the filters let through, where that is one state and no text. */
function ForAll({ query, total, showNotice }) {
  const action = useAction();
  const [asking, setAsking] = useState(false);
  const { state, kind, error, contains } = query;
  const verb = VERBS.retry.has(state) ? "retry" : CANCEL.has(state) ? "cancel" : null;
  if (contains || !verb || !total) return null;
  const act = async () => showNotice(outcome(verb, await post(`/v1/jobs/${verb}`, { state, ...(kind && { kind }), ...(error && { error }) })));
  const words = verb === "retry" ? "Run all again" : "Cancel all";
  return html`<div class="row for-all">
    <button onClick=${() => setAsking(true)}>${words} (${count(total)})…</button>
    ${asking && html`<${Confirm} title=${`${words}: ${many(total, "job")}?`} verb=${`${words.replace(" all", "")} ${count(total)}`} tone=${verb === "retry" ? "accent" : "danger"}
      action=${action} act=${act} close=${() => setAsking(false)}>
      <p>${verb === "retry"
        ? "Each runs as it was sent, as its next generation. If the cause is still there they fail again."
        : "They will not run. A cancelled job can be run again by hand."}</p>
    <//>`}
  </div>`;
}

function Chosen({ chosen, clear, showNotice }) {
  const action = useAction();
  const [asking, setAsking] = useState(null); // "cancel" or "dismiss"
  const job_ids = [...chosen.keys()];
  const ended = [...chosen.values()].filter((job) => hasEnded(job.state)).length;
  const again = [...chosen.values()].filter((job) => VERBS.retry.has(job.state)).length;
  const act = (verb) => async () => {
    showNotice(outcome(verb, await postForJobs(verb, job_ids)));
    clear();
  };
  return html`<section class="chosen" aria-label="Chosen jobs">
    <div class="row">
      <strong>${many(chosen.size, "job")} chosen</strong>
      <button data-tone="accent" disabled=${action.busy || !again} onClick=${() => action.run(act("retry"))}>Run again</button>
      <button disabled=${action.busy || ended === chosen.size} onClick=${() => setAsking("cancel")}>Cancel…</button>
      <button disabled=${action.busy || !ended} onClick=${() => setAsking("dismiss")}>Dismiss…</button>
      <button class="quiet" onClick=${clear}>Clear</button>
    </div>
    ${!asking && html`<${Problem} error=${action.error} />`}
    ${asking === "cancel" && html`<${Confirm} title=${`Cancel ${many(chosen.size - ended, "job")}?`} verb="Cancel them" action=${action} act=${act("cancel")} close=${() => setAsking(null)}>
      <p>What waits will not run. What runs is stopped, unless its effect is stored already.</p>
    <//>`}
    ${asking === "dismiss" && html`<${Confirm} title=${`Dismiss ${many(ended, "job")}?`} verb="Dismiss them" action=${action} act=${act("dismiss")} close=${() => setAsking(null)}>
      <p>Their records and what was asked are removed now instead of after their time. What they did stays as it is.</p>
    <//>`}
  </section>`;
}
