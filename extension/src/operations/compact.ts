/** “Compact Cognee Memories” and “Undo a Compaction”. */

import * as vscode from "vscode";
import type { AppliedCompaction, CompactionConflict, CompactionPreview } from "#types";
import { isConfirmed, offer, pick, reading } from "../core/ask";
import { Ended, MemoryError } from "../core/error";
import { compactionsOf } from "../recall/reads";
import type { Documents } from "../recall/documents";
import { day, plain } from "../core/text";
import type { Services } from "../core/services";
import { chooseReading, chooseTopic, targetOf } from "./choices";
import { type Previewed, runJob } from "./job";

/** The topic has changed since its preview: a new preview is made. */
const STALE: ReadonlySet<string> = new Set(["PREVIEW_STALE"]);

/**
 * Previews, asks, and applies exactly the preview; makes a new one if the user rejects a conflict, or if the topic has
 * changed meanwhile.
 */
export async function compact(services: Services, documents: Documents, value: unknown): Promise<void> {
  const { folder, subject } = await targetOf(services, value);
  const topicId = subject?.topicId ?? (await chooseTopic(services, folder, "Compact Cognee Memories", true)).topicId;
  let keepBoth: string[] = [];
  for (let isStale = false; ;) {
    const rejected = keepBoth.length > 0 ? { keep_both: keepBoth } : {};
    const preview = (await runJob(
      services,
      folder,
      { kind: "compact", payload: { topic_id: topicId, preview: true, ...rejected } },
      isStale ? "The topic has changed. Making a new preview…" : "Making a preview…",
    )) as Previewed<CompactionPreview>;
    const count = preview.summaries.length;
    const title = `Compaction of ${preview.decision_record.topic}`;
    const close = await documents.report(title, preview.document);
    const question = `Compact ${count} summaries into DecisionRecord? This will mark them as superseded.`;
    const detail = [
      isStale ? "The topic has changed: this is a new preview." : "",
      preview.conflicts.length === 1 ? "1 conflict." : `${preview.conflicts.length} conflicts.`,
      ...preview.warnings.map((warning) => plain(warning)),
      "The document shows what it becomes. You can undo it.",
    ];
    const choices = [{ label: "Confirm", detail: detail.filter(Boolean).join(" ") }];
    const reject = "Keep Both Decisions of a Conflict…";
    if (preview.conflicts.length + preview.kept_both.length > 0)
      choices.push({
        label: reject,
        detail: "Where two decisions do not contradict each other. Makes a new preview.",
      });
    const chosen = await chooseReading(question, choices);
    if (chosen === reject) keepBoth = (await chooseConflicts(preview)) ?? keepBoth;
    close();
    if (chosen === undefined) return;
    if (chosen === reject) {
      isStale = false;
      continue;
    }
    try {
      const applied = (await runJob(
        services,
        folder,
        { kind: "compact", payload: { topic_id: topicId, preview_digest: preview.preview_digest } },
        "Compacting…",
        STALE,
      )) as AppliedCompaction;
      services.log.info(
        `[Compact] Compacted ${applied.superseded.length} summaries for topic ${plain(applied.topic_id)} into DecisionRecord. Conflicts detected: ${applied.conflicts.length > 0 ? "Y" : "N"}.`,
      );
      const message = `Compacted ${applied.superseded.length} summaries for topic ${plain(applied.topic_id)}.`;
      offer(services, `${message} ${conflictSentence(applied.conflicts.length)}`.trim(), {
        "Open Record": () => {
          const target = { kind: "memory", folder: folder.uri.fsPath, id: applied.decision_record_id } as const;
          return documents.openRendered(preview.decision_record.topic, target);
        },
        Undo: () => restoreRecord(services, folder, applied.decision_record_id),
      });
      return;
    } catch (error) {
      if (!(error instanceof MemoryError && STALE.has(error.code))) throw error;
      isStale = true;
    }
  }
}

/** The conflicts of a compaction, as one sentence for its message; empty without any. */
function conflictSentence(conflicts: number): string {
  if (conflicts === 0) return "";
  return conflicts === 1
    ? "1 conflict was found: the later decision holds."
    : `${conflicts} conflicts were found: the later decisions hold.`;
}

/** The ids of the conflicts of which the user says that both decisions hold; undefined where nothing was chosen. */
async function chooseConflicts(preview: CompactionPreview): Promise<string[] | undefined> {
  const item = ({ conflict_id, earlier, later }: CompactionConflict, picked: boolean) => ({
    label: plain(later.text, 100),
    description: `later, memory ${later.memory_number}`,
    detail: `earlier, memory ${earlier.memory_number}: ${plain(earlier.text, 100)}`,
    picked,
    conflict_id,
  });
  const picked = await vscode.window.showQuickPick(
    [
      ...preview.conflicts.map((conflict) => item(conflict, false)),
      ...preview.kept_both.map((conflict) => item(conflict, true)),
    ],
    {
      title: "Keep Both Decisions of a Conflict",
      placeHolder: "Of which conflicts do both decisions hold?",
      canPickMany: true,
      ignoreFocusOut: true,
    },
  );
  return picked?.map(({ conflict_id }) => conflict_id);
}

/** Undoes a compaction: of the record of a tree item, or one that the user chooses. */
export async function restore(services: Services, value: unknown): Promise<void> {
  const { folder, subject } = await targetOf(services, value);
  const compactions = await reading((signal) => compactionsOf(services.memoryOf(folder), null, signal));
  const inForce = compactions.filter(({ restored_at }) => restored_at === null);
  let chosen = inForce.find(
    ({ decision_record_id }) => subject?.kind === "memory" && decision_record_id === subject.id,
  );
  if (chosen === undefined) {
    if (inForce.length === 0) throw new Ended("There is no compaction to undo.");
    const items = inForce.map((compaction) => ({
      label: compaction.topic_id,
      description: `${compaction.superseded.length} memories, on ${day(compaction.applied_at)}`,
      compaction,
    }));
    chosen = (await pick(items, { title: "Undo a Compaction", placeHolder: "Which one?" })).compaction;
  }
  const question = `Undo the compaction of ${chosen.topic_id}?`;
  const detail = `${chosen.superseded.length} memories get their former status again, and the decision record is withdrawn. Nothing is deleted.`;
  if (!(await isConfirmed(question, "Undo", detail))) return;
  await restoreRecord(services, folder, chosen.decision_record_id);
}

async function restoreRecord(services: Services, folder: vscode.WorkspaceFolder, recordId: string): Promise<void> {
  const job = { kind: "restore", payload: { decision_record_id: recordId } } as const;
  const { restored, skipped, topic_id } = await runJob<"restore">(services, folder, job, "Undoing the compaction…");
  const left = skipped.length === 0 ? "" : `${skipped.length} were left as they are, because they have changed since.`;
  void vscode.window.showInformationMessage(
    `Restored ${restored.length} summaries of topic ${plain(topic_id)}. ${left}`.trim(),
  );
}
