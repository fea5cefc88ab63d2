/** Registers automatic capture and its undo. */

import type * as vscode from "vscode";
import type { Services } from "../services";
import { Capture } from "./capture";

export function registerCapture(services: Services): vscode.Disposable {
  Capture.of(services);
  return services.command("cognee.undoCapture", async () => (await import("./undo")).undoCapture(services));
}
