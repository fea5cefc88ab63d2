import { listFiles, PackageManager } from "@vscode/vsce";
import { describe, expect, it } from "vitest";

const folder = new URL("..", import.meta.url).pathname;
/** What the package has besides what a build makes. */
const ALWAYS = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md", // in its place, the package has the one that readme.mjs writes
  "media/icon.png",
  "media/memory.svg",
  "media/walkthrough/chat.md",
  "media/walkthrough/chat.png",
  "media/walkthrough/compact.png",
  "media/walkthrough/install.md",
  "media/walkthrough/recall.md",
  "media/walkthrough/recall.png",
  "media/walkthrough/remember.md",
  "package.json",
  "package.nls.json",
];
const BUILT =
  /^dist\/((extension|uninstall)\.cjs|python\/(bundle\.json|requirements-core\.lock|cognee_memory-[\d.]+-py3-none-any\.whl))$/;

describe("the package", () => {
  it("contains what it needs and nothing else", { timeout: 60_000 }, async () => {
    const files = await listFiles({ cwd: folder, packageManager: PackageManager.None });
    const listed = files.map((file) => file.replaceAll("\\", "/"));
    expect(listed.filter((file) => !BUILT.test(file)).sort()).toEqual(ALWAYS);
  });
});
