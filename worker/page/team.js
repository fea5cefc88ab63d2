// The workspace's team: who runs its jobs, the copies of its machines, and the failed jobs of everybody.
import { refusedBy } from "./api.js";
import { html } from "./html.js";
import { useLive } from "./live.js";
import { Facts, Problem, Time, Waiting } from "./parts.js";
import { to } from "./route.js";
import { count, many, plain } from "./words.js";

const EVERY_SECONDS = 5;

/** The panel, for a workspace that belongs to a team. */
export function Team() {
  const { data, error } = useLive("/v1/team", EVERY_SECONDS);
  const team = data?.team; // null once the team was left
  return html`<section class="panel team" aria-labelledby="the-team"><h2 id="the-team">Team</h2>
    ${team ? html`<${Known} team=${team} />` : html`<${Waiting} error=${error} what="the team" />`}
  </section>`;
}

function Known({ team }) {
  const { workspace, error } = team;
  return html`
    ${error && html`<${Problem} error=${refusedBy(error)}><p>${meanwhile(team)}</p><//>`}
    <${Facts} facts=${[
      ...(workspace ? ofWorkspace(workspace) : []),
      ["This machine", html`<span class="break">${team.node}</span>`],
      ["Its copy", html`<${OwnCopy} team=${team} />`],
      ...(team.token_ends_at ? [["Its token", html`ends <${Time} at=${team.token_ends_at} />`]] : []),
      ["Address", html`<span class="break">${team.address}</span>`],
    ]} />
    ${team.copies.length > 0 && html`<${Copies} team=${team} />`}
    ${team.failed_jobs.length > 0 && html`<${FailedJobs} team=${team} />`}
  `;
}

/** What holds while the team is not reached. Pure. */
export function meanwhile({ has_copy }) {
  const questions = has_copy ? "Questions are answered from this machine's copy." : "Questions are not answered: this machine has no copy.";
  return `${questions} Jobs wait here, and nothing is lost.`;
}

/** The facts of a workspace that the team knows. Pure. */
function ofWorkspace({ lease_owner, jobs, changes, retrying }) {
  return [
    ["Runs its jobs", html`<span class="break">${lease_owner ?? "nobody now"}</span>`],
    ["Jobs", `${count(jobs.waiting)} waiting, ${count(jobs.running)} running, ${count(jobs.failed)} failed`],
    ...Object.entries(retrying).map(([code, tried]) => ["The service met", `${code}: ${many(tried, "job")} will be tried again`]),
    ["Changes", count(changes)],
  ];
}

function OwnCopy({ team }) {
  if (!team.has_copy) return "none: the gateway answers questions";
  if (team.position === null) return "not there yet";
  if (team.behind === 0) return "up to date";
  const lag = team.behind === null ? `at change ${count(team.position)}` : `${many(team.behind, "change")} behind`;
  return html`${lag}${team.current_at && html`, up to date <${Time} at=${team.current_at} />`}`;
}

/** What a copy lacks. It does not follow where its token has ended. Pure. */
function behind({ behind: changes, has_access }) {
  if (!has_access) return "no access";
  return changes ? many(changes, "change") : "–";
}

function Copies({ team }) {
  return html`<h3>Copies</h3>
    <div class="scrolling" tabindex="0" role="region" aria-label="Copies"><table class="cards">
      <caption class="unseen">Copies</caption>
      <thead><tr><th>Machine</th><th class="number">Behind</th><th class="number">To forget</th><th>Seen</th><th>Version</th></tr></thead>
      <tbody>${team.copies.map((copy) => html`<tr key=${copy.node}>
        <td class="what break">${copy.node}${copy.label && ` (${copy.label})`}${isHere(copy.node, team) && html` <span class="faint">(this one)</span>`}</td>
        <td class="number" data-label="Behind">${behind(copy)}</td>
        <td class="number" data-label="To forget">${copy.forgotten ? many(copy.forgotten, "memory", "memories") : "–"}</td>
        <td class="when" data-label="Seen"><${Time} at=${copy.seen_at} />${copy.is_silent && html` <span class="tag" data-level="warning">silent</span>`}</td>
        <td class="nowrap" data-label="Version">${copy.version}</td></tr>`)}</tbody>
    </table></div>`;
}

function FailedJobs({ team }) {
  const { failed_jobs: jobs, workspace } = team;
  const { failed } = workspace.jobs;
  return html`<h3>Failed jobs of everybody</h3>
    <div class="scrolling" tabindex="0" role="region" aria-label="Failed jobs of everybody"><table class="cards">
      <caption class="unseen">Failed jobs of everybody</caption>
      <thead><tr><th>Job</th><th>Error</th><th>Dropped on</th><th>Failed</th></tr></thead>
      <tbody>${jobs.map((job) => html`<tr key=${job.job_id}>
        <td class="what break"><strong>${plain(job.kind)}</strong> <${JobId} job=${job} team=${team} /></td>
        <td data-label="Error"><code>${job.error_code ?? "–"}</code></td>
        <td class="break" data-label="Dropped on">${job.asked_by}</td>
        <td class="when" data-label="Failed"><${Time} at=${job.failed_at} /></td></tr>`)}</tbody>
    </table></div>
    <p class="faint small">${jobs.length < failed && `The last ${count(jobs.length)} of ${count(failed)}. `}Run one again where it was dropped: <code>cognee-memory jobs retry</code></p>`;
}

function JobId({ job, team }) {
  const id = html`<code class="faint">${job.job_id}</code>`;
  return isHere(job.asked_by, team) ? html`<a href=${to(["jobs", job.job_id])}>${id}</a>` : id;
}

/** Whether a machine's name is that of this one; a gateway puts the person's before it. Pure. */
function isHere(node, team) {
  return node === team.node || node.endsWith(`/${team.node}`);
}

/** On the queue: that the team is not reached, as the worker's heartbeat says. */
export function TeamNotReached({ heartbeat }) {
  const problem = heartbeat?.team?.problem;
  if (!problem) return null;
  return html`<p class="warnings" role="status"><strong>The team is not reached.</strong> Jobs wait here, and nothing is lost.
    <span class="faint small"> <code>${problem}</code> <a href="#/health">The team</a></span></p>`;
}
