"""Fetches an embedding model with a progress bar on stderr."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from bridge.embedding import installer

from .output import color_system

_T = TypeVar("_T")


def with_bar(install: Callable[[installer.Report], _T]) -> _T:
    """What ``install`` returns; a bar shows what it reports."""
    console = Console(stderr=True, color_system=color_system())
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("looking", total=None)

        def report(progress: installer.Progress) -> None:
            bar.update(task, description=progress.step, completed=progress.done, total=progress.total or None)

        return install(report)
