"""The managers of the loss scale: what they say of themselves, and the cells that change the scale in a step."""

from __future__ import annotations

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor

OVERFLOWS = (0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0)
# Divided by 4 at an overflow, but not below 1; times 4 where the third step since then or since the last rise is good.
SCALES = (16, 4, 4, 4, 16, 16, 4, 1, 1, 1, 1, 4)


def test_the_cell_of_a_scale_that_changes_changes_it_as_mindspore_does() -> None:
    manager = ms.DynamicLossScaleManager(16.0, 4, 3)
    assert manager.get_drop_overflow_update() is True
    cell = manager.get_update_cell()
    assert cell is not None
    scale = Parameter(Tensor(16.0, ms.float32), name="scale")
    told = []
    for overflow, expected in zip(OVERFLOWS, SCALES, strict=True):
        told.append(bool(cell(scale, Tensor(bool(overflow)))))
        np.testing.assert_array_equal(scale.asnumpy(), expected)
    assert told == [bool(overflow) for overflow in OVERFLOWS]


def test_a_scale_that_stays_has_a_cell_where_updates_are_dropped() -> None:
    dropping, keeping = ms.FixedLossScaleManager(8.0), ms.FixedLossScaleManager(8.0, drop_overflow_update=False)
    assert (dropping.get_drop_overflow_update(), keeping.get_drop_overflow_update()) == (True, False)
    assert (dropping.get_loss_scale(), keeping.get_loss_scale()) == (8.0, 8.0)
    assert keeping.get_update_cell() is None
    cell, scale = dropping.get_update_cell(), Parameter(Tensor(8.0, ms.float32), name="scale")
    assert cell is not None and float(cell.get_loss_scale()) == 8.0
    assert [bool(cell(scale, Tensor(bool(overflow)))) for overflow in (0, 1)] == [False, True]
    np.testing.assert_array_equal(scale.asnumpy(), 8.0)
