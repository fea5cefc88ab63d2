// Why jobs failed or wait: one entry for each cause, with what to do and the way to do it for all of them.
import { post } from "./api.js";
import { html, useState } from "./html.js";
import { VERBS } from "./job-states.js";
import { outcome } from "./notice.js";
import { Confirm, Problem, Remedy, State, Time, useAction } from "./parts.js";
import { to } from "./route.js";
import { count, many, remedyOfAll } from "./words.js";

const SHOWN = 6;

const CONFIRMATIONS = {
  cancel: { verb: "Cancel", text: "They wait for another attempt, and would not run any more. A cancelled job can be run again by hand." },
  dismiss: { verb: "Dismiss", text: "Their records and what was asked are removed now instead of after their time, and cannot be run again. Memories stay as they are." },
};

export function Causes({ causes, showNotice }) {
  const [all, setAll] = useState(false);
  const found = causes.filter((cause) => cause.state !== "rejected");
  if (!found.length) return null;
  const shown = all ? found : found.slice(0, SHOWN);
  return html`<section class="panel" aria-labelledby="causes">
    <h2 id="causes">What went wrong</h2>
    <ul class="causes">${shown.map((cause) => html`<${Cause} key=${`${cause.state} ${cause.code}`} cause=${cause} showNotice=${showNotice} />`)}</ul>
    ${found.length > SHOWN && html`<button class="quiet" onClick=${() => setAll(!all)}>${all ? "Show fewer" : `Show ${count(found.length - SHOWN)} more`}</button>`}
  </section>`;
}

function Cause({ cause, showNotice }) {
  const action = useAction();
  const [asking, setAsking] = useState(false);
  const chosen = { state: cause.state, error: cause.code };
  const verb = VERBS.retry.has(cause.state) ? "retry" : "cancel";
  const other = verb === "retry" ? "dismiss" : "cancel"; // the action that has to be confirmed
  const act = (verb) => async () => showNotice(outcome(verb, await post(`/v1/jobs/${verb}`, chosen)));
  const kinds = Object.entries(cause.kinds).map(([kind, number]) => `${count(number)} ${kind}`).join(", ");
  return html`<li class="cause">
    <div class="cause-count" data-state=${cause.state}><b>${count(cause.count)}</b> <${State} state=${cause.state} /></div>
    <div class="cause-text">
      <${Messages} cause=${cause} />
      <p><${Remedy} text=${remedyOfAll(cause)} /></p>
      <p class="faint small"><code>${cause.code}</code> · ${kinds} · newest <${Time} at=${cause.newest} /></p>
      ${!asking && html`<${Problem} error=${action.error} />`}
    </div>
    <div class="cause-act">
      <a class="button" data-scroll="jobs" href=${to(["queue"], chosen)}>Show ${cause.count === 1 ? "it" : "them"}</a>
      ${verb === "retry" && html`<button data-tone=${cause.advice === "retry" ? "soft" : ""} disabled=${action.busy} onClick=${() => action.run(act("retry"))}>
        ${action.busy ? "Asking…" : cause.count === 1 ? "Run it again" : `Run these ${count(cause.count)} again`}</button>`}
      <button data-tone=${cause.advice === "dismiss" ? "soft" : ""} disabled=${action.busy} onClick=${() => setAsking(true)}>${CONFIRMATIONS[other].verb}…</button>
    </div>
    ${asking && html`<${Confirm} title=${`${CONFIRMATIONS[other].verb} ${many(cause.count, "job")}?`} verb=${`${CONFIRMATIONS[other].verb} ${count(cause.count)}`} action=${action}
      act=${act(other)} close=${() => setAsking(false)}>
      <p>${CONFIRMATIONS[other].text}</p>
    <//>`}
  </li>`;
}

/** What happened: one message, or each of the most frequent ones where the jobs differ in it. */
function Messages({ cause }) {
  const found = Object.entries(cause.messages);
  if (found.length < 2) return html`<p><strong>${cause.message}</strong></p>`;
  const rest = cause.count - found.reduce((sum, [, number]) => sum + number, 0);
  return html`<ul class="lines-plain">
    ${found.map(([message, number]) => html`<li key=${message}><strong>${message}</strong> <span class="faint nowrap">× ${count(number)}</span></li>`)}
    ${rest > 0 && html`<li class="faint">and ${many(rest, "other")}</li>`}
  </ul>`;
}
