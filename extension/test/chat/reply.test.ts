import { describe, expect, it } from "vitest";
import type { RetrievalHit } from "#types";
import { lineOf, passageUnder, WithoutImages } from "../../src/chat/reply";

const hit = (changes: Partial<RetrievalHit> = {}): RetrievalHit =>
  ({
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

describe("a hit in the chat", () => {
  it.each([
    [hit(), "**Summary: Retry policy** (created 2026-11-20, relevance score: 0.61)"],
    [
      hit({ status: "Superseded" }),
      "**Summary: Retry policy** (created 2026-11-20, relevance score: 0.61) — Superseded",
    ],
    [
      hit({ memory_type: "decision_record", status: "DecisionRecord" }),
      "**Summary: Retry policy** (created 2026-11-20, relevance score: 0.61) — Decision",
    ],
    [
      hit({ memory_type: "legacy", topic: null, status: null, created_at: null, summary_text: "User: hello\nmore" }),
      "**[Legacy] User\\: hello** (created at an unknown time, relevance score: 0.61)",
    ],
  ])("has its topic, date, score and status", (given, line) => expect(lineOf(given)).toBe(line));

  it("shows the passage that fits best, where no model answers", () => {
    expect(passageUnder(hit())).toContain("> Retry five times");
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
