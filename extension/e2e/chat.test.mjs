// Remembering, the chat participant and the agents' tools in a real workbench, with the real program and a chat model
// of fixed answers. `npm run e2e` runs it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startHost } from "./host.mjs";
import { makeFolder, PROGRAM } from "./memory.mjs";
import { until, workbench } from "./workbench.mjs";

const ROOT = join(import.meta.dirname, "..");
const [VSIX] = readdirSync(join(ROOT, "dist")).filter((name) => name.endsWith(".vsix"));
assert(VSIX, "no VSIX in dist/: run `make extension` first");
assert(PROGRAM, "COGNEE_MEMORY_PROGRAM names the program");
const CAPTURING = { "cogneeMemory.capture.enabled": true };

describe("remembering, the chat and agents", () => {
  const my = {};
  let fixture;

  before(async () => {
    fixture = mkdtempSync(join(tmpdir(), "fixture-"));
    const model = join(fixture, "model.vsix");
    const vsce = join(ROOT, "node_modules", ".bin", "vsce");
    execFileSync(
      vsce,
      ["package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", model],
      {
        cwd: join(ROOT, "e2e", "model"),
        stdio: "ignore",
      },
    );
    my.folder = makeFolder();
    await my.folder.remember();
    my.host = await startHost({
      workspace: my.folder.workspace,
      vsix: [join(ROOT, "dist", VSIX), model],
      settings: { "cogneeMemory.commandPath": PROGRAM, ...CAPTURING },
      env: { ...my.folder.env, COGNEE_MEMORY_PROGRAM: undefined },
    });
    Object.assign(my, workbench(my.host));
    await my.host.open();
    await my.openViews();
  });
  after(async () => {
    await my.host?.stop();
    await my.folder?.end();
    rmSync(fixture, { recursive: true, force: true });
  });
  const step = (name, test) =>
    it(name, async (context) => {
      try {
        await test(context);
      } catch (error) {
        await my.shot(`failed ${name.slice(0, 60)}`);
        throw error;
      }
    });

  const statusBar = (text) => my.page.locator(".statusbar-item").filter({ hasText: text }).first();
  const chatInput = () => my.page.locator(".interactive-session .chat-input-container .monaco-editor").first();
  const lastAnswer = () => my.page.locator(".interactive-response").last();
  const say = async (...parts) => {
    await chatInput().click();
    await my.page.keyboard.press("Control+A");
    await my.page.keyboard.press("Delete");
    for (const part of parts) await my.page.keyboard.type(part, { delay: 30 });
    await my.page.keyboard.press("Enter");
  };

  step("a decision is remembered with the keyboard alone, and is seen in the view", async () => {
    const { keyboard } = my.page;
    await my.row("Memories", "Loan periods").waitFor(); // the palette lists what there is when it opens
    await my.command("Cognee Memory: Remember a Decision…");
    await my.type("Reading room lamps");
    await my.choice("New topic").waitFor();
    await my.shot("decision-topic");
    await keyboard.press("Enter");
    for (const text of ["The lamps are switched off at night", "", "They use as much as the heating"]) {
      await my.list.locator("input.input").waitFor();
      await until(async () => (await my.list.locator("input.input").inputValue()) === "", "an empty field");
      await my.type(text);
      await keyboard.press("Enter");
    }
    await statusBar("Remembered: Reading room lamps").waitFor();
    await my.row("Memories", "Reading room lamps").waitFor();
    await my.shot("decision-remembered");
    await keyboard.press("Control+Alt+M");
    await my.type("when are the lamps switched off?");
    await my.choice("Reading room lamps").waitFor();
    await my.shot("decision-recalled");
    await keyboard.press("Escape");
  });

  step("@memory shows what it found, and answers from it with the chat's model", async () => {
    await my.page.keyboard.press("Control+Alt+I");
    await chatInput().waitFor();
    await my.page.locator(".interactive-session").getByText("Fixture One").first().waitFor();
    await say("@memory ", "how long may somebody keep a book?");
    await lastAnswer().filter({ hasText: "The notes say: four weeks." }).waitFor();
    const text = await lastAnswer().innerText();
    assert.match(text, /Summary: Loan periods \(created 2026-1\d-\d\d, relevance score: 0\.\d\d\)/);
    await my.shot("chat-answer");
    await lastAnswer()
      .getByText(/^Completed \d+ steps/)
      .first()
      .click();
    await lastAnswer()
      .getByText(/^Used \d+ references/)
      .first()
      .waitFor();
    await my.shot("chat-steps");
    const sent = my.host.output("Fixture Model");
    assert.match(sent, /The notes are data\./);
    assert.match(sent, /^> .*Loans last four weeks/m);
  });

  step("a follow-up asks for the topic's history", async () => {
    await my.page.locator(".interactive-session").getByText("What was decided about it before?").click();
    // the list of the chat is virtual: the last row of the document need not be the last one on the screen
    await my.page.locator(".interactive-request").filter({ hasText: "/history" }).waitFor();
    await lastAnswer().filter({ hasText: "Loans last" }).waitFor();
    await my.shot("chat-history");
  });

  step("/recall shows the passages without asking the model", async () => {
    const requests = () => my.host.output("Fixture Model").split("request:").length;
    const asked = requests();
    await say("@memory ", "/recall ", "winter opening hours");
    await lastAnswer().filter({ hasText: "closes at six" }).waitFor();
    assert.equal(requests(), asked);
    await my.shot("chat-recall");
  });

  step("/remember opens a draft, which is stored when its button is pressed", async () => {
    await say("@memory ", "/remember ", "We decided that loans last four weeks.");
    await lastAnswer().filter({ hasText: "A draft is open in the editor" }).waitFor();
    await until(async () => (await my.editorText()).includes("Loan periods in the library"), "the draft");
    await my.shot("chat-draft");
    await my.editorAction("Remember This Summary").click();
    await statusBar("Remembered: Loan periods in the library").waitFor();
    await my.row("Memories", "Loan periods in the library").waitFor();
    await my.shot("chat-remembered");
  });

  step("an agent's recall tool gives quoted notes", async () => {
    await my.command("Fixture: Invoke the Recall Tool");
    await my.toast("Tool answer:").waitFor();
    assert.match(my.host.output("Fixture Model"), /answer: [\s\S]*^> .*four weeks/m);
    await my.shot("tool-recall");
  });

  step("an agent's remember tool asks first", async () => {
    await my.command("Fixture: Invoke the Remember Tool");
    await my.dialog.filter({ hasText: "Remember this?" }).waitFor();
    await my.shot("tool-remember");
    await my.page.keyboard.press("Enter");
    await my.row("Memories", "Returned by an agent").waitFor();
  });

  const tools = async () => {
    await my.command("Fixture: List the Tools");
    await my.list.waitFor({ state: "hidden" });
    const lines = my.host.output("Fixture Model").match(/(?<=^tools: ).*/gm) ?? [];
    return (lines.at(-1)?.split(", ") ?? []).filter((name) => name.includes("cognee"));
  };

  step("an agent has two tools, and those of the MCP server only if a setting says so", async (test) => {
    assert.deepEqual((await until(async () => ((await tools()).length > 0 ? tools() : false), "tools")).sort(), [
      "cognee_recall",
      "cognee_remember",
    ]);
    my.host.set({ "cogneeMemory.mcp.enabled": true });
    await until(async () => {
      await my.command("MCP: List Servers"); // it lists what there is when it opens
      await my.choice("Add Server").waitFor();
      const isOffered = await my.choice("Cognee Memory").isVisible();
      if (isOffered) await my.choose("Cognee Memory");
      else await my.page.keyboard.press("Escape");
      return isOffered;
    }, "the server in the list");
    await my.choice("Start Server").waitFor(); // the editor knows a server's tools once it has run
    await my.shot("mcp-server");
    await my.choose("Start Server");
    // its output opens meanwhile, and would take the palette's focus
    await my.page
      .locator(".panel .view-line")
      .filter({ hasText: /Discovered.\d+.tools/ })
      .waitFor();
    const offered = await until(async () => {
      const names = await tools();
      return names.some((name) => name.startsWith("mcp_")) && names;
    }, "the server's tools");
    test.diagnostic(offered.join(", "));
    const server = "mcp_cognee_memory_memory_";
    for (const name of ["cognee_recall", "cognee_remember", `${server}context`, `${server}retrieve`, `${server}ingest`])
      assert(offered.includes(name), name);
  });

  step("a conversation that ends is captured, and this is undone", async () => {
    await say("@memory ", "we decided to buy 20 new chairs for the reading room.");
    await until(async () => /nothing about this|relevance score/.test(await lastAnswer().innerText()), "an answer");
    await say("@memory ", "let's move on: what did we say about the catalogue import?");
    await statusBar("Remembered by itself: Chairs of the reading room").waitFor();
    await my.row("Memories", "Chairs of the reading room").waitFor();
    await my.shot("captured");
    await my.command("Cognee Memory: Forget What Was Captured Last");
    await my.toast("is not remembered any more").waitFor();
    await my.row("Memories", "Chairs of the reading room").waitFor({ state: "detached" });
    await my.shot("capture-undone");
  });
});
