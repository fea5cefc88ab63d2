/** The item of the status bar: follows the jobs that were dropped, by their records, and says how they are doing. */

import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { reading } from "../core/ask";
import { MemoryError } from "../core/error";
import { FAILED } from "../core/job-states";
import { results } from "../core/layout";
import { request } from "../core/requests";
import { plain } from "../core/text";
import type { Services } from "../core/services";
import { Pause } from "../core/pause";
import { type Followed, FollowedJobs, type Outcome, outcomeOf } from "./followed";
import { type Follow, type Kept, tallyOf } from "./tally";

/** How long a success is shown; longer where it can be undone. */
const SHOWN_MS = 15_000;
const CAPTURE_SHOWN_MS = 120_000;
const LONGEST_MESSAGE = 1000;

export class StatusBar {
  private readonly item: vscode.StatusBarItem;
  private readonly followed: FollowedJobs;
  private readonly follows = new Map<string, Follow>();
  /** Failures that a message has told: job and generation. */
  private readonly told = new Set<string>();
  private readonly tell = new Pause(() => this.tellFailures());
  private kept: Kept = { stuck: 0, preparing: 0 };

  constructor(private readonly services: Services) {
    this.followed = new FollowedJobs(services.context.workspaceState);
    this.item = vscode.window.createStatusBarItem("cognee.status", vscode.StatusBarAlignment.Right, 90);
    this.item.name = "Memory";
    this.item.command = "cognee.showStatus";
    for (const job of this.followed.all) this.follows.set(job.jobId, { ...job, outcome: outcomeOf(job) });
    // What ended while no window was open: only a failure is still news.
    this.removeIn("gone", "cancelled", "succeeded");
    services.owns(
      this.item,
      this.tell,
      services.changes.onDidChange(({ folder, what, path }) => {
        const isRecords = dirname(path) === results(folder.uri.fsPath);
        if (isRecords) this.look(folder.uri.fsPath, basename(path, ".json"));
        else if (what === "heartbeat") this.look(folder.uri.fsPath);
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.show()),
    );
    this.tell.begin();
  }

  /** Follows a job from its drop to its end. */
  follow(job: Followed): void {
    this.followed.add(job);
    this.follows.set(job.jobId, { ...job, outcome: outcomeOf(job) });
    this.show();
  }

  setKept(kept: Kept): void {
    this.kept = kept;
    this.show();
  }

  get keptCount(): number {
    return this.kept.stuck;
  }

  get jobs(): readonly Follow[] {
    return [...this.follows.values()];
  }

  /** What was captured last and can be undone. */
  get captured(): Followed | null {
    return this.followed.captured;
  }

  forgetCaptured(): void {
    const { captured } = this.followed;
    this.followed.forgetCaptured();
    if (captured !== null) this.remove([captured.jobId]);
  }

  /** Follows jobs no more, such as failures that the user has seen. */
  remove(jobIds: readonly string[]): void {
    for (const jobId of jobIds) this.follows.delete(jobId);
    this.followed.remove(new Set(jobIds));
    this.show();
  }

  /** Reads the records of a folder's jobs, or of one of them. */
  look(folder: string, jobId?: string): void {
    let hasChanged = false;
    for (const follow of this.jobs) {
      if (follow.folder !== folder || (jobId !== undefined && follow.jobId !== jobId)) continue;
      if (follow.outcome.state === "succeeded") continue;
      const outcome = outcomeOf(follow);
      const { state, generation } = follow.outcome;
      if (outcome.state === state && outcome.generation === generation) continue;
      hasChanged = true;
      this.follows.set(follow.jobId, { ...follow, outcome });
      this.services.log.info(`[Job] ${follow.jobId}: ${outcome.state}`);
      if (outcome.state === "succeeded") this.removeLater(follow);
    }
    if (!hasChanged) return;
    this.removeIn("gone", "cancelled");
    this.tell.begin();
  }

  private removeLater(follow: Follow): void {
    this.followed.remove(new Set([follow.jobId])); // after a reload, a success is no news
    setTimeout(() => this.remove([follow.jobId]), follow.by === "capture" ? CAPTURE_SHOWN_MS : SHOWN_MS);
  }

  /** Follows the jobs in these states no more. */
  private removeIn(...states: Outcome["state"][]): void {
    this.remove(this.jobs.filter(({ outcome }) => states.includes(outcome.state)).map(({ jobId }) => jobId));
  }

  private show(): void {
    const { text, tooltip, severity } = tallyOf(this.jobs, this.kept);
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: `${text.replace(/^\$\([^)]*\)\s*/u, "")}. ${tooltip}` };
    this.item.backgroundColor =
      severity === "none" ? undefined : new vscode.ThemeColor(`statusBarItem.${severity}Background`);
    if (this.services.folders().length > 0 || this.kept.stuck > 0) this.item.show();
    else this.item.hide();
  }

  /** Tells failures once, all of a burst in one message, with the remedy and a button that runs them again. */
  private tellFailures(): void {
    const failed = this.jobs.filter(
      ({ jobId, outcome }) => FAILED.has(outcome.state) && !this.told.has(`${jobId} ${outcome.generation}`),
    );
    const [first] = failed;
    if (first === undefined) return;
    for (const { jobId, outcome } of failed) this.told.add(`${jobId} ${outcome.generation}`);
    void this.tellFailure(first, failed).catch((error: unknown) => this.services.show(error));
  }

  private async tellFailure(first: Follow, failed: readonly Follow[]): Promise<void> {
    const { error, state } = first.outcome;
    const what =
      failed.length === 1
        ? `“${plain(first.topic, 100)}” was not remembered.`
        : `${failed.length} summaries were not remembered.`;
    const why = error === null ? `The job is ${state}.` : `${error.message} ${error.remediation}`;
    const [again, see, hide] = ["Run Again", "Show Queue", "Leave It"];
    const pressed = await vscode.window.showErrorMessage(plain(`${what} ${why}`, LONGEST_MESSAGE), again, see, hide);
    if (pressed === again) await this.runAgain(failed);
    else if (pressed === see) await vscode.commands.executeCommand("cognee.queue.focus");
    else if (pressed === hide) this.remove(failed.map(({ jobId }) => jobId));
  }

  /** Asks the program to run failed jobs again, and goes on to follow them. */
  async runAgain(failed: readonly Follow[]): Promise<void> {
    const skipped: string[] = [];
    for (const folder of this.services.folders()) {
      const path = folder.uri.fsPath;
      const jobs = failed.filter((each) => each.folder === path).map(({ jobId }) => jobId);
      if (jobs.length === 0) continue;
      const memory = this.services.memoryOf(folder);
      skipped.push(...(await reading((signal) => request(memory, "retry", jobs, signal), "Running again…")));
      memory.wakeUnlessLiving();
      this.look(path);
    }
    if (skipped.length > 0) throw new MemoryError("NOT_RETRIED", [...new Set(skipped)].join(" "));
  }
}
