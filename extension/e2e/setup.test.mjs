// The set-up from the package alone, in a real workbench, on a machine with Python and nothing else of ours: an empty
// home, and no program on PATH. `npm run e2e` runs what fails by design; `npm run e2e:setup` also runs a set-up whole,
// which downloads 62 MB.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startHost } from "./host.mjs";
import { until, workbench } from "./workbench.mjs";

const ROOT = join(import.meta.dirname, "..");
const [VSIX] = readdirSync(join(ROOT, "dist")).filter((name) => name.endsWith(".vsix"));
assert(VSIX, "no VSIX in dist/: run `make extension` first");
const MINUTE = 60_000;
const LONGEST_SETUP = 30 * MINUTE;

/** Starts a workbench on a machine without the program; a failed test leaves a picture. */
function bare({ env = {}, under = [] } = {}) {
  const my = {};
  before(async () => {
    my.root = realpathSync(mkdtempSync(join(tmpdir(), "bare-")));
    my.home = join(my.root, "home");
    const workspace = join(my.root, "library");
    mkdirSync(my.home);
    mkdirSync(workspace);
    const elsewhere = Object.keys(process.env).filter((name) =>
      /^(COGNEE_|XDG_|VIRTUAL_|PYTHON|PYENV|CONDA)/.test(name),
    );
    my.host = await startHost({
      workspace,
      vsix: [join(ROOT, "dist", VSIX)],
      env: {
        ...Object.fromEntries(elsewhere.map((name) => [name, undefined])),
        HOME: my.home,
        PATH: "/usr/bin:/bin",
        ...env,
      },
      under,
    });
    Object.assign(my, workbench(my.host));
    await my.page.addInitScript(() => {
      window.clicks = 0;
      window.addEventListener("mousedown", () => window.clicks++, true);
    });
    await my.host.open();
  });
  after(async () => {
    await my.stopWorker?.();
    await my.host?.stop();
    if (my.root) rmSync(my.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  my.log = () => my.host.output("Cognee Memory");
  my.clicks = () => my.page.evaluate(() => window.clicks);
  my.environments = () => join(my.host.home, "data/User/globalStorage/cognee-memory.cognee-chat-memory/env");
  my.pressSetUp = async () => {
    await my.openViews();
    await my.pane("Memories").getByRole("button", { name: "Set Up" }).click();
  };
  my.it = (name, test, options = {}) =>
    it(name, options, async (context) => {
      try {
        await test(context);
      } catch (error) {
        await my.shot(`failed ${name.slice(0, 60)}`);
        throw error;
      }
    });
  return my;
}

describe("set-up without a network", () => {
  const my = bare({
    env: {
      PIP_CONFIG_FILE: "/dev/null",
      PIP_INDEX_URL: "http://127.0.0.1:1/simple",
      PIP_EXTRA_INDEX_URL: "",
      PIP_FIND_LINKS: "",
      PIP_RETRIES: "1",
    },
  });

  my.it("says so, what is kept, and what to do, with a button for it", async () => {
    await my.pressSetUp();
    const message = my.toast("could not be downloaded");
    await message.waitFor({ timeout: 3 * MINUTE });
    await my.shot("setup-no-network");
    assert.match(await message.innerText(), /Check the network, and a proxy or a mirror/);
    await message.getByRole("button", { name: "Set Up Again", exact: true }).click();
    await my.toast("could not be downloaded").waitFor({ state: "detached" });
    await my.toast("could not be downloaded").waitFor({ timeout: 3 * MINUTE });
    assert.match(my.log(), /— clear/, "what the first attempt left is removed");
    const left = readdirSync(my.environments(), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    assert(left.length <= 1, "only the last attempt is there");
  });
});

/** Every Python of the system is replaced, for this server only, by one that says that it is 3.9. */
const MOUNTING = `
for python in /usr/bin/python3* /usr/local/bin/python3*; do
  if [ -x "$python" ]; then mount --bind "$0" "$python"; fi
done
exec "$@"`;
const NAMESPACE = ["--user", "--map-root-user", "--mount"];
const canMount = spawnSync("unshare", [...NAMESPACE, "true"]).status === 0;

describe("set-up with a Python that is too old", { skip: !canMount && "needs unshare --user --mount" }, () => {
  const folder = mkdtempSync(join(tmpdir(), "python-"));
  const old = join(folder, "python3");
  const answer = { version: "3.9.18", path: "/usr/bin/python3", bits: 64, isFreeThreaded: false, hasVenv: true };
  writeFileSync(old, `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`, { mode: 0o755 });
  after(() => rmSync(folder, { recursive: true }));
  const my = bare({ under: ["unshare", ...NAMESPACE, "sh", "-c", MOUNTING, old] });

  my.it("says which version was found, and which is needed", async () => {
    await my.pressSetUp();
    const message = my.toast("found only 3.9.18");
    await message.waitFor();
    await my.shot("setup-python-too-old");
    assert.match(await message.innerText(), /3\.11, 3\.12 or 3\.13.*[Ii]nstall/s);
    await message.getByRole("button", { name: "Set Up Again", exact: true }).waitFor();
  });
});

const isWhole = process.env.COGNEE_MEMORY_REAL_SETUP === "1";
describe("set-up from the package alone", { skip: !isWhole && "COGNEE_MEMORY_REAL_SETUP=1 runs it" }, () => {
  const my = bare();
  const decision = "Readers may keep a book for four weeks";

  my.it("begins after two clicks, and shows how far it is", async () => {
    await my.pressSetUp();
    const progress = my.toast("Setting up the memory");
    await progress.waitFor();
    assert.equal(await my.clicks(), 2);
    await progress.filter({ hasText: /MB\)|\d+ \/ \d+/ }).waitFor({ timeout: 5 * MINUTE });
    await my.shot("setup-progress");
  });

  my.it("is cancelled in the middle, and says what is kept", async () => {
    await until(() => /Downloading .* MB/.test(my.log()), "a package that is downloaded", { ms: 5 * MINUTE });
    await my.press("Setting up the memory", "Cancel");
    await my.toast("Set-up was cancelled. What was downloaded is kept").waitFor();
    await my.shot("setup-cancelled");
    await my.page.getByRole("button", { name: "Set Up", exact: true }).first().waitFor();
  });

  my.it(
    "is begun again by the button, and ends",
    async (test) => {
      const began = Date.now();
      await my.press("Set-up was cancelled", "Set Up Again");
      await my.toast("Setting up the memory").waitFor();
      const done = my.toast("The memory is set up.");
      await done.waitFor({ timeout: LONGEST_SETUP });
      assert.match(await done.innerText(), /knowledge graph.*360 MB/s);
      await done.getByRole("button", { name: "Not Now", exact: true }).click();
      test.diagnostic(`${Math.round((Date.now() - began) / 1000)} s`);
      assert.match(my.log(), /— clear/, "what was cancelled is removed");
      assert.match(my.log(), /— switch/);
      await my.row("Health", "language model").waitFor(); // the checks run by themselves
      await my.shot("setup-done");
      const [name, ...others] = readdirSync(my.environments(), { withFileTypes: true }).filter((each) =>
        each.isDirectory(),
      );
      assert.deepEqual(others, []);
      const program = join(my.environments(), name.name, "bin", "cognee-memory");
      assert(existsSync(program));
      const env = { ...process.env, HOME: my.home };
      my.stopWorker = () => {
        spawnSync(program, ["worker", "stop", "--workspace", join(my.root, "library")], { env });
      };
    },
    { timeout: LONGEST_SETUP + MINUTE },
  );

  my.it("a decision is remembered by the form, and recalled", async () => {
    const { keyboard } = my.page;
    await my.pane("Memories").getByRole("button", { name: "Remember a Decision" }).click();
    await my.type("Loan periods");
    await my.choice("New topic").waitFor();
    await keyboard.press("Enter");
    for (const text of [decision, "", "Families asked for it"]) {
      await until(async () => (await my.list.locator("input.input").inputValue()) === "", "an empty field");
      await my.type(text);
      await keyboard.press("Enter");
    }
    await my.page.locator(".statusbar-item").filter({ hasText: "Remembered: Loan periods" }).first().waitFor();
    await my.row("Memories", "Loan periods").waitFor();
    await recall();
    await my.shot("setup-recalled");
  });

  my.it("and is found again when the window is opened the next time", async () => {
    await my.page.reload();
    await my.row("Memories", "Loan periods").waitFor();
    await recall();
    await my.page.keyboard.press("Escape");
  });

  my.it("and the program is removed with what it took, the memory not", async () => {
    await my.command("Cognee Memory: Remove the Program…");
    await my.dialog.filter({ hasText: /gives back \d+ MB.*memories stay/s }).waitFor();
    await my.shot("remove-program");
    await my.answer("Remove the program that Set Up installed?", "Remove");
    await my.toast("The program was removed").waitFor();
    await my.pane("Memories").getByRole("button", { name: "Set Up" }).waitFor();
    await my.shot("program-removed");
    assert.deepEqual(readdirSync(my.environments()), []);
    const { state } = JSON.parse(readFileSync(join(my.root, "library/.cognee_jobs/worker/heartbeat.json"), "utf8"));
    assert.equal(state, "stopped");
    assert(existsSync(join(my.root, "library/.cognee_memory/memory.db")));
  });

  async function recall() {
    await my.page.keyboard.press("Control+Alt+M");
    await my.type("how long can somebody borrow a novel?");
    await my.choice("Loan periods").filter({ hasText: decision }).waitFor();
  }
});
