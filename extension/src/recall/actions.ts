/** What a person does with a memory: recall it, open it, insert it, see its score and history, rate it. */

import * as vscode from "vscode";
import { reading } from "../core/ask";
import { MemoryError } from "../core/error";
import { Pause } from "../core/pause";
import type { Services } from "../core/services";
import { askForContext } from "./context";
import { type Documents, targetOfUri } from "./documents";
import { feedbackJob, type Verdict } from "./feedback";
import { chooseOpenItem } from "./open-items";
import { Origin } from "./origin";
import { type Action, recall } from "./picker";
import { memoryText } from "./reads";
import { isSubject, type MemorySubject, type Subject, subjectOfMemory } from "./subject";

const READ_MS = 30_000;
const MESSAGE_MS = 5000;

export class RecallActions {
  private readonly origin: Origin;
  private readonly pause = new Pause(() => this.documents.refresh());

  constructor(
    private readonly services: Services,
    private readonly documents: Documents,
  ) {
    this.origin = new Origin(services);
    services.owns(
      this.pause,
      services.changes.onDidChange(({ what }) => what !== "heartbeat" && this.pause.begin()),
    );
  }

  readonly commands: Readonly<Record<string, (value: unknown) => unknown>> = {
    "cognee.recall": () => {
      this.services.foldersToAsk(); // it says what is missing, before anything is typed
      recall(
        this.services,
        (action, memory) => void this.act(action, memory).catch((error: unknown) => this.services.show(error)),
      );
    },
    "cognee.showOpen": async () => {
      const { folder, item } = await chooseOpenItem(this.services);
      await this.documents.openRendered(item.title, { kind: "memory", folder: folder.uri.fsPath, id: item.memory_id });
    },
    "cognee.insertContext": async () => {
      await this.origin.insert(await askForContext(this.services));
    },
    "cognee.copyContext": async () => {
      await vscode.env.clipboard.writeText(await askForContext(this.services));
      vscode.window.setStatusBarMessage("The context was copied to the clipboard.", MESSAGE_MS);
    },
    "cognee.openMemory": (value) => this.perform("open", value),
    "cognee.insertMemory": (value) => this.perform("insert", value),
    "cognee.explainMemory": (value) => this.perform("explain", value),
    "cognee.showHistory": (value) => this.perform("history", value),
    "cognee.memoryHelped": (value) => this.rate("helpful", value),
    "cognee.memoryWrong": (value) => this.rate("wrong", value),
  };

  private async perform(action: Action, value: unknown): Promise<void> {
    const subject = await this.subjectOf(value);
    if (subject.kind === "memory") await this.act(action, subject);
    else await this.documents.openRendered(`History: ${subject.title}`, { ...subject, kind: "history" });
  }

  private async act(action: Action, memory: MemorySubject): Promise<void> {
    const { folder, id, number, title, topicId, asked } = memory;
    const found = asked === undefined ? {} : { asked };
    if (action === "open") await this.documents.openRendered(title, { kind: "memory", folder, id, ...found });
    else if (action === "insert")
      await this.origin.insert(await reading((signal) => this.documents.memory(folder, id, signal), "Recalling…"));
    else if (action === "explain") {
      await this.documents.openRendered(`Why: ${title}`, { kind: "explanation", folder, number, ...found });
    } else if (topicId !== null) {
      await this.documents.openRendered(`History: ${title}`, { kind: "history", folder, topicId });
    } else {
      void vscode.window.showInformationMessage("A memory of an earlier version has no topic, so it has no history.");
    }
  }

  private async rate(verdict: Verdict, value: unknown): Promise<void> {
    const subject = await this.subjectOf(value);
    if (subject.kind !== "memory") return;
    await this.documents.memoryAt(subject.folder).drop(feedbackJob(subject, verdict));
    const said = verdict === "helpful" ? "Noted: this helped." : "Noted: this is wrong. The memory stays as it is.";
    vscode.window.setStatusBarMessage(said, MESSAGE_MS);
  }

  /** The memory of a tree item, or of the document whose button was pressed. */
  private async subjectOf(value: unknown): Promise<Subject> {
    if (isSubject(value)) return value;
    const shown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    const target = targetOfUri(
      value instanceof vscode.Uri ? value : shown instanceof vscode.TabInputCustom ? shown.uri : undefined,
    );
    if (target?.kind !== "memory") {
      throw new MemoryError("NO_MEMORY", "This command needs a memory.", "Open one first: “Cognee Memory: Recall…”.");
    }
    const memory = await memoryText(this.documents.memoryAt(target.folder), target.id, AbortSignal.timeout(READ_MS));
    const found = target.asked === undefined ? {} : { asked: target.asked };
    return { ...subjectOfMemory(target.folder, memory), ...found };
  }
}
