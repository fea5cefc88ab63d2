/** “Migrate Summaries of an Earlier Version” and “Undo a Migration”. */

import { join } from "node:path";
import * as vscode from "vscode";
import type { Migration, UndoneMigration } from "#types";
import type { Documents } from "../recall/documents";
import { answered, isConfirmed, offer, pick } from "../core/ask";
import { Ended } from "../core/error";
import { readAll } from "../core/json-files";
import { day } from "../core/text";
import type { Services } from "../core/services";
import { chooseReading } from "./choices";
import { type Previewed, runJob } from "./job";

/** Shows what would happen, asks, and migrates. */
export async function migrate(services: Services, documents: Documents): Promise<void> {
  const folder = answered(await services.folder());
  const dryRun = (await runJob(
    services,
    folder,
    { kind: "migrate", payload: { dry_run: true } },
    "Looking at the summaries of earlier versions…",
  )) as Previewed<Migration>;
  if (dryRun.found === 0) throw new Ended("This folder has no summaries of an earlier version.");
  const close = await documents.report("Migration: what would happen", dryRun.document);
  if (dryRun.migrated === 0) throw new Ended("There is nothing (more) to migrate. The document says why.");
  const question = "Migrate Plan 014 summaries to DataPoints? This will enable metadata-driven ranking and compaction.";
  const detail = [
    dryRun.migrated === 1 ? "1 summary would be migrated." : `${dryRun.migrated} summaries would be migrated.`,
    dryRun.failed === 0 ? "" : `${dryRun.failed} would fail.`,
    "You can undo it.",
  ];
  const chosen = await chooseReading(question, [{ label: "Migrate", detail: detail.filter(Boolean).join(" ") }]);
  close();
  if (chosen === undefined) return;
  const done = (await runJob(services, folder, { kind: "migrate", payload: {} }, "Migrating…")) as Migration;
  const failed = done.failed === 0 ? "" : `${done.failed} failed.`;
  const message =
    done.migrated === 1 ? "Migrated 1 summary to DataPoints." : `Migrated ${done.migrated} summaries to DataPoints.`;
  services.log.info(`[Migrate] Migrated ${done.migrated} summaries. Receipt: ${done.receipt ?? "none"}`);
  const { receipt } = done;
  const text = `${message} ${failed} ${receipt === null ? "" : `Receipt: ${receipt}.`}`.replace(/\s+/gu, " ").trim();
  offer(services, text, receipt === null ? {} : { Undo: () => undoReceipt(services, folder, receipt) });
}

/** Undoes a migration that the user chooses by its receipt. */
export async function undoMigration(services: Services): Promise<void> {
  const folder = answered(await services.folder());
  const receipts = await receiptsIn(folder.uri.fsPath);
  if (receipts.length === 0) throw new Ended("There is no migration to undo.");
  const items = receipts.map(({ receipt, begun_at }) => ({
    label: `Migration of ${day(begun_at)}`,
    description: receipt,
  }));
  const { description: id } = await pick(items, { title: "Undo a Migration", placeHolder: "Which one?" });
  const detail =
    "The memories that it added are removed, except those that were merged or changed since. The texts of the earlier version stay.";
  if (!(await isConfirmed("Undo this migration?", "Undo", detail))) return;
  await undoReceipt(services, folder, id);
}

async function undoReceipt(services: Services, folder: vscode.WorkspaceFolder, receipt: string): Promise<void> {
  const job = { kind: "migrate", payload: { undo: receipt } } as const;
  const { undone, kept } = (await runJob(services, folder, job, "Undoing the migration…")) as UndoneMigration;
  const left = kept.length === 0 ? "" : `${kept.length} were kept, because they were merged or changed since.`;
  const removed = undone === 1 ? "Removed 1 migrated memory." : `Removed ${undone} migrated memories.`;
  void vscode.window.showInformationMessage(`${removed} ${left}`.trim());
}

/** A receipt's file. Captures have receipts, too. */
interface Receipt {
  readonly receipt: string;
  readonly begun_at: string;
  readonly undone: unknown;
  readonly made_by?: string;
}

/** The migrations of a workspace that were not undone, the newest first. */
async function receiptsIn(workspace: string): Promise<Receipt[]> {
  const receipts = (await readAll(join(workspace, ".cognee_memory", "receipts"))) as Receipt[];
  return receipts
    .filter(({ undone, made_by = "migrate" }) => undone === null && made_by === "migrate")
    .sort((one, other) => other.begun_at.localeCompare(one.begun_at));
}
