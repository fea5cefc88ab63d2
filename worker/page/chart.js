// Charts as SVG: stacked bars and lines over the same axis of time. They draw in real pixels, so text keeps its size.
import { html, useRef, useState } from "./html.js";
import { useWidth } from "./live.js";
import { mark } from "./words.js";

// The room for the labels of the axis is at least LEFT, and DIGIT for each character of the longest.
const HEIGHT = 200, LEFT = 56, DIGIT = 7, RIGHT = 8, TOP = 10, BOTTOM = 24;

/** Where an axis ends and its lines are, so that they are round numbers: `[0, 5, 10]`. Pure. */
export function steps(most, wanted = 4) {
  if (most <= 0) return [0, 1];
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
  const whole = Math.max(size, Number.EPSILON);
  return Array.from({ length: Math.ceil(most / whole - 1e-9) + 1 }, (_, place) => place * whole);
}

// So many hours make a step of the axis that people count in: five minutes, three hours, a day.
const STEPS = { 1: 1 / 12, 24: 3, 168: 24 };
const HOUR = 3_600_000;

/** The places of the buckets in which a step begins on a person's clock, with at most so many of them. Pure. */
export function marks(buckets, hours, most) {
  let step = STEPS[hours] ?? hours / buckets.length;
  while (hours / step > most) step *= 2;
  const size = step * HOUR;
  const width = (hours * HOUR) / buckets.length;
  const past = ({ at }) => {
    const local = Date.parse(at) - new Date(at).getTimezoneOffset() * 60_000;
    return ((local % size) + size) % size;
  };
  return buckets.flatMap((bucket, place) => (past(bucket) < width ? [place] : []));
}

function Frame({ label, buckets, hours, ticks, shown, point, children }) {
  const ref = useRef(null);
  const width = useWidth(ref);
  const left = Math.max(LEFT, 8 + DIGIT * Math.max(...ticks.map(({ text }) => text.length)) + 8);
  const inner = Math.max(0, width - left - RIGHT), step = inner / buckets.length;
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / ticks.at(-1).value);
  const x = (place) => left + place * step;
  const marked = marks(buckets, hours, Math.max(2, Math.floor(inner / 70)));
  const at = (event) => {
    const place = Math.floor((event.offsetX - left) / step);
    point(place >= 0 && place < buckets.length ? place : null);
  };
  return html`<div class="chart" ref=${ref}>
    ${width > 0 && html`<svg width=${width} height=${HEIGHT} role="img" aria-label=${label} onPointerMove=${at} onPointerLeave=${() => point(null)}>
      ${ticks.map(({ value, text }) => html`<g key=${text}>
        <line class="grid" x1=${left} x2=${width - RIGHT} y1=${y(value)} y2=${y(value)} />
        <text class="tick" x=${left - 8} y=${y(value) + 4} text-anchor="end">${text}</text>
      </g>`)}
      ${marked.map((place) => html`<text key=${place} class="tick" x=${Math.min(x(place), width - 24)} y=${HEIGHT - 6}
        text-anchor=${place === 0 ? "start" : "middle"}>${mark(buckets[place].at, hours)}</text>`)}
      ${shown !== null && html`<rect class="pointed" x=${x(shown)} y=${TOP} width=${step} height=${HEIGHT - TOP - BOTTOM} />`}
      ${children({ x, y, step })}
    </svg>`}
  </div>`;
}

/** What is pointed at, as text in a place of its own, so that nothing moves. */
function Readout({ children }) {
  return html`<p class="readout" aria-hidden="true">${children}</p>`;
}

/** `series`: `{name, of(bucket)}`, stacked from below. */
export function Bars({ label, buckets, hours, series, describe, rest }) {
  const [shown, point] = useState(null);
  const most = Math.max(...buckets.map((bucket) => series.reduce((sum, each) => sum + each.of(bucket), 0)));
  const ticks = steps(most).filter(Number.isInteger).map((value) => ({ value, text: String(value) }));
  return html`
    <${Readout}>${shown === null ? rest : describe(buckets[shown])}<//>
    <${Frame} label=${label} buckets=${buckets} hours=${hours} ticks=${ticks} shown=${shown} point=${point}>
      ${({ x, y, step }) => buckets.map((bucket, place) => {
        let below = 0;
        return series.map((each) => {
          const value = each.of(bucket);
          if (!value) return null;
          const top = y(below + value), bottom = y(below);
          below += value;
          return html`<rect key=${`${place} ${each.name}`} class="bar" data-state=${each.name} x=${x(place) + Math.min(1, step / 8)} y=${top}
            width=${Math.max(1, step - Math.min(2, step / 4))} height=${Math.max(1, bottom - top)} />`;
        });
      })}
    <//>`;
}

/** `series`: `{name, of(bucket)}`, each a line with a dot at each value; null leaves a gap. */
export function Lines({ label, buckets, hours, series, tick, describe, rest }) {
  const [shown, point] = useState(null);
  const values = buckets.flatMap((bucket) => series.map((each) => each.of(bucket)).filter((value) => value !== null));
  const ticks = steps(Math.max(0, ...values)).map((value) => ({ value, text: tick(value) }));
  return html`
    <${Readout}>${shown === null ? rest : describe(buckets[shown])}<//>
    <${Frame} label=${label} buckets=${buckets} hours=${hours} ticks=${ticks} shown=${shown} point=${point}>
      ${({ x, y, step }) => series.map((each) => html`<g key=${each.name} data-line=${each.name}>
        ${runs(buckets.map(each.of)).map((run) => html`<polyline key=${run[0][0]} class="line"
          points=${run.map(([place, value]) => `${x(place) + step / 2},${y(value)}`).join(" ")} />`)}
        ${buckets.map((bucket, place) => each.of(bucket) !== null && html`<circle key=${bucket.at} class="point" cx=${x(place) + step / 2} cy=${y(each.of(bucket))} r="2" />`)}
      </g>`)}
    <//>`;
}

/** Values that stand side by side: lists of `[place, value]`, cut where there is none. Pure. */
export function runs(values) {
  const found = [];
  let last = null;
  values.forEach((value, place) => {
    if (value === null) last = null;
    else if (last) last.push([place, value]);
    else found.push((last = [[place, value]]));
  });
  return found;
}
