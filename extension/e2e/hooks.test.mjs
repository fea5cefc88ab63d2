// The hooks of VS Code's own agent in a real workbench: a session is captured, and the next one begins with notes.
// GitHub Copilot, which is part of code-server, runs them with a chat model of fixed answers, without an account.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startHost } from "./host.mjs";
import { makeFolder, PROGRAM } from "./memory.mjs";
import { until, workbench } from "./workbench.mjs";

const ROOT = join(import.meta.dirname, "..");
assert(PROGRAM, "COGNEE_MEMORY_PROGRAM names the program");
const CACHE = process.env.COGNEE_MEMORY_CACHE_DIR ?? join(homedir(), ".cache", "cognee-memory");
const SAID = "We decided that books of the reading room may be kept for four weeks.";
const NOTES = "# Notes from earlier sessions";

describe("hooks of VS Code's agent", () => {
  const my = {};
  let home;
  let ours;

  before(async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), "hooks-")));
    ours = join(home, ".copilot", "hooks", "cognee-memory.json");
    const model = join(home, "model.vsix");
    const vsce = join(ROOT, "node_modules", ".bin", "vsce");
    execFileSync(
      vsce,
      ["package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", model],
      { cwd: join(ROOT, "e2e", "model"), stdio: "ignore" },
    );
    const userData = join(home, ".local", "share", "code-server"); // where capture looks for code-server's sessions
    mkdirSync(userData, { recursive: true });
    const moved = { XDG_DATA_HOME: undefined, XDG_CONFIG_HOME: undefined, VSCODE_PORTABLE: undefined };
    my.folder = makeFolder({ HOME: home, COGNEE_MEMORY_CACHE_DIR: CACHE, ...moved });
    await my.folder.program("capture", "install", "vscode", "--yes");
    my.host = await startHost({
      workspace: my.folder.workspace,
      vsix: [model],
      settings: { "chat.allowAnonymousAccess": true }, // else the agent asks for an account, whatever the model
      env: my.folder.env,
      userData,
    });
    Object.assign(my, workbench(my.host));
    await my.host.open();
  });
  after(async () => {
    await my.host?.stop();
    await my.folder?.end();
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  const log = () => {
    const file = join(my.folder.env.COGNEE_MEMORY_CONFIG_DIR, "hooks.log");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  };
  const asked = () => my.host.output("Fixture Model");
  const say = async (text) => {
    const input = my.page.locator(".interactive-session .chat-input-container .monaco-editor").first();
    await input.click();
    await my.page.keyboard.type(text, { delay: 10 });
    await my.page.keyboard.press("Enter");
    await my.page.locator(".interactive-response").last().filter({ hasText: "four weeks" }).waitFor();
  };

  it("a session drops a job, and is captured", async () => {
    await say(SAID);
    await until(() => /vscode: Stop: the job \S+ was dropped/.test(log()), "the job to be dropped");
    assert.match(log(), /vscode: SessionStart: there is nothing to recall/);
    const session = await until(async () => {
      await my.folder.program("capture", "run", "--tool", "vscode"); // the job itself waits for half an hour
      const { sessions } = await my.folder.program("capture", "list");
      return sessions.find((each) => each.memories > 0 || each.memories?.length > 0);
    }, "the session to be captured");
    assert.equal(session.tool, "vscode");
  });

  it("the next session begins with notes of it", async () => {
    await my.page.locator('.part.auxiliarybar .action-label[aria-label^="New Chat"]').first().click();
    await my.page.locator(".interactive-response").first().waitFor({ state: "detached" });
    const before = asked().length;
    await say("What did we say about readers?");
    const request = asked().slice(before);
    assert(request.includes(NOTES), log());
    assert(request.split(NOTES)[1].includes("reading room"));
    assert.match(log(), /vscode: SessionStart: printed: 1 note\./);
  });

  it("the notes are not captured, and our file is removed", async () => {
    const preview = await until(async () => {
      const shown = JSON.stringify(await my.folder.program("capture", "preview", "--tool", "vscode", "--text"));
      return shown.includes("What did we say") && shown; // VS Code writes a session a while after its answer
    }, "the second session to be written");
    assert(!preview.includes("Notes from earlier"), preview);
    assert(existsSync(ours));
    await my.folder.program("capture", "uninstall", "vscode");
    assert(!existsSync(ours));
  });
});
