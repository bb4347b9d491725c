"""`import mindspore` gives Hookscope's engine.

A finder at the head of sys.meta_path answers for `mindspore` and everything below it from one table. An
aliased import binds the engine's own module object under a second name in sys.modules; the module is not
copied and nothing of it changes, so `mindspore.nn is hookscope.engine.nn`. The engine is imported when
something first asks for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

ROOT = "mindspore"
ENGINE = "hookscope.engine"

# Name below mindspore -> name below hookscope.engine; None for a folder that holds nothing itself. MindSpore
# keeps many of its names in several places.
TABLE: dict[str, str | None] = {
    "": "",
    "common": "common",
    "common.api": "common",
    "common.dtype": "dtype",
    "common.initializer": "initializer",
    "common.parameter": "parameter",
    "common.tensor": "tensor",
    "context": "context",
    "nn": "nn",
    "nn.cell": "nn.cell",
    "ops": "ops",
    "ops.functional": "ops",
    "ops.operations": "ops.operations",
    "train": None,
    "train.serialization": "serialization",
}


def mindspore_is_installed() -> bool:
    """Whether the real MindSpore could be imported, found out without importing it."""
    if _loaded_mindspore() is not None:
        return True
    spec = PathFinder.find_spec(ROOT)
    # A folder that happens to be called mindspore has a spec too, but no file of its own.
    return spec is not None and spec.origin is not None


def install_as_mindspore() -> None:
    """Make `import mindspore` give Hookscope's engine from now on; doing it twice changes nothing."""
    real = _loaded_mindspore()
    if real is not None:
        raise ImportError(
            f"hookscope cannot stand in for mindspore: MindSpore {getattr(real, '__version__', 'itself')} is "
            "already imported. Restart Python and install the alias before the first `import mindspore`.",
            name=ROOT,
        )
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())


def uninstall() -> None:
    """Take the alias away: a later `import mindspore` finds what is installed."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _AliasFinder)]
    if _loaded_mindspore() is None:
        for name in [name for name in sys.modules if name == ROOT or name.startswith(ROOT + ".")]:
            del sys.modules[name]


def _loaded_mindspore() -> ModuleType | None:
    """The real MindSpore, if it has been imported."""
    module = sys.modules.get(ROOT)
    return None if module is None or module is sys.modules.get(ENGINE) else module


def _bind_all() -> None:
    """Put the engine's modules into sys.modules under their second names.

    All at once, when the first is asked for. An ordinary import of one by one would set each as an attribute of
    its parent, over what the engine has there: `mindspore.common.initializer` is a function, and a module too.
    """
    for row, target in TABLE.items():
        alias = f"{ROOT}.{row}".rstrip(".")
        sys.modules[alias] = _folder(alias) if target is None else import_module(f"{ENGINE}.{target}".rstrip("."))
        parent, _, child = alias.rpartition(".")
        if parent and not hasattr(sys.modules[parent], child):
            setattr(sys.modules[parent], child, sys.modules[alias])


def _folder(name: str) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = []
    return module


class _AliasFinder(MetaPathFinder):
    """Answers for every name below mindspore, also by saying no: the engine's files must not load twice."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != ROOT and not fullname.startswith(ROOT + "."):
            return None
        names = [f"{ROOT}.{row}".rstrip(".") for row in TABLE]
        if fullname not in names:
            near = get_close_matches(fullname, names, n=1, cutoff=0.0)[0]
            raise ModuleNotFoundError(
                f"hookscope, which stands in for mindspore here, has no module {fullname!r}; the nearest is {near!r}",
                name=fullname,
            )
        return ModuleSpec(fullname, _AliasLoader(), is_package=True)


class _AliasLoader(Loader):
    """Puts the engine's module in the place of the new, empty one, as a module may do while it loads.

    Handing it over as the new module instead would overwrite its `__spec__`.
    """

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        _bind_all()
