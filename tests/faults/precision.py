"""Precision and recall of each condition over all corpora, as the table in docs/conditions.md.

python -m tests.faults.precision            # measure and print
python -m tests.faults.precision --write    # and write the table into the page

Precision is the share of right ones among the programs whose first cause is of the condition, alarms on healthy
programs included. Recall is the share of its planted programs that it is the first cause of.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from hookscope.engine.debug import CONDITIONS
from hookscope.engine.debug.diagnose.causes import Cause
from tests.faults.corpus import HEALTHY, MORE_HEALTHY, MORE_PLANTED, PLANTED
from tests.faults.judging import FOUND_BY, findings_of, is_planted_fault
from tests.faults.scripts.expected import RIGHT, is_right
from tests.faults.scripts.judging import HEALTHY_SCRIPTS, PLANTED_SCRIPTS, session_of

PAGE = Path(__file__).resolve().parents[2] / "docs/conditions.md"
BEGIN, END = "<!-- measured -->\n", "<!-- end -->\n"


def planted_outcomes() -> Iterator[tuple[frozenset[str], list[Cause], bool]]:
    """Yield for each planted program the conditions that would be right, its causes, and whether the first is."""
    for program in (*PLANTED, *MORE_PLANTED):
        causes = list(findings_of(program).causes())
        yield frozenset(FOUND_BY[program.kind]), causes, bool(causes) and is_planted_fault(causes[0], program)
    for script in PLANTED_SCRIPTS:
        causes = list(session_of(script).findings().causes())
        yield frozenset(RIGHT.get(script.name, ())), causes, bool(causes) and is_right(causes[0], script)


def healthy_outcomes() -> Iterator[Iterable[Cause]]:
    """Yield the causes, which are alarms, for each healthy program and each planted one without its fault."""
    for program in (*HEALTHY, *MORE_HEALTHY):
        yield findings_of(program).causes()
    for program in (*PLANTED, *MORE_PLANTED):
        yield findings_of(program, mended=True).causes()
    for script in HEALTHY_SCRIPTS:
        yield session_of(script).findings().causes()
    for script in PLANTED_SCRIPTS:
        yield session_of(script, mended=True).findings().causes()


def table() -> str:
    """Measure, and return the table with a sentence on all conditions together."""
    planted, right, wrong, alarms = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    counts = Counter[str]()
    for expected, causes, is_first_right in planted_outcomes():
        counts["planted"] += 1
        counts["right"] += is_first_right
        # Where several conditions would be right, the one that was found counts.
        first = causes[0].condition if causes else ""
        planted[first if is_first_right else min(expected, default="")] += 1
        if first:
            (right if is_first_right else wrong)[first] += 1
    for causes_of_healthy in healthy_outcomes():
        conditions = {cause.condition for cause in causes_of_healthy}
        counts["healthy"] += 1
        counts["silent"] += not conditions
        alarms.update(conditions)
    lines = ["| condition | planted | found first | wrongly first | alarms on healthy programs | precision | recall |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for name in CONDITIONS:
        if planted[name] or right[name] or wrong[name] or alarms[name]:
            named = right[name] + wrong[name] + alarms[name]
            precision = f"{right[name] / named:.2f}" if named else ""
            recall = f"{right[name] / planted[name]:.2f}" if planted[name] else ""
            row = (f"`{name}`", planted[name], right[name], wrong[name], alarms[name], precision, recall)
            lines.append(f"| {' | '.join(map(str, row))} |")
    unseen = [f"`{name}`" for name in CONDITIONS if not (planted[name] or wrong[name] or alarms[name])]
    summary = (
        f"The first cause is right in {counts['right']} of {counts['planted']} programs with a planted fault, and "
        f"{counts['silent']} of {counts['healthy']} healthy ones raise nothing. In none of them: {', '.join(unseen)}."
    )
    return f"\n{summary}\n\n" + "\n".join(lines) + "\n\n"


def main(arguments: list[str]) -> None:
    measured = table()
    print(measured)
    if "--write" in arguments:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + measured + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
