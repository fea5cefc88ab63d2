// Prints the milliseconds that loading a bundle takes, and its activation until it returns, with an editor that does
// nothing. Run by `python -m benchmarks.extension`.
const { performance } = require("node:perf_hooks");
const Module = require("node:module");

const nothing = new Proxy(function () {}, {
  set: () => true,
  get: (_, key) =>
    key === "prototype" ? {} : key === Symbol.toPrimitive ? () => "" : key === "then" ? undefined : nothing,
  apply: () => nothing,
  construct: () => ({ event: nothing, dispose: nothing, subscriptions: [] }),
});
const NAMES =
  "CancellationError CancellationTokenSource ChatRequestTurn ChatResponseMarkdownPart CodeLens Disposable EventEmitter " +
  "LanguageModelChatMessage LanguageModelTextPart LanguageModelToolResult MarkdownString McpStdioServerDefinition " +
  "ProgressLocation QuickPickItemKind Range RelativePattern StatusBarAlignment ThemeColor ThemeIcon TreeItem " +
  "TreeItemCollapsibleState Uri";
const PARTS = ["chat", "commands", "env", "l10n", "languages", "lm", "window", "workspace"];
const editor = Object.fromEntries([...NAMES.split(" "), ...PARTS].map((name) => [name, nothing]));
editor.workspace = { workspaceFolders: [], getConfiguration: () => ({ get: (_, preset) => preset }) };
editor.workspace = new Proxy(editor.workspace, { get: (own, key) => own[key] ?? nothing });
const context = { subscriptions: [], asAbsolutePath: () => "/", globalStorageUri: nothing, extensionUri: nothing };
const state = { get: (_, preset) => preset, update: () => Promise.resolve() };
Object.assign(context, { globalState: state, workspaceState: state });

// What the extension host has loaded itself.
for (const name of [
  "child_process",
  "crypto",
  "fs",
  "fs/promises",
  "http",
  "net",
  "os",
  "path",
  "readline",
  "timers/promises",
  "url",
])
  require(`node:${name}`);
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? editor : load(name, ...rest));
const began = performance.now();
const extension = require(process.argv[2]);
const loaded = performance.now();
try {
  extension.activate(context);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
console.log(JSON.stringify({ load: loaded - began, activate: performance.now() - loaded }));
process.exit();
