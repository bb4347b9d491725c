"""Print the compile-quality table as Markdown, of all families or of those that are named.

With `--answer` it instead reads a line for each case, `CAPABILITY FAMILY NUMBER`, and answers each with a line of JSON:
so the tests have it in a process of its own, in which Triton has no GPU to look for.
"""

from __future__ import annotations

import dataclasses
import json
import sys

from hookscope.triton_kernels import kernels

from .bounds import CAPABILITIES, Case, cases, families
from .reading import Reading, broken, readings


def answer() -> None:
    for line in sys.stdin:
        if line.strip() == "operators":
            print(json.dumps(sorted(kernels())), flush=True)
            continue
        capability, family, number = line.split()
        case = cases(family)[int(number)]
        rows = readings(case, int(capability))
        said = [(dataclasses.asdict(row), broken(row, case.bounds_of(row.kernel))) for row in rows]
        print(json.dumps(said), flush=True)


HEAD = (
    "Call", "Kernel", "GPU", "Warps, stages", "Registers", "Shared bytes", "Programs at once",
    "Reads in the code", "Writes", "In a loop", "Index bits", "Bounds",
)  # fmt: skip


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


if sys.argv[1:] == ["--answer"]:
    answer()
else:
    table(sys.argv[1:])
