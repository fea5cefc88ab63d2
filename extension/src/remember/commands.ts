/** The commands that remember: a decision, a selection, a conversation; and those that were kept. */

import { relative, sep } from "node:path";
import * as vscode from "vscode";
import { answered, input, pick, waiting } from "../core/ask";
import { describe, Ended, isAbort, MemoryError } from "../core/error";
import { plain } from "../core/text";
import type { Services } from "../core/services";
import { draftOfTurns, draftSummary } from "./conversation";
import { type Drafts, targetFolder } from "./drafts";
import type { KeptJob } from "./kept";
import type { Outbox } from "./outbox";
import { turnsOf } from "./paste";
import { EMPTY } from "./summary";
import { askTopic } from "./topic";
import type { Turn } from "./turns";

/** The most of a selection or the clipboard that is taken: a job file holds 1 MiB. */
const LONGEST_TEXT = 200_000;
const PREVIEW = 80;

/** “Remember a decision…”: topic, decisions, why. */
export async function rememberDecision(services: Services, drafts: Drafts): Promise<void> {
  const folder = await targetFolder(services);
  const title = "Remember a Decision";
  const about = await askTopic(services, folder, { title, step: 1, totalSteps: 3 });
  const decisions: string[] = [];
  for (;;) {
    const decision = await input({
      title: `${title} (2/3)`,
      prompt:
        decisions.length === 0
          ? "What was decided? One sentence that is understood alone."
          : `${decisions.length} noted. Another decision, or Enter alone to go on`,
      ignoreFocusOut: true,
      ...(decisions.length === 0
        ? { validateInput: (value) => (value.trim() === "" ? "Write the decision." : undefined) }
        : {}),
    });
    if (decision.trim() === "") break;
    decisions.push(decision.trim());
  }
  const why = await input({
    title: `${title} (3/3)`,
    prompt: "Why? Enter alone leaves it out.",
    ignoreFocusOut: true,
  });
  const draft = {
    ...EMPTY,
    ...about,
    context: `A decision about “${about.topic}”.`,
    decisions,
    rationale: why.trim() === "" ? [] : [why.trim()],
  };
  await drafts.send(draft, folder);
}

/** “Remember selection…”: the selected text under a topic, with the file as its reference. */
export async function rememberSelection(services: Services, drafts: Drafts): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const text = editor === undefined ? "" : editor.document.getText(editor.selection);
  if (editor === undefined || text.trim() === "") {
    throw new MemoryError("NO_SELECTION", "Nothing is selected.", "Select a text in an editor first.");
  }
  requireShort(text);
  const folder = await targetFolder(services);
  const place = placeOf(editor, folder);
  const title = `Remember the Selection: ${plain(place ?? text, PREVIEW)}`;
  const about = await askTopic(services, folder, { title });
  await drafts.send(
    {
      ...EMPTY,
      ...about,
      context: text.trim(),
      references: place === undefined ? [] : [place],
    },
    folder,
  );
}

interface Source extends vscode.QuickPickItem {
  readonly from: "clipboard" | "nothing";
}

/**
 * “Remember this conversation…”: its summary as a draft, which the user edits. The conversation is what the chat gave,
 * else the selection, else what the user chooses: the clipboard, or an empty draft.
 */
export async function rememberConversation(services: Services, drafts: Drafts, given: unknown): Promise<void> {
  const folder = await targetFolder(services);
  const [model] = vscode.workspace.isTrusted ? await vscode.lm.selectChatModels() : [];
  const turns = isTurns(given) ? given : await chosenTurns(model);
  if (turns.length === 0) {
    await drafts.open(EMPTY, folder);
    return;
  }
  requireShort(turns.map(({ text }) => text).join("\n"));
  const title = model === undefined ? "Reading the conversation…" : `${model.name} writes the summary…`;
  const draft = await waiting(title, async (signal) => {
    try {
      return await draftSummary(turns, model, signal);
    } catch (error) {
      if (isAbort(error) || signal.aborted) return undefined;
      services.log.warn(`[Remember] The model wrote no summary: ${describe(error)}`);
      void vscode.window.showWarningMessage(
        `The model wrote no summary: ${plain(describe(error))} The draft has the conversation itself.`,
      );
      return draftOfTurns(turns);
    }
  });
  if (draft !== undefined) await drafts.open(draft, folder);
}

