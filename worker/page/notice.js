// The outcome of a request about many jobs: announced, and shown at the foot of the screen until it is closed.
import { html } from "./html.js";
import { announce } from "./parts.js";
import { to } from "./route.js";
import { many } from "./words.js";

const MOST_SHOWN = 50;

const DONE = { retry: "will run again", cancel: "will not run", dismiss: "removed from the list" };

/** The worker's answer as a notice: `{text, skipped}`. */
export function outcome(verb, found) {
  const text = [
    `${many(found.requested, "job")} ${DONE[verb]}.`,
    found.obeyed < found.requested ? "The worker has not handled all requests yet." : "",
  ].filter(Boolean).join(" ");
  announce(text);
  return { text, skipped: found.skipped };
}

export function Notice({ notice, close }) {
  if (!notice) return null;
  const { text, skipped } = notice;
  return html`<div class="notice">
    <div class="row"><strong class="grow">${text}</strong><button class="quiet" onClick=${close}>Close</button></div>
    ${skipped.length > 0 && html`<details>
      <summary>${many(skipped.length, "job")} left out</summary>
      <ul class="small">${skipped.slice(0, MOST_SHOWN).map((job) => html`<li key=${job.job_id}><a href=${to(["jobs", job.job_id])}><code>${job.job_id}</code></a> ${job.error}</li>`)}</ul>
    </details>`}
  </div>`;
}
