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

/** What a set-up does, in this order. The environment in use stays as it is until the last step, so that a failure leaves it in use. */
export interface Plan {
  /** Environments that were interrupted: they are removed. */
  readonly clear: readonly string[];
  /** The environment that will be in use. */
  readonly name: string;
  /** Whether it is made, and filled with the dependencies and the program. It is checked in any case. */
  readonly isNew: boolean;
  /** Whether cognee is added, since the environment in use until now has it. */
  readonly addsGraph: boolean;
  /** Whether another one is in use until now. */
  readonly isSwitched: boolean;
}

/** What leads from what is there to the bundle's program. `name` is that of a new environment, if one is needed. */
export function plan(bundle: Bundle, stock: Stock, name: string): Plan {
  const { environments, current } = stock;
  const hasGraph = environments.some((each) => each.name === current && each.hasGraph);
  const half = environments.filter((each) => each.build === null && each.name !== current);
  const ready = environments.find((each) => each.build === bundle.build);
  const isSwitched = ready === undefined || ready.name !== current;
  return {
    clear: half.map((each) => each.name),
    name: ready?.name ?? name,
    isNew: ready === undefined,
    addsGraph: isSwitched && hasGraph && ready?.hasGraph !== true,
    isSwitched,
  };
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
