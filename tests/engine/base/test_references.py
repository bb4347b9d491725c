"""Reference counts that allow writing in place: measured at import; after a surprise, everything is copied."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, grad
from hookscope.engine.autograd import sums
from hookscope.engine.autograd.regions import Regions
from hookscope.engine.base import reference_counts
from hookscope.engine.base.reference_counts import NEVER, calibrated
from hookscope.engine.compile.loops import cpu_loops as loops
from hookscope.engine.tape.tape import Recording
from hookscope.engine.tensors.operator import ARRAY_FUNCTIONS

SIZE = sums._MIN_SIZE_IN_PLACE + 1


def counts(extra: int) -> Any:
    """Return a counter that counts an array with one holder as held once, and more for each further holder."""

    def allows(bound: int, box: list[Any]) -> bool:
        array = box.pop()
        return sys.getrefcount(array) - (1 if reference_counts.BORROWS else 2) + 1 + extra <= bound

    return allows


def test_the_bounds_are_what_is_known_of_this_python() -> None:
    assert NEVER not in (sums._MAX_REFERENCES, loops._HELD_HERE, loops._BASE_HERE)
    assert calibrated(counts(0), 1) == 1


@pytest.mark.parametrize(
    "allows",
    [counts(1), lambda bound, box: False, lambda bound, box: True],
    ids=["one more holder, as of a debugger that looks at frames", "a count without an end", "no count at all"],
)
def test_where_counting_surprises_nothing_is_within_the_bound(allows: Any) -> None:
    assert calibrated(allows, 1) == NEVER


def test_without_a_global_lock_no_count_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert calibrated(counts(0), 1) == NEVER


def _walked(gradients: dict[int, Any], array: Any, result: Any) -> None:
    sums.add_in_place(gradients, ARRAY_FUNCTIONS, [(array, result)])


def _watched(gradients: dict[int, Any], array: Any, result: Any) -> None:
    Regions(Recording([]), gradients, ARRAY_FUNCTIONS).add([(array, result)])


def _watched_inside(gradients: dict[int, Any], array: Any, result: Any) -> None:
    region: Any = SimpleNamespace(sums=dict(gradients))
    regions = Regions(Recording([]), gradients, ARRAY_FUNCTIONS)
    regions.open_regions.append(region)
    regions.add([(array, result)])
    assert region.sums[id(array)] is gradients[id(array)]


@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("add", [_walked, _watched, _watched_inside])
def test_a_sum_is_written_over_the_gradient_that_only_the_walk_holds(add: Any, is_held: bool) -> None:
    array, result = np.zeros(1), np.ones(SIZE, np.float32)
    gradients = {id(array): np.zeros(SIZE, np.float32)}
    held = gradients[id(array)] if is_held else None
    before = id(gradients[id(array)])
    add(gradients, array, result)
    assert (id(gradients[id(array)]) == before) is not is_held
    assert gradients[id(array)].all()
    assert held is None or not held.any()


@pytest.mark.parametrize("is_held", [False, True])
def test_an_array_of_a_plan_is_free_where_only_its_variable_holds_it(is_held: bool) -> None:
    array = np.zeros(4)
    other = array if is_held else None
    assert loops.is_free(array) is not is_held
    array = np.zeros(4).reshape(2, 2)
    other = array.base if is_held else None
    assert loops.is_free(array) is not is_held
    del other


def test_gradients_have_the_same_bits_where_everything_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    x = Tensor(np.random.default_rng(0).normal(size=(80, 90)).astype(np.float32))

    def network(x: Tensor) -> Tensor:
        return ((x * x + x * 3.0).exp() * x + (x.T @ x).sum() * x).sum()

    in_place = grad(network)(x).asnumpy()
    monkeypatch.setattr(sums, "_MAX_REFERENCES", NEVER)
    assert grad(network)(x).asnumpy().tobytes() == in_place.tobytes()
