/** Questions to the user in messages. */

import * as vscode from "vscode";
import type { Services } from "./services";

/** Asks before something happens, in a dialog that says what it means. True for the button `yes`. */
export async function isConfirmed(question: string, yes: string, detail: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;
}

/** Says what was done, with buttons for what can follow. Nothing waits for the answer; an error of it is shown. */
export function offer(services: Services, message: string, actions: Readonly<Record<string, () => unknown>>): void {
  const ask = async (): Promise<void> => {
    const pressed = await vscode.window.showInformationMessage(message, ...Object.keys(actions));
    if (pressed !== undefined) await actions[pressed]?.();
  };
  void ask().catch((error: unknown) => services.show(error));
}
