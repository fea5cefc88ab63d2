/** What pip and uv print, as progress. */

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
