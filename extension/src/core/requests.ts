/** Requests about jobs: run them again, cancel them, dismiss their failures. */

import type { ManyAsked } from "#types";
import type { Memory } from "./memory";

export type Verb = "retry" | "cancel" | "dismiss";

/** The most jobs of one request. */
const AT_ONCE = 500;

/** Asks for a change of jobs. Returns why some were left as they are, each reason once. */
export async function request(
  memory: Memory,
  verb: Verb,
  jobIds: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const reasons = new Set<string>();
  for (let from = 0; from < jobIds.length; from += AT_ONCE) {
    const values = { job_ids: jobIds.slice(from, from + AT_ONCE) };
    const answer = await memory.send({ route: `POST /v1/jobs/${verb}`, command: `jobs ${verb}`, values }, signal);
    // about one job, the program answers without a list, or with an error
    const { skipped = [] } = answer as Partial<ManyAsked>;
    for (const { error, remediation } of skipped) reasons.add(`${error} ${remediation}`);
  }
  return [...reasons];
}
