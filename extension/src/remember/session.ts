/** The id of a session: the day and a number, such as `2025-11-16-session-1`. A long gap begins the next number. */

/** A gap between two summaries after which the later one belongs to another session. */
const GAP_MS = 3_600_000;

export interface Session {
  readonly day: string;
  readonly number: number;
  /** When it was last used, in milliseconds since 1970. */
  readonly usedAt: number;
}

/** The session at `now`, after the one that was used last (at 0, if it has ended). */
export function sessionAt(last: Session | undefined, now: Date): Session {
  const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  if (last?.day !== day) return { day, number: 1, usedAt: now.getTime() };
  const isNext = now.getTime() - last.usedAt > GAP_MS;
  return { day, number: last.number + (isNext ? 1 : 0), usedAt: now.getTime() };
}

export const idOf = ({ day, number }: Session): string => `${day}-session-${number}`;

const two = (number: number): string => String(number).padStart(2, "0");
