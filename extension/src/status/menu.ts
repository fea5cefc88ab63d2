/** The list behind the status bar: how the jobs of this window are doing, and what can be done now. */

import * as vscode from "vscode";
import { livingWorker } from "../core/heartbeat";
import { FAILED } from "../core/job-states";
import { plain } from "../core/text";
import { SECTION, type Services } from "../services";
import { runAgain, StatusBar } from "./bar";
import type { Follow } from "./tally";

interface Action extends vscode.QuickPickItem {
  readonly act?: () => unknown;
}

export async function showStatus(services: Services): Promise<void> {
  const t = vscode.l10n.t;
  const run = (command: string, ...args: unknown[]) => vscode.commands.executeCommand(command, ...args);
  if (!vscode.workspace.isTrusted) {
    const manage = {
      label: `$(shield) ${t("Manage Workspace Trust")}`,
      detail: t("In Restricted Mode the memory is neither read nor written, and no worker is started."),
    };
    const picked = await vscode.window.showQuickPick([manage], { title: t("Memory: Restricted Mode") });
    if (picked !== undefined) await run("workbench.trust.manage");
    return;
  }
  const bar = StatusBar.of(services);
  for (const folder of services.folders()) bar.look(folder.uri.fsPath);
  const failed = bar.jobs.filter(({ outcome }) => FAILED.has(outcome.state));
  const { captured } = bar;
  const items: Action[] = [];
  if (failed.length > 0) {
    items.push({
      label: `$(debug-rerun) ${t("Run again what failed ({0})", failed.length)}`,
      act: () => runAgain(services, failed),
    });
    items.push({
      label: `$(clear-all) ${t("Follow the failed ones no more")}`,
      detail: t("They stay in the view “Queue”."),
      act: () => bar.remove(failed.map(({ jobId }) => jobId)),
    });
  }
  if (bar.keptCount > 0) {
    items.push({
      label: `$(warning) ${t("{0} not stored yet: remember them again…", bar.keptCount)}`,
      act: () => run("cognee.dropKept"),
    });
  }
  if (captured !== null) {
    items.push({
      label: `$(discard) ${t("Undo: forget “{0}”", plain(captured.topic, 80))}`,
      detail: t("It was remembered by itself when the conversation ended."),
      act: () => run("cognee.undoCapture"),
    });
  }
  items.push(...bar.jobs.map((job) => jobItem(job, t)));
  items.push({ label: t("Memory"), kind: vscode.QuickPickItemKind.Separator });
  items.push(
    { label: `$(search) ${t("Recall…")}`, act: () => run("cognee.recall") },
    { label: `$(law) ${t("Remember a Decision…")}`, act: () => run("cognee.rememberDecision") },
    { label: `$(list-tree) ${t("Show the queue")}`, act: () => run("cognee.queue.focus") },
  );
  const isOn = services.settings().captureEnabled;
  items.push({
    label: `$(gear) ${isOn ? t("Conversations are remembered by themselves: on") : t("Conversations are remembered by themselves: off")}`,
    act: () => run("workbench.action.openSettings", `${SECTION}.capture`),
  });
  items.push(...services.folders().map((folder) => workerItem(folder, run)));
  const picked = await vscode.window.showQuickPick(items, { title: t("Cognee Memory"), matchOnDescription: true });
  await picked?.act?.();
}

function jobItem(job: Follow, t: typeof vscode.l10n.t): Action {
  const { state, error } = job.outcome;
  const states: Readonly<Record<typeof state, string>> = {
    waiting: t("waits for a worker"),
    queued: t("queued"),
    running: t("is being stored"),
    retrying: t("is tried again"),
    succeeded: t("remembered"),
    failed: t("failed"),
    expired: t("expired"),
    rejected: t("rejected"),
    cancelled: t("cancelled"),
    gone: t("gone"),
  };
  return {
    label: `$(note) ${plain(job.topic, 80)}`,
    description: states[state],
    ...(error === null ? {} : { detail: plain(`${error.message} ${error.remediation}`, 300) }),
    act: () => vscode.commands.executeCommand("cognee.queue.focus"),
  };
}

function workerItem(folder: vscode.WorkspaceFolder, run: (command: string) => Thenable<unknown>): Action {
  const t = vscode.l10n.t;
  const beat = livingWorker(folder.uri.fsPath, Date.now());
  if (beat === null) {
    return {
      label: `$(circle-outline) ${t("{0}: no worker runs", plain(folder.name))}`,
      description: t("The next drop or question starts one"),
      act: () => run("cognee.startWorker"),
    };
  }
  const { queued, running, retrying } = beat.counts;
  return {
    label: `$(pass) ${t("{0}: a worker runs", plain(folder.name))}`,
    description: t("{0} queued, {1} running, {2} to be tried again", queued, running, retrying),
    act: () => run("cognee.queue.focus"),
  };
}
