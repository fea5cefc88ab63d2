/** The program that the extension carries: a wheel, and the lock of its dependencies with the hash of each file. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { MemoryError } from "../core/error";
import type { Bundle } from "./plan";

/** The file beside the wheel and the lock, written when the extension is packaged. */
const DESCRIPTION = "bundle.json";

/** Reads what the extension carries in `folder`. Throws MemoryError BUNDLE_MISSING. */
export async function readBundle(folder: string): Promise<Bundle> {
  try {
    const bundle = JSON.parse(await readFile(join(folder, DESCRIPTION), "utf8")) as Bundle;
    return { ...bundle, wheel: join(folder, bundle.wheel), lock: join(folder, bundle.lock) };
  } catch {
    throw new MemoryError(
      "BUNDLE_MISSING",
      "This build of the extension does not contain the program.",
      "Install cognee-memory yourself, or name it in the setting cogneeMemory.commandPath.",
    );
  }
}
