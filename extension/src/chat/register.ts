/** Registers the chat participant. What answers is loaded by the first request. */

import * as vscode from "vscode";
import type { Services } from "../services";
import { followupsOf, outcomeOf } from "./followups";

const PARTICIPANT = "cognee.memory";

export function registerChat(services: Services): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant(PARTICIPANT, async (request, context, stream, token) =>
    (await import("./participant")).answer(services, request, context, stream, token),
  );
  participant.iconPath = new vscode.ThemeIcon("history");
  participant.followupProvider = {
    provideFollowups: (result) => {
      const outcome = outcomeOf(result.metadata);
      return outcome === undefined ? [] : followupsOf(outcome);
    },
  };
  return vscode.Disposable.from(participant);
}
