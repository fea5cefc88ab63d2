/** What is to be done about a folder's worker. */

import type { Heartbeat } from "#types";
import { isAtLeast } from "../core/version";

/** Whether a folder waits for a worker, and none lives: for a job file in the inbox, or to follow its team. */
export function isAwaited(inbox: readonly string[], isCopy: boolean, worker: Heartbeat | null): boolean {
  return worker === null && (isCopy || inbox.some((name) => name.endsWith(".json") && !name.startsWith(".")));
}

/**
 * Whether a worker is missed: the last one ended without saying so, as when it was killed, and left work. `latest` is its
 * last heartbeat, `isWaiting` whether files or jobs of this window wait.
 */
export function isMissed(latest: Heartbeat | null, worker: Heartbeat | null, isWaiting: boolean): boolean {
  if (worker !== null || latest?.state === "stopped") return false;
  const { queued, running, retrying } = latest?.counts ?? { queued: 0, running: 0, retrying: 0 };
  return isWaiting || queued + running + retrying > 0;
}

/** Whether a worker is to be restarted: it is older than the program. A later one belongs to another window. */
export function isOutdated(worker: Heartbeat | null, version: string): boolean {
  return worker !== null && !isAtLeast(worker.version, version);
}

/**
 * The address of the page in the browser; null if its port was changed on the way from a remote machine, since the
 * worker answers only to its own. `external` is what the editor made of `url`.
 */
export function pageAddress(url: string, external: string): string | null {
  const [inside, outside] = [new URL(url), new URL(external)];
  const isLocal = ["127.0.0.1", "localhost"].includes(outside.hostname);
  return isLocal && outside.port === inside.port ? `${outside.origin}/${inside.hash}` : null;
}
