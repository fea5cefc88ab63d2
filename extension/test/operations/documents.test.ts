import { describe, expect, it } from "vitest";
import type { Captured, CompactionPreview, Migration } from "#types";
import { captureDocument, toolsIn } from "../../src/operations/capture-document";
import { compactionDocument } from "../../src/operations/compaction-document";
import { migrationDocument } from "../../src/operations/migration-document";

const source = (memory_number: number) => ({
  memory_id: `m${memory_number}`,
  memory_number,
  memory_type: "summary" as const,
  topic: "Retry | policy",
  session_id: null,
  plan_id: null,
  status: "Active" as const,
  created_at: "2026-11-01T10:00:00Z",
  source_created_at: null,
  decisions: ["One"],
  content_sha256: "",
});

const preview = {
  summaries: [source(1), source(2)],
  decision_record: {
    topic: "Retry policy",
    topic_id: "retry-policy",
    summary_text: "Two [x](command:a) <b>",
    consolidated_decisions: ["[Earlier] Five", "[Later] Three supersedes Five"],
    consolidated_rationale: [],
    key_open_questions: [],
    next_steps: [],
    key_references_files: ["src/a.ts"],
    key_references_plans: [],
    key_references_branches: [],
    key_references_issues: [],
  },
  conflicts: [
    {
      kind: "value",
      confidence: 0.8,
      earlier: { memory_id: "m1", memory_number: 1, text: "Five | retries" },
      later: { memory_id: "m2", memory_number: 2, text: "Three" },
    },
  ],
  kept_both: [],
  warnings: [],
  preview_digest: "d",
} as unknown as CompactionPreview;

describe("the preview of a compaction", () => {
  const document = compactionDocument(preview);

  it("has the conflicts side by side, the earlier first", () => {
    expect(document).toContain("| Five \\| retries (memory 1) | Three (memory 2) | another amount, 80 % |");
  });

  it("has the rejected conflicts apart", () => {
    const rejected = compactionDocument({ ...preview, conflicts: [], kept_both: preview.conflicts });
    expect(rejected).toContain("No two decisions contradict each other.");
    expect(rejected).toContain("## Conflicts that you rejected: both hold");
    expect(rejected).toContain("| Five \\| retries (memory 1) | Three (memory 2) |");
    expect(document).not.toContain("rejected");
  });

  it("shows texts of memories as text", () => {
    expect(document).toContain("Two \\[x\\]\\(command\\:a\\) &lt;b&gt;");
    expect(document).toContain("- \\[Later\\] Three supersedes Five");
  });
});

describe("the dry run of a migration", () => {
  const item = { memory_id: null, memory_number: null, title: null, topic_id: null, session_id: null, plan_id: null };
  const migration = {
    found: 2,
    migrated: 1,
    already_migrated: 0,
    forgotten: 0,
    failed: 1,
    skipped: 3,
    items: [
      { ...item, outcome: "failed", reason: "Line 8 | bad", source: { file: "text_1.txt" } },
      { ...item, outcome: "migrated", memory_type: "summary", title: "Plan 014", topic_id: "plan-014", source: {} },
    ],
    items_omitted: 0,
    warnings: [],
    redactions: null,
  } as unknown as Migration;

  it("lists what fails and what each text becomes", () => {
    const document = migrationDocument(migration);
    expect(document).toContain("| text\\_1\\.txt | Line 8 \\| bad |");
    expect(document).toContain("| summary | Plan 014 | plan\\-014 |");
    expect(document).toContain("- would be migrated: 1");
  });
});

describe("the dry run of a capture", () => {
  const memory = { topic: "Retry | policy", created_at: "2026-11-01T10:00:00Z", decisions: 2 };
  const item = { title: null, modified_at: "2026-11-02T10:00:00Z", reason: null, memories: [] };
  const captured = {
    sessions: 3,
    memories: 1,
    unchanged: 1,
    failed: 1,
    items: [
      {
        ...item,
        tool: "claude-code",
        outcome: "captured",
        memories: [{ ...memory, summary_text: "# Retry [x](command:a)\nSECOND" }],
      },
      { ...item, tool: "codex", outcome: "failed", reason: "The transcript was not read: it is <damaged>." },
      { ...item, tool: "cursor", outcome: "unchanged" },
    ],
    items_omitted: 4,
    redactions: { total: 2 },
    warnings: ["Capture from claude-code is not enabled yet"],
  } as unknown as Captured;
  const document = captureDocument(captured);

  it("lists what would be kept and what cannot be read, and leaves out what is captured already", () => {
    expect(document).toContain("| claude\\-code | 2026\\-11\\-01 | Retry \\| policy | 2 |  |");
    expect(document).toContain("it is &lt;damaged&gt;");
    expect(document).not.toContain("cursor");
    expect(document).toContain("4 more are not listed here.");
    expect(document).toContain("likely secrets that would be replaced: 2");
    expect(document).toContain("not enabled yet");
  });

  it("shows each text exactly, as text", () => {
    expect(document).toContain("\\# Retry \\[x\\]\\(command\\:a\\)  \nSECOND");
  });

  it("names the tools that have something to keep", () => {
    expect(toolsIn(captured)).toEqual(["claude-code"]);
  });
});
