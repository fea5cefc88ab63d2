/** The rows of the view “Memories”. */

import type { MemoryLine, Status, Topic } from "#types";
import { badge } from "../recall/hit";
import { day, plain } from "../core/text";
import { remarksOf } from "../recall/standing";
import type { Row } from "./row";

export function rowOfTopic(topic: Topic): Row {
  const description = [
    topic.memories === 1 ? "1 memory" : `${topic.memories} memories`,
    topic.superseded > 0 ? `${topic.superseded} superseded` : "",
    day(topic.newest),
    topic.worth_compacting ? "worth compacting" : "",
    topic.contradictions === 0
      ? ""
      : topic.contradictions === 1
        ? "1 contradiction"
        : `${topic.contradictions} contradictions`,
  ];
  return {
    id: `topic:${topic.topic_id}`,
    label: plain(topic.title, 100),
    description: description.filter(Boolean).join(" · "),
    tooltip: plain(topic.topic_id),
    icon: topic.worth_compacting ? "combine" : "symbol-folder",
    context: `topic.${topic.active + topic.decision_records > 1 ? "mergeable" : "single"}${topic.contradictions > 0 ? ".disputed" : ""}`,
    children: "closed",
  };
}

/** What a memory says, before it whether that is outdated, and what is remarked of its decisions. The topic is the row above; a memory of an earlier version has none, so its title tells more. */
export function rowOfMemory(memory: MemoryLine): Row {
  const isDisputed = memory.standings.some(({ state }) => state === "disputed");
  const isReplaced = memory.standings.some(({ state }) => state === "replaced");
  const isLegacy = memory.memory_type === "legacy";
  const said = isLegacy ? memory.title : memory.excerpt || memory.title;
  const status = badge(memory.memory_type, memory.status);
  const date = memory.source_created_at ?? memory.created_at;
  const description = [
    status === "Superseded" ? "" : status,
    isDisputed ? "disputed" : isReplaced ? "replaced in part" : "",
    isLegacy ? "Legacy" : day(date),
    `#${memory.memory_number}`,
  ];
  return {
    id: `memory:${memory.memory_id}`,
    label: plain(status === "Superseded" ? `[Superseded] ${said}` : said, 100), // a narrow view cuts what follows
    description: description.filter(Boolean).join(" · "),
    tooltip: [
      ...remarksOf(memory),
      plain(memory.title, 500),
      memory.excerpt,
      date ?? "",
      memory.plan_id ?? "",
      memory.session_id ?? "",
    ]
      .map((line) => plain(line, 500))
      .filter(Boolean)
      .join("\n"),
    icon: isDisputed ? "warning" : isLegacy ? "comment" : iconOf(memory.status),
    context: `memory.${memory.memory_type === "decision_record" ? "record" : memory.memory_type}${isDisputed ? ".disputed" : isReplaced ? ".replaced" : ""}`,
  };
}

function iconOf(status: Status | null): string {
  if (status === "DecisionRecord") return "law";
  if (status === "Superseded") return "archive";
  return status === "Draft" ? "edit" : "note";
}
