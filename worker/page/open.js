// What is still open: questions and next steps that no later memory has closed.
import { withQuery } from "./api.js";
import { html } from "./html.js";
import { useLive } from "./live.js";
import { Time } from "./parts.js";
import { to } from "./route.js";
import { count } from "./words.js";

const SHOWN = 20;

export function Open({ topic }) {
  const { data } = useLive(withQuery("/v1/open", { topic_id: topic, limit: SHOWN }), 10);
  if (!data?.items.length) return null;
  return html`<section class="panel" aria-labelledby="open"><h2 id="open">Still open</h2>
    <ul class="lines">${data.items.map((item) => html`<li key=${`${item.memory_id} ${item.kind} ${item.text}`} class="row">
      <span class="faint">${item.kind === "question" ? "question" : "next step"}</span>
      <a class="grow" href=${to(["memories", item.memory_id])}>${item.text}</a>
      ${!topic && html`<a class="plain" href=${to(["topics", item.topic_id])}>${item.title}</a>`}
      <span class="faint"><${Time} at=${item.date} /></span>
    </li>`)}</ul>
    ${data.total > data.items.length && html`<p class="faint">${count(data.items.length)} of ${count(data.total)} are shown; all: cognee-memory memories open</p>`}
  </section>`;
}
