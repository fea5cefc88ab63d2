// The page: who is signed in, the frame around every screen, and which screen is shown.
import { Activity } from "./activity.js";
import { signIn } from "./api.js";
import { Health } from "./health.js";
import { html, render, useEffect, useState } from "./html.js";
import { Job } from "./job.js";
import { useConnection } from "./live.js";
import { Memories } from "./memories.js";
import { Memory } from "./memory.js";
import { Queue } from "./queue.js";
import { Disputed, Review } from "./review.js";
import { to, useRoute } from "./route.js";
import { Topic } from "./topic.js";
import { Topics } from "./topics.js";
import { hourly } from "./words.js";

const SCREENS = [["queue", "Queue"], ["activity", "Activity"], ["memories", "Memories"], ["topics", "Topics"], ["review", "Review"], ["health", "Health"]];

function Screen({ route }) {
  const [first = "queue", second] = route.path;
  if (first === "jobs" && second) return html`<${Job} key=${second} id=${second} />`;
  if (first === "memories" && second) return html`<${Memory} key=${second} id=${second} />`;
  if (first === "topics" && second) return html`<${Topic} key=${second} id=${second} />`;
  if (first === "activity") return html`<${Activity} query=${route.query} />`;
  if (first === "memories") return html`<${Memories} query=${route.query} />`;
  if (first === "topics") return html`<${Topics} />`;
  if (first === "review") return html`<${Review} query=${route.query} />`;
  if (first === "health") return html`<${Health} />`;
  return html`<${Queue} query=${route.query} />`;
}

function Page() {
  const connection = useConnection();
  const route = useRoute();
  if (connection.signedIn === null) return html`<p class="boot">Signing in…</p>`;
  if (!connection.signedIn) return html`<${SignedOut} why=${connection.why} />`;
  const here = SCREENS.find(([name]) => name === route.path[0])?.[0] ?? "queue";
  return html`
    <a class="skip" href="#content" onClick=${skip}>Skip to the content</a>
    <header class="top">
      <span class="brand" title=${connection.workspace}>cognee-memory</span>
      <nav aria-label="Screens">
        ${SCREENS.map(([name, title]) => html`<a key=${name} href=${to([name])} aria-current=${here === name ? "page" : undefined}>${title}${name === "review" && html`<${Disputed} />`}</a>`)}
      </nav>
      <${Sign} connection=${connection} />
      <${Theme} />
    </header>
    ${connection.live === false && html`<${Lost} connection=${connection} />`}
    <main id="content" tabindex="-1"><${Screen} route=${route} /></main>
  `;
}

function skip(event) {
  event.preventDefault();
  (document.querySelector("#content h1") ?? document.getElementById("content")).focus();
}

function Sign({ connection }) {
  const word = { true: "Live", false: "Not connected" }[connection.live] ?? "Connecting";
  return html`<span class="sign" data-live=${String(connection.live)} role="status">${word}</span>`;
}

function Lost({ connection }) {
  const since = connection.lastGood === null ? "" : ` What you see is of ${hourly(connection.lastGood)}.`;
  return html`<div class="lost" role="alert">
    <strong>The worker does not answer.</strong>${since} Trying again by itself.
    If it was restarted it may have another address: run <code>cognee-memory open</code>.
  </div>`;
}

const THEMES = { auto: "light", light: "dark", dark: "auto" };

function Theme() {
  const [theme, set] = useState(document.documentElement.dataset.theme ?? "auto");
  function toggle() {
    const next = THEMES[theme];
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("theme", next);
    } catch {
      // it holds for this visit
    }
    set(next);
  }
  return html`<button class="theme" data-theme-is=${theme} onClick=${toggle} title=${`Colours: ${theme}. Click for ${THEMES[theme]}.`}
    aria-label=${`Colours: ${theme}. Change to ${THEMES[theme]}`}></button>`;
}

function SignedOut({ why }) {
  useEffect(() => {
    document.title = "Sign in · cognee-memory";
  }, []);
  return html`<main class="signed-out">
    <h1>This page needs a key</h1>
    ${why && html`<p class="why" role="alert">${why}</p>`}
    <p>Run this in the workspace, on the machine where the worker is:</p>
    <pre>cognee-memory open</pre>
    <p class="faint">It opens this page, signed in. The key stays in the open tabs and is gone with the last of them;
      no other site can use it.</p>
  </main>`;
}

// A link begins at the top of its screen, or where it says. Back and forward keep the place, which the browser knows.
let followed = null;
addEventListener("click", (event) => {
  followed = event.target.closest?.('a[href^="#/"]') ?? null;
}, true);
addEventListener("hashchange", () => {
  const goal = followed?.dataset.scroll ?? (followed && "top");
  followed = null;
  if (goal === "top") scrollTo(0, 0);
  else if (goal && goal !== "stay") document.getElementById(goal)?.scrollIntoView();
});

// "/" goes to the search of the screen.
addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, dialog");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const search = document.querySelector('input[type="search"]');
    if (search) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  }
});

// A new ticket in the address of a tab that is open already.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#ticket=")) signIn();
});

render(html`<${Page} />`, document.getElementById("page"));
signIn();
