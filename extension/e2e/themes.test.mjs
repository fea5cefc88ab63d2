// The views in a dark theme and in one of high contrast, with a job that failed. `npm run e2e` runs it.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startHost } from "./host.mjs";
import { makeFolder, PROGRAM } from "./memory.mjs";
import { workbench } from "./workbench.mjs";

const ROOT = join(import.meta.dirname, "..");
const [VSIX] = readdirSync(join(ROOT, "dist")).filter((name) => name.endsWith(".vsix"));
assert(VSIX, "no VSIX in dist/: run `make extension` first");
assert(PROGRAM, "COGNEE_MEMORY_PROGRAM names the program");

describe("themes", () => {
  let folder;
  before(async () => {
    folder = makeFolder();
    await folder.remember();
    const payload = { decision_record_id: "00000000-0000-4000-8000-000000000000" };
    folder.drop({ schema_version: 1, job_id: "lost-record", kind: "restore", payload });
  });
  after(() => folder?.end());

  for (const [theme, kind] of [
    ["Dark Modern", "vs-dark"],
    ["Default High Contrast", "hc-black"],
    ["Default High Contrast Light", "hc-light"],
  ]) {
    it(`the views are seen with “${theme}”`, async () => {
      const host = await startHost({
        workspace: folder.workspace,
        vsix: [join(ROOT, "dist", VSIX)],
        settings: {
          "cogneeMemory.commandPath": PROGRAM,
          "workbench.colorTheme": theme,
          "window.autoDetectHighContrast": false,
        },
        env: { ...folder.env, COGNEE_MEMORY_PROGRAM: undefined },
      });
      const my = workbench(host);
      try {
        await host.open();
        await my.page.locator(`.monaco-workbench.${kind}`).waitFor();
        await my.openViews();
        await my.row("Memories", "Loan periods").click();
        await my.row("Queue", "NOT_FOUND").waitFor();
        await my.row("Health", "language model").waitFor();
        await my.shot(`theme-${kind}`);
      } catch (error) {
        await my.shot(`failed theme-${kind}`);
        throw error;
      } finally {
        await host.stop();
      }
    });
  }
});
