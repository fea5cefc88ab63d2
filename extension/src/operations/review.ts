/** “Review Contradictions”: pair after pair of decisions that may contradict each other, and which of the two holds. */

import * as vscode from "vscode";
import type { ReviewedPair, ReviewedStatement } from "#types";
import { reading } from "../core/ask";
import { Ended } from "../core/error";
import { day, plain } from "../core/text";
import type { Documents } from "../recall/documents";
import { reviewOf } from "../recall/reads";
import { pairsOf } from "../recall/standing";
import type { Subject } from "../recall/subject";
import type { Services } from "../core/services";
import { targetOf } from "./choices";
import { runJob } from "./job";

type Verdict = "newer" | "older" | "both" | "undecided";
type Answer = Verdict | "open" | "later";

const SHOWN_MS = 8000;

/** Reviews what is disputed; of one memory also what was settled or replaced, so that it can be taken back. */
export async function review(services: Services, documents: Documents, value: unknown): Promise<void> {
  const { folder, subject } = await targetOf(services, value);
  const pairs = ofSubject(await reading((signal) => reviewOf(services.memoryOf(folder), signal)), subject);
  if (pairs.length === 0) throw new Ended("No decisions contradict each other.");
  let settled = 0;
  for (const [index, pair] of pairs.entries()) {
    const said = await decide(documents, folder, pair, `Contradiction ${index + 1} of ${pairs.length}`);
    if (said === undefined) break;
    if (said === "later") continue;
    const payload = { ...sides(pair), ...said };
    await runJob<"resolve">(services, folder, { kind: "resolve", payload }, "Noting what holds…");
    settled += 1;
  }
  if (settled > 0) vscode.window.setStatusBarMessage(`Settled: ${settled} of ${pairs.length}.`, SHOWN_MS);
}

function ofSubject(pairs: readonly ReviewedPair[], subject: Subject | undefined): ReviewedPair[] {
  if (subject?.kind === "memory") return pairsOf(pairs, subject.id);
  return pairs.filter(
    ({ state, older, newer }) =>
      state === "disputed" && (subject === undefined || [older.topic_id, newer.topic_id].includes(subject.topicId)),
  );
}

const sides = ({ older, newer }: ReviewedPair) => ({
  older: { memory_id: older.memory_id, statement: older.statement },
  newer: { memory_id: newer.memory_id, statement: newer.statement },
});

/** What the user says of a pair; undefined ends the review. */
async function decide(
  documents: Documents,
  folder: vscode.WorkspaceFolder,
  pair: ReviewedPair,
  title: string,
): Promise<{ verdict: Verdict; reason?: string } | "later" | undefined> {
  for (;;) {
    const answer = await ask(pair, title);
    if (answer === undefined || answer === "later") return answer;
    if (answer === "open") {
      for (const { memory_id, statement } of [pair.older, pair.newer])
        await documents.openRendered(statement, {
          kind: "memory",
          folder: folder.uri.fsPath,
          id: memory_id,
        });
    } else if (answer === "both") {
      const reason = await vscode.window.showInputBox({
        title,
        prompt: "Why do both hold? For instance, the scope of each. May stay empty.",
        ignoreFocusOut: true,
        validateInput: (text) => (text.length > 1000 ? "At most 1,000 characters." : undefined),
      });
      if (reason !== undefined) return { verdict: "both", ...(reason.trim() ? { reason: reason.trim() } : {}) };
    } else return { verdict: answer };
  }
}

const takenBack: vscode.QuickPickItem & { answer: Answer } = {
  label: "Take the Verdict Back",
  answer: "undecided",
  detail: "What the program found counts again.",
};

async function ask(pair: ReviewedPair, title: string): Promise<Answer | undefined> {
  // The first row is chosen by Enter: nobody settles by an Enter too many.
  const rows: (vscode.QuickPickItem & { answer: Answer })[] = [
    { label: "Open Both", answer: "open", detail: "Read the two memories, then decide." },
    { label: "The Newer Holds", answer: "newer", ...shownOf(pair.newer) },
    { label: "The Older Holds", answer: "older", ...shownOf(pair.older) },
    { label: "Both Hold…", answer: "both", detail: "They do not contradict each other." },
    ...(pair.cause === "said" ? [takenBack] : []),
    { label: "Later", answer: "later", detail: "Go on with the next." },
  ];
  const picked = await vscode.window.showQuickPick(rows, {
    title: [title, stateOf(pair)].filter(Boolean).join(" · "),
    placeHolder: "Which of the two holds? Escape ends the review.",
    ignoreFocusOut: true,
  });
  return picked?.answer;
}

function shownOf({ statement, memory_number, dated_at, topic_id }: ReviewedStatement): {
  description: string;
  detail: string;
} {
  const source = [day(dated_at), `#${memory_number}`, topic_id === null ? "" : plain(topic_id, 60)];
  return { description: source.filter(Boolean).join(" · "), detail: plain(statement, 300) };
}

/** What is known of a pair that is not disputed any more. */
function stateOf({ state, holds }: ReviewedPair): string {
  if (state === "disputed") return "";
  if (state === "both") return "settled: both hold";
  const which = holds === "newer" ? "the newer holds" : "the older holds";
  return state === "suspended" ? `settled: ${which}, but nothing falls by it` : `now ${which}`;
}
