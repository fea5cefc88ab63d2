// A temporary folder with memories, made by the real program: what the runs look at.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export const PROGRAM = process.env.COGNEE_MEMORY_PROGRAM ?? "";

const SUMMARIES = [
  {
    topic: "Loan periods",
    topic_id: "loan-periods",
    context: "How long books may be kept, and what readers asked for.",
    decisions: ["Loans last two weeks", "Reminders are sent by mail three days before"],
    rationale: ["New books are asked for often"],
    created_at: "2026-10-02T09:00:00Z",
  },
  {
    topic: "Loan periods",
    topic_id: "loan-periods",
    context: "Readers with children found two weeks too short.",
    decisions: ["Loans last four weeks", "A loan may be renewed twice"],
    rationale: ["Most reminders were answered by a renewal"],
    open_questions: ["Do reserved books have a shorter period?"],
    created_at: "2026-11-12T09:00:00Z",
  },
  {
    topic: "Opening hours in winter",
    topic_id: "opening-hours-in-winter",
    context: "The reading room is empty on winter evenings.",
    decisions: ["From December to February the library closes at six"],
    rationale: ["Fewer than five visitors after six"],
    created_at: "2026-11-18T09:00:00Z",
  },
  {
    topic: "Catalogue import",
    topic_id: "catalogue-import",
    context: "The old catalogue has 40,000 cards without an ISBN.",
    decisions: ["Match cards by title and year", "Cards that match nothing go to a list for the librarians"],
    rationale: ["Half of the cards have no ISBN"],
    next_steps: ["Try it with the letter A"],
    created_at: "2026-11-20T09:00:00Z",
  },
];

/** Makes the folder; `remember` fills it, with the summaries above unless others are given. `more` are further variables of the program's environment. */
export function makeFolder(more = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "library-")));
  const workspace = join(root, "library");
  const env = { ...process.env, COGNEE_MEMORY_CONFIG_DIR: join(root, "config"), ...more };
  mkdirSync(workspace);
  writeFileSync(join(workspace, "notes.md"), "# Notes\n\n");
  const run = promisify(execFile);
  const program = async (...args) => {
    const { stdout } = await run(PROGRAM, [...args, "--json", "--workspace", workspace], { env });
    return JSON.parse(stdout);
  };
  return {
    workspace,
    env: { COGNEE_MEMORY_CONFIG_DIR: env.COGNEE_MEMORY_CONFIG_DIR, ...more },
    program,
    async remember(summaries = SUMMARIES) {
      await program("worker", "start");
      for (const summary of summaries) {
        const file = join(root, "summary.json");
        writeFileSync(file, JSON.stringify(summary));
        await program("ingest", "--summary-json", file, "--wait");
      }
    },
    /** Drops a job file as it is. */
    drop(job) {
      writeFileSync(join(workspace, ".cognee_jobs", `${job.job_id}.json`), JSON.stringify(job), { mode: 0o600 });
    },
    /** A text of an earlier version of the program. */
    putOldText() {
      mkdirSync(join(workspace, ".cognee_data"), { recursive: true });
      const text = `Summary: Plan 014 Reading room\nTopic: Plan 014 Reading room\nContext: We planned the new tables.\nDecisions:\n- Ten tables with lamps\n`;
      writeFileSync(join(workspace, ".cognee_data", "text_8124a61889e5e4baecb639c2cd50a2bd.txt"), text);
    },
    async end() {
      await program("worker", "stop").catch(() => undefined);
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
