/** The commands that remember: a decision, a selection, a conversation; and those that were kept. */

import { relative, sep } from "node:path";
import * as vscode from "vscode";
import { describe, isAbort, MemoryError } from "../core/error";
import { plain } from "../core/text";
import type { Services } from "../services";
import { draftOfTurns, draftSummary, type Turn } from "./conversation";
import { Drafts, targetFolder } from "./drafts";
import type { KeptJob } from "./kept";
import { Outbox } from "./outbox";
import { turnsOf } from "./paste";
import { type Draft, EMPTY } from "./summary";
import { askTopic } from "./topic";

/** The most of a selection or the clipboard that is taken: a job file holds 1 MiB. */
const LONGEST_TEXT = 200_000;
const PREVIEW = 80;

/** “Remember a decision…”: topic, decisions, why. */
export async function rememberDecision(services: Services): Promise<void> {
  const t = vscode.l10n.t;
  const folder = await targetFolder(services);
  if (folder === undefined) return;
  const title = t("Remember a Decision");
  const topic = await askTopic(services, folder, { title, step: 1, totalSteps: 3 });
  if (topic === undefined) return;
  const decisions: string[] = [];
  for (;;) {
    const decision = await vscode.window.showInputBox({
      title: `${title} (2/3)`,
      prompt:
        decisions.length === 0
          ? t("What was decided? One sentence that is understood alone.")
          : t("{0} noted. Another decision, or Enter alone to go on", decisions.length),
      ignoreFocusOut: true,
      ...(decisions.length === 0
        ? { validateInput: (value) => (value.trim() === "" ? t("Write the decision.") : undefined) }
        : {}),
    });
    if (decision === undefined) return;
    if (decision.trim() === "") break;
    decisions.push(decision.trim());
  }
  const why = await vscode.window.showInputBox({
    title: `${title} (3/3)`,
    prompt: t("Why? Enter alone leaves it out."),
    ignoreFocusOut: true,
  });
  if (why === undefined) return;
  const draft = {
    ...EMPTY,
    topic: topic.title,
    ...(topic.id === undefined ? {} : { topicId: topic.id }),
    context: t("A decision about “{0}”.", topic.title),
    decisions,
    rationale: why.trim() === "" ? [] : [why.trim()],
  };
  await send(services, folder, draft);
}

/** “Remember selection…”: the selected text under a topic, with the file as its reference. */
export async function rememberSelection(services: Services): Promise<void> {
  const t = vscode.l10n.t;
  const editor = vscode.window.activeTextEditor;
  const text = editor === undefined ? "" : editor.document.getText(editor.selection);
  if (editor === undefined || text.trim() === "") {
    throw new MemoryError("NO_SELECTION", t("Nothing is selected."), t("Select a text in an editor first."));
  }
  requireShort(text);
  const folder = await targetFolder(services);
  if (folder === undefined) return;
  const place = placeOf(editor, folder);
  const title = t("Remember the Selection: {0}", plain(place ?? text, PREVIEW));
  const topic = await askTopic(services, folder, { title });
  if (topic === undefined) return;
  await send(services, folder, {
    ...EMPTY,
    topic: topic.title,
    ...(topic.id === undefined ? {} : { topicId: topic.id }),
    context: text.trim(),
    references: place === undefined ? [] : [place],
  });
}

interface Source extends vscode.QuickPickItem {
  readonly from: "clipboard" | "nothing";
}

/**
 * “Remember this conversation…”: its summary as a draft, which the user edits. The conversation is what the chat gave,
 * else the selection, else what the user chooses: the clipboard, or an empty draft.
 */
export async function rememberConversation(services: Services, given: unknown): Promise<void> {
  const t = vscode.l10n.t;
  const folder = await targetFolder(services);
  if (folder === undefined) return;
  const [model] = vscode.workspace.isTrusted ? await vscode.lm.selectChatModels() : [];
  const turns = isTurns(given) ? given : await chosenTurns(model);
  if (turns === undefined) return;
  if (turns.length === 0) {
    await Drafts.of(services).open(EMPTY, folder);
    return;
  }
  requireShort(turns.map(({ text }) => text).join("\n"));
  const title = model === undefined ? t("Reading the conversation…") : t("{0} writes the summary…", model.name);
  const draft = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (_, token) => {
      try {
        return await draftSummary(turns, model, token);
      } catch (error) {
        if (isAbort(error) || token.isCancellationRequested) return undefined;
        services.log.warn(`[Remember] The model wrote no summary: ${describe(error)}`);
        void vscode.window.showWarningMessage(
          t("The model wrote no summary: {0} The draft has the conversation itself.", plain(describe(error))),
        );
        return draftOfTurns(turns);
      }
    },
  );
  if (draft !== undefined) await Drafts.of(services).open(draft, folder);
}

