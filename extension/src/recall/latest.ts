/** Answers to what is being typed: asked when the typing pauses, and only the latest question is answered. */

import { isAbort } from "../core/error";

export interface Listener<Answer> {
  /** A question is being asked, or none any more. */
  busy(isBusy: boolean): void;
  answered(answer: Answer, question: string): void;
  failed(error: unknown): void;
}

const PAUSE_MS = 150;

export class Latest<Answer> {
  private timer: NodeJS.Timeout | undefined;
  private current: AbortController | undefined;

  constructor(
    private readonly ask: (question: string, signal: AbortSignal) => Promise<Answer>,
    private readonly listener: Listener<Answer>,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  /** Replaces the former question, whose request is cancelled. An empty one is not asked. */
  question(question: string): void {
    this.cancel();
    if (question.trim() === "") return;
    this.listener.busy(true);
    this.timer = setTimeout(() => void this.run(question.trim()), this.pauseMs);
  }

  /** Cancels the question that waits or is being answered. */
  cancel(): void {
    clearTimeout(this.timer);
    this.current?.abort();
    this.current = undefined;
    this.listener.busy(false);
  }

  private async run(question: string): Promise<void> {
    const mine = new AbortController();
    this.current = mine;
    try {
      const answer = await this.ask(question, mine.signal);
      if (!mine.signal.aborted) this.listener.answered(answer, question);
    } catch (error) {
      if (!mine.signal.aborted && !isAbort(error)) this.listener.failed(error);
    } finally {
      if (this.current === mine) this.listener.busy(false);
    }
  }
}
