// Where in the page we are: the address behind `#`, as a path and a query.
import { withQuery } from "./api.js";
import { useLayoutEffect, useState } from "./html.js";

/** `#/jobs/x?a=b` as `{path: ["jobs", "x"], query: {a: "b"}}`. */
export function parsed(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map(readable);
  return { path: parts, query: Object.fromEntries(new URLSearchParams(query)) };
}

function readable(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a screen. */
export function to(path, query = {}) {
  return withQuery(`#/${path.map(encodeURIComponent).join("/")}`, query);
}

/** Go there; `replace` leaves no step for the back button. */
export function go(address, { replace = false } = {}) {
  if (replace) {
    history.replaceState(null, "", address);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = address;
  }
}

export function useRoute() {
  const [route, set] = useState(() => parsed(location.hash));
  useLayoutEffect(() => {
    const look = () => set(parsed(location.hash));
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return route;
}
