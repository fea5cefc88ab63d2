/** Questions to a running worker, over HTTP on this machine. Node keeps the connection open between questions. */

import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Refusal } from "#types";
import { MemoryError } from "./error";
import { livingWorker } from "./heartbeat";
import { isOwnFile, isOwnFolder } from "./own";
import { tokenFile } from "./layout";
import { type Answer, pathOf, type Request, type Route } from "./read";

/** An address on this machine; the token is sent to no other. */
const HERE = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/u;

/** Where the worker that lives answers; null without one, or if HTTP is switched off or has no address yet. */
export function address(workspace: string): string | null {
  const url = livingWorker(workspace)?.http?.url;
  return typeof url === "string" && HERE.test(url) ? url : null;
}

/** Sends a request to the worker of a workspace. Throws MemoryError as the worker refuses it; another error if no worker is there (any more). */
export async function request<R extends Route>(
  workspace: string,
  url: string,
  asked: Request<R>,
  signal: AbortSignal,
): Promise<Answer<R>> {
  const token = await tokenOf(workspace);
  const isPost = asked.route.startsWith("POST");
  const response = await fetch(url + pathOf(asked), {
    method: isPost ? "POST" : "GET",
    headers: {
      Authorization: `Bearer ${token}`,
      ...(isPost ? { "Content-Type": "application/json" } : {}),
    },
    body: isPost ? JSON.stringify(asked.values ?? {}) : null,
    signal,
  });
  const answer = (await response.json()) as { success: true } | Refusal;
  if (answer.success) return answer as Answer<R>;
  throw MemoryError.of(answer);
}

/** It changes at each start of the worker. A link may lead to the token of another workspace's worker, or to any other file, and would send it. */
async function tokenOf(workspace: string): Promise<string> {
  const file = tokenFile(workspace);
  const folder = dirname(file);
  if (!isOwnFile(file) || !isOwnFolder(folder) || !isOwnFolder(dirname(folder))) {
    throw new Error("The worker's token is missing, or not a file of this user.");
  }
  return (await readFile(file, "utf8")).trim();
}
