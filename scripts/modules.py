"""Where `import mindspore` differs from MindSpore 2.10 in modules and their names, and why.

    python scripts/modules.py [--check]

Prints a table in Markdown. What MindSpore offers is recorded (`tests/engine/recorded/modules.txt`); a name that only
says what to use instead, and a module whose import does, has that as its reason (`engine/base/absent_names.py`); the
reasons of the others stand in `tests/kernel/module_reasons.txt`. With --check it prints what has no reason, and what
stands there and is not needed (any more), and exits with 1 if there is something.
"""

from __future__ import annotations

import importlib
import sys
from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import hookscope

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "tests" / "engine" / "recorded" / "modules.txt"
REASONS = ROOT / "tests" / "kernel" / "module_reasons.txt"
WHOLE = "<module>"
REFUSES = " is not covered by hookscope: "


class Difference(NamedTuple):
    """A name that MindSpore's module offers, or ``WHOLE``, and what hookscope says to use instead, if it does."""

    module: str
    name: str
    instead: str | None


class Reason(NamedTuple):
    """A reason, for the names that fit a pattern in a module and all below it."""

    text: str
    module: str
    pattern: str

    def holds(self, one: Difference) -> bool:
        """Whether it is the reason of a difference."""
        return f"{one.module}.".startswith(f"{self.module}.") and fnmatchcase(one.name, self.pattern)


def grouped(path: Path) -> Iterable[tuple[str, str]]:
    """Each line that is indented, with the last one before it that is not."""
    head = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            yield head, line
        else:
            head = line.removesuffix(":")


def offered() -> dict[str, list[str]]:
    """MindSpore's modules, and the names that each of them offers."""
    modules = RECORDED.read_text(encoding="utf-8").splitlines()
    found: dict[str, list[str]] = {f"mindspore.{line[:-1]}".rstrip("."): [] for line in modules if line[0] != " "}
    for module, line in grouped(RECORDED):
        found[f"mindspore.{module}".rstrip(".")] += line.split()
    return found


def reasons() -> list[Reason]:
    """The rows of the table of reasons."""
    found = []
    module = ""
    for text, line in grouped(REASONS):
        if ":" in line:
            module, _, line = line.strip().partition(":")
        found += [Reason(text, module, pattern) for pattern in line.split()]
    return found


def differences() -> list[Difference]:
    """Where the two differ; the alias must be installed."""
    found = []
    for name, names in offered().items():
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            found.append(Difference(name, WHOLE, str(error).partition(REFUSES)[2] or None))
            continue
        for one in names:
            try:
                doc = getattr(getattr(module, one), "__doc__", None) or ""
                instead = doc.partition("Not covered: ")[2].partition("\n")[0]
            except AttributeError:
                found.append(Difference(name, one, None))
            else:
                found += [Difference(name, one, instead)] if instead else []
    return found


def checked(found: list[Difference], rows: list[Reason]) -> list[str]:
    """What is wrong: differences without a reason, and reasons without a difference."""
    unsaid = [one for one in found if one.instead is None]
    lines = [f"no reason: {one.module} {one.name}" for one in unsaid if not any(row.holds(one) for row in rows)]
    return lines + [
        f"not needed: {row.module} {row.pattern} ({row.text})" for row in rows if not any(map(row.holds, unsaid))
    ]


def table(found: list[Difference], rows: list[Reason]) -> str:
    """The table: each reason once, with the names and the modules that have them."""
    said: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one in found:
        why = one.instead or next((row.text for row in rows if row.holds(one)), "none")
        kind = "says what to use instead" if one.instead else "is not there"
        said[kind, why][one.name].add(one.module.removeprefix("mindspore").lstrip(".") or "mindspore")
    lines = ["| | Why | Modules | Names |", "|---|---|---|---|"]
    for (kind, why), names in sorted(said.items()):
        modules = sorted(set().union(*names.values()))
        shown = " ".join(f"`{name}`" for name in sorted(set(names) - {WHOLE})) or "the whole module"
        lines.append(f"| {kind} | {why} | {' '.join(f'`{module}`' for module in modules)} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    hookscope.install_as_mindspore()
    found, rows = differences(), reasons()
    wrong = checked(found, rows)
    if "--check" in sys.argv:
        sys.exit("\n".join(wrong) if wrong else 0)
    everything = offered()
    print(table(found, rows))
    print(
        f"\n{len(everything)} modules offer {sum(map(len, everything.values()))} names, many of them in several "
        f"modules; {sum(one.instead is not None for one in found)} times one says here what to use instead, "
        f"{sum(one.instead is None for one in found)} times there is none."
    )


if __name__ == "__main__":
    main()
