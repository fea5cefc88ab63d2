"""The MCP server: memory tools for an agent, over stdin and stdout.

It drops jobs and runs queries as any other client does; it does not know how they are carried out. Only ``server``
imports the library ``mcp``. In reading order:

``server``: the protocol: listing the tools, calling them, ending with the client.
``tools``: the table of tools with their texts, and the checks of a call.
``schemas``: the input schemas of the tools.
``outputs``: the output schemas of the tools.
``answer_shapes``: the types of the answers that have no contract.
``calls``: the tools that run a query, drop a job or read a record.
``reading``: the tools that read the store without a question.
``job_answers``: a job's record in one sentence and few fields.
``answer``: the result of a call, cleaned for a model.
``remedies``: what an agent can do about an error.
"""
