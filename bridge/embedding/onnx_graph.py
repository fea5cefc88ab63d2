"""Opens the ONNX graphs and tokenizers of models, with one set of options.

The libraries are loaded when one is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .onnx_session import Session

INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_EXTENDED = 2  # the level of optimisation that fuses operators


def open_session(graph: Path, *, threads: int = 1, optimised: bool = True, prepacked: bool = True) -> Session:
    """A session of the graph on the processor. ``threads``: inside one run.

    ``optimised``: fuse operators, which exported graphs need. ``prepacked``: arrange the weights for this processor. In
    a new process of one question, both may cost more than they save. Raises as ``Session``.
    """
    settings = {
        "session.disable_prepacking": "0" if prepacked else "1",
        "session.intra_op.allow_spinning": "0",  # spinning would waste processor time
    }
    return Session(graph, threads=threads, level=_EXTENDED if optimised else 0, settings=settings)


def require_encoder(session: Session) -> None:
    """Raises ValueError if the graph has other inputs than an encoder of texts."""
    if not all(each.element == "int64" and each.name in INPUTS for each in session.inputs):
        named = ", ".join(f"{each.name} ({each.element or 'no numbers'})" for each in session.inputs)
        raise ValueError(f"it has other inputs than an encoder of texts: {named}")


def open_tokenizer(path: Path) -> Any:
    """The tokenizer in a ``tokenizer.json``, which neither pads nor cuts. Raises what the library raises."""
    from tokenizers import Tokenizer

    result = Tokenizer.from_file(str(path))
    result.no_padding()
    result.no_truncation()
    return result


def first_line(error: Exception) -> str:
    """The first line of a library's error, at most 200 characters, without its full stop."""
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__
