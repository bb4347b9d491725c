"""Count of parameters and returns of the engine with the bare type Any, for which editors cannot help.

    python scripts/count_any.py [FOLDER | FILE ...]

Counts functions as they are written, including nested ones and methods, without `self`. Any inside another type does
not count.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def annotations(source: str) -> Iterator[str | None]:
    """Yield the annotation of each parameter and each return."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            parameters = [
                *arguments.posonlyargs,
                *arguments.args,
                *arguments.kwonlyargs,
                arguments.vararg,
                arguments.kwarg,
            ]
            for parameter in parameters:
                if parameter is not None and parameter.arg not in ("self", "cls"):
                    yield ast.unparse(parameter.annotation) if parameter.annotation else None
            yield ast.unparse(node.returns) if node.returns else None


def main() -> None:
    """Print a row for each folder, and the sum."""
    packages: dict[str, list[str | None]] = {}
    for start in [ROOT / name for name in sys.argv[1:]] or [ROOT / "engine"]:
        for path in sorted(start.rglob("*.py")) if start.is_dir() else [start]:
            package = f"{start.name}/{path.relative_to(start).parts[0]}" if start.is_dir() else start.name
            packages.setdefault(package, []).extend(annotations(path.read_text(encoding="utf-8")))
    total = bare = 0
    for package, types in packages.items():
        print(f"{package:<35}{types.count('Any'):>6} of {len(types):>6}")
        bare, total = bare + types.count("Any"), total + len(types)
    print(f"bare Any: {bare} of {total} parameters and returns, {bare / total:.1%}")


if __name__ == "__main__":
    main()
