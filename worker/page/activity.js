// Throughput and latency over time: what ended, how long jobs waited, and how long they took.
import { withQuery } from "./api.js";
import { Bars, Lines } from "./chart.js";
import { html } from "./html.js";
import { ENDS } from "./job-states.js";
import { useLive } from "./live.js";
import { Empty, Heading, Waiting } from "./parts.js";
import { to } from "./route.js";
import { count, day, exact, hourly, many, plain, span } from "./words.js";

const SPANS = [
  { hours: 1, buckets: 60, title: "Last hour", each: "minute", every: 5 },
  { hours: 24, buckets: 48, title: "Last day", each: "half hour", every: 15 },
  { hours: 168, buckets: 84, title: "Last 7 days", each: "two hours", every: 60 },
];

export function Activity({ query }) {
  const chosen = SPANS.find((each) => String(each.hours) === query.hours) ?? SPANS[1];
  const { hours, buckets, every } = chosen;
  const { data, error } = useLive(withQuery("/v1/activity", { hours, buckets }), every);
  return html`
    <${Heading}>Activity<//>
    <div class="chips" role="group" aria-label="Time">
      ${SPANS.map((each) => html`<a key=${each.hours} class="chip" data-scroll="stay" href=${to(["activity"], { hours: each.hours })} aria-current=${each === chosen ? "true" : undefined}>${each.title}</a>`)}
    </div>
    ${data ? html`<${Charts} data=${data} hours=${hours} width=${chosen.each} /><${ToCome} hours=${data.scheduled} />` : html`<${Waiting} error=${error} what="what was done" />`}
  `;
}

function ended(bucket) {
  return Object.values(bucket.ended).reduce((sum, number) => sum + number, 0);
}

function Charts({ data, hours, width }) {
  const { buckets } = data;
  const total = buckets.reduce((sum, bucket) => sum + ended(bucket), 0);
  if (!total) {
    return html`<${Empty} title="Nothing ended in this time.">
      <p>Each job that ends is counted here, with how long it waited and how long it took.</p><//>`;
  }
  const there = ENDS.filter((state) => buckets.some((bucket) => bucket.ended[state]));
  const sums = there.map((state) => `${count(buckets.reduce((sum, bucket) => sum + (bucket.ended[state] ?? 0), 0))} ${state}`);
  const latency = (name) => [
    { name: "p50", of: (bucket) => bucket[name]?.p50 ?? null },
    { name: "p95", of: (bucket) => bucket[name]?.p95 ?? null },
  ];
  const describe = (name) => (bucket) => `${exact(bucket.at)}: ${bucket[name] ? `half below ${span(bucket[name].p50)}, 95 % below ${span(bucket[name].p95)}` : "nothing ran"}`;
  const most = (name) => Math.max(0, ...buckets.map((bucket) => bucket[name]?.p95 ?? 0));
  const key = html`<span class="legend"><i data-line="p50"></i>half are below (p50)</span> <span class="legend"><i data-line="p95"></i>95 % are below (p95)</span>`;
  return html`
    <section class="panel" aria-labelledby="ended">
      <h2 id="ended">Ended, per ${width}</h2>
      <p class="legends">${there.map((state) => html`<span key=${state} class="legend"><i data-state=${state}></i>${state}</span>`)}</p>
      <${Bars} label=${`Jobs that ended, per ${width}: ${sums.join(", ")}`} buckets=${buckets} hours=${hours} rest=${`${many(total, "job")}: ${sums.join(", ")}`}
        series=${there.map((state) => ({ name: state, of: (bucket) => bucket.ended[state] ?? 0 }))}
        describe=${(bucket) => `${exact(bucket.at)}: ${ended(bucket) ? there.filter((state) => bucket.ended[state]).map((state) => `${bucket.ended[state]} ${state}`).join(", ") : "nothing ended"}`} />
    </section>
    <div class="two">${[["waited_ms", "Waited before the first start"], ["took_ms", "Took, from the first start to the end"]].map(([name, title]) => html`
      <section key=${name} class="panel" aria-label=${title}>
        <h2>${title}</h2>
        <p class="legends">${key}</p>
        <${Lines} label=${`${title}: at most ${span(most(name))} at the 95th percentile`} buckets=${buckets} hours=${hours} series=${latency(name)}
          tick=${(value) => span(value)} describe=${describe(name)} rest=${`At most ${span(most(name))} at the 95th percentile`} />
      </section>`)}</div>
    <${AsTable} buckets=${buckets} width=${width} />
  `;
}

/** The jobs that start later, by the hour. */
function ToCome({ hours }) {
  if (!hours.length) return null;
  return html`<section class="panel" aria-labelledby="scheduled"><h2 id="scheduled">Scheduled</h2>
    <ul class="lines">${hours.map(({ at, kinds }) => html`<li key=${at} class="row">
      <span class="nowrap">${day(at)}, ${hourly(at)}</span>
      <span class="grow">${Object.entries(kinds).map(([kind, number]) => `${count(number)} ${plain(kind)}`).join(", ")}</span>
      <a href=${to(["queue"], { state: "queued" })}>Show what waits</a></li>`)}</ul>
  </section>`;
}

function AsTable({ buckets, width }) {
  const busy = buckets.filter((bucket) => ended(bucket)).reverse();
  const cell = (found, share) => (found ? span(found[share]) : "–");
  return html`<details class="panel"><summary><h2>As a table</h2> <span class="faint">the times in which something ended</span></summary>
    <div class="scrolling" tabindex="0" role="region" aria-label="Activity as a table"><table>
      <thead><tr><th>From</th>${ENDS.map((state) => html`<th key=${state} class="number">${state}</th>`)}
        <th class="number">waited p50</th><th class="number">p95</th><th class="number">took p50</th><th class="number">p95</th></tr></thead>
      <tbody>${busy.map((bucket) => html`<tr key=${bucket.at}><th scope="row">${exact(bucket.at)}</th>
        ${ENDS.map((state) => html`<td key=${state} class="number">${bucket.ended[state] ?? 0}</td>`)}
        <td class="number">${cell(bucket.waited_ms, "p50")}</td><td class="number">${cell(bucket.waited_ms, "p95")}</td>
        <td class="number">${cell(bucket.took_ms, "p50")}</td><td class="number">${cell(bucket.took_ms, "p95")}</td></tr>`)}</tbody>
    </table></div><p class="faint small">A line for each ${width}.</p></details>`;
}
