// Files that could not become jobs, and why.
import { post, withQuery } from "./api.js";
import { html, useState } from "./html.js";
import { useLive } from "./live.js";
import { Problem, Remedy, Time, useAction } from "./parts.js";
import { bytes, count, many } from "./words.js";

const EVERY_SECONDS = 10;
const LIMIT = 50, SHOWN = 3;

export function Rejected({ version }) {
  const { data, again } = useLive(withQuery("/v1/rejected", { limit: LIMIT }), EVERY_SECONDS, version);
  const [all, setAll] = useState(false);
  if (!data?.total) return null;
  const shown = all ? data.files : data.files.slice(0, SHOWN);
  return html`<section class="panel rejected" aria-labelledby="rejected">
    <h2 id="rejected">${many(data.total, "rejected file")} <span class="faint">could not become jobs</span></h2>
    <ul class="lines">${shown.map((file) => html`<${File} key=${file.kept_as} file=${file} again=${again} />`)}</ul>
    ${data.total > SHOWN && html`<button class="quiet" onClick=${() => setAll(!all)}>${all ? "Show fewer" : `Show ${count(data.files.length - SHOWN)} more`}</button>`}
    ${all && data.total > data.files.length && html`<p class="faint">The newest ${count(data.files.length)} of ${count(data.total)}.</p>`}
  </section>`;
}

function File({ file, again }) {
  const action = useAction();
  const drop = () => action.run(async () => {
    const found = await post("/v1/jobs/retry", { job_ids: [file.kept_as] });
    again();
    return found;
  });
  return html`<li>
    <div class="row">
      <p class="grow"><code class="break">${file.file}</code> <span class="faint"><${Time} at=${file.rejected_at} /> · ${bytes(file.size)}</span></p>
      <button disabled=${action.busy} onClick=${drop}>Drop it again</button>
    </div>
    <p><strong>${file.error.message}</strong></p>
    <p><${Remedy} text=${file.error.remediation} /></p>
    <p class="faint small"><code>${file.error.code}</code> · kept as <code class="break">.cognee_jobs/rejected/${file.kept_as}</code></p>
    ${action.done?.skipped.map((left) => html`<p key=${left.job_id} class="note">${left.error} ${left.remediation}</p>`)}
    <${Problem} error=${action.error} />
  </li>`;
}
