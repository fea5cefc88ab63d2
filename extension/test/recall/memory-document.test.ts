import { describe, expect, it } from "vitest";
import type { MemoryText } from "#types";
import { historyDocument } from "../../src/recall/history";
import { memoryDocument } from "../../src/recall/memory-document";

const FORM = `<!-- Template: v1.0 -->
# Conversation Summary: Loan periods

**Metadata:**
- Topic ID: loan-periods
- Plan ID: N/A

## Context
Two weeks were too short.

## Key Decisions
- Loans last [four](command:x) weeks

## Rationale
- Renewals

## Next Steps
- Tell the readers
`;
const memory = (changes: Partial<MemoryText> = {}): MemoryText =>
  ({
    memory_number: 2,
    memory_type: "summary",
    status: "Superseded",
    title: "Loan periods",
    topic_id: "loan-periods",
    session_id: "2026-11-12-session-1",
    plan_id: null,
    tags: [],
    hidden: false,
    standings: [],
    feedback: { helpful: 0, wrong: 0, given: [] },
    anchors: [],
    source_created_at: null,
    created_at: "2026-11-12T09:00:00Z",
    summary_text: FORM,
    ...changes,
  }) as MemoryText;

describe("a memory as a document", () => {
  it("has its decisions and their reasons first, and its metadata as one line at the end", () => {
    const document = memoryDocument(memory());
    expect(document.match(/^##? .*/gmu)).toEqual([
      "# Loan periods",
      "## Key Decisions",
      "## Rationale",
      "## Context",
      "## Next Steps",
    ]);
    expect(document).toMatch(
      /\n---\n\nMemory 2 · Superseded · 2026-11-12 · topic loan-periods · session 2026-11-12-session-1\n$/u,
    );
    expect(document).not.toMatch(/Template|Metadata|N\/A|\]\(command/u);
    const summary_text = FORM.replace("- Renewals", "- Export from __init__.py, src/**/*.ts\n- \\# is C:\\_logs");
    expect(memoryDocument(memory({ summary_text }))).toContain(
      "- Export from \\_\\_init\\_\\_\\.py, src\\/\\*\\*\\/\\*\\.ts\n- \\# is C\\:\\\\\\_logs\n",
    );
  });

  it("says below its title that it is superseded, and which of its decisions was replaced by what", () => {
    const by = { memory_id: "b", memory_number: 5, statement: "Loans last five weeks", dated_at: null };
    const standings = [{ state: "replaced", statement: "Loans last four weeks", by }] as never;
    const replaced = "“Loans last four weeks” was replaced by “Loans last five weeks” \\(memory 5\\)\\.";
    const given = [{ by: "status", note: "Replaced by #5." }] as never;
    const superseded = memory({ standings, feedback: { helpful: 0, wrong: 1, given } });
    expect(memoryDocument(superseded, "[Review…](command:x)")).toContain(
      `# Loan periods\n\n> Superseded\\: answers leave it out\\. Replaced by \\#5\\.\n>\n> ${replaced}\n\n[Review…](command:x)\n\n## `,
    );
    expect(memoryDocument(memory({ status: "DecisionRecord", hidden: true }))).toContain(
      "> Answers leave it out\\: its",
    );
    expect(memoryDocument(memory({ status: "Active" }), "[Review…]")).not.toMatch(/Superseded|replaced|Review/u);
    const memories = [superseded] as never;
    const document = historyDocument({
      topicId: "loan-periods",
      memories,
      total: 1,
      texts: new Map(),
      compactions: [],
    });
    expect(document).toContain(`2026-11-12 · **Superseded**\n\n${replaced}\n`);
  });

  it("does not repeat in a history the title that stands above", () => {
    const [one, other] = [memory({ memory_id: "a" }), memory({ memory_id: "b", title: "Loans" })];
    const texts = new Map([one, other].map((each) => [each.memory_id, each]));
    const memories = [one, other] as never;
    const document = historyDocument({
      topicId: "loan-periods",
      memories,
      total: 2,
      texts,
      compactions: [],
    });
    expect(document.match(/^(?:> )?# .*/gmu)).toEqual(["# Loan periods", "> # Loans"]);
  });

  it("of an earlier version is its text", () => {
    const legacy = memory({ memory_type: "legacy", status: null, topic_id: null, session_id: null });
    expect(memoryDocument({ ...legacy, summary_text: "User: Which port?\n\n8127\n" })).toBe(
      "User: Which port?\n\n8127\n\n---\n\nMemory 2 · Legacy · 2026-11-12\n",
    );
  });
});
