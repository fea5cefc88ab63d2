import { describe, expect, it } from "vitest";
import { age, contextOf, escaped, inert, noteOf, plain, when, withoutMark } from "../../src/core/text";

const NOW = Date.parse("2026-11-20T12:00:00Z");

describe("age", () => {
  it.each([
    ["2026-11-17T11:00:00Z", "3 days ago"],
    ["2026-11-20T11:59:30Z", "30 seconds ago"],
    ["2026-11-20T09:59:00Z", "2 hours ago"],
    ["2025-11-01T00:00:00Z", "1 year ago"],
    ["2026-11-20T12:05:00Z", "in 5 minutes"],
  ])("of %s is %s", (date, said) => expect(age(date, NOW, "en")).toBe(said));

  it("is empty without a date", () => expect([age(null, NOW, "en"), age("soon", NOW, "en")]).toEqual(["", ""]));
});

describe("when", () => {
  it("is the day and the time, so that it stays true while it is shown", () => {
    expect(when(new Date(2026, 10, 20, 9, 5).toISOString())).toBe("2026-11-20 09:05");
    expect(when(null)).toBe("");
  });
});

describe("what a memory says", () => {
  it("is one line without icons or hidden marks in a label", () => {
    expect(plain("a\n$(trash)\u202e b\u0007")).toBe("a $\u200b(trash) b");
    expect(plain("[x](command:a)")).toBe("[x]\u200b(command:a)");
    expect(plain("x".repeat(300), 10)).toBe(`${"x".repeat(9)}…`);
  });

  it("has no link, image or HTML as a document", () => {
    expect(inert("# A\n- [x](command:a) ![y](http://b) [z][w] <b>t</b> <command:c> 1 < 2")).toBe(
      "# A\n- [x]\\(command:a) ![y]\\(http://b) [z]\\[w] \\<b>t\\</b> \\<command:c> 1 < 2",
    );
    expect(inert("[w]: command:a")).toBe("[w]\\: command:a");
  });

  it("cannot undo the escape with a backslash of its own", () => {
    expect(inert("\\\\<b> \\<b> [x\\](command:a)")).toBe("\\\\\\<b> \\<b> [x\\]\\(command:a)");
  });

  it.each(["<!-- Template: v1.0 -->", "<!-- Decision Record Template: v1.0 -->", "\\<!-- Template: v1.0 -->"])(
    "has no mark %s",
    (mark) => {
      expect(withoutMark(`${mark}\n# Loans`)).toBe("# Loans");
    },
  );

  it("is its context where nothing better is known", () => {
    const text =
      "<!-- Template: v1.0 -->\n# Loans\n\n## Context\nReaders may\nkeep books.\n\n## Decisions\n- Four weeks\n";
    expect(contextOf(text)).toBe("Readers may\nkeep books.");
    expect(contextOf("# Loans\n\n## Context\nThe last section")).toBe("The last section");
    expect(contextOf("A text of an earlier version")).toBe("A text of an earlier version");
  });

  it("has no meaning in rendered Markdown", () => {
    expect(escaped("[x](command:a)\n<b> & https://h | `c` $(i)")).toBe(
      "\\[x\\]\\(command\\:a\\) &lt;b&gt; &amp; https\\:\\/\\/h \\| \\`c\\` \\$\\(i\\)",
    );
  });
});

describe("noteOf", () => {
  it.each(["1 job waits", "1 job waits."])("makes one sentence of a warning: %s", (warning) => {
    expect(noteOf(warning)).toBe("Note: 1 job waits.");
  });
});
