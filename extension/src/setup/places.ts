/** Where the program, Python and uv are on a machine. An editor that the desktop starts often has a short PATH. */

import { posix, win32 } from "node:path";

/** What the search needs to know of a machine. `home` is the user's folder. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The Python versions that the program runs on, the preferred one first. */
export const PYTHONS = ["3.13", "3.12", "3.11"] as const;

/** Paths of the program: on PATH, where README installs it, and where pipx and uv do. */
export function programs(machine: Machine): string[] {
  const { join, name, home, scripts } = tools(machine);
  return [
    ...onPath(machine, "cognee-memory"),
    join(home, ".cognee-env", scripts, name("cognee-memory")),
    join(home, ".cognee-memory", scripts, name("cognee-memory")), // where the README of 0.4.0 did
    join(home, ".local", "bin", name("cognee-memory")), // links of pipx and of `uv tool install`
    join(home, ".local", "share", "pipx", "venvs", "cognee-memory", scripts, name("cognee-memory")),
    join(home, ".local", "share", "uv", "tools", "cognee-memory", scripts, name("cognee-memory")),
  ];
}

/** The program in an environment that the extension made, or another script of it, such as its Python. */
export function programOf(environment: string, platform: NodeJS.Platform, script = "cognee-memory"): string {
  const { join, name, scripts } = tools({ platform, home: "", environment: {} });
  return join(environment, scripts, name(script));
}

/** A command of Python to try: the program, and the arguments before any other. */
export interface Candidate {
  readonly path: string;
  readonly args: readonly string[];
}

/** Interpreters that may be there, the preferred ones first. Some do not exist, or are of another version. */
export function interpreters(machine: Machine): Candidate[] {
  const { join, name, home, isWindows } = tools(machine);
  const { environment } = machine;
  const plain = (path: string): Candidate => ({ path, args: [] });
  const named = [...PYTHONS.map((version) => `python${version}`), "python3", "python"];
  const found = named.flatMap((each) => onPath(machine, each).map(plain));
  const conda = ["miniconda3", "anaconda3", "miniforge3"].map((folder) => join(home, folder));
  if (environment["CONDA_PREFIX"]) conda.unshift(environment["CONDA_PREFIX"]);
  if (isWindows) {
    const launchers = [...onPath(machine, "py"), join(environment["SystemRoot"] ?? "C:\\Windows", "py.exe")];
    const local = environment["LOCALAPPDATA"] ?? join(home, "AppData", "Local");
    return [
      ...launchers.flatMap((path) => PYTHONS.map((version) => ({ path, args: [`-${version}`] }))),
      ...found,
      ...PYTHONS.map((version) =>
        plain(join(local, "Programs", "Python", `Python${version.replace(".", "")}`, "python.exe")),
      ),
      ...conda.map((folder) => plain(join(folder, "python.exe"))),
    ];
  }
  const folders = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", join(home, ".local", "bin")];
  return [
    ...found,
    ...folders.flatMap((folder) => named.slice(0, -1).map((each) => plain(join(folder, name(each))))),
    ...PYTHONS.map((version) =>
      plain(`/Library/Frameworks/Python.framework/Versions/${version}/bin/python${version}`),
    ).filter(() => machine.platform === "darwin"),
    ...conda.map((folder) => plain(join(folder, "bin", "python3"))),
  ];
}

/** The folder in which pyenv keeps its versions. Its commands on PATH fail for versions that are not selected. */
export function pyenvVersions(machine: Machine): string {
  const { join, home } = tools(machine);
  return join(machine.environment["PYENV_ROOT"] ?? join(home, ".pyenv"), "versions");
}

/** Paths where uv may be. */
export function uvs(machine: Machine): string[] {
  const { join, name, home } = tools(machine);
  return [
    ...onPath(machine, "uv"),
    join(home, ".local", "bin", name("uv")),
    join(home, ".cargo", "bin", name("uv")),
    ...(machine.platform === "darwin" ? ["/opt/homebrew/bin/uv", "/usr/local/bin/uv"] : []),
  ];
}

/** The paths of a program on PATH. Relative entries are left out: they would name a file of the open folder. */
function onPath(machine: Machine, program: string): string[] {
  const { join, name, isAbsolute, separator } = tools(machine);
  const path = machine.environment["PATH"] ?? machine.environment["Path"] ?? "";
  return path
    .split(separator)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name(program)));
}

function tools(machine: Machine) {
  const isWindows = machine.platform === "win32";
  const path = isWindows ? win32 : posix;
  return {
    isWindows,
    join: (...parts: string[]) => path.join(...parts),
    isAbsolute: (folder: string) => path.isAbsolute(folder),
    home: machine.home,
    separator: path.delimiter,
    scripts: isWindows ? "Scripts" : "bin",
    name: (program: string) => (isWindows ? `${program}.exe` : program),
  };
}
