import { describe, expect, it } from "vitest";
import type { RetrievalHit, RetrievalSuccess } from "#types";
import { isOnlyWeak, logLines, rowOf } from "../../src/recall/hit";

const NOW = Date.parse("2026-11-20T12:00:00Z");

const hit: RetrievalHit = {
  score: 0.7777,
  final_score: 0.7777,
  relevance_score: 0.7777,
  semantic_score: 0.8,
  vector_score: 0.8,
  lexical_score: 0.8,
  recency_multiplier: 0.9721,
  recency_score: 0.9721,
  status_multiplier: 1,
  memory_id: "852330de-6723-5492-8ce0-7e0bc93e5acc",
  memory_number: 12,
  memory_type: "summary",
  summary_text: "# Conversation Summary: Retry policy",
  text: "# Conversation Summary: Retry policy",
  tokens: 10,
  topic: "Retry policy",
  topic_id: "retry-policy",
  plan_id: null,
  session_id: null,
  status: "Active",
  source_created_at: null,
  created_at: "2026-11-17T10:00:00Z",
  updated_at: null,
  importance: null,
  tags: [],
  anchors: [],
  decisions: ["Five retries"],
};

const legacy: RetrievalHit = {
  ...hit,
  memory_type: "legacy",
  summary_text: "User asked: which port?\nAssistant answered: 8127",
  topic: null,
  topic_id: null,
  status: null,
  created_at: null,
};
delete (legacy as Partial<RetrievalHit>).decisions;

const row = (each: RetrievalHit) => rowOf(each, NOW, "en");

describe("a hit in the list", () => {
  it("shows topic, age, score and what fits best", () => {
    expect(row(hit)).toEqual({ label: "Retry policy", description: "3 days ago · score 0.78", detail: "Five retries" });
    expect(row({ ...hit, best_passages: ["Six"] }).detail).toBe("Six");
  });

  it("says by which memory its decision was replaced, or is disputed, and nothing while it holds", () => {
    const by = { memory_id: "x", memory_number: 14, statement: "Six retries", dated_at: null };
    const fallen = {
      statement: "Five retries",
      by,
      since: null,
      confidence: 0.9,
      cause: "judge",
      replaces: [],
    } as const;
    const found = (state: "replaced" | "disputed" | "holds") =>
      row({
        ...hit,
        standing: { ...fallen, replaces: [], state, by: state === "holds" ? null : by, inherited_from: null },
      }).description;
    expect(found("replaced")).toBe("3 days ago · replaced by #14 · score 0.78");
    expect(found("disputed")).toBe("3 days ago · disputed by #14 · score 0.78");
    expect(found("holds")).toBe("3 days ago · score 0.78");
  });

  it("says what its decision replaced", () => {
    const older = {
      memory_id: "x",
      memory_number: 3,
      statement: "Four retries",
      dated_at: "2026-10-02T09:00:00Z",
      state: "replaced",
    } as const;
    const standing = {
      state: "holds",
      statement: "Five retries",
      by: null,
      since: null,
      confidence: null,
      cause: null,
      replaces: [older],
      inherited_from: null,
    } as const;
    const detail = "Five retries · replaces: Four retries (2026-10-02, #3)";
    expect(row({ ...hit, standing: { ...standing, replaces: [older] } }).detail).toBe(detail);
    const unsettled = { ...older, state: "disputed" } as const;
    expect(row({ ...hit, standing: { ...standing, replaces: [unsettled] } }).detail).toContain("may replace: Four");
  });

  it("shows no decision that was given up, and no form of a text", () => {
    const record = { ...hit, decisions: ["[Earlier] Two weeks", "[Later] Four weeks"] };
    expect(row(record).detail).toBe("[Later] Four weeks");
    const text = "<!-- Template: v1.0 -->\n# Conversation Summary: Loans\n\n## Context\nHow long a loan lasts.\n";
    expect(row({ ...hit, decisions: [], summary_text: text }).detail).toBe("How long a loan lasts.");
  });

  it.each([
    ["DecisionRecord", "[Decision]"],
    ["Superseded", "[Superseded]"],
    ["Draft", "[Draft]"],
  ] as const)("has a badge for the status %s", (status, badge) => {
    expect(row({ ...hit, status }).description).toBe(`3 days ago · ${badge} · score 0.78`);
  });

  it("has a label and no badge if it is legacy", () => {
    expect(row(legacy)).toEqual({
      label: "[Legacy] User asked: which port?",
      description: "score 0.78",
      detail: "User asked: which port? Assistant answered: 8127",
    });
  });
});

describe("the log", () => {
  const answer = { results: [hit, legacy] } as unknown as RetrievalSuccess;

  it("has the question and the ranking", () => {
    expect(logLines('why "five"\nretries', answer, false)).toEqual([
      '[Retrieve] Query: "why \\"five\\"\\nretries"',
      "[Retrieve] Result 1: topic_id=retry-policy, final_score=0.7777, created_at=2026-11-17",
      "[Retrieve] Result 2: topic_id=none, final_score=0.7777, created_at=unknown",
    ]);
  });

  it("has the parts of the score at the level debug", () => {
    expect(logLines("q", answer, true)[1]).toContain(
      "semantic_score=0.8000, recency_multiplier=0.9721, status_multiplier=1",
    );
  });
});

it("an answer has only weak matches if it has hits and all are marked", () => {
  const weak: RetrievalHit = { ...hit, fit: "weak" };
  expect([[weak], [hit, weak], []].map((results) => isOnlyWeak({ results }))).toEqual([true, false, false]);
});
