/**
 * The part of the stand-in that acts: commands, messages, lists, documents, and watchers that watch the real disk.
 * A test says in `user` what the user does, and reads in `shown` what was shown.
 */

import { existsSync, mkdirSync, watch } from "node:fs";
import { join } from "node:path";

interface Disposed {
  dispose(): void;
}

export class Disposable {
  static from(...all: Disposed[]): Disposable {
    return new Disposable(() => all.forEach((each) => each.dispose()));
  }
  constructor(private readonly act: () => void = () => undefined) {}
  dispose(): void {
    this.act();
  }
}

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => void>();
  readonly event = (listener: (value: T) => void): Disposable => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };
  fire(value: T): void {
    for (const listener of this.listeners) listener(value);
  }
  dispose(): void {
    this.listeners.clear();
  }
}

export class Uri {
  static file = (path: string): Uri => new Uri("file", path, "");
  static joinPath = (base: Uri, ...parts: string[]): Uri => new Uri(base.scheme, join(base.path, ...parts), base.query);
  static from = ({ scheme, path, query = "" }: { scheme: string; path: string; query?: string }): Uri =>
    new Uri(scheme, path, query);
  private constructor(
    readonly scheme: string,
    readonly path: string,
    readonly query: string,
  ) {}
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `${this.scheme}:${this.path}?${this.query}`;
  }
}

export class TabInputCustom {
  constructor(
    readonly uri: Uri,
    readonly viewType: string,
  ) {}
}
export const LogLevel = { Debug: 2, Info: 3 };

export class ThemeIcon {
  constructor(
    readonly id: string,
    readonly color?: ThemeColor,
  ) {}
}
export class ThemeColor {
  constructor(readonly id: string) {}
}
export class TreeItem {
  constructor(
    readonly label: string,
    readonly collapsibleState: number,
  ) {}
}
export class RelativePattern {
  constructor(
    readonly folder: { uri: Uri },
    readonly pattern: string,
  ) {}
}
export class Range {
  constructor(
    readonly startLine: number,
    readonly startCharacter: number,
    readonly endLine: number,
    readonly endCharacter: number,
  ) {}
}
export class CodeLens {
  constructor(
    readonly range: Range,
    readonly command: { readonly command: string; readonly arguments: unknown[] },
  ) {}
}
export class CancellationTokenSource {
  private readonly cancelled = new EventEmitter<undefined>();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.cancelled.event };
  cancel(): void {
    this.token.isCancellationRequested = true;
    this.cancelled.fire(undefined);
  }
  dispose(): void {
    this.cancelled.dispose();
  }
}
export const LanguageModelChatMessage = {
  User: (content: string) => ({ role: 1, content }),
  Assistant: (content: string) => ({ role: 2, content }),
};
export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}
export class LanguageModelToolResult {
  constructor(readonly content: readonly LanguageModelTextPart[]) {}
}
export class MarkdownString {
  readonly isTrusted = false;
  constructor(readonly value: string) {}
}
export class ChatRequestTurn {
  constructor(readonly prompt: string) {}
}
export class ChatResponseMarkdownPart {
  readonly value: MarkdownString;
  constructor(value: string) {
    this.value = new MarkdownString(value);
  }
}
export class ChatResponseTurn {
  constructor(
    readonly response: readonly unknown[],
    readonly result: { readonly metadata?: unknown } = {},
  ) {}
}
export class CancellationError extends Error {}
export class McpStdioServerDefinition {
  cwd: Uri | undefined;
  constructor(
    readonly label: string,
    readonly command: string,
    readonly args: readonly string[],
    readonly env: Record<string, string>,
    readonly version: string,
  ) {}
}
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const ProgressLocation = { SourceControl: 1, Window: 10, Notification: 15 };

type Item = { readonly label: string };
type Choice = (items: readonly Item[], question: string) => Item | readonly Item[] | undefined;

/** What the user does. Without an answer, a list or a message is left. */
type ConfigurationListener = (event: { affectsConfiguration: () => boolean }) => void;
const configurationListeners = new Set<ConfigurationListener>();
/** The user's settings, by their name without the prefix. A change is told, as the editor does. */
class Configuration extends Map<string, unknown> {
  override set(name: string, value: unknown): this {
    super.set(name, value);
    this.tell();
    return this;
  }
  override delete(name: string): boolean {
    const had = super.delete(name);
    this.tell();
    return had;
  }
  override clear(): void {
    super.clear();
    this.tell();
  }
  private tell(): void {
    for (const listener of configurationListeners) listener({ affectsConfiguration: () => true });
  }
}

