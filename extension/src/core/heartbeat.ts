/** What the worker of a workspace says of itself. A cloned or shared folder may hold a file of somebody else's. */

import { readFileSync } from "node:fs";
import type { Heartbeat } from "#types";
import { heartbeatFile } from "./layout";
import { isOwnFile } from "./own";

/** A worker that has not written for this long is gone. It writes at least every 10 seconds. */
const OLDEST_MS = 30_000;

/** The last heartbeat of a worker of this user; null if there is none. */
export function latestHeartbeat(workspace: string): Heartbeat | null {
  const file = heartbeatFile(workspace);
  try {
    const beat: unknown = isOwnFile(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
    return typeof beat === "object" ? (beat as Heartbeat | null) : null;
  } catch {
    return null; // no worker has run here, or the file is being replaced on Windows
  }
}

/** The heartbeat of the worker that lives; null without one. */
export function livingWorker(workspace: string): Heartbeat | null {
  const beat = latestHeartbeat(workspace);
  if (beat === null || beat.state === "stopped") return null;
  const isRecent = Math.abs(Date.now() - Date.parse(beat.heartbeat_at)) <= OLDEST_MS;
  return isRecent && isRunning(beat.pid) ? beat : null;
}

/** Whether a process has this id: not the worker's, if that was killed. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // of another user
  }
}
