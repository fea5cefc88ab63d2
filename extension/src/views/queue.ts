/** The queue as rows: what runs with its progress, what waits, what failed by its cause, and what ended last. */

import type { InFlight, ListedJob } from "#types";
import type { Translate } from "../recall/hit";
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

export function rowOf(node: QueueNode, now: number, language: string, t: Translate): Row {
  const id = idOf(node);
  switch (node.kind) {
    case "section": {
      const [label, icon] = {
        running: [t("Running"), "sync"],
        waiting: [t("Waiting"), "clock"],
        done: [t("Ended last"), "history"],
      }[node.section] as [string, string];
      const children = node.section === "done" ? "closed" : "open";
      return { id, label, description: `${node.jobs.length}`, icon, children, context: "section" };
    }
    case "cause": {
      const [{ error, state }] = node.jobs;
      const remedy = plain(error?.remediation ?? "", 500);
      return {
        id,
        label: plain(error?.message ?? stateName(state, t)),
        description: `${node.jobs.length} · ${error?.code ?? state}`,
        tooltip: [plain(error?.message ?? "", 500), remedy].filter(Boolean).join("\n\n"),
        icon: "error",
        colour: "list.errorForeground",
        children: "open",
        context: "cause.failed",
      };
    }
    case "job":
      return rowOfJob(node, now, language, t);
    case "rest":
      return { id, label: t("and {0} more", node.count), icon: "ellipsis", context: "rest" };
  }
}

function rowOfJob(
  { job, progress: inFlight, about }: Extract<QueueNode, { kind: "job" }>,
  now: number,
  language: string,
  t: Translate,
): Row {
  const progress = inFlight?.progress ?? null;
  const state = stateName(job.state, t);
  const percent =
    progress === null || progress.total === 0 ? "" : ` ${Math.floor((100 * progress.done) / progress.total)} %`;
  const description = [
    `${state}${percent}`,
    progress === null ? "" : plain(progress.message, 80),
    job.attempt > 1 ? t("attempt {0} of {1}", job.attempt, job.maxAttempts) : "",
    job.state === "retrying" && job.nextAttemptAt !== null
      ? when(job.nextAttemptAt, now, language)
      : when(job.at, now, language),
    ...(about?.memory_numbers ?? []).map((number) => `#${number}`),
  ];
  const error = job.error === null ? "" : `${job.error.message} ${job.error.remediation}`;
  const hasRecord = job.state !== "waiting" && job.droppedAs === undefined;
  return {
    id: `job:${job.state === "rejected" ? "rejected:" : ""}${job.id}`,
    label: [job.kind === null ? plain(job.id, 80) : kindName(job.kind, t), plain(about?.subject ?? "", 100)]
      .filter(Boolean)
      .join(": "),
    description: description.filter(Boolean).join(" · "),
    tooltip: [plain(job.id), plain(error, 500)].filter(Boolean).join("\n\n"),
    icon: ICONS[job.state],
    context: `job.${job.state === "waiting" ? "inbox" : job.state}`,
    ...(hasRecord ? { command: { command: "cognee.openJob", title: t("Open Job"), arguments: [] } } : {}),
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

function stateName(state: Job["state"], t: Translate): string {
  const names: Readonly<Record<Job["state"], string>> = {
    waiting: t("waits for a worker"),
    queued: t("waits"),
    running: t("runs"),
    retrying: t("runs again"),
    succeeded: t("succeeded"),
    failed: t("failed"),
    expired: t("expired"),
    rejected: t("rejected"),
    cancelled: t("cancelled"),
  };
  return names[state];
}

function kindName(kind: NonNullable<Job["kind"]>, t: Translate): string {
  const names: Readonly<Record<NonNullable<Job["kind"]>, string>> = {
    ingest: t("Remember"),
    cognify: t("Find entities and relations"),
    capture: t("Capture sessions"),
    migrate: t("Migrate"),
    compact: t("Compact"),
    restore: t("Undo a compaction"),
    forget: t("Forget"),
    set_status: t("Set a status"),
    feedback: t("Give feedback"),
    resolve: t("Settle a contradiction"),
    ask: t("Ask the graph"),
    import: t("Import"),
    rebuild: t("Rebuild"),
    graph: t("Draw the graph"),
    check: t("Check"),
    noop: t("Test"),
  };
  return names[kind];
}
