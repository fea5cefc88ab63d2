"""The query client: sends a query to the running worker, and answers it in this process if the worker is not fast.

Both answers are the same, byte for byte, since the request contains the arguments that the settings supply. The module
is light to import, since starting Python takes most of a query's time.
"""

from __future__ import annotations

import json
import time
from _thread import allocate_lock  # threading takes a millisecond to import
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs import heartbeat, plain_files
from jobs.errors import JobError
from jobs.layout import Workspace, find_workspace
from jobs.lock import is_held

from .. import trust
from ..argument_table import DEFAULT_PRESET, Preset
from ..embedding.config import LOCAL_PROVIDERS
from ..interface.question_arguments import with_settings
from .loopback import exchange, poke, port_of as port_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..embedding.config import EmbeddingConfig
    from ..embedding.embedder import Vectors
    from ..reranking.config import RerankConfig
    from ..settings import Settings
    from .reader import Reader, Verb

# The time limit of the whole exchange with the worker. A person does not notice it on top of answering here.
PATIENCE_SECONDS = 0.15
# The same with a reranker on this machine, which the worker has loaded and this process would have to load first.
RERANK_PATIENCE_SECONDS = 5.0

# Other providers need longer than that: the worker and this process would both embed, and pay for, each query.
_EMBEDS_HERE = (*LOCAL_PROVIDERS, "ollama")

_TOKEN_BYTES = 256

_RERANK_FAILED = "RERANK_UNAVAILABLE"  # how RerankError.warning begins

# The last reader is kept for processes with several queries, such as the MCP server, so that the model loads once.
_kept: tuple[tuple[Workspace, EmbeddingConfig, RerankConfig | None], Reader] | None = None
_making = allocate_lock()


def ask_for(
    verb: Verb,
    workspace_path: str | None,
    arguments: dict[str, Any],
    default_preset: Preset = DEFAULT_PRESET,
) -> bytes:
    """The answer's JSON envelope, also for errors. An argument that is ``None`` counts as not given.

    ``default_preset`` is used if neither the arguments nor the settings name one.
    """
    workspace = None
    try:
        # A named folder does not need the current one, which may have been removed.
        workspace = find_workspace(workspace_path, Path.cwd() if workspace_path is None else Path())
        settings = trust.settings_of(workspace)
        asked = with_settings(arguments, settings, default_preset)
        answered = from_worker(verb, workspace, settings, asked)
        if answered is not None:
            return answered
        from jobs import clock

        answer = _reader(workspace, settings).answer(verb, asked, clock.now())
    except Exception as error:
        from ..interface import envelope
        from .reader import failure

        known = error if isinstance(error, JobError) else envelope.unexpected(error)
        answer = failure(verb, known, arguments, workspace)
    from ..interface import envelope

    return envelope.encoded(answer)


def embed(workspace: Workspace, settings: Settings, texts: Sequence[str]) -> Vectors:
    """The texts' embeddings of length 1, shape (n, d). Raises JobError as the embedder does."""
    return _reader(workspace, settings).configured_embedder().embed(texts)


def _reader(workspace: Workspace, settings: Settings) -> Reader:
    global _kept
    from ..embedding.factory import begin
    from ..settings import import_numpy

    with _making:
        embedding, reranking = settings.embedding, settings.reranking
        if _kept is None or _kept[0] != (workspace, embedding, reranking):
            loading = begin(embedding)  # before what takes as long as the model
            import_numpy()
            from .reader import Reader

            _kept = (
                (workspace, embedding, reranking),
                Reader(workspace, embedding, reranking=reranking, loading=loading),
            )
        return _kept[1]


def from_worker(verb: Verb, workspace: Workspace, settings: Settings, arguments: dict[str, Any]) -> bytes | None:
    """The running worker's answer; None if there is none in time or it may differ. Then the caller answers itself."""
    try:
        if not settings.http or settings.embedding_provider not in _EMBEDS_HERE or not is_held(workspace.spool.lock):
            return None
        reranking = settings.reranking
        if reranking is not None and not reranking.is_local:
            return None  # as with other embedding providers: its answer may take longer
        beat = heartbeat.read(workspace.spool)
        if beat is None:
            return None
        http = beat["http"]
        if http is None or http["url"] is None or beat["embedder"] != settings.embedding.identity:
            return None
        port = port_of(http["url"])
        deadline = time.monotonic() + (PATIENCE_SECONDS if reranking is None else RERANK_PATIENCE_SECONDS)
        if not http["serving"]:
            poke(port, deadline)
            return None
        token = plain_files.read_plain(workspace.spool.token, _TOKEN_BYTES)[0].decode("ascii")
        body = json.dumps(arguments).encode()
        return _checked(exchange(port, f"/v1/{verb}?settings=none", token, body, deadline), reranking)
    except (OSError, JobError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _checked(data: bytes, reranking: RerankConfig | None) -> bytes:
    """The same bytes. Raises ValueError unless they are a successful envelope, made with this reranker or with none."""
    envelope = json.loads(data)
    if not isinstance(envelope, dict) or envelope.get("success") is not True or not data.endswith(b"}\n"):
        raise ValueError("not an answer")
    about = envelope.get("metadata", envelope)
    wanted = None
    if reranking is not None and about.get("query", "") is not None:  # an explanation without a query has no ranking
        wanted = {"model": reranking.identity, "hits": reranking.hits}
    has_failed = any(warning.startswith(_RERANK_FAILED) for warning in about.get("warnings", ()))
    if (about.get("ranking") or {}).get("reranker") != wanted or has_failed:
        raise ValueError("another reranker")
    return data
