/** Registers the commands of recall, and the documents that show memories. */

import * as vscode from "vscode";
import { MemoryError } from "../core/error";
import { Changes } from "../views/changes";
import { Pause } from "../views/pause";
import { type Services, signalOf } from "../services";
import { Documents, EDITOR, targetOfUri } from "./documents";
import { feedbackJob, type Verdict } from "./feedback";
import { Origin } from "./origin";
import type { Action } from "./picker";
import { memoryDocument } from "./memory-document";
import { memoryText } from "./reads";
import { isSubject, type MemorySubject, type Subject, subjectOfMemory } from "./subject";
import { SCHEME } from "./target";

export function registerRecall(services: Services): vscode.Disposable {
  const documents = new Documents(services);
  documentsOfServices.set(services, documents);
  const origin = new Origin();
  const changes = Changes.of(services);

  const act = async (action: Action, memory: MemorySubject): Promise<void> => {
    const { folder, id, number, title, topicId, asked } = memory;
    const found = asked === undefined ? {} : { asked };
    if (action === "open") await documents.openRendered(title, { kind: "memory", folder, id, ...found });
    else if (action === "insert") await origin.insert(await summaryOf(documents, folder, id));
    else if (action === "explain") {
      await documents.openRendered(`Why: ${title}`, { kind: "explanation", folder, number, ...found });
    } else if (topicId !== null) {
      await documents.openRendered(`History: ${title}`, { kind: "history", folder, topicId });
    } else {
      void vscode.window.showInformationMessage("A memory of an earlier version has no topic, so it has no history.");
    }
  };

  /** The memory of a tree item, or of the document whose button was pressed. */
  const subjectOf = async (value: unknown): Promise<Subject> => {
    if (isSubject(value)) return value;
    const shown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    const target = targetOfUri(
      value instanceof vscode.Uri ? value : shown instanceof vscode.TabInputCustom ? shown.uri : undefined,
    );
    if (target?.kind !== "memory") {
      throw new MemoryError("NO_MEMORY", "This command needs a memory.", "Open one first: “Cognee Memory: Recall…”.");
    }
    const memory = await memoryText(documents.memoryAt(target.folder), target.id, AbortSignal.timeout(READ_MS));
    const found = target.asked === undefined ? {} : { asked: target.asked };
    return { ...subjectOfMemory(target.folder, memory), ...found };
  };

  const on = (action: Action) => async (value: unknown) => {
    const subject = await subjectOf(value);
    if (subject.kind === "memory") await act(action, subject);
    else await documents.openRendered(`History: ${subject.title}`, { ...subject, kind: "history" });
  };

  const rate = (verdict: Verdict) => async (value: unknown) => {
    const subject = await subjectOf(value);
    if (subject.kind !== "memory") return;
    await documents.memoryAt(subject.folder).drop(feedbackJob(subject, verdict));
    const said = verdict === "helpful" ? "Noted: this helped." : "Noted: this is wrong. The memory stays as it is.";
    vscode.window.setStatusBarMessage(said, MESSAGE_MS);
  };

  return vscode.Disposable.from(
    documents,
    origin,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, documents),
    vscode.window.registerCustomEditorProvider(EDITOR, documents, { webviewOptions: { enableFindWidget: true } }),
    ...refreshing(changes, documents),
    services.command("cognee.recall", async () => {
      services.foldersToAsk(); // it says what is missing, before anything is typed
      const { recall } = await import("./picker");
      recall(services, (action, memory) => void act(action, memory).catch((error: unknown) => services.show(error)));
    }),
    services.command("cognee.showOpen", async () => {
      const { chooseOpenItem } = await import("./open-items");
      const chosen = await chooseOpenItem(services);
      if (chosen === undefined) return;
      const { folder, item } = chosen;
      await documents.openRendered(item.title, { kind: "memory", folder: folder.uri.fsPath, id: item.memory_id });
    }),
    services.command("cognee.insertContext", async () => {
      const { askForContext } = await import("./context");
      const block = await askForContext(services);
      if (block !== undefined) await origin.insert(block);
    }),
    services.command("cognee.copyContext", async () => {
      const { askForContext } = await import("./context");
      const block = await askForContext(services);
      if (block === undefined) return;
      await vscode.env.clipboard.writeText(block);
      vscode.window.setStatusBarMessage("The context was copied to the clipboard.", MESSAGE_MS);
    }),
    services.command("cognee.openMemory", on("open")),
    services.command("cognee.insertMemory", on("insert")),
    services.command("cognee.explainMemory", on("explain")),
    services.command("cognee.showHistory", on("history")),
    services.command("cognee.memoryHelped", rate("helpful")),
    services.command("cognee.memoryWrong", rate("wrong")),
  );
}

/** Reads the open documents again when jobs of their folder have changed, and then no more do for a moment. */
function refreshing(changes: Changes, documents: Documents): { dispose(): void }[] {
  const changed = new Set<string>();
  const pause = new Pause(() => {
    for (const folder of changed) documents.refresh(folder);
    changed.clear();
  });
  const listener = changes.onDidChange(({ folder, what }) => {
    if (what !== "jobs") return;
    changed.add(folder.uri.fsPath);
    pause.begin();
  });
  return [pause, listener];
}

const READ_MS = 30_000;
const MESSAGE_MS = 5000;
const documentsOfServices = new WeakMap<Services, Documents>();

/** The documents of this window, for commands that show a report. */
export function documentsOf(services: Services): Documents {
  const documents = documentsOfServices.get(services);
  if (documents === undefined) throw new Error("recall is not registered");
  return documents;
}

async function summaryOf(documents: Documents, folder: string, id: string): Promise<string> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: "Recalling…" },
    async (_, token) => memoryDocument(await memoryText(documents.memoryAt(folder), id, signalOf(token))),
  );
}
