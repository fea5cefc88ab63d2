/** Activation: registers commands, views and providers. Each part is loaded by the first use of it. */

import * as vscode from "vscode";
import { Capture } from "./capture/capture";
import { Services } from "./services";
import { registerLife } from "./life/register";
import { StartedWorkers } from "./life/started";
import { registerSetUp } from "./setup/register";
import { registerRemember } from "./remember/register";
import { registerRecall } from "./recall/register";
import { registerAgent } from "./agent/register";
import { registerChat } from "./chat/register";
import { registerViews } from "./views/register";
import { registerOperations } from "./operations/register";

let capture: Capture | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Cognee Memory", { log: true });
  const workers = new StartedWorkers(vscode.Uri.joinPath(context.globalStorageUri, "workers").fsPath);
  void workers.tellUninstall(context.asAbsolutePath("dist"));
  const setUp = registerSetUp(context, log, workers);
  const life = registerLife();
  const services = new Services(
    context,
    log,
    setUp.programs,
    (memory) => life.wake(memory),
    (workspace, workerId) => workers.note(workspace, workerId),
  );
  context.subscriptions.push(
    log,
    setUp.start(services),
    life.start(services),
    registerRemember(services),
    registerRecall(services),
    registerChat(services),
    registerAgent(services),
    registerViews(services),
    registerOperations(services),
  );
  capture = Capture.of(services);
}

/** The window closes: what was said and is to be remembered by itself is dropped first. */
export async function deactivate(): Promise<void> {
  await capture?.close();
}
