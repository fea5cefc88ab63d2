// Made from the code by `python -m tools.schemas`: do not edit.

export type Kind =
  | "ingest"
  | "cognify"
  | "migrate"
  | "compact"
  | "restore"
  | "forget"
  | "set_status"
  | "feedback"
  | "resolve"
  | "judge"
  | "ask"
  | "import"
  | "capture"
  | "rebuild"
  | "graph"
  | "check"
  | "noop";

export type State =
  | "queued"
  | "running"
  | "retrying"
  | "succeeded"
  | "failed"
  | "cancelled"
  | "expired"
  | "rejected";

export type AttemptOutcome =
  | "succeeded"
  | "failed"
  | "waiting"
  | "interrupted"
  | "crashed"
  | "worker_died"
  | "cancelled";

export type Status = "Draft" | "Active" | "Superseded" | "DecisionRecord";

export type MemoryType = "summary" | "decision_record" | "legacy";

/** The payload of each kind. */
export interface Payloads {
  ingest: IngestPayload;
  cognify: CognifyPayload;
  migrate: MigratePayload;
  compact: CompactPayload;
  restore: RestorePayload;
  forget: ForgetPayload;
  set_status: SetStatusPayload;
  feedback: FeedbackPayload;
  resolve: ResolvePayload;
  judge: JudgePayload;
  ask: AskPayload;
  import: ImportPayload;
  capture: CapturePayload;
  rebuild: RebuildPayload;
  graph: GraphPayload;
  check: CheckPayload;
  noop: NoopPayload;
}

/** The result of each kind. */
export interface Results {
  ingest: IngestResult;
  cognify: CognifyResult;
  migrate: MigrateResult;
  compact: CompactResult;
  restore: RestoreResult;
  forget: ForgetResult;
  set_status: SetStatusResult;
  feedback: FeedbackResult;
  resolve: ResolveResult;
  judge: JudgeResult;
  ask: AskResult;
  import: ImportResult;
  capture: CaptureResult;
  rebuild: RebuildResult;
  graph: GraphResult;
  check: CheckResult;
  noop: NoopResult;
}

/** The fields that a job file of any kind has. */
export interface JobFields {
  schema_version: 1;
  /** Equal to the file's name without .json, and none of Windows' device names. */
  job_id: string;
  /** ISO 8601; without an offset it is UTC. */
  submitted_at?: string | null;
  /** Higher runs first; the default depends on the kind. */
  priority?: number | null;
  /** The job does not start before. ISO 8601. */
  not_before?: string | null;
  /** The job does not start after. ISO 8601. */
  expires_at?: string | null;
  /** How many attempts may end in an error. */
  max_attempts?: number | null;
  /** Longest time of one attempt. */
  timeout_seconds?: number | null;
  submitted_by?: string | null;
  /** Comes back in the record and in the log; the job's id where none is given. */
  correlation_id?: string | null;
}

/** The job file of one kind. */
export interface JobOf<K extends Kind> extends JobFields {
  kind: K;
  payload: Payloads[K];
}

/** The file that a client drops. */
export type JobFile<K extends Kind = Kind> = { [Each in K]: JobOf<Each> }[K];

/** A job that is sent over HTTP: its id and version may be left out. */
export type NewJob<K extends Kind = Kind> = {
  [Each in K]: Omit<JobOf<Each>, "job_id" | "schema_version"> &
    Partial<Pick<JobFields, "job_id" | "schema_version">>;
}[K];

/** The fields that a record has in every state. */
export interface RecordFields {
  job_id: string;
  /** Rises by one when an ended job is run again. Within one generation, `attempt` never decreases. */
  generation: number;
  /** The number of the latest attempt; 0 before the first. */
  attempt: number;
  max_attempts: number;
  priority: number;
  submitted_at: string | null;
  accepted_at: string | null;
  /** The start of the first attempt. */
  started_at: string | null;
  /** The job's own, or its id; null in records of earlier versions. */
  correlation_id: string | null;
  schema_version: 1;
  expires_at: string | null;
  attempts: Attempt[];
}

/** A job that waits or runs. */
export interface ActiveRecord<K extends Kind = Kind> extends RecordFields {
  kind: K;
  state: "queued" | "running";
  success: null;
  finished_at: null;
  /** A waiting job does not start before this time. */
  next_attempt_at: string | null;
  elapsed_ms: null;
  /** The latest error; null after a success. */
  error: JobError | null;
  job_sha256: string;
  result: null;
}

/** A job that waits for another attempt; `error` says why. */
export interface RetryingRecord<K extends Kind = Kind> extends RecordFields {
  kind: K;
  state: "retrying";
  success: null;
  finished_at: null;
  next_attempt_at: string;
  elapsed_ms: null;
  error: JobError;
  job_sha256: string;
  result: null;
}

/** A job that has ended well, with its result. */
export interface SucceededRecord<K extends Kind = Kind> extends RecordFields {
  kind: K;
  state: "succeeded";
  success: true;
  finished_at: string;
  next_attempt_at: null;
  /** From the first start to the end. */
  elapsed_ms: number | null;
  error: null;
  job_sha256: string;
  result: Results[K];
}

/** A job that has ended without success; `error` says why. */
export interface FailedRecord<K extends Kind = Kind> extends RecordFields {
  kind: K;
  state: "failed" | "expired";
  success: false;
  finished_at: string;
  next_attempt_at: null;
  /** From the first start to the end. */
  elapsed_ms: number | null;
  error: JobError;
  job_sha256: string;
  result: null;
}

/** A job that was cancelled. */
export interface CancelledRecord<K extends Kind = Kind> extends RecordFields {
  kind: K;
  state: "cancelled";
  success: false;
  finished_at: string;
  next_attempt_at: null;
  /** From the first start to the end. */
  elapsed_ms: number | null;
  /** The latest error; null after a success. */
  error: JobError | null;
  job_sha256: string;
  result: null;
}

/** A file that could not become a job. */
export interface RejectedRecord extends RecordFields {
  kind: null;
  state: "rejected";
  success: false;
  finished_at: string;
  next_attempt_at: null;
  /** From the first start to the end. */
  elapsed_ms: number | null;
  error: JobError;
  job_sha256: null;
  result: null;
}

/** How a job has ended: `success` or `state` tells which. */
export type EndedRecord<K extends Kind = Kind> =
  | { [Each in K]: SucceededRecord<Each> }[K]
  | FailedRecord<K>
  | CancelledRecord<K>
  | RejectedRecord;

/** The source of truth about a job's state: `results/<job_id>.json`, always replaced as a whole. */
export type JobRecord<K extends Kind = Kind> = ActiveRecord<K> | RetryingRecord<K> | EndedRecord<K>;

/** The body of `POST /v1/retrieve`. */
export interface RetrieveRequest {
  query: string;
  /** 1 to 1000; what is outside is taken for the nearest of these, with a warning. */
  max_results?: number;
  /** 1 to 1000000; what is outside is taken for the nearest of these, with a warning. */
  max_tokens?: number;
  /** 0.5 to 90; what is outside is taken for the nearest of these, with a warning. */
  half_life_days?: number;
  include_superseded?: boolean;
  status?: "Draft" | "Active" | "Final" | "Superseded" | "DecisionRecord";
  topic_id?: string;
  plan_id?: string;
  tags?: string[] | string;
  /** ISO 8601; without an offset it is UTC. */
  since?: string;
  /** ISO 8601; after `since`. */
  until?: string;
  time_phrase?: "prefer" | "filter" | "off";
  /** 0 to 1; what is outside is taken for the nearest of these, with a warning. */
  recency_floor?: number;
  /** 0.6 to 0.95; what is outside is taken for the nearest of these, with a warning. */
  alpha?: number;
  /** 0 to 0.5; what is outside is taken for the nearest of these, with a warning. */
  feedback_weight?: number;
  /** When ages are measured; now, where it is not given. */
  as_of?: string;
  preset?: "contract" | "long-lived";
  ranking_mode?: "product" | "blend";
  legacy?: "mixed" | "append";
  /** 0 to 1; what is outside is taken for the nearest of these, with a warning. */
  relevance_floor?: number;
  best_passages?: boolean;
}

/** The body of `POST /v1/explain`. */
export interface ExplainRequest {
  /** The question whose hits are explained. What is none is reported, and left out. */
  query?: string;
  /** 1 to 1000; what is outside is taken for the nearest of these, with a warning. */
  max_results?: number;
  /** 1 to 1000000; what is outside is taken for the nearest of these, with a warning. */
  max_tokens?: number;
  /** 0.5 to 90; what is outside is taken for the nearest of these, with a warning. */
  half_life_days?: number;
  include_superseded?: boolean;
  status?: "Draft" | "Active" | "Final" | "Superseded" | "DecisionRecord";
  topic_id?: string;
  plan_id?: string;
  tags?: string[] | string;
  /** ISO 8601; without an offset it is UTC. */
  since?: string;
  /** ISO 8601; after `since`. */
  until?: string;
  time_phrase?: "prefer" | "filter" | "off";
  /** 0 to 1; what is outside is taken for the nearest of these, with a warning. */
  recency_floor?: number;
  /** 0.6 to 0.95; what is outside is taken for the nearest of these, with a warning. */
  alpha?: number;
  /** 0 to 0.5; what is outside is taken for the nearest of these, with a warning. */
  feedback_weight?: number;
  /** When ages are measured; now, where it is not given. */
  as_of?: string;
  preset?: "contract" | "long-lived";
  ranking_mode?: "product" | "blend";
  legacy?: "mixed" | "append";
  /** 0 to 1; what is outside is taken for the nearest of these, with a warning. */
  relevance_floor?: number;
  /** Numbers of memories, 200 at most. What is none is reported, and left out. */
  ids?: number[];
  project?: string;
  include_pack_context?: boolean | null;
  limit?: number | null;
}

/** The body of `POST /v1/context`. */
export interface ContextRequest {
  query: string;
  /** 1 to 1000; what is outside is taken for the nearest of these, with a warning. */
  max_results?: number;
  /** 1 to 1000000; what is outside is taken for the nearest of these, with a warning. */
  max_tokens?: number;
  /** 0.5 to 90; what is outside is taken for the nearest of these, with a warning. */
  half_life_days?: number;
  include_superseded?: boolean;
  status?: "Draft" | "Active" | "Final" | "Superseded" | "DecisionRecord";
  topic_id?: string;
  plan_id?: string;
  tags?: string[] | string;
  /** ISO 8601; without an offset it is UTC. */
  since?: string;
  /** ISO 8601; after `since`. */
  until?: string;
  time_phrase?: "prefer" | "filter" | "off";
  /** 0 to 1; what is outside is taken for the nearest of these, with a warning. */
  recency_floor?: number;
  /** 0.6 to 0.95; what is outside is taken for the nearest of these, with a warning. */
  alpha?: number;
  /** 0 to 0.5; what is outside is taken for the nearest of these, with a warning. */
  feedback_weight?: number;
  /** When ages are measured; now, where it is not given. */
  as_of?: string;
  preset?: "contract" | "long-lived";
  ranking_mode?: "product" | "blend";
  legacy?: "mixed" | "append";
  /** 0 to 1; what is outside is taken for the nearest of these, with a warning. */
  relevance_floor?: number;
}

/** The body of `POST /v1/moment`. */
export interface MomentRequest {
  prompt?: string;
  file?: string;
  output?: string;
  shown?: number[];
}

