/** The settings of the ranking, over two memories of 175 and 12 days, with the real program. */

import { mkdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rankingOf, readSettings } from "../../src/core/settings";
import { PROGRAM, type Session, session } from "./session";

const MINUTES = 60_000;
const DAY_MS = 86_400_000;
const AS_OF = Date.UTC(2026, 10, 25);
const AGES = [175, 12];

describe.skipIf(PROGRAM === "")("ranking by the settings", { timeout: 5 * MINUTES }, () => {
  let my: Session;

  beforeAll(async () => {
    my = session();
    mkdirSync(my.folder, { recursive: true });
    for (const [index, age] of AGES.entries()) {
      const summary = {
        topic: `Loan periods ${index}`,
        context: "How long a reader may keep a book.",
        decisions: ["A reader may keep a book for some weeks"],
        created_at: new Date(AS_OF - age * DAY_MS).toISOString(),
      };
      await my.memory.run<"ingest">({ kind: "ingest", payload: { summary } }, AbortSignal.timeout(4 * MINUTES));
    }
  }, 5 * MINUTES);
  afterAll(() => my.end(), MINUTES);

  /** Of the old and of the new memory, the recency and the score. */
  async function ask(values: Record<string, unknown>) {
    const { settings } = readSettings((name) => values[name]);
    const query = "how long may a reader keep a book";
    const body = { ...rankingOf(settings), query, as_of: new Date(AS_OF).toISOString() };
    const { results } = await my.memory.ask("retrieve", body, AbortSignal.timeout(MINUTES));
    const [old, young] = AGES.map((_, index) => results.find(({ topic }) => topic === `Loan periods ${index}`));
    if (old === undefined || young === undefined) throw new Error("both memories fit");
    return {
      recency: [old.recency_multiplier, young.recency_multiplier],
      scores: [old.score, young.score] as const,
      semantic: [old.semantic_score, young.semantic_score] as const,
    };
  }

  it("lets age take at most 15 % where nothing is set", async () => {
    const { recency } = await ask({});
    expect(recency.map((each) => each.toFixed(3))).toEqual(["0.889", "0.987"]);
  });

  it.each([0.6, 0.95])("blends with a set alpha of %d, a half-life of 30 days and no floor", async (alpha) => {
    const { recency, scores, semantic } = await ask({ "ranking.alpha": alpha });
    expect(recency.map((each) => each.toFixed(3))).toEqual(AGES.map((age) => (0.5 ** (age / 30)).toFixed(3)));
    for (const [index, score] of scores.entries()) {
      expect(score).toBeCloseTo(alpha * (semantic[index] ?? 0) + (1 - alpha) * (recency[index] ?? 0), 8);
    }
  });

  it("halves recency in the days that are set, and a shorter half-life favours the newer one more", async () => {
    const ratios: number[] = [];
    for (const days of [90, 30, 7]) {
      const { recency, scores } = await ask({ "ranking.halfLifeDays": days });
      expect(recency[1]).toBeCloseTo(0.5 ** (12 / days), 8);
      ratios.push(scores[1] / scores[0]);
    }
    expect(ratios[0]).toBeLessThan(ratios[1] ?? 0);
    expect(ratios[1]).toBeLessThan(ratios[2] ?? 0);
  });
});
