// What a person does in the workbench, with Playwright: views, lists, messages, editors. Each step waits for a condition.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const SHOTS = process.env.COGNEE_E2E_SHOTS ?? "";

export function workbench({ page, command }) {
  const list = page.locator(".quick-input-widget");
  const input = list.locator("input.input");
  const pane = (name) =>
    page.locator(".sidebar .pane").filter({ has: page.locator(`.pane-header[aria-label^="${name}"]`) });

  return {
    page,
    command,
    list,

    /** A picture of the window, if a folder for pictures is given. */
    async shot(name, of = page) {
      if (SHOTS === "") return;
      mkdirSync(SHOTS, { recursive: true });
      await of.screenshot({ path: join(SHOTS, `${name}.png`), animations: "disabled" });
    },

    async openViews() {
      await page.locator(".activitybar a.action-label[aria-label^='Cognee Memory']").click();
      await pane("Memories").waitFor();
    },

    pane,

    /** A row of a view, by a part of its name for a screen reader. */
    row: (view, text) => pane(view).locator(".monaco-list-row").filter({ hasText: text }).first(),

    /** Opens a section of the views that is closed. */
    async expand(view) {
      const header = pane(view).locator(".pane-header");
      if ((await header.getAttribute("aria-expanded")) === "false") await header.click();
    },

    /** A row's action that is shown while the mouse is over it. */
    async inline(row, name) {
      await row.hover();
      await row.locator(`a.action-label[aria-label^="${name}"]`).click();
    },

    /** An entry of a row's context menu. */
    async menu(row, name) {
      await row.click({ button: "right" });
      const item = page.locator(".monaco-menu .action-item").filter({ hasText: name }).first();
      await item.waitFor();
      // The editor ignores a click in the first moment of a menu.
      await until(async () => {
        if (await item.isVisible()) await item.click({ timeout: 1000 }).catch(() => undefined);
        return !(await item.isVisible());
      }, `the menu to close after “${name}”`);
    },

    async type(text) {
      await input.waitFor();
      await input.fill(text);
    },

    /** A row of the open list. */
    choice: (text) => list.locator(".monaco-list-row").filter({ hasText: text }).first(),

    async choose(text) {
      const row = list.locator(".monaco-list-row").filter({ hasText: text }).first();
      await row.waitFor();
      await row.click();
    },

    toast: (text) => page.locator(".notification-toast").filter({ hasText: text }).first(),

    async press(text, button) {
      const toast = page.locator(".notification-toast").filter({ hasText: text }).first();
      await toast.waitFor();
      await toast.getByRole("button", { name: button, exact: true }).click();
    },

    /** Presses a button of a modal question; the question must have the text. */
    async answer(text, button) {
      const dialog = page.locator(".monaco-dialog-box");
      await dialog.filter({ hasText: text }).waitFor();
      await dialog.getByRole("button", { name: button, exact: true }).click();
      await dialog.waitFor({ state: "detached" });
    },

    dialog: page.locator(".monaco-dialog-box"),

    tab: (name) => page.locator(".tabs-container .tab").filter({ hasText: name }).first(),

    /** The text of the active editor as far as it is on the screen. */
    async editorText() {
      const lines = await page.locator(".editor-group-container.active .view-line").allTextContents();
      return lines.join("\n").replaceAll("\u00a0", " ");
    },

    /** The frame of a rendered Markdown document that has this text. */
    async rendered(text) {
      return until(async () => {
        for (const frame of page.frames()) {
          const body = await frame.evaluate(() => document.body?.textContent).catch(() => ""); // it may be going away
          if (body?.includes(text) && (await frame.locator(".vscode-body").count()) > 0) return frame;
        }
        return undefined;
      }, `a document with “${text}”`);
    },

    editorAction: (name) =>
      page.locator(`.editor-group-container.active .editor-actions a.action-label[aria-label^="${name}"]`).first(),
  };
}

/** Waits until a function returns something true. */
export async function until(check, what, { ms = 60_000 } = {}) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${ms / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
