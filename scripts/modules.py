"""Differences between `import mindspore` and MindSpore 2.10 in modules and their names, with reasons.

    python scripts/modules.py [--check]

Prints a table in Markdown. MindSpore's modules are recorded (`tests/engine/recorded/modules.txt`). For a name or module
whose use names an alternative, that is its reason (`engine/base/absent_names.py`); the other reasons are in
`tests/kernel/module_reasons.txt`. With --check it prints differences without a reason, and unneeded reasons, and exits
with 1 if there are any.
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
WHOLE_MODULE = "<module>"
REFUSES = " is not covered by hookscope: "


class Difference(NamedTuple):
    """A name in MindSpore's module, or ``WHOLE_MODULE``, and the alternative that hookscope suggests, if any."""

    module: str
    name: str
    instead: str | None


class Reason(NamedTuple):
    """A reason for the names that match a pattern in a module and everything below it."""

    text: str
    module: str
    pattern: str

    def applies_to(self, difference: Difference) -> bool:
        """Return whether this is the reason of a difference."""
        return f"{difference.module}.".startswith(f"{self.module}.") and fnmatchcase(difference.name, self.pattern)


def grouped(path: Path) -> Iterable[tuple[str, str]]:
    """Yield each indented line, with the last unindented one before it."""
    head = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            yield head, line
        else:
            head = line.removesuffix(":")


def offered() -> dict[str, list[str]]:
    """Return MindSpore's modules, and the names in each of them."""
    modules = RECORDED.read_text(encoding="utf-8").splitlines()
    names_by_module: dict[str, list[str]] = {
        f"mindspore.{line[:-1]}".rstrip("."): [] for line in modules if line[0] != " "
    }
    for module, line in grouped(RECORDED):
        names_by_module[f"mindspore.{module}".rstrip(".")] += line.split()
    return names_by_module


def reasons() -> list[Reason]:
    """Return the rows of the table of reasons."""
    rows = []
    module = ""
    for text, line in grouped(REASONS):
        if ":" in line:
            module, _, line = line.strip().partition(":")
        rows += [Reason(text, module, pattern) for pattern in line.split()]
    return rows


def differences() -> list[Difference]:
    """Return the differences; the alias must be installed."""
    results = []
    for name, names in offered().items():
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            results.append(Difference(name, WHOLE_MODULE, str(error).partition(REFUSES)[2] or None))
            continue
        for attribute in names:
            try:
                doc = getattr(getattr(module, attribute), "__doc__", None) or ""
                instead = doc.partition("Not covered: ")[2].partition("\n")[0]
            except AttributeError:
                results.append(Difference(name, attribute, None))
            else:
                results += [Difference(name, attribute, instead)] if instead else []
    return results


def checked(results: list[Difference], rows: list[Reason]) -> list[str]:
    """Return the problems: differences without a reason, and reasons without a difference."""
    missing = [difference for difference in results if difference.instead is None]
    lines = [
        f"no reason: {difference.module} {difference.name}"
        for difference in missing
        if not any(row.applies_to(difference) for row in rows)
    ]
    return lines + [
        f"not needed: {row.module} {row.pattern} ({row.text})" for row in rows if not any(map(row.applies_to, missing))
    ]


def table(results: list[Difference], rows: list[Reason]) -> str:
    """Return the table: each reason once, with the names and the modules that it applies to."""
    groups: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for difference in results:
        reason = difference.instead or next((row.text for row in rows if row.applies_to(difference)), "none")
        kind = "says what to use instead" if difference.instead else "is not there"
        groups[kind, reason][difference.name].add(
            difference.module.removeprefix("mindspore").lstrip(".") or "mindspore"
        )
    lines = ["| | Why | Modules | Names |", "|---|---|---|---|"]
    for (kind, reason), names in sorted(groups.items()):
        modules = sorted(set().union(*names.values()))
        listing = " ".join(f"`{name}`" for name in sorted(set(names) - {WHOLE_MODULE})) or "the whole module"
        lines.append(f"| {kind} | {reason} | {' '.join(f'`{module}`' for module in modules)} | {listing} |")
    return "\n".join(lines)


def main() -> None:
    hookscope.install_as_mindspore()
    results, rows = differences(), reasons()
    problems = checked(results, rows)
    if "--check" in sys.argv:
        sys.exit("\n".join(problems) if problems else 0)
    modules = offered()
    print(table(results, rows))
    print(
        f"\n{len(modules)} modules offer {sum(map(len, modules.values()))} names, many of them in several "
        f"modules; {sum(row.instead is not None for row in results)} times one says here what to use instead, "
        f"{sum(row.instead is None for row in results)} times there is none."
    )


if __name__ == "__main__":
    main()
