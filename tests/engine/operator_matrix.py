"""``python tests/engine/operator_matrix.py``: every operator through every check, and the worst errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import test_operators as checks

ALL, SMOOTH = checks.CASES, checks.WITH_GRADIENT
CHECKS: list[tuple[str, Callable[..., None], list[Any]]] = [
    ("forward", checks.test_forward_is_what_the_reference_computes, ALL),
    ("not contiguous", checks.test_non_contiguous_inputs_give_the_same, ALL),
    ("gradient", checks.test_gradient_is_that_of_central_differences, SMOOTH),
    ("gradient on tensors", checks.test_gradient_is_the_same_computed_on_tensors, SMOOTH),
    ("second derivative", checks.test_second_derivative_is_that_of_differences_of_the_first, SMOOTH),
    ("dtypes kept", checks.test_results_and_gradients_keep_the_dtype, [c for c in SMOOTH if c.values[0] != "cast"]),
]


def main() -> int:
    """Run all checks and print a line for each; 1 where one failed."""
    failed: list[str] = []
    print(f"{len(checks.OPERATORS)} operators, {len(ALL)} samples, {len(SMOOTH)} of them with a gradient")
    print(f"{'check':<22}{'cases':>7}{'failed':>8}   worst relative error")
    for title, check, cases in CHECKS:
        wrong = 0
        for case in cases:
            try:
                check(*case.values)
            except Exception as error:  # a table of everything goes on after a failure, whatever it is
                wrong += 1
                failed.append(f"{title}: {case.id} {type(error).__name__}")
        worst = f"{checks.WORST[title]:.1e}" if title in checks.WORST else "exact"
        print(f"{title:<22}{len(cases):>7}{wrong:>8}   {worst}")
    print("\n".join(failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
