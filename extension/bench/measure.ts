/**
 * What the extension's own code takes, beside the least that it could: run by `python -m benchmarks.extension`, which
 * gives it a workspace with a worker, and prints what this prints. Times are in milliseconds.
 */

import { randomUUID } from "node:crypto";
import { readFileSync, watch } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JobFile } from "#types";
import { address, type Address } from "../src/core/http";
import { results } from "../src/core/layout";
import { Memory } from "../src/core/memory";
import { ended, readRecord } from "../src/core/records";

const DROPS = 60;
/** A person's typing: each of these is asked, as the list asks while one types. */
const TYPED = [
  "why",
  "why was",
  "why was the",
  "why was the token",
  "why was the token renewal",
  "token renewal twice",
];
const ROUNDS = 20;

type Times = Record<string, number[]>;

async function timed(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

/** Waits for the first event of a name in a folder, as the status bar does. */
function event(folder: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, (_, file) => {
      if (file !== name) return;
      watcher.close();
      resolve();
    });
  });
}

/** From a drop to its record: written, seen as accepted, seen as succeeded; beside a bare write and its event. */
async function drops(memory: Memory): Promise<Times> {
  const times: Times = { written: [], queued: [], remembered: [], bare: [] };
  const folder = results(memory.workspace);
  for (let n = 0; n < DROPS; n++) {
    const job_id = `vscode-${randomUUID()}`;
    const summary = { topic: `Measured ${n}`, context: `The ${n}th drop of a measurement, with id ${job_id}.` };
    const job: JobFile<"ingest"> = { schema_version: 1, job_id, kind: "ingest", payload: { summary } };
    const accepted = event(folder, `${job_id}.json`);
    const began = performance.now();
    await memory.drop<"ingest">(job);
    times["written"]?.push(performance.now() - began);
    await accepted;
    if (readRecord(memory.workspace, job_id) === null) throw new Error("an event without a record");
    times["queued"]?.push(performance.now() - began);
    await ended(memory.workspace, job_id, AbortSignal.timeout(120_000));
    times["remembered"]?.push(performance.now() - began);
    const seen = event(folder, "bare.tmp");
    times["bare"]?.push(
      await timed(async () => {
        await writeFile(join(folder, "bare.tmp"), String(n));
        await seen;
      }),
    );
  }
  return times;
}

/** A question as one types, beside the shortest request to the same server. */
async function recall(memory: Memory, worker: Address): Promise<Times> {
  const times: Times = { recall: [], bare: [] };
  const headers = { Authorization: `Bearer ${readFileSync(worker.tokenFile, "utf8").trim()}` };
  for (let round = -1; round < ROUNDS; round++) {
    for (const query of TYPED) {
      const signal = AbortSignal.timeout(60_000);
      const asked = await timed(() => memory.retrieve({ query, best_passages: true }, signal));
      const bare = await timed(async () => (await fetch(`${worker.url}/healthz`, { headers, signal })).text());
      if (round < 0) continue;
      times["recall"]?.push(asked);
      times["bare"]?.push(bare);
    }
  }
  return times;
}

const [what, workspace = ""] = process.argv.slice(2);
const memory = new Memory(workspace, () => Promise.reject(new Error("the worker answers")));
const worker = address(workspace, Date.now());
if (worker === null) throw new Error("no worker");
process.stdout.write(JSON.stringify(what === "drops" ? await drops(memory) : await recall(memory, worker)));
