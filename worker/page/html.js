// The one place where the page's library comes from: preact and its hooks, and htm for the markup.
import htm from "./htm.js";
import { h } from "./preact.js";

export { render } from "./preact.js";
export { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "./preact-hooks.js";

/** Markup as a template. Whatever is put in between is text or an attribute's value, never markup. */
export const html = htm.bind(h);
