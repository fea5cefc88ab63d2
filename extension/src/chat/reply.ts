/** What the chat shows of memories: a line for each hit, and their notes. What a memory says is text. */

import type { RetrievalHit } from "#types";
import { cut, day, escaped } from "../core/text";
import { badge, dateOf, passageOf, replaces, standing, titleOf } from "../recall/hit";

const LONGEST_TITLE = 120;
const LONGEST_PASSAGE = 400;

/** “**Summary: {topic}** (created {date}, relevance score: {score}) — #{number}”, with its status and what replaced it. */
export function lineOf(hit: RetrievalHit, folder = ""): string {
  const title = escaped(cut(titleOf(hit), LONGEST_TITLE));
  const facts = [
    ...(folder === "" ? [] : [`folder ${escaped(folder)}`]),
    `created ${day(dateOf(hit)) || "at an unknown time"}`,
    `relevance score: ${hit.final_score.toFixed(2)}`,
  ];
  const state = [`#${hit.memory_number}`, badge(hit.memory_type, hit.status), standing(hit)];
  const name = hit.memory_type === "legacy" ? `[Legacy] ${title}` : `Summary: ${title}`;
  return `**${name}** (${facts.join(", ")}) — ${state.filter(Boolean).join(", ")}`;
}

/** The passage of a hit that fits best, with what it replaced, as a quotation below its line of a list; empty if it has none. */
export function passageUnder(hit: RetrievalHit): string {
  const passage = [cut(passageOf(hit), LONGEST_PASSAGE), replaces(hit)].filter(Boolean).join(" · ");
  return passage === "" ? "" : `\n  > ${escaped(passage)}\n\n`;
}

/**
 * A model's answer in pieces, without images: their address could carry what a memory says to another machine. A sign
 * at the end of a piece waits for the next one.
 */
export class WithoutImages {
  private held = "";

  take(piece: string): string {
    const text = this.held + piece;
    this.held = text.endsWith("!") ? "!" : "";
    return text.slice(0, text.length - this.held.length).replaceAll("![", "!\\[");
  }

  end(): string {
    const rest = this.held;
    this.held = "";
    return rest;
  }
}
