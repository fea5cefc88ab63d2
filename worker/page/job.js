// One job: its whole life as a line of events, what was asked, what came of it, and what can be done.
import { hasEnded, post } from "./api.js";
import { html, useState } from "./html.js";
import { VERBS } from "./job-states.js";
import { useLive } from "./live.js";
import { announce, Confirm, Facts, Heading, Json, Meter, Problem, Remedy, State, Time, useAction, Waiting } from "./parts.js";
import { go, to } from "./route.js";
import { count, many, plain, span } from "./words.js";

const RUNNING_SECONDS = 1, ENDED_SECONDS = 5;

export function Job({ id }) {
  const [ended, setEnded] = useState(false);
  const { data, error, again } = useLive(`/v1/jobs/${encodeURIComponent(id)}`, ended ? ENDED_SECONDS : RUNNING_SECONDS);
  const back = html`<p class="crumb"><a href="#/queue">Queue</a></p>`;
  if (!data) return html`${back}<${Heading} title="Job">Job <code>${id}</code><//><${Waiting} error=${error} what="the job" />`;
  const { job, subject, advice, asked, in_flight } = data;
  const is_over = hasEnded(job.state);
  if (is_over !== ended) setTimeout(() => setEnded(is_over));
  if (job.state === "in the inbox") {
    return html`${back}<${Heading} title="Job">Job <code>${id}</code><//>
      <p>The file waits in the inbox. It becomes a job when a worker accepts it.</p>`;
  }
  return html`
    ${back}
    <${Heading} title=${`${plain(job.kind ?? "file")} ${job.state}`} extra=${html`<${State} state=${job.state} />`}>${plain(job.kind ?? "file")}${subject && html` <span class="about">${subject}</span>`}<//>
    <p class="faint"><code class="break">${job.job_id}</code></p>
    <${Actions} job=${job} advice=${advice} again=${again} />
    ${job.error && html`<${Failure} job=${job} />`}
    ${in_flight?.progress && html`<${Meter} label=${in_flight.progress.message || "done"}
      value=${in_flight.progress.total ? in_flight.progress.done / in_flight.progress.total : 0}
      text=${`${count(in_flight.progress.done)} of ${count(in_flight.progress.total)}`} />`}
    <${Made} result=${job.result} />
    <div class="two">
      <section class="panel" aria-labelledby="life"><h2 id="life">Its life</h2><${Life} job=${job} /></section>
      <section class="panel" aria-labelledby="about"><h2 id="about">About it</h2>
        <${Facts} facts=${[
          ["Attempts", `${job.attempt} so far; ${many(job.max_attempts, "error")} at most`],
          ["Generation", job.generation > 1 ? `${job.generation}: it was run again` : null],
          ["Priority", String(job.priority)],
          ["Submitted by", asked?.submitted_by],
          ["Correlation id", job.correlation_id && html`<a href=${to(["queue"], { contains: job.correlation_id })}><code class="break">${job.correlation_id}</code></a>`],
          ["Expires", job.expires_at && html`<${Time} at=${job.expires_at} />`],
          ["Took", job.elapsed_ms === null ? null : span(job.elapsed_ms)],
          ["On the terminal", html`<code class="break">cognee-memory jobs show ${job.job_id}</code>`],
        ]} />
      </section>
    </div>
    ${asked ? html`<${Json} label="What was asked" value=${asked.payload} open=${true} />`
      : html`<p class="faint">The copy of what was asked is gone: it is kept as long as the record, and not after a memory was forgotten.</p>`}
    ${job.result && html`<${Json} label="The result" value=${job.result} open=${true} />`}
    <${Json} label="The whole record" value=${job} />
  `;
}

function Failure({ job }) {
  const { error } = job;
  return html`<section class="problem" aria-label="Error">
    <p><strong>${error.message}</strong></p>
    <p><${Remedy} text=${error.remediation.replaceAll("<job_id>", job.job_id)} /></p>
    <p class="faint small"><code>${error.code}</code>${job.state === "retrying" && job.next_attempt_at
      ? html` · next attempt <${Time} at=${job.next_attempt_at} every=${1} />` : ""}</p>
    ${error.details && html`<${Json} label="Details" value=${error.details} />`}
  </section>`;
}

