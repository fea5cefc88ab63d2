/** Feedback on a memory: the job that records it. */

import type { NewJob } from "#types";
import type { MemorySubject } from "./subject";

export type Verdict = "helpful" | "wrong";

/** The longest question that the program keeps with a feedback. */
const LONGEST_QUERY = 1000;

/** The job that records what the user says of a memory, with the question that found it. */
export function feedbackJob({ id, asked }: Pick<MemorySubject, "id" | "asked">, verdict: Verdict): NewJob<"feedback"> {
  const query = Array.from(asked?.query ?? "")
    .slice(0, LONGEST_QUERY)
    .join("");
  return { kind: "feedback", payload: { memory_id: id, verdict, by: "person", ...(query === "" ? {} : { query }) } };
}
