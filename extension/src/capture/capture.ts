/** Automatic capture: collects the turns of conversations with @memory, and has them remembered when they end. */

import * as vscode from "vscode";
import { describe, isAbort } from "../core/error";
import { draftOfTurns, draftSummary } from "../remember/conversation";
import type { Outbox } from "../remember/outbox";
import type { Turn } from "../remember/turns";
import type { Services } from "../core/services";
import { type Boundary, boundaryBefore, isWorthKeeping } from "./boundary";

const MINUTE_MS = 60_000;
/** How long a model may take to write a summary that nobody waits for. */
const MODEL_MS = 120_000;

interface Conversation {
  readonly folder: vscode.WorkspaceFolder;
  readonly turns: Turn[];
  /** The model of the latest request. */
  model: vscode.LanguageModelChat | undefined;
  /** When something was last said. */
  at: number;
}

export class Capture {
  private readonly conversations = new Map<string, Conversation>();

  constructor(
    private readonly services: Services,
    private readonly outbox: Outbox,
  ) {
    const changed = vscode.workspace.onDidChangeConfiguration(() => {
      if (!this.isOn) this.conversations.clear();
    });
    const timer = setInterval(() => this.endIdle(), MINUTE_MS);
    services.owns(changed, { dispose: () => clearInterval(timer) });
  }

  /**
   * Takes note of an exchange: the user's message, and the answer. Before it, an earlier conversation may end. Does
   * nothing while the setting is off. `model` is the one that the user chose for the request.
   */
  heard(
    folder: vscode.WorkspaceFolder,
    message: string,
    answer: string,
    model: vscode.LanguageModelChat | undefined,
  ): void {
    if (!this.isOn || !vscode.workspace.isTrusted) return;
    const path = folder.uri.fsPath;
    const known = this.conversations.get(path);
    if (known !== undefined) {
      const boundary = boundaryBefore(known.turns, message, Date.now() - known.at, this.idleLimitMs);
      if (boundary !== undefined) this.end(known, boundary);
    }
    const conversation = this.conversations.get(path) ?? { folder, turns: [], model, at: 0 };
    conversation.turns.push({ role: "user", text: message }, { role: "assistant", text: answer });
    conversation.model = model;
    conversation.at = Date.now();
    this.conversations.set(path, conversation);
  }

  /** Takes a conversation that the user has remembered: it is not captured as well. */
  wasRemembered(folder: vscode.WorkspaceFolder): void {
    this.conversations.delete(folder.uri.fsPath);
  }

  /** The window closes: remembers what was said, without a model, for which there is no time. */
  async close(): Promise<void> {
    const all = [...this.conversations.values()];
    this.conversations.clear();
    if (!this.isOn) return;
    await Promise.all(
      all
        .filter(({ turns }) => isWorthKeeping(turns))
        .map(({ folder, turns }) => this.outbox.send(folder, draftOfTurns(turns), "capture")),
    );
  }

  private get isOn(): boolean {
    return this.services.settings().captureEnabled;
  }

  private get idleLimitMs(): number {
    return this.services.settings().captureIdleMinutes * MINUTE_MS;
  }

  private endIdle(): void {
    for (const each of [...this.conversations.values()]) {
      const boundary = boundaryBefore(each.turns, null, Date.now() - each.at, this.idleLimitMs);
      if (boundary !== undefined) this.end(each, boundary);
    }
  }

  private end(conversation: Conversation, boundary: Boundary): void {
    this.conversations.delete(conversation.folder.uri.fsPath);
    const turns = conversation.turns.length;
    this.services.log.info(`[Capture] A conversation of ${turns} turns has ended: ${boundary}`);
    if (!isWorthKeeping(conversation.turns)) return;
    this.remember(conversation).catch((error: unknown) => {
      if (!isAbort(error)) void this.services.show(error);
    });
  }

  private async remember({ folder, turns, model }: Conversation): Promise<void> {
    await this.outbox.send(folder, await this.draft(turns, model), "capture");
  }

  private async draft(turns: readonly Turn[], model: vscode.LanguageModelChat | undefined) {
    const end = AbortSignal.any([this.services.ended, AbortSignal.timeout(MODEL_MS)]);
    try {
      return await draftSummary(turns, model, end);
    } catch (error) {
      this.services.log.warn(`[Capture] The model wrote no summary: ${describe(error)}`);
      return draftOfTurns(turns);
    }
  }
}
