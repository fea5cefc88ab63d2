/** The command “Set Up” as the editor runs it. The programs are shell scripts. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { heartbeatFile } from "../../src/core/layout";
import { StartedWorkers } from "../../src/life/started";
import { Environments } from "../../src/setup/environments";
import { Finder } from "../../src/setup/finder";
import type { Machine } from "../../src/setup/places";
import { SetUp } from "../../src/setup/setup";
import type { ProgramChange, Services } from "../../src/core/services";

const editor = vi.hoisted(() => {
  const state = {
    context: new Map<string, unknown>(),
    messages: [] as string[],
    executed: [] as string[],
    answer: undefined as string | undefined,
    cancel: undefined as (() => void) | undefined,
  };
  const event = () => ({ dispose: () => undefined });
  const vscode = {
    workspace: { isTrusted: true, onDidChangeConfiguration: event, onDidGrantWorkspaceTrust: event },
    window: {
      onDidChangeWindowState: event,
      showInformationMessage: (message: string) => {
        state.messages.push(message);
        return Promise.resolve(state.answer);
      },
      showWarningMessage: (message: string, { detail }: { detail: string }) => {
        state.messages.push(`${message} ${detail}`);
        return Promise.resolve(state.answer);
      },
      withProgress: (_options: unknown, task: (progress: unknown, token: unknown) => Promise<unknown>) =>
        task(
          { report: () => undefined },
          {
            isCancellationRequested: false,
            onCancellationRequested: (listener: () => void) => (state.cancel = listener),
          },
        ),
    },
    commands: {
      executeCommand: (command: string, key?: string, value?: unknown) => {
        if (command === "setContext" && key !== undefined) state.context.set(key, value);
        else state.executed.push(command);
        return Promise.resolve();
      },
    },
    ProgressLocation: { Notification: 15 },
    Disposable: { from: () => ({ dispose: () => undefined }) },
  };
  return { state, vscode };
});
vi.mock("vscode", () => editor.vscode);

let folder = "";
let changes: ProgramChange[];
let setUp: SetUp;
let workers: StartedWorkers;
let services: Services;
let environments: Environments;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setup-"));
  mkdirSync(join(folder, "bin"));
  changes = [];
  Object.assign(editor.state, { messages: [], executed: [], answer: undefined, cancel: undefined });
  editor.state.context.clear();
  editor.vscode.workspace.isTrusted = true;
  const machine: Machine = { platform: "linux", home: folder, environment: { PATH: join(folder, "bin") } };
  environments = new Environments(join(folder, "env"));
  const finder = new Finder(machine, environments, () => "");
  const memory = new Map<string, unknown>();
  services = {
    context: {
      globalState: {
        get: (key: string, otherwise: unknown) => memory.get(key) ?? otherwise,
        update: (key: string, value: unknown) => Promise.resolve(memory.set(key, value)),
      },
    },
    command: () => ({ dispose: () => undefined }),
  } as unknown as Services;
  const changed = { fire: (change: ProgramChange) => changes.push(change) };
  const log = { info: () => undefined, error: (line: string) => editor.state.messages.push(line) };
  workers = new StartedWorkers(join(folder, "workers"));
  setUp = new SetUp(machine, environments, join(folder, "bundle"), finder, changed as never, workers, log as never);
});
afterEach(() => {
  setUp.dispose();
  rmSync(folder, { recursive: true, force: true });
});

function program(path: string, setup: string): void {
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo "version: 0.5.0" && exit\n${setup}\n`, { mode: 0o755 });
}

/** An environment of the extension's own, in use, beside a bundle with the build `b1`. */
async function ownEnvironment(build: string, setup = ""): Promise<void> {
  const bin = join(folder, "env", "a1", "bin");
  mkdirSync(bin, { recursive: true });
  program(join(bin, "cognee-memory"), setup);
  writeFileSync(join(bin, "python"), "#!/bin/sh\n", { mode: 0o755 });
  await environments.complete("a1", build);
  await environments.use("a1");
  mkdirSync(join(folder, "bundle"));
  const bundle = { build: "b1", version: "0.5.0", wheel: "w", lock: "l", packages: 1, modules: [] };
  writeFileSync(join(folder, "bundle", "bundle.json"), JSON.stringify(bundle));
}

