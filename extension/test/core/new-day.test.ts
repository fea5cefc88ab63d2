import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { NewDay } from "../../src/core/new-day";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("a new day is told once, within a minute, also after a machine slept; the same day never", () => {
  let now = new Date(2026, 10, 26, 9, 5).getTime();
  const act = vi.fn();
  const days = new NewDay(act, () => now);
  now = new Date(2026, 10, 26, 23, 59).getTime();
  vi.advanceTimersByTime(60_000);
  expect(act).not.toHaveBeenCalled();
  now = new Date(2026, 10, 27, 8, 30).getTime();
  vi.advanceTimersByTime(120_000);
  expect(act).toHaveBeenCalledTimes(1);
  days.dispose();
  now = new Date(2026, 10, 28).getTime();
  vi.advanceTimersByTime(120_000);
  expect(act).toHaveBeenCalledTimes(1);
});
