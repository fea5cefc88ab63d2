/** What the extension reads of a memory beside questions: topics, memories, past compactions. */

import type { History, ListedJob, MemoriesPage, MemoryText, OpenItem, QueueStatus, ReviewedPair, Topic } from "#types";
import type { Memory } from "../core/memory";
import { queryOf } from "../core/read";

export async function topicsOf(memory: Memory, signal: AbortSignal): Promise<readonly Topic[]> {
  const request = { route: "GET /v1/topics", path: "/v1/topics", verb: ["topics"], args: [] } as const;
  return (await memory.send(request, signal)).topics;
}

/** The open questions and next steps, topic by topic, the newest first. */
export async function openItemsOf(memory: Memory, signal: AbortSignal): Promise<readonly OpenItem[]> {
  const limit = 200;
  const request = { route: "GET /v1/open", path: `/v1/open${queryOf({ limit })}`, verb: ["memories", "open"] } as const;
  return (await memory.send({ ...request, args: [`--limit=${limit}`] }, signal)).items;
}

/** The pairs of decisions that may contradict each other, and those of which one was replaced or that were settled. */
export async function reviewOf(memory: Memory, signal: AbortSignal): Promise<readonly ReviewedPair[]> {
  const request = { route: "GET /v1/review", path: "/v1/review?all=true", verb: ["review"], args: ["--all"] } as const;
  return (await memory.send(request, signal)).pairs;
}

/** A page of a topic's memories, or of all memories; `after` is the `next` of the page before. */
export function memoriesOf(
  memory: Memory,
  { topicId, limit, after }: { readonly topicId?: string; readonly limit: number; readonly after?: string },
  signal: AbortSignal,
): Promise<MemoriesPage> {
  const args = [`--limit=${limit}`];
  if (topicId !== undefined) args.push(`--topic-id=${topicId}`);
  if (after !== undefined) args.push(`--after=${after}`);
  return memory.send(
    {
      route: "GET /v1/memories",
      path: `/v1/memories${queryOf({ topic_id: topicId, limit, after })}`,
      verb: ["memories", "list"],
      args,
    },
    signal,
  );
}

/** One memory with its text, by its id or number. */
export async function memoryText(memory: Memory, id: string, signal: AbortSignal): Promise<MemoryText> {
  const answer = await memory.send(
    {
      route: "GET /v1/memories/{memory}",
      path: `/v1/memories/${encodeURIComponent(id)}`,
      verb: ["memories", "show"],
      args: ["--", id],
    },
    signal,
  );
  return answer.memory;
}

/** The last compactions, newest first; of one topic if it is given. */
export async function compactionsOf(
  memory: Memory,
  topicId: string | undefined,
  signal: AbortSignal,
): Promise<History["compactions"]> {
  const limit = 200;
  const args = [`--limit=${limit}`];
  if (topicId !== undefined) args.push(`--topic-id=${topicId}`);
  const answer = await memory.send(
    { route: "GET /v1/history", path: `/v1/history${queryOf({ topic_id: topicId, limit })}`, verb: ["history"], args },
    signal,
  );
  return answer.compactions;
}

export function statusOf(memory: Memory, signal: AbortSignal): Promise<QueueStatus> {
  const request = { route: "GET /v1/status", path: "/v1/status", verb: ["status"], args: [] } as const;
  return memory.send(request, signal);
}

/** The newest jobs, each with what it is about. */
export async function jobsOf(memory: Memory, signal: AbortSignal): Promise<readonly ListedJob[]> {
  const limit = 200;
  const request = { route: "GET /v1/jobs", path: `/v1/jobs${queryOf({ limit })}`, verb: ["jobs", "list"] } as const;
  return (await memory.send({ ...request, args: [`--limit=${limit}`] }, signal)).jobs;
}
