// All topics, and their compactions.
import { History } from "./history.js";
import { html } from "./html.js";
import { useLive } from "./live.js";
import { Open } from "./open.js";
import { Empty, Heading, Notes, Time, Waiting } from "./parts.js";
import { to } from "./route.js";
import { count, many } from "./words.js";

export function Topics() {
  const { data, error } = useLive("/v1/topics", 5);
  if (!data) return html`<${Heading}>Topics<//><${Waiting} error=${error} what="topics" />`;
  if (!data.topics.length) {
    return html`<${Heading}>Topics<//><${Notes} of=${data} /><${Empty} title="No topics yet.">
      <p>A summary that has a topic puts one here. Once a topic has several summaries they can be merged into one decision record.</p>
      <pre>cognee-memory ingest --topic-id retries --summary "What we decided, and why"</pre><//>`;
  }
  return html`
    <${Heading}>Topics<//>
    <${Notes} of=${data} />
    <div class="scrolling"><table class="cards topics">
      <caption class="unseen">Topics, those with most active summaries first</caption>
      <thead><tr><th>Topic</th><th class="number">Active</th><th class="number">Records</th><th class="number">Drafts</th><th class="number">Superseded</th>
        <th class="number">Size</th><th>Newest</th><th>Advice</th></tr></thead>
      <tbody>${data.topics.map((topic) => html`<tr key=${topic.topic_id}>
        <td class="what"><a href=${to(["topics", topic.topic_id])}><strong>${topic.title || topic.topic_id}</strong></a>
          <code class="id">${topic.topic_id}</code></td>
        <td class="number" data-label="Active">${count(topic.active)}</td><td class="number" data-label="Records">${count(topic.decision_records)}</td>
        <td class="number" data-label="Drafts">${count(topic.drafts)}</td><td class="number" data-label="Superseded">${count(topic.superseded)}</td>
        <td class="number" data-label="Size">${topic.characters ? `${count(topic.characters)} characters` : "–"}</td>
        <td class="when" data-label="Newest"><${Time} at=${topic.newest} /></td>
        <td>${topic.worth_compacting && html`<a class="tag" href=${to(["topics", topic.topic_id])}>worth compacting</a>`}
          ${topic.contradictions > 0 && html` <a class="tag" data-level="warning" href=${to(["review"], { topic_id: topic.topic_id })}>${many(topic.contradictions, "contradiction")}</a>`}</td>
      </tr>`)}</tbody>
    </table></div>
    <${Open} />
    <${History} />
  `;
}
