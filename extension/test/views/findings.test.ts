import { describe, expect, it } from "vitest";
import { fixOf } from "../../src/views/findings";

const fix = (remedy: string, named: "start a worker" | null = null) => fixOf({ level: "warning", fix: named, remedy });

describe("the fix of a finding", () => {
  it("is doctor's own where it has one", () => {
    expect(fix("Start one: cognee-memory worker start.", "start a worker")).toEqual({
      by: "program",
      verb: ["doctor"],
      args: ["--fix"],
    });
  });

  it.each([
    [
      "Restart it: cognee-memory worker restart.",
      { by: "program", verb: ["worker", "restart"], args: ["--leave-when-idle"] },
    ],
    [
      "Embed all texts again: cognee-memory rebuild --what index.",
      { by: "program", verb: ["rebuild"], args: ["--what=index"] },
    ],
    ["If they are yours, run: cognee-memory trust. Nothing was read.", { by: "extension", command: "cognee.trust" }],
    ["Fetch it: cognee-memory setup.", { by: "extension", command: "cognee.setUp" }],
  ])("is the one command that the remedy names: %s", (remedy, expected) => expect(fix(remedy)).toEqual(expected));

  it.each([
    "Free some disk space.",
    "To remove everything: cognee-memory purge.",
    "See cognee-memory worker logs, then restart it: cognee-memory worker restart.",
    "Run cognee-memory trusted.",
    "Move .cognee_memory away, then cognee-memory rebuild --what both.",
  ])("is none where a person must decide or the command may lose something: %s", (remedy) =>
    expect(fix(remedy)).toBeNull(),
  );
});
