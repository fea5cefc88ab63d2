import { describe, expect, it } from "vitest";
import { addressOf, type Target, targetOf } from "../../src/recall/target";

const targets: readonly Target[] = [
  {
    kind: "memory",
    folder: "/a b/ü&=?",
    id: "852330de",
    asked: { query: "why? & how=", asOf: "2026-11-20T12:00:00Z" },
  },
  { kind: "memory", folder: "C:\\work", id: "3" },
  { kind: "explanation", folder: "/w", number: 12 },
  { kind: "history", folder: "/w", topicId: "retry-policy" },
  { kind: "job", folder: "/w", jobId: "vscode-1" },
  { kind: "report", id: 3 },
];

describe("an address", () => {
  it.each(targets)("leads back to its target: $kind", (target) => {
    expect(targetOf(addressOf("Title", target).query)).toEqual(target);
  });

  it("names the tab by the title, without signs of a path", () => {
    expect(addressOf("a/b\\c\n$(x)", { kind: "report", id: 1 }).path).toBe("/a-b-c $\u200b(x).md");
    expect(addressOf("x", { kind: "job", folder: "/w", jobId: "j" }).path).toBe("/x.json");
  });

  it.each([
    "",
    "kind=memory&folder=/w&id=../x/y",
    "kind=job&folder=/w&jobId=a/b",
    "kind=explanation&number=-1",
    "kind=x",
  ])("of another form is refused: %s", (query) => expect(targetOf(query)).toBeUndefined());
});
