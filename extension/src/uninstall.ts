/**
 * Run by the editor, without its API, once the extension is uninstalled and no window uses it: stops the workers that it
 * started. The editor permits 5 seconds, then removes the extension's storage with the program.
 */

import { StartedWorkers } from "./life/started";

const PERMITTED_MS = 4000;

void StartedWorkers.leftIn(__dirname)
  .then((workers) => workers.stop(AbortSignal.timeout(PERMITTED_MS)))
  .catch(() => undefined); // it was never used
