/** Acts when another day has begun: what is shown as a time of today is one of yesterday then. */

/** A timer until midnight would come too late on a machine that slept. */
const LOOK_MS = 60_000;

export class NewDay {
  private readonly timer: NodeJS.Timeout;

  constructor(act: () => void) {
    const today = (): string => new Date().toDateString();
    let shown = today();
    this.timer = setInterval(() => {
      if (today() === shown) return;
      shown = today();
      act();
    }, LOOK_MS);
  }

  dispose(): void {
    clearInterval(this.timer);
  }
}
