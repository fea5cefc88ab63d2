/** Why a step of the set-up failed, from what its program printed: a stable code, a sentence, and what to do next. */

import { MemoryError } from "../core/error";

/** The free space that a set-up needs: 350 MB for the packages, their downloads, and room to work. */
export const NEEDED_BYTES = 600_000_000;

/** What fails: the set-up itself, or the addition of the graph to a program that works. */
export type Purpose = "set up" | "add the graph";

interface Words {
  /** The codes of an unknown failure, and of a cancel. */
  readonly codes: readonly [failed: string, cancelled: string];
  readonly name: string;
  readonly kept: string;
  readonly again: string;
}

const WORDS: Readonly<Record<Purpose, Words>> = {
  "set up": {
    codes: ["SETUP_FAILED", "SETUP_CANCELLED"],
    name: "Set-up",
    kept: "The former program, if there was one, is still in use.",
    again: "set up again",
  },
  "add the graph": {
    codes: ["GRAPH_NOT_ADDED", "GRAPH_CANCELLED"],
    name: "Adding the knowledge graph",
    kept: "The memory works without the graph.",
    again: "add the graph again",
  },
};

interface Cause {
  readonly code: string;
  readonly signs: RegExp;
  readonly message: string;
  readonly remedy: string;
}

/** `{again}` stands for what to do once more. The first cause with a sign in the output is taken: a full disk may also look like a broken download. */
const CAUSES: readonly Cause[] = [
  {
    code: "DISK_FULL",
    signs: /No space left on device|\bENOSPC\b|Errno 28\b|WinError 112\b|not enough space on the disk|DISK_FULL/i,
    message: "The disk is full.",
    remedy: "Free some space, then {again}. What was downloaded is kept.",
  },
  {
    code: "HASH_MISMATCH",
    signs: /DO NOT MATCH THE HASHES|Hash mismatch|MODEL_CORRUPT/i,
    message: "A download is not the file that this version expects, so it was not installed.",
    remedy:
      "To try once more, {again}. If it still fails, the package index or a proxy changes files: ask its administrator.",
  },
  {
    code: "VENV_MISSING",
    signs: /ensurepip is not available|No module named '?(ensurepip|venv)|ensurepip.*returned non-zero/i,
    message: "This Python cannot make environments.",
    remedy: "Install its venv module (Debian and Ubuntu: sudo apt install python3-venv), or uv, then {again}.",
  },
  {
    code: "NO_NETWORK",
    signs: new RegExp(
      [
        "Temporary failure in name resolution|Name or service not known|getaddrinfo|nodename nor servname",
        "ConnectTimeoutError|ReadTimeoutError|Read timed out|NewConnectionError|Connection(Reset|Refused|Aborted)?Error",
        "ProxyError|SSLError|CERTIFICATE_VERIFY_FAILED|ProtocolError|Network is unreachable|Max retries exceeded",
        "error sending request|dns error|tcp connect error|Failed to fetch|operation timed out|MODEL_MISSING",
      ].join("|"),
      "i",
    ),
    message: "The packages or the model could not be downloaded.",
    remedy:
      "Check the network, and a proxy or a mirror in pip's configuration, then {again}. What was downloaded is kept.",
  },
  {
    code: "NO_PERMISSION",
    signs: /Permission denied|\bEACCES\b|\bEPERM\b|Operation not permitted|Access is denied|WinError 5\b/i,
    message: "A file could not be written or run, because the system does not permit it.",
    remedy: "See in the log which file it is. On Windows, a virus scanner may hold it: then {again}.",
  },
  {
    code: "NO_PACKAGE",
    signs:
      /No matching distribution found|is not a supported wheel|no wheels with a matching|has no wheels|no solution found/i,
    message: "A package is not available for this machine or this Python.",
    remedy:
      "Check that the package index can be reached, and use a 64-bit Python 3.11 to 3.13 on Linux (glibc), macOS or Windows.",
  },
];

/** The error of a program that ended without success. `doing` is what it was to do, such as "install the packages". */
export function failureOf(doing: string, output: string, purpose: Purpose = "set up"): MemoryError {
  const { codes, name, kept, again } = WORDS[purpose];
  const cause = CAUSES.find((each) => each.signs.test(output));
  if (cause !== undefined) {
    const code = purpose === "set up" ? cause.code : codes[0];
    return new MemoryError(code, `${cause.message} ${kept}`, cause.remedy.replace("{again}", again));
  }
  const last = output.trim().split("\n").at(-1)?.trim() ?? "";
  return new MemoryError(
    codes[0],
    `${name}: could not ${doing}${last === "" ? "" : `: ${last}`}. ${kept}`.replace("..", "."),
    `See the log for all of its output, then ${again}.`,
  );
}

/** The error if the disk has too little space; undefined if it has enough. */
export function tooFull(freeBytes: number): MemoryError | undefined {
  if (freeBytes >= NEEDED_BYTES) return undefined;
  const free = (freeBytes / 1e9).toFixed(1);
  return new MemoryError(
    "DISK_FULL",
    `Set-up needs 0.6 GB, and the disk has ${free} GB free. Nothing was changed.`,
    "Free some space, then set up again.",
  );
}

/** The error if no interpreter is usable. `seen` are versions that were found and are not supported. */
export function noPython(seen: readonly string[]): MemoryError {
  const remedy = "Install Python 3.13 from python.org or your package manager, or install uv, then set up again.";
  if (seen.length === 0) {
    return new MemoryError("PYTHON_NOT_FOUND", "Set-up needs Python 3.11, 3.12 or 3.13, and found no Python.", remedy);
  }
  const versions = [...new Set(seen)].join(", ");
  return new MemoryError(
    "PYTHON_NOT_SUPPORTED",
    `Set-up needs a 64-bit Python 3.11, 3.12 or 3.13, and found only ${versions}.`,
    remedy,
  );
}

export function cancelled(purpose: Purpose = "set up"): MemoryError {
  const { codes, name, kept, again } = WORDS[purpose];
  return new MemoryError(
    codes[1],
    `${name} was cancelled. What was downloaded is kept. ${kept}`,
    `To continue, ${again}.`,
  );
}

/** The error if workers in `folders` have not stopped, so that their program cannot be removed. */
export function workersRun(folders: readonly string[]): MemoryError {
  return new MemoryError(
    "WORKER_RUNNING",
    `The program was not removed, because workers still finish what they run: in ${folders.join(", ")}.`,
    "Wait until the view “Queue” has no running job, then remove it again.",
  );
}

export function alreadyRunning(): MemoryError {
  return new MemoryError(
    "SETUP_RUNNING",
    "The memory is being set up already, perhaps by another window.",
    "Wait until it has finished, then try again.",
  );
}
