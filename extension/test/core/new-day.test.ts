import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { NewDay } from "../../src/core/new-day";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("a new day is told once, within a minute, also after a machine slept; the same day never", () => {
  vi.setSystemTime(new Date(2026, 10, 26, 9, 5));
  const act = vi.fn();
  const days = new NewDay(act);
  vi.setSystemTime(new Date(2026, 10, 26, 23, 58));
  vi.advanceTimersByTime(60_000);
  expect(act).not.toHaveBeenCalled();
  vi.setSystemTime(new Date(2026, 10, 27, 8, 30));
  vi.advanceTimersByTime(120_000);
  expect(act).toHaveBeenCalledTimes(1);
  days.dispose();
  vi.setSystemTime(new Date(2026, 10, 28));
  vi.advanceTimersByTime(120_000);
  expect(act).toHaveBeenCalledTimes(1);
});
