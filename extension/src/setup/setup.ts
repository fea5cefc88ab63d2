/**
 * The commands “Set Up”, “Add the Knowledge Graph” and “Remove the Program”, and the update of the extension's own
 * environment, with progress, cancel and log.
 */

import * as vscode from "vscode";
import { isConfirmed, offer } from "../core/ask";
import { describe, MemoryError } from "../core/error";
import type { StartedWorkers } from "../life/started";
import { SECTION, signalOf, type ProgramChange, type Services } from "../core/services";
import { readBundle } from "./bundle";
import type { Environments } from "./environments";
import { workersRun } from "./failure";
import type { Finder } from "./finder";
import { Installer } from "./installer";
import type { Purpose } from "./failure";
import type { Machine } from "./places";
import { isOutdated } from "./plan";
import { addGraph, checkModel, explained, type Context, type Watch } from "./step";

const IS_SET_UP = "cognee.isSetUp";
/** What the context key was when the editor was closed: views show it before the program was looked for. */
const WAS_SET_UP = "program.isSetUp";
/** Whether the user was asked for the graph; once on this machine. */
const GRAPH_ASKED = "graph.asked";
/** How long workers may take to finish what they run, before the program is removed. */
const STOP_MS = 60_000;

export class SetUp implements vscode.Disposable {
  private running: Promise<void> | undefined;
  private adding: Promise<void> | undefined;
  private isSetUp: boolean | undefined;
  private wasUpdateLookedFor = false;
  private readonly disposal = new AbortController();

