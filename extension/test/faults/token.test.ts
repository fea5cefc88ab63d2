/** The worker is another one, or gone, or answers no HTTP: each question is answered all the same. */

import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { address, request } from "../../src/core/http";
import { heartbeatFile, tokenFile } from "../../src/core/layout";
import { latestHeartbeat, livingWorker } from "../../src/core/heartbeat";
import { Memory } from "../../src/core/memory";
import { memoriesOf, topicsOf } from "../../src/recall/reads";
import { reset, shown } from "../vscode";
import { PROGRAM, type Session, session } from "../live/session";

/** Much longer than anything takes; the machine may be busy. */
const LONG = 180_000;
const soon = () => AbortSignal.timeout(LONG);

describe.skipIf(PROGRAM === "")("another worker", { timeout: 2 * LONG }, () => {
  let my: Session;
  const QUERY = { query: "how many retries" };
  const topics = async (memory: Memory) =>
    (await memory.ask("retrieve", QUERY, soon())).results.map(({ topic }) => topic);
  /** A memory of the folder that can use nothing but HTTP. */
  const onlyHttp = () => new Memory(my.folder, () => Promise.reject(new Error("the program was run")));
  const answers = () => expect.poll(() => address(my.folder), { timeout: LONG }).not.toBeNull();

  beforeAll(async () => {
    reset();
    my = session();
    mkdirSync(my.folder, { recursive: true });
    const summary = { topic: "Retry policy", context: "How uploads are tried again.", decisions: ["Use five retries"] };
    await my.memory.run({ kind: "ingest", payload: { summary } }, soon());
  }, 2 * LONG);
  beforeEach(reset);
  afterAll(() => my.end(), LONG);

  it("has another token after a restart between two questions, and answers the second over HTTP too", async () => {
    await answers();
    expect(await topics(onlyHttp())).toEqual(["Retry policy"]);
    const token = readFileSync(tokenFile(my.folder), "utf8");
    await my.memory.command(["worker", "restart"], [], soon());
    await answers();
    expect(readFileSync(tokenFile(my.folder), "utf8")).not.toBe(token);
    expect(await topics(onlyHttp())).toEqual(["Retry policy"]);
  });

  it("refuses a token of before: the program answers", async () => {
    await answers();
    const token = readFileSync(tokenFile(my.folder), "utf8");
    writeFileSync(tokenFile(my.folder), "the token of before");
    try {
      await expect(topics(onlyHttp())).rejects.toThrow("the program was run");
      expect(await topics(my.memory)).toEqual(["Retry policy"]);
      expect((await topicsOf(my.memory, soon())).map(({ title }) => title)).toEqual(["Retry policy"]);
    } finally {
      writeFileSync(tokenFile(my.folder), token);
    }
  });

  it.each(["the file", "its folder"])("is read through no link: %s", async (which) => {
    await answers();
    const path = which === "the file" ? tokenFile(my.folder) : dirname(tokenFile(my.folder));
    renameSync(path, `${path} elsewhere`);
    symlinkSync(`${path} elsewhere`, path);
    try {
      const asked = { route: "GET /v1/topics", command: "topics" } as const;
      const answer = request(my.folder, "http://127.0.0.1:9", asked, soon());
      await expect(answer).rejects.toThrow("not a file of this user");
    } finally {
      rmSync(path);
      renameSync(`${path} elsewhere`, path);
    }
  });

  it("is not followed where its heartbeat names another machine, another time, or a link", async () => {
    await my.memory.command(["worker", "stop"], [], soon());
    const left = latestHeartbeat(my.folder);
    if (left === null) throw new Error("no heartbeat");
    const write = (at: number, url: string): void =>
      writeFileSync(
        heartbeatFile(my.folder),
        JSON.stringify({
          ...left,
          state: "ready",
          pid: process.pid,
          heartbeat_at: new Date(at).toISOString(),
          http: { ...left.http, url, token_file: "/etc/passwd" },
        }),
      );
    write(Date.now(), "http://127.0.0.1:9");
    expect(address(my.folder)).toBe("http://127.0.0.1:9");
    for (const url of [
      "http://192.0.2.1:9",
      "http://127.0.0.1:9@192.0.2.1",
      "http://127.0.0.1.example:9",
      "file:///",
    ]) {
      write(Date.now(), url);
      expect(address(my.folder)).toBeNull();
    }
    renameSync(heartbeatFile(my.folder), `${heartbeatFile(my.folder)}.of somebody else`);
    symlinkSync(`${heartbeatFile(my.folder)}.of somebody else`, heartbeatFile(my.folder));
    expect(latestHeartbeat(my.folder)).toBeNull();
    rmSync(heartbeatFile(my.folder));
    write(Date.now() + 3_600_000, "http://127.0.0.1:9");
    expect(livingWorker(my.folder)).toBeNull();
    expect(await topics(my.memory)).toEqual(["Retry policy"]);
  });

  it("answers no HTTP where it is switched off: the program does", async () => {
    process.env["COGNEE_MEMORY_HTTP"] = "false";
    try {
      await my.memory.startWorker(soon());
      await expect.poll(() => livingWorker(my.folder)?.state, { timeout: LONG }).toBe("ready");
      expect(livingWorker(my.folder)?.http).toBeNull();
      await expect(topics(onlyHttp())).rejects.toThrow("the program was run");
      expect(await topics(my.memory)).toEqual(["Retry policy"]);
      expect((await memoriesOf(my.memory, { limit: 5 }, soon())).total).toBe(1);
    } finally {
      delete process.env["COGNEE_MEMORY_HTTP"];
    }
  });

  it.skipIf(process.platform === "win32")("and a program that fails: both ways are told, with what to do", async () => {
    const program = join(my.root, "program");
    const failing = session({ program, beside: my.root });
    const says = (script: string): void => {
      writeFileSync(`${program}.new`, `#!/bin/sh\n${script}\n`);
      chmodSync(`${program}.new`, 0o700);
      renameSync(`${program}.new`, program);
    };
    const asked = () => failing.memory.ask("retrieve", QUERY, soon());
    says(
      `echo '{"success": false, "error": "The store is busy.", "error_code": "STORE_BUSY", "remediation": "Try it again."}'; exit 1`,
    );
    await expect(asked()).rejects.toMatchObject({ code: "STORE_BUSY", remediation: "Try it again." });
    says("echo 'Traceback' >&2; echo 'MemoryError: out of memory' >&2; exit 137");
    await expect(asked()).rejects.toMatchObject({
      code: "PROGRAM_FAILED",
      message: "cognee-memory retrieve ended with 137 and no answer: MemoryError: out of memory",
      remediation: expect.stringContaining("Check Health") as string,
    });
    says("echo '{\"success\": tru'; exit 0");
    await expect(asked()).rejects.toMatchObject({ code: "PROGRAM_FAILED" });
    says("kill -9 $$");
    await expect(asked()).rejects.toMatchObject({ code: "PROGRAM_FAILED" });
    const answer = await topics(my.memory); // the real program goes on to answer
    expect(answer).toEqual(["Retry policy"]);
    expect(shown.messages).toEqual([]);
    await failing.end();
  });
});
