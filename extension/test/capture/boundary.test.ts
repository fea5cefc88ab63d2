import { describe, expect, it } from "vitest";
import { boundaryBefore, isWorthKeeping } from "../../src/capture/boundary";
import type { Turn } from "../../src/remember/turns";

const MINUTE = 60_000;
const user = (text: string): Turn => ({ role: "user", text });
const assistant = (text: string): Turn => ({ role: "assistant", text });
const RETRIES = [
  user("How should the uploader retry after the gateway drops connections?"),
  assistant("Retry five times with exponential backoff; the gateway recovers within a minute."),
];
const before = (message: string | null, idle = MINUTE) => boundaryBefore(RETRIES, message, idle, 30 * MINUTE);

describe("a conversation ends", () => {
  it("after the idle time, with or without a message", () => {
    expect(before(null, 30 * MINUTE)).toBe("idle");
    expect(before("And the backoff?", 30 * MINUTE)).toBe("idle");
    expect(before(null, 30 * MINUTE - 1)).toBeUndefined();
  });

  it.each([
    "Let's move on to the login page",
    "OK, thanks. Let’s switch to billing",
    "Great, moving on: tests",
    "New topic: fines",
    "That's all for today",
  ])("at the words %j", (message) => expect(before(message)).toBe("marker"));

  it.each([
    "The button says: let's move on",
    "Why is switching to exponential backoff better for the gateway?",
    "and why?",
    "Show me the uploader code that retries dropped connections with backoff, please",
    "Can you write unit tests for retrying uploads after gateway failures?",
  ])("not at %j", (message) => expect(before(message)).toBeUndefined());

  it("at a change of subject", () => {
    expect(before("Which colours should the invoice template have for Swiss customers, and which fonts?")).toBe(
      "subject",
    );
  });

  it("never before it has begun", () => {
    expect(boundaryBefore([], "New topic: fines", 99 * MINUTE, MINUTE)).toBeUndefined();
  });
});

describe("a conversation is remembered by itself", () => {
  it("if something was decided, or it was longer than a few messages", () => {
    expect(isWorthKeeping(RETRIES)).toBe(false);
    expect(isWorthKeeping([...RETRIES, user("Good. Let's go with five retries.")])).toBe(true);
    expect(isWorthKeeping([user("a"), assistant("b"), user("c"), assistant("d"), user("e")])).toBe(true);
    expect(isWorthKeeping([user("What did we decide?"), assistant("We decided to use Redis.")])).toBe(false);
  });
});
