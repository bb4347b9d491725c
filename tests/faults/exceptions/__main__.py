"""Print the table of all scripts, or the explanations of some.

python -m tests.faults.exceptions            # the table, with a score of the held-out scripts apart
python -m tests.faults.exceptions NAME ...   # explanations, with the facts that are missing and what is false
"""

from __future__ import annotations

import sys

from .judging import CASES, judged, table

if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(table())
    for case in CASES:
        if case.name in sys.argv[1:]:
            judgment = judged(case)
            print(f"== {case.name}: {judgment.error!r}", judgment.text, sep="\n")
            print(f"missing: {judgment.missing}, false: {judgment.false}")
