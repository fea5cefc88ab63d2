"""The filters of jobs on the command line: their options and their values."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from jobs import clock
from jobs.layout import SpoolPaths

from ..admin import selection

if TYPE_CHECKING:
    from jobs.schema import JobRow


def which_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the filters of jobs. Their values are checked where they are used."""
    group = parser.add_argument_group("which jobs")
    for flag, metavar, text in (
        ("--state", "STATE[,STATE]", "in one of these states: queued, running, retrying, succeeded, failed, ..."),
        ("--kind", "KIND", "of this kind: ingest, compact, cognify, ..."),
        ("--error", "CODE", "with this error"),
        ("--contains", "TEXT", "whose id or correlation id contains this"),
        ("--since", "TIME", "accepted or ended since then: 90min, 2h, 3d, or a date"),
    ):
        group.add_argument(flag, metavar=metavar, help=text)


def filters_of(args: argparse.Namespace) -> dict[str, Any]:
    """The filters in the form of ``selection.filtered``. Raises JobError: ARGUMENT_INVALID when a value is wrong."""
    return {
        "states": selection.states_of(args.state),
        "kind": selection.kind_of(args.kind),
        "error": selection.error_of(args.error),
        "contains": args.contains,
        "since": selection.moment(args.since, clock.now()),
    }


def matching(spool_paths: SpoolPaths, filters: dict[str, Any]) -> list[JobRow]:
    """The job rows that match the filters."""
    return selection.filtered(selection.job_rows(spool_paths), **filters)
