/** Registers the status bar, and the list behind it. */

import type * as vscode from "vscode";
import type { Services } from "../services";
import { StatusBar } from "./bar";

export function registerStatus(services: Services): vscode.Disposable {
  StatusBar.of(services);
  return services.command("cognee.showStatus", async () => (await import("./menu")).showStatus(services));
}
