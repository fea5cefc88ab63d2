/** The list behind the status bar: how the jobs of this window are doing, and what can be done now. */

import * as vscode from "vscode";
import { livingWorker } from "../core/heartbeat";
import { FAILED } from "../core/job-states";
import { plain } from "../core/text";
import { SECTION, type Services } from "../core/services";
import type { StatusBar } from "./bar";
import type { Follow } from "./tally";

interface Action extends vscode.QuickPickItem {
  readonly act?: () => unknown;
}

export async function showStatus(services: Services, bar: StatusBar): Promise<void> {
  const run = (command: string, ...args: unknown[]) => vscode.commands.executeCommand(command, ...args);
  if (!vscode.workspace.isTrusted) {
    const manage = {
      label: "$(shield) Manage Workspace Trust",
      detail: "In Restricted Mode the memory is neither read nor written, and no worker is started.",
    };
    const picked = await vscode.window.showQuickPick([manage], { title: "Memory: Restricted Mode" });
    if (picked !== undefined) await run("workbench.trust.manage");
    return;
  }
  for (const folder of services.folders()) bar.look(folder.uri.fsPath);
  const failed = bar.jobs.filter(({ outcome }) => FAILED.has(outcome.state));
  const { captured } = bar;
  const items: Action[] = [];
  if (failed.length > 0) {
    items.push(
      { label: `$(debug-rerun) Run again what failed (${failed.length})`, act: () => bar.runAgain(failed) },
      {
        label: "$(clear-all) Follow the failed ones no more",
        detail: "They stay in the view “Queue”.",
        act: () => bar.remove(failed.map(({ jobId }) => jobId)),
      },
    );
  }
  if (bar.keptCount > 0) {
    items.push({
      label: `$(warning) ${bar.keptCount} not stored yet: remember them again…`,
      act: () => run("cognee.dropKept"),
    });
  }
  if (captured !== null) {
    items.push({
      label: `$(discard) Undo: forget “${plain(captured.topic, 80)}”`,
      detail: "It was remembered by itself when the conversation ended.",
      act: () => run("cognee.undoCapture"),
    });
  }
  items.push(...bar.jobs.map((job) => jobItem(job)));
  items.push({ label: "Memory", kind: vscode.QuickPickItemKind.Separator });
  items.push(
    { label: "$(search) Recall…", act: () => run("cognee.recall") },
    { label: "$(law) Remember a Decision…", act: () => run("cognee.rememberDecision") },
    { label: "$(list-tree) Show the queue", act: () => run("cognee.queue.focus") },
  );
  const isOn = services.settings().captureEnabled;
  items.push({
    label: `$(gear) Conversations are remembered by themselves: ${isOn ? "on" : "off"}`,
    act: () => run("workbench.action.openSettings", `${SECTION}.capture`),
  });
  items.push(...services.folders().map((folder) => workerItem(folder, run)));
  const picked = await vscode.window.showQuickPick(items, { title: "Cognee Memory", matchOnDescription: true });
  await picked?.act?.();
}

function jobItem(job: Follow): Action {
  const { state, error } = job.outcome;
  const states: Readonly<Record<typeof state, string>> = {
    waiting: "waits for a worker",
    queued: "queued",
    running: "is being stored",
    retrying: "is tried again",
    succeeded: "remembered",
    failed: "failed",
    expired: "expired",
    rejected: "rejected",
    cancelled: "cancelled",
    gone: "gone",
  };
  return {
    label: `$(note) ${plain(job.topic, 80)}`,
    description: states[state],
    ...(error === null ? {} : { detail: plain(`${error.message} ${error.remediation}`, 300) }),
    act: () => vscode.commands.executeCommand("cognee.queue.focus"),
  };
}

function workerItem(folder: vscode.WorkspaceFolder, run: (command: string) => Thenable<unknown>): Action {
  const beat = livingWorker(folder.uri.fsPath);
  if (beat === null) {
    return {
      label: `$(circle-outline) ${plain(folder.name)}: no worker runs`,
      description: "The next drop or question starts one",
      act: () => run("cognee.startWorker"),
    };
  }
  const { queued, running, retrying } = beat.counts;
  return {
    label: `$(pass) ${plain(folder.name)}: a worker runs`,
    description: `${queued} queued, ${running} running, ${retrying} to be tried again`,
    act: () => run("cognee.queue.focus"),
  };
}
