/** Versions of the program: reading them, and which is enough. */

/** The first version whose protocol and answers this extension understands. */
export const OLDEST = "0.5.0";

/** The version in a text such as `version: 0.4.0` or `{"version": "0.4.0"}`; undefined without one. */
export function versionIn(text: string): string | undefined {
  return /\d+\.\d+\.\d+/.exec(text)?.[0];
}

/** Whether a version is another one or a later one. A version that cannot be read is not. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [have, need] = [numbers(version), numbers(oldest)];
  for (let index = 0; index < 3; index++) {
    const [a, b] = [have[index] ?? 0, need[index] ?? 0];
    if (a !== b) return a > b;
  }
  return have.length === 3;
}

function numbers(version: string): number[] {
  return (versionIn(version) ?? "").split(".").filter(Boolean).map(Number);
}
