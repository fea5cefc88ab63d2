import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Pause } from "../../src/core/pause";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("a burst of events", () => {
  it("is answered once, when none has come for a moment", () => {
    const act = vi.fn();
    const pause = new Pause(act);
    for (let n = 0; n < 100; n++) pause.begin();
    expect(act).not.toHaveBeenCalled();
    vi.advanceTimersByTime(300);
    expect(act).toHaveBeenCalledTimes(1);
  });

  it("is answered at the latest after two seconds, also if it goes on", () => {
    const act = vi.fn();
    const pause = new Pause(act);
    for (let n = 0; n < 39; n++) {
      pause.begin();
      vi.advanceTimersByTime(50);
    }
    expect(act).not.toHaveBeenCalled();
    vi.advanceTimersByTime(50);
    expect(act).toHaveBeenCalledTimes(1);
  });

  it("is not answered any more after the end", () => {
    const act = vi.fn();
    const pause = new Pause(act);
    pause.begin();
    pause.dispose();
    pause.begin();
    vi.advanceTimersByTime(5000);
    expect(act).not.toHaveBeenCalled();
  });
});
