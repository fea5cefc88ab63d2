/** Activation: the one place where the parts of the extension are made, and where each command has its function. */

import { homedir } from "node:os";
import * as vscode from "vscode";
import { McpServers } from "./agent/mcp";
import { RecallTool, RememberTool } from "./agent/tools";
import { Capture } from "./capture/capture";
import { undoCapture } from "./capture/undo";
import { participantOf } from "./chat/participant";
import { describe } from "./core/error";
import { type ProgramChange, Services } from "./core/services";
import { openPage, startWorker, stopWorker, trust } from "./life/commands";
import { StartedWorkers } from "./life/started";
import { Workers } from "./life/workers";
import { captureSessions } from "./operations/capture-sessions";
import { compact, restore } from "./operations/compact";
import { forget } from "./operations/forget";
import { migrate, undoMigration } from "./operations/migrate";
import { review } from "./operations/review";
import { RecallActions } from "./recall/actions";
import { Documents, EDITOR } from "./recall/documents";
import { REVIEW } from "./recall/standing";
import { SCHEME } from "./recall/target";
import { dropKept, rememberConversation, rememberDecision, rememberSelection } from "./remember/commands";
import { Drafts } from "./remember/drafts";
import { Outbox } from "./remember/outbox";
import { Environments } from "./setup/environments";
import { Finder } from "./setup/finder";
import { SetUp } from "./setup/setup";
import { StatusBar } from "./status/bar";
import { showStatus } from "./status/menu";
import { HealthTree } from "./views/health-tree";
import { MemoriesTree } from "./views/memories-tree";
import { QueueTree } from "./views/queue-tree";

let capture: Capture | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Cognee Memory", { log: true });
  const storage = (name: string): string => vscode.Uri.joinPath(context.globalStorageUri, name).fsPath;
  const started = new StartedWorkers(storage("workers"));
  void started.tellUninstall(context.asAbsolutePath("dist"));
  const machine = { platform: process.platform, home: homedir(), environment: process.env };
  const environments = new Environments(storage("env"));
  const setting = (): string => services.settings().commandPath;
  const finder = new Finder(machine, environments, setting);
  const changed = new vscode.EventEmitter<ProgramChange>();
  const programs = { find: () => finder.find(), onDidChange: changed.event };
  const services = new Services(context, log, programs, (workspace, id) => started.note(workspace, id));
  const bundle = context.asAbsolutePath("dist/python");
  const setUp = new SetUp(machine, environments, bundle, finder, changed, started, log);
  context.subscriptions.push(log, changed, setUp, setUp.start(services), new Workers(services).begin());
  ({ capture } = compose(services));
}

/** The window closes: what was said and is to be remembered by itself is dropped first. */
export async function deactivate(): Promise<void> {
  await capture?.close();
}

/** The parts that tests use. */
export interface Parts {
  readonly bar: StatusBar;
  readonly outbox: Outbox;
  readonly drafts: Drafts;
  readonly capture: Capture;
}

/** Makes the parts that use memories, and registers them; they end with the extension. */
export function compose(services: Services): Parts {
  const documents = new Documents(services);
  const bar = new StatusBar(services);
  const outbox = new Outbox(services, bar);
  const drafts = new Drafts(services, outbox);
  const capture = new Capture(services, outbox);
  const recall = new RecallActions(services, documents);
  const servers = new McpServers(services);
  const commands: Readonly<Record<string, (value: unknown) => unknown>> = {
    ...recall.commands,
    "cognee.captureSessions": () => captureSessions(services, documents),
    "cognee.compactMemories": (value) => compact(services, documents, value),
    "cognee.dropKept": () => dropKept(services, outbox),
    "cognee.forgetMemory": (value) => forget(services, value),
    "cognee.migrateSummaries": () => migrate(services, documents),
    "cognee.openPage": () => openPage(services),
    "cognee.rememberConversation": (turns) => rememberConversation(services, drafts, turns),
    "cognee.rememberDecision": () => rememberDecision(services, drafts),
    "cognee.rememberSelection": () => rememberSelection(services, drafts),
    "cognee.restoreCompaction": (value) => restore(services, value),
    [REVIEW]: (value) => review(services, documents, value),
    "cognee.saveSummary": (uri) => drafts.save(uri instanceof vscode.Uri ? uri : undefined),
    "cognee.showStatus": () => showStatus(services, bar),
    "cognee.startWorker": () => startWorker(services),
    "cognee.stopWorker": () => stopWorker(services),
    "cognee.trust": () => trust(services),
    "cognee.undoCapture": () => undoCapture(services, bar),
    "cognee.undoMigration": () => undoMigration(services),
  };
  new MemoriesTree(services);
  new QueueTree(services, documents);
  new HealthTree(services);
  services.owns(
    ...Object.entries(commands).map(([name, run]) => services.command(name, run)),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, documents),
    vscode.window.registerCustomEditorProvider(EDITOR, documents, { webviewOptions: { enableFindWidget: true } }),
    participantOf({ services, drafts, capture }),
    vscode.lm.registerTool("cognee_recall", new RecallTool(services)),
    vscode.lm.registerTool("cognee_remember", new RememberTool(services, outbox)),
    vscode.lm.registerMcpServerDefinitionProvider("cognee.mcp", servers),
  );
  outbox.offerKept().catch((error: unknown) => services.log.error(describe(error)));
  return { bar, outbox, drafts, capture };
}
