import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Changes } from "../../src/core/changes";
import { describe as text } from "../../src/core/error";
import { heartbeatFile } from "../../src/core/layout";
import { Memory } from "../../src/core/memory";
import { Guard } from "../../src/life/guard";
import type { Services } from "../../src/core/services";
import { EventEmitter, Uri, workspace } from "../vscode";

/** No process has this id: it is beyond what systems give. */
const GONE = 2 ** 30;
const folder = mkdtempSync(join(tmpdir(), "guard-"));
const events = new EventEmitter<Uri>();
let guard: Guard;
let changes: Changes;
let woken: number;
let told: string[];

const beat = (state: string, pid: number, queued = 0): void => {
  const counts = { queued, running: 0, retrying: 0 };
  writeFileSync(
    heartbeatFile(folder),
    JSON.stringify({ state, pid, counts, heartbeat_at: new Date().toISOString(), version: "0.4.0" }),
  );
  events.fire(Uri.file(heartbeatFile(folder)));
};
/** What reads the disk answers in real time. */
const quiet = async (): Promise<void> => {
  await vi.advanceTimersByTimeAsync(6000);
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
};

beforeEach(() => {
  mkdirSync(dirname(heartbeatFile(folder)), { recursive: true });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  vi.spyOn(workspace, "createFileSystemWatcher").mockReturnValue({
    onDidCreate: events.event,
    onDidChange: events.event,
    onDidDelete: events.event,
    dispose: () => undefined,
  } as never);
  [woken, told] = [0, []];
  const memory = new Memory(folder, () => Promise.reject(new Error("not used")));
  const folders = () => [{ uri: Uri.file(folder) }] as never[];
  changes = new Changes(folders);
  const services = {
    log: { warn: () => undefined },
    folders,
    changes,
    memoryOf: () => memory,
  } as unknown as Services;
  guard = new Guard(
    services,
    () => {
      woken++;
    },
    (_, error) => void told.push(text(error)),
  );
});
afterEach(() => {
  guard.dispose();
  changes.dispose();
  vi.useRealTimers();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

it("has a worker started if the last one was killed and left jobs", async () => {
  beat("ready", GONE, 1);
  await quiet();
  await vi.waitFor(() => expect(woken).toBe(1));
});

it("has none started without work, nor after a worker that was stopped, nor beside one that is only late", async () => {
  for (const [state, pid, queued] of [
    ["ready", GONE, 0],
    ["stopped", GONE, 1],
    ["ready", process.pid, 1],
  ] as const) {
    beat(state, pid, queued);
    await quiet();
    await quiet();
    expect(woken).toBe(0);
  }
  beat("ready", GONE, 1);
  await quiet();
  await vi.waitFor(() => expect(woken).toBeGreaterThan(0));
});

it("stops after the third in a short time, and says what to do", async () => {
  for (let killed = 1; killed <= 5; killed++) {
    beat("ready", GONE, 1);
    await quiet();
    await vi.waitFor(() => expect(woken + told.length).toBe(killed));
  }
  expect(woken).toBe(3);
  expect(told[0]).toContain("was killed 4 times in a short time. Its jobs are kept. Run");
  vi.setSystemTime(Date.now() + 11 * 60_000);
  beat("ready", GONE, 1);
  await quiet();
  await vi.waitFor(() => expect(woken).toBe(4));
});
