/** The parts of the extension: folders import each other in one direction, and one module makes the parts. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { describe, expect, it } from "vitest";

const SOURCE = join(import.meta.dirname, "..", "src");
const modules = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

/** The modules that a module imports, whether types, values, or when it is first used. */
function importsOf(module: string): string[] {
  const text = readFileSync(join(SOURCE, module), "utf8");
  return [...text.matchAll(/(?:from |import\()"(\.[^"]+)"/gu)].map(
    ([, path = ""]) => `${normalize(join(dirname(module), path))}.ts`,
  );
}

/** A chain of names that comes back to its first; undefined if there is none. */
function circleOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const next of graph.get(name) ?? []) {
      const found = visit(next, [...path, name]);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of graph.keys()) {
    const found = visit(name, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe("the modules of the extension", () => {
  const edges = modules.flatMap((module) => importsOf(module).map((imported) => [module, imported] as const));

  it.each(["module", "folder"])("import no %s in a circle", (what) => {
    const nameOf = (module: string): string => (what === "module" ? module : (module.split(sep)[0] ?? module));
    const graph = new Map<string, Set<string>>();
    for (const [from, to] of edges) {
      if (nameOf(from) === nameOf(to)) continue;
      graph.set(nameOf(from), (graph.get(nameOf(from)) ?? new Set()).add(nameOf(to)));
    }
    expect(graph.size).toBeGreaterThan(5);
    expect(circleOf(graph)).toBeUndefined();
  });

  it("are imported only as modules that are there", () => {
    expect(edges.filter(([, imported]) => !modules.includes(imported))).toEqual([]);
  });

  it("keep no part of the window in a map of their own: the composition root makes each once", () => {
    const texts = modules.map((module) => [module, readFileSync(join(SOURCE, module), "utf8")] as const);
    expect(texts.filter(([, text]) => text.includes("new WeakMap")).map(([module]) => module)).toEqual([]);
  });
});
