"""Check of names against a word list: participles and adverbs that stand where the field has a noun.

    python scripts/word_list.py [FOLDER ...]

Prints a line for each module, class, function, argument, variable or attribute whose name is on the list, with better
words, and exits with 1 if there is one. ``make lint`` runs it. ALLOWED has names that are the field's own terms.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("engine", "kernel", "widgets", "triton_kernels", "hookscope/__init__.py", "hookscope/__main__.py")
FOLDERS = (*PRODUCT, "benchmarks", "scripts")
BETTER = {
    "asked": "requested, request",
    "asking": "request, computation",
    "beside": "unrecorded, neighbor",
    "forgiven": "suppress_faults",
    "forgives": "report_fault",
    "found": "match, result, row, finding",
    "given": "argument, value",
    "heard": "on_message, on_event",
    "holding": "guards, owner",
    "kept": "saved, retained, stored",
    "later": "deferred",
    "looking": "inspection",
    "named": "by_name, name",
    "one": "item, or what it is",
    "ones": "items, or what they are",
    "place": "index, position, path, location",
    "places": "indices, positions, locations",
    "shown": "text, display, row",
    "standing": "status, state",
    "told": "message, warned, notified",
    "unplanned": "eager_call",
    "unwatched": "mute_taps",
    "who": "caller",
    "whole": "complete, entire",
    "words": "text, terms",
}
ALLOWED = {
    "engine/debug/session.py: forgives": "public: the former name of DebugSession.report_fault",
    "engine/compile/guards/memory_words.py: words": "words of memory, the machine's term",
    "engine/cpu/compiled/memory_words.py: words": "words of memory",
    "engine/debug/diagnose/causes.py: place": "public: Cause.place",
    "engine/debug/diagnose/conditions/condition.py: place": "public: an argument of Condition",
    "engine/debug/diagnose/findings.py: place": "public: Finding.place",
    "engine/debug/faults.py: place": "public: Fault.place",
    "engine/debug/session.py: shown": "public: DebugSession.shown",
    "engine/debug/stop/pause.py: place": "public: PausePoint.place",
    "engine/mindspore/mint/creation.py: ones": "mint.ones",
    "engine/mindspore/numpy/creation.py: ones": "numpy.ones",
    "engine/ops/primitives.py: place": "Primitive.place of MindSpore",
    "engine/ops/shapes/creation.py: ones": "ops.ones",
    "engine/tensors/initializer.py: one": "the initializer One of MindSpore",
    "widgets/views/captures/feed.py: kept": "a field that saved notebooks hold",
    "widgets/views/stepper/stop.py: shown": "a field that saved notebooks hold",
}
_JAVASCRIPT = re.compile(r"\b(?:const|let|var|function|class)\s+(\w+)")


def names_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each thing that a module defines, binds or takes."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store(), value=ast.Name(id="self")):
                yield node.lineno, node.attr
            case ast.alias(asname=str(name)):
                yield getattr(node, "lineno", 0), name


def faults_of(path: Path) -> list[str]:
    """Return a line for each name in a file that is on the list; of a name the first use."""
    text = path.read_text(encoding="utf-8")
    label = path.relative_to(ROOT).as_posix()
    pairs = [(1, path.stem), *(names_of(ast.parse(text)) if path.suffix == ".py" else _javascript_names(text))]
    faults: dict[str, str] = {}
    for line, name in pairs:
        word = name.strip("_").lower()
        is_number = name.strip("_") == "ONE"  # a constant of that value
        if word in BETTER and name not in faults and not is_number and f"{label}: {word}" not in ALLOWED:
            faults[name] = f"{label}:{line}: {name}: say {BETTER[word]}"
    return list(faults.values())


def _javascript_names(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith(("//", "*", "/*")):
            for match in _JAVASCRIPT.finditer(line):
                yield number, match[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files below the folders, by default those of FOLDERS; return the exit status."""
    folders = (sys.argv[1:] if arguments is None else arguments) or FOLDERS
    files = [
        path
        for folder in folders
        for path in ([ROOT / folder] if (ROOT / folder).is_file() else sorted((ROOT / folder).rglob("*")))
        if path.suffix in (".py", ".js") and path.is_file() and "built" not in path.parts
    ]
    faults = [fault for path in files for fault in faults_of(path)]
    print("\n".join([*faults, f"{len(files)} files, {len(faults)} names of the word list"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