export const user = {
  picks: [] as Choice[],
  presses: [] as (string | undefined)[],
  types: undefined as string | undefined,
  /** What is typed into each input box in turn; then `types`. */
  inputs: [] as string[],
  /** What is in the clipboard. */
  copied: "",
  /** Settings of the section, by their names. */
  settings: new Configuration(),
  /** The answer of the language model; without one there is no model. */
  model: undefined as string | undefined,
};

/** What was shown. */
export const shown = {
  messages: [] as string[],
  documents: [] as Uri[],
  rendered: [] as Uri[],
  clipboard: "",
  lists: [] as FakeQuickPick[],
  trees: new Map<string, FakeTree>(),
  status: [] as FakeStatusItem[],
  /** What the language model was asked. */
  prompts: [] as string[],
};

export function reset(): void {
  Object.assign(user, { picks: [], presses: [], types: undefined, inputs: [], copied: "" });
  Object.assign(shown, { messages: [], documents: [], rendered: [], clipboard: "", lists: [] });
}

class FakeStatusItem {
  name = "";
  text = "";
  tooltip = "";
  isShown = false;
  show(): void {
    this.isShown = true;
  }
  hide(): void {
    this.isShown = false;
  }
  dispose(): void {
    this.isShown = false;
  }
}

/** A document without a file, which the user edits by setting `text`. */
export class FakeDocument {
  readonly isUntitled = true;
  readonly uri: Uri;
  constructor(public text: string) {
    this.uri = Uri.from({ scheme: "untitled", path: `Untitled-${++FakeDocument.latest}` });
  }
  private static latest = 0;
  get lineCount(): number {
    return this.text.split("\n").length;
  }
  lineAt = (line: number) => ({ text: this.text.split("\n")[line] });
  getText = (): string => this.text;
}

class FakeTree {
  readonly visible = true;
  readonly selection: unknown[] = [];
  badge: unknown;
  private readonly visibility = new EventEmitter<{ visible: boolean }>();
  readonly onDidChangeVisibility = this.visibility.event;
  constructor(readonly provider: unknown) {}
  dispose(): void {
    this.visibility.dispose();
  }
}

export class FakeQuickPick {
  title = "";
  placeholder = "";
  busy = false;
  items: readonly Item[] = [];
  activeItems: readonly Item[] = [];
  isHidden = false;
  readonly value = new EventEmitter<string>();
  readonly accept = new EventEmitter<undefined>();
  readonly hidden = new EventEmitter<undefined>();
  readonly button = new EventEmitter<unknown>();
  readonly onDidChangeValue = this.value.event;
  readonly onDidAccept = this.accept.event;
  readonly onDidHide = this.hidden.event;
  readonly onDidTriggerItemButton = this.button.event;
  show(): void {
    shown.lists.push(this);
  }
  hide(): void {
    this.isHidden = true;
    this.hidden.fire(undefined);
  }
  dispose(): void {
    this.value.dispose();
  }
}

function closeActive(): void {
  const document = window.activeTextEditor?.document;
  workspace.textDocuments = workspace.textDocuments.filter((each) => each !== document);
  window.activeTextEditor = undefined;
}

const handlers = new Map<string, (...args: unknown[]) => unknown>();
export const commands = {
  registerCommand(name: string, handler: (...args: unknown[]) => unknown): Disposable {
    handlers.set(name, handler);
    return new Disposable(() => handlers.delete(name));
  },
  executeCommand(name: string, ...args: unknown[]): Promise<unknown> {
    if (name === "vscode.openWith") shown.rendered.push(args[0] as Uri);
    if (name === "workbench.action.revertAndCloseActiveEditor") closeActive();
    return Promise.resolve(handlers.get(name)?.(...args));
  },
};

function message(text: string, ...rest: unknown[]): Promise<string | undefined> {
  const [options] = rest;
  const detail = typeof options === "object" && options !== null && "detail" in options ? String(options.detail) : "";
  shown.messages.push([text, detail].filter(Boolean).join("\n"));
  const buttons = rest.filter((each) => typeof each === "string");
  return Promise.resolve(buttons.length === 0 ? undefined : user.presses.shift());
}

const token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
const never = () => new Disposable();
const providers = new Map<string, { provideTextDocumentContent(uri: Uri, token: unknown): Promise<string> }>();

