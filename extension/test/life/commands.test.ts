/** The commands of a folder's worker, trust and page, with the real program. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { livingWorker } from "../../src/core/heartbeat";
import { Memory } from "../../src/core/memory";
import { openPage, startWorker, stopWorker, trust } from "../../src/life/commands";
import type { Services } from "../../src/core/services";

const editor = vi.hoisted(() => {
  const state = {
    said: [] as string[],
    question: "",
    answer: undefined as string | undefined,
    opened: [] as unknown[],
  };
  const vscode = {
    window: {
      showInformationMessage: (message: string) => void state.said.push(message),
      showWarningMessage: (message: string, options: { modal: boolean; detail: string }) => {
        state.question = `${String(options.modal)} ${message} ${options.detail}`;
        return Promise.resolve(state.answer);
      },
      withProgress: (_options: unknown, task: (progress: unknown, token: unknown) => unknown) =>
        task({}, { isCancellationRequested: false, onCancellationRequested: () => undefined }),
    },
    env: {
      remoteName: "ssh-remote",
      uiKind: 1,
      asExternalUri: (uri: unknown) => Promise.resolve(uri),
      openExternal: (address: unknown) => Promise.resolve(state.opened.push(address)),
    },
    Uri: { parse: (text: string) => ({ toString: () => text }) },
    UIKind: { Web: 2 },
    ProgressLocation: { Notification: 15 },
  };
  return { state, vscode };
});
vi.mock("vscode", () => editor.vscode);

const path = process.env["COGNEE_MEMORY_PROGRAM"] ?? "";
const signal = AbortSignal.timeout(120_000);
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "commands-"));
  vi.stubEnv("COGNEE_MEMORY_CONFIG_DIR", join(folder, "config"));
  Object.assign(editor.state, { said: [], question: "", answer: undefined, opened: [] });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function memoryIn(name: string): { memory: Memory; services: Services } {
  const memory = new Memory(join(folder, name), () => Promise.resolve({ path, version: "0.4.0" }));
  const services = { folder: () => Promise.resolve({}), memoryOf: () => memory } as unknown as Services;
  return { memory, services };
}

describe.skipIf(path === "")("commands, with COGNEE_MEMORY_PROGRAM", () => {
  it("start and stop a worker, and open the page with its ticket as it is", { timeout: 120_000 }, async () => {
    mkdirSync(join(folder, "a"));
    const { memory, services } = memoryIn("a");
    await startWorker(services);
    expect(livingWorker(memory.workspace)).not.toBeNull();
    await startWorker(services);
    await openPage(services);
    expect(editor.state.opened).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#ticket=[\w.-]+$/)]);
    await stopWorker(services);
    expect(livingWorker(memory.workspace)).toBeNull();
    await expect(stopWorker(services)).rejects.toThrow("No worker is running.");
    expect(editor.state.said).toEqual([
      "The worker is running.",
      "A worker is running already.",
      "The worker has stopped. The next drop or question starts one.",
    ]);
  });

  it("trust a folder that came from elsewhere only after a question", { timeout: 120_000 }, async () => {
    mkdirSync(join(folder, "b", ".cognee_memory"), { recursive: true });
    writeFileSync(join(folder, "b", ".cognee_memory", "memory.db"), "somebody's");
    const { memory, services } = memoryIn("b");
    await expect(memory.startWorker(signal)).rejects.toMatchObject({ code: "WORKSPACE_NOT_TRUSTED" });

    await trust(services);
    expect(editor.state.question).toMatch(/^true Are the memories and settings in this folder yours\? .*\/b\n/);
    await expect(memory.startWorker(signal)).rejects.toMatchObject({ code: "WORKSPACE_NOT_TRUSTED" });

    editor.state.answer = "They Are Mine";
    await trust(services);
    expect(editor.state.said).toEqual(["This folder's memory is trusted."]);
    await memory.startWorker(signal);
    await memory.command(["worker", "stop"], [], signal);
  });
});