/** What each route of a worker's HTTP interface takes and answers. Text and pages are left out. */
export interface Routes {
  /** The memories that match a query, best first. */
  "POST /v1/retrieve": {
    query?: { settings?: "none" };
    body: RetrieveRequest;
    answer: RetrievalSuccess;
    failure: RetrievalFailure | Refusal;
  };
  /** Why memories match, or do not. */
  "POST /v1/explain": {
    query?: { settings?: "none" };
    body: ExplainRequest;
    answer: ExplainSuccess;
    failure: ExplainFailure | Refusal;
  };
  /** A block for a prompt. */
  "POST /v1/context": {
    query?: { settings?: "none" };
    body: ContextRequest;
    answer: ContextSuccess;
    failure: ContextFailure | Refusal;
  };
  /** The notes that fit a prompt, a file or an error, if any fits well. */
  "POST /v1/moment": {
    body: MomentRequest;
    answer: FittingNotes;
    failure: Refusal;
  };
  /** The workspace's status. */
  "GET /v1/status": {
    answer: QueueStatus;
    failure: Refusal;
  };
  /** The jobs that ended, over time. */
  "GET /v1/activity": {
    query?: { hours?: number; buckets?: number };
    answer: Activity;
    failure: Refusal;
  };
  /** Files that could not become jobs. */
  "GET /v1/rejected": {
    query?: { limit?: number };
    answer: RejectedFiles;
    failure: Refusal;
  };
  /** A request to the worker. */
  "POST /v1/control": {
    body: { request: "pause" | "resume" | "drain" | "prune" };
    answer: Controlled;
    failure: Refusal;
  };
  /** Jobs, newest first. */
  "GET /v1/jobs": {
    query?: { state?: State[]; kind?: Kind; error?: ErrorCode; contains?: string; limit?: number; after?: string };
    answer: JobsPage;
    failure: Refusal;
  };
  /** Submit a job. */
  "POST /v1/jobs": {
    body: NewJob;
    answer: Submitted;
    failure: Refusal;
  };
  /** Cancel jobs. */
  "POST /v1/jobs/cancel": {
    body: { job_ids: string[] } | { state?: "queued" | "running" | "retrying"; kind?: Kind; error?: ErrorCode };
    answer: ManyAsked;
    failure: Refusal;
  };
  /** Run jobs again. */
  "POST /v1/jobs/retry": {
    body: { job_ids: string[] } | { state?: "failed" | "expired" | "cancelled" | "rejected"; kind?: Kind; error?: ErrorCode };
    answer: ManyAsked;
    failure: Refusal;
  };
  /** Remove ended jobs from the list. */
  "POST /v1/jobs/dismiss": {
    body: { job_ids: string[] } | { state?: "succeeded" | "failed" | "expired" | "cancelled" | "rejected"; kind?: Kind; error?: ErrorCode };
    answer: ManyAsked;
    failure: Refusal;
  };
  /** One job in detail. */
  "GET /v1/jobs/{job_id}": {
    path: { job_id: string };
    query?: { markdown?: "true" | "false" };
    answer: WholeJob;
    failure: Refusal;
  };
  /** Cancel a job. */
  "POST /v1/jobs/{job_id}/cancel": {
    path: { job_id: string };
    body: { [name: string]: never };
    answer: Asked;
    failure: Refusal;
  };
  /** Run a job again. */
  "POST /v1/jobs/{job_id}/retry": {
    path: { job_id: string };
    body: { [name: string]: never };
    answer: Asked;
    failure: Refusal;
  };
  /** Remove an ended job from the list. */
  "POST /v1/jobs/{job_id}/dismiss": {
    path: { job_id: string };
    body: { [name: string]: never };
    answer: Asked;
    failure: Refusal;
  };
  /** Memories, newest first. */
  "GET /v1/memories": {
    query?: { topic_id?: string; status?: Status; type?: MemoryType; limit?: number; after?: number; tags?: string };
    answer: MemoriesPage;
    failure: Refusal;
  };
  /** One memory with its text. */
  "GET /v1/memories/{memory}": {
    path: { memory: string };
    answer: WholeMemory;
    failure: Refusal;
  };
  /** Open questions and next steps, by topic. */
  "GET /v1/open": {
    query?: { topic_id?: string; limit?: number };
    answer: OpenItems;
    failure: Refusal;
  };
  /** Topics, largest first. */
  "GET /v1/topics": {
    answer: Topics;
    failure: Refusal;
  };
  /** Decisions that may contradict each other. */
  "GET /v1/review": {
    query?: { all?: "true" | "false" };
    answer: Review;
    failure: Refusal;
  };
  /** The last compactions. */
  "GET /v1/history": {
    query?: { topic_id?: string; limit?: number };
    answer: History;
    failure: Refusal;
  };
  /** Every setting with its source. */
  "GET /v1/settings": {
    answer: SettingsTable;
    failure: Refusal;
  };
  /** The workspace's team, or why it is not reached. */
  "GET /v1/team": {
    answer: OfTeam;
    failure: Refusal;
  };
  /** The findings of doctor, with remedies. */
  "GET /v1/doctor": {
    answer: Findings;
    failure: Refusal;
  };
  /** Whether the server runs. */
  "GET /healthz": {
    answer: Health;
    failure: Refusal;
  };
  /** Whether it can answer queries. */
  "GET /readyz": {
    answer: Health;
    failure: Refusal;
  };
  /** This document. */
  "GET /openapi.json": {
    answer: { [name: string]: unknown };
    failure: Refusal;
  };
  /** The token, in exchange for a ticket of cognee-memory open. */
  "POST /v1/session": {
    body: { ticket: string };
    answer: Session;
    failure: Refusal;
  };
}

export interface Activity {
  success: true;
  from: string;
  to: string;
  bucket_seconds: number;
  /** The oldest first. The last one has not ended yet: each begins at a full multiple of its width. */
  buckets: Bucket[];
  /** The waiting jobs that start later, the next hour first. */
  scheduled: Scheduled[];
}

/** The decision record that a topic's memories were merged into. */
export interface AppliedCompaction {
  /**
   * The knowledge graph gets the change when a job needs the graph, or when the machine is idle. Absent in results of
   * earlier versions, and where nothing changes.
   */
  graph?: "follows";
  conflicts: CompactionConflict[];
  /** The conflicts that `keep_both` rejected: both decisions hold. */
  kept_both: CompactionConflict[];
  /** What else to check. */
  warnings: string[];
  decision_record_id: string;
  memory_number: number;
  topic_id: string;
  /** The ids of the memories that it merged, the oldest first. */
  superseded: string[];
  /** Memory id -> number, of those that still exist. */
  superseded_numbers: { [name: string]: number };
  narrative_source: "template" | "llm";
  /** The digest of the preview that was applied. */
  preview_digest: string;
  applied_at: string;
}

/** Asks the knowledge graph a question. */
export interface AskPayload {
  question: string;
  /** Default: 10. */
  top_k?: number | null;
}

/** The answer to a question, from the knowledge graph. */
export interface AskResult {
  question: string;
  /** In prose. Null without a language model, and if nothing was found. */
  answer: string | null;
  /** Whether a language model wrote the answer. */
  llm: boolean;
  /**
   * The part of the graph that fits the question: nodes and their connections, in cognee's form. A decision that does
   * not hold any more says what became of it.
   */
  context: string;
  /** The most relevant first; what holds stands before what it replaced. */
  memories: RestsOn[];
  warnings: string[];
}

/** The outcome of a request about a job. */
export interface Asked {
  success: true;
  job_id: string;
  /** False when no request was needed, because the job had ended. */
  requested: boolean;
  /** Whether the worker has handled the request. If not, the request stays, and is handled later. */
  obeyed: boolean;
  /** The job's state now; `dismissed` for a job that was removed from the list. */
  state: string;
}

/** One try at a job. Consecutive equal attempts that do not count are one entry, and so are deaths of the worker. */
export interface Attempt {
  number: number;
  started_at: string;
  finished_at: string | null;
  /**
   * Null while the attempt runs. Only `failed` counts towards `max_attempts`; `crashed` and `worker_died` are
   * counted apart.
   */
  outcome: AttemptOutcome | null;
  /** The error. For `interrupted`: what ended a child that several jobs shared, or null without a fault. */
  error_code: ErrorCode | null;
  /** How many consecutive attempts this entry represents. */
  repeats: number;
  /** How many jobs shared the child. Only the death of a child that ran a single job is blamed on it. */
  together: number;
}

/** The jobs that ended in a span of time. */
export interface Bucket {
  /** Its start. */
  at: string;
  /** By state. */
  ended: { [name: string]: number };
  /** From acceptance to the first start, without jobs that were run again; null if there are none. */
  waited_ms: Spread | null;
  took_ms: Spread | null;
}

/** Captures sessions of other tools as memories, shows what a capture would keep, or undoes one. */
export interface CapturePayload {
  /** From which tools; by default, from all that are enabled for the workspace. */
  tools?: ("claude-code" | "codex" | "cursor" | "gemini-cli" | "opencode" | "vscode")[] | null;
  /** The id of one session, as its tool names it. */
  session?: string | null;
  /** The path of one transcript of these tools. */
  transcript?: string | null;
  /** An exported conversation: a file inside the workspace. */
  file?: string | null;
  /** Exported conversations, each in a file, or in a copy of a file from elsewhere. */
  files?: ExportedFile[] | null;
  /** Only transcripts that were changed since. ISO 8601. */
  since?: string | null;
  /** Only sessions whose tool/id, path or title matches one of these patterns (* and ?). */
  include?: string[] | null;
  /** Not the sessions whose tool/id, path or title matches one of these patterns. */
  exclude?: string[] | null;
  /** The most sessions to read, the oldest first. */
  limit?: number | null;
  /** Also capture sessions whose capture was undone. Default: false. */
  again?: boolean | null;
  /** Default: false. */
  dry_run?: boolean | null;
  /** Why a hook submitted it, such as session_end. */
  reason?: string | null;
  /** The id of the receipt of a capture to take back. */
  undo?: string | null;
}

/** The capture, or its dry run; or the capture that was undone. */
export type CaptureResult = Captured | UndoneCapture;

/**
 * What a capture did, or in a dry run would do.
 *
 * `captured`, `unchanged`, `withdrawn`, `forgotten`, `empty` and `failed` add up to `sessions`.
 */
export interface Captured {
  /**
   * The knowledge graph gets the change when a job needs the graph, or when the machine is idle. Absent in results of
   * earlier versions, and where nothing changes.
   */
  graph?: "follows";
  dry_run: boolean;
  /** Those that were forgotten here before. They stay forgotten. */
  forgotten: number;
  failed: number;
  /** Those beyond the limit of this run. */
  remaining: number;
  items_omitted: number;
  /** The id of the receipt, with which the run can be undone. Null in a dry run. */
  receipt: string | null;
  /** Secrets that were replaced, or would be. Null where the setting is off. */
  redactions: Redactions | null;
  warnings: string[];
  sessions: number;
  captured: number;
  unchanged: number;
  withdrawn: number;
  empty: number;
  /** Memories added. */
  memories: number;
  /** Memories of sessions that grew, which new ones replaced. */
  superseded: number;
  bytes_read: number;
  /** Calls of the language model; in a dry run, those that a capture would make. */
  model_calls: number;
  /** Their tokens, questions and answers, as reported; in a dry run, an estimate. */
  model_tokens: number;
  /** Their cost, as reported; null where it is not known, and in a dry run. */
  model_cost_usd?: number | null;
  /** The sessions that were read come first. */
  items: CapturedSessionItem[];
}

/** Where a captured memory comes from. */
export interface CapturedFrom {
  tool: string;
  session_id: string;
  /** The transcript. */
  path: string;
  first_place: string;
  /** Where its part begins and ends in the transcript. */
  last_place: string;
  /** `rules` or `model`: what chose its sentences. */
  method: string;
  confidence: number;
  captured_at: string;
  evidence: SentencePlace[];
}

/** A memory of a part of a session; in a dry run, the memory that it would be. */
export interface CapturedMemory {
  memory_id: string;
  /** Null in a dry run, unless the memory is stored already. */
  memory_number: number | null;
  topic: string;
  topic_id: string;
  /** The time of the part's last turn. */
  created_at: string | null;
  decisions: number;
  importance: number | null;
  /** How sure the choice of its sentences is. */
  confidence: number;
  method: "rules" | "model";
  /** Whether this capture added it. A resumed session repeats what an earlier one said. */
  is_new: boolean;
  first_place: string;
  /** Where its part begins and ends in the transcript. */
  last_place: string;
  /** The ids of the session's memories that this capture replaced; named once, at the last memory. */
  supersedes: string[];
  /** In a dry run, the text that would be stored. Null otherwise, and beyond 60,000 characters of all texts. */
  summary_text: string | null;
}

/** A session, and what became of it. */
export interface CapturedSessionItem {
  tool: string;
  session_id: string;
  /** The tool's own name of the session. */
  title: string | null;
  path: string;
  modified_at: string | null;
  /** `withdrawn`: its capture was undone. `empty`: there was nothing to keep. */
  outcome: "captured" | "unchanged" | "withdrawn" | "forgotten" | "empty" | "failed";
  reason: string | null;
  /** Turns that were read and belong to this workspace. */
  turns: number;
  memories: CapturedMemory[];
  /** What was left out on purpose, such as tool output, by reason. */
  left_out: { [name: string]: number };
  /** Records of a kind that this version does not know, by kind. They were skipped. */
  unknown: { [name: string]: number };
  /** Records that cannot be read. */
  damaged: number;
  /** Whether the last record was only half written. It is read the next time. */
  unfinished: boolean;
  /** The transcript's format version, if it is newer than those known. */
  newer: string | null;
}

