/** Questions to the user that more than one operation asks. */

import * as vscode from "vscode";
import { answered, pick, reading } from "../core/ask";
import { Ended } from "../core/error";
import { topicsOf } from "../recall/reads";
import { isSubject, type Subject, subjectOfTopic, type TopicSubject } from "../recall/subject";
import { age, plain } from "../core/text";
import type { Services } from "../core/services";

/** What a command of a menu is about, if it was given anything, and its folder: else the one that the user means. */
export async function targetOf(
  services: Services,
  value: unknown,
): Promise<{ readonly folder: vscode.WorkspaceFolder; readonly subject: Subject | undefined }> {
  const subject = isSubject(value) ? value : undefined;
  const named = services.folders().find(({ uri }) => uri.fsPath === subject?.folder);
  return { folder: named ?? answered(await services.folder()), subject };
}

/** Lets the user choose a topic; those with something to merge first, if `toCompact`. Throws Ended if there is none. */
export async function chooseTopic(
  services: Services,
  folder: vscode.WorkspaceFolder,
  title: string,
  toCompact: boolean,
): Promise<TopicSubject> {
  const topics = await reading((signal) => topicsOf(services.memoryOf(folder), signal));
  const offered = toCompact
    ? topics
        .filter((topic) => topic.active + topic.decision_records > 1)
        .sort(
          (one, other) => Number(other.worth_compacting) - Number(one.worth_compacting) || other.active - one.active,
        )
    : topics;
  if (offered.length === 0)
    throw new Ended(toCompact ? "No topic has two memories to merge." : "Nothing is remembered yet.");
  const items = offered.map((topic) => ({
    label: plain(topic.title, 100),
    description: [
      `${topic.active} active`,
      topic.superseded > 0 ? `${topic.superseded} superseded` : "",
      age(topic.newest, Date.now(), vscode.env.language),
    ]
      .filter(Boolean)
      .join(" · "),
    detail: topic.worth_compacting ? "Worth compacting" : "",
    topic,
  }));
  const { topic } = await pick(items, { title, placeHolder: "Which topic?", matchOnDescription: true });
  return subjectOfTopic(folder.uri.fsPath, topic);
}

/** Says how the document below a list is reached. */
export const READ_FIRST = "Read the document first: F6 goes there. Escape changes nothing.";

/**
 * Lets the user choose what to do about a document that is open: the list stays while the user reads. The label that
 * was chosen; undefined where nothing is to be done.
 */
export async function chooseReading(
  question: string,
  choices: readonly { label: string; detail: string }[],
): Promise<string | undefined> {
  const cancel = { label: "Cancel", detail: "Nothing is changed." };
  // The first row is chosen by Enter: nobody confirms by an Enter too many.
  const picked = await vscode.window.showQuickPick([cancel, ...choices], {
    title: question,
    placeHolder: READ_FIRST,
    ignoreFocusOut: true,
  });
  return picked === undefined || picked === cancel ? undefined : picked.label;
}
