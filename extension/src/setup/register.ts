/** Registers the search for the program, and its set-up. */

import { homedir } from "node:os";
import * as vscode from "vscode";
import type { StartedWorkers } from "../life/started";
import { SECTION, type ProgramChange, type Programs, type Services } from "../services";
import { Environments } from "./environments";
import { Finder, type VersionCache } from "./finder";
import type { Machine } from "./places";
import { SetUp } from "./setup";

const VERSIONS = "program.versions";

/** Adds the parts that need `services`, which in turn need `programs`. */
export function registerSetUp(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  workers: StartedWorkers,
): { readonly programs: Programs; readonly start: (services: Services) => vscode.Disposable } {
  const machine: Machine = { platform: process.platform, home: homedir(), environment: process.env };
  const environments = new Environments(vscode.Uri.joinPath(context.globalStorageUri, "env").fsPath);
  const setting = (): string => vscode.workspace.getConfiguration(SECTION).get<string>("commandPath", "").trim();
  const finder = new Finder(machine, environments, setting, versionCache(context.globalState));
  const changed = new vscode.EventEmitter<ProgramChange>();
  const bundleFolder = context.asAbsolutePath("dist/python");
  const setUp = new SetUp(machine, environments, bundleFolder, finder, changed, workers, log);
  return {
    programs: { find: () => finder.find(), onDidChange: changed.event },
    start: (services) => vscode.Disposable.from(changed, setUp, setUp.start(services)),
  };
}

/** Versions of programs by path, in the editor's own storage. */
function versionCache(state: vscode.Memento): VersionCache {
  type Known = NonNullable<ReturnType<VersionCache["get"]>>;
  const known = (): Record<string, Known> => state.get<Record<string, Known>>(VERSIONS, {});
  return {
    get: (path) => known()[path],
    set: (path, value) => void state.update(VERSIONS, { ...known(), [path]: value }),
  };
}
