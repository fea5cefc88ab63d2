// The views, lists and documents for people who use a screen reader or no mouse, in a real workbench with the real
// program: axe-core's rules for what the extension shows, and a run by the keyboard alone. `npm run e2e` runs it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startHost } from "./host.mjs";
import { makeFolder, PROGRAM } from "./memory.mjs";
import { until, workbench } from "./workbench.mjs";

const ROOT = join(import.meta.dirname, "..");
const [VSIX] = readdirSync(join(ROOT, "dist")).filter((name) => name.endsWith(".vsix"));
assert(VSIX, "no VSIX in dist/: run `make extension` first");
assert(PROGRAM, "COGNEE_MEMORY_PROGRAM names the program");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * What the editor's own rows and steps break, those of its own lists too: it puts levels on options and buttons into
 * them, and a row's label and description are in spans without a space between them.
 */
const OF_THE_EDITOR = ["aria-allowed-attr", "nested-interactive", "label-content-name-mismatch"];

/** What breaks a rule inside an element: the rule, and the beginning of the element's source. */
async function violations(frame, selector, except = []) {
  await frame.evaluate(AXE);
  const asked = { include: selector, rules: Object.fromEntries(except.map((id) => [id, { enabled: false }])) };
  return frame.evaluate(async ({ include, rules }) => {
    const found = await window.axe.run({ include: [include] }, { resultTypes: ["violations"], rules });
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 300)} ${failureSummary}`),
    );
  }, asked);
}

/** The same of a rendered document, in a page beside it: no script runs in a document, and axe-core needs its timers. */
async function violationsOfDocument({ page, rendered }, text) {
  const html = await (await rendered(text)).content();
  const beside = await page.context().newPage();
  try {
    await beside.setContent(html);
    return await violations(beside, "body");
  } finally {
    await beside.close();
  }
}

function opened() {
  const my = {};
  before(async () => {
    my.folder = makeFolder();
    await my.folder.remember();
    my.host = await startHost({
      workspace: my.folder.workspace,
      vsix: [join(ROOT, "dist", VSIX)],
      settings: { "cogneeMemory.commandPath": PROGRAM },
      env: { ...my.folder.env, COGNEE_MEMORY_PROGRAM: undefined },
    });
    Object.assign(my, workbench(my.host));
    await my.page.addInitScript(() => {
      window.clicks = 0;
      window.addEventListener("mousedown", () => window.clicks++, true);
    });
    await my.host.open();
  });
  after(async () => {
    await my.host?.stop();
    await my.folder?.end();
  });
  my.it = (name, test) =>
    it(name, async (context) => {
      try {
        await test(context);
      } catch (error) {
        await my.shot(`failed ${name.slice(0, 60)}`);
        throw error;
      }
    });
  return my;
}

describe("the rules of axe-core", () => {
  const my = opened();

  my.it("are kept by the views", async () => {
    await my.openViews();
    await my.row("Memories", "Loan periods").click();
    await my.row("Health", "language model").waitFor();
    assert.deepEqual(await violations(my.page, ".sidebar .pane-body", OF_THE_EDITOR), []);
  });

  my.it("are kept by the list of recall", async () => {
    await my.page.keyboard.press("Control+Alt+M");
    await my.type("how long may somebody keep a book?");
    await my.choice("Loan periods").waitFor();
    assert.deepEqual(await violations(my.page, ".quick-input-widget .quick-input-list", OF_THE_EDITOR), []);
    await my.page.keyboard.press("Enter");
  });

  my.it("are kept by the documents", async () => {
    await my.tab("Loan periods.md").waitFor();
    assert.deepEqual(await violationsOfDocument(my, "Loans last"), []);
    await my.editorAction("Explain the Score").click();
    assert.deepEqual(await violationsOfDocument(my, "It is number"), []);
    await my.tab("Loan periods.md").click();
    await my.editorAction("Show History of the Topic").click();
    assert.deepEqual(await violationsOfDocument(my, "2 memories, the newest first."), []);
  });

  my.it("are kept by the walkthrough", async () => {
    await my.command("Welcome: Open Walkthrough...");
    await my.type("Get Started with Cognee Memory");
    await my.choose("Get Started with Cognee Memory");
    await my.page.locator(".gettingStartedContainer").getByText("Set up the memory").first().waitFor();
    await my.shot("walkthrough");
    assert.deepEqual(await violations(my.page, ".gettingStartedContainer .step-list-container", OF_THE_EDITOR), []);
  });
});

describe("the keyboard alone", () => {
  const my = opened();
  const press = async (...keys) => {
    for (const key of keys) await my.page.keyboard.press(key);
  };
  const focused = (text) => my.page.locator(".monaco-list-row.focused").filter({ hasText: text }).first();
  /** Chooses an entry of the context menu of the row that has the focus. */
  const menu = async (name) => {
    await press("Shift+F10");
    const entries = my.page.locator(".monaco-menu .action-item:not(.disabled) .action-menu-item");
    await entries.filter({ hasText: name }).waitFor();
    await until(async () => {
      const entry = my.page.locator(".monaco-menu .action-item.focused").filter({ hasText: name });
      if ((await entry.count()) > 0) return true;
      await press("ArrowDown");
      return false;
    }, `the focus on “${name}”`);
    await press("Enter");
  };
  const ask = async (question) => {
    await press("Control+Alt+M");
    await my.type(question);
    await my.choice("Loan periods").waitFor();
  };

  my.it("opens the views, a topic and a memory", async () => {
    // The palette lists what there is when it opens.
    await my.page.locator(".statusbar-item").filter({ hasText: "Memory" }).first().waitFor();
    await my.command("Cognee Memory: Focus on Memories View");
    await my.row("Memories", "Loan periods").waitFor();
    await my.command("Cognee Memory: Focus on Memories View"); // the editor leaves the focus beside a list that was empty
    await until(async () => {
      if (await focused("Loan periods").isVisible()) return true;
      await press("ArrowDown");
      return false;
    }, "the focus on the topic");
    await press("ArrowRight");
    await until(async () => (await my.pane("Memories").locator(".monaco-list-row").count()) === 5, "two memories");
    await press("ArrowDown");
    await menu("Open Memory");
    await my.tab("Loan periods.md").waitFor();
  });

  my.it("explains it, and shows its history", async () => {
    await ask("how long may somebody keep a book?"); // a score belongs to a question
    await press("Enter");
    await my.rendered("Loans last");
    await my.command("Cognee Memory: Explain the Score");
    await my.rendered("total");
    await ask("how long may somebody keep a book?");
    await press("Enter");
    await my.rendered("Loans last");
    await my.command("Cognee Memory: Show History of the Topic");
    await my.rendered("2 memories, the newest first.");
  });

  my.it("reaches the buttons of a recalled memory", async () => {
    await press("Control+P");
    await my.type("notes.md");
    await my.choice("notes.md").waitFor();
    await press("Enter");
    await my.tab("notes.md").waitFor();
    await press("Control+End");
    await ask("how long may somebody keep a book?");
    await until(async () => {
      const active = await my.page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
      if (active.startsWith("Insert into Editor")) return true;
      await press("Tab");
      return false;
    }, "the focus on “Insert into Editor”");
    await press("Enter");
    await until(async () => (await my.editorText()).includes("Loans last"), "the notes");
    await my.shot("keyboard-inserted");
  });

  my.it("inserts the context of a question", async () => {
    await my.command("Cognee Memory: Insert Context…");
    await my.type("when does the library close?");
    await press("Enter");
    await until(async () => (await my.editorText()).includes("closes at six"), "the notes");
  });

  my.it("remembers a selection", async () => {
    await press("Control+A");
    await my.page.keyboard.type("Lamps are switched off at night.");
    await press("Control+A");
    await my.command("Cognee Memory: Remember Selection…");
    await my.type("Reading room lamps");
    await my.choice("New topic").waitFor();
    await press("Enter");
    await my.row("Memories", "Reading room lamps").waitFor();
  });

  my.it("runs a failed job again", async () => {
    const payload = { decision_record_id: "00000000-0000-4000-8000-000000000000" };
    my.folder.drop({ schema_version: 1, job_id: "lost-record", kind: "restore", payload });
    await my.row("Queue", "NOT_FOUND").waitFor();
    await my.command("Cognee Memory: Focus on Queue View");
    await until(async () => {
      if (await focused("Undo a compaction").isVisible()) return true;
      await press("ArrowDown");
      return false;
    }, "the focus on the job");
    await menu("Run Again");
    const again = async () => (await my.folder.program("jobs", "show", "lost-record")).job;
    await until(async () => (await again()).generation > 1 && (await again()).state === "failed", "second run");
    await focused("Undo a compaction").waitFor(); // a view that is read again takes the focus back
  });

  my.it("forgets a topic after the question", async () => {
    await my.command("Cognee Memory: Forget…");
    await my.type("Catalogue import");
    await my.choice("Catalogue import").waitFor();
    await press("Enter");
    await my.dialog.filter({ hasText: "cannot be undone" }).waitFor();
    const button = my.dialog.getByRole("button", { name: "Forget", exact: true });
    await until(async () => {
      if (await button.evaluate((element) => element === document.activeElement)) return true;
      await press("Tab");
      return false;
    }, "the focus on “Forget”");
    await press("Enter");
    await my.toast("1 memory was forgotten.").waitFor();
    await my.row("Memories", "Catalogue import").waitFor({ state: "detached" });
  });

  my.it("and no click was needed", async () => {
    assert.equal(await my.page.evaluate(() => window.clicks), 0);
  });
});