async function chosenTurns(model: vscode.LanguageModelChat | undefined): Promise<readonly Turn[]> {
  const editor = vscode.window.activeTextEditor;
  const selected = editor === undefined ? "" : editor.document.getText(editor.selection);
  if (selected.trim() !== "") return turnsOf(selected);
  const items: Source[] = [
    {
      label: "$(clippy) The conversation in the clipboard",
      detail:
        model === undefined
          ? "You write its summary: no chat model is there."
          : `${model.name} writes its summary, which you then edit.`,
      from: "clipboard",
    },
    { label: "$(edit) Write the summary myself", detail: "Begins with an empty draft.", from: "nothing" },
  ];
  const picked = await pick(items, {
    title: "Remember a Conversation",
    placeHolder: "To take it from a chat: “Copy All” in the chat's context menu, then run this command",
  });
  if (picked.from !== "clipboard") return [];
  const copied = await vscode.env.clipboard.readText(); // not before it is asked for: it may hold anything
  if (copied.trim() === "") {
    throw new MemoryError(
      "NO_CONVERSATION",
      "The clipboard holds no text.",
      "Choose “Copy All” in the chat's context menu first.",
    );
  }
  return turnsOf(copied);
}

function isTurns(value: unknown): value is readonly Turn[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each: Partial<Turn> | null) => typeof each?.text === "string" && typeof each.role === "string")
  );
}

function requireShort(text: string): void {
  if (text.length <= LONGEST_TEXT) return;
  throw new MemoryError(
    "TEXT_TOO_LONG",
    `The text has ${text.length} characters; a memory is taken from at most ${LONGEST_TEXT}.`,
    "Select the part that matters.",
  );
}

/** The file and the lines of a selection, from the folder; undefined for a document that is no file of it. */
function placeOf(editor: vscode.TextEditor, folder: vscode.WorkspaceFolder | null): string | undefined {
  const { uri } = editor.document;
  if (folder === null || uri.scheme !== "file") return undefined;
  const path = relative(folder.uri.fsPath, uri.fsPath).split(sep).join("/");
  if (path.startsWith("../") || path === "") return undefined;
  const [first, last] = [editor.selection.start.line + 1, editor.selection.end.line + 1];
  return first === last ? `${path}:${first}` : `${path}:${first}-${last}`;
}

interface KeptItem extends vscode.QuickPickItem {
  readonly kept: readonly KeptJob[];
}

/** Offers what could not be dropped: to remember it again, or to discard it. */
export async function dropKept(services: Services, outbox: Outbox): Promise<void> {
  const all = await outbox.waiting();
  if (all.length === 0) throw new Ended("Nothing waits to be remembered again.");
  const items: KeptItem[] = all.map((kept) => ({
    label: plain(kept.topic, 100),
    description: kept.folder ?? "no folder",
    detail: plain(kept.reason, 300),
    kept: [kept],
  }));
  if (all.length > 1) items.unshift({ label: `$(sync) All ${all.length}`, kept: all });
  const picked = await pick(items, {
    title: "Remember Again",
    placeHolder: "These summaries could not be stored",
    matchOnDescription: true,
  });
  const [again, discard] = ["Remember Again", "Discard"];
  const question =
    picked.kept.length === 1
      ? `Remember “${plain(picked.kept[0]?.topic ?? "", 100)}” again?`
      : `Remember ${picked.kept.length} summaries again?`;
  const away = picked.kept.find(
    ({ folder }) => folder !== null && !services.folders().some(({ uri }) => uri.fsPath === folder),
  );
  const options = {
    modal: true,
    ...(away === undefined
      ? {}
      : { detail: `${away.folder ?? ""} is not open in this window. It would go into this window’s folder.` }),
  };
  const answer = await vscode.window.showInformationMessage(question, options, again, discard);
  if (answer === discard) for (const kept of picked.kept) await outbox.discard(kept);
  else if (answer === again) await sendAgain(services, outbox, picked.kept);
}

/** Each goes into its own folder, or into the one that the user means if its own is not open. */
async function sendAgain(services: Services, outbox: Outbox, all: readonly KeptJob[]): Promise<void> {
  let meant: vscode.WorkspaceFolder | undefined;
  const title = "Remembering again…";
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, async () => {
    for (const kept of all) {
      let folder = services.folders().find(({ uri }) => uri.fsPath === kept.folder);
      if (folder === undefined || !vscode.workspace.isTrusted) folder = meant ??= answered(await services.folder());
      await outbox.sendOne(folder, kept);
    }
  });
}
