"""Random cases given to the real MindSpore and to Hookscope; prints what differs, the operator with most of it first.

    python -m tests.differential --mindspore /path/to/python --cases 10000 --seed 1
    python -m tests.differential --mindspore /path/to/python --only ops.softmax --cases 200
    python -m tests.differential --mindspore /path/to/python --seed 1 --case 4711      # that one case, in full
    python -m tests.differential --mindspore /path/to/python --kinds hooks --shrink    # what differs, in few lines

``--mindspore`` is the Python of an environment with MindSpore 2.10. A case is the source of a function and the arrays
it is called with (`cases.py`); each package runs it in a process of its own (`server.py`), values travel as JSON.
`comparing.py` compares the answers, with tolerances. Each accepted difference is a row of `accepted.py`. A kind of case
(operators, forms of calls, layers, optimizers, hooks, ...) is a generator in ``GENERATORS``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict

import numpy as np

from tests.differential import bprops, cells, forms, hooks, layers, operators, optimizers, programs
from tests.differential.accepted import reason_for
from tests.differential.cases import Case, Generator
from tests.differential.comparing import Difference, compare
from tests.differential.shrinking import shrunk
from tests.differential.talking import Package

GENERATORS: dict[str, Generator] = {
    "operators": operators.draw,
    "forms": forms.draw,
    "layers": layers.draw,
    "optimizers": optimizers.draw,
    "hooks": hooks.draw,
    "bprops": bprops.draw,
    "programs": programs.draw,
    "cells": cells.draw,
}


def drawn(seed: int, number: int, kinds: list[str], only: str) -> Case:
    """Draw case ``number``, the same whichever others are drawn."""
    rng = np.random.default_rng((seed, number))
    return GENERATORS[kinds[int(rng.integers(len(kinds)))]](rng, only)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mindspore", required=True, help="the Python that has MindSpore")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=GENERATORS, default=list(GENERATORS))
    parser.add_argument("--only", default="", help="names that begin so, such as ops.soft")
    parser.add_argument("--case", type=int, help="run this one, and print all of it")
    parser.add_argument("--errors", action="store_true", help="print also where only the class of an error differs")
    parser.add_argument("--shrink", action="store_true", help="take lines out of what is printed while it differs")
    parser.add_argument("--shown", type=int, default=2, help="cases printed for each operator and difference")
    options = parser.parse_args()
    mindspore, hookscope = Package(options.mindspore, "mindspore"), Package(sys.executable, "hookscope")
    outcomes: Counter[str] = Counter()
    results: dict[tuple[str, str], list[tuple[int, Case, Difference]]] = defaultdict(list)
    accepted: Counter[str] = Counter()
    unregistered: Counter[str] = Counter()  # how often in a row MindSpore had no kernel for the group
    start = time.monotonic()
    try:
        for number in range(options.cases) if options.case is None else [options.case]:
            case = drawn(options.seed, number, options.kinds, options.only)
            if unregistered[case.group] == 3 and "." in case.group:  # of an operator: a process less to start
                outcomes["no kernel there"] += 1
                continue
            reference, answer = mindspore.run(case), hookscope.run(case)
            unregistered[case.group] += 1 if "unregistered" in reference.get("text", "") else -unregistered[case.group]
            if options.case is not None:
                print(case, reference, answer, sep="\n\n")
            difference = compare(reference, answer)
            outcomes[difference.kind] += 1
            if difference.same or (difference.kind == "class of error" and not options.errors):
                continue
            reason = reason_for(case, reference, answer, difference, mindspore, hookscope)
            if reason is not None:
                accepted[reason] += 1
                continue
            if difference.kind != "class of error":
                mindspore.fresh()
                difference = compare(mindspore.run(case), answer)
                if difference.same:
                    outcomes["not again"] += 1
                    continue
            members = results[case.group, difference.kind]
            if options.shrink and len(members) < options.shown:
                case, difference = shrunk(case, difference, mindspore, hookscope)
            members.append((number, case, difference))
    except KeyboardInterrupt:
        print("interrupted; so far:")
    finally:
        mindspore.close()
        hookscope.close()
    for (group, kind), members in sorted(results.items(), key=lambda item: -len(item[1])):
        print(f"{group}: {kind}, {len(members)} cases")
        for number, case, difference in members[: options.shown]:
            print(f"  {number}: {case.short()}\n      {difference.text}")
    print(f"\n{sum(outcomes.values())} cases in {time.monotonic() - start:.0f} s:", dict(outcomes.most_common()))
    for reason, count in accepted.most_common():
        print(f"  accepted {count}: {reason}")
    return bool(results)


if __name__ == "__main__":
    sys.exit(main())
