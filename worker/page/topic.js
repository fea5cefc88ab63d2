// One topic: its memories, and merging them into a record: first shown, then done just as it was shown.
import { post, runJob, withQuery } from "./api.js";
import { Preview } from "./compaction.js";
import { History } from "./history.js";
import { html, useRef, useState } from "./html.js";
import { useLive } from "./live.js";
import { Open } from "./open.js";
import { announce, Facts, Heading, Problem, Status, Time, useAction, Waiting } from "./parts.js";
import { to } from "./route.js";
import { count, many, said } from "./words.js";

export function Topic({ id }) {
  const topics = useLive("/v1/topics", 5);
  const memories = useLive(withQuery("/v1/memories", { topic_id: id, limit: 100 }), 5);
  const [round, setRound] = useState(0);
  const topic = topics.data?.topics.find((each) => each.topic_id === id);
  const again = () => {
    topics.again();
    memories.again();
    setRound(round + 1);
  };
  return html`
    <p class="crumb"><a href="#/topics">Topics</a></p>
    <${Heading} extra=${topic && html`<code class="faint break">${id}</code>`}>${topic?.title || id}<//>
    ${topic && html`<${Facts} facts=${[
      ["Active", count(topic.active)], ["Records", count(topic.decision_records)],
      ["Drafts", count(topic.drafts)], ["Superseded", count(topic.superseded)],
      ["Size", `${count(topic.characters)} characters`],
      ["From", topic.oldest && html`<${Time} at=${topic.oldest} />`], ["To", topic.newest && html`<${Time} at=${topic.newest} />`],
    ]} />`}
    ${topics.data && !topic && html`<p class="note">No memory has this topic.</p>`}
    ${topic && html`<${Compaction} topic=${topic} again=${again} />`}
    <section class="panel" aria-labelledby="its-memories"><h2 id="its-memories">Its memories</h2>
      ${memories.data ? html`<${Its} found=${memories.data} id=${id} />` : html`<${Waiting} error=${memories.error} what="its memories" />`}
    </section>
    ${topic && html`<${Open} topic=${id} />`}
    <${History} topic=${id} round=${round} changed=${again} />
  `;
}

function Its({ found, id }) {
  return html`<ul class="lines">${found.memories.map((memory) => html`<li key=${memory.memory_id} class="row">
      <span class="faint">#${memory.memory_number}</span>
      <a class="grow" href=${to(["memories", memory.memory_id])}>${said(memory)}</a>
      <${Status} status=${memory.status} /> <span class="faint"><${Time} at=${memory.source_created_at ?? memory.created_at ?? memory.stored_at} /></span>
    </li>`)}</ul>
    ${found.total > found.memories.length && html`<p><a href=${to(["memories"], { topic_id: id })}>All ${count(found.total)}</a></p>`}`;
}

function Compaction({ topic, again }) {
  const previewing = useAction(), applying = useAction();
  const [preview, setPreview] = useState(null);
  const place = useRef(null);
  const mergeable = topic.active + topic.decision_records;
  const look = (keepBoth = []) => {
    applying.clear();
    if (!keepBoth.length) setPreview(null);
    return previewing.run(async () => {
      const rejected = keepBoth.length ? { keep_both: keepBoth } : {};
      const job = await runJob("compact", { topic_id: topic.topic_id, preview: true, ...rejected });
      setPreview(job.result);
      void post(`/v1/jobs/${encodeURIComponent(job.job_id)}/dismiss`, {}).catch(() => {}); // it stays in the list then
      announce("The preview is there.");
      setTimeout(() => place.current?.focus());
      return job;
    });
  };
  const reject = (id, bothHold) => {
    const others = preview.kept_both.map((pair) => pair.conflict_id).filter((each) => each !== id);
    return look(bothHold ? [...others, id] : others);
  };
  const apply = () => applying.run(async () => {
    const job = await runJob("compact", { topic_id: topic.topic_id, preview_digest: preview.preview_digest });
    setPreview(null);
    announce("The memories are merged.");
    again();
    return job;
  });
  return html`<section class="panel" aria-labelledby="merge" ref=${place} tabindex="-1">
    <h2 id="merge">Merge into one record</h2>
    ${!preview && html`<p>${mergeable < 2
      ? "There is nothing to merge: it takes two memories that are active."
      : `${many(mergeable, "memory", "memories")} would become one decision record, which takes their place in searches. They stay, superseded, and come back if you restore.`}</p>`}
    ${applying.done && html`<${Applied} job=${applying.done} />`}
    ${applying.error?.code === "PREVIEW_STALE"
      ? html`<div class="problem" role="alert"><p><strong>The topic has changed since this preview was made.</strong></p>
          <p>Nothing was merged. What you saw is not what it would give now; look at a new preview first.</p></div>`
      : html`<${Problem} error=${applying.error} />`}
    <${Problem} error=${previewing.error} />
    <div class="row">
      <button data-tone=${preview ? "" : "accent"} disabled=${mergeable < 2 || previewing.busy || applying.busy} onClick=${() => look()}>
        ${previewing.busy ? "Making the preview…" : preview || applying.error ? "New preview" : "Preview compaction"}</button>
      ${preview && html`<button class="quiet" onClick=${() => setPreview(null)}>Leave it</button>`}
    </div>
    ${preview && html`<${Preview} preview=${preview} reject=${reject} busy=${previewing.busy || applying.busy}>
      <button data-tone="accent" disabled=${previewing.busy || applying.busy} onClick=${apply}>${applying.busy ? "Merging…" : `Merge these ${preview.summaries.length} memories`}</button>
    <//>`}
  </section>`;
}

function Applied({ job }) {
  const { result } = job;
  return html`<div class="note" role="status"><p>${many(result.superseded.length, "memory was", "memories were")} merged into
    <a href=${to(["memories", result.decision_record_id])}>record #${result.memory_number}</a>. It can be undone below.</p>
    ${result.warnings.map((warning) => html`<p key=${warning}>${warning}</p>`)}</div>`;
}