/** Why jobs failed, were rejected, expired, or wait for another attempt. */
export interface Cause {
  state: State;
  code: ErrorCode;
  count: number;
  kinds: { [name: string]: number };
  /** The message of the newest of these jobs. The other single values are of the same job. */
  message: string;
  /** Their messages with counts, the most frequent first; a few at most. */
  messages: { [name: string]: number };
  remediation: string;
  /**
   * `wait`: they run again by themselves. `dismiss`: they would fail again. `correct`: the files would be
   * rejected again as they are.
   */
  advice: "wait" | "retry" | "dismiss" | "correct";
  newest: string | null;
  newest_job_id: string;
}

/** The empty payload of kinds that take no arguments. */
export type CheckPayload = { [name: string]: never };

/** The findings of a full read of every store. Nothing was changed. */
export interface CheckResult {
  /** Whether there is no error among the findings. */
  ok: boolean;
  findings: FoundTrouble[];
  memories: number;
  seconds: number;
}

/** A word of a memory that stood in the code when the memory was stored. */
export interface CheckedAnchor {
  kind: "path" | "name" | "command" | "value";
  word: string;
  /** Where it stood, relative to the workspace. */
  file: string;
  state: "verified" | "changed" | "gone" | "not_found";
}

/** The process in which jobs run. */
export interface ChildProcess {
  pid: number;
  /** Resident memory in bytes; null if the process has just ended. */
  memory_bytes: number | null;
}

/**
 * Texts, files of the workspace, or memories of any type. With none of these: all raw memories that were not
 * cognified yet.
 */
export interface CognifyPayload {
  texts?: string[] | null;
  paths?: string[] | null;
  memory_ids?: string[] | null;
}

/** What cognee found in texts. Each text is a memory, whether or not anything was found in it. */
export interface CognifyResult {
  memories: LookedInto[];
  /** Number of texts that this job processed, in all its attempts. */
  looked_into: number;
  /** Number of texts that an earlier job had processed. */
  before: number;
  /** Nodes found in the texts of `looked_into`. A node of several texts counts once for each. */
  nodes: number;
  edges: number;
  /** Calls of the language model, in all attempts. */
  calls: number;
  tokens: number;
  /** The price in US dollars of the calls that LiteLLM's price list has; null if it has none of them. */
  cost_usd?: number | null;
  failures: NotLookedInto[];
  /** Secrets that were replaced in texts and files before they were kept. Null where the setting is off. */
  redactions: Redactions | null;
}

/** Merges a topic's summaries into a decision record, or previews the merge. */
export interface CompactPayload {
  /** A UUID, or a slug such as plan-014-summaries. */
  topic_id: string;
  /** Default: false. */
  preview?: boolean | null;
  /** The preview to apply; without one the present summaries are compacted. */
  preview_digest?: string | null;
  /** The conflicts to reject, by the conflict_id of a preview: both decisions hold. Not with preview_digest, since a preview has rejected what it was made with. */
  keep_both?: string[] | null;
}

/** The preview, if the job asked for one; otherwise the applied compaction. */
export type CompactResult = CompactionPreview | AppliedCompaction;

/** A memory that would be merged. */
export interface CompactedMemory {
  memory_id: string;
  memory_number: number;
  /** The topic's former decision record is merged like a summary. */
  memory_type: "summary" | "decision_record";
  topic: string;
  session_id: string | null;
  plan_id: string | null;
  status: "Active" | "DecisionRecord";
  created_at: string | null;
  source_created_at: string | null;
  decisions: string[];
  /** The digest of its text. If the memory has another one now, the preview is not of this text. */
  content_sha256: string;
}

/** Two decisions of different memories that cannot both hold. */
export interface CompactionConflict {
  /** What `keep_both` takes. It depends on the words of the two decisions alone. */
  conflict_id: string;
  /**
   * `negation`: one denies the other. `choice`, `value`: another choice or amount for the same subject.
   * `toggle`: the opposite, such as enabled and disabled. `reversal`: the later one takes the earlier one back.
   * `replacement`: known to the store, in words of which the rules say nothing.
   */
  kind: "negation" | "choice" | "value" | "toggle" | "reversal" | "replacement";
  /** How certain the conflict is. */
  confidence: number;
  /**
   * What decided it: the rules of wording, the language model, the comparison when the memories were stored, or a
   * person or agent in the review.
   */
  judged_by?: "rules" | "llm" | "judge" | "said";
  /** Why, if somebody said so. */
  reason?: string;
  /** The one that does not hold any more. */
  earlier: ConflictSide;
  /** The one that holds. It is the older one only if somebody said so. */
  later: ConflictSide;
}

/** The result that a compaction of the topic would have. Nothing was changed. */
export interface CompactionPreview {
  conflicts: CompactionConflict[];
  /** The conflicts that `keep_both` rejected: both decisions hold. */
  kept_both: CompactionConflict[];
  /** What else to check. */
  warnings: string[];
  /** The memories that would be merged and superseded, the oldest first. */
  summaries: CompactedMemory[];
  decision_record: PreviewedRecord;
  /**
   * The digest of the change that would be applied. It stays the same until a memory of the topic changes, or
   * what is known of its decisions.
   */
  preview_digest: string;
}

/** One of two decisions that conflict. */
export interface ConflictSide {
  memory_id: string;
  memory_number: number;
  text: string;
  /** The memory's `source_created_at`, else its `created_at`; of a decision of an earlier record, its own day. */
  date: string;
}

/** The error, and an empty block. */
export interface ContextFailure {
  success: false;
  error: string;
  error_code: ErrorCode;
  remediation: string;
  /** Values for programs. Absent if there are none. */
  error_details?: { [name: string]: unknown };
  context: "";
  memories: PackedMemory[];
  considered: 0;
  total_tokens: 0;
}

/** What context writes: an answer, or an error. */
export type ContextResponse = ContextSuccess | ContextFailure;

/** A block for a prompt; it may be empty. */
export interface ContextSuccess {
  success: true;
  /** Markdown: a heading, then a note for each memory, with its text quoted. Empty if nothing fits the question. */
  context: string;
  /** The memories in the block, in its order: by score, with repetitions of others at the end. */
  memories: PackedMemory[];
  /** Number of memories that were relevant enough. */
  considered: number;
  /** The tokens of the whole block, at most `budget`. */
  total_tokens: number;
  budget: number;
  /** The tokenizer that counted the tokens; null if none were counted. */
  tokenizer: string | null;
  /** The time at which ages were measured. */
  as_of: string;
  ranking: RankingUsed;
  warnings: string[];
}

/**
 * A request to the worker. About one job: `control/cancel-<job_id>.json`, `control/retry-<job_id>.json`,
 * `control/dismiss-<job_id>.json`. About no single job: `control/pause.json`, `resume.json`, `drain.json`,
 * `prune.json`.
 */
export interface ControlRequest {
  requested_at?: string | null;
  /** The job id in the file's name. The worker uses the name, not this field. */
  job_id?: string | null;
  /** The generation that the request is about. The worker ignores a request for another one; null means any. */
  generation?: number | null;
}

export interface Controlled {
  success: true;
  request: "pause" | "resume" | "drain" | "prune";
  obeyed: boolean;
  worker: WorkerStatus;
}

/** One exchange, kept as a legacy memory. */
export interface Conversation {
  user_message: string;
  assistant_message: string;
  /** ISO 8601; without an offset it is UTC. */
  timestamp?: string | "" | "N/A" | null;
  importance?: number | null;
}

/** The number of jobs by state: all that have not ended, and those that ended since the worker's start, if any. */
export interface Counts {
  queued: number;
  running: number;
  retrying: number;
  succeeded?: number;
  failed?: number;
  cancelled?: number;
  expired?: number;
}

/** Stable: programs may compare it. The codes of this version, or one of a later version. */
export type ErrorCode =
  | "ARGUMENT_INVALID"
  | "BACKLOG_FULL"
  | "CANCELLED"
  | "CANCEL_TOO_LATE"
  | "CAPTURE_OFF"
  | "CHILD_DIED"
  | "CHILD_START_FAILED"
  | "CHILD_TOO_LARGE"
  | "CONFIG_UNWRITABLE"
  | "CONFLICT_NOT_FOUND"
  | "DISK_FULL"
  | "EMBEDDER_CHANGING"
  | "EMBEDDER_MISMATCH"
  | "EMBEDDING_CONFIG"
  | "EMBEDDING_FAILED"
  | "EMBEDDING_UNREACHABLE"
  | "EXPIRED"
  | "EXTRA_NOT_ADDED"
  | "FILE_NOT_TRUSTED"
  | "FILE_TOO_LARGE"
  | "FILE_TRACKED"
  | "FILE_UNSAFE"
  | "FOLDER_UNWRITABLE"
  | "GRAPH_NOT_INSTALLED"
  | "GRAPH_UNAVAILABLE"
  | "GRAPH_WRITE_FAILED"
  | "HTTP_BUSY"
  | "HTTP_FORBIDDEN"
  | "HTTP_NOT_JSON"
  | "HTTP_NO_ROUTE"
  | "HTTP_OFF"
  | "HTTP_TICKET_INVALID"
  | "HTTP_TOO_LARGE"
  | "HTTP_TOO_SLOW"
  | "HTTP_UNAUTHORIZED"
  | "IMPORT_INVALID"
  | "INTERNAL"
  | "JOBS_FAILED"
  | "JOB_ID_CONFLICT"
  | "JOB_INVALID"
  | "JOB_NOT_FOUND"
  | "JOB_TIMEOUT"
  | "JSON_INVALID"
  | "KIND_UNKNOWN"
  | "LLM_BUDGET_SPENT"
  | "LLM_CONFIG"
  | "LLM_FAILED"
  | "LLM_KEY_REFUSED"
  | "LLM_NOT_CONFIGURED"
  | "LLM_TEXT_REFUSED"
  | "LLM_TIMEOUT"
  | "LLM_UNREACHABLE"
  | "MEMORY_FORGOTTEN"
  | "MEMORY_NOT_FOUND"
  | "METADATA_BROKEN"
  | "MODEL_CORRUPT"
  | "MODEL_MISSING"
  | "MODEL_UNUSABLE"
  | "NAME_INVALID"
  | "NOTHING_TO_COMPACT"
  | "NOT_CONFIRMED"
  | "NOT_READY"
  | "PARTLY_REFUSED"
  | "PLAN_NOT_FOUND"
  | "POISON"
  | "PREVIEW_NOT_FOUND"
  | "PREVIEW_STALE"
  | "PROBLEMS_FOUND"
  | "PROJECT_MISMATCH"
  | "PURGE_INCOMPLETE"
  | "QUERY_EMPTY"
  | "RATE_LIMITED"
  | "RECEIPT_NOT_FOUND"
  | "RESTORE_BLOCKED"
  | "SCHEMA_VERSION_UNSUPPORTED"
  | "SESSION_NOT_FOUND"
  | "SETTING_INVALID"
  | "STORE_BUSY"
  | "STORE_MOUNT_UNSAFE"
  | "STORE_NEWER"
  | "STORE_REPLACED"
  | "STORE_UNREADABLE"
  | "SYSTEM_BUSY"
  | "TEAM_CONFLICT"
  | "TEAM_COPY_BEHIND"
  | "TEAM_COPY_TOO_OLD"
  | "TEAM_LEASE_LOST"
  | "TEAM_LIMITED"
  | "TEAM_MISCONFIGURED"
  | "TEAM_NEWER"
  | "TEAM_NOT_INSTALLED"
  | "TEAM_NOT_SHARED"
  | "TEAM_NO_COPY"
  | "TEAM_READER_BUSY"
  | "TEAM_REFUSED"
  | "TEAM_UNREACHABLE"
  | "TEAM_UNUSABLE"
  | "TEST_FAILURE"
  | "TEST_RETRY"
  | "TOOL_CONFIG_UNUSABLE"
  | "TOPIC_NOT_FOUND"
  | "TOPIC_TOO_LARGE"
  | "WAIT_TIMEOUT"
  | "WORKER_DIED"
  | "WORKER_NOT_RUNNING"
  | "WORKER_RUNNING"
  | "WORKER_START_FAILED"
  | "WORKSPACE_MISSING"
  | "WORKSPACE_MOVED"
  | "WORKSPACE_NOT_CHOSEN"
  | "WORKSPACE_NOT_TRUSTED"
  | (string & {});

/** The error, and empty fields of an answer. */
export interface ExplainFailure {
  success: false;
  error: string;
  error_code: ErrorCode;
  remediation: string;
  /** Values for programs. Absent if there are none. */
  error_details?: { [name: string]: unknown };
  items: ExplainItem[];
  missing_ids: number[];
  /** The faults of the request; empty if the error has another cause. */
  errors: ExplainProblem[];
  metadata: ExplainMetadata;
}

