// Writes the README of the package. An editor shows only pictures from the web there: IMAGES_URL says where this folder
// is on the web. Without it the pictures are left out; the walkthrough has them, from the package itself.
import { readFileSync, writeFileSync } from "node:fs";

const base = process.env.IMAGES_URL?.replace(/\/*$/, "/");
const picture = (_, alt, path) => (base === undefined ? "" : `![${alt}](${base}${path})\n\n`);
const text = readFileSync("README.md", "utf8").replaceAll(/!\[([^\]]*)\]\(([^):]+\.png)\)\n\n/g, picture);
writeFileSync("dist/README.md", text);
