"""The MCP server of one workspace, over stdin and stdout: it lists the tools of ``tools`` and runs their calls.

Only this module imports the MCP library. While it serves, stdout carries only the protocol: the library keeps the real
stdout, and all other output goes to stderr. The server ends when the client closes stdin, and on SIGTERM.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

import anyio
import anyio.to_thread
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from bridge.interface.envelope import encoded
from bridge.privacy.masking import masked, trace
from bridge.search import following
from jobs.errors import JobError
from jobs.layout import Workspace

from .answer import Answer, error_text
from .tools import INSTRUCTIONS, TOOLS, Tool, call

_LOG_FORMAT = "%(levelname)s %(name)s %(message)s"  # no timestamp: the client keeps stderr
_NOTE = "If the memory is empty, tell the user: {} in the arguments of this server."
_BY_NAME = {tool.name: tool for tool in TOOLS}


class _WithoutTexts(logging.Formatter):
    """Logs only the location of an exception, because its message may quote a memory or a query. Keys are masked."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))

    def formatException(self, ei: Any) -> str:
        return trace(ei[1])


def serve(workspace: Workspace | JobError, version: str, note: str | None = None) -> NoReturn:
    """Serve until the client disconnects, then end this process. Without a workspace, every call returns the error.

    ``note`` is about this workspace; the instructions end with it.
    """
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(_WithoutTexts(_LOG_FORMAT))
    logging.basicConfig(handlers=[lines], level=logging.WARNING)
    # A thread blocked in a read of stdin would delay Python's own Ctrl-C handling until the next message.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    status = 0
    if isinstance(workspace, Workspace):
        with suppress(JobError):  # every call says it again
            following.start(workspace)
    try:
        anyio.run(_serve, server_of(workspace, version, note))
    except BaseException as error:
        if not _client_has_gone(error):
            print(trace(error), file=sys.stderr, flush=True)  # noqa: T201 - for bug reports
            status = 1
    # Not sys.exit: an abandoned call must not keep the process alive, and text that a library has buffered must not be
    # written now that stdout is restored. The results of calls are durable already.
    os._exit(status)


def server_of(workspace: Workspace | JobError, version: str, note: str | None = None) -> Server[Any]:
    """The server with its tools. Each call runs in its own thread, so a slow call does not delay the others."""

    async def list_tools(_: ServerRequestContext[Any], __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await anyio.to_thread.run_sync(lambda: [listed(tool) for tool in TOOLS]))

    async def call_tool(_: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = _BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"There is no tool {params.name[:80]!r}.")
        arguments = params.arguments or {}
        answer = await anyio.to_thread.run_sync(call, tool, workspace, arguments, abandon_on_cancel=True)
        return result_of(answer)

    return Server(
        "cognee-memory",
        version=version,
        title="Cognee memory",
        instructions=INSTRUCTIONS if note is None else f"{INSTRUCTIONS}\n\n{_NOTE.format(note)}",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def listed(tool: Tool) -> types.Tool:
    """The tool as clients see it. No tool reaches beyond the workspace, and none deletes or overwrites a text."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input(),
        output_schema=tool.output(),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def result_of(found: Answer | JobError) -> types.CallToolResult:
    """The protocol's result. An error has no structured content, because clients validate it against the output
    schema."""
    if isinstance(found, JobError):
        return types.CallToolResult(content=[types.TextContent(text=error_text(found))], is_error=True)
    return types.CallToolResult(
        content=[types.TextContent(text=found.text)], structured_content=found.structured, is_error=found.is_error
    )


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
        readable, received = anyio.create_memory_object_stream[SessionMessage | Exception]()

        async def relay() -> None:
            async with readable:
                async for item in incoming:
                    message = _repaired(item) if isinstance(item, ValidationError) else item
                    is_error = message is not item and isinstance(message.message, types.JSONRPCError)
                    await (outgoing if is_error else readable).send(message)

        tasks.start_soon(relay)
        try:
            await server.run(received, outgoing, server.create_initialization_options())
        except anyio.get_cancelled_exc_class():
            # A write failed: the client is gone. The library would wait for one more line before it ended.
            os._exit(0)


def _repaired(error: ValidationError) -> SessionMessage:
    """A line that the library cannot read, and would drop: with ``?`` for half of a character. If that does not help,
    the error for its client, which would wait for ever."""
    line: Any = next((each["input"] for each in error.errors() if each["type"] in ("json_invalid", "missing")), None)
    try:
        line = json.loads(line) if isinstance(line, str) else line
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(encoded(line), by_name=False))
    except (ValueError, RecursionError):
        number = line.get("id") if isinstance(line, dict) and isinstance(line.get("id"), int | str) else None
        said = types.ErrorData(code=types.PARSE_ERROR, message="The message cannot be read.")
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=number, error=said))


def _client_has_gone(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_client_has_gone, error.exceptions))
    return isinstance(error, (BrokenPipeError, ConnectionResetError))