/** Why a memory is found, or is not found. */
export interface ExplainItem {
  /** Present if the memory is probably no answer to the question. It changes no score. */
  fit?: "weak";
  /** Absent if what answers the question holds, and replaced nothing. */
  standing?: Standing;
  /** Absent if nothing of it stood in the code, or nothing is certain. */
  in_code?: InCode;
  /** Its `memory_number`. */
  id: number;
  kind: "decision" | "summary" | "legacy";
  /** The topic, or a legacy text's first line, at most 80 characters. */
  title: string;
  /** For a legacy memory without a date of its own, the time at which it was stored. */
  created_at: string | null;
  /** The workspace's path. */
  project: string;
  retrieval: ExplainedRetrieval;
  score: ExplainedScore;
  matches: ExplainedMatches;
  /** Null unless it was requested. */
  pack_context: PackContext | null;
  /** Absent if nobody gave any. */
  feedback?: FeedbackCounts;
}

/** The request as the program read it. */
export interface ExplainMetadata {
  query: string | null;
  project: string | null;
  /** Each id counts once. */
  requested_ids_count: number;
  returned_items_count: number;
  include_pack_context: boolean;
  /** Null if nothing could be explained. */
  ranking: ExplainedRanking | null;
  /** Its path; null if there is none. */
  workspace: string | null;
  warnings: string[];
}

/** A part of the request that could not be answered. */
export interface ExplainProblem {
  code: "INVALID_ARGUMENT" | "NOT_FOUND" | "PROJECT_MISMATCH";
  message: string;
  /** The argument that it is about. */
  field: string;
}

/** What explain writes: an answer, or an error. */
export type ExplainResponse = ExplainSuccess | ExplainFailure;

/** The query's hits in their order, then the other memories in the order of their ids in the request. */
export interface ExplainSuccess {
  success: true;
  items: ExplainItem[];
  /** The requested ids that do not exist. */
  missing_ids: number[];
  errors: ExplainProblem[];
  metadata: ExplainMetadata;
}

/** The parts of the request that the memory contains. */
export interface ExplainedMatches {
  /** The query's terms that the memory contains, in the query's order. */
  query_terms: string[];
  /** Every memory of a workspace belongs to its project. A request for another project is rejected. */
  project_match: true;
}

/** The parameters of the ranking, after clamping. */
export interface ExplainedRanking {
  preset: "contract" | "long-lived";
  mode: "product" | "blend";
  half_life_days: number;
  recency_floor: number;
  /** The weight of relevance in the blend. */
  alpha: number;
  /**
   * The lowest `semantic_score` of a hit, without the reranker's part. Unless requested: the default, or half of
   * the best one if lower.
   */
  relevance_floor: number;
  /** Absent if feedback does not count. */
  feedback_weight?: number;
  /** Present if the query is only a time: the hits are the memories of that time, the newest first. */
  order?: "date";
  /** Absent if the query names no time. Ages are measured from this period, and not from `as_of`. */
  time?: TimeUsed;
  /** Absent if none is configured, or if it failed; then `warnings` says so. */
  reranker?: RerankerUsed;
  /** The query without its words of courtesy. Absent if it has none. */
  searched_for?: string;
  /** The time at which ages were measured. */
  as_of: string;
  weights: ScoreWeights;
}

/** How the memory came into the answer. */
export interface ExplainedRetrieval {
  source: "query" | "id_lookup" | "query+id_lookup";
  /** The rank among the query's hits, from 1. Null for a memory that was requested by its id and is no hit. */
  rank: number | null;
}

/** `total` is the score that retrieval gives for the same query and `as_of`, digit for digit. */
export interface ExplainedScore {
  /** (base + semantic_boost + rerank) * recency * (1 + kind_bonus) * feedback, or the blend. Null without a query. */
  total: number | null;
  components: ScoreComponents;
}

/** How many lines there are of each type. */
export interface ExportCounts {
  memory: number;
  /** Default: 0. */
  compaction?: number | null;
  /** Default: 0. */
  cognified?: number | null;
  /** Default: 0. */
  feedback?: number | null;
  /** Default: 0. */
  verdict?: number | null;
}

/** The last line. Without it, a file was cut off. */
export interface ExportEnd {
  type: "end";
  /** How many lines stand before it, empty ones not counted. */
  lines?: number | null;
  /** Of these lines, each without blanks around it and with a line feed. Null: it was edited. */
  sha256: string | null;
}

/** The first line. */
export interface ExportHeader {
  type: "header";
  format: "cognee-memory-export";
  version: 1;
  /** Of the workspace that was exported. */
  workspace_id?: string | null;
  /** ISO 8601; without an offset it is UTC. */
  exported_at?: string | null;
  program_version?: string | null;
  counts?: ExportCounts | null;
}

/** A line of an export: the header, a memory, what was done with memories, or the end. */
export type ExportLine =
  | ExportHeader
  | ExportedSummary
  | ExportedRecord
  | ExportedLegacy
  | ExportedCompaction
  | ExportedFinding
  | ExportedFeedback
  | ExportedVerdict
  | ExportEnd;

/** What was merged into a record, and whether that was taken back: ids, digests and counts. */
export interface ExportedCompaction {
  type: "compaction";
  /** A UUID. */
  record_id: string;
  /** Empty where the topic was forgotten. */
  topic_id: string | "";
  /** ISO 8601; without an offset it is UTC. */
  applied_at: string;
  job_id: string;
  job_sha256: string;
  preview_digest: string;
  sources: MergedMemory[];
  conflicts: { [name: string]: unknown }[];
  narrative_source: string;
  /** ISO 8601; without an offset it is UTC. */
  restored_at?: string | null;
  restored_by?: string | null;
  restored?: TakenBack | null;
}

/** What somebody said of a memory. */
export interface ExportedFeedback {
  type: "feedback";
  /** A UUID. */
  memory_id: string;
  by: string;
  verdict: "helpful" | "wrong" | "withdrawn";
  /** ISO 8601; without an offset it is UTC. */
  at: string;
  query?: string | null;
  note?: string | null;
}

/** A file with an exported conversation. */
export interface ExportedFile {
  /** The file inside the workspace: the export itself, or a copy of it. */
  path: string;
  /** The path of which it is a copy. */
  source?: string | null;
  /** When that file was changed last. ISO 8601. */
  modified_at?: string | null;
}

/** What cognee found in a text, by a language model. */
export interface ExportedFinding {
  type: "cognified";
  /** A UUID. */
  memory_id: string;
  data_id: string;
  /** ISO 8601; without an offset it is UTC. */
  at: string;
  found: Found;
}

/** A text without structure, such as a conversation. */
export interface ExportedLegacy {
  type: "memory";
  /** The fields that are searched by meaning. It is not read. */
  index_fields?: string[] | null;
  /** ISO 8601; without an offset it is UTC. */
  stored_at: string;
  /** When the status was last set by hand. */
  status_set_at?: string | null;
  /** Whether it is kept and not found. Default: false. */
  hidden?: boolean | null;
  /** The original that it was converted from. */
  migrated_from?: string | null;
  text: string;
  metadata: LegacyMetadata;
}

/** A decision record. */
export interface ExportedRecord {
  type: "memory";
  /** The fields that are searched by meaning. It is not read. */
  index_fields?: string[] | null;
  /** ISO 8601; without an offset it is UTC. */
  stored_at: string;
  /** When the status was last set by hand. */
  status_set_at?: string | null;
  /** Whether it is kept and not found. Default: false. */
  hidden?: boolean | null;
  /** The original that it was converted from. */
  migrated_from?: string | null;
  /** The record as markdown. It is not read: the fields are. */
  text?: string | null;
  metadata: RecordMetadata;
}

/** A summary. */
export interface ExportedSummary {
  type: "memory";
  /** The fields that are searched by meaning. It is not read. */
  index_fields?: string[] | null;
  /** ISO 8601; without an offset it is UTC. */
  stored_at: string;
  /** When the status was last set by hand. */
  status_set_at?: string | null;
  /** Whether it is kept and not found. Default: false. */
  hidden?: boolean | null;
  /** The original that it was converted from. */
  migrated_from?: string | null;
  /** The summary as markdown. It is not read: the fields are. */
  text?: string | null;
  metadata: SummaryMetadata;
}

/** What somebody, or a language model, said of two decisions: which of them holds. */
export interface ExportedVerdict {
  type: "verdict";
  /** The memory of the one that was given as the older. */
  older: string;
  older_sha256: string;
  /** A UUID. */
  newer: string;
  newer_sha256: string;
  /** Which of the two holds. */
  verdict: "newer" | "older" | "both" | "undecided";
  reason?: string | null;
  by: string;
  /** ISO 8601; without an offset it is UTC. */
  at: string;
  /** Default: "". */
  job_id?: string;
  /** Of a language model; null: of anybody else. */
  confidence?: number | null;
}

/** How many said that a memory helped, and how many that it is wrong. */
export interface FeedbackCounts {
  helpful: number;
  wrong: number;
}

/** What somebody said of a memory. */
export interface FeedbackGiven {
  by: string;
  verdict: "helpful" | "wrong";
  at: string;
  /** The question for which the memory was found. */
  query: string | null;
  note: string | null;
}

/** Says whether a memory helped. A later feedback of the same `by` on the memory replaces it. */
export interface FeedbackPayload {
  memory_id: string;
  /** withdrawn takes the earlier feedback back. */
  verdict: "helpful" | "wrong" | "withdrawn";
  /** The question for which the memory was found. */
  query?: string | null;
  note?: string | null;
  /** Who gives it: person, agent, or a name. Default: "person". */
  by?: string | null;
}

/** The feedback, and all that was given on the memory. */
export interface FeedbackResult {
  memory_id: string;
  memory_number: number;
  verdict: "helpful" | "wrong" | "withdrawn";
  by: string;
  feedback: FeedbackCounts;
}

export interface Findings {
  success: true;
  /** Whether no finding is an error. */
  ok: boolean;
  /** The number of findings of each level. */
  counts: { [name: string]: number };
  /** The worst first. */
  findings: FoundTrouble[];
  took_ms: number;
}

/** The notes that fit a prompt, a file or an error well enough to be shown unasked; usually none. */
export interface FittingNotes {
  success: true;
  /** A line that says what follows, and a quoted line for each memory. Empty if nothing fits. */
  context: string;
  /** The memories in it. */
  memory_numbers: number[];
  total_tokens: number;
}

/** Exactly one of `memory_ids`, `topic_id` and `session`: the memories to delete. */
export interface ForgetPayload {
  memory_ids?: string[] | null;
  /** A UUID, or a slug such as plan-014-summaries. */
  topic_id?: string | null;
  /** A captured session, as tool/id. It is not captured again. */
  session?: string | null;
}

/** What was forgotten, including memories that had been forgotten before. */
export interface ForgetResult {
  /** The ids of the requested memories, of their originals before a migration, and of what was migrated from these. */
  forgotten: string[];
  records_rebuilt: RebuiltRecord[];
  /** Decision records of which fewer than two memories remained. */
  records_removed: string[];
  /** Memories that a removed record had superseded; they have their former status again. */
  revived: string[];
  /** Ended jobs whose texts were removed from their records and copies. */
  jobs_scrubbed: number;
  /** Waiting jobs that would have stored a forgotten memory again: they failed with MEMORY_FORGOTTEN. */
  jobs_ended: number;
  /** Rejected files, previews, imported files, backups and set-aside stores. */
  files_removed: number;
  warnings: string[];
}

/** The part of the graph that a text gave, and the job that asked for it. */
export interface Found {
  job_id?: string | null;
  nodes: FoundNode[];
  edges: FoundEdge[];
}

/** An edge of the graph. */
export interface FoundEdge {
  source: string;
  target: string;
  name: string;
  properties: { [name: string]: unknown };
}

/** A node of the graph. */
export interface FoundNode {
  id: string;
  type: string;
  index_fields: string[];
  properties: { [name: string]: unknown };
}

