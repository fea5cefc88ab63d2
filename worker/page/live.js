// What is shown stays true: answers that are asked for again while the tab is seen, and a clock that moves.
import { connection, get, onConnection, post } from "./api.js";
import { useEffect, useLayoutEffect, useState } from "./html.js";

const MOST_KEPT = 40;
const LONGEST_PAUSE_SECONDS = 10;

// The last answer for each path: going back shows it at once, and If-None-Match makes an unchanged one cheap.
const kept = new Map();

function keep(path, found) {
  kept.delete(path);
  kept.set(path, found);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
}

/**
 * The answer for a path, asked for again every so many seconds while the tab is seen, and at once when `version` is
 * another one; null asks for nothing.
 *
 * `data` is the last good answer, else undefined; `stale` says that it is of the former path, until the new one's is
 * there; `error` what went wrong in the last look; `again()` looks at once. While no answer comes, the pauses grow.
 */
export function useLive(path, seconds, version) {
  const [shown, show] = useState({ path: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    let timer, over = false, failures = 0;
    async function look() {
      clearTimeout(timer);
      if (over || document.hidden) return;
      let error = null;
      try {
        const found = await get(path, kept.get(path)?.etag);
        if (!found.unchanged) keep(path, found);
        failures = 0;
      } catch (why) {
        error = why;
        failures += 1;
      }
      if (over) return;
      const data = kept.get(path)?.data;
      show((last) => {
        if (last.path === path && last.data === data && same(last.error, error)) return last;
        return { path, data, error };
      });
      const pause = failures ? Math.max(seconds, Math.min(LONGEST_PAUSE_SECONDS, 2 ** (failures - 1))) : seconds;
      if (Number.isFinite(pause)) timer = setTimeout(look, pause * 1000);
    }
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [path, seconds, round, version]);
  const known = shown.path === path ? shown.data : kept.get(path)?.data;
  const error = shown.path === path ? shown.error : null;
  const current = { data: known ?? shown.data, stale: known === undefined, error };
  return { ...current, again: () => setRound((number) => number + 1) };
}

/** The answer to a question, asked again when one of `parts` changes: `{busy, data, error}`. */
export function useAnswer(path, body, parts = []) {
  const [found, set] = useState({ busy: true });
  useEffect(() => {
    let over = false;
    const show = (next) => { if (!over) set(next); };
    set((last) => ({ ...last, busy: true }));
    post(path, body).then((data) => show({ busy: false, data }), (error) => show({ busy: false, error }));
    return () => { over = true; };
  }, parts);
  return found;
}

function same(one, other) {
  return one === other || (one !== null && other !== null && one?.code === other?.code && one?.message === other?.message);
}

/** The connection, as it is now. */
export function useConnection() {
  const [, redraw] = useState(0);
  useLayoutEffect(() => onConnection(() => redraw((number) => number + 1)), []);
  return connection;
}

/** The time, moving on every so many seconds. */
export function useNow(seconds = 5) {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => document.hidden || set(Date.now()), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return Math.max(now, Date.now() - seconds * 1000);
}

/** The width of an element in pixels, as it is now; 0 until it is known. */
export function useWidth(ref) {
  const [width, set] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => set(Math.round(entry.contentRect.width)));
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  return width;
}
