/** Registers the commands of this folder, and starts workers when they are needed. */

import * as vscode from "vscode";
import { describe } from "../core/error";
import type { Memory } from "../core/memory";
import type { Services } from "../services";
import { openPage, startWorker, stopWorker, trust } from "./commands";
import { Workers } from "./workers";

/** `wake` does nothing before `start`, which needs the services. */
export function registerLife(): {
  readonly wake: (memory: Memory) => void;
  readonly start: (services: Services) => vscode.Disposable;
} {
  let workers: Workers | undefined;
  const start = (services: Services): vscode.Disposable => {
    const started = new Workers(services);
    workers = started;
    const inBackground = (work: Promise<void>): void =>
      void work.catch((error: unknown) => services.log.error(describe(error)));
    inBackground(started.lookAtAll());
    return vscode.Disposable.from(
      started,
      services.programs.onDidChange((change) =>
        inBackground(change === "installed" ? started.restartAll() : started.lookAtAll()),
      ),
      vscode.workspace.onDidGrantWorkspaceTrust(() => inBackground(started.lookAtAll())),
      vscode.workspace.onDidChangeWorkspaceFolders(() => inBackground(started.lookAtAll())),
      services.command("cognee.startWorker", () => startWorker(services)),
      services.command("cognee.stopWorker", () => stopWorker(services)),
      services.command("cognee.trust", () => trust(services)),
      services.command("cognee.openPage", () => openPage(services)),
    );
  };
  return { wake: (memory) => workers?.wake(memory), start };
}
