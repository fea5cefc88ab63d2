/** The extension's settings: their names, ranges and defaults, and the values that hold after clamping. */

import type { RetrieveRequest } from "#types";

/** The numbers that a user may set. The ranges of package.json are the same; a test compares them. */
export const NUMBERS = {
  "ranking.alpha": { least: 0.6, most: 0.95, preset: null },
  "ranking.halfLifeDays": { least: 0.5, most: 90, preset: null },
  relevanceFloor: { least: 0, most: 1, preset: null },
  maxContextResults: { least: 1, most: 50, preset: 5 },
  maxContextTokens: { least: 100, most: 100_000, preset: 2000 },
  "capture.idleMinutes": { least: 5, most: 240, preset: 30 },
} as const;

type NumberName = keyof typeof NUMBERS;

export interface Settings {
  readonly commandPath: string;
  /** Null: the preset decides. */
  readonly alpha: number | null;
  readonly halfLifeDays: number | null;
  readonly relevanceFloor: number | null;
  readonly preset: "contract" | "long-lived";
  readonly maxResults: number;
  readonly maxTokens: number;
  readonly captureEnabled: boolean;
  readonly captureIdleMinutes: number;
}

/** Reads a setting by its name without the prefix `cogneeMemory.`; undefined if it is not set. */
export type Read = (name: string) => unknown;

/** The settings, with one sentence in `warnings` for each value that was not usable as it is. */
export function readSettings(read: Read): { readonly settings: Settings; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const number = (name: NumberName): number | null => {
    const { least, most, preset } = NUMBERS[name];
    const value = read(name);
    if (value === undefined || value === null) return preset;
    if (typeof value !== "number" || !Number.isFinite(value)) {
      warnings.push(`cogneeMemory.${name} is not a number; the default is used.`);
      return preset;
    }
    const clamped = Math.min(most, Math.max(least, value));
    if (clamped !== value) {
      warnings.push(`cogneeMemory.${name} is ${value}, outside ${least} to ${most}; ${clamped} is used.`);
    }
    return clamped;
  };
  const presets = ["long-lived", "contract"] as const;
  const chosen = read("ranking.preset") ?? presets[0];
  const preset = presets.find((each) => each === chosen);
  if (preset === undefined) {
    warnings.push(`cogneeMemory.ranking.preset is none of ${presets.join(", ")}; ${presets[0]} is used.`);
  }
  const path = read("commandPath");
  const settings: Settings = {
    commandPath: typeof path === "string" ? path.trim() : "",
    alpha: number("ranking.alpha"),
    halfLifeDays: number("ranking.halfLifeDays"),
    relevanceFloor: number("relevanceFloor"),
    preset: preset ?? presets[0],
    maxResults: number("maxContextResults") ?? 5,
    maxTokens: number("maxContextTokens") ?? 2000,
    captureEnabled: read("capture.enabled") === true,
    captureIdleMinutes: number("capture.idleMinutes") ?? 30,
  };
  return { settings, warnings };
}

/** The half-life in days of the blend, where none is set. */
const BLEND_HALF_LIFE = 30;

/**
 * The ranking and the limits that the settings give to a question. A set `alpha` means the blend. With a set `alpha` or
 * `halfLifeDays` age counts as it says: without the preset's floor.
 */
export function rankingOf(settings: Settings): Omit<RetrieveRequest, "query"> {
  const isBlend = settings.alpha !== null;
  const halfLife = settings.halfLifeDays ?? (isBlend ? BLEND_HALF_LIFE : null);
  return {
    preset: settings.preset,
    max_results: settings.maxResults,
    max_tokens: settings.maxTokens,
    ...(settings.alpha === null ? {} : { ranking_mode: "blend" as const, alpha: settings.alpha }),
    ...(halfLife === null ? {} : { half_life_days: halfLife, recency_floor: 0 }),
    ...(settings.relevanceFloor === null ? {} : { relevance_floor: settings.relevanceFloor }),
  };
}
