"""The configured language model: whether the settings name one, and the settings that cognee needs to reach it.

Without a configured model no call is made: cognee must not choose one itself. ``cognee_llm`` makes the calls, or, where
the settings name a coding tool, ``tool_model``; cognee itself can ask only a provider.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from jobs.errors import JobError

from ..settings import Settings

# The providers of cognee 1.6.5, except a model inside the process and one behind an MCP client.
PROVIDERS = ("openai", "azure", "anthropic", "gemini", "mistral", "bedrock", "ollama", "custom")
NO_KEY = "none"  # the key for cognee if none is needed; without a key it would choose a model itself
_KEYLESS = ("ollama", "bedrock")  # bedrock uses AWS's own variables
_OLLAMA = "http://localhost:11434"
_OPENAI_PROTOCOL = ("openai", "custom", "azure")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def provider_of(settings: Settings) -> str:
    """The provider: the configured one, else the one in the model's prefix, else cognee's default.

    An unknown prefix means an endpoint with the OpenAI protocol (``custom``).
    """
    if settings.llm_provider:
        return settings.llm_provider.strip().lower()
    prefix, slash, _ = (settings.llm_model or "").partition("/")
    if not slash:
        return "openai"
    return prefix.lower() if prefix.lower() in PROVIDERS else "custom"


def is_configured(settings: Settings) -> bool:
    """Whether a language model may be called: a tool is named, or the settings of a provider are complete, with a key
    if one is needed."""
    return settings.llm_tool is not None or _problem(settings) is None


def name_of(settings: Settings) -> str:
    """The model, as a verdict of it names it."""
    return (settings.llm_tool or settings.llm_model or f"{provider_of(settings)}'s default model")[:100]


def require(settings: Settings) -> None:
    """Raises JobError: LLM_NOT_CONFIGURED or LLM_CONFIG, unless a language model may be called."""
    if settings.llm_tool is None:
        require_provider(settings)


def require_provider(settings: Settings) -> None:
    """As ``require``, for what cognee asks: a tool does not serve it."""
    problem = _problem(settings)
    if problem is not None and settings.llm_tool:
        raise JobError(problem.code, f"{settings.llm_tool} serves compact, judge and capture; this needs a provider.")
    if problem is not None:
        raise problem


def _problem(settings: Settings) -> JobError | None:
    provider, endpoint = provider_of(settings), settings.llm_endpoint
    if not (settings.llm_api_key or provider in _KEYLESS or _is_loopback(endpoint)):
        return JobError("LLM_NOT_CONFIGURED")
    if provider not in PROVIDERS:
        wanted = ", ".join(PROVIDERS)
        return JobError("LLM_CONFIG", f"LLM_PROVIDER is {provider!r}; it can be one of {wanted}.")
    if endpoint and not endpoint.startswith(("http://", "https://")):
        return JobError("LLM_CONFIG", "LLM_ENDPOINT must start with http:// or https://.")
    if provider == "azure" and not endpoint:
        return JobError("LLM_CONFIG", "The provider azure needs LLM_ENDPOINT, the address of your resource.")
    if provider in ("ollama", "azure", "custom", "bedrock") and not settings.llm_model:
        return JobError("LLM_CONFIG", f"The provider {provider} needs LLM_MODEL.")
    return None


def with_defaults(settings: Settings) -> Settings:
    """The settings completed for cognee. With them, cognee can be imported even if the user's are incomplete."""
    provider, model = provider_of(settings), settings.llm_model
    if _problem(settings) is not None:
        # With incomplete settings for some providers, cognee cannot be imported.
        return settings.changed(llm_endpoint=None) if provider == "ollama" else settings
    if model and "/" not in model and provider in _OPENAI_PROTOCOL:
        model = f"{'azure' if provider == 'azure' else 'openai'}/{model}"
    endpoint = settings.llm_endpoint or (_OLLAMA if provider == "ollama" else None)
    if endpoint and provider == "ollama":  # users write the endpoint with and without /v1
        endpoint = endpoint.rstrip("/").removesuffix("/v1")
    return settings.changed(
        llm_provider=provider,
        llm_model=model,
        llm_endpoint=endpoint,
        llm_api_key=settings.llm_api_key or (None if provider == "bedrock" else NO_KEY),
    )


def _is_loopback(endpoint: str | None) -> bool:
    try:
        return bool(endpoint) and (urlsplit(endpoint).hostname in _LOOPBACK)
    except ValueError:
        return False
