/** What the extension reads of a memory beside questions: topics, memories, past compactions. */

import type { History, ListedJob, MemoriesPage, MemoryText, OpenItems, QueueStatus, ReviewedPair, Topic } from "#types";
import type { Memory } from "../core/memory";

const MOST = { limit: 200 };

export async function topicsOf(memory: Memory, signal: AbortSignal): Promise<readonly Topic[]> {
  return (await memory.send({ route: "GET /v1/topics", command: "topics" }, signal)).topics;
}

/** The open questions and next steps, topic by topic, the newest first. */
export function openItemsOf(memory: Memory, signal: AbortSignal): Promise<OpenItems> {
  return memory.send({ route: "GET /v1/open", command: "memories open", values: MOST }, signal);
}

/** The pairs of decisions that may contradict each other, and those of which one was replaced or that were settled. */
export async function reviewOf(memory: Memory, signal: AbortSignal): Promise<readonly ReviewedPair[]> {
  return (await memory.send({ route: "GET /v1/review", command: "review", values: { all: true } }, signal)).pairs;
}

/** A page of a topic's memories, or of all memories; `after` is the `next` of the page before. */
export function memoriesOf(
  memory: Memory,
  values: { readonly topic_id?: string | null; readonly limit: number; readonly after?: string | null },
  signal: AbortSignal,
): Promise<MemoriesPage> {
  return memory.send({ route: "GET /v1/memories", command: "memories list", values }, signal);
}

/** One memory with its text, by its id or number. */
export async function memoryText(memory: Memory, id: string, signal: AbortSignal): Promise<MemoryText> {
  const request = { route: "GET /v1/memories/{memory}", command: "memories show", named: id } as const;
  return (await memory.send(request, signal)).memory;
}

/** The last compactions, newest first; of one topic if it is given. */
export async function compactionsOf(
  memory: Memory,
  topicId: string | null,
  signal: AbortSignal,
): Promise<History["compactions"]> {
  const values = { topic_id: topicId, ...MOST };
  return (await memory.send({ route: "GET /v1/history", command: "history", values }, signal)).compactions;
}

export function statusOf(memory: Memory, signal: AbortSignal): Promise<QueueStatus> {
  return memory.send({ route: "GET /v1/status", command: "status" }, signal);
}

/** The newest jobs, each with what it is about. */
export async function jobsOf(memory: Memory, signal: AbortSignal): Promise<readonly ListedJob[]> {
  return (await memory.send({ route: "GET /v1/jobs", command: "jobs list", values: MOST }, signal)).jobs;
}
