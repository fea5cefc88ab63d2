/** Registers what remembers: the commands, the drafts, the status bar. Texts are made by parts of the first use. */

import * as vscode from "vscode";
import { registerCapture } from "../capture/register";
import { describe } from "../core/error";
import type { Services } from "../services";
import { registerStatus } from "../status/register";
import { Drafts } from "./drafts";
import { Outbox } from "./outbox";

export function registerRemember(services: Services): vscode.Disposable {
  const drafts = Drafts.of(services);
  offerKept(services).catch((error: unknown) => services.log.error(describe(error)));
  return vscode.Disposable.from(
    registerStatus(services),
    registerCapture(services),
    services.command("cognee.rememberDecision", async () => (await import("./commands")).rememberDecision(services)),
    services.command("cognee.rememberSelection", async () => (await import("./commands")).rememberSelection(services)),
    services.command("cognee.rememberConversation", async (turns: unknown) =>
      (await import("./commands")).rememberConversation(services, turns),
    ),
    services.command("cognee.saveSummary", (uri: vscode.Uri | undefined) => drafts.save(uri)),
    services.command("cognee.dropKept", async () => (await import("./commands")).dropKept(services)),
  );
}

/** What could not be stored when the window was closed is sent, or else offered. */
async function offerKept(services: Services): Promise<void> {
  const count = await Outbox.of(services).sendKept();
  if (count === 0) return;
  const again = "Remember Again…";
  const message = `${count} summaries are kept that could not be stored yet.`;
  if ((await vscode.window.showInformationMessage(message, again)) === again)
    await vscode.commands.executeCommand("cognee.dropKept");
}
