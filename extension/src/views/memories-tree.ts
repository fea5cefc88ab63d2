/** The view “Memories”: topics and their memories, in pages. Read when it is visible and something has changed. */

import * as vscode from "vscode";
import type { MemoriesPage, MemoryLine, Topic } from "#types";
import { describe, MemoryError, NOT_SET_UP } from "../core/error";
import type { Memory } from "../core/memory";
import { memoriesOf, statusOf, topicsOf } from "../recall/reads";
import { type MemorySubject, subjectOfMemory, subjectOfTopic, type TopicSubject } from "../recall/subject";
import { plain } from "../core/text";
import type { Services } from "../core/services";
import { rowOfMemory, rowOfTopic } from "./memories";
import { Pause } from "../core/pause";
import { itemOf, type Row, rowOfFolder } from "./row";

/** An item is also the subject of the commands of its menu. */
type TopicItem = TopicSubject & { readonly row: Row };
type MemoryItem = MemorySubject & { readonly row: Row };
type OtherItem = {
  readonly kind: "folder" | "legacy" | "more" | "error";
  readonly folder: string;
  readonly row: Row;
};
export type Item = TopicItem | MemoryItem | OtherItem;

type Rows = Map<string, Promise<Item[]>>;

const MORE = "cognee.internal.moreMemories";
const SHOW_ERROR = "cognee.internal.showError";
const PAGE = 50;

