/** What the worker of a workspace says of itself. */

import { readFileSync } from "node:fs";
import type { Heartbeat } from "#types";
import { heartbeatFile } from "./layout";

/** A worker that has not written for this long is gone. It writes every 2 seconds. */
const OLDEST_MS = 30_000;

/** The heartbeat of the worker that lives at `now` (milliseconds since 1970); null without one. */
export function livingWorker(workspace: string, now: number): Heartbeat | null {
  let beat: Heartbeat;
  try {
    beat = JSON.parse(readFileSync(heartbeatFile(workspace), "utf8")) as Heartbeat;
  } catch {
    return null; // no worker has run here, or the file is being replaced on Windows
  }
  const isGone = beat.state === "stopped" || now - Date.parse(beat.heartbeat_at) > OLDEST_MS;
  return isGone ? null : beat;
}
