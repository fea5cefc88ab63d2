// Asking the worker: the token, the envelope of an answer or of an error, and whether anybody answers.

const KEY = "cognee-memory token";

const LATE_MS = 8000; // what we ask for takes 5 s at most, unless nobody answers

/** An error of the worker, as its envelope says it, or of the way to it. `status` is 0 where nobody answered. */
export class Refused extends Error {
  constructor(status, envelope) {
    super(String(envelope.error ?? "No reason was given."));
    this.status = status;
    this.code = String(envelope.error_code ?? "");
    this.remedy = String(envelope.remediation ?? "");
    this.details = envelope.error_details ?? {};
  }
}

const NOBODY = {
  error: "The worker does not answer.",
  error_code: "NOT_CONNECTED",
  remediation: "The page goes on trying. If it stays so, start the worker again: cognee-memory open.",
};

/** What the page knows of its connection. `signedIn` is null until the first look. */
export const connection = { signedIn: null, live: null, lastGood: null, why: "", workspace: "" };
const listeners = new Set();

/** Be told when the connection changes. Returns how to stop it. */
export function onConnection(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function become(change) {
  const before = { ...connection };
  Object.assign(connection, change);
  if (["signedIn", "live", "why", "workspace"].some((name) => before[name] !== connection[name])) {
    for (const listener of listeners) listener();
  }
}

function token() {
  return sessionStorage.getItem(KEY);
}

// A link that is opened in another tab is signed in by the tabs that are: only pages of ours can hear them.
const tabs = new BroadcastChannel("cognee-memory");
const TABS_MS = 250;

tabs.addEventListener("message", ({ data }) => {
  if (data.wanted && token() !== null) tabs.postMessage({ token: token() });
});

function askTabs() {
  return new Promise((resolve) => {
    tabs.addEventListener("message", ({ data }) => data.token && resolve(data.token));
    setTimeout(resolve, TABS_MS, null);
    tabs.postMessage({ wanted: true });
  });
}

/** Take the ticket out of the address, if one is there, and change it for a token that this tab keeps. Who is signed in
 * already stays so, with a ticket that is spent as well. */
export async function signIn() {
  const ticket = /^#ticket=([^&]+)/.exec(location.hash)?.[1];
  let why = "";
  if (ticket !== undefined) {
    history.replaceState(null, "", location.pathname + "#/");
    try {
      const { data } = await request("/v1/session", { body: { ticket }, open: true });
      sessionStorage.setItem(KEY, data.token);
      become({ signedIn: true, why, workspace: data.workspace });
      return;
    } catch (error) {
      why = error.message;
    }
  }
  const found = token() ?? (await askTabs());
  if (found !== null) sessionStorage.setItem(KEY, found);
  become({ signedIn: found !== null, why: found === null ? why : "" });
}

/** Forget the token. `why` is shown on the page that says how to sign in. */
export function signOut(why = "") {
  sessionStorage.removeItem(KEY);
  become({ signedIn: false, why });
}

async function request(path, { body, etag, open = false } = {}) {
  const headers = {};
  if (!open) headers.Authorization = `Bearer ${token()}`;
  if (etag) headers["If-None-Match"] = etag;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response, data;
  const late = setTimeout(become, LATE_MS, { live: null });
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
    become({ live: false });
    throw new Refused(0, NOBODY);
  } finally {
    clearTimeout(late);
  }
  become({ live: true, lastGood: Date.now() });
  if (response.status === 304) return { unchanged: true };
  if (data.success === true) return { data, etag: response.headers.get("ETag") };
  if (response.status === 401 && !open) signOut("The worker was started anew since, or the token is a former one.");
  throw new Refused(response.status, data);
}

/** GET: `{data, etag}`, or `{unchanged: true}` where the etag is that of what is there now. Raises Refused. */
export function get(path, etag) {
  return request(path, { etag });
}

/** POST: the answer's object. Raises Refused. */
export async function post(path, body) {
  return (await request(path, { body })).data;
}

/** A path with a query, without the parts that are empty. */
export function withQuery(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(given).toString();
  return text ? `${path}?${text}` : path;
}

const ENDS = new Set(["succeeded", "failed", "cancelled", "expired", "rejected"]);

/** What may run again when it is asked for. */
export const RUN_AGAIN = new Set(["failed", "cancelled", "expired", "rejected"]);

export function hasEnded(state) {
  return ENDS.has(state);
}

/** Submit a job and follow it to its end. Returns the record; raises Refused if it failed, or could not be submitted. */
export async function runJob(kind, payload) {
  const { job_id } = await post("/v1/jobs", { kind, payload, submitted_by: "page" });
  for (let pause = 100; ; pause = Math.min(1000, pause * 1.4)) {
    const job = await jobNow(job_id);
    if (job && hasEnded(job.state)) {
      if (job.state === "succeeded") return job;
      const { code, message, remediation, details } = job.error ?? {};
      const error = message ?? `The job ended as ${job.state}.`;
      throw new Refused(200, { error, error_code: code, remediation, error_details: details });
    }
    await new Promise((go) => setTimeout(go, pause));
  }
}

/** The record; null while nobody answers: the job goes on all the same. */
async function jobNow(job_id) {
  try {
    return (await get(`/v1/jobs/${encodeURIComponent(job_id)}`)).data.job;
  } catch (error) {
    if (error.status === 0) return null;
    throw error;
  }
}
