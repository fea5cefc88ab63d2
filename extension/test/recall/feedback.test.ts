import { describe, expect, it } from "vitest";
import { feedbackJob } from "../../src/recall/feedback";

describe("a feedback", () => {
  it("names the memory, the verdict and the question that found it", () => {
    expect(feedbackJob({ id: "852330de", asked: { query: "which port?", asOf: "" } }, "helpful")).toEqual({
      kind: "feedback",
      payload: { memory_id: "852330de", verdict: "helpful", by: "person", query: "which port?" },
    });
  });

  it("has no question where the memory was opened without one", () => {
    expect(feedbackJob({ id: "852330de" }, "wrong").payload).toEqual({
      memory_id: "852330de",
      verdict: "wrong",
      by: "person",
    });
  });

  it("cuts a question that is longer than the program takes, and no letter in two", () => {
    const job = feedbackJob({ id: "852330de", asked: { query: "\u{1f40d}".repeat(1200), asOf: "" } }, "wrong");
    expect(job.payload.query).toBe("\u{1f40d}".repeat(1000));
  });
});
