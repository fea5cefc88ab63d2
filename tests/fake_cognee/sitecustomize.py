"""On PYTHONPATH: processes have ``fake_graph`` where the program imports cognee, its stores or its way to ask."""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path


class _Instead:
    @staticmethod
    def find_spec(name: str, *_: object) -> ModuleSpec | None:
        if name in {f"bridge.graph.cognee_{part}" for part in ("process", "store", "llm")}:
            return spec_from_file_location(name, Path(__file__).parents[1] / "fake_graph.py")
        return None


sys.meta_path.insert(0, _Instead)
