/** Registers what agents use: the language model tools, and the MCP server. */

import * as vscode from "vscode";
import type { Services } from "../services";
import { McpServers } from "./mcp";
import { RecallTool, RememberTool } from "./tools";

export function registerAgent(services: Services): vscode.Disposable {
  const servers = new McpServers(services);
  return vscode.Disposable.from(
    servers,
    vscode.lm.registerTool("cognee_recall", new RecallTool(services)),
    vscode.lm.registerTool("cognee_remember", new RememberTool(services)),
    vscode.lm.registerMcpServerDefinitionProvider("cognee.mcp", servers),
  );
}
