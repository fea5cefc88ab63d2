/** What a document of the scheme `cognee-memory` shows, and its address. Addresses come from outside: all is checked. */

import { plain } from "../core/text";

export const SCHEME = "cognee-memory";

/** The question for which a memory was found, and the time at which its age was measured. */
export interface Asked {
  readonly query: string;
  readonly asOf: string;
}

export type Target =
  | { readonly kind: "memory"; readonly folder: string; readonly id: string; readonly asked?: Asked }
  /** Why a memory is found; by its number. */
  | { readonly kind: "explanation"; readonly folder: string; readonly number: number; readonly asked?: Asked }
  | { readonly kind: "history"; readonly folder: string; readonly topicId: string }
  | { readonly kind: "job"; readonly folder: string; readonly jobId: string }
  /** A text that a command made, such as a preview. It is kept while the window is open. */
  | { readonly kind: "report"; readonly id: number };

/** The path and the query of a target's address. The title is the name of the editor's tab. */
export function addressOf(title: string, target: Target): { readonly path: string; readonly query: string } {
  const name = plain(title, 80).replace(/[/\\?#%]/gu, "-") || "-";
  const { asked, ...fields } = { asked: undefined, ...target };
  const query = new URLSearchParams(
    Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
  );
  if (asked !== undefined) {
    query.set("query", asked.query);
    query.set("asOf", asked.asOf);
  }
  return { path: `/${name}.${target.kind === "job" ? "json" : "md"}`, query: query.toString() };
}

const ID = /^[\w.-]{1,200}$/u;

/** The target of an address; undefined if it is none of this program. */
export function targetOf(query: string): Target | undefined {
  const fields = new URLSearchParams(query);
  const text = (name: string): string => fields.get(name) ?? "";
  const folder = text("folder");
  const asked = fields.has("query") ? { asked: { query: text("query"), asOf: text("asOf") } } : {};
  const number = Number(text("number"));
  switch (fields.get("kind")) {
    case "memory":
      return ID.test(text("id")) ? { kind: "memory", folder, id: text("id"), ...asked } : undefined;
    case "explanation":
      return Number.isSafeInteger(number) && number > 0 ? { kind: "explanation", folder, number, ...asked } : undefined;
    case "history":
      return text("topicId") === "" ? undefined : { kind: "history", folder, topicId: text("topicId") };
    case "job":
      return ID.test(text("jobId")) ? { kind: "job", folder, jobId: text("jobId") } : undefined;
    case "report":
      return { kind: "report", id: Number(text("id")) };
    default:
      return undefined;
  }
}
