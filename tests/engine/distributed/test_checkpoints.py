"""Checkpoints of two ranks: the checks of checks_checkpoints.py; a rank that is killed while it saves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.distributed.killed_saves import trial
from tests.ranks import command, names, needs_ranks, outcomes, run

CHECKS = "tests.engine.distributed.checks_checkpoints"

pytestmark = needs_ranks


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [*names(CHECKS), "the end"])
def test_two_ranks(name: str) -> None:
    assert not outcomes(CHECKS, 2).get(name, "")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_rank_that_is_killed_while_it_saves_leaves_a_whole_file(share: float, tmp_path: Path) -> None:
    trial(tmp_path / "x.ckpt", share)


def test_a_file_that_cannot_be_written_ends_the_training_of_all_ranks() -> None:
    code = """
import numpy as np
import hookscope.engine as ms
from hookscope.engine import communication
from tests.engine.distributed.checks_checkpoints import data, model
from hookscope.engine.train import ModelCheckpoint
communication.init()
ms.set_auto_parallel_context(parallel_mode="data_parallel")
model().train(5, data(communication.get_rank()), callbacks=[ModelCheckpoint("x" * 300)])
print("trained")
"""
    status, output = run(command(2, "-c", code))
    assert status and "File name too long" in output and "trained" not in output
