/** A question to the memories of all folders of the window, and their hits as one list. */

import * as vscode from "vscode";
import type { RetrievalHit, RetrieveRequest } from "#types";
import { describe } from "../core/error";
import type { Services } from "../core/services";
import { isOnlyWeak, logLines } from "./hit";

/** A hit with the folder whose memory has it. `asOf` is when its age was measured. */
export interface Found {
  readonly folder: vscode.WorkspaceFolder;
  /** The folder's name if several were asked; else empty. */
  readonly folderName: string;
  readonly hit: RetrievalHit;
  readonly asOf: string;
}

export interface Everywhere {
  /** The best first. */
  readonly found: readonly Found[];
  /** How many memories fit, of which these are the best. */
  readonly total: number;
  /** Whether there are hits, and all of them are probably no answer. */
  readonly isOnlyWeak: boolean;
  readonly warnings: readonly string[];
}

/** Asks one of the memories of several folders; throws only if none answers. Warnings name the folder they are about. */
export async function ofEach<T extends { readonly warnings: readonly string[] }>(
  folders: readonly vscode.WorkspaceFolder[],
  ask: (folder: vscode.WorkspaceFolder) => Promise<T>,
): Promise<{
  readonly answers: readonly { folder: vscode.WorkspaceFolder; answer: T }[];
  readonly warnings: string[];
}> {
  const results = await Promise.allSettled(folders.map(ask));
  const [first] = results;
  if (first?.status === "rejected" && results.every(({ status }) => status === "rejected")) throw first.reason;
  const about = (folder: vscode.WorkspaceFolder, warning: string): string =>
    folders.length === 1 ? warning : `${folder.name}: ${warning}`;
  const answers: { folder: vscode.WorkspaceFolder; answer: T }[] = [];
  const warnings: string[] = [];
  folders.forEach((folder, index) => {
    const result = results[index];
    if (result?.status === "fulfilled") {
      answers.push({ folder, answer: result.value });
      warnings.push(...result.value.warnings.map((warning) => about(folder, warning)));
    } else if (result !== undefined) warnings.push(about(folder, describe(result.reason)));
  });
  return { answers, warnings };
}

/** Retrieves from all folders, writes the ranking to the log, and merges the hits by their score. */
export async function retrieveEverywhere(
  services: Services,
  body: RetrieveRequest,
  signal: AbortSignal,
): Promise<Everywhere> {
  const folders = services.foldersToAsk();
  const { answers, warnings } = await ofEach(folders, (folder) =>
    services.memoryOf(folder).ask("retrieve", { ...body, best_passages: true }, signal),
  );
  const withParts = services.log.logLevel <= vscode.LogLevel.Debug;
  const found: Found[] = [];
  for (const { folder, answer } of answers) {
    const folderName = folders.length === 1 ? "" : folder.name;
    found.push(...answer.results.map((hit) => ({ folder, folderName, hit, asOf: answer.as_of })));
    for (const line of logLines(body.query, answer, withParts)) services.log.info(line);
  }
  for (const warning of warnings) services.log.warn(`[Retrieve] ${warning}`);
  found.sort((one, other) => other.hit.final_score - one.hit.final_score);
  return {
    found: found.slice(0, body.max_results ?? found.length),
    total: answers.reduce((sum, { answer }) => sum + answer.total_results, 0),
    isOnlyWeak: isOnlyWeak({ results: found.map(({ hit }) => hit) }),
    warnings,
  };
}