/** What a check found. */
export interface FoundTrouble {
  code: "BACKLOG_LARGE" | "BACKUPS_LEFT" | "CAPTURE_LIST_DAMAGED" | "CAPTURE_ON" | "CHECK_FAILED" | "CHECK_NOT_MADE" | "CHILD_LARGE" | "CHILD_NOT_STARTING" | "CLOCK_OF_DISK" | "CLOCK_WAS_AHEAD" | "CLOCK_WRONG" | "COGNEE_VARIABLE_IGNORED" | "CONFIG_CLOSED" | "CONFIG_OPEN" | "COPIES_ALONE" | "DISK_LOW" | "DISK_READ_ONLY" | "DISK_TIGHT" | "EMBEDDINGS_MISSIZED" | "EMBEDDING_MISFIT" | "ENV_FILE_IGNORED" | "EVENTS_FAILED" | "FILES_TRACKED" | "FORGETTING_UNFINISHED" | "FORGOTTEN_HERE" | "GRAPH_ABSENT" | "GRAPH_BEHIND" | "GRAPH_CUT_OFF" | "GRAPH_DAMAGED" | "GRAPH_DEADLY" | "GRAPH_GONE" | "GRAPH_HOLDS_FORGOTTEN" | "GRAPH_HOLDS_MORE" | "GRAPH_LACKS" | "GRAPH_OF_OTHER_MODEL" | "GRAPH_ORPHANED" | "GRAPH_REFUSED" | "HEARTBEAT_DAMAGED" | "HEARTBEAT_FOREIGN" | "HEARTBEAT_LEFT" | "HOOKS_FAIL" | "HOOK_PROGRAM_MISSING" | "HTTP_PROBLEM" | "HTTP_SILENT" | "INBOX_NOT_TAKEN" | "INDEX_OF_OLDER_FORMAT" | "INODES_LOW" | "JOBS_FAILED" | "JOBS_FROM_ELSEWHERE" | "JOBS_REJECTED" | "JOBS_RETRYING" | "JOBS_WITHOUT_WORKER" | "LEAVING" | "LINKS_INSIDE" | "LLM_ABSENT" | "LLM_MISFIT" | "LLM_SET" | "LOCK_GONE" | "LOCK_UNSAFE" | "LOG_HAS_ERRORS" | "LOG_OF_STORE_LARGE" | "MEMORIES_INVALID" | "MEMORIES_STALE" | "MEMORIES_UNCOMPARED" | "MODEL_ABSENT" | "MODEL_CHANGED" | "MODEL_FORMER" | "MODEL_WRONG" | "MOUNT_UNSAFE" | "MOUNT_UNSAFE_ALLOWED" | "MOUNT_WITHOUT_EVENTS" | "NAME_TAKEN" | "NOT_IGNORED" | "NOT_INSTALLED" | "OK" | "OLD_STORES" | "OPEN_FILES_FEW" | "OPEN_TO_OTHERS" | "ORPHANS" | "OTHER_OWNER" | "OUTBOX_INVALID" | "OWN_MODEL_MISSING" | "PACKAGE_MISSING" | "PACKAGE_OTHER_VERSION" | "PARTS_LEFT" | "PAUSED" | "PAUSED_FOR_LONG" | "PYTHON_UNSUPPORTED" | "QUEUE_FILE_DAMAGED" | "QUEUE_STUCK" | "RAM_LOW" | "RECORDS_DAMAGED" | "RECORDS_MANY" | "REDACTION_OFF" | "REQUESTS_NOT_OBEYED" | "RERANKER_BROKEN" | "SECRETS_STORED" | "SETTINGS_SET" | "SETTING_WRONG" | "SET_ASIDE" | "SOURCES_APART" | "SOURCES_MISSING" | "SQLITE_LACKING" | "STORE_CLOSED" | "STORE_DAMAGED" | "STORE_NOT_READ_WHOLE" | "STORE_OF_NEWER_FORMAT" | "STORE_OF_OLDER_FORMAT" | "SUCCESSOR_WAITS" | "TEAM_CLOCK_DIFFERS" | "TEAM_COPY_HOLDS_FORGOTTEN" | "TEAM_COPY_NOT_FOLLOWED" | "TEAM_COPY_SILENT" | "TEAM_JOBS_WAIT" | "TEAM_LOST" | "TEAM_LOST_IS_BACK" | "TEAM_NOT_REACHED" | "TEAM_OF" | "TEAM_ROW_SET_ASIDE" | "TEAM_TOKEN_ENDS" | "TEAM_UNFORGOTTEN" | "TEST_JOBS_ON" | "TEXTS_STRAY" | "TOKEN_OPEN" | "VARIABLE_UNKNOWN" | "VECTORS_DAMAGED" | "VECTORS_DIFFER" | "VECTORS_LACKING" | "VECTORS_MISPLACED" | "WATCHES_FEW" | "WORDS_DAMAGED" | "WORDS_LACKING" | "WORKERS_MANY" | "WORKER_ABSENT" | "WORKER_DIED" | "WORKER_OF_OTHER_SETTINGS" | "WORKER_OF_OTHER_VERSION" | "WORKER_SILENT" | "WORKSPACE_ABSENT" | "WORKSPACE_CLOSED" | "WORKSPACE_FOREIGN" | "WORKSPACE_SHARED" | "WORKSPACE_UNUSED";
  level: "ok" | "note" | "warning" | "error";
  /** What it is about. */
  group: "machine" | "installation" | "settings" | "workspace" | "worker" | "queue" | "memory" | "graph" | "model";
  subject: string;
  /** What was found. Contains no text of memories. */
  message: string;
  /** What to do about it. */
  remedy: string;
  /** What `cognee-memory doctor --fix` would do about it. */
  fix: "close to others" | "add .gitignore" | "remove parts" | "remove what a dead worker left" | "end orphans" | "start a worker" | null;
  count: number;
  /** Some of the memories that it is about. */
  memory_ids: string[];
}

/** The empty payload of kinds that take no arguments. */
export type GraphPayload = { [name: string]: never };

/** The picture of the knowledge graph: its file, and what it shows. */
export interface GraphResult {
  path: string;
  nodes: number;
  edges: number;
  /** Number of memories shown: the newest, at most 200, with the nodes that they lead to. */
  memories: number;
  memories_left_out: number;
}

export interface Health {
  success: true;
  status: "alive" | "ready";
}

/** The worker's state: `worker/heartbeat.json`. Whether the worker runs is decided by its lock, not this file. */
export interface Heartbeat {
  version: string;
  workspace: string;
  /** Provider, model and dimensions. Vectors may be compared only if these are equal. */
  embedder: string;
  llm_configured: boolean;
  counts: Counts;
  oldest_waiting_seconds: number | null;
  /** What runs now. While a long job yields to a short one, the short one comes last. */
  in_flight: InFlight[];
  /** How many changes the knowledge graph lacks, all memories if there is none; null while the number is unknown. */
  graph_lag: number | null;
  /** Null while there is none: it is stopped when idle. */
  child: ChildProcess | null;
  /** How the worker notices drops. `failed`: events are not available, so the worker polls. */
  watcher: "events" | "polling" | "failed";
  /** Null for a workspace of this machine alone. */
  team: WorkerInTeam | null;
  /** Null if HTTP is switched off. */
  http: Http | null;
  schema_version: 1;
  worker_id: string;
  pid: number;
  /** Identifies the current boot of the machine; null if the system does not provide it. */
  boot_id: string | null;
  started_at: string;
  state: "starting" | "ready" | "draining" | "paused" | "exiting" | "stopped";
  heartbeat_at: string;
  uptime_seconds: number;
}

/** The last compactions, newest first. */
export interface History {
  success: true;
  compactions: PastCompaction[];
}

/** The worker's HTTP interface. */
export interface Http {
  /** Null while the worker cannot listen; `problem` says why. */
  url: string | null;
  token_file: string;
  /** Whether a server process runs with the model loaded; otherwise the first request waits until one has started. */
  serving: boolean;
  /** The server process; null while there is none. A request starts it, and it is stopped when idle. */
  server: ChildProcess | null;
  problem: string | null;
}

/** A note about a memory of the file. */
export interface ImportDetail {
  line: number;
  /** The id in the file. */
  memory_id: string;
  what: "renumbered" | "kept" | "duplicate" | "conflict" | "forgotten" | "failed";
  /** Its id in this store. */
  here: string | null;
  note: string;
}

/** Imports an export file. */
export interface ImportPayload {
  /** A file inside the workspace. */
  path: string;
}

/** Counts of the memories of a file. The first six counts after `memories` add up to it. */
export interface ImportResult {
  /**
   * The knowledge graph gets the change when a job needs the graph, or when the machine is idle. Absent in results of
   * earlier versions, and where nothing changes.
   */
  graph?: "follows";
  memories: number;
  added: number;
  /** Stored already, with the same id and text. */
  unchanged: number;
  /** Stored already, with the same text under another id. */
  duplicates: number;
  /** Stored already, with the same id and another text. The stored text was kept. */
  conflicts: number;
  /** Forgotten here after the import was submitted. */
  forgotten: number;
  /** Rejected by the embedding provider. */
  failed: number;
  /** Those among `added` that got another number, since theirs was taken. */
  renumbered: number;
  /** Those that were stored already, with another status, or other dates or labels. The stored ones were kept. */
  kept: number;
  /** Entries added to the history of compactions. */
  compactions: number;
  /** Added entries of what cognee found in texts. */
  findings: number;
  /** Added entries of feedback. A later one of the same person was kept. */
  feedback: number;
  /** Added verdicts on two decisions. A later one on the same two was kept. */
  verdicts: number;
  details: ImportDetail[];
  /** Secrets that were replaced in the memories that were added. Null where the setting is off. */
  redactions: Redactions | null;
  warnings: string[];
  seconds: number;
}

/** What the code of the workspace says of a memory now. It changes no score. */
export interface InCode {
  /** What counts: what is not there any more, else what changed. */
  state: "verified" | "changed" | "gone" | "not_found";
  /** What was checked out when the memory was stored. */
  commit: string;
  /** In words, such as "no longer in the code: refreshToken (src/auth.ts)". */
  remark: string;
  /** Without those of which nothing is certain. */
  anchors: CheckedAnchor[];
}

/** A running job or batch. */
export interface InFlight {
  /** The first of the jobs that run together. */
  job_id: string;
  kind: Kind;
  /** How many jobs run together. */
  jobs: number;
  seconds: number;
  progress: Progress | null;
}

/**
 * Exactly one of `summary`, `summary_text` and `conversation`.
 *
 * The other fields are allowed with `summary_text` only, and override what the text says.
 */
export interface IngestPayload {
  /** A UUID, or a slug such as plan-014-summaries. */
  topic_id?: string | null;
  session_id?: string | null;
  plan_id?: string | null;
  status?: "Draft" | "Active" | "Final" | "Superseded" | null;
  /** Short words without commas, kept in lower case. */
  tags?: string[] | null;
  summary?: Summary | null;
  /** A summary as text: the enriched template, a plain summary, or any words. */
  summary_text?: string | null;
  conversation?: Conversation | null;
}

/** The memory as it is stored. For a duplicate it may differ from the job. */
export interface IngestResult {
  /**
   * The knowledge graph gets the change when a job needs the graph, or when the machine is idle. Absent in results of
   * earlier versions, and where nothing changes.
   */
  graph?: "follows";
  memory_id: string;
  memory_number: number;
  tags: string[];
  /** What of it stood in the code when it was stored: the commit, then paths, names, commands and values. */
  anchors: string[];
  topic_id: string | null;
  session_id: string | null;
  plan_id: string | null;
  status: Status | null;
  created_at: string | null;
  updated_at: string | null;
  source_created_at: string | null;
  importance: number | null;
  memory_type: MemoryType;
  topic: string | null;
  /** Whether the memory was already stored, or another job of the same batch stored it. */
  duplicate: boolean;
  /** Secrets that were replaced before anything was stored. Null where the setting is off. */
  redactions: Redactions | null;
  ingested_chars: number;
  timings_ms: IngestTimings;
}

/** Time in milliseconds, for all the jobs that ran together. */
export interface IngestTimings {
  store: number;
  /** 0, since the graph follows. */
  graph: number;
  jobs_together: number;
}

/** What went wrong, and what to do next. */
export interface JobError {
  code: ErrorCode;
  /** What happened this time, for a person. Holds no secrets. */
  message: string;
  /** What a person can do about it. */
  remediation: string;
  /** Whether the same job may succeed later without a change. */
  retryable: boolean;
  /** Values for programs, such as `fields` or `line`. Absent where there are none. */
  details?: { [name: string]: unknown };
}

/** The newest jobs first. */
export interface JobsPage {
  success: true;
  jobs: ListedJob[];
  /** How many jobs match, on all pages. */
  total: number;
  /** The value of `after` for the next page; null on the last page. */
  next: string | null;
  version: number;
}

export interface JobsState {
  /** The number of jobs by state. States without jobs are absent. */
  counts: { [name: string]: number };
  /** The most frequent first. */
  causes: Cause[];
  /** It changes when any job changes. */
  version: number;
}

/** The empty payload of kinds that take no arguments. */
export type JudgePayload = { [name: string]: never };

/** What the language model was asked about: pairs of decisions, counted by what is kept of its answers. */
export interface JudgeResult {
  newer: number;
  both: number;
  /** It was not sure, gave no answer, or took the earlier one to hold: they stay as they were. */
  undecided: number;
  calls: number;
  tokens: number;
  cost_usd: number | null;
}

/** A memory that was kept when a migration was undone. */
export interface KeptMemory {
  memory_id: string;
  reason: string;
}

