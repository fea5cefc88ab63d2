/** “Forget”: a memory or a topic, after a question that says what goes. */

import * as vscode from "vscode";
import { isConfirmed, reading } from "../core/ask";
import type { Memory } from "../core/memory";
import { compactionsOf, memoriesOf, memoryText } from "../recall/reads";
import type { Subject } from "../recall/subject";
import { plain } from "../core/text";
import type { Services } from "../core/services";
import { chooseTopic, targetOf } from "./choices";
import { runJob } from "./job";

const TITLES_SHOWN = 10;
const LONGEST_MESSAGE = 2000;

export async function forget(services: Services, value: unknown): Promise<void> {
  const { folder, subject: named } = await targetOf(services, value);
  const subject = named ?? (await chooseTopic(services, folder, "Forget", false));
  const memory = services.memoryOf(folder);
  const detail = await reading((signal) => whatGoes(memory, subject, signal));
  const question =
    subject.kind === "memory"
      ? `Forget memory ${subject.number}, “${plain(subject.title, 100)}”?`
      : `Forget the topic “${plain(subject.title, 100)}” with all its memories?`;
  if (!(await isConfirmed(question, "Forget", detail))) return;
  const payload = subject.kind === "memory" ? { memory_ids: [subject.id] } : { topic_id: subject.topicId };
  const result = await runJob<"forget">(services, folder, { kind: "forget", payload }, "Forgetting…");
  const done = [
    result.forgotten.length === 1 ? "1 memory was forgotten." : `${result.forgotten.length} memories were forgotten.`,
  ];
  if (result.records_rebuilt.length > 0) done.push(`${result.records_rebuilt.length} decision records were rebuilt.`);
  if (result.records_removed.length > 0) done.push(`${result.records_removed.length} decision records were removed.`);
  if (result.revived.length > 0) done.push(`${result.revived.length} memories have their former status again.`);
  void vscode.window.showInformationMessage(plain([...done, ...result.warnings].join(" "), LONGEST_MESSAGE));
}

/** What a forgetting removes, as a text. */
async function whatGoes(memory: Memory, subject: Subject, signal: AbortSignal): Promise<string> {
  const lines: string[] = [];
  if (subject.kind === "topic") {
    const { memories, total } = await memoriesOf(memory, { topic_id: subject.topicId, limit: TITLES_SHOWN }, signal);
    lines.push(total === 1 ? "This memory goes:" : `These ${total} memories go, drafts and superseded ones too:`);
    lines.push(...memories.map(({ memory_number, title }) => `${memory_number}: ${plain(title, 80)}`));
    if (total > memories.length) lines.push(`and ${total - memories.length} more`);
  } else {
    const text = await memoryText(memory, subject.id, signal);
    if (text.migrated_from !== null || text.migrated_to.length > 0) {
      lines.push("It was migrated: its original, or what was made of it, goes as well.");
    }
    const compactions = await compactionsOf(memory, subject.topicId, signal);
    const inForce = compactions.filter(({ restored_at }) => restored_at === null);
    if (inForce.some(({ superseded }) => superseded.includes(subject.id))) {
      lines.push("The decision record that merged it is rebuilt from the others, or removed if fewer than two remain.");
    }
    if (subject.isRecord) lines.push("The memories that it merged stay, and have their former status again.");
  }
  lines.push("The text is removed from every file of the folder’s memory. This cannot be undone.");
  return lines.join("\n");
}