function Actions({ job, advice, again }) {
  const action = useAction();
  const [asking, setAsking] = useState(false);
  const ask = (verb, words) => async () => {
    const found = await post(`/v1/jobs/${encodeURIComponent(job.job_id)}/${verb}`, {});
    announce(words);
    again();
    return { ...found, words };
  };
  const over = hasEnded(job.state);
  const dismiss = async () => {
    await post(`/v1/jobs/${encodeURIComponent(job.job_id)}/dismiss`, {});
    announce("It is removed from the list.");
    go(to(["queue"]));
  };
  return html`<div class="row actions">
    ${VERBS.retry.has(job.state) && html`<button data-tone=${advice === null || advice === "retry" ? "accent" : ""} disabled=${action.busy}
      onClick=${() => action.run(ask("retry", "It runs again."))}>${job.state === "rejected" ? "Drop it again" : "Run it again"}</button>`}
    ${!over && html`<button disabled=${action.busy} onClick=${() => setAsking(true)}>Cancel…</button>`}
    ${over && html`<button class=${advice === "dismiss" ? "" : "quiet"} data-tone=${advice === "dismiss" ? "accent" : ""} disabled=${action.busy} onClick=${() => setAsking(true)}>Dismiss…</button>`}
    ${action.done && html`<span class="note">${action.done.obeyed ? action.done.words : "Requested; the worker has not handled the request yet."}</span>`}
    ${!asking && html`<${Problem} error=${action.error} />`}
    ${asking && over && html`<${Confirm} title="Dismiss this job?" verb="Dismiss it" action=${action} act=${dismiss} close=${() => setAsking(false)}>
      <p>Its record and what was asked are removed now instead of after their time. What it did stays as it is.</p>
    <//>`}
    ${asking && !over && html`<${Confirm} title="Cancel this job?" verb="Cancel it" action=${action} act=${ask("cancel", "It is cancelled.")} close=${() => setAsking(false)}>
      <p>${job.state === "running" ? "It is stopped, unless its effect is stored already." : "It will not run. It can be run again by hand."}</p>
    <//>`}
  </div>`;
}

/** The way to what the job made. */
function Made({ result }) {
  if (!result) return null;
  const memory = result.memory_number ?? null;
  const id = result.memory_id ?? result.decision_record_id;
  if (typeof id !== "string") return null;
  return html`<p><a class="button" href=${to(["memories", id])}>Open ${result.decision_record_id ? "the record" : "the memory"}${memory ? ` #${memory}` : ""}</a></p>`;
}

const OUTCOMES = {
  succeeded: "done", failed: "failed", waiting: "had to wait for something else", interrupted: "was interrupted; that counts for nothing",
  crashed: "ended with the death of its process", worker_died: "ended with the death of the worker", cancelled: "was cancelled",
};

/** The events of a record, oldest first: `{at, title, text, tone}`. Pure. */
export function events(job) {
  const found = [];
  if (job.submitted_at) found.push({ at: job.submitted_at, title: "Dropped into the inbox" });
  if (job.accepted_at) found.push({ at: job.accepted_at, title: "Accepted", text: job.generation > 1 ? `as generation ${job.generation}` : "" });
  job.attempts.forEach((attempt, place) => {
    const before = place ? job.attempts[place - 1].finished_at : job.accepted_at;
    const waited = before ? Date.parse(attempt.started_at) - Date.parse(before) : 0;
    const took = attempt.finished_at ? Date.parse(attempt.finished_at) - Date.parse(attempt.started_at) : null;
    const words = [
      took === null ? "" : `after ${span(took)}`,
      attempt.repeats > 1 ? `${many(attempt.repeats, "time")} in a row` : "",
      attempt.together > 1 ? `with ${many(attempt.together - 1, "other job")}` : "",
      waited > 1000 ? `waited ${span(waited)} before` : "",
    ].filter(Boolean);
    const good = attempt.outcome === "succeeded", running = attempt.outcome === null;
    found.push({
      at: attempt.started_at, title: `Attempt ${attempt.number}`, outcome: attempt.outcome === null ? "runs now" : OUTCOMES[attempt.outcome] ?? attempt.outcome, text: words.join(", "), code: attempt.error_code,
      tone: good ? "good" : running ? "running" : attempt.outcome === "failed" || attempt.outcome === "crashed" ? "bad" : "",
    });
  });
  if (job.finished_at) {
    const tone = { succeeded: "good", failed: "bad", rejected: "bad" }[job.state] ?? "";
    found.push({ at: job.finished_at, title: `Ended: ${job.state}`, text: job.elapsed_ms === null ? "" : `${span(job.elapsed_ms)} after its first start`, tone });
  } else if (job.next_attempt_at) {
    found.push({ at: job.next_attempt_at, title: job.attempt ? "Next attempt" : "Not before", tone: "next" });
  }
  return found;
}

function Life({ job }) {
  return html`<ol class="life">${events(job).map((event, place) => html`<li key=${place} data-tone=${event.tone ?? ""}>
    <p><strong>${event.title}</strong> <span class="faint"><${Time} at=${event.at} every=${1} /></span></p>
    ${(event.outcome || event.text) && html`<p class="small">${event.outcome} ${event.code && html`<code>${event.code}</code> `}${event.text}</p>`}
  </li>`)}</ol>`;
}
