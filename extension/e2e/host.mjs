// A real VS Code workbench for tests: code-server with extensions installed, and Chromium that drives it.
//
// COGNEE_CODE_SERVER names code-server's entry point, COGNEE_CHROMIUM the browser.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";

const CODE_SERVER = process.env.COGNEE_CODE_SERVER ?? "node_modules/code-server/out/node/entry.js";
const CHROMIUM = process.env.COGNEE_CHROMIUM ?? "/usr/bin/chromium";
const BROWSER_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const QUIET = {
  "workbench.startupEditor": "none",
  "workbench.enableExperiments": false,
  "workbench.reduceMotion": "on",
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "update.mode": "none",
  "chat.commandCenter.enabled": false,
};

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Starts a workbench on a folder. `trusted: false` keeps it in Restricted Mode until somebody trusts it; `under` is a
 * program with its arguments that starts the server; `userData` is a folder for the user's data.
 */
export async function startHost(options) {
  const {
    workspace,
    vsix,
    settings = {},
    env = {},
    trusted = true,
    flags = [],
    payload,
    under = [],
    userData,
  } = options;
  const home = mkdtempSync(join(tmpdir(), "cognee-host-"));
  const data = userData ?? join(home, "data");
  const config = join(home, "config.yaml");
  // In a browser, settings of the scope “machine” are those of the server's machine, and not the user's.
  const scopes = ["User", "Machine"].map((scope) => join(data, scope));
  for (const folder of scopes) mkdirSync(folder, { recursive: true });
  writeFileSync(config, "auth: none\ncert: false\n");
  let all = { ...QUIET, "security.workspace.trust.enabled": !trusted, ...settings };
  const set = (more) => {
    all = { ...all, ...more };
    for (const folder of scopes) writeFileSync(join(folder, "settings.json"), JSON.stringify(all));
  };
  set({});
  const common = ["--user-data-dir", data, "--extensions-dir", join(home, "extensions"), "--config", config];
  const environment = { ...process.env, ...env };
  for (const file of vsix) {
    execFileSync(process.execPath, [CODE_SERVER, ...common, "--install-extension", file], { env: environment });
  }
  const port = await freePort();
  const log = openSync(join(home, "server.log"), "w");
  const [program, ...args] = [...under, process.execPath, CODE_SERVER];
  const server = spawn(
    program,
    [
      ...args,
      ...common,
      "--auth",
      "none",
      "--bind-addr",
      `127.0.0.1:${port}`,
      "--disable-telemetry",
      "--disable-update-check",
      ...(trusted ? ["--disable-workspace-trust"] : []),
      "--disable-getting-started-override",
      ...flags,
      workspace,
    ],
    { stdio: ["ignore", log, log], env: environment, detached: true },
  );
  const stopServer = () => {
    try {
      process.kill(-server.pid);
    } catch {
      // it has gone already
    }
  };
  process.once("exit", stopServer);
  const origin = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    const answer = await fetch(`${origin}/healthz`).catch(() => null);
    if (answer?.ok) break;
    if (tries > 600) throw new Error(`code-server does not answer: ${readFileSync(join(home, "server.log"), "utf8")}`);
    await pause(100);
  }
  const browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: BROWSER_FLAGS });
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const query = payload === undefined ? "" : `&payload=${encodeURIComponent(JSON.stringify(payload(port)))}`;
  return {
    page,
    home,
    origin,
    port,
    /** The settings of the user. */
    settings: () => JSON.parse(readFileSync(join(data, "User", "settings.json"), "utf8")),

    /** Changes settings of the user and the machine. */
    set,
    async open() {
      await page.goto(`${origin}/?folder=${workspace}${query}`);
      await page.waitForSelector(".monaco-workbench");
    },
    /** Runs a command by its title from the palette. */
    async command(title) {
      const input = page.locator(".quick-input-widget input.input");
      const row = page.locator(".quick-input-list .monaco-list-row.focused").filter({ hasText: title });
      // The palette lists what there is when it opens: it is opened again until the command is there.
      for (let tries = 1; ; tries++) {
        await page.keyboard.press("F1");
        await input.waitFor();
        await input.fill(`>${title}`);
        const error = await row.waitFor({ timeout: 6000 }).catch((caught) => caught);
        if (error === undefined) break;
        if (tries === 10) throw error;
        await page.keyboard.press("Escape");
        await input.waitFor({ state: "hidden" });
      }
      await page.keyboard.press("Enter");
    },
    /** What an output channel holds, read from its file. */
    output(channel) {
      const logs = join(data, "logs");
      const found = [];
      for (const name of readdirSync(logs, { recursive: true })) {
        if (String(name).endsWith(".log") && String(name).includes(channel))
          found.push(readFileSync(join(logs, String(name)), "utf8"));
      }
      return found.join("\n");
    },
    async stop() {
      await browser.close();
      stopServer();
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
