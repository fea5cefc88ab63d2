"""Which language model the settings name: whether there is one, and what cognee must be told to reach it.

No key is not a reason for cognee to look for a model of its own: without a language model nothing is asked.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from jobs.errors import JobError

from ..settings import Settings

# As cognee 1.6.5 has them, but for two: a model inside the process, and one behind an MCP client.
PROVIDERS = ("openai", "azure", "anthropic", "gemini", "mistral", "bedrock", "ollama", "custom")
NO_KEY = "none"  # what cognee is given where no key is needed: without one it would take to models of its own
_KEYLESS = ("ollama", "bedrock")  # the latter takes AWS's own variables
_OLLAMA = "http://localhost:11434"
_OF_OPENAIS_KIND = ("openai", "custom", "azure")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def provider_of(settings: Settings) -> str:
    """The provider: as set, else as the model's prefix says, else cognee's default.

    An unknown prefix means an endpoint of OpenAI's kind.
    """
    if settings.llm_provider:
        return settings.llm_provider.strip().lower()
    prefix, slash, _ = (settings.llm_model or "").partition("/")
    if not slash:
        return "openai"
    return prefix.lower() if prefix.lower() in PROVIDERS else "custom"


def is_configured(settings: Settings) -> bool:
    """Whether a language model may be asked: there is a key, or none is needed."""
    return _misfit(settings) is None


def require(settings: Settings) -> None:
    """Raises LLM_NOT_CONFIGURED or LLM_CONFIG unless a language model may be asked."""
    if misfit := _misfit(settings):
        raise misfit


def _misfit(settings: Settings) -> JobError | None:
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
    """The settings with what cognee needs beside what was set, so that it can be imported whatever was set."""
    provider, model = provider_of(settings), settings.llm_model
    if not is_configured(settings):
        # Said in part, some providers keep cognee from being imported at all.
        return replace(settings, llm_endpoint=None) if provider == "ollama" else settings
    if model and "/" not in model and provider in _OF_OPENAIS_KIND:
        model = f"{'azure' if provider == 'azure' else 'openai'}/{model}"
    endpoint = settings.llm_endpoint or (_OLLAMA if provider == "ollama" else None)
    if endpoint and provider == "ollama":  # both forms are in use
        endpoint = endpoint.rstrip("/").removesuffix("/v1")
    return replace(
        settings,
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
