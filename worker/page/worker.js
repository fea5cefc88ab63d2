// The worker's state in a line, with its controls; and the running jobs.
import { post } from "./api.js";
import { html, useState } from "./html.js";
import { Confirm, Meter, Problem, Time, useAction } from "./parts.js";
import { to } from "./route.js";
import { count, many, plain, span } from "./words.js";

const STATE_TEXT = {
  starting: "The worker is starting.",
  ready: "The worker is running.",
  paused: "The worker is paused: running jobs finish, no other job starts.",
  draining: "The worker is draining: it runs the due jobs, accepts no more, and stops.",
  exiting: "The worker is stopping.",
  silent: "The worker runs, but does not respond.",
  stopped: "The worker has stopped.",
};

const SILENT_MS = 30_000; // a healthy worker writes its heartbeat every few seconds

/** Its state in a word. `now` is of the same clock as the heartbeat, and of the same answer. */
function stateOf(worker, now) {
  const beat = worker.heartbeat;
  if (!worker.alive) return "gone";
  if (!beat) return "starting";
  return Date.parse(now) - Date.parse(beat.heartbeat_at) > SILENT_MS ? "silent" : beat.state;
}

export function WorkerLine({ worker, now, again }) {
  const action = useAction();
  const [asking, setAsking] = useState(false);
  const beat = worker.heartbeat;
  const state = stateOf(worker, now);
  const ask = (request) => async () => {
    const found = await post("/v1/control", { request });
    again();
    return found;
  };
  return html`<section class="worker" data-worker=${state} aria-label="Worker">
    <p class="worker-state">
      <span class="dot" aria-hidden="true"></span>
      <strong>${STATE_TEXT[state] ?? "No worker is running."}</strong>
      ${worker.alive && beat?.oldest_waiting_seconds != null && html` <span class="faint">The oldest job waits for ${span(beat.oldest_waiting_seconds * 1000)}.</span>`}
      ${state === "silent" && html` <span>Its last heartbeat was <${Time} at=${beat.heartbeat_at} />. If this continues: <code>cognee-memory worker restart</code></span>`}
      ${!worker.alive && html` <span>Jobs wait until one is started: <code>cognee-memory worker start</code></span>`}
    </p>
    ${worker.alive && html`<div class="row">
      ${state === "paused"
        ? html`<button data-tone="accent" disabled=${action.busy} onClick=${() => action.run(ask("resume"))}>Resume</button>`
        : html`<button disabled=${action.busy || state !== "ready"} onClick=${() => action.run(ask("pause"))}>Pause</button>`}
      <button disabled=${action.busy || !["ready", "paused"].includes(state)} onClick=${() => setAsking(true)}>Drain…</button>
    </div>`}
    ${action.done?.obeyed === false && html`<p class="note">Requested: ${action.done.request}. The worker has not handled the request yet.</p>`}
    ${!asking && html`<${Problem} error=${action.error} />`}
    ${asking && html`<${Confirm} title="Drain the queue?" verb="Drain and stop" action=${action} act=${ask("drain")} close=${() => setAsking(false)}>
      <p>The worker runs the due jobs, accepts no more, and stops. This page then gets no more answers.
        New jobs wait in the inbox until a worker is started.</p>
    <//>`}
  </section>`;
}

export function Running({ heartbeat, waiting, jobs }) {
  const subjects = new Map(jobs.map((job) => [job.job_id, job.subject]));
  const running = heartbeat?.in_flight ?? [];
  return html`<section class="running" aria-label="Running now">
    ${running.length === 0 && html`<p class="work idle faint">No job is running.${waiting > 0 ? ` ${many(waiting, "file")} in the inbox.` : ""}</p>`}
    ${running.map((work) => html`<${Work} key=${work.job_id} work=${work} subject=${subjects.get(work.job_id)} />`)}
  </section>`;
}

function Work({ work, subject }) {
  const { progress } = work;
  const others = work.jobs > 1 ? ` and ${many(work.jobs - 1, "other")}` : "";
  return html`<div class="work">
    <p><a href=${to(["jobs", work.job_id])}><strong>${plain(work.kind)}</strong> ${subject || html`<code>${work.job_id}</code>`}</a>${others}
      <span class="faint"> for ${span(work.seconds * 1000)}</span></p>
    ${progress
      ? html`<${Meter} label=${progress.message || "done"} value=${progress.total ? progress.done / progress.total : 0}
          text=${`${count(progress.done)} of ${count(progress.total)}`} />`
      : html`<div class="moving" aria-hidden="true"></div>`}
  </div>`;
}
