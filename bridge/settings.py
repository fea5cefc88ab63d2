"""Every setting: one table, read once. The only module that reads the environment.

Order, first wins: command line, environment, the workspace's ``.env`` (ranking, and limits that it lowers;
providers, keys and higher limits only where the user trusts the workspace), the user's ``config.toml``, the default.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from jobs.errors import JobError
from jobs.layout import expand_home

from .argument_table import ARGUMENTS, Preset, RankingMode, TimePhraseUse
from .embedding.config import EmbeddingConfig
from .privacy import masking
from .stand_ins import import_without

if TYPE_CHECKING:
    from .reranking.config import RerankConfig

PREFIX = "COGNEE_MEMORY_"
APP = "cognee-memory"
WORKSPACE_ENV = ".env of the workspace"


class Setting(NamedTuple):
    """A row of the table. ``workspace``: the workspace's ``.env`` may set it. ``lowest``: where the user does not trust
    the workspace, its ``.env`` may only lower it, and not below this. ``highest``: nobody may set more."""

    default: Any
    help: str
    env: str = ""
    workspace: bool = False
    lowest: float | None = None
    highest: float | None = None
    secret: bool = False


_setting: Any = Setting


class Settings:
    """The values in force. ``None`` means not set. It has no repr, since some are secrets."""

    config_dir: Path | None = _setting(None, "The user's configuration folder (default: the platform's).")
    cache_dir: Path | None = _setting(None, "The folder of fetched models (default: the platform's cache folder).")

    max_job_bytes: int = _setting(
        1024 * 1024, "Maximum size of a job file, in bytes.", workspace=True, lowest=64 * 1024
    )
    max_active_jobs: int = _setting(
        10_000, "Maximum number of jobs that wait or run; further drops are rejected.", workspace=True, lowest=100
    )
    min_free_bytes: int = _setting(100 * 1024 * 1024, "Free disk space, in bytes, below which new drops are rejected.")
    max_attempts: int = _setting(
        4,
        "Maximum number of attempts of a job that ends in errors, unless the job sets its own.",
        workspace=True,
        lowest=1,
    )
    partial_write_grace: float = _setting(
        2.0, "Seconds for which an unparsable file is treated as still being written."
    )
    rescan_seconds: float = _setting(4.0, "Seconds between two scans of the inbox without a file event.")
    heartbeat_seconds: float = _setting(
        2.0, "Seconds between two heartbeats without a change; without a child process, at least 10."
    )
    batch_size: int = _setting(64, "Maximum number of ingest jobs that are embedded and written together.")
    slice_seconds: float = _setting(2.0, "Seconds that long work runs before waiting shorter jobs may run in between.")
    graph_idle_changes: int = _setting(
        20,
        "Changes that the knowledge graph lacks from which an idle worker brings it up to date; 0: only jobs that need"
        " it do.",
    )
    graph_idle_hours: float = _setting(
        24.0, "Hours after which an idle worker brings the graph up to date for fewer changes, but for two at least."
    )
    child_idle_seconds: float = _setting(300.0, "Idle seconds after which the child process is stopped.")
    child_max_jobs: int = _setting(1000, "Number of jobs after which the child process is recycled.")
    child_memory_mib: int = _setting(4096, "Resident memory, in MiB, at which the child process is ended.")
    max_crashes: int = _setting(
        3, "Number of crashes while a job alone is executed after which the job ends as POISON."
    )
    max_worker_deaths: int = _setting(
        10, "Number of deaths of the worker while a job alone is executed after which the job ends as POISON."
    )
    worker_idle_seconds: float = _setting(
        1800.0,
        "Idle seconds after which a worker that a client started exits; 0: never. A worker that you start stays,"
        " and so does one in a team.",
    )
    watcher: Literal["auto", "events", "polling"] = _setting(
        "auto", "How the worker notices drops; auto: by events, but by polling on network and WSL mounts."
    )
    polling_seconds: float = _setting(0.5, "Seconds between two scans of the inbox where events do not work.")
    allow_unsafe_mount: bool = _setting(
        False, "Keep memory.db on a mount where SQLite's write-ahead log is unsafe (network, WSL), at your own risk."
    )
    http: bool = _setting(True, "Whether the worker serves HTTP, on this machine only.")
    http_port: int = _setting(0, "The port of 127.0.0.1 on which the worker listens; 0: any free port.")
    http_idle_seconds: float = _setting(
        600.0, "Seconds without a request after which the HTTP server process, which holds the model, is stopped."
    )
    keep_succeeded_days: float = _setting(7.0, "Days for which the records of succeeded jobs are kept.")
    keep_failed_days: float = _setting(30.0, "Days for which other ended records and rejected files are kept.")
    keep_ended_jobs: int = _setting(10_000, "Maximum number of ended records; the oldest are removed first.")
    keep_rejected_files: int = _setting(1000, "Maximum number of rejected files; the oldest are removed first.")
    test_jobs: bool = _setting(False, "Accept jobs of the kind noop.")
    fault: str | None = _setting(None, "A fault to inject, for tests of durability; only with test_jobs.")

    ranking_preset: Preset | None = _setting(
        None,
        "contract: half-life 7 days. long-lived: half-life 90 days, floor 0.85. Unset: long-lived for people and"
        " agents, contract for bridge/retrieve.py.",
        workspace=True,
    )
    ranking_mode: RankingMode = _setting(
        ARGUMENTS["ranking_mode"].default,
        "product: semantic * recency * status. blend: (a * semantic + (1 - a) * recency) * status.",
        workspace=True,
    )
    half_life_days: float | None = _setting(
        None, f"Half-life of recency in days, {ARGUMENTS['half_life_days'].shown_range}.", workspace=True
    )
    recency_floor: float | None = _setting(
        None, f"Minimum recency_multiplier, {ARGUMENTS['recency_floor'].shown_range}.", workspace=True
    )
    time_phrase: TimePhraseUse = _setting(
        ARGUMENTS["time_phrase"].default,
        'A time in the query, such as "last week": prefer its memories, filter, or off.',
        workspace=True,
    )
    alpha: float = _setting(
        ARGUMENTS["alpha"].default,
        f"Weight of relevance in the blend mode, {ARGUMENTS['alpha'].shown_range}.",
        workspace=True,
    )
    feedback_weight: float = _setting(
        ARGUMENTS["feedback_weight"].default,
        f"How much feedback on memories raises or lowers their scores, {ARGUMENTS['feedback_weight'].shown_range}.",
        workspace=True,
    )
    relevance_floor: float | None = _setting(
        None,
        "Minimum semantic_score of a hit. Unset: about 0.2, or half of the best hit's if that is lower.",
        workspace=True,
        lowest=0,
    )
    max_results: int = _setting(
        ARGUMENTS["max_results"].default,
        f"Maximum number of hits in an answer, {ARGUMENTS['max_results'].shown_range}.",
        workspace=True,
    )
    max_tokens: int = _setting(
        ARGUMENTS["max_tokens"].default, "Token budget of an answer.", workspace=True, lowest=200
    )

    redact_secrets: bool = _setting(
        True, "Replace likely secrets in texts with [REDACTED:kind] before the texts are stored."
    )

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = _setting("INFO", "The lowest level that the worker logs.")
    log_format: Literal["human", "json"] = _setting(
        "human", "The form of the log: lines for people, or one JSON object per line."
    )

    store: str | None = _setting(
        None, "Address of the team's database, postgresql://…, for a gateway, a pool and an operator.", secret=True
    )
    pool_store: str | None = _setting(
        None, "Address of the team's database for the workers of a service, where store is its gateway's.", secret=True
    )

    team: str | None = _setting(
        None, "Address of the team's gateway, https://…, for the workspaces that belong to a team."
    )
    team_token: str | None = _setting(None, "This machine's token for the team's gateway.", secret=True)
    team_ca_file: str | None = _setting(
        None, "Certificates that the gateway's is checked with, as a PEM file; unset: those of the system."
    )
    team_machine: str | None = _setting(
        None,
        "This machine's name in the team, for workspaces that are shared or joined from now on; unset: the host's.",
    )
    team_copy_days: float = _setting(
        30.0, "In a team: days without contact after which questions are no longer answered from this machine's copy."
    )
    team_refused_hours: float = _setting(
        24.0,
        "In a team: hours after which this machine's copy does not answer any more once the team refuses this machine,"
        " as after a revoked token; at most 24.",
        highest=24.0,
    )
    team_copy_memories: int = _setting(
        20000,
        "In a team: of a workspace with more memories no copy is made here, and the gateway answers.",
    )
    lease_seconds: float = _setting(
        30.0, "In a team: seconds without a sign of life after which another worker takes over the running jobs."
    )

    embedding_provider: str = _setting(
        "fastembed", "cognee's embedding provider; fastembed is local.", env="EMBEDDING_PROVIDER"
    )
    embedding_model: str = _setting(
        "sentence-transformers/all-MiniLM-L6-v2", "The embedding model.", env="EMBEDDING_MODEL"
    )
    embedding_dimensions: int = _setting(384, "Length of an embedding vector.", env="EMBEDDING_DIMENSIONS")
    embedding_endpoint: str | None = _setting(None, "Address of the embedding provider.", env="EMBEDDING_ENDPOINT")
    embedding_api_key: str | None = _setting(
        None, "Key for the embedding provider.", env="EMBEDDING_API_KEY", secret=True
    )
    capture_ignore: str = _setting(
        "", "Files that a captured memory must not name, besides those of .gitignore: patterns separated by blanks."
    )
    llm_tool: Literal["claude-code", "codex", "gemini-cli", "opencode"] | None = _setting(
        None, "A coding tool whose command line is the language model, except for cognify and ask."
    )
    capture_with_llm: bool = _setting(
        False, "Whether the language model summarises captured sessions. It may cost money: look at a preview first."
    )
    review_with_llm: bool = _setting(
        True, "Whether a configured language model is asked in the background which of two disputed decisions holds."
    )
    rerank_model: str | None = _setting(
        None,
        "A model that judges the first hits again: a cross-encoder's folder, or its name at the endpoint. Unset: off.",
    )
    rerank_endpoint: str | None = _setting(
        None, "Address to which queries and the first hits' texts are sent to be judged; unset: none is."
    )
    rerank_api_key: str | None = _setting(None, "Key for the reranker's endpoint.", secret=True)
    rerank_scores: Literal["probability", "logit"] = _setting(
        "probability", "What the reranker's endpoint sends: probabilities (0 to 1), or logits, as llama.cpp does."
    )
    rerank_timeout_seconds: float = _setting(2.0, "Seconds that a question waits for the reranker's endpoint.")
    rerank_hits: int = _setting(20, "Number of first hits that the reranker judges; more if max_results is higher.")
    llm_provider: str | None = _setting(None, "cognee's language model provider.", env="LLM_PROVIDER")
    llm_model: str | None = _setting(None, "The language model.", env="LLM_MODEL")
    llm_endpoint: str | None = _setting(None, "Address of the language model.", env="LLM_ENDPOINT")
    llm_api_key: str | None = _setting(None, "Key for the language model.", env="LLM_API_KEY", secret=True)

    llm_api_version: str | None = _setting(None, "Version of the provider's API, for azure.", env="LLM_API_VERSION")
    llm_max_completion_tokens: int | None = _setting(
        None,
        "cognee's limit on the length of an answer, in tokens; half of it limits the parts into which texts are split.",
        env="LLM_MAX_COMPLETION_TOKENS",
    )
    llm_temperature: float | None = _setting(
        None, "The model's temperature, where its provider lets you set it.", env="LLM_TEMPERATURE"
    )

    llm_timeout_seconds: float = _setting(120.0, "Seconds that an answer of the language model may take.")
    llm_calls_per_job: int = _setting(
        200, "Maximum number of calls of the language model by a job; then the job waits."
    )
    llm_tokens_per_job: int = _setting(500_000, "Maximum number of tokens, in prompts and answers, that a job may use.")
    llm_calls_per_day: int = _setting(
        1000, "Maximum number of calls of the language model per workspace and day (UTC)."
    )
    llm_tokens_per_day: int = _setting(2_000_000, "Maximum number of tokens per workspace and day (UTC).")
    cognify_on_ingest: bool = _setting(
        False, "Also cognify structured summaries on ingest, at the cost of calls of the language model."
    )

    sources: Mapping[str, str]
    dropped: Sequence[str]
    """Names of keys and endpoints that were set, and have no effect: the other one comes from a stronger source."""

    def __init__(self, **given: Any) -> None:
        """The others have their defaults."""
        assert given.keys() <= self.__annotations__.keys(), given
        vars(self).update(_DEFAULTS | given)

    def changed(self, **given: Any) -> Settings:
        """The same but for these."""
        return Settings(**vars(self) | given)

    @property
    def config_folder(self) -> Path:
        return self.config_dir or _user_folder("config")

    @property
    def cache_folder(self) -> Path:
        return self.cache_dir or _user_folder("cache")

    @property
    def embedding(self) -> EmbeddingConfig:
        """The embedding settings. As in cognee, embeddings without a key of their own use OpenAI's key of the language
        model, but only at OpenAI's own address."""
        key = self.embedding_api_key
        if key is None and self.embedding_provider == "openai" and self.llm_provider in (None, "openai"):
            key = self.llm_api_key if self.embedding_endpoint is None and self.llm_endpoint is None else None
        return EmbeddingConfig(
            provider=self.embedding_provider,
            model=self.embedding_model,
            dimensions=self.embedding_dimensions,
            endpoint=self.embedding_endpoint or "",
            api_key=key or "",
            cache_dir=self.cache_folder,
        )

    @property
    def reranking(self) -> RerankConfig | None:
        """The reranker's settings; None if none is configured. Nothing of it is imported then."""
        if not self.rerank_model:
            return None
        from .reranking.config import RerankConfig

        return RerankConfig(
            model=self.rerank_model if self.rerank_endpoint else str(expand_home(self.rerank_model)),
            endpoint=self.rerank_endpoint or "",
            api_key=self.rerank_api_key or "",
            timeout_seconds=self.rerank_timeout_seconds,
            hits=self.rerank_hits,
            scores=self.rerank_scores,
        )


