/** The rows of the view “Memories”. */

import type { MemoryLine, Status, Topic } from "#types";
import { badge, type Translate } from "../recall/hit";
import { plain, when } from "../core/text";
import type { Row } from "./row";

export function rowOfTopic(topic: Topic, now: number, language: string, t: Translate): Row {
  const description = [
    topic.memories === 1 ? t("1 memory") : t("{0} memories", topic.memories),
    topic.superseded > 0 ? t("{0} superseded", topic.superseded) : "",
    when(topic.newest, now, language),
    topic.worth_compacting ? t("worth compacting") : "",
  ];
  return {
    id: `topic:${topic.topic_id}`,
    label: plain(topic.title, 100),
    description: description.filter(Boolean).join(" · "),
    tooltip: plain(topic.topic_id),
    icon: topic.worth_compacting ? "combine" : "symbol-folder",
    context: topic.active + topic.decision_records > 1 ? "topic.mergeable" : "topic.single",
    children: "closed",
  };
}

/** What a memory says. The topic is the row above; a memory of an earlier version has none, so its title tells more. */
export function rowOfMemory(memory: MemoryLine, now: number, language: string, t: Translate): Row {
  const isLegacy = memory.memory_type === "legacy";
  const status = badge(memory.memory_type, memory.status, t);
  const date = memory.source_created_at ?? memory.created_at;
  const description = [isLegacy ? t("Legacy") : when(date, now, language), status, `#${memory.memory_number}`];
  return {
    id: `memory:${memory.memory_id}`,
    label: plain(isLegacy ? memory.title : memory.excerpt || memory.title, 100),
    description: description.filter(Boolean).join(" · "),
    tooltip: [plain(memory.title, 500), memory.excerpt, date ?? "", memory.plan_id ?? "", memory.session_id ?? ""]
      .map((line) => plain(line, 500))
      .filter(Boolean)
      .join("\n"),
    icon: isLegacy ? "comment" : iconOf(memory.status),
    context: memory.memory_type === "decision_record" ? "memory.record" : `memory.${memory.memory_type}`,
  };
}

function iconOf(status: Status | null): string {
  if (status === "DecisionRecord") return "law";
  if (status === "Superseded") return "archive";
  return status === "Draft" ? "edit" : "note";
}
