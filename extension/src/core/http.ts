/** Questions to a running worker, over HTTP on this machine. Node keeps the connection open between questions. */

import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Routes } from "#types";
import { MemoryError } from "./error";
import { livingWorker } from "./heartbeat";
import { isOwnFile, isOwnFolder } from "./own";
import { tokenFile } from "./layout";

/** The routes whose answers have an envelope with `success`. */
type Route = keyof Routes & (`GET /v1/${string}` | `POST /v1/${string}`);
type Body<R extends Route> = Routes[R] extends { body: infer B } ? B : undefined;
type Answer<R extends Route> = Routes[R] extends { answer: infer A } ? A : never;

/** The address of a worker, and the file with its token, which changes at each start. */
export interface Address {
  readonly url: string;
  readonly tokenFile: string;
}

/** An address on this machine; the token is sent to no other. */
const HERE = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/u;

/** Where the worker that lives at `now` answers; null without one, or if HTTP is switched off or has no address yet. */
export function address(workspace: string, now: number): Address | null {
  const url = livingWorker(workspace, now)?.http?.url;
  return typeof url === "string" && HERE.test(url) ? { url, tokenFile: tokenFile(workspace) } : null;
}

/**
 * Sends a request. `path` replaces the route's own path where that has a parameter. Throws MemoryError with the
 * answer's code and remedy; another error if the worker is not there (any more).
 */
export async function request<R extends Route>(
  worker: Address,
  route: R,
  body: Body<R>,
  signal: AbortSignal,
  path: string = route.slice(route.indexOf(" ") + 1),
): Promise<Answer<R>> {
  const token = await tokenOf(worker);
  const method = route.slice(0, route.indexOf(" "));
  const response = await fetch(worker.url + path, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(method === "POST" ? { "Content-Type": "application/json" } : {}),
    },
    ...(method === "POST" ? { body: JSON.stringify(body ?? {}) } : {}),
    signal,
  });
  const answer = (await response.json()) as {
    success: boolean;
    error: string;
    error_code: string;
    remediation: string;
  };
  if (answer.success) return answer as Answer<R>;
  throw new MemoryError(answer.error_code, answer.error, answer.remediation);
}

/** A link may lead to the token of another workspace's worker, or to any other file, and would send it. */
async function tokenOf({ tokenFile }: Address): Promise<string> {
  const folder = dirname(tokenFile);
  if (!isOwnFile(tokenFile) || !isOwnFolder(folder) || !isOwnFolder(dirname(folder))) {
    throw new Error("The worker's token is missing, or not a file of this user.");
  }
  return (await readFile(tokenFile, "utf8")).trim();
}
