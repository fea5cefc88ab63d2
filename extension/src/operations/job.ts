/** A job that the user waits for: with its progress, and a cancel that asks the worker to cancel it. */

import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { InFlight, Kind, NewJob, Results } from "#types";
import { describe, MemoryError } from "../core/error";
import { livingWorker } from "../core/heartbeat";
import { recordFile } from "../core/layout";
import { request } from "../core/requests";
import { plain } from "../core/text";
import type { Services } from "../core/services";

/** How long a job that was asked to cancel may take to end before it is no longer waited for. */
const CANCEL_MS = 15_000;

/** The result of a preview, with its Markdown document. */
export type Previewed<Result> = Result & { readonly document: string };

/**
 * Runs a job and returns its result. Throws MemoryError with the record's error, or CANCELLED. A preview, and a failure
 * that the caller deals with by itself (`expected`: its codes), is dismissed, so that the queue does not show it. The
 * result of a preview is Previewed.
 */
export async function runJob<K extends Kind>(
  services: Services,
  folder: vscode.WorkspaceFolder,
  job: NewJob<K>,
  title: string,
  expected: ReadonlySet<string> = new Set(),
): Promise<Results[K]> {
  const memory = services.memoryOf(folder);
  const jobId = `vscode-${randomUUID()}`;
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (progress, token) => {
      const wait = new AbortController();
      let timer: NodeJS.Timeout | undefined;
      const ask = (verb: "cancel" | "dismiss"): Promise<unknown> =>
        request(memory, verb, [jobId], AbortSignal.timeout(CANCEL_MS)).catch((error: unknown) => {
          services.log.warn(`[Job] ${jobId}: no ${verb}: ${describe(error)}`);
        });
      const cancelled = token.onCancellationRequested(() => {
        timer = setTimeout(() => wait.abort(), CANCEL_MS);
        void ask("cancel");
      });
      const beats = services.changes.onDidChange((change) => {
        if (change.what !== "heartbeat" || change.folder !== folder) return;
        const inFlight = livingWorker(memory.workspace)?.in_flight.find((each) => each.job_id === jobId);
        if (inFlight !== undefined) progress.report({ message: progressText(inFlight) });
      });
      services.log.info(`[Job] ${jobId}: ${job.kind}`);
      progress.report({ message: "starting" });
      try {
        const result = await memory.run<K>({ ...job, job_id: jobId }, wait.signal);
        if (!isPreview(job)) return result;
        const shown = { route: "GET /v1/jobs/{job_id}", command: "jobs show", named: jobId } as const;
        const { markdown } = await memory.send({ ...shown, values: { markdown: true } }, wait.signal);
        await ask("dismiss");
        return { ...result, document: markdown ?? "" };
      } catch (error) {
        const isExpected = (code: string): boolean => expected.has(code) || (code === "CANCELLED" && isPreview(job));
        if (error instanceof MemoryError && isExpected(error.code)) await ask("dismiss");
        throw error;
      } finally {
        services.changes.tell({ folder, what: "jobs", path: recordFile(memory.workspace, jobId) });
        clearTimeout(timer);
        cancelled.dispose();
        beats.dispose();
      }
    },
  );
}

/** Whether a job changes nothing: the user sees what it made at once. */
function isPreview({ payload }: { readonly payload: object }): boolean {
  return ["preview", "dry_run"].some((name) => name in payload && payload[name as keyof typeof payload] === true);
}

function progressText({ progress }: InFlight): string {
  if (progress === null) return "";
  const counts = progress.total > 0 ? `${progress.done}/${progress.total}` : "";
  return [counts, plain(progress.message)].filter(Boolean).join(" ");
}
