import { describe, expect, it } from "vitest";
import { confirmationOf, draftOf } from "../../src/agent/remembered";

describe("what an agent gives", () => {
  it("becomes a draft with its lists", () => {
    const input = {
      topic: " Retry\npolicy ",
      context: "We talked.",
      decisions: ["Five times ", ""],
      open_questions: ["Jitter?"],
      references: ["Plan 14"],
      other: 1,
    };
    expect(draftOf(input)).toEqual({
      topic: "Retry policy",
      context: "We talked.",
      decisions: ["Five times"],
      rationale: [],
      open_questions: ["Jitter?"],
      next_steps: [],
      references: ["Plan 14"],
    });
  });

  it.each([
    [null, "object"],
    [{ topic: "a" }, "topic and context"],
    [{ topic: "a", context: "  " }, "topic and context"],
    [{ topic: "a", context: "b", decisions: "c" }, "decisions must be a list"],
    [{ topic: "a", context: "b", references: [1] }, "references must be a list"],
    [{ topic: "a", context: "b".repeat(60_000) }, "Shorten it"],
  ])("is refused with a sentence where it is wrong", (input, said) => expect(() => draftOf(input)).toThrow(said));

  it("is shown whole before it is stored, as text", () => {
    const draft = draftOf({
      topic: "T [x](command:y)",
      context: "One\nTwo <b>",
      decisions: ["D1", "D2"],
      rationale: ["R"],
      next_steps: ["N"],
      references: ["plan-7"],
    });
    const shown = confirmationOf(draft, "ws");
    for (const part of ["One", "Two &lt;b&gt;", "D1", "D2", "R", "N", "plan\\-7"]) expect(shown).toContain(part);
    expect(shown).not.toMatch(/(?<!\\)\[x/u);
  });
});
