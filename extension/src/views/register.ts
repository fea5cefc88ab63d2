/** Registers the views, and the commands of their items. */

import * as vscode from "vscode";
import type { Services } from "../services";
import { Changes } from "./changes";
import { HealthTree } from "./health-tree";
import { MemoriesTree } from "./memories-tree";
import { QueueTree } from "./queue-tree";

export function registerViews(services: Services): vscode.Disposable {
  const changes = Changes.of(services);
  const views = [
    new MemoriesTree(services, changes),
    new QueueTree(services, changes),
    new HealthTree(services, changes),
  ];
  return new vscode.Disposable(() => {
    for (const view of views) view.dispose();
  });
}
