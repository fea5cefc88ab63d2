"""The MCP server: protocol, tools, calls and their schemas. Its ``server`` is the only module that imports ``mcp``."""
