"""`import mindspore` gives Hookscope's engine.

A finder at the head of sys.meta_path answers for `mindspore` and everything below it from one table. An
aliased import binds the engine's own module object under a second name in sys.modules; the module is not
copied and nothing of it changes, so `mindspore.nn is hookscope.engine.nn`. The engine is imported when
something first asks for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
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
    "common._grad_function": "core.function",
    "common.api": "common.api",
    "common.dtype": "core.dtype",
    "common.hook_handle": "core.hooks",
    "common.initializer": "core.initializer",
    "common.jit_config": "jit",
    "common.lazy_inline": "jit",
    "common.mutable": "jit",
    "common.parameter": "core.parameter",
    "common.recompute": "nn.recompute",
    "common.sparse_tensor": "ops.sparse_tensors",
    "common.tensor": "core.tensor",
    "context": "context",
    "graph": "common.api",
    "graph.api": "common.api",
    "nn": "nn",
    "nn.cell": "nn.cell",
    "nn.dynamic_lr": "nn.dynamic_lr",
    "nn.layer": "nn",
    "nn.layer.activation": "nn.activation",
    "nn.layer.container": "nn.container",
    "nn.layer.conv": "nn.conv",
    "nn.layer.normalization": "nn.normalization",
    "nn.layer.pooling": "nn.pooling",
    "nn.learning_rate_schedule": "nn.learning_rate_schedule",
    "nn.loss": "nn.loss",
    "nn.optim": "nn.optim",
    "nn.optim.optimizer": "nn.optim.optimizer",
    "nn.probability": "nn.probability",
    "nn.probability.bijector": "nn.probability.bijector",
    "nn.probability.distribution": "nn.probability.distribution",
    "nn.utils": "nn.utils",
    "nn.wrap": "nn.wrap",
    "ops": "ops",
    "ops.composite": "ops.composite",
    "ops.composite.base": "ops.composite",
    "ops.function": "ops",
    "ops.function.grad": "ops",
    "ops.functional": "ops",
    "ops.operations": "ops.operations",
    "amp": "amp",
    "communication": "communication",
    "communication.management": "communication",
    "dataset": "dataset",
    "dataset.config": "dataset.config",
    "dataset.engine": "dataset",
    "dataset.transforms": "dataset.transforms",
    "dataset.transforms.transforms": "dataset.transforms",
    "dataset.vision": "dataset.vision",
    "dataset.vision.transforms": "dataset.vision",
    "dataset.vision.utils": "dataset.vision",
    "experimental": "experimental",
    "experimental.optim": "experimental.optim",
    "experimental.optim.lr_scheduler": "experimental.optim.lr_scheduler",
    "experimental.optim.optimizer": "experimental.optim.optimizer",
    "hal": "hal",
    "log": "log",
    "mint": "mint",
    "mint.distributed": "mint.distributed",
    "mint.linalg": "mint.linalg",
    "mint.nn": "mint.nn",
    "mint.nn.functional": "mint.nn.functional",
    "mint.optim": "mint.optim",
    "mint.special": "mint.special",
    "numpy": "numpy",
    "parallel": "parallel",
    "parallel.auto_parallel": "parallel",
    "runtime": "runtime",
    "train": "train",
    "train.amp": "amp",
    "train.callback": "train.callback",
    "train.loss_scale_manager": "train.loss_scale",
    "train.metrics": "train.metrics",
    "train.model": "train.model",
    "train.serialization": "serialization",
}
# Rooms that are imported when they are first asked for, each with all below it.
LATER = frozenset((
    "amp", "communication", "dataset", "experimental", "hal", "log", "mint", "nn.probability", "numpy", "parallel",
    "runtime", "train",
))  # fmt: skip


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


def _bind(room: str | None) -> None:
    """Put the engine's modules into sys.modules under their second names: those of a room of ``LATER``, or the others.

    All at once, when the first is asked for. An ordinary import of one by one would set each as an attribute of
    its parent, over what the engine has there: `mindspore.common.initializer` is a function, and a module too.
    """
    for row, target in TABLE.items():
        if _room(row) != room:
            continue
        alias = f"{ROOT}.{row}".rstrip(".")
        sys.modules[alias] = _folder(alias) if target is None else import_module(f"{ENGINE}.{target}".rstrip("."))
        parent, _, child = alias.rpartition(".")
        if parent and not hasattr(sys.modules[parent], child):
            setattr(sys.modules[parent], child, sys.modules[alias])


def _room(row: str) -> str | None:
    """The room of ``LATER`` that a row of the table is in."""
    return next((room for room in LATER if f"{row}.".startswith(f"{room}.")), None)


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
            from hookscope.engine.core.nearest import suggestion

            raise ModuleNotFoundError(
                f"hookscope, which stands in for mindspore here, has no module {fullname!r}"
                f"{suggestion(fullname, names)}",
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
        _bind(_room(module.__name__.partition(".")[2]))
