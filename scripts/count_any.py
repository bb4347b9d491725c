"""How many parameters and returns of the engine have the bare type Any: where users get no help from their editor.

    python scripts/count_any.py [FOLDER | FILE ...]

Counts functions as they are written, nested ones and methods too, without `self`. Any inside another type is no bare
one.
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
            places = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            for place in places:
                if place is not None and place.arg not in ("self", "cls"):
                    yield ast.unparse(place.annotation) if place.annotation else None
            yield ast.unparse(node.returns) if node.returns else None


def main() -> None:
    """Print a row for each folder, and the sum."""
    rooms: dict[str, list[str | None]] = {}
    for start in [ROOT / name for name in sys.argv[1:]] or [ROOT / "engine"]:
        for path in sorted(start.rglob("*.py")) if start.is_dir() else [start]:
            room = f"{start.name}/{path.relative_to(start).parts[0]}" if start.is_dir() else start.name
            rooms.setdefault(room, []).extend(annotations(path.read_text(encoding="utf-8")))
    total = bare = 0
    for room, found in rooms.items():
        print(f"{room:<35}{found.count('Any'):>6} of {len(found):>6}")
        bare, total = bare + found.count("Any"), total + len(found)
    print(f"bare Any: {bare} of {total} parameters and returns, {bare / total:.1%}")


if __name__ == "__main__":
    main()
