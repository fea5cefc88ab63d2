"""An agent: the official MCP client with a server process of its own, and what it receives."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from harness import PATIENCE, Place
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent


class Agent:
    """The official client with a server process of its own. Calls may come from several threads."""

    def __init__(self, portal: BlockingPortal, client: Client, log: IO[str]) -> None:
        self._portal = portal
        self.client = client
        self._log = log

    def call(self, name: str, **arguments: Any) -> CallToolResult:
        async def ask() -> CallToolResult:
            return await self.client.call_tool(name, arguments)

        return self._portal.call(ask)

    def answer(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that succeeds. The client has held it against the output schema."""
        result = self.call(name, **arguments)
        assert not result.is_error, text_of(result)
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    def error(self, name: str, **arguments: Any) -> dict[str, Any]:
        """What a call that fails says."""
        result = self.call(name, **arguments)
        assert result.is_error
        assert result.structured_content is None
        found: dict[str, Any] = json.loads(text_of(result))
        assert found.keys() - {"error_details"} == {"error", "error_code", "remediation"}
        assert found["error"]
        assert found["remediation"]
        return found

    def tools(self) -> dict[str, Any]:
        async def ask() -> Any:
            return await self.client.list_tools()

        return {tool.name: tool for tool in self._portal.call(ask).tools}

    def log(self) -> str:
        self._log.seek(0)
        return self._log.read()


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def command(place: Place) -> list[str]:
    return ["-m", "worker.cli", "mcp", "--workspace", str(place.workspace.root)]


@contextmanager
def agent_of(
    place: Place, mode: str = "legacy", *, arguments: list[str] | None = None, cwd: Path | None = None
) -> Iterator[Agent]:
    """``arguments``: those of the interpreter, instead of ``command``'s."""
    parameters = StdioServerParameters(
        command=place.interpreter,
        args=command(place) if arguments is None else arguments,
        env=place.environment,
        cwd=cwd or place.workspace.root,
    )
    with (
        (place.workspace.root.parent / "mcp.log").open("w+", encoding="utf-8") as log,
        start_blocking_portal() as portal,
    ):
        client = Client(stdio_client(parameters, errlog=log), mode=mode, read_timeout_seconds=PATIENCE)
        with portal.wrap_async_context_manager(client):
            yield Agent(portal, client, log)
