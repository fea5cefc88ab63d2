"""Imports cognee for a process that forks: each of its forks says itself where its workspace is."""

import os
import warnings
from pathlib import Path

from bridge.graph import installed
from bridge.graph.cognee_env import cognee_environment
from bridge.settings import load
from jobs.layout import Workspace

NOWHERE = Path("/nowhere")
os.environ |= cognee_environment(
    load(environment={"COGNEE_MEMORY_CONFIG_DIR": str(NOWHERE)}), Workspace(NOWHERE), os.environ
)
with installed.importing():
    import bridge.graph.cognee_store  # noqa: F401

warnings.filterwarnings("ignore", "lancedb fork support")
