/** Offers the program's MCP server to agents: one for each folder, once the program can be used. */

import * as vscode from "vscode";
import { describe } from "../core/error";
import { plain } from "../core/text";
import type { Services } from "../services";

export class McpServers implements vscode.McpServerDefinitionProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeMcpServerDefinitions = this.changed.event;
  private readonly subscriptions: vscode.Disposable;

  constructor(private readonly services: Services) {
    const fire = (): void => this.changed.fire();
    this.subscriptions = vscode.Disposable.from(
      services.programs.onDidChange(fire),
      vscode.workspace.onDidGrantWorkspaceTrust(fire),
      vscode.workspace.onDidChangeWorkspaceFolders(fire),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
    this.changed.dispose();
  }

  /** None in Restricted Mode and without the program; then a change is told as soon as that is different. */
  async provideMcpServerDefinitions(): Promise<vscode.McpStdioServerDefinition[]> {
    if (!vscode.workspace.isTrusted) return [];
    try {
      const { path, version } = await this.services.programs.find();
      const folders = this.services.folders();
      return folders.map(({ name, uri }) => {
        const label =
          folders.length === 1 ? vscode.l10n.t("Project Memory") : vscode.l10n.t("Memory of {0}", plain(name));
        const server = new vscode.McpStdioServerDefinition(
          label,
          path,
          ["mcp", "--workspace", uri.fsPath],
          {},
          version,
        );
        server.cwd = uri;
        return server;
      });
    } catch (error) {
      this.services.log.info(`[MCP] No server is offered: ${describe(error)}`);
      return [];
    }
  }
}