describe.skipIf(process.platform === "win32")("Set Up", () => {
  it("has a program that the user installed check its model", async () => {
    program(join(folder, "bin", "cognee-memory"), `echo "$@" > ${folder}/asked`);
    await setUp.setUp(services);
    expect(readFileSync(join(folder, "asked"), "utf8")).toBe("setup --json\n");
    expect(editor.state.context.get("cognee.isSetUp")).toBe(true);
    expect(changes).toEqual(["found"]);
    expect(editor.state.messages).toEqual(["The memory is set up."]);
  });

  it("offers the graph once after its own set-up, and adds it only if it is wanted", async () => {
    await ownEnvironment("b1", `echo "$@" >> ${folder}/asked`);

    await setUp.setUp(services);
    await vi.waitFor(() => expect(editor.state.messages).toHaveLength(1));
    expect(editor.state.messages[0]).toMatch(/^The memory is set up\. .* 360 MB .* 1\.3 GB/);
    expect(editor.state.executed).toEqual([]);
    await setUp.setUp(services);
    await vi.waitFor(() => expect(editor.state.messages[1]).toBe("The memory is set up."));
    expect(existsSync(join(folder, "asked"))).toBe(false);

    changes.length = 0;
    await setUp.addGraph();
    expect(changes, "so that the workers are restarted").toEqual(["installed"]);
    expect(readFileSync(join(folder, "asked"), "utf8")).toBe("setup --graph\n");
    expect(await environments.stock()).toMatchObject({ environments: [{ name: "a1", hasGraph: true }] });
  });

  it("adds the graph after its own set-up if it is wanted", async () => {
    await ownEnvironment("b1");
    editor.state.answer = "Add the Graph";
    await setUp.setUp(services);
    await vi.waitFor(() => expect(editor.state.executed).toEqual(["cognee.addGraph"]));
  });

  it("is undone by Remove the Program, which asks first and says how much it gives back", async () => {
    await ownEnvironment("b1");
    await environments.complete("a1", "former build");
    writeFileSync(join(folder, "env", "a1", "library.so"), Buffer.alloc(2_100_000, 1));
    linkSync(join(folder, "env", "a1", "library.so"), join(folder, "env", "a1", "again.so"));
    writeFileSync(join(folder, "env", "a1", "model"), Buffer.alloc(3_100_000, 1));

    await setUp.removeProgram(services);
    expect(editor.state.messages.pop()).toMatch(/gives back 4 MB\..* memories stay .*“uv cache clean”/su);
    expect(await environments.current(), "nothing was answered").toBe("a1");

    editor.state.answer = "Remove";
    await setUp.removeProgram(services);
    expect(editor.state.messages.pop()).toMatch(/removed, .* 4 MB/);
    expect(existsSync(join(folder, "env", "a1"))).toBe(false);
    expect(editor.state.context.get("cognee.isSetUp")).toBe(false);

    await setUp.removeProgram(services);
    expect(editor.state.messages.pop()).toBe("The extension has installed no program.");
  });

  it("is not undone if that is cancelled while a worker finishes what it runs", async () => {
    await ownEnvironment("b1");
    const busy = spawn("/bin/sh", ["-c", 'trap "" TERM; echo ready; while :; do /bin/sleep 1; done']);
    await once(busy.stdout, "data");
    const workspace = join(folder, "library");
    const beat = { worker_id: "w1", pid: busy.pid, state: "ready", heartbeat_at: new Date().toISOString() };
    mkdirSync(join(workspace, ".cognee_jobs", "worker"), { recursive: true });
    writeFileSync(heartbeatFile(workspace), JSON.stringify(beat));
    workers.note(workspace, "w1");
    editor.state.answer = "Remove";

    const removal = setUp.removeProgram(services);
    await vi.waitFor(() => expect(editor.state.cancel).toBeDefined());
    editor.state.cancel?.();
    await expect(removal).rejects.toMatchObject({ name: "AbortError" });
    expect(await environments.current()).toBe("a1");
    busy.kill("SIGKILL");
  });

  it("runs once, though it is called twice", async () => {
    program(join(folder, "bin", "cognee-memory"), `echo x >> ${folder}/asked`);
    await Promise.all([setUp.setUp(services), setUp.setUp(services)]);
    expect(readFileSync(join(folder, "asked"), "utf8")).toBe("x\n");
  });

  it("says what is missing if the extension carries no program", async () => {
    await expect(setUp.setUp(services)).rejects.toMatchObject({ code: "BUNDLE_MISSING" });
    expect(editor.state.context.get("cognee.isSetUp")).toBeUndefined();
  });

  it("has a code and a remedy for a cancel", async () => {
    program(
      join(folder, "bin", "cognee-memory"),
      `/usr/bin/mkfifo ${folder}/pipe; echo started > ${folder}/asked; /bin/cat ${folder}/pipe`,
    );
    const run = setUp.setUp(services);
    await vi.waitFor(() => expect(existsSync(join(folder, "asked"))).toBe(true));
    editor.state.cancel?.();
    await expect(run).rejects.toMatchObject({ code: "SETUP_CANCELLED", remediation: "To continue, set up again." });
  });

  it("runs nothing in Restricted Mode", async () => {
    program(join(folder, "bin", "cognee-memory"), `echo x > ${folder}/asked`);
    editor.vscode.workspace.isTrusted = false;
    await expect(setUp.setUp(services)).rejects.toMatchObject({ code: "NOT_TRUSTED" });
    expect(existsSync(join(folder, "asked"))).toBe(false);
  });

  it("offers the update of its own environment at activation, and runs it only if it is wanted", async () => {
    await ownEnvironment("former build");
    editor.state.answer = "Update";
    setUp.start(services);
    await vi.waitFor(() => expect(editor.state.executed).toEqual(["cognee.setUp"]));
    expect(editor.state.messages).toEqual([
      "The memory's program can be updated to version 0.5.0. You can go on working meanwhile.",
    ]);
    expect(editor.state.context.get("cognee.isSetUp")).toBe(true);
  });
});
