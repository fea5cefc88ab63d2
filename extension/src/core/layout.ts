/** Where the job protocol's files are in a workspace. */

import { join } from "node:path";

export const JOBS = ".cognee_jobs";

export const inbox = (workspace: string): string => join(workspace, JOBS);
export const results = (workspace: string): string => join(workspace, JOBS, "results");
export const rejected = (workspace: string): string => join(workspace, JOBS, "rejected");
export const heartbeatFile = (workspace: string): string => join(workspace, JOBS, "worker", "heartbeat.json");
/** Holds what HTTP clients send; it changes at each start of the worker. */
export const tokenFile = (workspace: string): string => join(workspace, JOBS, "worker", "token");
export const recordFile = (workspace: string, jobId: string): string => join(results(workspace), `${jobId}.json`);
/** There if the memory is a copy of a team's, which a worker makes follow. */
export const teamCopy = (workspace: string): string => join(workspace, ".cognee_memory", "team-copy.json");
/** Made by the program when the folder becomes this user's; a file that waited before is not run unasked. */
export const ownerFile = (workspace: string): string => join(workspace, JOBS, ".owner");
