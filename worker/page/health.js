// The state of everything: the worker, the memory, the findings of the doctor, and the settings with their sources.
import { get, refusedBy } from "./api.js";
import { html, useState } from "./html.js";
import { useLive } from "./live.js";
import { announce, Facts, Heading, Problem, Remedy, Time, useAction, Waiting } from "./parts.js";
import { Team } from "./team.js";
import { bytes, count, many, plain, span } from "./words.js";

const KINDS = { summary: "– summaries", decision_record: "– decision records", legacy: "– legacy", raw: "– raw texts" };

export function Health() {
  const { data, error } = useLive("/v1/status", 2);
  if (!data) return html`<${Heading}>Health<//><${Waiting} error=${error} what="how it is" />`;
  const { worker, memory } = data;
  const beat = (worker.alive && worker.heartbeat) || {}; // the last worker's heartbeat tells nothing about now
  return html`
    <${Heading}>Health<//>
    <${Doctor} />
    <div class="two">
      <section class="panel" aria-labelledby="the-worker"><h2 id="the-worker">Worker</h2>
        <${Facts} facts=${[
          ["State", worker.alive ? beat.state ?? "starting" : "not running"],
          ["Version", versions(beat.version, data.version)],
          ["Last heartbeat", worker.heartbeat?.heartbeat_at && html`<${Time} at=${worker.heartbeat.heartbeat_at} every=${1} />`],
          ["Up for", beat.uptime_seconds !== undefined ? span(beat.uptime_seconds * 1000) : null],
          ["Process", beat.pid && String(beat.pid)],
          ["Child process", beat.child ? process(beat.child) : beat.pid && "none now: a job starts it"],
          ["Server process", beat.http?.server && process(beat.http.server)],
          ["Notices drops by", { events: "file events", polling: "scanning", failed: "scanning: file events are not available" }[beat.watcher]],
          ["Language model", beat.llm_configured === undefined ? null : beat.llm_configured ? "configured" : "none: everything but cognify and ask in prose works without"],
        ]} />
      </section>
      <section class="panel" aria-labelledby="the-memory"><h2 id="the-memory">Memory</h2>
        <${Problem} error=${data.memory_error && refusedBy(data.memory_error)} />
        <${Facts} facts=${[
          ...(memory ? counts(memory, graph(data.graph_installed, worker.heartbeat?.team, memory.has_graph, memory.graph_lag)) : []),
          ["Embedder", beat.embedder && html`<span class="break">${beat.embedder}</span>`],
          ["Workspace", html`<code class="break">${data.workspace}</code>`],
        ]} />
      </section>
    </div>
    ${worker.heartbeat?.team && html`<${Team} />`}
    <${Settings} />
    <${Commands} />
  `;
}

/** The running version, and the installed one if it differs. Pure. */
function versions(running, installed) {
  if (running === undefined || running === installed) return installed;
  return `${running}, installed ${installed}: restart it`;
}

/** A process as text: its id and its memory. Pure. */
function process({ pid, memory_bytes }) {
  return `${pid}${memory_bytes ? `, ${bytes(memory_bytes)}` : ""}`;
}

/** The graph as text. In a team, it is made when it is needed. Pure. */
function graph(installed, team, has_graph, lag) {
  if (!installed) return "not installed: ask, graph and cognify need it";
  if (team) return null;
  if (!has_graph) return "none yet";
  return lag ? `${many(lag, "change waits", "changes wait")}` : "up to date";
}

/** The facts of a store that could be read. Pure. */
function counts({ memories, uncompared, graph_lag: _lag, has_graph: _has, ...kinds }, graphText) {
  return [
    ["Memories", count(memories)],
    ...(uncompared ? [["Not compared yet", count(uncompared)]] : []),
    ...Object.entries(kinds).map(([kind, number]) => [KINDS[kind] ?? plain(kind), count(number)]),
    ["Graph", graphText],
  ];
}

const LEVELS = ["error", "warning", "note", "ok"];

