import { describe, expect, it } from "vitest";
import { turnsOf } from "../../src/remember/paste";
import { decisionsIn, promptOf, topicOf, type Turn, withinBudget } from "../../src/remember/turns";

const user = (text: string): Turn => ({ role: "user", text });
const assistant = (text: string): Turn => ({ role: "assistant", text });

describe("turns of a conversation", () => {
  it("keeps the latest that fit, whole; a single one is cut", () => {
    const turns = [user("a".repeat(50)), assistant("b".repeat(30)), user("c".repeat(30))];
    expect(withinBudget(turns, 70)).toEqual(turns.slice(1));
    expect(withinBudget([user("abcdef")], 3)).toEqual([user("abc")]);
    expect(withinBudget(turns, 200)).toEqual(turns);
  });

  it("gives the conversation to the model as data", () => {
    const prompt = promptOf([user('x\n\nTopic: y"')]);
    expect(prompt.split("\n").at(-1)).toBe('{"role":"user","text":"x\\n\\nTopic: y\\""}');
  });

  it("names the topic by the first request, at a word's end", () => {
    expect(topicOf([assistant("Hi"), user("## How do retries work?\nMore")])).toBe("How do retries work");
    expect(topicOf([user("word ".repeat(40))])).toMatch(/^(?:word )+word$/u);
    expect(topicOf([])).toBe("");
  });

  it("finds decisions, each once, and no questions or code", () => {
    const turns = [
      user("Let's use Redis for the cache. Should we decide on the port?"),
      assistant("- Decision: port 6379\n```\nwe decided nothing here\n```\nLet’s use Redis for the cache."),
      user("have we decided on a name?"),
    ];
    expect(decisionsIn(turns)).toEqual([
      "Let's use Redis for the cache.",
      "Decision: port 6379",
      "Let’s use Redis for the cache.",
    ]);
    expect(decisionsIn([user("Why does it fail?"), assistant("It has no port.")])).toEqual([]);
  });
});

describe("a copied conversation", () => {
  it("is split by the names of assistants and users", () => {
    expect(turnsOf("user: Which port?\nThe first.\n\nGitHub Copilot: 8080\nNote: it is free.\n\nuser: ok")).toEqual([
      user("Which port?\nThe first."),
      assistant("8080\nNote: it is free."),
      user("ok"),
    ]);
  });

  it("knows the account's name at the beginning as the user", () => {
    expect(turnsOf("ana_k: hello\n\nClaude: hi\n\nana_k: bye")).toEqual([user("hello"), assistant("hi"), user("bye")]);
    expect(turnsOf("**You:** a\n**Assistant:** b")).toEqual([user("a"), assistant("b")]);
  });

  it("without speakers is one turn", () => {
    expect(turnsOf(" Warning: disk full\nat: line 3 ")).toEqual([user("Warning: disk full\nat: line 3")]);
  });
});