export class MemoriesTree implements vscode.TreeDataProvider<Item> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  /** How many rows of an item are shown, where that is more than a page. */
  private readonly shown = new Map<string, number>();
  private isStale = false;
  private readonly pause = new Pause(() => void this.refreshIfVisible());
  private readonly view: vscode.TreeView<Item>;
  private reading = new AbortController();
  /** The rows at the top, by folder, that were read before the view asks for them. */
  private ready: Rows = new Map();
  /** What is being read for it. */
  private next: Rows = this.ready;

  constructor(private readonly services: Services) {
    this.view = vscode.window.createTreeView("cognee.memories", { treeDataProvider: this, showCollapseAll: true });
    services.owns(
      { dispose: () => this.reading.abort() },
      this.view,
      this.changed,
      this.pause,
      services.changes.onDidChange(({ what }) => what !== "heartbeat" && this.pause.begin()),
      this.view.onDidChangeVisibility(({ visible }) => visible && this.isStale && this.refresh()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.refresh()),
      services.programs.onDidChange(() => this.refresh()),
      services.command("cognee.refreshMemories", () => this.refresh()),
      services.command(MORE, (of: string, count: number) => {
        this.shown.set(of, count);
        this.changed.fire(undefined);
      }),
      services.command(SHOW_ERROR, (error: unknown) => services.show(error)),
    );
  }

  refresh(ready: Rows = new Map()): void {
    this.isStale = false;
    this.ready = ready;
    this.reading.abort(); // what is being read is of before the change
    this.reading = new AbortController();
    this.changed.fire(undefined);
  }

  /** Reads first: between the event and the new rows, an action of a row that is shown has no subject. */
  private async refreshIfVisible(): Promise<void> {
    this.isStale = true;
    if (!this.view.visible) return;
    const { signal } = this.reading;
    const paths = this.services.folders().map(({ uri }) => uri.fsPath);
    const next = new Map(paths.map((path) => [path, this.topics(path, signal)]));
    this.next = next;
    await Promise.allSettled(next.values());
    if (this.next === next && !signal.aborted) this.refresh(next);
  }

  getTreeItem({ row, ...subject }: Item): vscode.TreeItem {
    const open = { command: "cognee.openMemory", title: "Open Memory", arguments: [subject] };
    return itemOf(subject.kind === "memory" ? { ...row, command: open } : row);
  }

  async getChildren(item?: Item): Promise<Item[]> {
    if (!vscode.workspace.isTrusted) return [];
    const { signal } = this.reading;
    try {
      if (item === undefined) {
        const folders = this.services.folders();
        if (folders.length > 1) return folders.map((folder) => folderItem(folder));
        return folders[0] === undefined ? [] : await this.top(folders[0].uri.fsPath, signal);
      }
      if (item.kind === "folder") return await this.top(item.folder, signal);
      if (item.kind === "topic") return await this.memories(item.folder, item.row.id, item.topicId, signal);
      return item.kind === "legacy" ? await this.memories(item.folder, item.row.id, null, signal) : [];
    } catch (error) {
      // A change came while this was read. Without rows the list would fold up.
      if (signal.aborted && !this.reading.signal.aborted) return this.getChildren(item);
      if (signal.aborted || (error instanceof MemoryError && NOT_SET_UP.has(error.code))) return [];
      return [errorItem(item?.folder ?? "", error)];
    }
  }

  private top(folder: string, signal: AbortSignal): Promise<Item[]> {
    const rows = this.ready.get(folder) ?? this.topics(folder, signal);
    this.ready.delete(folder);
    return rows;
  }

  private async topics(folder: string, signal: AbortSignal): Promise<Item[]> {
    const memory = this.memoryIn(folder);
    if (memory === undefined) return [];
    const [topics, status] = await Promise.all([topicsOf(memory, signal), statusOf(memory, signal)]);
    const newestFirst = [...topics].sort((one, other) => (other.newest ?? "").localeCompare(one.newest ?? ""));
    const key = `topics:${folder}`;
    const count = this.shown.get(key) ?? PAGE;
    const items: Item[] = newestFirst.slice(0, count).map((topic) => this.topicItem(folder, topic));
    if (topics.length > count) items.push(moreItem(folder, key, count + PAGE, topics.length - count));
    const legacy = status.memory?.legacy ?? 0;
    return legacy === 0 ? items : [...items, legacyItem(folder, legacy)];
  }

  /** The memories of a topic; without a topic, those of earlier versions. */
  private async memories(folder: string, key: string, topicId: string | null, signal: AbortSignal): Promise<Item[]> {
    const memory = this.memoryIn(folder);
    if (memory === undefined) return [];
    const id = `${key}:${folder}`;
    const count = this.shown.get(id) ?? PAGE;
    const lines: MemoryLine[] = [];
    let after: string | null = null;
    let total: number;
    do {
      const limit = topicId === null ? 500 : Math.min(500, count - lines.length);
      const page: MemoriesPage = await memoriesOf(memory, { topic_id: topicId, limit, after }, signal);
      lines.push(...page.memories.filter(({ memory_type }) => topicId !== null || memory_type === "legacy"));
      after = page.next;
      total = page.total;
    } while (after !== null && lines.length < count);
    const items: Item[] = lines.slice(0, count).map((line) => this.memoryItem(folder, line));
    const hasMore = after !== null || lines.length > count;
    return hasMore ? [...items, moreItem(folder, id, count + PAGE, topicId === null ? null : total - count)] : items;
  }

  private topicItem(folder: string, topic: Topic): TopicItem {
    const row = rowOfTopic(topic);
    return { ...subjectOfTopic(folder, topic), row: { ...row, id: `${row.id}:${folder}` } };
  }

  private memoryItem(folder: string, line: MemoryLine): MemoryItem {
    const row = rowOfMemory(line);
    return { ...subjectOfMemory(folder, line), row: { ...row, id: `${row.id}:${folder}` } };
  }

  private memoryIn(path: string): Memory | undefined {
    const folder = this.services.folders().find(({ uri }) => uri.fsPath === path);
    return folder && this.services.memoryOf(folder);
  }
}

function folderItem(folder: vscode.WorkspaceFolder): Item {
  const path = folder.uri.fsPath;
  return { kind: "folder", folder: path, row: { ...rowOfFolder(folder), tooltip: path } };
}

function legacyItem(folder: string, count: number): Item {
  const row = {
    id: `legacy:${folder}`,
    label: "Without a topic",
    description: `${count}`,
    tooltip: "Memories of earlier versions, and single exchanges",
    icon: "comment",
    children: "closed",
  } as const;
  return { kind: "legacy", folder, row };
}

function moreItem(folder: string, of: string, count: number, rest: number | null): Item {
  const label = rest === null ? "Show more" : `Show more (${rest})`;
  const row = {
    id: `more:${of}`,
    label,
    icon: "ellipsis",
    command: { command: MORE, title: label, arguments: [of, count] },
  };
  return { kind: "more", folder, row };
}

function errorItem(folder: string, error: unknown): Item {
  const title = "Show Error";
  const row = {
    id: `error:${folder}`,
    label: plain(error instanceof Error ? error.message : describe(error)),
    tooltip: describe(error),
    icon: "error",
    command: { command: SHOW_ERROR, title, arguments: [error] },
  };
  return { kind: "error", folder, row };
}
