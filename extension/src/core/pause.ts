/** Does something once after a burst of events: when none has come for a moment, or at the latest after a while. */

const QUIET_MS = 300;
const LONGEST_MS = 2000;

export class Pause {
  private timer: NodeJS.Timeout | undefined;
  private first: number | undefined;
  private isDisposed = false;

  constructor(private readonly act: () => void) {}

  begin(): void {
    if (this.isDisposed) return;
    this.first ??= Date.now();
    clearTimeout(this.timer);
    const left = this.first + LONGEST_MS - Date.now();
    this.timer = setTimeout(() => this.end(), Math.max(0, Math.min(QUIET_MS, left)));
  }

  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.timer);
  }

  private end(): void {
    this.first = undefined;
    this.act();
  }
}