function Doctor() {
  const action = useAction();
  const [all, setAll] = useState(false);
  const look = () => action.run(async () => {
    const { data } = await get("/v1/doctor");
    const found = data.findings.filter((each) => each.level === "error" || each.level === "warning").length;
    announce(found ? `${many(found, "finding")}.` : "All is well.");
    return data;
  });
  const findings = [...(action.done?.findings ?? [])].sort((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));
  const pressing = findings.filter((each) => each.level === "error" || each.level === "warning");
  const shown = all ? findings : pressing;
  return html`<section class="panel" aria-labelledby="doctor">
    <div class="row"><h2 id="doctor" class="grow">Examination</h2>
      <button data-tone=${action.done ? "" : "accent"} disabled=${action.busy} onClick=${look}>${action.busy ? "Looking…" : action.done ? "Look again" : "Examine now"}</button></div>
    ${!action.done && !action.error && html`<p class="faint">Looks at permissions, disk, clock, worker, queue, memory, model and settings. It changes nothing.
      For every store, row by row: <code>cognee-memory doctor --deep</code></p>`}
    <${Problem} error=${action.error} />
    ${action.done && html`<p>${pressing.length ? html`<strong>${many(pressing.length, "thing needs", "things need")} a look.</strong>` : html`<strong class="good">All is well.</strong>`}
      <span class="faint"> ${many(findings.length, "check")}${action.done.took_ms ? ` in ${span(action.done.took_ms)}` : ""}.</span></p>
      <ul class="lines">${shown.map((finding, place) => html`<${Finding} key=${`${finding.code} ${place}`} finding=${finding} />`)}</ul>
      ${findings.length > pressing.length && html`<button class="quiet" aria-expanded=${all} onClick=${() => setAll(!all)}>${all ? "Show what needs a look" : "Show all"}</button>`}`}
  </section>`;
}

function Finding({ finding }) {
  return html`<li class="finding" data-level=${finding.level}>
    <p><span class="tag" data-level=${finding.level}>${finding.level}</span> ${finding.subject && html`<code class="faint small">${finding.subject}</code> `}<strong>${finding.message}</strong></p>
    ${finding.remedy && html`<p><${Remedy} text=${finding.remedy} /></p>`}
    ${finding.fix && html`<p class="faint small">Fixed by <code>cognee-memory doctor --fix</code></p>`}
  </li>`;
}

function Settings() {
  const { data, error } = useLive("/v1/settings", 30);
  const [text, setText] = useState("");
  const [changed, setChanged] = useState(false);
  if (!data) return error ? html`<${Problem} error=${error} />` : null;
  const wanted = text.trim().toLowerCase();
  const shown = data.settings.filter((row) => (!changed || row.source !== "default")
    && (!wanted || `${row.name} ${row.variable} ${row.help}`.toLowerCase().includes(wanted)));
  return html`<section class="panel" aria-labelledby="settings"><h2 id="settings">Settings</h2>
    <div class="row">
      <label class="field inline grow"><span class="unseen">Find a setting</span><input type="search" value=${text} placeholder="Find a setting   /" onInput=${(event) => setText(event.target.value)} /></label>
      <label class="check"><input type="checkbox" checked=${changed} onChange=${(event) => setChanged(event.target.checked)} /> only those that were set</label>
    </div>
    <div class="scrolling settings" tabindex="0" role="region" aria-label="All settings"><table class="cards">
      <caption class="unseen">Settings</caption>
      <thead><tr><th>Setting</th><th>Value</th><th>From</th><th>What it is</th></tr></thead>
      <tbody>${shown.map((row) => html`<tr key=${row.name}>
        <td class="nowrap"><code>${row.variable}</code></td><td><b class="break">${row.value || "–"}</b></td>
        <td><span class=${row.source === "default" ? "faint" : "tag"}>${row.source}</span></td><td class="what small">${row.help}</td></tr>`)}</tbody>
    </table></div>
    ${shown.length === 0 && html`<p class="faint">No setting matches.</p>`}
    <p class="faint small">They are changed in the environment, in the workspace's <code>.env</code> or in <code>config.toml</code>, and hold after <code>cognee-memory worker restart</code>.</p>
  </section>`;
}

const COMMANDS = [
  ["cognee-memory status", "worker, queue and memory in short"],
  ["cognee-memory doctor --deep", "looks into every store; takes its time"],
  ["cognee-memory jobs watch", "the queue, live on the terminal"],
  ["cognee-memory worker logs --lines 100", "the end of the log"],
  ["cognee-memory worker restart", "after a change of settings"],
  ["cognee-memory rebuild", "rebuilds the index and the graph from the memories"],
];

function Commands() {
  return html`<section class="panel" aria-labelledby="commands"><h2 id="commands">On the terminal</h2>
    <dl class="commands">${COMMANDS.map(([command, text]) => html`<div key=${command}><dt><code>${command}</code></dt><dd>${text}</dd></div>`)}</dl>
  </section>`;
}
