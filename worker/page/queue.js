// The queue: how the worker is, what runs, why jobs failed, and all jobs as a table that stays true.
import { withQuery } from "./api.js";
import { Causes } from "./causes.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { VERBS } from "./job-states.js";
import { Jobs } from "./jobs.js";
import { useLive } from "./live.js";
import { Notice } from "./notice.js";
import { announce, Heading, Waiting } from "./parts.js";
import { Rejected } from "./rejected.js";
import { go, to } from "./route.js";
import { TeamNotReached } from "./team.js";
import { count, many } from "./words.js";
import { Running, WorkerLine } from "./worker.js";

const LIVE = [...VERBS.cancel];
const STATES = [...LIVE, "failed", "succeeded", "cancelled", "expired", "rejected"];
const ALWAYS = new Set([...LIVE, "failed", "succeeded"]);
const EVERY_SECONDS = 1;

export function Queue({ query }) {
  const status = useLive("/v1/status", EVERY_SECONDS);
  const list = useLive(withQuery("/v1/jobs", { limit: 50, ...pick(query) }), EVERY_SECONDS);
  const [notice, showNotice] = useState(null);
  useFailuresAnnounced(status.data);
  if (!status.data) return html`<${Heading}>Queue<//><${Waiting} error=${status.error} what="the queue" />`;
  const { jobs, worker, waiting_in_inbox, kinds, now } = status.data;
  return html`
    <${Heading} title="Queue" extra=${html`<${WorkerLine} worker=${worker} now=${now} again=${status.again} />`}>Queue<//>
    <${TeamNotReached} heartbeat=${worker.alive ? worker.heartbeat : null} />
    <${Running} heartbeat=${worker.alive ? worker.heartbeat : null} waiting=${waiting_in_inbox} jobs=${list.data?.jobs ?? []} />
    <${Causes} causes=${jobs.causes} showNotice=${showNotice} />
    <${Rejected} version=${jobs.version} />
    <${Filters} query=${query} counts=${jobs.counts} causes=${jobs.causes} kinds=${kinds} />
    <${Jobs} list=${list} query=${query} showNotice=${showNotice} />
    <${Notice} notice=${notice} close=${() => showNotice(null)} />
  `;
}

const NAMES = ["state", "kind", "error", "contains", "after"];

function pick(query) {
  return Object.fromEntries(NAMES.filter((name) => query[name]).map((name) => [name, query[name]]));
}

function useFailuresAnnounced(data) {
  const before = useRef(null);
  const failed = data?.jobs.counts.failed ?? 0;
  useEffect(() => {
    if (!data) return;
    if (before.current !== null && failed > before.current) announce(`${many(failed - before.current, "more job")} failed.`);
    before.current = failed;
  }, [data && failed]);
}

function Filters({ query, counts, causes, kinds }) {
  const total = Object.values(counts).reduce((sum, number) => sum + number, 0);
  const change = (changed, options) => go(to(["queue"], { ...pick(query), after: "", ...changed }), options);
  const codes = [...new Set([query.error, ...causes.map((cause) => cause.code)])].filter(Boolean).sort();
  return html`<div class="filters" id="jobs">
    <div class="chips" role="group" aria-label="State">
      <${Chip} query=${query} state="" label="All" number=${total} />
      ${STATES.filter((state) => ALWAYS.has(state) || counts[state] || query.state === state).map(
        (state) => html`<${Chip} key=${state} query=${query} state=${state} label=${state} number=${counts[state] ?? 0} />`,
      )}
    </div>
    <div class="row">
      <label class="field inline">Kind
        <select value=${query.kind ?? ""} onChange=${(event) => change({ kind: event.target.value })}>
          <option value="">any</option>
          ${kinds.map((kind) => html`<option key=${kind} value=${kind}>${kind}</option>`)}
        </select>
      </label>
      <label class="field inline">Error
        <select value=${query.error ?? ""} onChange=${(event) => change({ error: event.target.value })}>
          <option value="">any</option>
          ${codes.map((code) => html`<option key=${code} value=${code}>${code}</option>`)}
        </select>
      </label>
      <label class="field inline grow"><span class="unseen">Job or correlation id</span>
        <input type="search" value=${query.contains ?? ""} placeholder="Job or correlation id   /"
          onInput=${(event) => change({ contains: event.target.value.trim() }, { replace: true })} />
      </label>
    </div>
  </div>`;
}

function Chip({ query, state, label, number }) {
  const chosen = (query.state ?? "") === state;
  const address = to(["queue"], { ...pick(query), after: "", state });
  return html`<a class="chip" data-scroll="stay" href=${address} data-state=${state} aria-current=${chosen ? "true" : undefined}>
    ${label} <b>${count(number)}</b>
  </a>`;
}