  constructor(
    private readonly machine: Machine,
    private readonly environments: Environments,
    private readonly bundleFolder: string,
    private readonly finder: Finder,
    private readonly changed: vscode.EventEmitter<ProgramChange>,
    private readonly workers: StartedWorkers,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  dispose(): void {
    this.disposal.abort();
  }

  start(services: Services): vscode.Disposable {
    const look = (): void => void this.look(services).catch((error: unknown) => this.log.error(describe(error)));
    void setContext(services.context.globalState.get<boolean>(WAS_SET_UP, false));
    look();
    return vscode.Disposable.from(
      services.command("cognee.setUp", () => this.setUp(services)),
      services.command("cognee.addGraph", () => this.addGraph()),
      services.command("cognee.removeProgram", () => this.removeProgram(services)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${SECTION}.commandPath`)) look();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(look),
      // Another window may have set it up, or the user did in a terminal.
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused && this.isSetUp === false) look();
      }),
    );
  }

  /** Looks whether the program is there, and offers the update of the extension's own environment. */
  private async look(services: Services): Promise<void> {
    if (!vscode.workspace.isTrusted || this.running !== undefined) return;
    const found = await this.finder.find().catch((error: unknown) => {
      if (error instanceof MemoryError) return undefined;
      throw error;
    });
    const isNews = this.isSetUp !== undefined && this.isSetUp !== (found !== undefined);
    await this.tell(services, found !== undefined);
    if (isNews) this.changed.fire("found");
    if (found?.isOwn !== true || this.wasUpdateLookedFor) return;
    this.wasUpdateLookedFor = true;
    await this.offerUpdate(services);
  }

  private async offerUpdate(services: Services): Promise<void> {
    const bundle = await readBundle(this.bundleFolder);
    if (!isOutdated(bundle, await this.environments.stock())) {
      await this.environments.removeOutdated(Date.now());
      return;
    }
    offer(
      services,
      `The memory's program can be updated to version ${bundle.version}. You can go on working meanwhile.`,
      { Update: () => vscode.commands.executeCommand("cognee.setUp") },
    );
  }

  /** Makes the program usable: one that is there is checked, otherwise the extension's own is installed. */
  setUp(services: Services): Promise<void> {
    this.running ??= this.setUpOnce(services).finally(() => (this.running = undefined));
    return this.running;
  }

  /** Adds cognee to the program, which works meanwhile. */
  addGraph(): Promise<void> {
    this.adding ??= this.addGraphOnce().finally(() => (this.adding = undefined));
    return this.adding;
  }

  private async setUpOnce(services: Services): Promise<void> {
    requireTrust();
    const found = await this.finder.find().catch((error: unknown) => {
      if (error instanceof MemoryError && error.code !== "COMMAND_PATH_WRONG") return undefined;
      throw error;
    });
    const isUsers = found?.isOwn === false;
    const bundle = isUsers ? undefined : await readBundle(this.bundleFolder);
    await this.withProgress("Setting up the memory", async (watch, signal) => {
      if (bundle !== undefined) {
        await new Installer(this.machine, this.environments, bundle, signal).install(watch);
      } else if (found !== undefined) {
        await this.perform(checkModel, found.path, watch, signal);
      }
    });
    await this.tell(services, true);
    this.changed.fire(isUsers ? "found" : "installed");
    if (isUsers) void vscode.window.showInformationMessage("The memory is set up.");
    else void this.offerGraph(services).catch((error: unknown) => this.log.error(describe(error)));
  }

  /** Asks once on this machine; nothing waits for the answer, and everything but the graph works before it. */
  private async offerGraph(services: Services): Promise<void> {
    const state = services.context.globalState;
    if ((await this.hasGraph()) || state.get<boolean>(GRAPH_ASKED, false)) {
      void vscode.window.showInformationMessage("The memory is set up.");
      return;
    }
    await state.update(GRAPH_ASKED, true);
    offer(
      services,
      "The memory is set up. cognee's knowledge graph can be added now in the background, or later by the command “Add the Knowledge Graph”: it draws and answers what connects topics, plans and decisions. It downloads 360 MB and takes 1.3 GB of disk.",
      { "Add the Graph": () => vscode.commands.executeCommand("cognee.addGraph"), "Not Now": () => undefined },
    );
  }

  private async hasGraph(): Promise<boolean> {
    const { environments, current } = await this.environments.stock();
    return environments.some((each) => each.name === current && each.hasGraph);
  }

  private async addGraphOnce(): Promise<void> {
    requireTrust();
    const found = await this.finder.find();
    await this.withProgress("Adding the knowledge graph", async (watch, signal) => {
      if (found.isOwn) {
        const bundle = await readBundle(this.bundleFolder);
        await new Installer(this.machine, this.environments, bundle, signal).addGraph(watch);
      } else {
        await this.perform(addGraph, found.path, watch, signal, "add the graph");
      }
    });
    this.changed.fire("installed"); // a worker that runs began without it
    void vscode.window.showInformationMessage(
      "The knowledge graph is added. It takes in what is stored when it is first asked or drawn.",
    );
  }

  /** Gives back the disk of all environments that the extension made, after a question. Memories stay. */
  async removeProgram(services: Services): Promise<void> {
    const { own, shared } = await this.environments.size();
    if (own + shared === 0) {
      void vscode.window.showInformationMessage("The extension has installed no program.");
      return;
    }
    const detail = [
      "Its workers finish what they run, and stop. Your memories stay in their folders. Set Up installs it again.",
      shared > 0 ? `${amount(shared)} more are uv's cache as well: “uv cache clean” gives them back.` : "",
    ];
    const question = `Remove the program that Set Up installed? This gives back ${amount(own)}.`;
    if (!(await isConfirmed(question, "Remove", detail.filter(Boolean).join("\n\n")))) return;
    await this.withProgress("Removing the program", (_watch, signal) =>
      this.environments.exclusively(async () => {
        const running = await this.workers.stop(AbortSignal.any([signal, AbortSignal.timeout(STOP_MS)]));
        signal.throwIfAborted();
        if (running.length > 0) throw workersRun(running);
        await this.environments.removeAll();
      }),
    );
    await services.context.globalState.update(GRAPH_ASKED, undefined);
    await this.look(services);
    void vscode.window.showInformationMessage(
      `The program was removed, which gave back ${amount(own)}. Your memories are in their folders.`,
    );
  }

  private async withProgress(title: string, work: (watch: Watch, signal: AbortSignal) => Promise<void>): Promise<void> {
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    await vscode.window.withProgress(options, async (progress, token) => {
      const watch: Watch = {
        report: (message, increment) => progress.report({ increment, ...(message === "" ? {} : { message }) }),
        log: (line) => this.log.info(`[Set-up] ${line}`),
      };
      await work(watch, AbortSignal.any([signalOf(token), this.disposal.signal]));
    });
  }

  /** Runs a step of a program that the user installed. */
  private perform(
    step: (program: string, context: Context) => Promise<void>,
    program: string,
    watch: Watch,
    signal: AbortSignal,
    purpose: Purpose = "set up",
  ): Promise<void> {
    const { home, environment } = this.machine;
    return explained(purpose, signal, () => step(program, { watch, signal, cwd: home, environment }));
  }

  private async tell(services: Services, isSetUp: boolean): Promise<void> {
    await setContext(isSetUp);
    this.isSetUp = isSetUp;
    await services.context.globalState.update(WAS_SET_UP, isSetUp);
  }
}

/** An amount of disk for a person. */
function amount(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}

function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw new MemoryError(
    "NOT_TRUSTED",
    "This workspace is in Restricted Mode, so nothing is installed or started.",
    "Trust the workspace, or open another one, then try again.",
  );
}

function setContext(isSetUp: boolean): Thenable<unknown> {
  return vscode.commands.executeCommand("setContext", IS_SET_UP, isSetUp);
}
