// Requests to the worker: the token, the envelope of an answer or of an error, and whether the worker answers.
import { ENDS } from "./job-states.js";

const KEY = "cognee-memory token";
const WORKSPACE = "cognee-memory workspace";

const LATE_MS = 8000; // a request takes 5 s at most, unless the worker does not answer

/** An error from the worker's envelope, or of the connection. `status` is 0 when the worker did not answer. */
export class Refused extends Error {
  constructor(status, envelope) {
    super(String(envelope.error ?? "No reason was given."));
    this.status = status;
    this.code = String(envelope.error_code ?? "");
    this.remedy = String(envelope.remediation ?? "");
    this.details = envelope.error_details ?? {};
  }
}

/** An error that stands in an answer, such as a record's `error`. */
export function refusedBy({ code, message, remediation, details }) {
  return new Refused(200, { error: message, error_code: code, remediation, error_details: details });
}

const NOT_CONNECTED = {
  error: "The worker does not answer.",
  error_code: "NOT_CONNECTED",
  remediation: "The page tries again. If the worker still does not answer, start it again: cognee-memory open.",
};

/** The state of the connection. `signedIn` is null until it is known. */
export const connection = { signedIn: null, live: null, lastGood: null, why: "", workspace: "" };
const listeners = new Set();

/** Call `listener` when the connection changes. Returns the function that stops this. */
export function onConnection(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function updateConnection(change) {
  const before = { ...connection };
  Object.assign(connection, change);
  if (["signedIn", "live", "why", "workspace"].some((name) => before[name] !== connection[name])) {
    for (const listener of listeners) listener();
  }
}

function token() {
  return sessionStorage.getItem(KEY);
}

function workspace() {
  return sessionStorage.getItem(WORKSPACE) ?? "";
}

// A link that is opened in another tab gets the token from the tabs that are signed in, and a tab that signs in by a
// ticket signs in those of its workspace: the worker may have been restarted. Only this page's tabs hear them, but with
// a fixed port another workspace's worker may have it now.
const tabs = new BroadcastChannel("cognee-memory");
const TABS_MS = 250;

tabs.addEventListener("message", ({ data }) => {
  if (data.wanted && token() !== null) tabs.postMessage({ token: token(), workspace: workspace() });
  if (data.fresh && data.workspace === workspace()) signInWith(data.fresh);
});

function askTabs() {
  return new Promise((resolve) => {
    tabs.addEventListener("message", ({ data }) => data.token && resolve(data));
    setTimeout(resolve, TABS_MS, null);
    tabs.postMessage({ wanted: true });
  });
}

function signInWith(granted, place = workspace()) {
  sessionStorage.setItem(KEY, granted);
  sessionStorage.setItem(WORKSPACE, place);
  updateConnection({ signedIn: true, why: "", workspace: place });
}

/** Take the ticket out of the address, if there is one, and exchange it for a token that this tab keeps. A tab that is
 * signed in stays signed in, also with a used ticket. */
export async function signIn() {
  const ticket = /^#ticket=([^&]+)/.exec(location.hash)?.[1];
  let why = "";
  if (ticket !== undefined) {
    history.replaceState(null, "", location.pathname + "#/");
    try {
      const { data } = await request("/v1/session", { body: { ticket }, open: true });
      tabs.postMessage({ fresh: data.token, workspace: data.workspace });
      return signInWith(data.token, data.workspace);
    } catch (error) {
      why = error.message;
    }
  }
  const found = token() === null ? await askTabs() : null;
  if (found !== null) signInWith(found.token, found.workspace);
  else if (token() !== null) signInWith(token());
  else signOut(why);
}

/** Forget the token. `why` is shown on the page that says how to sign in. */
export function signOut(why = "") {
  sessionStorage.removeItem(KEY);
  updateConnection({ signedIn: false, why });
}

async function request(path, { body, etag, open = false } = {}) {
  const headers = {};
  if (!open) headers.Authorization = `Bearer ${token()}`;
  if (etag) headers["If-None-Match"] = etag;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response, data;
  const late = setTimeout(updateConnection, LATE_MS, { live: null });
  try {
    response = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.timeout(60_000),
    });
    data = response.status === 304 ? null : await response.json();
  } catch {
    updateConnection({ live: false });
    throw new Refused(0, NOT_CONNECTED);
  } finally {
    clearTimeout(late);
  }
  updateConnection({ live: true, lastGood: Date.now() });
  if (response.status === 304) return { unchanged: true };
  if (data.success === true) return { data, etag: response.headers.get("ETag") };
  if (response.status === 401 && !open) signOut("The worker was restarted, or the token is of an earlier worker.");
  throw new Refused(response.status, data);
}

/** GET: `{data, etag}`, or `{unchanged: true}` when the etag is still valid. Raises Refused. */
export function get(path, etag) {
  return request(path, { etag });
}

/** POST: the answer's object. Raises Refused. */
export async function post(path, body) {
  return (await request(path, { body })).data;
}

const MOST_IDS = 1000; // the limit of one request

/** POST a request about the jobs with these ids, in as many requests as needed; the answers as one. Raises Refused. */
export async function postForJobs(verb, job_ids) {
  const answer = { job_ids: [], requested: 0, obeyed: 0, skipped: [] };
  for (let start = 0; start < job_ids.length; start += MOST_IDS) {
    const part = await post(`/v1/jobs/${verb}`, { job_ids: job_ids.slice(start, start + MOST_IDS) });
    answer.job_ids.push(...part.job_ids);
    answer.requested += part.requested;
    answer.obeyed += part.obeyed;
    answer.skipped.push(...part.skipped);
  }
  return answer;
}

/** A path with a query, without the parts that are empty. */
export function withQuery(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(given).toString();
  return text ? `${path}?${text}` : path;
}

export function hasEnded(state) {
  return ENDS.includes(state);
}

/** Submit a job and follow it to its end. Returns the record; raises Refused if it failed, or could not be submitted. */
export async function runJob(kind, payload) {
  const { job_id } = await post("/v1/jobs", { kind, payload, submitted_by: "page" });
  for (let pause = 100; ; pause = Math.min(1000, pause * 1.4)) {
    const job = await jobNow(job_id);
    if (job && hasEnded(job.state)) {
      if (job.state === "succeeded") return job;
      throw refusedBy({ message: `The job ended as ${job.state}.`, ...job.error });
    }
    await new Promise((go) => setTimeout(go, pause));
  }
}

/** The record; null while the worker does not answer. The job continues. */
async function jobNow(job_id) {
  try {
    return (await get(`/v1/jobs/${encodeURIComponent(job_id)}`)).data.job;
  } catch (error) {
    if (error.status === 0) return null;
    throw error;
  }
}