export const window = {
  tabGroups: { activeTabGroup: { activeTab: undefined as { input: unknown } | undefined } },
  registerCustomEditorProvider: never,
  activeTextEditor: undefined as { document: unknown; selection?: unknown } | undefined,
  onDidChangeActiveTextEditor: never,
  createTreeView(id: string, { treeDataProvider }: { treeDataProvider: unknown }): FakeTree {
    const tree = new FakeTree(treeDataProvider);
    shown.trees.set(id, tree);
    return tree;
  },
  createQuickPick: () => new FakeQuickPick(),
  showQuickPick: (items: readonly Item[], { title }: { title?: string }) =>
    Promise.resolve(user.picks.shift()?.(items, title ?? "")),
  showInputBox: () => Promise.resolve(user.inputs.shift() ?? user.types),
  showInformationMessage: message,
  showWarningMessage: message,
  showErrorMessage: message,
  setStatusBarMessage: message,
  withProgress: (_: unknown, act: (progress: unknown, cancel: unknown) => Promise<unknown>) =>
    act({ report: () => undefined }, token),
  showTextDocument: (document: { uri: Uri }) => {
    shown.documents.push(document.uri);
    if (document instanceof FakeDocument) window.activeTextEditor = { document };
    return Promise.resolve();
  },
  createStatusBarItem: () => {
    const item = new FakeStatusItem();
    shown.status.push(item);
    return item;
  },
};

/** The user trusts the workspace. */
export const trusted = new EventEmitter<undefined>();

export const workspace = {
  isTrusted: true,
  workspaceFolders: [] as { uri: Uri; name: string; index: number }[],
  textDocuments: [] as unknown[],
  getConfiguration: () => ({ get: (name: string) => user.settings.get(name) }),
  onDidChangeConfiguration: (listener: ConfigurationListener) => {
    configurationListeners.add(listener);
    return { dispose: () => configurationListeners.delete(listener) };
  },
  onDidChangeTextDocument: never,
  onDidCloseTextDocument: never,
  getWorkspaceFolder: () => undefined,
  onDidChangeWorkspaceFolders: never,
  onDidGrantWorkspaceTrust: trusted.event,
  openTextDocument: (what: Uri | { content: string }) => {
    if (what instanceof Uri) return Promise.resolve({ uri: what });
    const document = new FakeDocument(what.content);
    workspace.textDocuments.push(document);
    return Promise.resolve(document);
  },
  registerTextDocumentContentProvider(scheme: string, provider: never): Disposable {
    providers.set(scheme, provider);
    return new Disposable(() => providers.delete(scheme));
  },
  /** Watches the job folders of the real disk: any file in them. */
  createFileSystemWatcher({ folder }: RelativePattern) {
    const emitter = new EventEmitter<Uri>();
    const watchers = ["", "results", "rejected", "worker"].flatMap((name) => {
      const path = join(folder.uri.fsPath, ".cognee_jobs", name);
      if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
      return watch(path, (_, file) => file !== null && emitter.fire(Uri.file(join(path, file))));
    });
    return {
      onDidCreate: emitter.event,
      onDidChange: never,
      onDidDelete: never,
      dispose: () => watchers.forEach((each) => each.close()),
    };
  },
};

export const languages = { registerCodeLensProvider: never };

export const chat = { createChatParticipant: () => ({ dispose: () => undefined }) };

export const lm = {
  registerTool: never,
  registerMcpServerDefinitionProvider: never,
  selectChatModels: () => Promise.resolve(user.model === undefined ? [] : [model]),
};

/** The language model of `user.model`; without an answer of it, a request fails. */
export const model = { name: "Fixture", maxInputTokens: 8000, sendRequest };

function sendRequest(messages: { content: string }[]) {
  shown.prompts.push(...messages.map(({ content }) => content));
  if (user.model === undefined) return Promise.reject(new Error("The model is not available."));
  const answer = user.model;
  return Promise.resolve({
    text: (async function* () {
      yield* await Promise.resolve(answer.match(/[\s\S]{1,20}/gu) ?? []);
    })(),
  });
}

export const env = {
  language: "en",
  clipboard: {
    readText: () => Promise.resolve(user.copied),
    writeText: (text: string) => Promise.resolve(void (shown.clipboard = text)),
  },
};

/** The text of a document that was shown. */
export async function textOf(uri: Uri | undefined): Promise<string> {
  const provider = uri && providers.get(uri.scheme);
  if (uri === undefined || provider === undefined) throw new Error("no such document");
  return provider.provideTextDocumentContent(uri, token);
}
