// The one place where the page's library comes from: preact and its hooks, and htm for the markup.
import htm from "./htm.js";
import { h } from "./preact.js";

export { render } from "./preact.js";
export { useEffect, useId, useLayoutEffect, useRef, useState } from "./preact-hooks.js";

// Marks that turn the text around them: with them, a memory's "evil" reads as "live".
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const visible = (child) => (typeof child === "string" ? child.replace(DIRECTIONS, "") : child);

/** Markup as a template. Whatever is put in between is text or an attribute's value, never markup. */
export const html = htm.bind((type, props, ...children) => h(type, props, ...children.map(visible)));
