/** Registers the commands that change what is remembered. Their parts are loaded by the first use. */

import * as vscode from "vscode";
import { REVIEW } from "../recall/standing";
import type { Services } from "../services";

export function registerOperations(services: Services): vscode.Disposable {
  const on = (command: string, run: (value: unknown) => Promise<void>) => services.command(command, run);
  return vscode.Disposable.from(
    on("cognee.compactMemories", async (value) => (await import("./compact")).compact(services, value)),
    on("cognee.restoreCompaction", async (value) => (await import("./compact")).restore(services, value)),
    on("cognee.forgetMemory", async (value) => (await import("./forget")).forget(services, value)),
    on("cognee.migrateSummaries", async () => (await import("./migrate")).migrate(services)),
    on(REVIEW, async (value) => (await import("./review")).review(services, value)),
    on("cognee.captureSessions", async () => (await import("./capture-sessions")).captureSessions(services)),
    on("cognee.undoMigration", async () => (await import("./migrate")).undoMigration(services)),
  );
}
