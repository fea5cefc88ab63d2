/** Activation: registers commands, views and providers. Each part is loaded by the first use of it. */

import * as vscode from "vscode";
import { Services } from "./services";
import { registerLife } from "./life/register";
import { registerSetUp } from "./setup/register";
import { registerRemember } from "./remember/register";
import { registerRecall } from "./recall/register";
import { registerChat } from "./chat/register";
import { registerViews } from "./views/register";
import { registerOperations } from "./operations/register";

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Cognee Memory", { log: true });
  const setUp = registerSetUp(context, log);
  const life = registerLife();
  const services = new Services(context, log, setUp.programs, (memory) => life.wake(memory));
  context.subscriptions.push(
    log,
    setUp.start(services),
    life.start(services),
    registerRemember(services),
    registerRecall(services),
    registerChat(services),
    registerViews(services),
    registerOperations(services),
  );
}
