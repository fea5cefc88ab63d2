/** Finds the program: in the setting, on PATH, in the usual places, in the extension's own environment. */

import { access, constants, stat } from "node:fs/promises";
import { MemoryError } from "../core/error";
import { run, type Program } from "../core/program";
import { programs, programOf, type Machine } from "./places";
import type { Environments } from "./environments";
import { isAtLeast, OLDEST, versionIn } from "../core/version";

/** The version of a program, which holds until its file changes. */
interface KnownVersion {
  readonly changed: number;
  readonly size: number;
  readonly version: string;
}

/** A program, and whether the extension made its environment. */
export interface Found extends Program {
  readonly isOwn: boolean;
}

const VERSION_MS = 30_000;

export class Finder {
  /** By the path of the program: it is asked once in a window. */
  private readonly versions = new Map<string, KnownVersion>();

  constructor(
    private readonly machine: Machine,
    private readonly environments: Environments,
    private readonly setting: () => string,
  ) {}

  /**
   * The program that is used. Throws MemoryError COMMAND_PATH_WRONG if the setting names none that is usable, otherwise
   * PROGRAM_TOO_OLD or PROGRAM_NOT_FOUND.
   */
  async find(): Promise<Found> {
    const setting = this.setting();
    if (setting !== "") return this.ofSetting(setting);
    const old: Program[] = [];
    for (const { path, isOwn } of await this.candidates()) {
      const version = await this.version(path);
      if (version === undefined) continue;
      if (isAtLeast(version, OLDEST)) return { path, version, isOwn };
      old.push({ path, version });
    }
    throw old[0] === undefined ? notFound() : tooOld(old[0]);
  }

  private async ofSetting(path: string): Promise<Found> {
    const version = await this.version(path);
    if (version !== undefined && isAtLeast(version, OLDEST)) return { path, version, isOwn: false };
    const wrong = version === undefined ? "which is not a program that runs" : `whose version is ${version}`;
    throw new MemoryError(
      "COMMAND_PATH_WRONG",
      `The setting cogneeMemory.commandPath names ${path}, ${wrong}.`,
      `Name cognee-memory ${OLDEST} or later there, or empty the setting.`,
    );
  }

  private async candidates(): Promise<{ readonly path: string; readonly isOwn: boolean }[]> {
    const own = await this.environments.current();
    return [
      ...programs(this.machine).map((path) => ({ path, isOwn: false })),
      ...(own === null ? [] : [{ path: programOf(this.environments.path(own), this.machine.platform), isOwn: true }]),
    ];
  }

  /** The version of the program at a path; undefined if there is none, or it does not run. */
  private async version(path: string): Promise<string | undefined> {
    try {
      await access(path, constants.X_OK);
      const { mtimeMs: changed, size } = await stat(path);
      const known = this.versions.get(path);
      if (known?.changed === changed && known.size === size) return known.version;
      const output = await run(path, ["--version"], AbortSignal.timeout(VERSION_MS), { cwd: this.machine.home });
      const version = output.code === 0 ? versionIn(output.stdout) : undefined;
      if (version !== undefined) this.versions.set(path, { changed, size, version });
      return version;
    } catch {
      return undefined;
    }
  }
}

function notFound(): MemoryError {
  return new MemoryError(
    "PROGRAM_NOT_FOUND",
    "The memory is not set up on this machine.",
    "Run “Cognee Memory: Set Up”.",
  );
}

function tooOld({ path, version }: Program): MemoryError {
  return new MemoryError(
    "PROGRAM_TOO_OLD",
    `${path} has version ${version}, and this extension needs ${OLDEST} or later.`,
    "Run “Cognee Memory: Set Up”, or update the program.",
  );
}
