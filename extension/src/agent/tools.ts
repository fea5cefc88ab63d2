/** The tools of a language model: recall, and remember, which the user confirms. */

import * as vscode from "vscode";
import { MemoryError, describe, isAbort } from "../core/error";
import { noteOf, plain } from "../core/text";
import { contextEverywhere } from "../recall/context";
import type { Outbox } from "../remember/outbox";
import { type Services, signalOf } from "../core/services";
import { confirmationOf, draftOf } from "./remembered";

/** The range of package.json. */
const MOST_RESULTS = 20;

interface Wanted {
  readonly query?: unknown;
  readonly max_results?: unknown;
  readonly include_superseded?: unknown;
}

export class RecallTool implements vscode.LanguageModelTool<Wanted> {
  constructor(private readonly services: Services) {}

  prepareInvocation({
    input,
  }: vscode.LanguageModelToolInvocationPrepareOptions<Wanted>): vscode.PreparedToolInvocation {
    return { invocationMessage: `Recalling “${plain(queryOf(input))}”` };
  }

  async invoke(
    { input, tokenizationOptions }: vscode.LanguageModelToolInvocationOptions<Wanted>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    const query = queryOf(input);
    if (query === "") throw new Error("query must be a text that is not empty.");
    const folders = foldersOf(this.services);
    const settings = this.services.settings();
    const results = typeof input.max_results === "number" ? Math.trunc(input.max_results) : settings.maxResults;
    const tokens = Math.min(settings.maxTokens, tokenizationOptions?.tokenBudget ?? settings.maxTokens);
    const asked = {
      max_results: Math.min(MOST_RESULTS, Math.max(1, results)),
      max_tokens: tokens,
      ...(input.include_superseded === true ? { include_superseded: true } : {}),
    };
    const { context, warnings } = await forAgent(() =>
      contextEverywhere(this.services, folders, query, signalOf(token), asked),
    );
    const found = context === "" ? "The memory has nothing that fits this query." : context;
    return textResult([found, ...new Set(warnings.map(noteOf))].join("\n\n"));
  }
}

export class RememberTool implements vscode.LanguageModelTool<unknown> {
  constructor(
    private readonly services: Services,
    private readonly outbox: Outbox,
  ) {}

  prepareInvocation({
    input,
  }: vscode.LanguageModelToolInvocationPrepareOptions<unknown>): vscode.PreparedToolInvocation {
    const draft = draftOf(input);
    return {
      invocationMessage: `Remembering “${plain(draft.topic)}”`,
      confirmationMessages: {
        title: "Remember this?",
        message: new vscode.MarkdownString(confirmationOf(draft, folderOf(this.services, input).name)),
      },
    };
  }

  async invoke({ input }: vscode.LanguageModelToolInvocationOptions<unknown>): Promise<vscode.LanguageModelToolResult> {
    const draft = draftOf(input);
    const folder = folderOf(this.services, input);
    const sent = await forAgent(() => this.outbox.send(folder, draft));
    return textResult(
      sent === "dropped"
        ? "Queued: the summary will be searchable in a moment. Do not store it again."
        : "Kept: the memory cannot take the summary yet, and gets it by itself as soon as it can. Do not store it again.",
    );
  }
}

const queryOf = ({ query }: Wanted): string => (typeof query === "string" ? query.trim() : "");

function textResult(text: string): vscode.LanguageModelToolResult {
  return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
}

/** The folders with a memory. Throws an error that an agent understands. */
function foldersOf(services: Services): readonly vscode.WorkspaceFolder[] {
  if (!vscode.workspace.isTrusted) {
    throw new Error("This workspace is in Restricted Mode, so its memory is not used. The user has to trust it first.");
  }
  const folders = services.folders();
  if (folders.length === 0) throw new Error("No folder is open, and a memory belongs to a folder.");
  return folders;
}

/**
 * The folder into which an agent remembers: the one that it names, else the first. It does not follow the editor, so
 * that what the user confirmed for one folder is not stored in another.
 */
function folderOf(services: Services, input: unknown): vscode.WorkspaceFolder {
  const folders = foldersOf(services);
  const named = typeof input === "object" && input !== null && "folder" in input ? input.folder : undefined;
  const chosen = typeof named === "string" && named !== "" ? folders.find(({ name }) => name === named) : folders[0];
  if (chosen !== undefined) return chosen;
  throw new Error(`No folder has this name. Open are: ${folders.map(({ name }) => JSON.stringify(name)).join(", ")}.`);
}

/** An error's text is what the agent reads: what happened, and what helps. */
async function forAgent<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAbort(error)) throw new vscode.CancellationError();
    throw error instanceof MemoryError ? new Error(describe(error)) : error;
  }
}
