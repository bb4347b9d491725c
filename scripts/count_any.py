"""How many parameters and returns of the engine have the bare type Any: where users get no help from their editor.

    python scripts/count_any.py [FOLDER ...]

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
    folders = [ROOT / name for name in sys.argv[1:]] or [ROOT / "engine"]
    total = bare = 0
    for folder in folders:
        rooms: dict[str, list[str | None]] = {}
        for path in sorted(folder.rglob("*.py")):
            room = path.relative_to(folder).parts[0]
            rooms.setdefault(room, []).extend(annotations(path.read_text(encoding="utf-8")))
        for room, found in rooms.items():
            print(f"{folder.name}/{room:<28}{found.count('Any'):>6} of {len(found):>6}")
            bare, total = bare + found.count("Any"), total + len(found)
    print(f"bare Any: {bare} of {total} parameters and returns, {bare / total:.1%}")


if __name__ == "__main__":
    main()
