import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as vscode from "vscode";
import { expect, it, vi } from "vitest";
import { Changes } from "../../src/core/changes";
import { Uri, workspace } from "../vscode";

it("tells once that a folder has gone, and that it is back", () => {
  vi.useFakeTimers();
  workspace.isTrusted = false; // no file of it is watched
  const path = mkdtempSync(join(tmpdir(), "changes-"));
  const folder = { uri: Uri.file(path), name: "ws", index: 0 } as unknown as vscode.WorkspaceFolder;
  const changes = new Changes(() => [folder]);
  const told: string[] = [];
  changes.onDidChange(({ what }) => told.push(what));
  const places = [path, `${path} of today`, path] as const;
  for (const [at, place] of places.entries()) {
    if (at > 0) renameSync(places[at - 1] ?? "", place);
    vi.advanceTimersByTime(20_000);
    expect(told).toEqual(Array(at).fill("folder"));
  }
  changes.dispose();
  rmSync(path, { recursive: true });
});
