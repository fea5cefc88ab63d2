/** Files and folders of this user. A shared or cloned folder may hold those of others, and links, in place of ours. */

import { lstatSync, type Stats } from "node:fs";

export const isOwnFile = (path: string): boolean => isOwn(path, (status) => status.isFile());
export const isOwnFolder = (path: string): boolean => isOwn(path, (status) => status.isDirectory());

/** False for a link, and if nothing is there. On Windows, files have no owner that Node knows. */
function isOwn(path: string, isKind: (status: Stats) => boolean): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status !== undefined && isKind(status) && (process.getuid === undefined || status.uid === process.getuid());
}