def _user_folder(kind: Literal["config", "cache"]) -> Path:
    """The folder that platformdirs gives. On plain Linux it is computed here: importing platformdirs takes a third of
    the time in which bare Python starts."""
    if sys.platform == "linux" and not {f"XDG_{kind.upper()}_HOME", "ANDROID_DATA"} & os.environ.keys():
        return expand_home(f"~/.{kind}") / APP
    import platformdirs

    found = platformdirs.user_config_path if kind == "config" else platformdirs.user_cache_path
    return found(APP, appauthor=False)


class Row(NamedTuple):
    """One line of the settings table. A secret's value is never in it."""

    name: str
    variable: str
    value: str
    source: str
    help: str


SETTINGS = {name: row for name, row in vars(Settings).items() if isinstance(row, Setting)}
_DEFAULTS = {"sources": {}, "dropped": ()} | {name: row.default for name, row in SETTINGS.items()}


@cache
def _type(name: str) -> Any:
    return eval(Settings.__annotations__[name])  # noqa: S307 - ours, and of one alone, since questions wait for it


def user_file(settings: Settings) -> Path:
    """The user's own file of settings."""
    return settings.config_folder / "config.toml"


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return SETTINGS[name].env or PREFIX + name.upper()


def postgres_password_file() -> Path:
    """Where PostgreSQL's tools look for passwords. The worker's child has another HOME, so psycopg is told."""
    home = os.environ.get(USER_HOME) or expand_home("~")
    return Path(os.environ.get("PGPASSFILE") or Path(home) / ".pgpass")


