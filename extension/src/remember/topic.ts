/** The question for a topic: what the user types, completed from the topics that the memory knows. */

import * as vscode from "vscode";
import { describe, Ended } from "../core/error";
import { age, plain } from "../core/text";
import { topicsOf } from "../recall/reads";
import type { Services } from "../core/services";
import type { Draft } from "./summary";

/** The topic of a draft, with the id of one that is known. */
export type Topic = Pick<Draft, "topic" | "topic_id">;

interface TopicItem extends vscode.QuickPickItem {
  readonly chosen: Topic;
}

/** Throws Ended if the user leaves the question. Without the program, there is no completion, and the question works. */
export function askTopic(
  services: Services,
  folder: vscode.WorkspaceFolder | null,
  { title, step, totalSteps }: { readonly title: string; readonly step?: number; readonly totalSteps?: number },
): Promise<Topic> {
  const pick = vscode.window.createQuickPick<TopicItem>();
  pick.title = title;
  pick.step = step;
  pick.totalSteps = totalSteps;
  pick.placeholder = "The topic: a new one, or one that is known";
  pick.matchOnDescription = true;
  let known: TopicItem[] = [];
  let typed = "";
  const show = (): void => {
    pick.items = itemsOf(typed, known);
  };
  return new Promise((resolve, reject) => {
    const reading = new AbortController();
    const finish = (topic?: Topic): void => {
      if (topic === undefined) reject(new Ended());
      else resolve(topic);
      reading.abort();
      pick.dispose();
    };
    pick.onDidChangeValue((value) => {
      typed = value;
      show();
    });
    pick.onDidAccept(() => {
      const chosen = (pick.activeItems[0] ?? pick.items[0])?.chosen;
      if (chosen !== undefined && chosen.topic !== "") finish(chosen);
    });
    pick.onDidHide(() => finish());
    pick.show();
    if (folder === null || !vscode.workspace.isTrusted) return;
    pick.busy = true;
    topicsOf(services.memoryOf(folder), reading.signal)
      .then((topics) => {
        known = topics.map((topic) => ({
          label: plain(topic.title, 100),
          description: age(topic.newest, Date.now(), vscode.env.language),
          chosen: { topic: topic.title, topic_id: topic.topic_id },
        }));
        if (!reading.signal.aborted) show();
      })
      .catch((error: unknown) => services.log.debug(`[Remember] No completion of topics: ${describe(error)}`))
      .finally(() => {
        if (!reading.signal.aborted) pick.busy = false;
      });
  });
}

/** The known topics come first, so that the beginning of a title chooses it; last what would be a new one. */
function itemsOf(value: string, known: readonly TopicItem[]): TopicItem[] {
  const title = value.replace(/\s+/gu, " ").trim();
  const isKnown = known.some((each) => each.chosen.topic.toLowerCase() === title.toLowerCase());
  if (title === "" || isKnown) return [...known];
  const label = plain(title, 100);
  const fits = known.filter(({ chosen }) => chosen.topic.toLowerCase().includes(title.toLowerCase()));
  const others = known.filter((each) => !fits.includes(each));
  return [...fits, { label: `New topic: ${label}`, alwaysShow: true, chosen: { topic: title } }, ...others];
}