async function chosenTurns(model: vscode.LanguageModelChat | undefined): Promise<readonly Turn[] | undefined> {
  const t = vscode.l10n.t;
  const editor = vscode.window.activeTextEditor;
  const selected = editor === undefined ? "" : editor.document.getText(editor.selection);
  if (selected.trim() !== "") return turnsOf(selected);
  const items: Source[] = [
    {
      label: `$(clippy) ${t("The conversation in the clipboard")}`,
      detail:
        model === undefined
          ? t("You write its summary: no chat model is there.")
          : t("{0} writes its summary, which you then edit.", model.name),
      from: "clipboard",
    },
    { label: `$(edit) ${t("Write the summary myself")}`, detail: t("Begins with an empty draft."), from: "nothing" },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: t("Remember a Conversation"),
    placeHolder: t("To take it from a chat: “Copy All” in the chat's context menu, then run this command"),
  });
  if (picked?.from !== "clipboard") return picked && [];
  const copied = await vscode.env.clipboard.readText(); // not before it is asked for: it may hold anything
  if (copied.trim() === "") {
    throw new MemoryError(
      "NO_CONVERSATION",
      t("The clipboard holds no text."),
      t("Choose “Copy All” in the chat's context menu first."),
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
    vscode.l10n.t("The text has {0} characters; a memory is taken from at most {1}.", text.length, LONGEST_TEXT),
    vscode.l10n.t("Select the part that matters."),
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

/** Sends what a form gave. Where not even that is possible, the text stays on the screen as a draft. */
async function send(services: Services, folder: vscode.WorkspaceFolder | null, draft: Draft): Promise<void> {
  try {
    await Outbox.of(services).send(folder, draft); // the status bar says what becomes of it
  } catch (error) {
    await Drafts.of(services).open(draft, folder);
    throw error;
  }
}

interface KeptItem extends vscode.QuickPickItem {
  readonly kept: readonly KeptJob[];
}

/** Offers what could not be dropped: to remember it again, or to discard it. */
export async function dropKept(services: Services): Promise<void> {
  const t = vscode.l10n.t;
  const outbox = Outbox.of(services);
  const all = await outbox.waiting();
  if (all.length === 0) {
    void vscode.window.showInformationMessage(t("Nothing waits to be remembered again."));
    return;
  }
  const items: KeptItem[] = all.map((kept) => ({
    label: plain(kept.topic, 100),
    description: kept.folder ?? t("no folder"),
    detail: plain(kept.reason, 300),
    kept: [kept],
  }));
  if (all.length > 1) items.unshift({ label: `$(sync) ${t("All {0}", all.length)}`, kept: all });
  const picked = await vscode.window.showQuickPick(items, {
    title: t("Remember Again"),
    placeHolder: t("These summaries could not be stored"),
    matchOnDescription: true,
  });
  if (picked === undefined) return;
  const [again, discard] = [t("Remember Again"), t("Discard")];
  const question =
    picked.kept.length === 1
      ? t("Remember “{0}” again?", plain(picked.kept[0]?.topic ?? "", 100))
      : t("Remember {0} summaries again?", picked.kept.length);
  const away = picked.kept.find(
    ({ folder }) => folder !== null && !services.folders().some(({ uri }) => uri.fsPath === folder),
  );
  const options = {
    modal: true,
    ...(away === undefined
      ? {}
      : { detail: t("{0} is not open in this window. It would go into this window’s folder.", away.folder ?? "") }),
  };
  const answer = await vscode.window.showInformationMessage(question, options, again, discard);
  if (answer === discard) for (const kept of picked.kept) await outbox.discard(kept);
  else if (answer === again) await sendAgain(services, picked.kept);
}

/** Each goes into its own folder, or into the one that the user means if its own is not open. */
async function sendAgain(services: Services, all: readonly KeptJob[]): Promise<void> {
  let meant: vscode.WorkspaceFolder | undefined;
  const title = vscode.l10n.t("Remembering again…");
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, async () => {
    for (const kept of all) {
      let folder = services.folders().find(({ uri }) => uri.fsPath === kept.folder);
      if (folder === undefined || !vscode.workspace.isTrusted) folder = meant ??= await services.folder();
      if (folder === undefined) return;
      await Outbox.of(services).sendOne(folder, kept);
    }
  });
}
