"""The command ``memories set-status``: submits the job; the view is that of ``ingest``."""

from __future__ import annotations

import argparse

from bridge.search import listing

from ..job_commands import submit_job
from ..output import Envelope
from ..process_commands import opened
from .ingest import show as show


def run(given: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope."""
    workspace, settings = opened(given)
    payload = {"memory_id": listing.id_of(workspace, given.memory_id), "status": given.status}
    return submit_job(given, workspace, settings, "set_status", payload)