/** A memory that a restoring left as it was, and why. */
export interface LeftMemory {
  /** A UUID. */
  memory_id: string;
  reason: "forgotten" | "status_changed" | "merged";
}

/** What is known of a text without structure. */
export interface LegacyMetadata {
  /** A UUID. */
  memory_id: string;
  /** Absent: the next one. */
  memory_number?: number | null;
  session_id?: string | null;
  plan_id?: string | null;
  /** ISO 8601; without an offset it is UTC. */
  created_at?: string | "" | "N/A" | null;
  /** ISO 8601; without an offset it is UTC. */
  updated_at?: string | "" | "N/A" | null;
  /** ISO 8601; without an offset it is UTC. */
  source_created_at?: string | "" | "N/A" | null;
  importance?: number | null;
  /** Short words without commas, kept in lower case. */
  tags?: string[] | null;
  anchors?: string[] | null;
  type: "legacy";
  /** A UUID, or a slug such as plan-014-summaries. */
  topic_id?: string | null;
  status?: Status | null;
}

/** A job in a list. */
export interface ListedJob {
  job_id: string;
  /** Null for a file that could not become a job. */
  kind: Kind | null;
  state: State;
  /** Null until the job has ended. */
  success: boolean | null;
  /** Rises by one when an ended job is run again. Within one generation, `attempt` never decreases. */
  generation: number;
  /** The number of the latest attempt; 0 before the first. */
  attempt: number;
  max_attempts: number;
  priority: number;
  submitted_at: string | null;
  accepted_at: string | null;
  /** The start of the first attempt. */
  started_at: string | null;
  finished_at: string | null;
  /** A waiting job does not start before this time. */
  next_attempt_at: string | null;
  /** From the first start to the end. */
  elapsed_ms: number | null;
  /** The job's own, or its id; null in records of earlier versions. */
  correlation_id: string | null;
  /** The latest error; null after a success. */
  error: JobError | null;
  /** The first memories that it made or changed. */
  memory_numbers: number[];
  /**
   * What it is about, in a line: a topic, the first words of a text, a question. Null if nothing tells, and once its
   * texts were removed.
   */
  subject: string | null;
}

/** A memory whose text cognee has processed. */
export interface LookedInto {
  memory_id: string;
  memory_number: number;
  /** The path of its file, as the job gave it. */
  source: string | null;
  nodes: number;
  edges: number;
  /** Whether an earlier job had processed it. */
  before: boolean;
}

/** The outcome of a request about several jobs. */
export interface ManyAsked {
  success: true;
  /** The jobs for which a request was made. */
  job_ids: string[];
  requested: number;
  obeyed: number;
  skipped: Skipped[];
}

/** The newest memories first. */
export interface MemoriesPage {
  success: true;
  memories: MemoryLine[];
  total: number;
  /** The value of `after` for the next page; null on the last page. */
  next: string | null;
  warnings: string[];
}

export interface MemoryCounts {
  memories: number;
  summary?: number;
  decision_record?: number;
  legacy?: number;
  /** How many memories were not compared with the others yet, which the worker does when it is idle. */
  uncompared: number;
  /** How many changes the knowledge graph lacks: it gets them when a job needs it, or when the machine is idle. */
  graph_lag: number;
  /** Whether there is a knowledge graph. If not, it lacks all memories. */
  has_graph: boolean;
}

/** The feedback on a memory that was not withdrawn. */
export interface MemoryFeedback {
  helpful: number;
  wrong: number;
  /** The latest first. */
  given: FeedbackGiven[];
}

/** A memory in a list. */
export interface MemoryLine {
  memory_id: string;
  memory_number: number;
  memory_type: MemoryType;
  title: string;
  /**
   * What it says, in a line: its first decision that was not replaced, else its first one, else the first sentence
   * of its context. A decision that was replaced or is disputed says so first: `[replaced by #2]`.
   */
  excerpt: string;
  tags: string[];
  /** What of it stood in the code when it was stored: the commit, then paths, names, commands and values. */
  anchors: string[];
  topic_id: string | null;
  session_id: string | null;
  plan_id: string | null;
  status: Status | null;
  created_at: string | null;
  updated_at: string | null;
  source_created_at: string | null;
  importance: number | null;
  stored_at: string;
  /** Its decisions that were replaced or are disputed; empty if all hold. */
  standings: MemoryStanding[];
}

/** A decision of a memory that does not hold any more, or is disputed, and the newer one that says so. */
export interface MemoryStanding {
  state: "replaced" | "disputed";
  statement: string;
  by: ReviewedStatement;
}

export interface MemoryText {
  memory_id: string;
  memory_number: number;
  memory_type: MemoryType;
  title: string;
  /**
   * What it says, in a line: its first decision that was not replaced, else its first one, else the first sentence
   * of its context. A decision that was replaced or is disputed says so first: `[replaced by #2]`.
   */
  excerpt: string;
  tags: string[];
  /** What of it stood in the code when it was stored: the commit, then paths, names, commands and values. */
  anchors: string[];
  topic_id: string | null;
  session_id: string | null;
  plan_id: string | null;
  status: Status | null;
  created_at: string | null;
  updated_at: string | null;
  source_created_at: string | null;
  importance: number | null;
  stored_at: string;
  /** Its decisions that were replaced or are disputed; empty if all hold. */
  standings: MemoryStanding[];
  summary_text: string;
  /** The ids of the memories that a decision record merged. */
  sources: string[];
  /** Whether it is the hidden original of a migrated memory. Queries do not find it. */
  hidden: boolean;
  migrated_from: string | null;
  migrated_to: string[];
  /** Where it comes from, if it was captured from a session of another tool. */
  captured_from: CapturedFrom | null;
  feedback: MemoryFeedback;
  /** What of it may rest on a decision that was replaced. */
  rests_on: RestsOn[];
  /** Null if nothing of it stood in the code, or nothing is certain. */
  in_code: InCode | null;
}

/** A memory as it was before it was merged. */
export interface MergedMemory {
  /** A UUID. */
  memory_id: string;
  content_sha256: string;
  status: Status;
  status_set_at?: string | null;
}

/** Migrates the memories of earlier versions, shows what a migration would do, or undoes one. */
export interface MigratePayload {
  /** Default: false. */
  dry_run?: boolean | null;
  limit?: number | null;
  /** The id of the receipt of a migration to take back. */
  undo?: string | null;
}

/** The migration, or its dry run; or the migration that was undone. */
export type MigrateResult = Migration | UndoneMigration;

/** A text and its result; in a dry run, the result that it would have. Unknown values are null. */
export interface MigratedItem {
  /** `skipped`: it is no memory of an earlier version; nothing was done. */
  outcome: "migrated" | "already_migrated" | "forgotten" | "failed" | "skipped";
  /** Why it was not migrated. */
  reason: string | null;
  error_code: string | null;
  /** The line of the text that cannot be read. */
  line: number | null;
  source: MigrationSource;
  memory_id: string | null;
  memory_number: number | null;
  memory_type: "summary" | "legacy" | null;
  title: string | null;
  topic_id: string | null;
  session_id: string | null;
  plan_id: string | null;
  status: Status | null;
  created_at: string | null;
  importance: number | null;
}

/**
 * What a migration did, or in a dry run would do.
 *
 * `migrated`, `already_migrated`, `forgotten`, `failed` and `remaining` add up to `found`.
 */
export interface Migration {
  /**
   * The knowledge graph gets the change when a job needs the graph, or when the machine is idle. Absent in results of
   * earlier versions, and where nothing changes.
   */
  graph?: "follows";
  dry_run: boolean;
  /** Those that were forgotten here before. They stay forgotten. */
  forgotten: number;
  failed: number;
  /** Those beyond the limit of this run. */
  remaining: number;
  items_omitted: number;
  /** The id of the receipt, with which the run can be undone. Null in a dry run. */
  receipt: string | null;
  /** Secrets that were replaced, or would be. Null where the setting is off. */
  redactions: Redactions | null;
  warnings: string[];
  /** Texts of earlier versions, without those that were skipped. */
  found: number;
  migrated: number;
  already_migrated: number;
  /** Other texts in cognee's store. */
  skipped: number;
  /** Failed ones first. The receipt has all of them. */
  items: MigratedItem[];
}

/** The file of a text that an earlier version gave to cognee. */
export interface MigrationSource {
  /** cognee's SQLite file, below the workspace. Empty where no store names the text. */
  store: string;
  /** cognee's id of the text. */
  data_id: string;
  /** The name of its file in `.cognee_data`. */
  file: string;
}

/** For tests of the job engine; accepted only if the setting for test jobs is on. */
export interface NoopPayload {
  /** Default: 0. */
  sleep_ms?: number | null;
  /** Default: "succeed". */
  outcome?: "succeed" | "fail" | "retry" | "crash" | "segfault" | "hang" | "flood" | "swell" | "critical" | null;
}

/** An empty result. */
export type NoopResult = { [name: string]: never };

/** A text that was not processed. */
export interface NotLookedInto {
  /** Null for a file that could not be read. */
  memory_id: string | null;
  source: string | null;
  code: string;
  message: string;
}

/** The workspace's team. */
export interface OfTeam {
  success: true;
  /** Null for a workspace that belongs to no team. */
  team: TeamStatus | null;
}

/** An open question or a next step that no later memory has answered or done. */
export interface OpenItem {
  memory_id: string;
  memory_number: number;
  kind: "question" | "next_step";
  text: string;
  topic_id: string;
  /** Of the memory. */
  title: string;
  /** Of the memory; null if it is unknown. */
  date: string | null;
}

/** The open questions and next steps, topic by topic: the topic with the newest first, in it the newest first. */
export interface OpenItems {
  success: true;
  items: OpenItem[];
  total: number;
  warnings: string[];
}

/** Whether the memory is in the block that `context` gives for the same question. */
export interface PackContext {
  included: boolean;
  /** The position in the block, from 1. Null if it is not in the block. */
  position: number | null;
  /** The tokens of its note. Null if it is not in the block. */
  tokens: number | null;
  truncated: boolean;
  budget: number;
}

/** A memory in the block. */
export interface PackedMemory {
  memory_id: string;
  memory_number: number;
  /** Present if the memory is probably no answer to the question. It changes no score. */
  fit?: "weak";
  /** Absent if what answers the question holds, and replaced nothing. */
  standing?: Standing;
  /** Absent if nothing of it stood in the code, or nothing is certain. */
  in_code?: InCode;
  score: number;
  /** The tokens of its note. */
  tokens: number;
  /** Whether lines were left out at its end. */
  truncated: boolean;
  position: number;
}

/** A decision of a memory. */
export interface PairedStatement {
  memory_id: string;
  /** The decision's words, as the memory has them. */
  statement: string;
}

export interface PastCompaction {
  decision_record_id: string;
  memory_number: number | null;
  topic_id: string;
  applied_at: string;
  job_id: string;
  preview_digest: string;
  superseded: string[];
  /** Memory id -> number, of those that still exist. */
  superseded_numbers: { [name: string]: number };
  conflicts: { [name: string]: unknown }[];
  narrative_source: string;
  restored_at: string | null;
  restored: string[];
  skipped: { [name: string]: unknown }[];
}

/** The decision record that a compaction would make. Its id and its time exist only once it is made. */
export interface PreviewedRecord {
  tags: string[];
  /** What of it stood in the code when it was stored: the commit, then paths, names, commands and values. */
  anchors: string[];
  /** The topic of the newest memory. */
  topic: string;
  topic_id: string;
  /** The session, if all memories are of the same one. */
  session_id: string | null;
  /** The plan of the newest memory that has one. */
  plan_id: string | null;
  status: "DecisionRecord";
  /** The date of the newest memory. */
  source_created_at: string;
  /** The highest importance of the merged memories. */
  importance: number | null;
  /** The text of the record: its narrative. */
  summary_text: string;
  /**
   * Ordered by the date at which each was last stated, which it ends with, as its memory's number:
   * `… (2026-11-20, #3)`. Of two that conflict: `[Later] … supersedes …`, and `[Earlier] …` below those that
   * hold.
   */
  consolidated_decisions: string[];
  consolidated_rationale: string[];
  key_open_questions: string[];
  next_steps: string[];
  key_references_files: string[];
  key_references_plans: string[];
  key_references_branches: string[];
  key_references_issues: string[];
  time_scope: RecordTimeScope;
  /** The ids of the memories that it merges, the oldest first. */
  compaction_source: string[];
  /** What wrote the narrative: the template or the language model. */
  narrative_source: "template" | "llm";
}

/** The progress of a running job. */
export interface Progress {
  done: number;
  total: number;
  message: string;
}

