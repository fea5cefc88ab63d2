/** What every part of the extension needs: the folders' memories, the settings, the log. Made once, at activation. */

import * as vscode from "vscode";
import { Changes } from "./changes";
import { describe, Ended, isAbort, MemoryError } from "./error";
import { Memory } from "./memory";
import type { Program } from "./program";
import { readSettings, type Settings } from "./settings";
import { plain } from "./text";

export const SECTION = "cogneeMemory";
const LONGEST_MESSAGE = 2000;

/** The program can be used now or not any more; or the extension's own was installed, perhaps in place of a former one. */
export type ProgramChange = "found" | "installed";

/** Finds the program, and offers to set it up. */
export interface Programs {
  /** Throws MemoryError PROGRAM_NOT_FOUND, PROGRAM_TOO_OLD or COMMAND_PATH_WRONG. */
  find(): Promise<Program>;
  readonly onDidChange: vscode.Event<ProgramChange>;
}

export class Services {
  /** What changes in the folders of the window. */
  readonly changes = new Changes(() => this.folders());
  private readonly needed = new vscode.EventEmitter<Memory>();
  /** A memory was used, and no worker lives in its folder. */
  readonly onDidNeedWorker = this.needed.event;
  private readonly memories = new Map<string, Memory>();
  private readonly end = new AbortController();
  /** Comes when the extension ends. */
  readonly ended = this.end.signal;
  private read: Settings | undefined;
  /** The path of the folder that the user picked last. */
  private lastFolder: string | undefined;

  constructor(
    readonly context: vscode.ExtensionContext,
    readonly log: vscode.LogOutputChannel,
    readonly programs: Programs,
    private readonly started: (workspace: string, workerId: string) => void = () => undefined,
  ) {
    this.owns(
      { dispose: () => this.end.abort() },
      this.changes,
      this.needed,
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(SECTION)) this.read = this.readSettings();
      }),
    );
  }

  /** What is disposed when the extension ends, as all of its parts are. */
  owns(...parts: readonly { dispose(): unknown }[]): void {
    this.context.subscriptions.push(...parts);
  }

  /** The settings that hold; they are read, and warned about, when they change. */
  settings(): Settings {
    this.read ??= this.readSettings();
    return this.read;
  }

  private readSettings(): Settings {
    const section = vscode.workspace.getConfiguration(SECTION);
    const { settings, warnings } = readSettings((name) => section.get(name));
    for (const warning of warnings) this.log.warn(warning);
    return settings;
  }

  /** The folders of the window that can have a memory: on this machine's disk. */
  folders(): readonly vscode.WorkspaceFolder[] {
    return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
  }

  memoryOf(folder: vscode.WorkspaceFolder): Memory {
    const path = folder.uri.fsPath;
    let memory = this.memories.get(path);
    if (memory === undefined) {
      memory = new Memory(
        path,
        () => this.programs.find(),
        (used) => this.needed.fire(used),
        this.started,
      );
      this.memories.set(path, memory);
    }
    return memory;
  }

  /** The folders that a question is put to: all. Throws MemoryError NO_FOLDER, NOT_TRUSTED. */
  foldersToAsk(): readonly [vscode.WorkspaceFolder, ...vscode.WorkspaceFolder[]] {
    if (!vscode.workspace.isTrusted) {
      throw new MemoryError(
        "NOT_TRUSTED",
        "This workspace is in Restricted Mode, so its memory is not used.",
        "Trust the workspace first: “Workspaces: Manage Workspace Trust”.",
      );
    }
    const [first, ...others] = this.folders();
    if (first !== undefined) return [first, ...others];
    throw new MemoryError("NO_FOLDER", "No folder is open, and a memory belongs to a folder.", "Open a folder first.");
  }

  /**
   * The folder that a command means: that of the active editor, the only one, or the one that the user picks,
   * whose list begins with the one of the last time.
   * Undefined if the user picks none. Throws MemoryError NO_FOLDER, NOT_TRUSTED.
   */
  async folder(): Promise<vscode.WorkspaceFolder | undefined> {
    const folders = this.foldersToAsk();
    const active = vscode.window.activeTextEditor?.document.uri;
    const ofEditor = active && vscode.workspace.getWorkspaceFolder(active);
    if (ofEditor !== undefined && folders.includes(ofEditor)) return ofEditor;
    if (folders.length === 1) return folders[0];
    const isLast = ({ uri }: vscode.WorkspaceFolder): boolean => uri.fsPath === this.lastFolder;
    const picked = await vscode.window.showQuickPick(
      [...folders]
        .sort((one, other) => Number(isLast(other)) - Number(isLast(one)))
        .map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder })),
      { placeHolder: "Whose memory?" },
    );
    this.lastFolder = picked?.folder.uri.fsPath ?? this.lastFolder;
    return picked?.folder;
  }

  /** Registers a command whose errors are shown with their remedy, and logged. */
  command(name: string, handler: (...args: never[]) => unknown): vscode.Disposable {
    return vscode.commands.registerCommand(name, async (...args: unknown[]) => {
      try {
        return await handler(...(args as never[]));
      } catch (error) {
        await this.show(error);
        return undefined;
      }
    });
  }

  /** Shows an error and the buttons that help with it. */
  async show(error: unknown): Promise<void> {
    if (error instanceof Ended && error.message !== "") void vscode.window.showInformationMessage(error.message);
    if (isAbort(error)) return;
    this.log.error(describe(error));
    const remedy = remedyOf(error);
    const isWished = error instanceof MemoryError && /^(SETUP|GRAPH)_CANCELLED$/.test(error.code);
    const tell = isWished ? vscode.window.showInformationMessage : vscode.window.showErrorMessage;
    const chosen = await tell<string>(
      plain(describe(error), LONGEST_MESSAGE),
      ...(remedy === undefined ? [] : [remedy.title]),
      "Show Log",
    );
    if (chosen === undefined) return;
    if (remedy !== undefined && chosen === remedy.title)
      await vscode.commands.executeCommand(remedy.command, ...((remedy.arguments ?? []) as unknown[]));
    else this.log.show();
  }
}