def postgres_host_is_in_environment() -> bool:
    """Whether PostgreSQL's tools would take a host, which an address leaves out, from the environment."""
    return any(os.environ.get(name) for name in ("PGHOST", "PGHOSTADDR", "PGSERVICE"))


USER_HOME = "MEMORY_USER_HOME"
"""The variable in which the worker's child finds the user's home, since its own HOME is a folder for cognee."""

OF_TOOLS = "MEMORY_OF_TOOLS_"
"""Begins the variables in which the worker's child finds the addresses of other programs, which it must not use itself:
``MEMORY_OF_TOOLS_ANTHROPIC_BASE_URL``."""

OWN_MODEL_FOLDER = "cognee-memory-model"
"""The empty folder, in the configuration folder, in which a tool summarises for us: no session there is captured."""


def load(
    overrides: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    workspace_env: Path | None = None,
    trusted: bool = False,
) -> Settings:
    """The settings in force. ``None`` among the overrides means not given.

    Secrets among them are masked in all later output of this process. Raises SETTING_INVALID, which names the variable
    and its source.
    """
    env = os.environ if environment is None else environment
    layers: list[tuple[str, Mapping[str, Any]]] = [
        ("command line", {k: v for k, v in (overrides or {}).items() if v is not None}),
        ("environment", {name: env[variable(name)] for name in SETTINGS if env.get(variable(name), "") != ""}),
        (WORKSPACE_ENV, _workspace_layer(workspace_env, trusted)),
    ]
    layers.append(("config.toml", _user_layer(layers)))
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name in SETTINGS:
        given = [(_convert(name, layer[name], source), source) for source, layer in layers if name in layer]
        if given and given[0][1] == WORKSPACE_ENV and not trusted:
            otherwise = given[1][0] if given[1:] else SETTINGS[name].default
            given[0] = (_lowered(name, given[0][0], otherwise), WORKSPACE_ENV)
        if given:
            values[name], sources[name] = given[0]
    dropped = _of_weaker_sources(sources)
    for name in dropped:
        del values[name], sources[name]
    settings = Settings(**values, sources=sources, dropped=dropped)
    secrets = (getattr(settings, name) for name, row in SETTINGS.items() if row.secret)
    masking.hide([value for value in secrets if value])
    return settings