/** The workspace's status. */
export interface QueueStatus {
  success: true;
  workspace: string;
  /** The version of the program. */
  version: string;
  now: string;
  worker: WorkerStatus;
  jobs: JobsState;
  waiting_in_inbox: number;
  /** All kinds of jobs. */
  kinds: Kind[];
  /** Null when the store cannot be read; `memory_error` has the reason. */
  memory: MemoryCounts | null;
  memory_error: JobError | null;
  /** Whether `ask`, `graph`, `cognify` and `migrate` have the knowledge graph that they need. */
  graph_installed: boolean;
}

/** How the hits were ranked, after clamping. */
export interface RankingUsed {
  preset: "contract" | "long-lived";
  mode: "product" | "blend";
  half_life_days: number;
  recency_floor: number;
  /** The weight of relevance in the blend. */
  alpha: number;
  /**
   * The lowest `semantic_score` of a hit, without the reranker's part. Unless requested: the default, or half of
   * the best one if lower.
   */
  relevance_floor: number;
  /** Absent if feedback does not count. */
  feedback_weight?: number;
  /** Present if the query is only a time: the hits are the memories of that time, the newest first. */
  order?: "date";
  /** Absent if the query names no time. Ages are measured from this period, and not from `as_of`. */
  time?: TimeUsed;
  /** Absent if none is configured, or if it failed; then `warnings` says so. */
  reranker?: RerankerUsed;
  /** The query without its words of courtesy. Absent if it has none. */
  searched_for?: string;
}

/** Rebuilds derived data. */
export interface RebuildPayload {
  /** Default: "both". */
  what?: "index" | "graph" | "both" | null;
}

/** What was rebuilt. Counts of parts that were not requested are absent. */
export interface RebuildResult {
  what: "index" | "graph" | "both";
  passages?: number;
  memories?: number;
  graph_memories?: number;
  seconds: number;
}

/** A decision record that had merged a forgotten memory, and the record that replaces it. */
export interface RebuiltRecord {
  old: string;
  new: string;
}

/** The fields of a decision record. */
export interface RecordMetadata {
  /** A UUID. */
  memory_id: string;
  /** Absent: the next one. */
  memory_number?: number | null;
  session_id?: string | null;
  plan_id?: string | null;
  /** ISO 8601; without an offset it is UTC. */
  created_at?: string | "" | "N/A" | null;
  /** ISO 8601; without an offset it is UTC. */
  updated_at?: string | "" | "N/A" | null;
  /** ISO 8601; without an offset it is UTC. */
  source_created_at?: string | "" | "N/A" | null;
  importance?: number | null;
  /** Short words without commas, kept in lower case. */
  tags?: string[] | null;
  anchors?: string[] | null;
  topic: string;
  /** A UUID, or a slug such as plan-014-summaries. */
  topic_id: string;
  /** Of a decision record: its narrative. */
  context: string;
  decisions?: string[] | null;
  rationale?: string[] | null;
  open_questions?: string[] | null;
  next_steps?: string[] | null;
  /** The four lists below in one. It is not read. */
  references?: string[] | null;
  references_files?: string[] | null;
  references_plans?: string[] | null;
  references_branches?: string[] | null;
  references_issues?: string[] | null;
  /** As text; it begins with the bounds, if there are any. */
  time_scope?: string | null;
  time_scope_bounds?: ScopeBounds | null;
  type: "decision_record";
  /** Absent: DecisionRecord. */
  status?: "DecisionRecord" | "Superseded" | null;
  /** The memories that it merged. */
  compaction_source?: string[] | null;
}

/** From the earliest start to the latest end of the merged memories. */
export interface RecordTimeScope {
  text: string;
  start: string | null;
  end: string | null;
  turn_count: number | null;
}

/** Likely secrets that were replaced by `[REDACTED:kind]`. */
export interface Redactions {
  total: number;
  /** How many of each kind. */
  kinds: { [name: string]: number };
}

/** An error: the request had no effect. */
export interface Refusal {
  success: false;
  error: string;
  error_code: ErrorCode;
  remediation: string;
  /** Values for programs. Absent if there are none. */
  error_details?: { [name: string]: unknown };
}

/** A file that could not become a job. */
export interface RejectedFile {
  /** The name under which it was dropped. */
  file: string;
  /** Its name in `rejected/`. */
  kept_as: string;
  rejected_at: string;
  error: JobError;
  size: number;
}

/** The newest first. */
export interface RejectedFiles {
  success: true;
  files: RejectedFile[];
  total: number;
}

/** Why a file was moved to `rejected/`: `<name>.<n>.reason.json` beside it. */
export interface RejectionReason {
  /** The name under which it was dropped. */
  file: string;
  /** Its name in `rejected/`. */
  kept_as: string;
  rejected_at: string;
  error: JobError;
  schema_version: 1;
  /** Secrets that were removed from the kept file. Null if the file is kept as it was dropped. */
  redactions: Redactions | null;
  /** The size of the dropped file in bytes, if only its beginning is kept. Null if all of it is kept. */
  cut_from: number | null;
}

/** A decision of another memory. */
export interface RelatedStatement {
  memory_id: string;
  memory_number: number;
  statement: string;
  /** When that memory was said; null if that is not known. */
  dated_at: string | null;
}

/** An older decision that a newer one replaced or contradicts. */
export interface ReplacedStatement {
  memory_id: string;
  memory_number: number;
  statement: string;
  /** When that memory was said; null if that is not known. */
  dated_at: string | null;
  state: "replaced" | "disputed";
}

/** The model that judged the first hits again. */
export interface RerankerUsed {
  /** `local:` and its folder, or `endpoint:` and its name. */
  model: string;
  /** The number of first hits that are judged; more if more results are requested. */
  hits: number;
}

/** Says which of two decisions holds. A later verdict on the pair replaces it; the memories stay as they are. */
export interface ResolvePayload {
  older: PairedStatement;
  newer: PairedStatement;
  /** Which of the two holds. undecided takes an earlier verdict back. */
  verdict: "newer" | "older" | "both" | "undecided";
  reason?: string | null;
  /** Who says it: person, agent, or a name. Default: "person". */
  by?: string | null;
}

/** What was said of the two decisions. */
export interface ResolveResult {
  /** Of the memory given as the older one, then of the other. */
  memory_numbers: number[];
  /** Which of the two holds. */
  verdict: "newer" | "older" | "both" | "undecided";
  by: string;
}

/** Undoes a compaction. */
export interface RestorePayload {
  decision_record_id: string;
}

/** The withdrawn record. Withdrawing it again gives the same result. */
export interface RestoreResult {
  /**
   * The knowledge graph gets the change when a job needs the graph, or when the machine is idle. Absent in results of
   * earlier versions, and where nothing changes.
   */
  graph?: "follows";
  decision_record_id: string;
  /** Null if the record has been forgotten since. */
  memory_number: number | null;
  topic_id: string;
  /** The ids of the memories that have their former status again. */
  restored: string[];
  skipped: SkippedSource[];
  /** Memory id -> number, of those of both lists that still exist. */
  numbers: { [name: string]: number };
  restored_at: string;
}

/** A memory that an answer is based on. */
export interface RestsOn {
  memory_id: string;
  memory_number: number;
  /** Absent if what answers the question holds, and replaced nothing. */
  standing?: Standing;
  memory_type: MemoryType;
  /** The topic, or a legacy text's first line. */
  title: string;
  status: Status | null;
}

/** The error, and empty fields of an answer. */
export interface RetrievalFailure {
  success: false;
  error: string;
  error_code: ErrorCode;
  remediation: string;
  /** Values for programs. Absent if there are none. */
  error_details?: { [name: string]: unknown };
  results: RetrievalHit[];
  total_results: 0;
  total_tokens: 0;
}

/**
 * One memory that answers the question.
 *
 * A legacy memory has null metadata, except its importance, and none of the structured fields.
 */
export interface RetrievalHit {
  memory_id: string;
  memory_number: number;
  /**
   * The hits are ordered by it: semantic_score * recency_multiplier * status_multiplier, or the blend; times
   * feedback_multiplier, if there is one.
   */
  score: number;
  /** Alias of `score`. */
  final_score: number;
  /** Alias of `score`. */
  relevance_score: number;
  /** How well meaning and words fit the query. Absolute: other hits do not change it. */
  semantic_score: number;
  /** The part of meaning. */
  vector_score: number;
  /** The part of words. */
  lexical_score: number;
  recency_multiplier: number;
  /** Alias of `recency_multiplier`. */
  recency_score: number;
  status_multiplier: number;
  /** The factor of the feedback. Absent if its weight is 0. */
  feedback_multiplier?: number;
  /** The reranker's judgement, which is then half of semantic_score. Absent without a reranker. */
  rerank_score?: number;
  memory_type: MemoryType;
  /** The memory as Markdown, rendered from its current fields. */
  summary_text: string;
  /** Alias of `summary_text`. */
  text: string;
  tokens: number;
  topic: string | null;
  tags: string[];
  /** What of it stood in the code when it was stored: the commit, then paths, names, commands and values. */
  anchors: string[];
  topic_id: string | null;
  session_id: string | null;
  plan_id: string | null;
  status: Status | null;
  created_at: string | null;
  updated_at: string | null;
  source_created_at: string | null;
  importance: number | null;
  /** Present if the memory is probably no answer to the question. It changes no score. */
  fit?: "weak";
  /** Absent if what answers the question holds, and replaced nothing. */
  standing?: Standing;
  /** Absent if nothing of it stood in the code, or nothing is certain. */
  in_code?: InCode;
  decisions?: string[];
  rationale?: string[];
  open_questions?: string[];
  next_steps?: string[];
  references?: string[];
  /** One or two decisions, and another passage if it matches better; absent unless `best_passages` asks for them. */
  best_passages?: string[];
  /** Absent if nobody gave any. */
  feedback?: FeedbackCounts;
  /** The ids of the memories that a decision record merged. Absent in all other hits. */
  compaction_source?: string[];
}

/** What retrieval writes: an answer, or an error. */
export type RetrievalResponse = RetrievalSuccess | RetrievalFailure;

/** An answer; it may hold no hits. */
export interface RetrievalSuccess {
  success: true;
  /** Highest score first; the newest first if `ranking.order` is `date`. */
  results: RetrievalHit[];
  /** The length of `results`. */
  result_count: number;
  /** Number of memories that were relevant enough, including those that did not fit. */
  total_results: number;
  total_tokens: number;
  half_life_days: number;
  include_superseded: boolean;
  /** The requester of superseded memories. */
  include_superseded_reason: "argument" | "query" | "status" | null;
  /** The time at which ages were measured. */
  as_of: string;
  ranking: RankingUsed;
  /** The tokenizer that counted the tokens; null if none were counted. */
  tokenizer: string | null;
  warnings: string[];
}

/** The pairs of decisions that may contradict each other; with `all` also what was replaced or settled. */
export interface Review {
  success: true;
  pairs: ReviewedPair[];
}

/** Two decisions that contradict each other, or may. */
export interface ReviewedPair {
  /** Its name: the numbers of the two memories, such as 1/2; of a further pair of the same two 1/2/2. */
  pair: string;
  /** `suspended`: the memory with what holds by the verdict is superseded or a draft, so nothing falls by it. */
  state: "disputed" | "replaced" | "both" | "suspended";
  /** Which of the two holds; null if it is disputed. */
  holds: "newer" | "older" | "both" | null;
  /** The one with the earlier date. */
  older: ReviewedStatement;
  newer: ReviewedStatement;
  /** The probability that one was replaced; 1 or 0 if somebody settled it. */
  confidence: number;
  cause: "judge" | "said";
  /** Who settled it, when (the next field), and why (the last one); null if the judge found it. */
  by: string | null;
  at: string | null;
  reason: string | null;
}

/** A decision of a memory, in a pair. */
export interface ReviewedStatement {
  memory_id: string;
  memory_number: number;
  statement: string;
  dated_at: string | null;
  topic_id: string | null;
}

/** The waiting jobs that start in an hour to come. */
export interface Scheduled {
  /** The hour's start. */
  at: string;
  /** How many, by kind. */
  kinds: { [name: string]: number };
}

/** The bounds of a time scope. */
export interface ScopeBounds {
  start?: string | null;
  end?: string | null;
  turn_count?: number | null;
}

/** The components of a score. Without a query, those that depend on it are null. */
export interface ScoreComponents {
  /** The part of words in semantic_score: weight * lexical_score. */
  base: number | null;
  /** recency_multiplier. */
  recency: number;
  /** status_multiplier - 1: above 0 for a decision record, below for what is superseded, replaced or disputed. */
  kind_bonus: number;
  /** The part of meaning in semantic_score: weight * vector_score. */
  semantic_boost: number | null;
  /** feedback_multiplier. Absent if its weight is 0. */
  feedback?: number;
  /** The reranker's part in semantic_score: weight * rerank_score. Absent if no reranker judged the memory. */
  rerank?: number;
}

