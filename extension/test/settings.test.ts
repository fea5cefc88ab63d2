import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { NUMBERS, rankingOf, readSettings } from "../src/core/settings";

const read = (values: Record<string, unknown>) => readSettings((name) => values[name]);

describe("settings", () => {
  it("clamps a number outside its range, and says so", () => {
    const { settings, warnings } = read({ "ranking.alpha": 0.1, "ranking.halfLifeDays": 365 });
    expect([settings.alpha, settings.halfLifeDays]).toEqual([0.6, 90]);
    expect(warnings).toEqual([
      "cogneeMemory.ranking.alpha is 0.1, outside 0.6 to 0.95; 0.6 is used.",
      "cogneeMemory.ranking.halfLifeDays is 365, outside 0.5 to 90; 90 is used.",
    ]);
  });

  it("uses the default for a value of another type, and says so", () => {
    const { settings, warnings } = read({ maxContextResults: "many", "ranking.preset": "short" });
    expect([settings.maxResults, settings.preset]).toEqual([5, "long-lived"]);
    expect(warnings).toHaveLength(2);
  });

  it("sends only what was set", () => {
    expect(rankingOf(read({}).settings)).toEqual({ preset: "long-lived", max_results: 5, max_tokens: 2000 });
  });

  it("means the blend by a set alpha, without a floor and with a half-life of 30 days unless one is set", () => {
    const alone = rankingOf(read({ "ranking.alpha": 0.7 }).settings);
    expect(alone).toMatchObject({ ranking_mode: "blend", alpha: 0.7, half_life_days: 30, recency_floor: 0 });
    const both = rankingOf(read({ "ranking.alpha": 0.7, "ranking.halfLifeDays": 7 }).settings);
    expect(both).toMatchObject({ ranking_mode: "blend", half_life_days: 7, recency_floor: 0 });
  });

  it("drops the preset's floor where a half-life is set, so that recency falls to nothing", () => {
    const { half_life_days, recency_floor, ranking_mode } = rankingOf(read({ "ranking.halfLifeDays": 7 }).settings);
    expect([half_life_days, recency_floor, ranking_mode]).toEqual([7, 0, undefined]);
  });

  it.each(Object.entries(NUMBERS))("has the range of %s in the manifest", (name, { least, most }) => {
    const declared = manifest.contributes.configuration.properties as Record<
      string,
      { minimum?: number; maximum?: number }
    >;
    expect(declared[`cogneeMemory.${name}`]).toMatchObject({ minimum: least, maximum: most });
  });
});
