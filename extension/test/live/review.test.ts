/** Two decisions that contradict each other, reviewed with the real program. */

import { mkdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { memoryText, reviewOf } from "../../src/recall/reads";
import { remarksOf } from "../../src/recall/standing";
import { commands, reset, shown, textOf, user } from "../vscode";
import { PROGRAM, type Session, session } from "./session";

const MINUTES = 60_000;

describe.skipIf(PROGRAM === "")("a contradiction", { timeout: 2 * MINUTES }, () => {
  let my: Session;
  const ids: string[] = [];
  const signal = () => AbortSignal.timeout(MINUTES);
  const review = (id: string) =>
    commands.executeCommand("cognee.reviewContradictions", { kind: "memory", folder: my.folder, id });
  const remarks = async (id: string) => remarksOf(await memoryText(my.memory, id, signal()));

  beforeAll(async () => {
    my = session();
    mkdirSync(my.folder, { recursive: true });
    await my.memory.startWorker(signal());
    for (const [weeks, day] of [
      ["two", "01"],
      ["four", "10"],
    ]) {
      const summary = {
        topic: "Loan periods",
        topic_id: "loan-periods",
        context: "How long books may be kept.",
        decisions: [`Loans last ${weeks} weeks`],
        created_at: `2026-11-${day}T10:00:00Z`,
      };
      const result = await my.memory.run<"ingest">({ kind: "ingest", payload: { summary } }, signal());
      ids.push(result.memory_id);
    }
    await vi.waitFor(async () => expect(await reviewOf(my.memory, signal())).toHaveLength(1), { timeout: MINUTES });
  }, 3 * MINUTES);
  afterAll(() => my.end());

  it("is settled by a choice, marks the decision that fell, and can be taken back with a reason", async () => {
    const [older = "", newer = ""] = ids;
    reset();
    user.picks = [(items) => items.find(({ label }) => label === "The Older Holds")];
    await review(older);
    expect(await remarks(newer)).toEqual([
      "“Loans last four weeks” was replaced by “Loans last two weeks” (memory 1, 2026-11-01).",
    ]);
    expect(await remarks(older)).toEqual([]);
    await commands.executeCommand("cognee.openMemory", {
      kind: "memory",
      folder: my.folder,
      id: newer,
      number: 2,
      title: "Loans",
      topicId: "loan-periods",
      isRecord: false,
    });
    expect(await textOf(shown.rendered[0])).toMatch(
      /^# Loan periods\n\n> .*was replaced by[\s\S]*command:cognee\.reviewContradictions/u,
    );
    user.picks = [(items) => items.find(({ label }) => label === "Both Hold…")];
    user.types = "Children and adults";
    await review(newer);
    const [pair] = await reviewOf(my.memory, signal());
    expect(pair).toMatchObject({ state: "both", reason: "Children and adults" });
    expect(await remarks(newer)).toEqual([]);
    user.picks = [(items) => items.find(({ label }) => label === "Take the Verdict Back")];
    await review(newer);
    expect((await reviewOf(my.memory, signal()))[0]).toMatchObject({ state: "replaced", cause: "judge" });
  });
});