/**
 * The weights in semantic_score: of the lexical score, of the vector score, and of the reranker's, if there is
 * one.
 */
export interface ScoreWeights {
  base: number;
  semantic_boost: number;
  rerank?: number;
}

/** The place in the transcript of a sentence: of the `index`-th of a section, from 0. */
export interface SentencePlace {
  section: string;
  index: number;
  place: string;
}

/** The token, for a browser that has sent a ticket. */
export interface Session {
  success: true;
  token: string;
  workspace: string;
}

/** Changes a memory's status by hand. */
export interface SetStatusPayload {
  memory_id: string;
  status: "Draft" | "Active" | "Final" | "Superseded";
  /** The id of the memory that holds instead; only with Superseded. */
  replaced_by?: string | null;
}

/** The memory's metadata after the change. */
export interface SetStatusResult {
  /**
   * The knowledge graph gets the change when a job needs the graph, or when the machine is idle. Absent in results of
   * earlier versions, and where nothing changes.
   */
  graph?: "follows";
  memory_id: string;
  memory_number: number;
  tags: string[];
  /** What of it stood in the code when it was stored: the commit, then paths, names, commands and values. */
  anchors: string[];
  topic_id: string | null;
  session_id: string | null;
  plan_id: string | null;
  status: Status | null;
  created_at: string | null;
  updated_at: string | null;
  source_created_at: string | null;
  importance: number | null;
}

/** A setting with its value and its source. The value of a secret is never in it. */
export interface SettingRow {
  name: string;
  variable: string;
  value: string;
  source: string;
  help: string;
}

export interface SettingsTable {
  success: true;
  settings: SettingRow[];
}

export interface Skipped {
  job_id: string;
  error_code: ErrorCode;
  error: string;
  remediation: string;
}

/** A memory that was left as it is. */
export interface SkippedSource {
  memory_id: string;
  /**
   * `forgotten`: it is gone. `status_changed`: its status was set since. `merged`: another record in
   * force has merged it as well.
   */
  reason: "forgotten" | "status_changed" | "merged";
}

/** Half of the jobs took no longer than `p50`, 95 of 100 no longer than `p95`; in milliseconds. */
export interface Spread {
  p50: number;
  p95: number;
}

/** Whether the decision by which the memory answers the question holds. */
export interface Standing {
  /** `disputed`: a newer decision may contradict it, and nobody has settled it. */
  state: "holds" | "replaced" | "disputed";
  /** The decision by which the memory answers the question. */
  statement: string;
  /** What replaced or contradicts it; of a chain, what holds now. Null if it holds. */
  by: RelatedStatement | null;
  /** When the memory that replaced or contradicts it was said; null if it holds, or if that is not known. */
  since: string | null;
  /** The probability that it was replaced; null if it holds. */
  confidence: number | null;
  /** Who said so: the judge on board, or a person or an agent, whose word wins; null if it holds. */
  cause: "judge" | "said" | null;
  /** The older decisions that this one replaced or contradicts, as far as they answer the question. */
  replaces: ReplacedStatement[];
  /** The memory whose relevance this one inherited; null if the relevance is its own. */
  inherited_from: number | null;
}

/** A job that was dropped. It survives a power cut. */
export interface Submitted {
  success: true;
  job_id: string;
  job_sha256: string;
  kind: Kind;
}

/** A structured summary of a conversation. */
export interface Summary {
  /** A UUID, or a slug such as plan-014-summaries. */
  topic_id?: string | null;
  session_id?: string | null;
  plan_id?: string | null;
  status?: "Draft" | "Active" | "Final" | "Superseded" | null;
  /** Short words without commas, kept in lower case. */
  tags?: string[] | null;
  topic: string;
  context: string;
  decisions?: string[] | null;
  rationale?: string[] | null;
  open_questions?: string[] | null;
  next_steps?: string[] | null;
  references?: string[] | null;
  references_files?: string[] | null;
  references_plans?: string[] | null;
  references_branches?: string[] | null;
  references_issues?: string[] | null;
  time_scope?: string | TimeScope | null;
  /** ISO 8601; without an offset it is UTC. */
  created_at?: string | "" | "N/A" | null;
  /** ISO 8601; without an offset it is UTC. */
  updated_at?: string | "" | "N/A" | null;
  /** ISO 8601; without an offset it is UTC. */
  source_created_at?: string | "" | "N/A" | null;
  importance?: number | null;
}

/** The fields of a summary. */
export interface SummaryMetadata {
  /** A UUID. */
  memory_id: string;
  /** Absent: the next one. */
  memory_number?: number | null;
  session_id?: string | null;
  plan_id?: string | null;
  /** ISO 8601; without an offset it is UTC. */
  created_at?: string | "" | "N/A" | null;
  /** ISO 8601; without an offset it is UTC. */
  updated_at?: string | "" | "N/A" | null;
  /** ISO 8601; without an offset it is UTC. */
  source_created_at?: string | "" | "N/A" | null;
  importance?: number | null;
  /** Short words without commas, kept in lower case. */
  tags?: string[] | null;
  anchors?: string[] | null;
  topic: string;
  /** A UUID, or a slug such as plan-014-summaries. */
  topic_id: string;
  /** Of a decision record: its narrative. */
  context: string;
  decisions?: string[] | null;
  rationale?: string[] | null;
  open_questions?: string[] | null;
  next_steps?: string[] | null;
  /** The four lists below in one. It is not read. */
  references?: string[] | null;
  references_files?: string[] | null;
  references_plans?: string[] | null;
  references_branches?: string[] | null;
  references_issues?: string[] | null;
  /** As text; it begins with the bounds, if there are any. */
  time_scope?: string | null;
  time_scope_bounds?: ScopeBounds | null;
  type: "conversation_summary";
  /** Absent: Active. */
  status?: "Draft" | "Active" | "Final" | "Superseded" | null;
}

/** What came of taking a compaction back. */
export interface TakenBack {
  restored: string[];
  skipped: LeftMemory[];
}

/** The copy of a workspace on a machine. */
export interface TeamCopy {
  node: string;
  /** The changes that it has not applied. */
  behind: number;
  /** The changes since which copies of forgotten texts may be left there. */
  forgets: number;
  /** The memories that were forgotten since then. */
  forgotten: number;
  /** Of the program there. */
  version: string;
  seen_at: string;
  /** Whether it was not seen for more than 7 days. */
  is_silent: boolean;
  /** Of its machine's token; null for a machine that has the database's address. */
  label: string | null;
  /** False where its token has ended, or its person may not see the workspace any more. */
  has_access: boolean;
}

/** A failed job of any machine. It has no texts. */
export interface TeamFailedJob {
  job_id: string;
  kind: string;
  /** The machine on which it was dropped. */
  asked_by: string;
  error_code: string | null;
  failed_at: string;
}

/** The number of the jobs of all machines, by state. */
export interface TeamJobs {
  waiting: number;
  running: number;
  ended: number;
  /** Of the ended ones. */
  failed: number;
}

/** A row of the team that this copy could not apply. It has no texts. */
export interface TeamRow {
  table: string;
  /** As JSON, cut. */
  key: string;
  why: string;
}

/** The team of a workspace, as its database and this machine see it. */
export interface TeamStatus {
  address: string;
  /** This machine. */
  node: string;
  /** Why the team is not reached; null if it is. Then the fields of the team are null or empty. */
  error: JobError | null;
  workspace: TeamWorkspace | null;
  /** False on a machine that leaves a large workspace's copy to the gateway. */
  has_copy: boolean;
  /** The last change that the copy here has applied; null before it has any. */
  position: number | null;
  /** The changes that it has not applied; null while that is unknown. */
  behind: number | null;
  /** When the copy here was last known to have all changes. */
  current_at: string | null;
  /** How far the team's clock is ahead of this machine's; null while the team is not reached. */
  clock_ahead_seconds: number | null;
  /** When this machine's token ends; null if it does not, without a token, and while the team is not reached. */
  token_ends_at: string | null;
  /** What the copy here leaves out, the first ones of many. */
  set_aside: TeamRow[];
  copies: TeamCopy[];
  /** The last ones, at most 50. */
  failed_jobs: TeamFailedJob[];
}

/** A workspace of a team. */
export interface TeamWorkspace {
  workspace_id: string;
  name: string;
  /** The number of its last change. */
  changes: number;
  /** The machine whose worker runs its jobs now. */
  lease_owner: string | null;
  lease_until: string | null;
  jobs: TeamJobs;
  /** For how long a job could have started and no worker held the lease; null if none waits, or one holds it. */
  idle_seconds: number | null;
  /** The waiting jobs that the service tries again, by the code of the error that they met. */
  retrying: { [name: string]: number };
}

/** The period that a conversation covered. */
export interface TimeScope {
  /** ISO 8601; without an offset it is UTC. */
  start?: string | null;
  /** ISO 8601; without an offset it is UTC. */
  end?: string | null;
  turn_count?: number | null;
}

/** The time that the query names, and what it did. */
export interface TimeUsed {
  /** Its words in the query. */
  phrase: string;
  /** Where the period begins; null if it is open. */
  since: string | null;
  /** Where it ends, exclusive; null if it is open. */
  until: string | null;
  /** `newest` and `oldest`: near the newest or oldest memory that fits well. `nothing`: it has no date. */
  used: "preference" | "filter" | "newest" | "oldest" | "nothing";
}

export interface Topic {
  topic_id: string;
  /** Of its newest memory. */
  title: string;
  memories: number;
  active: number;
  decision_records: number;
  drafts: number;
  superseded: number;
  /** Characters of the memories that a compaction would merge. */
  characters: number;
  /** The date of the oldest of these memories. */
  oldest: string | null;
  /** The date of the newest of these memories. */
  newest: string | null;
  worth_compacting: boolean;
  /** Pairs of decisions that may contradict each other, and that nobody has settled. */
  contradictions: number;
}

export interface Topics {
  success: true;
  topics: Topic[];
  warnings: string[];
}

/** The result of undoing a capture. Undoing it again gives the same result. */
export interface UndoneCapture {
  /**
   * The knowledge graph gets the change when a job needs the graph, or when the machine is idle. Absent in results of
   * earlier versions, and where nothing changes.
   */
  graph?: "follows";
  receipt: string;
  /** Memories removed, not counting their hidden originals. */
  undone: number;
  /** Memories that were changed since. */
  kept: KeptMemory[];
  /** Memories that the capture had superseded: they are Active again. */
  revived: string[];
}

/** The result of undoing a migration. Undoing it again gives the same result. */
export interface UndoneMigration {
  /**
   * The knowledge graph gets the change when a job needs the graph, or when the machine is idle. Absent in results of
   * earlier versions, and where nothing changes.
   */
  graph?: "follows";
  receipt: string;
  /** Memories removed, not counting their hidden originals. */
  undone: number;
  /** Memories that were changed since. */
  kept: KeptMemory[];
}

/** A job that no worker has accepted yet. */
export interface WaitingJob {
  job_id: string;
  state: "in the inbox";
}

/** One job in detail. */
export interface WholeJob {
  success: true;
  job: JobRecord | WaitingJob;
  /** What it is about, as in a list. */
  subject: string | null;
  /** What to do about its error; null without one. */
  advice: "wait" | "retry" | "dismiss" | "correct" | null;
  /** The job file as the worker keeps it; null when it was removed. */
  asked: { [name: string]: unknown } | null;
  /** The progress of a running job; null for a job that runs in another job's batch. */
  in_flight: InFlight | null;
  /**
   * If asked for: what it did, or as a preview would do, in Markdown. Only of `capture`, `compact`, `migrate`;
   * not of an undo.
   */
  markdown?: string | null;
}

export interface WholeMemory {
  success: true;
  memory: MemoryText;
}

/** How a worker stands to the team of its workspace. */
export interface WorkerInTeam {
  /** Why the team was not reached at the last try; null while it is reached, and before the first try has ended. */
  problem: ErrorCode | null;
}

export interface WorkerStatus {
  /** Whether a worker holds the lock of the workspace. */
  alive: boolean;
  /** The heartbeat of this worker, or of the last one. */
  heartbeat: Heartbeat | null;
}

/** `some_name` as `someName`. */
export type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** A job file may have camelCase names throughout: `Camel<JobFile<"ingest">>`. */
export type Camel<T> = T extends readonly (infer Item)[]
  ? Camel<Item>[]
  : T extends object
    ? { [Name in keyof T as Name extends string ? CamelCase<Name> : Name]: Camel<T[Name]> }
    : T;
