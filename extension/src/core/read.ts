/** A request to a workspace's memory in both of its forms: over HTTP, and as a command of the program. */

import type { Routes } from "#types";

export type Route = Extract<keyof Routes, `GET /v1/${string}` | `POST /v1/${string}`>;
export type Answer<R extends Route> = Routes[R] extends { answer: infer A } ? A : never;

/** One request in both forms: the path (with its query) and body of the route, and the program's command. */
export interface Request<R extends Route> {
  readonly route: R;
  readonly path: string;
  readonly body?: Routes[R] extends { body: infer B } ? B : undefined;
  readonly verb: readonly string[];
  readonly args: readonly string[];
}

/** A query string of the values that are given. */
export function queryOf(values: Readonly<Record<string, string | number | null | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}
