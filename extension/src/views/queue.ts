/** The queue as rows: what runs with its progress, what waits, what failed by its cause, and what ended last. */

import type { InFlight, ListedJob } from "#types";
import { FAILED } from "../core/job-states";
import { plain, when } from "../core/text";
import type { Job } from "./jobs";
import type { Row } from "./row";

export type QueueNode =
  | { readonly kind: "section"; readonly section: "running" | "waiting" | "done"; readonly jobs: readonly Job[] }
  | { readonly kind: "cause"; readonly jobs: readonly [Job, ...Job[]] }
  | { readonly kind: "job"; readonly job: Job; readonly progress: InFlight | null; readonly about?: About }
  | { readonly kind: "rest"; readonly of: string; readonly count: number };

/** What a job is about in a line, and the first memories that it made, as the program tells it. */
export type About = Pick<ListedJob, "subject" | "memory_numbers">;

const DONE_SHOWN = 20;
const MOST_SHOWN = 100;

/** The rows at the top; the sections and causes without jobs are left out. */
export function topOf(jobs: readonly Job[]): QueueNode[] {
  const newestFirst = [...jobs].sort((one, other) => (other.at ?? "").localeCompare(one.at ?? ""));
  const of = (...states: Job["state"][]): Job[] => newestFirst.filter(({ state }) => states.includes(state));
  const section = (name: "running" | "waiting" | "done", its: readonly Job[]): QueueNode[] =>
    its.length === 0 ? [] : [{ kind: "section", section: name, jobs: its }];
  return [
    ...section("running", of("running")),
    ...section("waiting", of("queued", "retrying", "waiting")),
    ...causesOf(newestFirst.filter(({ state }) => FAILED.has(state))),
    ...section("done", of("succeeded", "cancelled").slice(0, DONE_SHOWN)),
  ];
}

/** Failed jobs by the code of their error, the most frequent cause first. */
function causesOf(failed: readonly Job[]): QueueNode[] {
  const byCode = new Map<string, [Job, ...Job[]]>();
  for (const job of failed) {
    const code = job.error?.code ?? job.state;
    const same = byCode.get(code);
    if (same === undefined) byCode.set(code, [job]);
    else same.push(job);
  }
  return [...byCode.values()]
    .sort((one, other) => other.length - one.length)
    .map((jobs) => ({ kind: "cause", jobs }) as const);
}

/** The rows below a row. */
export function childrenOf(
  node: QueueNode,
  inFlight: readonly InFlight[],
  about: ReadonlyMap<string, About>,
): QueueNode[] {
  if (node.kind !== "section" && node.kind !== "cause") return [];
  const shown: QueueNode[] = node.jobs.slice(0, MOST_SHOWN).map((job) => {
    const known = about.get(job.id);
    const progress = inFlight.find((each) => each.job_id === job.id) ?? null;
    return { kind: "job", job, progress, ...(known === undefined ? {} : { about: known }) };
  });
  const rest = node.jobs.length - shown.length;
  return rest === 0 ? shown : [...shown, { kind: "rest", of: idOf(node), count: rest }];
}

/** The jobs that a command on a row is about. */
export const jobsOf = (node: QueueNode): readonly Job[] =>
  node.kind === "job" ? [node.job] : node.kind === "rest" ? [] : node.jobs;

function idOf(node: QueueNode): string {
  switch (node.kind) {
    case "section":
      return node.section;
    case "cause":
      return `cause:${node.jobs[0].error?.code ?? node.jobs[0].state}`;
    case "job":
      return `job:${node.job.state === "rejected" ? "rejected:" : ""}${node.job.id}`;
    case "rest":
      return `${node.of}:rest`;
  }
}

export function rowOf(node: QueueNode): Row {
  const id = idOf(node);
  switch (node.kind) {
    case "section": {
      const [label, icon] = {
        running: ["Running", "sync"],
        waiting: ["Waiting", "clock"],
        done: ["Ended last", "history"],
      }[node.section] as [string, string];
      const children = node.section === "done" ? "closed" : "open";
      return { id, label, description: `${node.jobs.length}`, icon, children, context: "section" };
    }
    case "cause": {
      const [{ error, state }] = node.jobs;
      const remedy = plain(error?.remediation ?? "", 500);
      return {
        id,
        label: plain(error?.message ?? STATE_NAMES[state]),
        description: `${node.jobs.length} · ${error?.code ?? state}`,
        tooltip: [plain(error?.message ?? "", 500), remedy].filter(Boolean).join("\n\n"),
        icon: "error",
        colour: "list.errorForeground",
        children: "open",
        context: "cause.failed",
      };
    }
    case "job":
      return rowOfJob(node);
    case "rest":
      return { id, label: `and ${node.count} more`, icon: "ellipsis", context: "rest" };
  }
}

function rowOfJob(node: Extract<QueueNode, { kind: "job" }>): Row {
  const { job, progress: inFlight, about } = node;
  const progress = inFlight?.progress ?? null;
  const state = STATE_NAMES[job.state];
  const percent =
    progress === null || progress.total === 0 ? "" : ` ${Math.floor((100 * progress.done) / progress.total)} %`;
  const description = [
    `${state}${percent}`,
    progress === null ? "" : plain(progress.message, 80),
    job.attempt > 1 ? `attempt ${job.attempt} of ${job.maxAttempts}` : "",
    when(job.state === "retrying" ? (job.nextAttemptAt ?? job.at) : job.at),
    ...(about?.memory_numbers ?? []).map((number) => `#${number}`),
  ];
  const error = job.error === null ? "" : `${job.error.message} ${job.error.remediation}`;
  const hasRecord = job.state !== "waiting" && job.droppedAs === undefined;
  return {
    id: idOf(node),
    label: [job.kind === null ? plain(job.id, 80) : KIND_NAMES[job.kind], plain(about?.subject ?? "", 100)]
      .filter(Boolean)
      .join(": "),
    description: description.filter(Boolean).join(" · "),
    tooltip: [plain(job.id), plain(error, 500)].filter(Boolean).join("\n\n"),
    icon: ICONS[job.state],
    context: `job.${job.state === "waiting" ? "inbox" : job.state}`,
    ...(hasRecord ? { command: { command: "cognee.openJob", title: "Open Job", arguments: [] } } : {}),
  };
}

const ICONS: Readonly<Record<Job["state"], string>> = {
  waiting: "inbox",
  queued: "clock",
  running: "sync~spin",
  retrying: "debug-rerun",
  succeeded: "pass",
  failed: "error",
  expired: "watch",
  rejected: "circle-slash",
  cancelled: "close",
};

const STATE_NAMES: Readonly<Record<Job["state"], string>> = {
  waiting: "waits for a worker",
  queued: "waits",
  running: "runs",
  retrying: "runs again",
  succeeded: "succeeded",
  failed: "failed",
  expired: "expired",
  rejected: "rejected",
  cancelled: "cancelled",
};

const KIND_NAMES: Readonly<Record<NonNullable<Job["kind"]>, string>> = {
  ingest: "Remember",
  cognify: "Find entities and relations",
  capture: "Capture sessions",
  migrate: "Migrate",
  compact: "Compact",
  restore: "Undo a compaction",
  forget: "Forget",
  set_status: "Set a status",
  feedback: "Give feedback",
  resolve: "Settle a contradiction",
  judge: "Ask the language model about contradictions",
  ask: "Ask the graph",
  import: "Import",
  rebuild: "Rebuild",
  graph: "Draw the graph",
  check: "Check",
  noop: "Test",
};
