"""The MCP server: memory tools for an agent, over stdin and stdout.

It drops jobs and runs queries as any other client does; it does not know how they are carried out. Only ``server``
imports from the library ``mcp``. In reading order:

``library``: that library, without what it has for others.
``server``: the protocol: listing the tools, calling them, ending with the client.
``tools``: the table of tools with their texts, and the checks of a call.
``inputs``: the arguments of the tools: their schemas and their checks.
``answer_shapes``: the types of what tools answer beside the answers of HTTP.
``reading``: the tools that answer a question, or read the store or a record; what is about the same as a summary.
``changes``: the tools that submit a job.
``answer``: the result of a call, cleaned and short enough for a model, and what an agent can do about an error.
"""
