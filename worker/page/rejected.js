// Files that could not become jobs, and why.
import { post, withQuery } from "./api.js";
import { html, useEffect, useState } from "./html.js";
import { useLive } from "./live.js";
import { Problem, Remedy, Time, useAction } from "./parts.js";
import { bytes, count } from "./words.js";

const EVERY_SECONDS = 10;
const LIMIT = 50;

export function Rejected({ version }) {
  const { data, again } = useLive(withQuery("/v1/rejected", { limit: LIMIT }), EVERY_SECONDS);
  const [first] = useState(version);
  useEffect(() => {
    if (version !== first) again();
  }, [version]);
  if (!data?.total) return null;
  return html`<details class="panel rejected">
    <summary><h2>${count(data.total)} rejected ${data.total === 1 ? "file" : "files"}</h2>
      <span class="faint">files that could not become jobs</span></summary>
    <ul class="lines">${data.files.map((file) => html`<${File} key=${file.kept_as} file=${file} again=${again} />`)}</ul>
    ${data.total > data.files.length && html`<p class="faint">The newest ${count(data.files.length)} of ${count(data.total)}.</p>`}
  </details>`;
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
      <p class="grow"><strong class="break">${file.file}</strong> <span class="faint"><${Time} at=${file.rejected_at} /> · ${bytes(file.size)}</span></p>
      <button disabled=${action.busy} onClick=${drop}>Drop it again</button>
    </div>
    <p>${file.error.message}</p>
    <p class="faint"><${Remedy} text=${file.error.remediation} /></p>
    <p class="faint small"><code>${file.error.code}</code> · kept as <code class="break">.cognee_jobs/rejected/${file.kept_as}</code></p>
    ${action.done?.skipped.map((left) => html`<p key=${left.job_id} class="note">${left.error} ${left.remediation}</p>`)}
    <${Problem} error=${action.error} />
  </li>`;
}
