/** What a set-up has to do, decided from what is there. */

/** What the extension carries: the program's wheel and the lock of the core's dependencies. `build` names their content. */
export interface Bundle {
  readonly build: string;
  readonly version: string;
  readonly wheel: string;
  readonly lock: string;
  /** How many packages the lock names, for the progress. */
  readonly packages: number;
  /** Modules with native libraries, which must load on this machine. */
  readonly modules: readonly string[];
}

/** An environment in the extension's folder. Without `build` its set-up was interrupted. */
export interface Environment {
  readonly name: string;
  readonly build: string | null;
  /** Whether cognee's knowledge graph was added to it. */
  readonly hasGraph: boolean;
}

/** What is in the extension's folder. `current` is the environment in use. */
export interface Stock {
  readonly environments: readonly Environment[];
  readonly current: string | null;
}

export type Step =
  /** Removes an environment that was interrupted. */
  | { readonly kind: "clear"; readonly name: string }
  /** Makes an empty environment. */
  | { readonly kind: "create" }
  /** Installs the dependencies: each with the hash that the lock names. */
  | { readonly kind: "dependencies" }
  | { readonly kind: "program" }
  /** Starts the program and loads its native libraries. */
  | { readonly kind: "check" }
  /** Adds cognee, where the environment in use until now has it. */
  | { readonly kind: "graph" }
  /** From now on this environment is the one in use. */
  | { readonly kind: "switch" };

export interface Plan {
  /** The environment that will be in use. */
  readonly name: string;
  readonly steps: readonly Step[];
}

/**
 * The steps that lead from what is there to the bundle's program, with the graph if there is one now. The environment in
 * use stays as it is until the last step, so that a failure leaves it in use. `name` is that of a new environment, if one
 * is needed.
 */
export function plan(bundle: Bundle, stock: Stock, name: string): Plan {
  const hasGraph = stock.environments.some((each) => each.name === stock.current && each.hasGraph);
  const graph = (there: boolean): readonly Step[] => (hasGraph && !there ? [{ kind: "graph" }] : []);
  const half = stock.environments.filter((each) => each.build === null && each.name !== stock.current);
  const clear = half.map((each): Step => ({ kind: "clear", name: each.name }));
  const ready = stock.environments.find((each) => each.build === bundle.build);
  if (ready !== undefined) {
    const isCurrent = ready.name === stock.current;
    const change: readonly Step[] = isCurrent ? [] : [...graph(ready.hasGraph), { kind: "switch" }];
    return { name: ready.name, steps: [...clear, { kind: "check" }, ...change] };
  }
  const kinds = ["create", "dependencies", "program", "check"] as const;
  const made = kinds.map((kind): Step => ({ kind }));
  return { name, steps: [...clear, ...made, ...graph(false), { kind: "switch" }] };
}

/** Another window may still run workers from a former environment, so it is kept for this long. */
const KEPT_MS = 24 * 3600 * 1000;

/** The environments that can be removed. `switched` is when the current one came into use; both in milliseconds. */
export function outdated(stock: Stock, switched: number, now: number): readonly string[] {
  if (now - switched < KEPT_MS) return [];
  return stock.environments.filter((each) => each.name !== stock.current).map((each) => each.name);
}

/** Whether the extension carries another build than the environment in use. */
export function isOutdated(bundle: Bundle, stock: Stock): boolean {
  const current = stock.environments.find((each) => each.name === stock.current);
  return current !== undefined && current.build !== bundle.build;
}
