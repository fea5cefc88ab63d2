/** What a command is about: a memory, or a topic. The items of the view “Memories” carry it. */

import type { MemoryLine, RetrievalHit, Topic } from "#types";
import { titleOf } from "./hit";
import type { Asked } from "./target";

export interface MemorySubject {
  readonly kind: "memory";
  /** The path of the workspace folder. */
  readonly folder: string;
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly topicId: string | null;
  readonly isRecord: boolean;
  readonly asked?: Asked;
}

export interface TopicSubject {
  readonly kind: "topic";
  readonly folder: string;
  readonly topicId: string;
  readonly title: string;
}

export type Subject = MemorySubject | TopicSubject;

export const subjectOfTopic = (folder: string, topic: Topic): TopicSubject => ({
  kind: "topic",
  folder,
  topicId: topic.topic_id,
  title: topic.title,
});

export function subjectOfMemory(
  folder: string,
  memory: Pick<MemoryLine, "memory_id" | "memory_number" | "memory_type" | "title" | "topic_id">,
): MemorySubject {
  return {
    kind: "memory",
    folder,
    id: memory.memory_id,
    number: memory.memory_number,
    title: memory.title,
    topicId: memory.topic_id,
    isRecord: memory.memory_type === "decision_record",
  };
}

export function subjectOfHit(folder: string, hit: RetrievalHit, asked: Asked): MemorySubject {
  return { ...subjectOfMemory(folder, { ...hit, title: titleOf(hit) }), asked };
}

/** Whether the argument of a command is a subject: other callers may pass anything. */
export function isSubject(value: unknown): value is Subject {
  const kind = typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;
  return kind === "memory" || kind === "topic";
}
