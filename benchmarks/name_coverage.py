"""Coverage of MindSpore's interface: ``python benchmarks/name_coverage.py [LIST_OF_NAMES]``.

A name is *there* if it can be looked up and does more than name an alternative. It is *tested* if a test file
(tests/**/*.py) uses it: as an attribute (``.name``), an imported name, or a row of a table (``"name"``). That is a
count of words; only the suite itself is a proof.

The lists are plain names in tests/engine/names. LIST_OF_NAMES is a file of "rank name" lines that replaces usage.txt,
the names that users write most often, the commonest first.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "tests" / "engine" / "names"
# list -> where its names are looked up
OWNERS = {
    "cell": "Cell",
    "initializer": "initializer",
    "mint": "mint",
    "mint_functional": "mint.nn.functional",
    "mint_nn": "mint.nn",
    "nn": "nn",
    "ops": "ops",
    "parameter": "Parameter",
    "primitives": "ops",
    "tensor": "Tensor",
    "top": "ms",
}
_ALIASES = {"mnp": "numpy", "initializer": "common.initializer", "ms": "", "Tensor~": "Tensor"}


def owner_of(prefix: str) -> Any:
    """Return the object that a name's prefix stands for."""
    import hookscope.engine as ms

    if prefix == "initializer":
        return ms.initializer if not callable(ms.initializer) else sys.modules["hookscope.engine.tensors.initializer"]
    value: Any = ms
    for part in filter(None, _ALIASES.get(prefix, prefix).split(".")):
        value = getattr(ms.nn if part == "Cell" else value, part)
    return value


def is_there(prefix: str, name: str) -> bool:
    """Return whether a name is covered."""
    try:
        value = owner_of(prefix)
        for part in name.split("."):
            value = getattr(value, part)
    except (AttributeError, ImportError):
        return name in _special(prefix)
    return not (getattr(value, "__doc__", None) or "").startswith("Not covered:")


@cache
def _special(prefix: str) -> frozenset[str]:
    """Return the names that only an instance has."""
    import hookscope.engine as ms

    if prefix in ("Tensor", "Tensor~"):
        return frozenset(dir(ms.Tensor([1.0])))
    if prefix == "Parameter":
        return frozenset(dir(ms.Parameter(ms.Tensor([1.0]), name="p")))
    return frozenset(dir(ms.nn.Cell())) if prefix == "Cell" else frozenset()


def in_mint(name: str) -> bool:
    """Return whether mint or one of its submodules has a name, since MindSpore's list of mint joins them."""
    return any(is_there(f"mint{room}", name) for room in ("", ".nn", ".nn.functional", ".optim", ".linalg", ".special"))


@cache
def words_of_tests() -> frozenset[str]:
    """Return the names that the test files use."""
    names: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        names.update(re.findall(r"\.([A-Za-z_]\w*)", text))
        names.update(re.findall(r"[\"']([A-Za-z_]\w*)[\"']", text))
        for text_of_names in re.findall(r"import ([\w, ]+|\([^)]*\))", text):
            names.update(re.findall(r"\w+", text_of_names))
        for text_of_names in re.findall(r"\"([A-Za-z_][\w ]+)\"", text):  # rows of names in one string
            names.update(text_of_names.split())
    return frozenset(names)


def usage(path: Path = NAMES / "usage.txt") -> list[tuple[str, str]]:
    """Return pairs of prefix and name, by rank."""
    rows = [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]
    pairs = [re.fullmatch(r"(\w+~?)\.(.+)", row[1]) for row in rows]
    return [(pair[1], pair[2]) for pair in pairs if pair]


def listed(name: str) -> list[str]:
    """Return the names of a list."""
    return (NAMES / f"{name}.txt").read_text().split()


def covered(name: str) -> list[str]:
    """Return the names of a list that are there."""
    return [n for n in listed(name) if (in_mint(n) if name == "mint" else is_there(OWNERS[name], n))]


def main() -> None:
    most_used = usage(Path(sys.argv[1])) if len(sys.argv) > 1 else usage()
    missing = [f"{p}.{n}" for p, n in most_used if not is_there(p, n)]
    untested = [f"{p}.{n}" for p, n in most_used if is_there(p, n) and n.rpartition(".")[2] not in words_of_tests()]
    count = len(most_used) - len(missing)
    print(f"most used: {count} of {len(most_used)} are there, {count - len(untested)} of them used by a test")
    print(f"  not there: {', '.join(missing) or 'none'}")
    print(f"  not in a test: {', '.join(untested) or 'none'}")
    for name in OWNERS:
        names, have = listed(name), covered(name)
        tested = sum(n in words_of_tests() for n in have)
        print(f"{name:16} {len(have):4} of {len(names):4} ({len(have) / len(names):4.0%}), {tested:4} used by a test")


if __name__ == "__main__":
    main()
