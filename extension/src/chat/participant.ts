/** The chat participant @memory: recalls, answers from what it found, and offers to remember. */

import * as vscode from "vscode";
import type { Capture } from "../capture/capture";
import { describe, isAbort } from "../core/error";
import { rankingOf } from "../core/settings";
import { escaped, noteOf } from "../core/text";
import { contextEverywhere } from "../recall/context";
import { uriOf } from "../recall/documents";
import { type Found, retrieveEverywhere } from "../recall/everywhere";
import { titleOf } from "../recall/hit";
import { draftOfTurns, draftSummary } from "../remember/conversation";
import type { Drafts } from "../remember/drafts";
import { decisionsIn, type Turn } from "../remember/turns";
import { remedyOf, type Services, signalOf } from "../core/services";
import { followupsOf, type Outcome, outcomeOf } from "./followups";
import { messagesOf } from "./prompt";
import { lineOf, passageUnder, WithoutImages } from "./reply";
import { turnsOf } from "./turns";

/** The parts of the extension that an answer needs. */
export interface Parts {
  readonly services: Services;
  readonly drafts: Drafts;
  readonly capture: Capture;
}

interface Exchange extends Parts {
  readonly request: vscode.ChatRequest;
  readonly question: string;
  readonly history: readonly Turn[];
  readonly stream: vscode.ChatResponseStream;
  readonly token: vscode.CancellationToken;
}

