"""The environment variables of the process that runs cognee: offline, without output, confined to the workspace.

cognee configures itself from the environment when it is imported, so the child process is started with them.
"""

from __future__ import annotations

from pathlib import Path

from jobs.layout import Workspace

from ..embedding.config import LOCAL_PROVIDERS
from ..settings import OF_TOOLS, USER_HOME, Settings, as_environment
from . import llm

# An empty file. Naming it explicitly keeps cognee from searching for a .env, which would override the environment.
NO_ENV_FILE = Path(__file__).parents[1] / "data" / "empty.env"

_FIXED = {
    "TELEMETRY_DISABLED": "1",
    "COGNEE_TRACING_ENABLED": "false",
    "COGNEE_SKIP_CONNECTION_TEST": "true",
    "COGNEE_LOG_FILE": "false",
    "COGNEE_LOG_SEARCH_HISTORY": "false",
    "COGNEE_ENV_FILE": str(NO_ENV_FILE),
    "ENABLE_BACKEND_ACCESS_CONTROL": "false",
    # Without a configured language model, cognee would download one and install torch for it.
    "GRAPH_EXTRACTOR": "llm",
    "GLINER_AUTO_INSTALL": "false",
    "STRUCTURED_OUTPUT_FRAMEWORK": "litellm_native",  # the framework whose calls all pass through ``cognee_llm``
    "AUTO_RATE_LIMIT": "false",  # it would wait inside the child; the job waits in the queue instead
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOG": "ERROR",
    "CACHING": "false",
    "LOG_LEVEL": "CRITICAL",
    # The adapters' own subprocesses would duplicate our child and outlive it.
    "GRAPH_DATABASE_SUBPROCESS_ENABLED": "false",
    "VECTOR_DB_SUBPROCESS_ENABLED": "false",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}

# Variables with these prefixes come only from our settings, never from the inherited environment: a key must not be
# sent to an endpoint from elsewhere, settings for another cognee must not move the stores, and no tracer may export
# texts.
_NOT_INHERITED = (
    "COGNEE_", "LLM_", "EMBEDDING_", "DATA_ROOT", "SYSTEM_ROOT", "CACHE_", "DB_", "GRAPH_", "VECTOR_", "STORAGE_",
    "KUZU_", "MIGRATION_", "MOCK_EMBEDDING", "FASTEMBED_", "HUGGINGFACE_", "LANGFUSE_", "OTEL_", "LOG_",
    "USE_UNIFIED_PROVIDER", "MONITORING_TOOL", "ENV", "FALLBACK_", "BAML_", "LITELLM_", "GLINER_", "STRUCTURED_OUTPUT",
    "TRANSCRIPTION_", "IMAGE_TRANSCRI", "AUTO_RATE_LIMIT",
)  # fmt: skip
_NOT_INHERITED_ENDS = ("_API_BASE", "_BASE_URL")  # LiteLLM's own addresses, for each provider


def cognee_environment(settings: Settings, workspace: Workspace, inherited: dict[str, str]) -> dict[str, str]:
    """The child's environment, from this process's ``inherited`` one and our settings."""
    environment = {name: value for name, value in inherited.items() if not _is_reserved(name)}
    environment |= {
        "COGNEE_MEMORY_CONFIG_DIR": str(settings.config_folder),
        "COGNEE_MEMORY_CACHE_DIR": str(settings.cache_folder),
    }
    environment |= as_environment(llm.with_defaults(settings)) | _FIXED
    environment |= {
        "SYSTEM_ROOT_DIRECTORY": str(workspace.cognee_system),
        "DATA_ROOT_DIRECTORY": str(workspace.cognee_data),
        "CACHE_ROOT_DIRECTORY": str(workspace.cognee_system / "cache"),
        "COGNEE_LOGS_DIR": str(workspace.cognee_system / "logs"),
        "COGNEE_REPOS_DIR": str(workspace.cognee_system / "repos"),
        # The graph's engine creates a folder in the user's home, and has no setting against it.
        "HOME": str(workspace.cognee_system / "home"),
        USER_HOME: str(Path.home()),
    }
    environment |= {
        f"{OF_TOOLS}{name}": value for name, value in inherited.items() if name.endswith(_NOT_INHERITED_ENDS)
    }
    if settings.embedding_provider in LOCAL_PROVIDERS:
        environment["HF_HUB_OFFLINE"] = "1"  # nothing is fetched: cognee uses our embedder and its tokenizer
    return environment


def _is_reserved(name: str) -> bool:
    return name.startswith(_NOT_INHERITED) or name.endswith(_NOT_INHERITED_ENDS)
