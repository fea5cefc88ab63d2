/** Both ways in which the program fails: an answer that is an error, and an exit code without an answer. */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands, reset, shown } from "../vscode";
import { type Session, session } from "./session";

let folder: string;
let open: Session | undefined;

beforeEach(() => {
  reset();
  folder = mkdtempSync(join(tmpdir(), "program "));
});
afterEach(async () => {
  await open?.end();
  rmSync(folder, { recursive: true });
});

async function recallWith(script: string) {
  const program = join(folder, "program");
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o700);
  open = session({ program });
  await commands.executeCommand("cognee.recall");
  const list = shown.lists[0];
  if (list === undefined) throw new Error("no list");
  list.value.fire("why five retries?");
  await vi.waitFor(() => expect(list.items).toHaveLength(1));
  return list;
}

it.skipIf(process.platform === "win32")("shows the error that was answered, with its remedy", async () => {
  const list = await recallWith(
    `echo '{"success": false, "error": "The model is not here.", "error_code": "MODEL_MISSING", "remediation": "Run setup."}'; exit 1`,
  );
  expect(list.items[0]).toMatchObject({ label: "$(error) The model is not here.", detail: "Run setup." });
  list.activeItems = list.items;
  list.accept.fire(undefined);
  await vi.waitFor(() => expect(shown.messages).toEqual(["The model is not here. Run setup."]));
  expect(list.isHidden).toBe(true);
});

it.skipIf(process.platform === "win32")("shows what the program said when it ended without an answer", async () => {
  const list = await recallWith("echo 'Killed by the system' >&2; exit 137");
  expect(list.items[0]?.label).toBe(
    "$(error) cognee-memory retrieve ended with 137 and no answer: Killed by the system",
  );
  expect(open?.log.join("\n")).toContain("ended with 137");
});
