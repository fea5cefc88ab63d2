/** A temporary workspace with the real program, for tests of the parts together. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as vscode from "vscode";
import type { Memory } from "../../src/core/memory";
import { type Programs, Services } from "../../src/core/services";
import { compose, type Parts } from "../../src/extension";
import { Workers } from "../../src/life/workers";
import { Uri, workspace } from "../vscode";

/** The program to test with; without it, these tests are skipped. */
export const PROGRAM = process.env["COGNEE_MEMORY_PROGRAM"] ?? "";

export interface Session extends Parts {
  readonly services: Services;
  readonly memory: Memory;
  readonly root: string;
  readonly folder: string;
  readonly log: string[];
  end(): Promise<void>;
}

export interface Options {
  readonly program?: string;
  /** Workers are started as in the editor: when they are needed. Else the test starts them, and knows whether one lives. */
  readonly hasLife?: boolean;
  /** The root of another session, whose folder this window opens too. */
  readonly beside?: string;
  /** Is called with the root before anything is watched in it. */
  readonly prepare?: (root: string) => void;
}

/** Opens a temporary folder as the only one of the window, with recall, views and operations registered. */
export function session({ program = PROGRAM, hasLife = false, beside, prepare }: Options = {}): Session {
  const root = beside ?? realpathSync(mkdtempSync(join(tmpdir(), "cognee memory ")));
  prepare?.(root);
  process.env["COGNEE_MEMORY_CONFIG_DIR"] = join(root, "config");
  const log: string[] = [];
  const note = (text: string): void => void log.push(text);
  const subscriptions: { dispose(): void }[] = [];
  const state = new Map<string, unknown>();
  const context = {
    subscriptions,
    globalStorageUri: Uri.file(join(root, "global")),
    workspaceState: {
      get: (key: string) => state.get(key),
      update: (key: string, value: unknown) => Promise.resolve(void state.set(key, value)),
    },
  } as unknown as vscode.ExtensionContext;
  const channel = {
    info: note,
    warn: note,
    error: note,
    debug: note,
    show: note,
    logLevel: 3,
  } as unknown as vscode.LogOutputChannel;
  const programs = {
    find: () => Promise.resolve({ path: program, version: "0.5.0" }),
    onDidChange: () => ({ dispose: () => undefined }),
  } as unknown as Programs;
  const folder = join(root, "ws");
  workspace.workspaceFolders = [{ uri: Uri.file(folder), name: "ws", index: 0 }];
  const services = new Services(context, channel, programs);
  if (hasLife) subscriptions.push(new Workers(services).begin());
  const parts = compose(services);
  const memory = services.memoryOf(workspace.workspaceFolders[0] as unknown as vscode.WorkspaceFolder);
  return {
    services,
    ...parts,
    memory,
    root,
    folder,
    log,
    end: async () => {
      for (const each of subscriptions) each.dispose();
      if (beside !== undefined) return; // the other session ends the worker
      await memory.command(["worker", "stop"], [], AbortSignal.timeout(60_000)).catch(() => undefined);
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
