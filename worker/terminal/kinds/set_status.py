"""The command ``memories set-status``: submits the job; the view is that of ``ingest``."""

from __future__ import annotations

import argparse

from bridge.search import listing

from ..job_commands import submit_for_target
from ..output import Envelope
from ..process_commands import workspace_and_settings
from .ingest import show as show


def run(args: argparse.Namespace) -> Envelope:
    """Submit the job; returns its envelope. Raises as ``submit_for_target``."""
    workspace, settings = workspace_and_settings(args)
    payload = {"memory_id": listing.id_of(workspace, args.memory_id), "status": args.status}
    return submit_for_target(args, workspace, settings, "set_status", payload)
