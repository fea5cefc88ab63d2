import { describe, expect, it } from "vitest";
import { type Draft, draftText, EMPTY, lackOf, parseDraft, planOf, summaryOf } from "../../src/remember/summary";

const FULL: Draft = {
  topic: "Retry policy of the uploader",
  topic_id: "uploader-retries",
  context: "The uploader gave up.\n\nDecisions: none were made before.\n```sh\n# a comment\n```",
  decisions: ["Retry five times", "- keep the minus", "Use `a: b`"],
  rationale: ["The gateway recovers within a minute"],
  open_questions: ["Should the user see a countdown?"],
  next_steps: ["Measure it"],
  references: ["src/upload/retry.ts", "plan-021", "#118"],
  turns: 14,
};

describe("a draft and its document", () => {
  it.each<[string, Draft]>([
    ["all fields", FULL],
    ["the least", { ...EMPTY, topic: "T", context: "c" }],
    ["a heading of the template in the context", { ...EMPTY, topic: "T", context: "## Key Decisions\n- not one" }],
    ["a marked heading", { ...EMPTY, topic: "T", context: "\\## Context\n\\\\# References" }],
    ["metadata in the context", { ...EMPTY, topic: "T", context: "**Metadata:**\n- Topic ID: x" }],
    ["a heading of its own in the context", { ...EMPTY, topic: "T", context: "a\n\n## Risks\n- one" }],
    ["a comment in the context", { ...EMPTY, topic: "T", context: "<!-- not the hint -->\nb" }],
    ["other scripts", { ...EMPTY, topic: "发票号", context: "次の", decisions: ["عربي", "😀"] }],
  ])("survive the round trip: %s", (_, draft) => {
    expect(parseDraft(draftText(draft, "Edit me -- then press"))).toEqual(draft);
    expect(parseDraft(draftText(draft, "Windows").replaceAll("\n", "\r\n"))).toEqual(draft);
  });

  it("puts items on one line each, and leaves out empty ones", () => {
    const draft = { ...EMPTY, topic: " a\nb ", context: "c", decisions: ["one\n## Context\ntwo", " "] };
    expect(parseDraft(draftText(draft, ""))).toEqual({ ...draft, topic: "a b", decisions: ["one ## Context two"] });
  });

  it("reads what a person writes: other bullets, continued lines, sections of their own", () => {
    const text = `# Summary: Loans
## context:
Why we met.
## Decisions
* Loans last four weeks,
  and may be renewed
1. No fines
None
## Risks
People keep books.
## References
• docs/loans.md`;
    expect(parseDraft(text)).toEqual({
      ...EMPTY,
      topic: "Loans",
      context: "Why we met.\n\n## Risks\nPeople keep books.",
      decisions: ["Loans last four weeks, and may be renewed", "No fines"],
      references: ["docs/loans.md"],
    });
  });

  it("reads the plain form of a model, in a code block too", () => {
    const plain = "Topic: Loans\n**Context:** How long.\nDecisions:\n- Four weeks\nRationale:\n- n/a\nNext Steps:\n";
    const expected = { ...EMPTY, topic: "Loans", context: "How long.", decisions: ["Four weeks"] };
    expect(parseDraft(plain)).toEqual(expected);
    expect(parseDraft("```markdown\n" + plain + "\n```")).toEqual(expected);
  });

  it("keeps a text that is no summary as context, and says what lacks", () => {
    const draft = parseDraft("I cannot help with that.");
    expect(draft).toEqual({ ...EMPTY, context: "I cannot help with that." });
    expect(lackOf(draft)).toBe("topic");
    expect(lackOf({ ...EMPTY, topic: "T" })).toBe("context");
    expect(lackOf(FULL)).toBeUndefined();
  });
});

describe("the summary of a job", () => {
  it("has the session, the plan, and no id of a topic that is not known", () => {
    const { topic_id, ...rest } = summaryOf(FULL, "2026-11-23-session-1");
    expect(topic_id).toBe("uploader-retries");
    expect(rest).toMatchObject({
      session_id: "2026-11-23-session-1",
      plan_id: "plan-021",
      time_scope: { turn_count: 14 },
    });
    expect(summaryOf({ ...EMPTY, topic: "T", context: "c" }, "s")).not.toHaveProperty("topic_id");
  });

  it.each([
    [["docs/a.md", "Plan 015"], "plan-015"],
    [["agent-output/planning/plan_7-x.md", "plan-8"], "plan-7"],
    [["explanation-3", "plant 4", "plans.md"], null],
    [[], null],
  ])("the plan of %j is %j", (references, plan) => {
    expect(planOf(references)).toBe(plan);
  });
});
