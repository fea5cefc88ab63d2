/** A request to a workspace's memory, which is sent over HTTP or given to the program as a command. */

import type { Routes } from "#types";

export type Route = Extract<keyof Routes, `GET /v1/${string}` | `POST /v1/${string}`>;
export type Answer<R extends Route> = Routes[R] extends { answer: infer A } ? A : never;

type Value = string | number | boolean | readonly (string | number)[] | null | undefined;

export interface Request<R extends Route> {
  readonly route: R;
  /** The command that answers the same, such as `memories list`. */
  readonly command: string;
  /** What the parameter of the route's path stands for; an argument of the command. */
  readonly named?: string;
  /** The query of a GET, the body of a POST: options of the command, of the same names. */
  readonly values?: Readonly<Record<string, Value>>;
}

/** The path of a request with its query. */
export function pathOf({ route, named = "", values = {} }: Request<Route>): string {
  const path = route.slice(route.indexOf(" ") + 1).replace(/\{\w+\}/u, encodeURIComponent(named));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  return route.startsWith("POST") || query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** The options and arguments of a request's command. */
export function argumentsOf({ named, values = {} }: Pick<Request<Route>, "named" | "values">): string[] {
  const { query, ids, job_ids, ...rest } = values;
  const options = Object.entries(rest).flatMap(([name, value]) => {
    const option = `--${name.replaceAll("_", "-")}`;
    if (value === undefined || value === null || value === false) return [];
    return value === true ? [option] : [`${option}=${String(value)}`];
  });
  if (Array.isArray(ids) && ids.length > 0) options.push("--id", ...ids.map(String));
  const texts = [query, named, job_ids].flat().filter((each) => typeof each === "string");
  return texts.length === 0 ? options : [...options, "--", ...texts];
}
