/** Requests about followed jobs, of one or several folders: run again, or cancel. */

import { reading } from "../core/ask";
import { request } from "../core/requests";
import type { Services } from "../core/services";
import type { Followed } from "./followed";

/** Returns why some jobs were left as they are, each reason once. */
export async function askFor(
  services: Services,
  verb: "retry" | "cancel",
  followed: readonly Followed[],
  title: string,
): Promise<string[]> {
  const reasons = new Set<string>();
  await reading(async (signal) => {
    for (const folder of services.folders()) {
      const jobs = followed.filter((each) => each.folder === folder.uri.fsPath).map(({ jobId }) => jobId);
      if (jobs.length === 0) continue;
      const memory = services.memoryOf(folder);
      for (const reason of await request(memory, verb, jobs, signal)) reasons.add(reason);
      memory.wakeUnlessLiving();
    }
  }, title);
  return [...reasons];
}
