import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Unit tests run without an editor: `vscode` is the small stand-in of test/vscode.ts.
export default defineConfig({
  resolve: { alias: { vscode: fileURLToPath(new URL("./test/vscode.ts", import.meta.url)) } },
  test: { include: ["test/**/*.test.ts"] },
});
