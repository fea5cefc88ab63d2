// Bundles the extension. `vscode` is the host's; everything else is in one file per entry, loaded when it is needed.
import { build } from "esbuild";

await build({
  entryPoints: { extension: "src/extension.ts", uninstall: "src/uninstall.ts" },
  outdir: "dist",
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  target: "node22",
  format: "cjs",
  external: ["vscode"],
  minify: true,
  legalComments: "none",
  logLevel: "info",
});