def _lowered(name: str, value: Any, otherwise: Any) -> Any:
    """A value from the ``.env`` of a workspace that the user does not trust, within its bounds; ``otherwise``: the
    value without that file."""
    lowest = SETTINGS[name].lowest
    if lowest is None:
        return value
    return min(max(value, lowest), ARGUMENTS[name].default if otherwise is None else otherwise)


def _workspace_layer(path: Path | None, trusted: bool) -> dict[str, str]:
    if path is None or not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        found = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeDecodeError) as error:
        raise JobError("SETTING_INVALID", f"{path} cannot be read: {error}.") from None
    allowed = [name for name in SETTINGS if is_allowed_in_workspace(name, trusted)]
    return {name: value for name in allowed if (value := found.get(variable(name)))}


def is_allowed_in_workspace(name: str, trusted: bool) -> bool:
    """Whether the ``.env`` of a workspace may set this setting."""
    row = SETTINGS[name]
    return row.workspace or (trusted and row.env != "")


def _user_layer(upper: list[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    folder = next((layer["config_dir"] for _, layer in upper if "config_dir" in layer), None)
    path = (Path(folder) if folder else Settings().config_folder) / "config.toml"
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe waits until another process writes into it
            raise JobError("SETTING_INVALID", f"{path} is no plain file.")
        text = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise JobError("SETTING_INVALID", f"{path} cannot be read: {error}.") from None
    import tomllib

    try:
        found = tomllib.loads(text.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise JobError("SETTING_INVALID", f"{path} cannot be read: {error}.") from None
    unknown = sorted(set(found) - set(SETTINGS) | set(found) & {"config_dir"})
    if unknown:
        raise JobError("SETTING_INVALID", f"{path} has the unknown setting {unknown[0]!r}.")
    return found


# Each key and the endpoint that it is sent to.
_GROUPS = (
    ("llm_api_key", "llm_endpoint"),
    ("embedding_api_key", "embedding_endpoint"),
    ("rerank_api_key", "rerank_endpoint"),
    ("team_token", "team"),
)


def _of_weaker_sources(sources: Mapping[str, str]) -> list[str]:
    """A key is only ever sent to an endpoint that came from the same place as the key: of two places, the weaker one
    does not count."""
    order = ["command line", "environment", WORKSPACE_ENV, "config.toml"]
    return [
        max(key, endpoint, key=lambda name: order.index(sources[name]))
        for key, endpoint in _GROUPS
        if key in sources and endpoint in sources and sources[key] != sources[endpoint]
    ]


def _convert(name: str, value: Any, source: str) -> Any:
    kind = _type(name)
    options = [k for k in get_args(kind) if k is not type(None)] if get_args(kind) else [kind]
    try:
        options = [word for option in options for word in get_args(option) or (option,)]
        if isinstance(options[0], str):
            if value not in options:
                raise ValueError(f"must be one of {', '.join(options)}")
            return value
        kind = options[0]
        if kind is bool:
            return value if isinstance(value, bool) else _BOOLEANS[str(value).strip().lower()]
        if kind in (int, float) and isinstance(value, bool):
            raise ValueError("must be a number")
        if kind is int and isinstance(value, float) and not value.is_integer():
            raise ValueError(f"must be a whole number, not {value!r}")
        if kind is str and not isinstance(value, str):
            raise ValueError("must be a text")
        converted = kind(value)
        if isinstance(converted, (int, float)) and not 0 <= converted < 1e15:
            raise ValueError("must be a number of at least 0")
        highest = SETTINGS[name].highest
        if highest is not None and converted > highest:
            raise ValueError(f"must be at most {highest:g}, not {converted:g}")
        return expand_home(converted) if kind is Path else converted
    except (ValueError, TypeError, KeyError) as error:
        why = f"must be true or false, not {value!r}" if isinstance(error, KeyError) else str(error)
        raise JobError("SETTING_INVALID", f"{variable(name)} ({source}): {why}.") from None


_BOOLEANS = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)


def table(settings: Settings) -> list[Row]:
    """All settings with their values, and where each came from."""
    rows = []
    for name, f in SETTINGS.items():
        value = getattr(settings, name)
        shown = "" if value is None else ("(set)" if f.secret else str(value))
        if name in ("config_dir", "cache_dir") and value is None:
            shown = str(settings.config_folder if name == "config_dir" else settings.cache_folder)
        rows.append(Row(name, variable(name), shown, settings.sources.get(name, "default"), f.help))
    return rows


def completed_line() -> str | None:
    """The command line whose completions the shell asks for: its script sets variables. None if it does not ask."""
    return os.environ.get("COMP_LINE", "") if "_ARGCOMPLETE" in os.environ else None


def inherited_environment() -> dict[str, str]:
    """The environment as it was given to this process, for a process that it starts."""
    return dict(os.environ)


# What numpy imports for its documentation, signatures and types, or for functions that no question calls; and what it
# uses of that meanwhile.
_LEFT_OUT: dict[str, dict[str, Any]] = {
    **{f"numpy._core._add_newdocs{of}": {} for of in ("", "_scalars")},
    **{name: {} for name in ("ast", "pickle", "platform", "textwrap")},
    "numpy._typing": {"NDArray": list},
    "numpy._utils._inspect": {"getargspec": lambda function: ((), None, None, None)},
    "inspect": {"cleandoc": str, "signature": lambda function: None},
}


def import_numpy() -> None:
    """Import numpy without what it needs for people alone, which takes half of the time; and let its linear algebra
    start no threads, which spin while they wait. ``vectors`` itself splits the work that is worth a second processor.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import_without("numpy", _LEFT_OUT)


def as_environment(settings: Settings) -> dict[str, str]:
    """The settings in force as variables, for a process of ours that must see the same ones."""
    values = {variable(name): getattr(settings, name) for name in SETTINGS}
    return {name: str(value) for name, value in values.items() if value is not None}
