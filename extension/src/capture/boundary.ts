/** When a conversation has ended: after an idle time, at words that say so, or at a change of subject. */

import { decisionsIn, type Turn } from "../remember/turns";

/** What ends a conversation. */
export type Boundary = "idle" | "marker" | "subject";

/** Phrases by which a user leaves a subject. At the beginning of a message only: a quotation is none. */
const MARKERS =
  /^\s*(?:(?:ok(?:ay)?|so|well|alright|all right|great|thanks|thank you|good|now)[\s,.!–-]+){0,3}(?:let(?:'|’)?s (?:move on|switch|talk about something else|change (?:the )?(?:subject|topic))|moving on(?: to)?\b|switching to\b|(?:a )?new (?:topic|subject)\b|(?:a )?different (?:topic|subject)\b|next topic\b|on (?:another|a different) (?:topic|subject|note)\b|that(?:'|’)?s (?:all|it) for (?:now|today)|we(?:'|’)?re done here)/iu;

/** Fewer words of meaning than this say too little about a subject. */
const FEWEST_WORDS = 5;
/** At most this share of the words of a new message is known from the conversation, if the subject has changed. */
const MOST_KNOWN = 0.1;
/** Only so many last turns say what a conversation is about now. */
const TURNS = 8;
const SHORTEST_WORD = 4;
const ENDINGS = /(?:ing|ed|es|s|ly)$/u;

/** Words that say nothing about a subject. */
const COMMON = new Set(
  "about above actually after again also another anything because been before being below between both cannot could does doing done down during each either else even every everything explain first from further give going gone good have having here into it's just know last later less like little look made make many maybe mean more most much must need never next nothing okay once only other over part perhaps please question really right same second several shall should show since some something still such sure take tell than thank thanks that that's their them then there these they thing things think this those through time under understand until upon used using very want well were what what's when where whether which while will with within without work would write your yours".split(
    " ",
  ),
);

/**
 * What ends a conversation before the user's next message; undefined if the message belongs to it. `idleMs` is how
 * long nothing was said, `idleLimitMs` after how long a conversation has ended. Without a message, only the time counts.
 */
export function boundaryBefore(
  turns: readonly Turn[],
  message: string | null,
  idleMs: number,
  idleLimitMs: number,
): Boundary | undefined {
  if (turns.length === 0) return undefined;
  if (idleMs >= idleLimitMs) return "idle";
  if (message === null) return undefined;
  if (MARKERS.test(message)) return "marker";
  return isNewSubject(turns, message) ? "subject" : undefined;
}

/** Whether a message has almost no word of the conversation. Short messages (“and why?”) follow what was said. */
function isNewSubject(turns: readonly Turn[], message: string): boolean {
  const words = wordsOf(message);
  const known = wordsOf(
    turns
      .slice(-TURNS)
      .map(({ text }) => text)
      .join("\n"),
  );
  if (words.size < FEWEST_WORDS || known.size < FEWEST_WORDS) return false;
  const shared = [...words].filter((word) => known.has(word)).length;
  return shared / words.size <= MOST_KNOWN;
}

/** The words of meaning, with their commonest endings removed. Scripts without spaces have none of ours: no change. */
function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_'’-]*/gu) ?? [];
  return new Set(
    words
      .filter((word) => word.length >= SHORTEST_WORD && !COMMON.has(word))
      .map((word) => (word.length > SHORTEST_WORD + 1 ? word.replace(ENDINGS, "") : word)),
  );
}

/** A conversation of fewer messages of the user is remembered by itself only if something was decided. */
const FEWEST_MESSAGES = 3;

/** Whether a conversation that has ended is worth a memory: a single question and its answer are not. */
export function isWorthKeeping(turns: readonly Turn[]): boolean {
  const messages = turns.filter(({ role }) => role === "user");
  return messages.length >= FEWEST_MESSAGES || decisionsIn(messages).length > 0;
}
