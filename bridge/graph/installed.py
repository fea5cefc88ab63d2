"""Whether what the knowledge graph is made of is installed: the extra ``graph``, which is cognee and what it brings.

Without it, memories are stored, found, compacted, captured and forgotten as with it. It imports nothing of the extra.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

from jobs.errors import JobError


@cache  # for the whole process: one that began without the extra has other versions of shared packages in use
def is_installed() -> bool:
    """Whether the extra was installed when this process first asked."""
    return find_spec("cognee") is not None


def require() -> None:
    """Raises JobError: GRAPH_NOT_INSTALLED, unless the extra is installed."""
    if not is_installed():
        raise JobError("GRAPH_NOT_INSTALLED")


class _Late(ModuleType):
    """A package until something of it is used; to import these is half of cognee's import. Nothing uses them without
    a language model, but the models of the last. ``cognee_llm``, the gate of LiteLLM's calls, is imported with it."""

    is_ready = False  # until cognee is imported, which looks for flags in them

    def __getattr__(self, name: str) -> Any:
        if not self.is_ready:
            raise AttributeError(name)
        self._load()
        return getattr(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if self.is_ready:
            self._load()
        ModuleType.__setattr__(self, name, value)

    def _load(self) -> None:
        ModuleType.__setattr__(self, "__class__", ModuleType)
        spec = self.__spec__
        assert spec is not None
        assert spec.loader is not None
        self.__path__ = spec.submodule_search_locations or []
        spec.loader.exec_module(self)
        if self.__name__ == "litellm":
            from . import cognee_llm  # noqa: F401 - not at the top: it imports what this stands for


# And whether cognee's import may take a module of it without it.
_LATE = {"litellm": False, "openai": False, "dlt": True, "lance_namespace_urllib3_client": True}


@contextmanager
def importing() -> Iterator[None]:
    """Around an import of the extra. The objects of its thousands of modules stay: to look through them for garbage,
    meanwhile and later, would take a fifth of the import's time."""
    if "cognee" in sys.modules:
        yield
        return
    for name, has_parts in _LATE.items():
        if name not in sys.modules and (found := find_spec(name)) is not None:
            late = sys.modules[name] = module_from_spec(found)
            if not has_parts:
                del late.__path__
            late.__class__ = _Late
    gc.disable()
    try:
        yield
    finally:
        for name in _LATE:
            if isinstance(module := sys.modules.get(name), _Late):
                vars(module).pop("__path__", None)  # so that who imports a module of it from now on loads it first
        _Late.is_ready = True
        gc.freeze()
        gc.enable()
