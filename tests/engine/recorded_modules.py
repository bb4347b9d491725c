"""MindSpore's modules and the names in each of them.

    python tests/engine/recorded_modules.py        with MindSpore 2.10.0: writes recorded/modules.txt again

A line is a module and its names: those of ``__all__``, or the public ones that it defines itself. Names with a leading
underscore and those in INTERNAL are omitted.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import textwrap
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

FILE = Path(__file__).parent / "recorded" / "modules.txt"
# modules that no program imports: prefix -> kind
INTERNAL = {
    "boost": "speed-ups of Ascend devices, deprecated",
    "dataset.core": "the data sets' own tools",
    "dataset.dataloader": "one loader on its way, which the released package does not name",
    "dataset.engine.obs": "one company's cloud storage",
    "dataset.engine.offload": "operators that are moved onto the device",
    "ops.auto_generate": "generated copies of what ops offers",
    "ops.composite": "rules of the graph compiler, of which ops offers what is public",
    "ops.operations.manually_defined": "definitions that generate ops",
    "ops.tensor_method": "what the methods of Tensor call",
    "ops_generate": "programs that generate sources",
    "parallel.cluster": "starts processes on several machines",
    "profiler": "the profiler's own parts",
    "rewrite": "the parts of a rewriter of source code",
    "safeguard": "encrypts graphs",
    "scipy": "a part that only GPUs and Ascend devices run",
    "train.train_thor": "an optimizer of Ascend devices",
}
INTERNAL_ENDS = ("validators", "_pb2", "py_transforms_util", "cache_admin", "serializer_deserializer", "queue")


def recorded() -> dict[str, list[str]]:
    """Return the names of each module, by its name below ``mindspore``; ``""`` is ``mindspore`` itself."""
    results: dict[str, list[str]] = {}
    module = ""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            results[module] += line.split()
        else:
            module = line.rstrip(":")
            results[module] = []
    return results


def is_internal(module: str) -> bool:
    """Return whether no program imports a module: the rows of INTERNAL, and files of one kind everywhere."""
    inside = any(f"{module}.".startswith(f"{row}.") for row in INTERNAL)
    return inside or module.endswith(INTERNAL_ENDS) or any(part.startswith("_") for part in module.split("."))


def _modules(name: str) -> Iterator[tuple[str, types.ModuleType]]:
    try:
        module = importlib.import_module(name)
    except Exception:  # what cannot be imported without another device
        return
    yield name.partition(".")[2], module
    for inner in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not is_internal(f"{name}.{inner.name}".partition(".")[2]):
            yield from _modules(f"{name}.{inner.name}")


def _offered(module: types.ModuleType) -> list[str]:
    """Return the names of ``__all__``, else those that the module defines, or of a package those that it imports."""
    listed = getattr(module, "__all__", None)
    if listed:
        return sorted({item if isinstance(item, str) else item.__name__ for item in listed})
    public = {
        name: str(getattr(value, "__module__", ""))
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    own = sorted(name for name, where in public.items() if where == module.__name__)
    gathered = hasattr(module, "__path__") and not own
    return sorted(name for name, where in public.items() if where.startswith("mindspore")) if gathered else own


def main() -> None:
    warnings.simplefilter("ignore")
    with FILE.open("w", encoding="utf-8") as file:
        for name, module in sorted(_modules("mindspore")):
            names = " ".join(item for item in _offered(module) if hasattr(module, item))
            lines = textwrap.wrap(names, 118, initial_indent=" ", subsequent_indent=" ", break_long_words=False)
            file.write("\n".join([f"{name}:", *lines]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
