"""Imports a package without modules that it needs for others alone: stand-ins take their places meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


class _StandIn(ModuleType):
    """Whoever asks it for more than it has gets it of the module itself."""

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":  # which each import asks for
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def import_without(package: str, left_out: Mapping[str, Mapping[str, Any]]) -> None:
    """Import a package, unless it is there. ``left_out``: modules, and what the package uses of them meanwhile. A
    release that uses them otherwise is imported whole.

    No other thread may import modules meanwhile.
    """
    if package in sys.modules:
        return
    known = set(sys.modules)
    places = {_StandIn(name): used for name, used in left_out.items() if name not in known}
    for each, used in places.items():
        vars(each).update(used)
        sys.modules[each.__name__] = each
    try:
        import_module(package)
    except Exception:
        for name in sys.modules.keys() - known:
            del sys.modules[name]
        import_module(package)
        return
    for each, used in places.items():
        for name in used:
            delattr(each, name)
        if sys.modules.get(each.__name__) is each:
            del sys.modules[each.__name__]
