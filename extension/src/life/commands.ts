/** The commands that start and stop a worker, trust a folder's memory, and open the page. */

import * as vscode from "vscode";
import { answered, isConfirmed, waiting } from "../core/ask";
import { Ended, MemoryError } from "../core/error";
import { livingWorker } from "../core/heartbeat";
import type { Memory } from "../core/memory";
import type { Services } from "../core/services";
import { pageAddress } from "./decide";

/** Starts a worker for the folder that the user means. */
export async function startWorker(services: Services): Promise<void> {
  const memory = await chosen(services);
  const lived = livingWorker(memory.workspace) !== null;
  if (!lived) await waiting("Starting the worker", (signal) => memory.startWorker(signal));
  inform(lived ? "A worker is running already." : "The worker is running.");
}

/** Lets the folder's worker finish what it runs, and stops it. */
export async function stopWorker(services: Services): Promise<void> {
  const memory = await chosen(services);
  const title = "Stopping the worker: it finishes what it runs";
  try {
    await waiting(title, (signal) => memory.command(["worker", "stop"], [], signal));
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code !== "WORKER_NOT_RUNNING") throw error;
    throw new Ended("No worker is running.");
  }
  inform("The worker has stopped. The next drop or question starts one.");
}

/** Confirms that the files in a folder are the user's, after a question that says what this permits. */
export async function trust(services: Services): Promise<void> {
  const memory = await chosen(services);
  const detail = `${memory.workspace}\n\nConfirm only that jobs, memories and settings in this folder are yours: after a clone, a backup or a move from another machine, inspect .cognee_memory, .cognee_jobs and .env first. A repository may have brought them.\n\nThen its memories are answers to your questions, and its .env may name providers, endpoints and keys. Jobs that came with it still do not run by themselves.`;
  const question = "Are the memories and settings in this folder yours?";
  if (!(await isConfirmed(question, "They Are Mine", detail))) return;
  const title = "Trusting the folder's memory";
  await waiting(title, (signal) => memory.command(["trust"], [], signal));
  inform("This folder's memory is trusted.");
}

/** Opens the page in the browser, signed in. */
export async function openPage(services: Services): Promise<void> {
  const memory = await chosen(services);
  // The program opens it by a private file: an address in the arguments of a browser is readable for every user. Only
  // the editor reaches the browser of a user who is on another machine.
  const isRemote = vscode.env.remoteName !== undefined || vscode.env.uiKind === vscode.UIKind.Web;
  const page = await waiting("Opening the page", (signal) =>
    memory.command<{ url: string; opened: boolean }>(["open"], isRemote ? ["--print"] : [], signal),
  );
  if (page.opened) return;
  const external = await vscode.env.asExternalUri(vscode.Uri.parse(new URL(page.url).origin));
  const address = pageAddress(page.url, external.toString(true));
  if (address === null) {
    const port = new URL(page.url).port;
    throw new MemoryError(
      "PAGE_NOT_FORWARDED",
      "The page answers only at its own port, and the editor forwards another one.",
      `Forward port ${port} to the same port of your machine in the view “Ports”, then open it again.`,
    );
  }
  // As a string, which the editor accepts and opens as it is: a Uri would write the ticket's "=" as %3D.
  await vscode.env.openExternal(address as unknown as vscode.Uri);
}

async function chosen(services: Services): Promise<Memory> {
  return services.memoryOf(answered(await services.folder()));
}

function inform(message: string): void {
  void vscode.window.showInformationMessage(message);
}
