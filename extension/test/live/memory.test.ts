/** Recall, views and operations with the real program: a worker, its store, its previews. One session, step by step. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Summary } from "#types";
import { isSubject, type Subject } from "../../src/recall/subject";
import { commands, reset, shown, textOf, trusted, Uri, user, workspace } from "../vscode";
import { PROGRAM, type Session, session } from "./session";

interface Tree {
  onDidChangeTreeData(listener: () => void): void;
  getChildren(item?: unknown): Promise<unknown[]>;
  getTreeItem(item: unknown): { label: string; description?: string; contextValue?: string; command?: unknown };
}

const MINUTES = 60_000;
const SESSION = "5f0c1111-2222-4333-8444-555566667777";
const OLD = `Summary: Plan 014 Summaries
Topic: Plan 014 Summaries
Context: We moved chat summaries into structured form.
Decisions:
- Keep summaries as plain text first
`;

describe.skipIf(PROGRAM === "")("with the real program", { timeout: 5 * MINUTES }, () => {
  let my: Session;
  const numbers: number[] = [];
  const summary = (decisions: string[], day: string): Summary => ({
    topic: "Retry policy",
    topic_id: "retry-policy",
    context: "How uploads are tried again after the gateway drops them.",
    decisions,
    created_at: `2026-11-${day}T10:00:00Z`,
  });
  const remember = async (decisions: string[], day: string): Promise<void> => {
    const job = { kind: "ingest", payload: { summary: summary(decisions, day) } } as const;
    numbers.push((await my.memory.run<"ingest">(job, AbortSignal.timeout(4 * MINUTES))).memory_number);
  };
  const tree = (id: string): Tree => shown.trees.get(id)?.provider as Tree;
  const rows = async (id: string, item?: unknown) =>
    (await tree(id).getChildren(item)).map((each) => ({ item: each, ...tree(id).getTreeItem(each) }));
  const labels = async (id: string, item?: unknown) =>
    (await rows(id, item)).map(({ label, description }) => [label, description].filter(Boolean).join(" | "));
  const topic = async (): Promise<Subject> => {
    const [first] = await tree("cognee.memories").getChildren();
    if (!isSubject(first)) throw new Error("no topic");
    return first;
  };
  const choose = (label: string) => (items: readonly { label: string }[]) => items.find((each) => each.label === label);
  const run = (command: string, ...args: unknown[]) => commands.executeCommand(command, ...args);
  const said = () => shown.messages.join("\n");

  beforeAll(async () => {
    my = session({ prepare: (root) => (process.env["CLAUDE_CONFIG_DIR"] = join(root, "claude")) });
    mkdirSync(my.folder, { recursive: true });
    await my.memory.startWorker(AbortSignal.timeout(MINUTES));
    await remember(["Use five retries with exponential backoff"], "01");
    await remember(["Do not use five retries with exponential backoff", "Use three retries"], "10");
    const conversation = { user_message: "Which port?", assistant_message: "[8127](command:x) <b>it is</b>" };
    await my.memory.run<"ingest">({ kind: "ingest", payload: { conversation } }, AbortSignal.timeout(4 * MINUTES));
  }, 6 * MINUTES);
  afterAll(() => my.end());
  beforeEach(() => {
    reset();
    my.log.length = 0;
  });

  const recalled = async (question: string) => {
    await run("cognee.recall");
    const list = shown.lists.at(-1);
    if (list === undefined) throw new Error("no list");
    list.value.fire(question);
    await vi.waitFor(() => expect(list.items.length).toBeGreaterThan(0), { timeout: MINUTES });
    return list;
  };

  it("answers while one types, and logs the ranking", async () => {
    const list = await recalled("how many retries");
    expect(list.items[0]).toMatchObject({ label: "Retry policy" });
    expect(my.log[0]).toBe('[Retrieve] Query: "how many retries"');
    expect(my.log[1]).toMatch(
      /^\[Retrieve\] Result 1: topic_id=retry-policy, final_score=0\.\d{4}, created_at=2026-11-\d\d$/u,
    );
  });

  it("opens a memory, its explanation with the same score, and its history", async () => {
    const list = await recalled("how many retries");
    const [item] = list.items as unknown as { subject: Subject; buttons: { action: string }[] }[];
    list.activeItems = list.items;
    list.accept.fire(undefined);
    await vi.waitFor(() => expect(shown.rendered).toHaveLength(1));
    expect(shown.rendered[0]?.path).toBe("/Retry policy.md");
    const text = await textOf(shown.rendered[0]);
    expect(text).toMatch(/^# Retry policy\n\n(?:>.*\n)*(?:\n\[Review….*\n)?\n?## Key Decisions\n/u); // a remark, if it was compared by now
    expect(text).toMatch(/\n---\n\nMemory \d · 2026-11-\d\d · topic retry-policy\n$/u);
    expect(text).not.toMatch(/Template|Metadata|N\/A/u);
    await run("cognee.insertMemory", item?.subject); // no editor is open
    expect(shown.clipboard).toBe(text.replace(/(?:^>.*\n)+\n\[Review….*\n\n/mu, ""));
    await run("cognee.explainMemory", item?.subject);
    const why = await textOf(shown.rendered[1]);
    const asked = { query: "how many retries", preset: "long-lived", max_results: 5, max_tokens: 2000 } as const;
    const as_of = asOfOf(shown.rendered[1]);
    const { results } = await my.memory.ask("retrieve", { ...asked, as_of }, AbortSignal.timeout(MINUTES));
    expect(why).toContain(`| **total** | ${results[0]?.final_score} |`);
    await run("cognee.showHistory", item?.subject);
    const history = await textOf(shown.rendered[2]);
    expect(history).toContain("2 memories, the newest first.");
    expect(history).toContain("> - Use three retries");
  });

  it("shows a legacy memory as text, with its label", async () => {
    const list = await recalled("which port");
    const legacy = list.items.find(({ label }) => label.startsWith("[Legacy]")) as unknown as { subject: Subject };
    await run("cognee.openMemory", legacy.subject);
    const text = await textOf(shown.rendered[0]);
    expect(text).toContain("[8127]\\(command:x) \\<b>it is\\</b>");
  });

  it("copies and inserts the context block of a question", async () => {
    user.types = "how many retries";
    await run("cognee.copyContext");
    expect(shown.clipboard).toMatch(/^# Recalled notes\n/u);
    shown.clipboard = "";
    await run("cognee.insertContext"); // no editor is open
    expect(shown.clipboard).toContain("> Topic: Retry policy");
    expect(said()).toContain("copied to the clipboard");
  });

  it("lists topics and memories, the queue, and the findings", async () => {
    expect(await labels("cognee.memories")).toEqual([
      expect.stringMatching(/^Retry policy \| 2 memories · /u),
      "Without a topic | 1",
    ]);
    const memories = await vi.waitFor(async () => {
      const found = await rows("cognee.memories", await topic());
      expect(found[1]?.contextValue).toBe("memory.summary.replaced"); // an idle worker compares decisions
      return found;
    }, MINUTES);
    expect(memories.map(({ label }) => label)).toEqual([
      "Do not use five retries with exponential backoff",
      "[replaced by #2] Use five retries with exponential backoff",
    ]);
    const [, legacy] = await tree("cognee.memories").getChildren();
    expect(await labels("cognee.memories", legacy)).toEqual([expect.stringContaining("Legacy · #3")]);
    const ids = ["cognee.memories", "cognee.queue", "cognee.health"];
    const again: string[] = [];
    for (const id of ids) tree(id).onDidChangeTreeData(() => again.push(id));
    trusted.fire(undefined); // each view is read again
    expect(again).toEqual(expect.arrayContaining(ids));
    const [ended] = await tree("cognee.queue").getChildren();
    expect(await labels("cognee.queue")).toEqual(["Ended last | 3"]);
    expect(await labels("cognee.queue", ended)).toEqual([
      expect.stringMatching(/^Remember: Which port\? \| succeeded · .* · #3$/u),
      expect.stringMatching(/^Remember: Retry policy \| succeeded · .* · #2$/u),
      expect.stringMatching(/^Remember: Retry policy \| succeeded · .* · #1$/u),
    ]);
    expect(await labels("cognee.health")).toContain("No language model is configured. | note · language model");
  });

  it("compacts exactly the preview, makes a new one if the topic has changed, and undoes it", async () => {
    user.picks = [
      (items) => items[0], // the topic
      async (items: readonly { label: string }[]) => {
        await remember(["Log each retry"], "12");
        expect(items[0]?.label).toBe("Cancel"); // an Enter too many changes nothing
        return items[1];
      },
      choose("Confirm"),
    ] as typeof user.picks;
    user.presses = [undefined];
    await run("cognee.compactMemories");
    expect(shown.rendered).toHaveLength(2);
    expect(await textOf(shown.rendered[0])).toMatch(
      /\| \\#1 [\d\\-]+ Use five retries .* \| \\#2 [\d\\-]+ Do not use five .* \| .* % sure \|/u,
    );
    expect(await textOf(shown.rendered[1])).toContain("3 memories would become one decision record");
    expect(said()).toMatch(/^Compacted 3 summaries for topic retry-policy\. \d conflicts? (was|were) found/u);
    const memories = await labels("cognee.memories", await topic());
    expect(memories[0]).toContain("Decision");
    expect(memories.filter((each) => each.includes("Superseded"))).toHaveLength(3);
    await run("cognee.showHistory", await topic());
    expect(await textOf(shown.rendered[2])).toContain("Merged into memory");

    user.picks = [(items) => items[0]];
    user.presses = ["Undo"];
    await run("cognee.restoreCompaction");
    expect(said()).toContain("Restored 3 summaries of topic retry-policy.");
    for (const label of await labels("cognee.memories", await topic()))
      expect(label).not.toMatch(/Superseded|Decision/u);
  });

  it("keeps both decisions of a conflict that the user rejects, and has the choice ready the next time", async () => {
    let ticked = 0;
    user.picks = [
      (items) => items[0], // the topic
      choose("Keep Both Decisions of a Conflict…"),
      (items) => items,
      choose("Keep Both Decisions of a Conflict…"),
      (items) => {
        ticked = (items as readonly { picked?: boolean }[]).filter(({ picked }) => picked).length;
        return undefined;
      },
      choose("Cancel"),
    ] as typeof user.picks;
    await run("cognee.compactMemories");
    expect(shown.rendered).toHaveLength(3);
    expect(await textOf(shown.rendered[0])).toContain("\\[Later\\]");
    const rejected = await textOf(shown.rendered[1]);
    expect(rejected).not.toContain("\\[Later\\]");
    expect(rejected).toContain("## Conflicts that you rejected\\: both hold");
    expect(ticked).toBeGreaterThan(0);
  });

  it("shows a failed job by its cause in the queue by itself, and dismisses it", async () => {
    await labels("cognee.queue");
    const payload = { decision_record_id: "00000000-0000-4000-8000-000000000000" };
    const job = { kind: "restore", payload } as const;
    await expect(my.memory.run(job, AbortSignal.timeout(MINUTES))).rejects.toThrow();
    await vi.waitFor(async () => expect((await labels("cognee.queue"))[0]).toMatch(/1 · [A-Z_]+$/u), {
      timeout: MINUTES,
    });
    const [cause] = await tree("cognee.queue").getChildren();
    const [failed] = await tree("cognee.queue").getChildren(cause);
    await run("cognee.openJob", failed);
    expect(await textOf(shown.documents[0])).toContain('"state": "failed"');
    await run("cognee.dismissJob", cause);
    await vi.waitFor(async () => expect((await labels("cognee.queue"))[0]).toMatch(/^Ended last/u), {
      timeout: MINUTES,
    });
  });

  it("forgets a memory after a question that says what goes", async () => {
    const [newest] = await tree("cognee.memories").getChildren(await topic());
    user.presses = [undefined];
    await run("cognee.forgetMemory", newest);
    expect(said()).toMatch(/^Forget memory \d+, “Retry policy”\?\n.*This cannot be undone\./su);
    user.presses = ["Forget"];
    await run("cognee.forgetMemory", newest);
    expect(said()).toContain("1 memory was forgotten.");
    await run("cognee.openMemory", newest);
    expect(await textOf(shown.rendered[0])).toMatch(/^# This cannot be shown\n/u);
  });

  it("captures the sessions of a tool after a preview and a choice, and undoes it", async () => {
    await run("cognee.captureSessions");
    expect(said()).toContain("Neither this editor’s chat nor another tool has kept a session of this folder.");
    const projects = join(process.env["CLAUDE_CONFIG_DIR"] ?? "", "projects", my.folder.replace(/[^A-Za-z0-9]/gu, "-"));
    mkdirSync(projects, { recursive: true });
    const told = ["Which port shall the importer listen on?", "We decided to listen on port 8127 for the importer."];
    const records = told.map((text, at) => ({
      ...{ type: "user", uuid: `u${at}`, parentUuid: at === 0 ? null : `u${at - 1}`, isSidechain: false },
      ...{ cwd: my.folder, sessionId: SESSION, version: "2.1.330", timestamp: `2026-11-20T09:0${at}:00.000Z` },
      message: { role: "user", content: text },
    }));
    writeFileSync(join(projects, `${SESSION}.jsonl`), records.map((each) => `${JSON.stringify(each)}\n`).join(""));
    user.picks = [() => undefined];
    await run("cognee.captureSessions");
    expect(await textOf(shown.rendered[0])).toContain("We decided to listen on port 8127");
    expect((await labels("cognee.memories")).some((each) => each.startsWith("Which port shall"))).toBe(false);
    user.picks = [(items) => items.filter(({ label }) => label === "claude-code")];
    user.presses = ["Undo"];
    await run("cognee.captureSessions");
    expect(said()).toContain("Captured 1 memory.");
    await vi.waitFor(() => expect(said()).toContain("Removed 1 captured memory."), { timeout: MINUTES });
    await run("cognee.undoMigration");
    expect(said()).toContain("There is no migration to undo.");
  });

  it("migrates an old folder after a dry run, and undoes it", async () => {
    mkdirSync(join(my.folder, ".cognee_data"), { recursive: true });
    writeFileSync(join(my.folder, ".cognee_data", "text_8124a61889e5e4baecb639c2cd50a2bd.txt"), OLD);
    user.picks = [choose("Migrate")];
    user.presses = [undefined];
    await run("cognee.migrateSummaries");
    expect(await textOf(shown.rendered[0])).toMatch(
      /\| summary \| [\d\\-]+ \| plan\\-014\\-summaries \| Plan 014 Summaries \|/u,
    );
    expect(said()).toMatch(/^Migrated 1 summary to DataPoints\. Receipt: /u);
    const hasPlan = async () => (await labels("cognee.memories")).some((each) => each.startsWith("Plan 014 Summaries"));
    await vi.waitFor(async () => expect(await hasPlan()).toBe(true), { timeout: MINUTES }); // the view is read again
    user.picks = [(items) => items[0]];
    user.presses = ["Undo"];
    await run("cognee.undoMigration");
    expect(said()).toContain("Removed 1 migrated memory.");
    await run("cognee.undoMigration");
    expect(said()).toContain("There is no migration to undo.");
  });

  it("reads and recalls without a worker, with the program", async () => {
    await my.memory.command(["worker", "stop"], [], AbortSignal.timeout(MINUTES));
    expect((await recalled("how many retries")).items[0]).toMatchObject({ label: "Retry policy" });
    const first = async () => (await labels("cognee.memories"))[0];
    await vi.waitFor(async () => expect(await first()).toContain("Retry policy"), { timeout: MINUTES });
    await run("cognee.showHistory", await topic());
    expect(await textOf(shown.rendered[0])).toContain("## Compactions");
  });

  it("asks all folders of a window together, and names the folder of each row", async () => {
    const other = join(my.root, "other");
    mkdirSync(other);
    const first = workspace.workspaceFolders[0];
    if (first === undefined) throw new Error("no folder");
    workspace.workspaceFolders.push({ uri: Uri.file(other), name: "other", index: 1 });
    try {
      const memory = my.services.memoryOf(workspace.workspaceFolders[1] as never);
      const job = { kind: "ingest" as const, payload: { summary: summary(["Retries stop after an hour"], "13") } };
      await memory.run<"ingest">(job, AbortSignal.timeout(4 * MINUTES));
      const { items } = await recalled("how many retries");
      const folders = new Set(
        (items as unknown as { description?: string }[]).map((each) => each.description?.split(" · ")[0]),
      );
      expect(folders).toEqual(new Set(["ws", "other"]));
      user.types = "how many retries";
      await run("cognee.copyContext");
      expect(shown.clipboard).toMatch(/^Folder "ws":[\s\S]*\nFolder "other":/u);
      await memory.command(["worker", "stop"], [], AbortSignal.timeout(MINUTES));
    } finally {
      workspace.workspaceFolders = [first];
    }
  });

  function asOfOf(uri: Uri | undefined): string {
    return new URLSearchParams(uri?.query).get("asOf") ?? "";
  }

  it("lists what is open by topic, and opens the memory of the chosen item", async () => {
    const asks = { ...summary(["Owls are counted at night"], "12"), topic: "Owls", topic_id: "owls" };
    const job = { kind: "ingest" as const, payload: { summary: { ...asks, open_questions: ["Who feeds the owls?"] } } };
    await my.memory.startWorker(AbortSignal.timeout(MINUTES));
    await my.memory.run<"ingest">(job, AbortSignal.timeout(4 * MINUTES));
    const seen: string[] = [];
    user.picks = [
      (items) => {
        seen.push(...items.map(({ label }) => label));
        return items.find(({ label }) => label.endsWith("Who feeds the owls?"));
      },
    ];
    await run("cognee.showOpen");
    expect(seen).toEqual(["Owls", "$(question) Who feeds the owls?"]);
    expect(await textOf(shown.rendered[0])).toContain("Owls are counted at night");
  });
});
