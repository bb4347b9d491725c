"""Random programs whose values change between calls; ``stale_plans`` runs thousands more by hand."""

from __future__ import annotations

from collections import Counter

from .stale_plans import counting, random_program, run


def test_no_plan_answers_for_what_is_no_longer_so() -> None:
    counts, reasons = Counter[str](), Counter[str]()
    wrong = []
    for seed in range(45):
        with counting(counts, reasons):
            result = run(random_program(seed))
        if result:
            wrong.append(f"seed {seed}, {result}")
    assert not wrong, wrong[0]
    assert counts["replayed"] > counts["eager"]
