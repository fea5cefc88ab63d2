import { describe, expect, it } from "vitest";
import type { RetrievalHit, Standing } from "#types";
import { lineOf, passageUnder, WithoutImages } from "../../src/chat/reply";

const hit = (changes: Partial<RetrievalHit> = {}): RetrievalHit =>
  ({
    memory_number: 3,
    topic: "Retry policy",
    memory_type: "summary",
    status: "Active",
    created_at: "2026-11-20T10:00:00Z",
    source_created_at: null,
    final_score: 0.61234,
    summary_text: "Text",
    decisions: ["Retry five times"],
    ...changes,
  }) as RetrievalHit;

const other = { memory_id: "x", memory_number: 14, statement: "Retry *six* times", dated_at: "2026-11-21T10:00:00Z" };
const holds: Standing = {
  state: "holds",
  statement: "Retry five times",
  by: null,
  since: null,
  confidence: null,
  cause: null,
  replaces: [],
  inherited_from: null,
};
const fallen: Standing = { ...holds, state: "replaced", by: other };

describe("a hit in the chat", () => {
  it.each([
    [hit(), "**Summary: Retry policy** (created 2026-11-20, relevance score: 0.61) — #3"],
    [
      hit({ status: "Superseded" }),
      "**Summary: Retry policy** (created 2026-11-20, relevance score: 0.61) — #3, Superseded",
    ],
    [
      hit({ memory_type: "decision_record", status: "DecisionRecord" }),
      "**Summary: Retry policy** (created 2026-11-20, relevance score: 0.61) — #3, Decision",
    ],
    [
      hit({ standing: fallen }),
      "**Summary: Retry policy** (created 2026-11-20, relevance score: 0.61) — #3, replaced by #14",
    ],
    [
      hit({ memory_type: "legacy", topic: null, status: null, created_at: null, summary_text: "User: hello\nmore" }),
      "**[Legacy] User\\: hello** (created at an unknown time, relevance score: 0.61) — #3",
    ],
  ])("has its topic, date, score, number and status", (given, line) => expect(lineOf(given)).toBe(line));

  it("shows the passage that fits best, where no model answers", () => {
    expect(passageUnder(hit())).toContain("> Retry five times");
  });

  it("says below its passage what that replaced", () => {
    const under = passageUnder(hit({ standing: { ...holds, replaces: [{ ...other, state: "replaced" }] } }));
    expect(under).toContain("> Retry five times · replaces\\: Retry \\*six\\* times \\(2026\\-11\\-21, \\#14\\)");
  });

  it("has no link, image, HTML or line of its own from what the memory says", () => {
    const line = lineOf(hit({ topic: "a** [x](command:y)\n# b <img src=z> ![p](http://q)" }));
    expect(line).not.toMatch(/\n|<|(?<!\\)\[|(?<!\\)\]|(?<!\\)!|a\*\*/u);
  });
});

describe("a model's answer", () => {
  it.each([
    [["see ![a](http://b/?q=secret) and !"], "see !\\[a](http://b/?q=secret) and !"],
    [["see !", "[a](http://b)"], "see !\\[a](http://b)"],
    [["stop!", " Go", "!"], "stop! Go!"],
  ])("has no images, however it comes in pieces", (pieces, text) => {
    const images = new WithoutImages();
    expect(pieces.map((piece) => images.take(piece)).join("") + images.end()).toBe(text);
  });
});
