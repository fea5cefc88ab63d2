import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Latest } from "../../src/recall/latest";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function asking() {
  const asked: { question: string; signal: AbortSignal; answer: (text: string) => void; fail: (e: Error) => void }[] =
    [];
  const events: string[] = [];
  const latest = new Latest<string>(
    (question, signal) =>
      new Promise((resolve, reject) => asked.push({ question, signal, answer: resolve, fail: reject })),
    {
      busy: (isBusy) => events.push(isBusy ? "busy" : "idle"),
      answered: (answer, question) => events.push(`${question}: ${answer}`),
      failed: (error) => events.push(`failed: ${(error as Error).message}`),
    },
  );
  return { latest, asked, events };
}

describe("answers while typing", () => {
  it("asks only what stays for 150 ms", async () => {
    const { latest, asked } = asking();
    latest.question("re");
    await vi.advanceTimersByTimeAsync(149);
    latest.question("retry");
    await vi.advanceTimersByTimeAsync(149);
    expect(asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked.map(({ question }) => question)).toEqual(["retry"]);
  });

  it("cancels the former request, and never shows its answer", async () => {
    const { latest, asked, events } = asking();
    latest.question("one");
    await vi.advanceTimersByTimeAsync(150);
    latest.question("two");
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[0]?.answer("late");
    await vi.advanceTimersByTimeAsync(150);
    asked[1]?.answer("now");
    await vi.advanceTimersByTimeAsync(0);
    expect(events.filter((each) => each.includes(":"))).toEqual(["two: now"]);
    expect(events.at(-1)).toBe("idle");
  });

  it("says what failed, but not that it was cancelled", async () => {
    const { latest, asked, events } = asking();
    latest.question("one");
    await vi.advanceTimersByTimeAsync(150);
    asked[0]?.fail(new Error("no worker"));
    await vi.advanceTimersByTimeAsync(0);
    latest.question("two");
    await vi.advanceTimersByTimeAsync(150);
    latest.cancel();
    asked[1]?.fail(new DOMException("aborted", "AbortError"));
    await vi.advanceTimersByTimeAsync(0);
    expect(events.filter((each) => each.startsWith("failed"))).toEqual(["failed: no worker"]);
  });

  it("does not ask an empty question", async () => {
    const { latest, asked } = asking();
    latest.question("  ");
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toEqual([]);
  });
});
