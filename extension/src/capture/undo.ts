/** “Undo”: forgets what was captured last, or cancels its job if that has not ended. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";
import type { NewJob } from "#types";
import { reading } from "../core/ask";
import { Ended, MemoryError } from "../core/error";
import { livingWorker } from "../core/heartbeat";
import { inbox } from "../core/layout";
import { plain } from "../core/text";
import { request } from "../core/requests";
import { runJob } from "../operations/job";
import type { Services } from "../core/services";
import type { StatusBar } from "../status/bar";
import { outcomeOf } from "../status/followed";

export async function undoCapture(services: Services, bar: StatusBar): Promise<void> {
  const { captured } = bar;
  const folder = services.folders().find(({ uri }) => uri.fsPath === captured?.folder);
  if (captured === null || folder === undefined)
    throw new Ended("Nothing was remembered by itself that could be undone.");
  const topic = plain(captured.topic, 100);
  const { state, result } = outcomeOf(captured);
  if (result !== null) {
    if (result.duplicate) {
      bar.forgetCaptured();
      throw new Ended(`“${topic}” was remembered before already, so it stays.`);
    }
    const job: NewJob<"forget"> = { kind: "forget", payload: { memory_ids: [result.memory_id] } };
    await runJob<"forget">(services, folder, job, `Forgetting “${topic}”…`);
  } else if (state === "waiting" || state === "queued" || state === "running" || state === "retrying") {
    // without a worker, nobody reads the inbox: the file is simply taken back
    if (state === "waiting" && livingWorker(captured.folder) === null)
      await rm(join(inbox(captured.folder), `${captured.jobId}.json`), { force: true });
    else {
      const memory = services.memoryOf(folder);
      await reading((signal) => request(memory, "cancel", [captured.jobId], signal), "Undoing…");
      memory.wakeUnlessLiving();
    }
    const after = outcomeOf(captured);
    if (after.state !== "cancelled" && after.state !== "gone") {
      throw new MemoryError("UNDO_LATER", `“${topic}” is being stored.`, "Undo it again in a moment.");
    }
  }
  bar.forgetCaptured();
  void vscode.window.showInformationMessage(`“${topic}” is not remembered any more.`);
}
