"""Print the compile-quality table as Markdown, of all families or of those named; with `--brief` one row a kernel.

With `--answer` it instead reads a line for each case, `CAPABILITY FAMILY NUMBER`, and answers each with a line of JSON:
so the tests have it in a process of its own, in which Triton has no GPU to look for. `CAPABILITY huge NUMBER` asks for
what may overflow in a call of `huge.py`, and `CAPABILITY short NUMBER` for the same where no kernel takes 64 bits for
an index of its own accord.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

from hookscope.triton_kernels import kernels

from .bounds import CAPABILITIES, Case, cases, families
from .huge import CASES
from .index_widths import Widths
from .reading import Reading, broken, compiled_plan, readings


def answer() -> None:
    for line in sys.stdin:
        try:
            reply = answer_to(line.split())
        except Exception as error:  # of whatever kind, it is the test's that asked, and the next one asks again
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


def answer_to(words: list[str]) -> Any:
    if words == ["operators"]:
        return sorted(kernels())
    capability, family, number = int(words[0]), words[1], int(words[2])
    if family in ("huge", "short"):
        return overflowing(CASES[number], capability, family == "short")
    case = cases(family)[number]
    rows = readings(case, capability)
    return [(dataclasses.asdict(row), broken(row, case.bounds_of(row.kernel))) for row in rows]


def overflowing(case: Case, capability: int, short: bool) -> list[tuple[str, int, list[str]]]:
    """Return each kernel's name, its number of checked indices and masks, and its possible overflows."""
    modules = [module for name, module in [*sys.modules.items()] if name.startswith("hookscope.triton_kernels.")]
    believed = [(module, module.is_long) for module in modules if hasattr(module, "is_long")]
    if short:
        for module, _ in believed:
            vars(module)["is_long"] = lambda farthest: False
    try:
        steps = compiled_plan(case, capability).steps
    finally:
        for module, is_long in believed:
            vars(module)["is_long"] = is_long
    results = []
    for step in steps:
        names = step.kernel.arg_names[len(step.arrays) :]
        numbers = {name: value for name, value in zip(names, step.scalars, strict=False) if isinstance(value, int)}
        widths = Widths(step.compiled.asm["ttir"], numbers, step.programs)
        results.append((step.compiled.metadata.name, widths.asked, widths.faults))
    return results


HEAD = (
    "Call",
    "Kernel",
    "GPU",
    "Warps, stages",
    "Registers",
    "Shared bytes",
    "Programs at once",
    "Reads in the code",
    "Writes",
    "In a loop",
    "Index bits",
    "Bounds",
)


def row_of(case: Case, reading: Reading) -> str:
    bounds = case.bounds_of(reading.kernel)
    widths = [" ".join(f"{count} of {size} B" for size, count in x.items()) for x in (reading.loads, reading.stores)]
    cells = [
        case.name,
        f"`{reading.kernel}`",
        f"{reading.capability / 10}",
        f"{reading.warps}, {reading.stages}",
        f"{reading.registers} <= {bounds.registers(reading.warps)}",
        f"{reading.shared} <= {bounds.shared(reading.capability)}",
        f"{reading.programs} >= {bounds.programs}",
        *widths,
        " ".join([*reading.tensor_cores, *reading.copies]) or "-",
        "64" if reading.wide_index else "32",
        "; ".join(broken(reading, bounds)) or "held",
    ]
    return f"| {' | '.join(cells)} |"


def table(names: list[str]) -> None:
    for family in names or families():
        print(f"\n### {family}\n\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
        for case in cases(family):
            for capability in CAPABILITIES:
                if case.only in (0, capability):
                    for reading in readings(case, capability):
                        print(row_of(case, reading), flush=True)


BRIEF = (
    "Kernel",
    "GPU",
    "Compiled for",
    "Registers",
    "Programs at once",
    "Spilled",
    "Reads of 16 B",
    "In a loop",
    "Bounds held",
)


def brief(names: list[str]) -> None:
    """Print one row for each kernel and GPU, of all calls together."""
    results: dict[tuple[str, int], list[tuple[Case, Reading]]] = {}
    for family in names or families():
        for case in cases(family):
            for capability in CAPABILITIES:
                if case.only in (0, capability):
                    for reading in readings(case, capability):
                        results.setdefault((reading.kernel, capability), []).append((case, reading))
    print(f"| {' | '.join(BRIEF)} |\n|{'---|' * len(BRIEF)}")
    for (kernel, capability), some in sorted(results.items()):
        rows = [reading for _, reading in some]
        reads = [sum(row.loads.values()) for row in rows]
        loops = sorted({" ".join([*row.tensor_cores, *row.copies]) for row in rows} - {""})
        cells = [
            f"`{kernel}`",
            f"{capability / 10}",
            f"{len(rows)} calls",
            f"{min(row.registers for row in rows)} to {max(row.registers for row in rows)}",
            f"{min(row.programs for row in rows)} to {max(row.programs for row in rows)}",
            f"{max(row.stack for row in rows)} B",
            f"{100 * sum(row.loads.get(16, 0) for row in rows) / max(1, sum(reads)):.0f}%",
            ", ".join(loops) or "-",
            f"{sum(not broken(row, case.bounds_of(kernel)) for case, row in some)} of {len(some)}",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


if sys.argv[1:] == ["--answer"]:
    answer()
elif sys.argv[1:2] == ["--brief"]:
    brief(sys.argv[2:])
else:
    table(sys.argv[1:])
