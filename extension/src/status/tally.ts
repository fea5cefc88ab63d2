/** What the status bar says: from the records of the jobs, the most urgent first. */

import { FAILED } from "../core/job-states";
import { plain } from "../core/text";
import type { Followed, Outcome } from "./followed";

export interface Tally {
  readonly text: string;
  readonly tooltip: string;
  readonly severity: "none" | "warning" | "error";
}

export type Follow = Followed & { readonly outcome: Outcome };

const LONGEST_TOPIC = 40;

/** Jobs that are not in an inbox yet: those that could not be dropped, and those that a starting worker awaits. */
export interface Kept {
  readonly stuck: number;
  readonly preparing: number;
}

export function tallyOf(jobs: readonly Follow[], kept: Kept): Tally {
  const of = (...states: Outcome["state"][]): Follow[] => jobs.filter(({ outcome }) => states.includes(outcome.state));
  const failed = jobs.filter(({ outcome }) => FAILED.has(outcome.state));
  const [firstFailed] = failed;
  if (firstFailed !== undefined) {
    const { error } = firstFailed.outcome;
    return {
      text: `$(error) ${failed.length === 1 ? "Memory: failed" : `Memory: ${failed.length} failed`}`,
      tooltip: [subject(firstFailed), plain(error?.message ?? "", 300), plain(error?.remediation ?? "", 300)]
        .filter(Boolean)
        .join("\n"),
      severity: "error",
    };
  }
  if (kept.stuck > 0) {
    return {
      text: `$(warning) Memory: ${kept.stuck} not stored yet`,
      tooltip: "They are kept, and can be remembered again.",
      severity: "warning",
    };
  }
  if (kept.preparing > 0) {
    return {
      text: "$(sync~spin) Memory: starting",
      tooltip: "A worker starts for the first time in this folder. What you remember is kept, and stored then.",
      severity: "none",
    };
  }
  const running = of("running");
  const queued = of("waiting", "queued");
  const retrying = of("retrying");
  const [first] = [...running, ...retrying, ...queued];
  if (first !== undefined) {
    const parts = [
      running.length > 0 ? `${running.length} being stored` : "",
      queued.length > 0 ? `${queued.length} queued` : "",
      retrying.length > 0 ? `${retrying.length} trying again` : "",
    ].filter(Boolean);
    const icon = running.length > 0 ? "$(sync~spin)" : retrying.length > 0 ? "$(debug-rerun)" : "$(clock)";
    const reason = first.outcome.error === null ? "" : plain(first.outcome.error.message, 300);
    return {
      text: `${icon} Memory: ${parts.join(", ")}`,
      tooltip: [...jobs.slice(0, 10).map(subject), reason].filter(Boolean).join("\n"),
      severity: "none",
    };
  }
  const remembered = of("succeeded");
  const last = remembered.at(-1);
  if (last !== undefined) {
    const isCaptured = last.by === "capture";
    const topic = plain(last.topic, LONGEST_TOPIC);
    const others = remembered.length - 1;
    const said = isCaptured ? `Remembered by itself: ${topic}` : `Remembered: ${topic}`;
    return {
      text: `$(check) ${said}${others === 0 ? "" : ` (+${others})`}`,
      tooltip: [...remembered.slice(-10).map(subject), isCaptured ? "Press to undo." : ""].filter(Boolean).join("\n"),
      severity: "none",
    };
  }
  return { text: "$(bookmark) Memory", tooltip: "Memory of this folder: show status", severity: "none" };
}

const subject = ({ topic }: Followed): string => plain(topic, 100);