const setUp: vscode.Command = { title: "Set Up", command: "cognee.setUp" };
const setUpAgain: vscode.Command = { title: "Set Up Again", command: "cognee.setUp" };
const graph: vscode.Command = { title: "Add the Graph", command: "cognee.addGraph" };
const health: vscode.Command = { title: "Check Health", command: "cognee.checkHealth" };

/** Commands that mend the cause of an error. */
const REMEDIES: Readonly<Record<string, vscode.Command>> = {
  PROGRAM_NOT_FOUND: setUp,
  PROGRAM_TOO_OLD: setUp,
  COMMAND_PATH_WRONG: {
    title: "Open Setting",
    command: "workbench.action.openSettings",
    arguments: [`${SECTION}.commandPath`],
  },
  MODEL_MISSING: setUp,
  GRAPH_NOT_INSTALLED: graph,
  GRAPH_NOT_ADDED: graph,
  GRAPH_CANCELLED: graph,
  PYTHON_NOT_FOUND: setUpAgain,
  PYTHON_NOT_SUPPORTED: setUpAgain,
  VENV_MISSING: setUpAgain,
  NO_PACKAGE: setUpAgain,
  SETUP_CANCELLED: setUpAgain,
  SETUP_FAILED: setUpAgain,
  NO_NETWORK: setUpAgain,
  NO_PERMISSION: setUpAgain,
  HASH_MISMATCH: setUpAgain,
  WORKSPACE_NOT_TRUSTED: { title: "Trust This Memory…", command: "cognee.trust" },
  NOT_TRUSTED: { title: "Manage Trust", command: "workbench.trust.manage" },
  WORKER_START_FAILED: health,
  WORKER_NOT_RUNNING: health,
  WORKER_KILLED: health,
};

/** The command that mends the cause of an error, as a button. */
export function remedyOf(error: unknown): vscode.Command | undefined {
  return error instanceof MemoryError ? REMEDIES[error.code] : undefined;
}

/** An AbortSignal that follows VS Code's cancellation token. */
export function signalOf(token: vscode.CancellationToken): AbortSignal {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  token.onCancellationRequested(() => controller.abort());
  return controller.signal;
}
