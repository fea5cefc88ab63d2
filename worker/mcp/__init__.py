"""The MCP server: memory tools for an agent, over stdin and stdout.

It drops jobs and runs queries as any other client does; it does not know how they are carried out. Only ``server``
imports the library ``mcp``. In reading order:

``server``: the protocol: listing the tools, calling them, ending with the client.
``tools``: the table of tools with their texts, and the checks of a call.
``schemas``: the input and output schemas of the tools.
``calls``: the functions behind the tools.
"""
