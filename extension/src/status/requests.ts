/** Requests about followed jobs, of one or several folders: run again, or cancel. */

import * as vscode from "vscode";
import { request } from "../core/requests";
import { signalOf, type Services } from "../core/services";
import type { Followed } from "./followed";

/** Returns why some jobs were left as they are, each reason once. */
export async function askFor(
  services: Services,
  verb: "retry" | "cancel",
  followed: readonly Followed[],
  title: string,
): Promise<string[]> {
  const reasons = new Set<string>();
  const options = { location: vscode.ProgressLocation.Window, title };
  await vscode.window.withProgress(options, async (_, token) => {
    for (const folder of services.folders()) {
      const jobs = followed.filter((each) => each.folder === folder.uri.fsPath).map(({ jobId }) => jobId);
      if (jobs.length === 0) continue;
      const memory = services.memoryOf(folder);
      for (const reason of await request(memory, verb, jobs, signalOf(token))) reasons.add(reason);
      memory.wakeUnlessLiving();
    }
  });
  return [...reasons];
}
