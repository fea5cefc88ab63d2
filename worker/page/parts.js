// What several screens are made of: times, states, errors, dialogs, buttons that do something.
import { Refused } from "./api.js";
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "./html.js";
import { useNow } from "./live.js";
import { exact, plain, relative } from "./words.js";

/** How long ago or how soon, with the exact local time in its title. */
export function Time({ at, none = "–", every = 5 }) {
  const now = useNow(every);
  if (!at) return html`<span class="faint">${none}</span>`;
  return html`<time datetime=${at} title=${exact(at)}>${relative(at, now)}</time>`;
}

export function State({ state }) {
  return html`<span class="state" data-state=${state}>${plain(state)}</span>`;
}

export function Status({ status }) {
  return html`<span class="state" data-status=${status ?? "legacy"}>${status === "DecisionRecord" ? "Decision record" : status ?? "Legacy"}</span>`;
}

/** What went wrong, where it happened, and what to do. */
export function Problem({ error, children }) {
  if (!error) return null;
  return html`<div class="problem" role="alert">
    <p><strong>${error.message}</strong></p>
    ${error.remedy && html`<p><${Remedy} text=${error.remedy} /></p>`}
    ${error.code && html`<p class="faint small"><code>${error.code}</code></p>`}
    ${children}
  </div>`;
}

const COMMAND = /(`[^`]+`|cognee-memory (?:jobs|worker|memories) [a-z-]+(?: <[a-z_]+>| --error [A-Z_]+| (?=[a-z_-]*[0-9])[0-9a-z_-]{8,64}(?=[.;,\s]|$))?|cognee-memory [a-z-]+(?: --[a-z-]+)*)/;

/** A remedy's text, with its commands set as code. */
export function Remedy({ text }) {
  const parts = String(text).split(COMMAND);
  return parts.map((part, place) => (place % 2 ? html`<code>${part.replaceAll("`", "")}</code>` : part));
}

export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children}</div>`;
}

/** A value as readable JSON, which can be folded away. */
export function Json({ label, value, open = false }) {
  return html`<details class="json" open=${open}>
    <summary>${label}</summary>
    <pre tabindex="0">${JSON.stringify(value, null, 2)}</pre>
  </details>`;
}

/** The highest multiplier of a status: the full length of its meter. */
export const HIGHEST_STATUS = 1.1;
/** No feedback multiplies a score by more. */
export const HIGHEST_FEEDBACK = 1.5;

/** A value from 0 to `most` as a small bar with its number. */
export function Meter({ label, value, most = 1, text, tone = "accent" }) {
  const ref = useRef(null);
  useEffect(() => ref.current.style.setProperty("--share", Math.max(0, Math.min(1, (value ?? 0) / most))), [value, most]);
  return html`<div class="meter" data-tone=${tone}>
    <span class="meter-label">${label}</span>
    <span class="meter-track" aria-hidden="true"><span class="meter-fill" ref=${ref}></span></span>
    <span class="meter-value">${text}</span>
  </div>`;
}

/** Say something to a screen reader. */
export function announce(text) {
  document.getElementById("announcements").textContent = text;
}

/** An action and how it went: `{busy, error, done, run}`. `run` takes what to do; what that returns, or true, becomes
 * `done` and is returned; undefined is returned where it was refused. */
export function useAction() {
  const [state, set] = useState({ busy: false, error: null, done: null });
  const alive = useRef(true);
  useEffect(() => () => { alive.current = false; }, []);
  async function run(act) {
    set({ busy: true, error: null, done: null });
    try {
      const done = (await act()) ?? true;
      if (alive.current) set({ busy: false, error: null, done });
      return done;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      announce(error.message);
      if (alive.current) set({ busy: false, error, done: null });
      return undefined;
    }
  }
  return { ...state, run, clear: () => set({ busy: false, error: null, done: null }) };
}

/** A dialog of the browser's own: Esc closes it, the focus stays inside and goes back afterwards. */
export function Dialog({ title, close, children }) {
  const ref = useRef(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return html`<dialog ref=${ref} onClose=${close} aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${children}
  </dialog>`;
}

/** Ask before something that matters. `typed` has to be typed first where it is given. */
export function Confirm({ title, verb, tone = "danger", typed = null, action, act, close, children }) {
  const [text, setText] = useState("");
  const ready = typed === null || text.trim() === typed;
  async function submit(event) {
    event.preventDefault();
    if (ready && !action.busy && (await action.run(act)) !== undefined) close();
  }
  return html`<${Dialog} title=${title} close=${close}>
    <form onSubmit=${submit}>
      ${children}
      ${typed !== null && html`<label class="field">
        Type <code>${typed}</code> to confirm
        <input value=${text} onInput=${(event) => setText(event.target.value)} autocomplete="off" spellcheck=${false} />
      </label>`}
      <${Problem} error=${action.error} />
      <div class="row end">
        <button type="button" onClick=${close}>Leave it</button>
        <button type="submit" data-tone=${tone} disabled=${!ready || action.busy}>${action.busy ? "Working…" : verb}</button>
      </div>
    </form>
  <//>`;
}

/** A heading that takes the focus when a screen is entered, and names the tab. */
export function Heading({ children, title, extra }) {
  const ref = useRef(null);
  useEffect(() => {
    document.title = `${title ?? children} · cognee-memory`;
  }, [title, children]);
  // Before the screen is painted: later it would take the focus from a person who types already.
  useLayoutEffect(() => {
    if (document.activeElement === document.body || document.activeElement?.closest("#content")) {
      ref.current.focus({ preventScroll: true });
    }
  }, []);
  return html`<div class="heading"><h1 ref=${ref} tabindex="-1">${children}</h1>${extra}</div>`;
}

/** Two columns of names and values; what is empty is left out. */
export function Facts({ facts }) {
  const given = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`<dl class="facts">${given.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The warnings of an answer. */
export function Notes({ of }) {
  return of.warnings.map((warning) => html`<p key=${warning} class="note">${warning}</p>`);
}

/** What comes back while the first answer is on its way, or never came. */
export function Waiting({ error, what }) {
  if (error) return html`<${Problem} error=${error} />`;
  return html`<p class="waiting" aria-busy="true">Loading ${what}…</p>`;
}
