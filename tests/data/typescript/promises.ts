// What docs/schemas/cognee-memory.d.ts promises: this file compiles, and each line after @ts-expect-error does not.
import type {
  AppliedCompaction,
  Camel,
  CompactionPreview,
  EndedRecord,
  ForgetResult,
  ImportResult,
  IngestResult,
  JobError,
  JobFile,
  JobRecord,
  Kind,
  MemoriesPage,
  NewJob,
  QueueStatus,
  RebuildResult,
  Results,
  RetrievalFailure,
  RetrievalHit,
  RetrievalSuccess,
  Routes,
} from "./cognee-memory.js";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const holds = <T extends true>(): T | undefined => undefined;

// The kind of a job leads to its result.
holds<Same<Results["ingest"], IngestResult>>();
holds<Same<Results["forget"], ForgetResult>>();
holds<Same<Results["import"], ImportResult>>();
holds<Same<Results["rebuild"], RebuildResult>>();
holds<Same<Results["compact"], CompactionPreview | AppliedCompaction>>();

export async function number(ended: <K extends Kind>(job: JobFile<K>) => Promise<EndedRecord<K>>): Promise<number> {
  const job: JobFile<"ingest"> = {
    schema_version: 1,
    job_id: "a",
    kind: "ingest",
    payload: { summary: { topic: "Sign-in", context: "People were logged out." } },
  };
  const record = await ended(job);
  return record.success ? record.result.memory_number : 0;
}

// success, state and kind tell the rest.
export function told(record: JobRecord): number | JobError | string {
  if (record.success === null) {
    if (record.state === "retrying") return record.error.message + record.next_attempt_at;
    // @ts-expect-error: it has no result yet
    return record.result.memory_number;
  }
  if (record.success) {
    if (record.kind === "ingest") return record.result.memory_number;
    if (record.kind === "forget") return record.result.forgotten.length;
    // @ts-expect-error: a result of another kind has no such field
    return record.result.memory_number;
  }
  if (record.state === "rejected") {
    const kind: null = record.kind;
    return kind ?? record.error;
  }
  if (record.state === "cancelled") return record.error ?? record.kind;
  return record.error;
}

export function finished<K extends Kind>(record: JobRecord<K>): EndedRecord<K> | null {
  return record.success === null ? null : record;
}

// A payload belongs to its kind.
// @ts-expect-error: forget has no topic
export const mixed: JobFile<"forget"> = { schema_version: 1, job_id: "a", kind: "forget", payload: { topic: "a" } };

export const camel: Camel<JobFile<"set_status">> = {
  schemaVersion: 1,
  jobId: "a",
  kind: "set_status",
  payload: { memoryId: "a", status: "Superseded" },
};

// Each route has its request and its answer.
export const sent: NewJob = { kind: "compact", payload: { topic_id: "sign-in", preview: true } };
export const asked: Routes["POST /v1/retrieve"]["body"] = { query: "who may renew a token", max_results: 3 };
export const chosen: Routes["GET /v1/jobs"]["query"] = { state: ["failed", "expired"], limit: 20 };
export const explained: Routes["POST /v1/explain"]["body"] = { ids: [1, 2] };
holds<Same<Routes["POST /v1/retrieve"]["answer"], RetrievalSuccess>>();
holds<RetrievalFailure extends Routes["POST /v1/retrieve"]["failure"] ? true : false>();
holds<Same<Routes["GET /v1/status"]["answer"], QueueStatus>>();
holds<Same<Routes["GET /v1/memories"]["answer"], MemoriesPage>>();
// @ts-expect-error: a query has words
export const empty: Routes["POST /v1/context"]["body"] = {};

// A legacy memory has null metadata, and no fields of a summary.
export function badge(hit: RetrievalHit): string {
  const decisions: string[] = hit.decisions ?? [];
  return hit.status === null ? "" : `[${hit.status}] ${decisions.length}`;
}
