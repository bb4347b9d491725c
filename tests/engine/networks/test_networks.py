"""Small networks, written as programs for MindSpore, compute what they compute there: one training step each.

Names and shapes agree exactly; numbers but for the order in which float32 sums are added.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from networks.record import FAMILIES

from hookscope.kernel.alias import install_as_mindspore, uninstall

RECORDED = Path(__file__).parent / "recorded"

install_as_mindspore()  # while the programs are imported: they say `import mindspore`
try:
    from networks.steps import PROGRAMS, arrays

    for family in FAMILIES:
        importlib.import_module(f"networks.{family}")
finally:
    uninstall()

# A sum of n numbers in another order differs by up to about sqrt(n) x 6e-8 of the largest; n is at most some thousand
# here, and a step goes through some ten sums, one after the other.
# MindSpore's own sigmoid and tanh are up to 1e-6 off below 3, its tanh up to 1e-4 at 5: behind several it is felt.
OF_THE_LARGEST = 3e-5
# A gradient that is zero by its formula, as that of a key's bias, is what rounding leaves of much larger numbers; so is
# a parameter that a step brings near zero.
OF_THE_LARGEST_OF_ALL = 1e-6
# A sum that lies between two numbers of float16, 1e-3 apart, may be rounded to either.
OF_THE_LARGEST_IN_HALF = 1e-3


def test_every_program_was_recorded_and_nothing_else() -> None:
    assert sorted(PROGRAMS) == sorted(path.stem for path in RECORDED.glob("*.npz"))
    assert len(PROGRAMS) >= 25


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_training_step_is_that_of_mindspore(name: str) -> None:
    with np.load(RECORDED / f"{name}.npz", allow_pickle=False) as file:
        want = dict(file)
    result = arrays(PROGRAMS[name]())
    assert list(result) == list(want)
    largest = {
        kind: max(np.abs(item).max() for key, item in want.items() if key.startswith(kind))
        for kind in ("gradient", "parameter")
        if any(key.startswith(kind) for key in want)
    }
    of_the_largest = OF_THE_LARGEST_IN_HALF if name == "mixed_precision" else OF_THE_LARGEST
    for key, entry in want.items():
        if entry.dtype.kind == "U":
            assert result[key].tolist() == entry.tolist(), key
            continue
        assert (result[key].shape, result[key].dtype) == (entry.shape, entry.dtype), key
        bound = of_the_largest * np.abs(entry).max() + OF_THE_LARGEST_OF_ALL * largest.get(key.split()[0], 0)
        np.testing.assert_allclose(result[key], entry, rtol=0, atol=bound, err_msg=key)
