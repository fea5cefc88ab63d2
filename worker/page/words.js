// Times, spans, sizes and counts in words. Pure.

const numbers = new Intl.NumberFormat("en");

export function count(number) {
  return numbers.format(number);
}

/** `1 job`, `2 jobs`. */
export function many(number, one, several = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : several}`;
}

/** Milliseconds as two units at most: `840 ms`, `3.2 s`, `2 min 5 s`, `1 h 4 min`, `3 d 2 h`. */
export function span(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const whole = Math.round(seconds);
  const first = units.findIndex(([, size]) => whole >= size);
  const parts = [];
  let rest = whole;
  for (const [unit, size] of units.slice(first, first + 2)) {
    const part = Math.floor(rest / size);
    rest -= part * size;
    if (part) parts.push(`${part} ${unit}`);
  }
  return parts.join(" ");
}

/** One unit, for how long ago or how soon: `12 s`, `4 min`, `2 h`, `3 d`. The terminal rounds alike (`span` in wording.py). */
function about(ms) {
  const seconds = Math.floor(Math.abs(ms) / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

/** A moment as seen from now: `just now`, `4 min ago`, `in 12 s`. */
export function relative(at, now) {
  const past = now - Date.parse(at);
  if (past < -1000) return `in ${about(past)}`;
  return past < 2000 ? "just now" : `${about(past)} ago`;
}

const exactly = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
  timeZoneName: "short",
});
const daily = new Intl.DateTimeFormat("en-GB", { year: "numeric", month: "short", day: "numeric" });
const clockTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const weekly = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** The exact local time, with its zone. */
export function exact(at) {
  return exactly.format(new Date(at));
}

export function day(at) {
  return daily.format(new Date(at));
}

/** The mark of a moment on an axis: the hour, or the day where the axis is longer than two days. */
export function mark(at, hours) {
  return (hours > 48 ? weekly : clockTime).format(new Date(at));
}

/** The hour and minute of a moment. */
export function hourly(at) {
  return clockTime.format(new Date(at));
}

export function bytes(number) {
  if (number < 1024) return `${number} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length, Math.floor(Math.log2(number) / 10));
  const value = number / 1024 ** power;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power - 1]}`;
}

export function score(number) {
  return number === null || number === undefined ? "–" : number.toFixed(3);
}

/** A cause's remedy, which is about one job, for all jobs of the cause; as `wording.of_all` of the command line. */
export function remedyOfAll(cause) {
  return cause.remediation
    .replaceAll("jobs retry <job_id>", `jobs retry --error ${cause.code}`)
    .replaceAll("<job_id>", cause.newest_job_id);
}

/** The words of a state or a code, for reading: `in the inbox`, `set status`. */
export function plain(word) {
  return String(word).replaceAll("_", " ");
}

/** What a memory of a list says, in a line. */
export function said(memory) {
  return memory.excerpt || memory.title || "(without a text)";
}

/** What the code says of a memory, as a sentence. Pure. */
export function inCode({ remark }) {
  return `${remark[0].toUpperCase()}${remark.slice(1)}.`;
}
