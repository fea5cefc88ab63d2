/** Reads of a workspace, and requests about its jobs: to a worker that lives over HTTP, else with the program. */

import type { Routes } from "#types";
import { MemoryError } from "./error";
import { address, request } from "./http";
import { type Memory, WORKER_CHANGED } from "./memory";

type Route = Extract<keyof Routes, `GET /v1/${string}` | `POST /v1/${string}`>;
type Answer<R extends Route> = Routes[R] extends { answer: infer A } ? A : never;

/** One request in both forms: the path (with its query) and body of the route, and the program's command. */
export interface Request<R extends Route> {
  readonly route: R;
  readonly path: string;
  readonly body?: Routes[R] extends { body: infer B } ? B : undefined;
  readonly verb: readonly string[];
  readonly args: readonly string[];
}

/** Answers a request without starting a worker for it. Throws MemoryError with the answer's code and remedy. */
export async function send<R extends Route>(
  memory: Memory,
  { route, path, body, verb, args }: Request<R>,
  signal: AbortSignal,
): Promise<Answer<R>> {
  const worker = address(memory.workspace, Date.now());
  if (worker !== null) {
    try {
      return await request(worker, route, body as never, signal, path);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MemoryError && !WORKER_CHANGED.has(error.code)) throw error;
    }
  }
  return memory.command<Answer<R>>(verb, args, signal);
}

/** A query string of the values that are given. */
export function queryOf(values: Readonly<Record<string, string | number | null | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}
