"""On PYTHONPATH: processes have ``fake_graph`` where the program imports cognee's stores, and its way to ask models."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path


class _Instead(MetaPathFinder):
    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname not in ("bridge.graph.cognee_store", "bridge.graph.cognee_llm"):
            return None
        return spec_from_file_location(fullname, Path(__file__).parents[1] / "fake_graph.py")


sys.meta_path.insert(0, _Instead())
