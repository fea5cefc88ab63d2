// The compactions: what was merged and when, what was undone, and the button to undo one.
import { runJob, withQuery } from "./api.js";
import { html, useState } from "./html.js";
import { useLive } from "./live.js";
import { announce, Confirm, Time, useAction } from "./parts.js";
import { to } from "./route.js";
import { many } from "./words.js";

export function History({ topic, round, changed = () => {} }) {
  const { data, again } = useLive(withQuery("/v1/history", { topic_id: topic, limit: 20 }), 5, round);
  if (!data?.compactions.length) return null;
  return html`<section class="panel" aria-labelledby="history"><h2 id="history">History</h2>
    <ul class="lines">${data.compactions.map((made) => html`<${Made} key=${`${made.decision_record_id} ${made.applied_at}`} made=${made} topic=${topic} changed=${() => { again(); changed(); }} />`)}</ul>
  </section>`;
}

const KEPT = { forgotten: "it was forgotten", status_changed: "its status was changed since", merged: "another record has merged it as well" };

function Made({ made, topic, changed }) {
  const action = useAction();
  const [asking, setAsking] = useState(false);
  const restore = async () => {
    const job = await runJob("restore", { decision_record_id: made.decision_record_id });
    announce("The compaction was undone.");
    changed();
    return job.result;
  };
  const record = made.memory_number
    ? html`<a href=${to(["memories", made.decision_record_id])}>record #${made.memory_number}</a>` : "a record that was forgotten since";
  return html`<li>
    <div class="row">
      <span class="grow">${many(made.superseded.length, "memory", "memories")}${topic ? "" : html` of <a href=${to(["topics", made.topic_id])}>${made.topic_id}</a>`} merged into ${record}${", "}
        <${Time} at=${made.applied_at} />${made.conflicts.length ? `, ${many(made.conflicts.length, "conflict")}` : ""}</span>
      ${made.restored_at ? html`<span class="faint">undone <${Time} at=${made.restored_at} /></span>` : html`<button disabled=${action.busy} onClick=${() => setAsking(true)}>Restore…</button>`}
    </div>
    ${action.done && html`<p class="note">${many(action.done.restored.length, "memory is", "memories are")} back.
      ${action.done.skipped.map((left) => html` <span key=${left.memory_id}>Left as it is: <code>${left.memory_id}</code>, ${KEPT[left.reason] ?? left.reason}.</span>`)}</p>`}
    ${asking && html`<${Confirm} title="Undo this compaction?" verb="Restore" tone="accent" action=${action} act=${restore} close=${() => setAsking(false)}>
      <p>The record is withdrawn and its ${many(made.superseded.length, "source")} become what they were. Sources that were changed since are left as they are and listed.</p>
    <//>`}
  </li>`;
}