/** Registers the participant. */
export function participantOf(parts: Parts): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant("cognee.memory", (request, context, stream, token) =>
    answer(parts, request, context, stream, token),
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

/** Answers one request. An error is shown in the chat, with the button that helps with it. */
export async function answer(
  parts: Parts,
  request: vscode.ChatRequest,
  context: vscode.ChatContext,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<vscode.ChatResult> {
  const { services } = parts;
  const history = turnsOf(context.history);
  const question = request.prompt.trim();
  const command = request.command ?? "";
  let outcome: Outcome = { command, hasDecisions: false };
  try {
    if (command === "compact") {
      stream.markdown("Choose the topic to compact. You see a preview before anything changes.");
      void vscode.commands.executeCommand("cognee.compactMemories");
      return { metadata: outcome };
    }
    const exchange = { ...parts, request, question, history, stream, token };
    if (command === "remember") await remember(exchange);
    else if (question === "") stream.markdown("Ask what was decided, for example: “why SQLite?”");
    else outcome = await recall(exchange, command);
  } catch (error) {
    if (isAbort(error) || token.isCancellationRequested) return { metadata: outcome };
    services.log.error(`[Chat] ${describe(error)}`);
    const remedy = remedyOf(error);
    if (remedy !== undefined) stream.button(remedy);
    return { errorDetails: { message: describe(error) }, metadata: outcome };
  }
  return { metadata: outcome };
}

async function recall(exchange: Exchange, command: string): Promise<Outcome> {
  const { services, capture, question, history, stream, token } = exchange;
  const folders = services.foldersToAsk();
  stream.progress("Recalling…");
  const superseded = command === "history" ? { include_superseded: true } : {};
  const asked = { ...rankingOf(services.settings()), ...superseded, query: question };
  const signal = signalOf(token);
  const isAnswered = command === "";
  const [{ found, warnings }, block] = await Promise.all([
    retrieveEverywhere(services, asked, signal),
    isAnswered ? contextEverywhere(services, folders, question, signal, superseded) : undefined,
  ]);
  for (const warning of warnings) stream.markdown(`${escaped(noteOf(warning))}\n\n`);
  const [first] = found;
  if (first === undefined) {
    stream.markdown(
      folders.length === 1
        ? "The memory of this folder has nothing about this."
        : "The memories of these folders have nothing about this.",
    );
  } else {
    list(stream, found, !isAnswered);
    for (const each of found) stream.reference(addressOf(each), new vscode.ThemeIcon("history"));
  }
  let said = "";
  if (block !== undefined && first !== undefined) said = await answerFrom(exchange, block.context, found);
  const turns: Turn[] = [...history, { role: "user", text: question }, { role: "assistant", text: said }];
  capture.heard((first ?? { folder: folders[0] }).folder, question, said, exchange.request.model);
  const decided = decisionsIn(turns.filter(({ role }) => role === "user")).length > 0;
  if (decided) {
    stream.button({
      command: "cognee.rememberConversation",
      title: "Remember This Conversation…",
      arguments: [turns],
    });
  }
  return { command, said, hasDecisions: decided, ...(first === undefined ? {} : { topic: titleOf(first.hit) }) };
}

/** The model's answer. Where it gives none, the passages of the memories take its place. */
async function answerFrom(
  { services, request, question, history, stream, token }: Exchange,
  block: string,
  found: readonly Found[],
): Promise<string> {
  const images = new WithoutImages();
  let said = "";
  const say = (piece: string): void => {
    if (piece === "") return;
    said += piece;
    stream.markdown(piece);
  };
  try {
    const messages = messagesOf(question, block, history, request.model.maxInputTokens).map(({ role, text }) =>
      role === "user" ? vscode.LanguageModelChatMessage.User(text) : vscode.LanguageModelChatMessage.Assistant(text),
    );
    const response = await request.model.sendRequest(messages, {}, token);
    for await (const piece of response.text) {
      if (token.isCancellationRequested) break;
      say(images.take(piece));
    }
    say(images.end());
  } catch (error) {
    if (isAbort(error) || token.isCancellationRequested) return said;
    services.log.warn(`[Chat] The model gave no answer: ${describe(error)}`);
    if (said === "") {
      stream.markdown(`The model gave no answer, so this is what the memories say:\n\n`);
      list(stream, found, true);
    } else {
      stream.markdown(`\n\nThe model’s answer ends here, because of an error. The output channel has it.`);
    }
  }
  return said;
}

/** The hits as a list, each with a link that opens it. */
function list(stream: vscode.ChatResponseStream, found: readonly Found[], withPassages: boolean): void {
  for (const each of found) {
    stream.markdown(`- ${lineOf(each.hit, each.folderName)} `);
    stream.anchor(addressOf(each));
    stream.markdown(`\n${withPassages ? passageUnder(each.hit) : ""}`);
  }
  stream.markdown("\n");
}

const addressOf = ({ folder, hit }: Found): vscode.Uri =>
  uriOf(titleOf(hit), { kind: "memory", folder: folder.uri.fsPath, id: hit.memory_id });

/** The draft of a summary, by the model of the request: of the conversation, and of what stands after the command. */
async function remember({
  services,
  drafts,
  capture,
  request,
  question,
  history,
  stream,
  token,
}: Exchange): Promise<void> {
  const turns: readonly Turn[] = question === "" ? history : [...history, { role: "user", text: question }];
  if (turns.length === 0) {
    stream.markdown("There is nothing to remember yet. Write it after /remember, or talk with @memory first.");
    stream.button({ command: "cognee.rememberDecision", title: "Remember a Decision…" });
    return;
  }
  const folder = await services.folder();
  if (folder === undefined) {
    stream.markdown("No folder was chosen, so nothing is remembered.");
    return;
  }
  stream.progress(`${request.model.name} writes the summary…`);
  let draft = draftOfTurns(turns);
  try {
    draft = await draftSummary(turns, request.model, signalOf(token));
  } catch (error) {
    if (isAbort(error) || token.isCancellationRequested) return;
    services.log.warn(`[Chat] The model wrote no summary: ${describe(error)}`);
    stream.markdown(`The model wrote no summary, so the draft has the conversation itself.\n\n`);
  }
  await drafts.open(draft, folder);
  capture.wasRemembered(folder); // the user decides about this conversation now
  stream.markdown(
    "A draft is open in the editor. Read and change it, then press “Remember This Summary”. Nothing is stored before.",
  );
}
