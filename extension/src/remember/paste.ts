/** A conversation that was copied from a chat, as turns. */

import type { Turn } from "./turns";

const SPEAKER = /^(?:#{1,6}\s+|\*\*)?([\p{L}\p{N}_.@-][\p{L}\p{N}_.@ -]{0,39}?)(?:\*\*)?:(?:\*\*)?(?:[ \t]+|$)/u;
const ASSISTANTS =
  /^(?:assistant|ai|bot|model|(?:github )?copilot|chatgpt|gpt(?:-[\w.]+)?|claude|gemini|memory|cursor)$/iu;
const USERS = /^(?:user|you|me|human)$/iu;

/**
 * The turns of a text such as “user: … GitHub Copilot: …”. Names of people are the user if an assistant answers them.
 * A text without speakers is one turn of the user.
 */
export function turnsOf(text: string): Turn[] {
  const lines = text.split(/\r?\n/u);
  const speakers = lines.map((line) => SPEAKER.exec(line)?.[1]);
  const known = speakers.filter((name) => name !== undefined && (ASSISTANTS.test(name) || USERS.test(name)));
  if (known.length === 0) return [{ role: "user", text: text.trim() }];
  // the editor's own copy of a chat names the user by the account's name: the first line's
  const account = speakers[0];
  const turns: { role: Turn["role"]; lines: string[] }[] = [];
  lines.forEach((line, index) => {
    const name = speakers[index];
    const role =
      name === undefined
        ? undefined
        : ASSISTANTS.test(name)
          ? "assistant"
          : USERS.test(name) || name === account
            ? "user"
            : undefined;
    if (role !== undefined) turns.push({ role, lines: [line.replace(SPEAKER, "")] });
    else if (turns.length === 0) turns.push({ role: "user", lines: [line] });
    else turns.at(-1)?.lines.push(line);
  });
  return turns
    .map((turn) => ({ role: turn.role, text: turn.lines.join("\n").trim() }))
    .filter(({ text: its }) => its !== "");
}
