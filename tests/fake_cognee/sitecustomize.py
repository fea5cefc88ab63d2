"""On PYTHONPATH: processes have ``fake_graph`` where the program imports cognee's stores, and its way to ask models."""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path


class _Instead:
    @staticmethod
    def find_spec(name: str, *_: object) -> ModuleSpec | None:
        if name in ("bridge.graph.cognee_store", "bridge.graph.cognee_llm"):
            return spec_from_file_location(name, Path(__file__).parents[1] / "fake_graph.py")
        return None


sys.meta_path.insert(0, _Instead)
