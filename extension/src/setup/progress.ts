/** How far the installation of packages has come: half of it is downloading, half is writing files. */

import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** What a person sees of a set-up: a message, and how much of the whole (0 to 100) a moment has added. */
export type Report = (message: string, percent: number) => void;

/** What a line of pip or uv says. */
export interface Progress {
  /** What a person is told, such as a package's name and size. */
  readonly message?: string;
  /** How many packages are done by this line. */
  readonly packages: number;
}

const NOTHING: Progress = { packages: 0 };

/** The progress in a line of pip's or uv's output. */
export function progressIn(line: string): Progress {
  const text = line.trim();
  const collecting = /^Collecting ([\w.-]+)/.exec(text);
  if (collecting) return { packages: 1, message: collecting[1] ?? "" };
  const downloading = /^Downloading (?:\S*\/)?([\w.]+?)(?:-\d\S*)? \(([\d.]+ ?[kMG]i?B)\)/.exec(text);
  if (downloading) return { packages: 0, message: `${downloading[1] ?? ""} (${downloading[2] ?? ""})` };
  if (/^Installing collected packages/.test(text)) return { packages: 0, message: "Installing packages" };
  if (/^Downloaded /.test(text)) return { packages: 1 };
  return NOTHING;
}

/** pip says nothing while it writes files, for minutes; so what is there is counted. */
const COUNT_MS = 2000;

export class PackageCounter {
  private downloaded = 0;
  private installed = 0;
  private told = 0;
  private readonly timer: NodeJS.Timeout;

  /** `packages` is how many there are at most, and `report` counts from 0 to 1. */
  constructor(
    private readonly environment: string,
    private readonly packages: number,
    private readonly report: Report,
  ) {
    this.timer = setInterval(() => void this.count(), COUNT_MS);
  }

  /** Takes a line of pip's or uv's output. */
  line(text: string): void {
    const { message, packages } = progressIn(text);
    this.downloaded += packages;
    this.tell(message);
  }

  /** Ends the counting. */
  stop(): void {
    clearInterval(this.timer);
  }

  private async count(): Promise<void> {
    const before = this.installed;
    this.installed = await installedPackages(this.environment);
    if (this.installed > before) this.tell(`${this.installed} / ${this.packages}`);
    else if (this.installed > this.packages / 2) this.report("Compiling packages", 0); // uv does so at the end
  }

  private tell(message: string | undefined): void {
    const most = Math.max(1, this.packages);
    const done = (Math.min(this.downloaded, most) + Math.min(this.installed, most)) / (2 * most);
    if (message === undefined && done <= this.told) return;
    this.report(message ?? "", Math.max(0, done - this.told));
    this.told = Math.max(this.told, done);
  }
}

/** How many packages are in an environment. */
export async function installedPackages(environment: string): Promise<number> {
  const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
  const versions = (await list(join(environment, "lib"))).map((name) => join(environment, "lib", name));
  const libraries = [join(environment, "Lib"), ...versions].map((folder) => join(folder, "site-packages"));
  const names = (await Promise.all(libraries.map(list))).flat();
  return names.filter((name) => name.endsWith(".dist-info")).length;
}
