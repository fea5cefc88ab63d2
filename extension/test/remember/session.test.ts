import { expect, it } from "vitest";
import { idOf, sessionAt } from "../../src/remember/session";

const at = (time: string): Date => new Date(`2025-11-${time}`);

it("numbers the sessions of a day: a long gap, or a known end, begins the next one", () => {
  const first = sessionAt(undefined, at("16T09:00:00"));
  expect(idOf(first)).toBe("2025-11-16-session-1");
  const same = sessionAt(first, at("16T09:59:00"));
  expect(idOf(same)).toBe("2025-11-16-session-1");
  const later = sessionAt(same, at("16T10:59:01"));
  expect(idOf(later)).toBe("2025-11-16-session-2");
  expect(idOf(sessionAt({ ...later, usedAt: 0 }, at("16T11:00:00")))).toBe("2025-11-16-session-3");
  expect(idOf(sessionAt(later, at("17T00:01:00")))).toBe("2025-11-17-session-1");
});
