/** Registers the search for the program, and its set-up. */

import * as vscode from "vscode";
import { MemoryError } from "../core/error";
import type { Programs, Services } from "../services";

export function registerSetUp(
  _context: vscode.ExtensionContext,
  _log: vscode.LogOutputChannel,
): { readonly programs: Programs; readonly start: (services: Services) => vscode.Disposable } {
  return {
    programs: { find: () => Promise.reject(new MemoryError("PROGRAM_NOT_FOUND", "not set up")) },
    start: () => vscode.Disposable.from(),
  };
}
