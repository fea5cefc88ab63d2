/** A small stand-in for the editor's API, for unit tests of modules that import it. In-host tests use the real one. */

export * from "./editor";

export const l10n = {
  t: (text: string, ...values: unknown[]) => text.replace(/\{(\d+)\}/g, (_, n) => String(values[Number(n)])),
};
