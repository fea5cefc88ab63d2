"""The library ``mcp``, imported without what it has for clients and for HTTP: a quarter of the server's start."""

from __future__ import annotations

from bridge.stand_ins import import_without

# Modules, and the names that the library takes from them.
_LEFT_OUT = {
    "mcp.client._input_required": "InputRequiredRoundsExceededError",
    "mcp.client.client": "Client",
    "mcp.client.session": "ClientSession",
    "mcp.client.session_group": "ClientSessionGroup",
    "mcp.client.stdio": "StdioServerParameters stdio_client",
    "mcp.server.auth.middleware.auth_context": "AuthContextMiddleware",
    "mcp.server.auth.middleware.bearer_auth": "BearerAuthBackend RequireAuthMiddleware",
    "mcp.server.auth.provider": "OAuthAuthorizationServerProvider TokenVerifier",
    "mcp.server.auth.routes": "build_resource_metadata_url create_auth_routes create_protected_resource_routes",
    "mcp.server.auth.settings": "AuthSettings",
    "mcp.server.mcpserver": "MCPServer",
    "mcp.server.streamable_http": "EventStore",
    "mcp.server.streamable_http_manager": "DEFAULT_MAX_SESSIONS DEFAULT_SESSION_IDLE_TIMEOUT"
    " StreamableHTTPASGIApp StreamableHTTPSessionManager",
    "mcp.server.transport_security": "DEFAULT_MAX_REQUEST_BODY_SIZE TransportSecuritySettings",
    "starlette.applications": "Starlette",
    "starlette.middleware": "Middleware",
    "starlette.middleware.authentication": "AuthenticationMiddleware",
    "starlette.routing": "Mount Route",
}


def import_library() -> None:
    """Import it. No other thread may import modules meanwhile."""
    import_without("mcp", {module: dict.fromkeys(names.split()) for module, names in _LEFT_OUT.items()})
