"""Run a function once a module has been imported, without importing it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def when_imported(name: str, function: Callable[[ModuleType], object]) -> None:
    """Call `function(module)` right after the module `name` is imported; now, if it has been."""
    module = sys.modules.get(name)
    if module is not None:
        function(module)
    elif not any(isinstance(finder, _Watcher) and finder.name == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher(name, function))


class _Watcher(MetaPathFinder):
    """Finds its module as everybody else would, and sees to it that the function is called."""

    def __init__(self, name: str, function: Callable[[ModuleType], object]) -> None:
        self.name = name
        self._function = function
        self._searching = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name or self._searching:
            return None
        self._searching = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching = False
        if spec is not None and spec.loader is not None:
            spec.loader = _CallingBack(spec.loader, self._imported)
        return spec

    def _imported(self, module: ModuleType) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        self._function(module)


class _CallingBack(Loader):
    """The module's own loader, and then the function."""

    def __init__(self, loader: Loader, function: Callable[[ModuleType], object]) -> None:
        self._loader = loader
        self._function = function

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Nothing must remain of this class: inspect and others ask a module's loader for its source.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._function(module)
