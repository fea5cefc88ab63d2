import type { Heartbeat } from "#types";
import { describe, expect, it } from "vitest";
import { isAwaited, isMissed, isOutdated, pageAddress } from "../../src/life/decide";

const worker = (version: string) => ({ version }) as Heartbeat;

describe("a folder's worker", () => {
  it("is awaited by job files only, and only if none lives", () => {
    expect(isAwaited(["a.json"], false, null)).toBe(true);
    expect(isAwaited(["a.json"], true, worker("0.4.0"))).toBe(false);
    expect(isAwaited([".a.tmp", ".hidden.json", "results", "worker"], false, null)).toBe(false);
    expect(isAwaited([], false, null)).toBe(false);
    expect(isAwaited([], true, null)).toBe(true);
  });

  it("is missed if it ended without saying so and left work", () => {
    const latest = (state: string, running: number) =>
      ({ state, counts: { queued: 0, running, retrying: 0 } }) as Heartbeat;
    expect(isMissed(latest("ready", 1), null, false)).toBe(true);
    expect(isMissed(latest("ready", 0), null, true)).toBe(true);
    expect(isMissed(null, null, true)).toBe(true);
    expect(isMissed(latest("ready", 0), null, false)).toBe(false);
    expect(isMissed(latest("stopped", 1), null, true)).toBe(false);
    expect(isMissed(latest("ready", 1), latest("ready", 1), true)).toBe(false);
  });

  it("is replaced by a later program, never by a former one", () => {
    expect(isOutdated(worker("0.4.0"), "0.5.0")).toBe(true);
    expect(isOutdated(worker("0.5.0"), "0.5.0")).toBe(false);
    expect(isOutdated(worker("0.5.0"), "0.4.0")).toBe(false);
    expect(isOutdated(null, "0.5.0")).toBe(false);
  });
});

describe("the page's address", () => {
  const url = "http://127.0.0.1:4711/#ticket=a-b_c";

  it("keeps the ticket as it is", () => {
    expect(pageAddress(url, "http://127.0.0.1:4711/")).toBe(url);
    expect(pageAddress(url, "http://localhost:4711/")).toBe("http://localhost:4711/#ticket=a-b_c");
  });

  it("is none if the worker would refuse it", () => {
    expect(pageAddress(url, "http://localhost:4712/")).toBeNull();
    expect(pageAddress(url, "https://host.example/proxy/4711/")).toBeNull();
  });
});
