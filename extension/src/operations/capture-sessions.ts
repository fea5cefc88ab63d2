/** “Capture Sessions of Other Tools” and what belongs to it: consent by an explicit choice, and an undo. */

import * as vscode from "vscode";
import type { Captured, CapturePayload, UndoneCapture } from "#types";
import type { Documents } from "../recall/documents";
import { answered, offer } from "../core/ask";
import { Ended } from "../core/error";
import type { Services } from "../core/services";
import { READ_FIRST } from "./choices";
import { type Previewed, runJob } from "./job";

const COMMAND_MS = 30_000;

type Tool = NonNullable<CapturePayload["tools"]>[number];

interface ToolState {
  readonly tool: Tool;
  readonly enabled: boolean;
}

/** Shows what would be kept, asks from which tools, and captures. A tool that is not chosen is disabled. */
export async function captureSessions(services: Services, documents: Documents): Promise<void> {
  const folder = answered(await services.folder());
  const memory = services.memoryOf(folder);
  const { tools } = await memory.command<{ tools: ToolState[] }>(["capture", "status"], [], soon());
  const all = tools.map(({ tool }) => tool);
  const dryRun = (await runJob(
    services,
    folder,
    { kind: "capture", payload: { dry_run: true, tools: all } },
    "Looking at the sessions of other tools…",
  )) as Previewed<Captured>;
  if (dryRun.sessions === 0)
    throw new Ended("Neither this editor’s chat nor another tool has kept a session of this folder.");
  const close = await documents.report("Capture: what would be kept", dryRun.document);
  const enabled = new Set(tools.filter((each) => each.enabled).map(({ tool }) => tool));
  const found = new Set(dryRun.items.flatMap(({ tool, outcome }) => (outcome === "captured" ? [tool] : [])));
  const offered = all.filter((tool) => found.has(tool) || enabled.has(tool));
  const chosen = await vscode.window.showQuickPick(
    offered.map((tool) => ({
      label: tool,
      description: tool === "vscode" ? "the chat of this editor" : "",
      picked: enabled.has(tool),
    })),
    {
      canPickMany: true,
      ignoreFocusOut: true,
      title: "From which tools may this folder's sessions be captured?",
      placeHolder: READ_FIRST,
    },
  );
  close();
  const wanted = new Set<Tool>(answered(chosen).map(({ label }) => label));
  for (const tool of offered)
    if (wanted.has(tool) !== enabled.has(tool))
      await memory.command(["capture", wanted.has(tool) ? "enable" : "disable"], [tool], soon());
  if (wanted.size === 0) throw new Ended("Nothing is captured in this folder. What was captured stays.");
  await capture(services, folder, [...wanted].sort());
}

async function capture(services: Services, folder: vscode.WorkspaceFolder, tools: Tool[]): Promise<void> {
  const job = { kind: "capture", payload: { tools } } as const;
  const { memories, receipt } = (await runJob(services, folder, job, "Capturing…")) as Captured;
  services.log.info(`[Capture] ${memories} memories from ${tools.join(", ")}. Receipt: ${receipt ?? "none"}`);
  const message = memories === 1 ? "Captured 1 memory." : `Captured ${memories} memories.`;
  const undo = memories > 0 && receipt !== null ? { Undo: () => undoCapture(services, folder, receipt) } : {};
  offer(services, message, undo);
}

async function undoCapture(services: Services, folder: vscode.WorkspaceFolder, receipt: string): Promise<void> {
  const job = { kind: "capture", payload: { undo: receipt } } as const;
  const { undone } = (await runJob(services, folder, job, "Undoing the capture…")) as UndoneCapture;
  const removed = undone === 1 ? "Removed 1 captured memory." : `Removed ${undone} captured memories.`;
  void vscode.window.showInformationMessage(removed);
}

function soon(): AbortSignal {
  return AbortSignal.timeout(COMMAND_MS);
}
