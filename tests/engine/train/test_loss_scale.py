"""The managers of the loss scale: what they say of themselves, and the cells that change the scale in a step."""

from __future__ import annotations

import numpy as np
import pytest

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
    records = []
    for overflow, expected in zip(OVERFLOWS, SCALES, strict=True):
        records.append(bool(cell(scale, Tensor(bool(overflow)))))
        np.testing.assert_array_equal(scale.asnumpy(), expected)
    assert records == [bool(overflow) for overflow in OVERFLOWS]


def test_a_scale_that_stays_has_a_cell_where_updates_are_dropped() -> None:
    dropping, keeping = ms.FixedLossScaleManager(8.0), ms.FixedLossScaleManager(8.0, drop_overflow_update=False)
    assert (dropping.get_drop_overflow_update(), keeping.get_drop_overflow_update()) == (True, False)
    assert (dropping.get_loss_scale(), keeping.get_loss_scale()) == (8.0, 8.0)
    assert keeping.get_update_cell() is None
    cell, scale = dropping.get_update_cell(), Parameter(Tensor(8.0, ms.float32), name="scale")
    assert cell is not None and float(cell.get_loss_scale()) == 8.0
    assert [bool(cell(scale, Tensor(bool(overflow)))) for overflow in (0, 1)] == [False, True]
    np.testing.assert_array_equal(scale.asnumpy(), 8.0)


def test_a_manager_that_counts_itself_changes_its_scale_as_mindspore_does() -> None:
    manager = ms.DynamicLossScaleManager(16.0, 4, 3)
    for overflow, expected in zip(OVERFLOWS, SCALES, strict=True):
        manager.update_loss_scale(bool(overflow))
        assert manager.get_loss_scale() == expected


def test_a_scale_begins_at_1_at_least() -> None:
    assert ms.DynamicLossScaleManager(1).get_loss_scale() == 1
    with pytest.raises(ValueError, match="'init_loss_scale' must be at least 1, but got 0.5"):
        ms.DynamicLossScaleManager(0.5)
    with pytest.raises(ValueError, match="'scale_window' must be"):
        ms.DynamicLossScaleManager(scale_window=0)
    assert ms.DynamicLossScaleManager(scale_window=1).scale_window == 1


def test_a_thousand_overflows_in_a_row_are_borne_and_one_more_is_an_error() -> None:
    manager = ms.DynamicLossScaleManager()
    for row in range(2):  # a good step between them begins the count anew
        for _ in range(1000 if row else 999):
            manager.update_loss_scale(True)
        if not row:
            manager.update_loss_scale(False)
    with pytest.raises(RuntimeError, match="the loss scale is 1, and 1001 steps in a row overflowed"):
        manager.update_loss_scale(True)


def test_a_scale_without_overflow_rises_after_each_window() -> None:
    manager = ms.DynamicLossScaleManager(16.0, 2, 3)
    scales = []
    for _ in range(7):
        manager.update_loss_scale(False)
        scales.append(manager.get_loss_scale())
    assert scales == [16, 16, 32, 32, 32, 64, 64]
