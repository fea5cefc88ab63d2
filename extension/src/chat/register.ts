/** Registers the commands and providers of this folder. */

import * as vscode from "vscode";
import type { Services } from "../services";

export function registerChat(_services: Services): vscode.Disposable {
  return vscode.Disposable.from();
}
