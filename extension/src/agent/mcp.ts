/** Offers the program's MCP server to agents, if a setting asks for it: one for each folder. */

import * as vscode from "vscode";
import { describe } from "../core/error";
import { plain } from "../core/text";
import { SECTION, type Services } from "../core/services";

const ENABLED = "mcp.enabled";

export class McpServers implements vscode.McpServerDefinitionProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeMcpServerDefinitions = this.changed.event;

  constructor(private readonly services: Services) {
    const fire = (): void => this.changed.fire();
    services.owns(
      this.changed,
      services.programs.onDidChange(fire),
      vscode.workspace.onDidGrantWorkspaceTrust(fire),
      vscode.workspace.onDidChangeWorkspaceFolders(fire),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${SECTION}.${ENABLED}`)) fire();
      }),
    );
  }

  /** None unless asked for, in Restricted Mode and without the program; then a change is told as soon as that is different. */
  async provideMcpServerDefinitions(): Promise<vscode.McpStdioServerDefinition[]> {
    const isWanted = vscode.workspace.getConfiguration(SECTION).get<boolean>(ENABLED, false);
    if (!isWanted || !vscode.workspace.isTrusted) return [];
    try {
      const { path, version } = await this.services.programs.find();
      const folders = this.services.folders();
      return folders.map(({ name, uri }) => {
        const label = folders.length === 1 ? "Cognee Memory" : `Cognee Memory: ${plain(name)}`;
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
