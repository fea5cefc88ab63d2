/** “Run again”: failed jobs of one or several folders. */

import { signalOf, type Services } from "../services";
import * as vscode from "vscode";
import type { Job } from "../views/jobs";
import { request } from "../views/queue-tree";
import type { Follow } from "./tally";

/** Returns why some were left as they are, each reason once. */
export async function retry(services: Services, failed: readonly Follow[]): Promise<string[]> {
  const skipped = new Set<string>();
  const options = { location: vscode.ProgressLocation.Window, title: vscode.l10n.t("Running again…") };
  await vscode.window.withProgress(options, async (_, token) => {
    for (const folder of services.folders()) {
      const jobs = failed.filter((each) => each.folder === folder.uri.fsPath).map(jobOf);
      if (jobs.length === 0) continue;
      for (const reason of await request(services.memoryOf(folder), "retry", jobs, signalOf(token)))
        skipped.add(reason);
      services.memoryOf(folder).wakeUnlessLiving();
    }
  });
  return [...skipped];
}

const jobOf = ({ jobId, outcome }: Follow): Job => ({
  id: jobId,
  kind: "ingest",
  state: outcome.state === "gone" ? "waiting" : outcome.state,
  error: outcome.error,
  attempt: 0,
  maxAttempts: 0,
  at: null,
  nextAttemptAt: null,
});
