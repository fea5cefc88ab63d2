/** Questions to the user in messages. */

import * as vscode from "vscode";
import { Ended } from "./error";
import { type Services, signalOf } from "./services";

/** What the user answered. Throws Ended if they gave up. */
export function answered<T>(answer: T | undefined): T {
  if (answer === undefined) throw new Ended();
  return answer;
}

/** Asks for a line of text. Throws Ended if the user gives up. */
export async function input(options: vscode.InputBoxOptions): Promise<string> {
  return answered(await vscode.window.showInputBox(options));
}

/** Lets the user pick an item. Throws Ended if they give up. */
export async function pick<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
): Promise<T> {
  return answered(await vscode.window.showQuickPick(items, options));
}

/** Asks before something happens, in a dialog that says what it means. True for the button `yes`. */
export async function isConfirmed(question: string, yes: string, detail: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;
}

/** Work that the user waits for, and can cancel: shown as a message. */
export function waiting<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Thenable<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, (_, token) => work(signalOf(token)));
}

/** Short work, shown in the status bar. */
export function reading<T>(work: (signal: AbortSignal) => Promise<T>, title = "Reading the memory…"): Promise<T> {
  const options = { location: vscode.ProgressLocation.Window, title };
  return Promise.resolve(vscode.window.withProgress(options, (_, token) => work(signalOf(token))));
}

/** Says what was done, with buttons for what can follow. Nothing waits for the answer; an error of it is shown. */
export function offer(services: Services, message: string, actions: Readonly<Record<string, () => unknown>>): void {
  const ask = async (): Promise<void> => {
    const pressed = await vscode.window.showInformationMessage(message, ...Object.keys(actions));
    if (pressed !== undefined) await actions[pressed]?.();
  };
  void ask().catch((error: unknown) => services.show(error));
}
