"""Rejected texts: storing many items together, so that a text that the embedding provider rejects fails alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from jobs.errors import JobError

from ..embedding.embedder import is_text_rejected

T = TypeVar("T")


def store_together(
    items: Sequence[T], store: Callable[[Sequence[T]], None], reject: Callable[[T, JobError], None]
) -> None:
    """Store the items together; if the provider rejects a text, store them one at a time and ``reject`` each bad one.

    ``store`` must do nothing when it raises. Raises JobError: every other error of ``store``, at once, since it is not
    about one text: the provider may have no time, or the disk no space. The items before it are then stored.
    """
    try:
        store(items)
        return
    except JobError as error:
        if not is_text_rejected(error):
            raise
    for item in items:
        try:
            store([item])
        except JobError as error:
            if not is_text_rejected(error):
                raise
            reject(item, error)
