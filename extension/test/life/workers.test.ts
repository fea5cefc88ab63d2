/** Workers of the real program, started by what the extension does in a folder. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { describe as text } from "../../src/core/error";
import { livingWorker } from "../../src/core/heartbeat";
import { Memory } from "../../src/core/memory";
import { ended } from "../../src/core/records";
import { StartedWorkers } from "../../src/life/started";
import { Workers } from "../../src/life/workers";
import type { Services } from "../../src/core/services";
import { Uri, workspace as editor } from "../vscode";

const path = process.env["COGNEE_MEMORY_PROGRAM"] ?? "";
const signal = AbortSignal.timeout(120_000);

let workspace = "";
let workers: Workers;
let memory: Memory;
let shown: string[];
let starts: number;
const find = () => {
  starts += 1;
  return Promise.resolve({ path, version: "0.5.0" });
};

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "life-"));
  vi.stubEnv("COGNEE_MEMORY_CONFIG_DIR", join(workspace, "config"));
  editor.isTrusted = true;
  [shown, starts] = [[], 0];
  memory = new Memory(workspace, find, (used) => workers.wake(used));
  workers = new Workers({
    log: { info: () => undefined, error: () => undefined },
    changes: { onDidChange: () => ({ dispose: () => undefined }) },
    folders: () => [{ uri: Uri.file(workspace) }],
    memoryOf: () => memory,
    programs: { find: () => Promise.resolve({ path, version: "0.5.0" }) },
    show: (error: unknown) => Promise.resolve(void shown.push(text(error))),
  } as unknown as Services);
});
afterEach(async () => {
  if (livingWorker(workspace) !== null) await memory.command(["worker", "stop"], [], signal);
  workers.dispose();
  editor.isTrusted = true;
  rmSync(workspace, { recursive: true, force: true });
});

describe.skipIf(path === "")("workers, with COGNEE_MEMORY_PROGRAM", () => {
  it("start once when jobs are dropped, and run them", { timeout: 120_000 }, async () => {
    await memory.startWorker(signal);
    await memory.command(["worker", "stop"], [], signal);
    starts = 0;
    const ids = await Promise.all([1, 2, 3].map(() => memory.drop({ kind: "check", payload: {} })));
    const records = await Promise.all(ids.map((id) => ended(workspace, id, signal)));
    expect(records.map((record) => record.state)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(starts).toBe(1);
  });

  it("start for jobs that have waited since the editor was closed", { timeout: 120_000 }, async () => {
    await memory.startWorker(signal);
    await memory.command(["worker", "stop"], [], signal);
    const job = { schema_version: 1, job_id: "waited", kind: "check", payload: {} };
    writeFileSync(join(workspace, ".cognee_jobs", "waited.json"), JSON.stringify(job));
    await workers.lookAtAll();
    expect((await ended(workspace, "waited", signal)).state).toBe("succeeded");
  });

  it("say once that a folder is not trusted", { timeout: 120_000 }, async () => {
    mkdirSync(join(workspace, ".cognee_memory"));
    writeFileSync(join(workspace, ".cognee_memory", "memory.db"), "somebody's");
    await vi.waitFor(() => {
      workers.wake(memory);
      expect(shown).toHaveLength(1);
    }, 60_000);
    // The third start begins only when the second has failed.
    await vi.waitFor(() => {
      workers.wake(memory);
      expect(starts).toBe(3);
    }, 60_000);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatch(/trust/i);
  });

  it("are replaced when the program was installed again", { timeout: 120_000 }, async () => {
    await memory.startWorker(signal);
    const former = livingWorker(workspace)?.pid;
    await workers.restartAll();
    const pid = livingWorker(workspace)?.pid;
    expect(pid).toBeTypeOf("number");
    expect(pid).not.toBe(former);
    expect(shown).toEqual([]);
  });

  it(
    "that the extension started end with it, wherever its storage is, and no others",
    { timeout: 120_000 },
    async () => {
      const extension = join(workspace, "extension");
      mkdirSync(extension);
      const noted = new StartedWorkers(join(workspace, "storage"));
      await noted.tellUninstall(extension);
      const own = new Memory(workspace, find, undefined, (folder, id) => noted.note(folder, id));
      await own.startWorker(signal);
      await own.restartWorker(signal); // the one that counts from now on
      const other = new Memory(join(workspace, "other"), find);
      mkdirSync(other.workspace);
      await other.startWorker(signal);
      noted.note(other.workspace, "one that ended before");

      expect(await (await StartedWorkers.leftIn(extension)).stop(signal)).toEqual([]);
      expect(livingWorker(workspace)).toBeNull();
      expect(livingWorker(other.workspace)).not.toBeNull();
      await other.command(["worker", "stop"], [], signal);
    },
  );

  it("are not started in Restricted Mode", async () => {
    editor.isTrusted = false;
    mkdirSync(join(workspace, ".cognee_jobs"), { recursive: true });
    writeFileSync(join(workspace, ".cognee_jobs", "cloned.json"), "{}");
    await workers.lookAtAll();
    await workers.restartAll();
    workers.wake(memory);
    expect(starts).toBe(0);
  });
});
