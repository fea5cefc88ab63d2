// The extension in a real workbench, with the real program: what a person sees and does. `npm run e2e` runs it.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startHost } from "./host.mjs";
import { makeFolder, PROGRAM } from "./memory.mjs";
import { until, workbench } from "./workbench.mjs";

const ROOT = join(import.meta.dirname, "..");
const [VSIX] = readdirSync(join(ROOT, "dist")).filter((name) => name.endsWith(".vsix"));
assert(VSIX, "no VSIX in dist/: run `make extension` first");
assert(PROGRAM, "COGNEE_MEMORY_PROGRAM names the program");
const vsix = [join(ROOT, "dist", VSIX)];

/** Starts a workbench for the tests of a group; a failed test leaves a picture. */
function opened({ settings = {}, env = {}, prepare = async () => undefined }) {
  const my = {};
  before(async () => {
    my.folder = makeFolder();
    await prepare(my.folder);
    my.host = await startHost({
      workspace: my.folder.workspace,
      vsix,
      settings,
      env: { ...my.folder.env, COGNEE_MEMORY_PROGRAM: undefined, ...env },
    });
    Object.assign(my, workbench(my.host));
    await my.host.open();
    await my.openViews();
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

describe("without the program", () => {
  const my = opened({
    settings: { "cogneeMemory.commandPath": "" },
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" },
  });

  my.it("the view says that it is not set up, and has a button for it", async () => {
    const button = my.pane("Memories").getByRole("button", { name: "Set Up" });
    await button.waitFor();
    await my.shot("welcome");
  });

  my.it("the walkthrough shows its pictures", async () => {
    const size = my.page.viewportSize();
    await my.page.setViewportSize({ width: 1800, height: 900 }); // a narrow one has no place for them
    await my.command("Welcome: Open Walkthrough...");
    await my.type("Get Started with Cognee Memory");
    await my.choose("Get Started with Cognee Memory");
    for (const [step, count] of [
      ["Find it again", 2],
      ["Use it in chat", 1],
    ]) {
      await my.page.locator(".getting-started-step").filter({ hasText: step }).click();
      const seen = () => [...document.images].filter(({ naturalWidth }) => naturalWidth > 200).length;
      await until(async () => {
        const counts = await Promise.all(my.page.frames().map((frame) => frame.evaluate(seen).catch(() => 0)));
        return counts.includes(count);
      }, `the pictures of “${step}”`);
      await my.shot(`walkthrough-${count}`);
    }
    await my.page.setViewportSize(size);
  });

  my.it("a command says what is missing, and offers to set it up", async () => {
    await my.command("Cognee Memory: Check Health");
    await my.pane("Health").getByRole("button", { name: "Set Up" }).waitFor();
    await my.shot("health-not-set-up");
  });

  my.it("the walkthrough's first step is ticked as soon as the program is there", async () => {
    const size = my.page.viewportSize();
    await my.page.setViewportSize({ width: 1800, height: 900 });
    const step = my.page.locator(".getting-started-step").filter({ hasText: "Set up the memory" });
    if (!(await step.isVisible())) await my.tab("Welcome").click();
    await step.locator(".codicon-getting-started-step-unchecked").waitFor();
    my.host.set({ "cogneeMemory.commandPath": PROGRAM });
    await step.locator(".codicon-getting-started-step-checked").waitFor();
    await my.shot("walkthrough-ticked");
    await my.page.setViewportSize(size);
  });
});

describe("with memories", () => {
  const my = opened({
    settings: { "cogneeMemory.commandPath": PROGRAM },
    prepare: (folder) => folder.remember(),
  });

  my.it("the views list topics, memories, jobs and findings", async () => {
    await my.row("Memories", "Loan periods").waitFor();
    await my.row("Memories", "Opening hours in winter").waitFor();
    await my.row("Memories", "Loan periods").click();
    await until(async () => (await my.pane("Memories").locator(".monaco-list-row").count()) === 5, "two memories");
    await my.expand("Queue");
    await my.row("Queue", "Ended last").waitFor();
    await my.expand("Health");
    await my.row("Health", "language model").waitFor();
    await my.shot("views");
    for (const row of await my.page.locator(".sidebar .pane .monaco-list-row").all()) {
      assert.match((await row.getAttribute("aria-label")) ?? "", /\w/, "each row has a name for a screen reader");
      assert.equal(await row.getAttribute("role"), "treeitem");
    }
    for (const action of await my.page.locator(".sidebar .pane a.action-label").all()) {
      assert.match((await action.getAttribute("aria-label")) ?? "", /\w/, "each button has a name for a screen reader");
    }
  });

  my.it("recall answers while one types, and opens a memory, with the keyboard alone", async () => {
    const { keyboard } = my.page;
    await keyboard.press("Control+P");
    await my.type("notes.md");
    await my.choice("notes.md").waitFor();
    await keyboard.press("Enter");
    await my.tab("notes.md").waitFor();
    await keyboard.press("Control+End");
    await keyboard.press("Control+Alt+M");
    await my.type("how long may somebody keep a book?");
    await my.choice("Loan periods").waitFor();
    assert.match(await my.choice("Loan periods").innerText(), /Loans last four weeks · replaces: Loans last two weeks/);
    await my.shot("recall");
    await keyboard.press("Enter");
    await my.tab("Loan periods.md").waitFor();
    const memory = await my.rendered("topic loan-periods");
    assert.match(await memory.locator("body").textContent(), /Loans last (two|four) weeks/);
    for (const name of ["Insert into Editor", "Explain the Score", "Show History of the Topic"]) {
      await my.editorAction(name).waitFor();
    }
    await my.shot("memory");
    const log = my.host.output("Cognee Memory");
    assert.match(log, /\[Retrieve\] Query: "how long may somebody keep a book\?"/);
    assert.match(log, /\[Retrieve\] Result 1: topic_id=loan-periods, final_score=0\.\d{4}, created_at=2026-1\d-\d\d/);
  });

  my.it("a memory is explained with its score, and shown with its history", async () => {
    await my.editorAction("Explain the Score").click();
    const why = await my.rendered("It is number");
    assert.match(await why.locator("body").textContent(), /total/);
    await my.shot("explanation");
    await my.tab("Loan periods.md").click();
    await my.editorAction("Show History of the Topic").click();
    await my.rendered("2 memories, the newest first.");
    await my.shot("history");
  });

  my.it("the context of a question is inserted where one was writing, with the keyboard alone", async () => {
    await my.tab("notes.md").click();
    await my.command("Cognee Memory: Insert Context…");
    await my.type("when does the library close?");
    await my.page.keyboard.press("Enter");
    await until(async () => (await my.editorText()).includes("closes at six"), "the notes");
    await my.shot("inserted");
    await my.page.keyboard.press("Control+Z");
  });

  my.it("a preview that is given up leaves no job in the queue", async () => {
    const ended = async () => (await my.folder.program("jobs", "list")).jobs.map(({ kind }) => kind);
    await my.command("Cognee Memory: Capture Sessions of Other Tools…");
    await my.toast("has kept a session of this folder").waitFor();
    await my.inline(my.row("Memories", "Loan periods"), "Compact Cognee Memories");
    await my.rendered("This is a preview");
    await my.choice("Confirm").waitFor();
    await my.page.keyboard.press("Escape");
    await my.tab("Compaction of").waitFor({ state: "detached" });
    await until(async () => new Set(await ended()).size === 1, "only what was remembered");
    await my.row("Queue", "Ended last").click();
    await my.row("Queue", "Remember").waitFor();
    for (const kind of ["Compact", "Capture"]) await my.row("Queue", kind).waitFor({ state: "detached" });
    await my.shot("preview-left");
    await my.row("Queue", "Ended last").click();
  });

  my.it("a topic is compacted as its preview says, and restored", async () => {
    const row = my.row("Memories", "Loan periods");
    await my.inline(row, "Compact Cognee Memories");
    await my.rendered("This is a preview");
    await my.choice("Confirm").waitFor();
    await my.page.mouse.move(640, 840); // a row's tip is over the list
    await my.page.locator(".monaco-hover:visible").waitFor({ state: "detached" });
    await my.shot("compact");
    await my.choose("Confirm");
    await my.toast("Compacted 2 summaries for topic loan-periods.").waitFor();
    await my.row("Memories", "Decision").waitFor();
    await my.shot("compacted");
    assert.match(
      my.host.output("Cognee Memory"),
      /Compacted 2 summaries for topic loan-periods into DecisionRecord\. Conflicts detected: Y\./,
    );
    await my.press("Compacted 2 summaries", "Undo");
    await my.toast("Restored 2 summaries").waitFor();
    await my.row("Memories", "Decision").waitFor({ state: "detached" });
    await my.shot("restored");
  });

  my.it("a failed job is shown by its cause, and runs again", async () => {
    const payload = { decision_record_id: "00000000-0000-4000-8000-000000000000" };
    my.folder.drop({ schema_version: 1, job_id: "lost-record", kind: "restore", payload });
    const cause = my.row("Queue", "NOT_FOUND");
    await cause.waitFor();
    const job = my.row("Queue", "Undo a compaction");
    await job.waitFor();
    await my.shot("queue-failed");
    await my.inline(job, "Run Again");
    await until(async () => (await my.folder.program("jobs", "show", "lost-record")).job.generation > 1, "second run");
    await my.shot("queue-again");
    await my.inline(my.row("Queue", "NOT_FOUND"), "Dismiss");
    await my.row("Queue", "NOT_FOUND").waitFor({ state: "detached" });
  });

  my.it("an old folder is migrated after a preview, and this is undone", async () => {
    my.folder.putOldText();
    await my.command("Cognee Memory: Migrate Cognee Summaries");
    await my.rendered("would be 1 migrated");
    await my.choice("Migrate").waitFor();
    await my.shot("migrate");
    await my.choose("Migrate");
    await my.toast("Migrated 1 summary to DataPoints.").waitFor();
    await my.row("Memories", "Plan 014 Reading room").waitFor();
    await my.shot("migrated");
    await my.press("Migrated 1 summary", "Undo");
    await my.row("Memories", "Plan 014 Reading room").waitFor({ state: "detached" });
  });

  my.it("a topic is forgotten after a question that says what goes", async () => {
    await my.menu(my.row("Memories", "Catalogue import"), "Forget…");
    await my.dialog.filter({ hasText: "cannot be undone" }).waitFor();
    await my.shot("forget");
    await my.answer("Forget the topic “Catalogue import”", "Forget");
    await my.toast("1 memory was forgotten.").waitFor();
    await my.row("Memories", "Catalogue import").waitFor({ state: "detached" });
    await my.shot("forgotten");
  });

  my.it("decisions that are disputed are marked until one is said to hold, with the keyboard alone", async () => {
    const { keyboard } = my.page;
    const summary = {
      topic: "Catalogue database",
      topic_id: "catalogue-database",
      context: "Where the cards are kept.",
    };
    await my.folder.remember([
      { ...summary, decisions: ["We use PostgreSQL for the catalogue"], created_at: "2026-09-01T09:00:00Z" },
      { ...summary, decisions: ["We use SQLite for the catalogue"], created_at: "2026-10-01T09:00:00Z" },
    ]);
    const topic = my.row("Memories", "Catalogue database");
    const marked = my.row("Memories", "disputed");
    await until(async () => {
      if ((await topic.getAttribute("aria-expanded")) === "false") await topic.click(); // a refresh may take a click
      return marked.isVisible();
    }, "the mark of a dispute");
    await my.shot("disputed");
    await my.command("Cognee Memory: Review Contradictions");
    await my.choice("The Newer Holds").waitFor();
    await my.shot("review");
    await keyboard.press("ArrowDown"); // the first row only opens both
    await keyboard.press("Enter");
    await my.page.locator(".statusbar-item").filter({ hasText: "Settled: 1 of 1." }).first().waitFor();
    await marked.waitFor({ state: "detached" });
    await my.row("Memories", "replaced in part").waitFor();
    await my.shot("reviewed");
  });

  my.it("the best hit stays first though another one has the question in its title", async () => {
    await my.folder.remember([
      {
        topic: "Reading room",
        context: "Who may renew a loan, and how.",
        decisions: ["Renewals are possible by telephone"],
        created_at: "2026-11-20T09:00:00Z",
      },
      {
        topic: "Renewals and returns in general, as they were talked about by all of us in spring",
        context: "The lamps of the hall were looked at.",
        decisions: ["The lamps of the hall are green", "The carpet stays", "The door is painted"],
        created_at: "2026-03-01T09:00:00Z",
      },
    ]);
    await my.page.keyboard.press("Control+Alt+M");
    await my.type("renewals");
    await my.choice("Renewals and returns").waitFor();
    assert.equal(await my.choice("by telephone").getAttribute("data-index"), "0");
    await my.shot("order");
    await my.page.keyboard.press("Escape");
  });

  my.it("the plan's commands are in the palette under one name", async () => {
    await my.page.keyboard.press("F1");
    await my.type(">Cognee");
    await my.choice("Cognee Memory: Migrate Cognee Summaries").waitFor();
    await my.shot("palette");
    for (const name of ["Compact Cognee Memories", "Migrate Cognee Summaries", "Remove the Program", "Recall"]) {
      await my.type(`>Cognee Memory: ${name}`); // a list has only the rows that are on the screen
      await my.choice(`Cognee Memory: ${name}`).waitFor();
    }
    await my.page.keyboard.press("Escape");
  });

  my.it("the folders of the memory are not in the Explorer", async () => {
    await my.page.keyboard.press("Control+Shift+E");
    const rows = my.page.locator(".explorer-folders-view .monaco-list-row");
    await rows.filter({ hasText: "notes.md" }).waitFor();
    assert.deepEqual(
      (await rows.allInnerTexts()).map((text) => text.trim()).filter((text) => text !== "notes.md"),
      [],
    );
    await my.shot("explorer");
    await my.openViews();
  });

  my.it("the weight of the blend shows what it means while it is not set", async () => {
    await my.command("Preferences: Open Settings (UI)");
    await my.page.locator(".settings-editor .suggest-input-container").click();
    await my.page.keyboard.type("cogneeMemory.ranking");
    const alpha = my.page.locator(".settings-editor .setting-item-enum").filter({ hasText: "Alpha" });
    await alpha.filter({ hasText: "The usual blend is 0.8" }).waitFor();
    await my.shot("settings");
    assert.match(await alpha.locator("select").inputValue(), /no blend/);
    await alpha.locator("select").selectOption("0.9");
    await until(() => my.host.settings()["cogneeMemory.ranking.alpha"] === 0.9, "a number in the settings");
    await my.page.keyboard.press("Escape");
    await my.page.locator(".settings-editor").waitFor({ state: "detached" });
  });

  // The last one: its list stays in front of the window.
  my.it("activation is measured by the editor", async (test) => {
    await my.command("Developer: Show Running Extensions");
    const rows = my.page.locator(".runtime-extensions-editor .monaco-list-row");
    const row = rows.filter({ hasText: "Cognee Memory" });
    await rows.first().click();
    await until(async () => {
      if (await row.count()) return true;
      await my.page.keyboard.press("PageDown"); // the slowest come first, and only those in sight are rows
    }, "the extension in the list");
    test.diagnostic((await row.first().innerText()).replaceAll(/\s+/g, " "));
    await my.shot("activation");
  });
});
