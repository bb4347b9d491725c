"""mindspore.communication and parallel in one process: rank 0 of 1, groups of it alone, settings that are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hookscope.engine import communication, parallel


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    communication.release()
    parallel.reset_auto_parallel_context()
    parallel.reset_algo_parameters()


def test_a_process_is_rank_0_of_1_in_the_world_and_in_every_group(capsys: pytest.CaptureFixture[str]) -> None:
    communication.init()
    communication.init("nccl")
    assert capsys.readouterr().err.count("hookscope runs in one process") == 1 and communication.GlobalComm.INITED
    communication.create_group("mine", [0])
    worlds = (
        communication.HCCL_WORLD_COMM_GROUP, communication.NCCL_WORLD_COMM_GROUP, communication.MCCL_WORLD_COMM_GROUP,
    )  # fmt: skip
    assert communication.GlobalComm.WORLD_COMM_GROUP in worlds
    for group in ("mine", *worlds):
        assert communication.get_rank(group) == communication.get_local_rank(group) == 0
        assert communication.get_group_size(group) == communication.get_local_rank_size(group) == 1
        assert communication.get_process_group_ranks(group) == [0] and communication.get_comm_name(group) == group
        assert communication.get_world_rank_from_group_rank(group, 0) == 0
        assert communication.get_group_rank_from_world_rank(0, group) == 0
    communication.destroy_group("mine")
    with pytest.raises(ValueError, match="For 'get_rank', there is no group 'mine'; create_group makes one"):
        communication.get_rank("mine")
    communication.release()
    assert not communication.GlobalComm.INITED


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: communication.init(3), TypeError, "'backend_name' must be a str or None, but got int"),  # type: ignore[arg-type]
        (lambda: communication.init("mpi"), RuntimeError, "must be 'hccl', 'nccl' or 'mccl', but got 'mpi'"),
        (lambda: communication.get_group_size(3), TypeError, "'group' must be a str, but got int"),  # type: ignore[arg-type]
        (lambda: communication.create_group("two", [0, 1]), ValueError, r"'rank_ids' can be \[0\], but got \[0, 1\]"),
        (lambda: communication.create_group("two", 0), TypeError, "'rank_ids' a list of ints"),  # type: ignore[arg-type]
        (lambda: communication.destroy_group("nccl_world_group"), ValueError, "cannot be destroyed; call release"),
        (
            lambda: communication.get_world_rank_from_group_rank("nccl_world_group", 1), ValueError,
            "there is one process, of rank 0, but got 1",
        ),
        (
            lambda: communication.get_group_rank_from_world_rank("a", "nccl_world_group"), TypeError,  # type: ignore[arg-type]
            "the rank must be an int, but got str",
        ),
        (lambda: communication.comm_func(), NotImplementedError, "every collective operation gives back its input"),
        (lambda: parallel.set_auto_parallel_context(no_such=1), ValueError, "there is no setting 'no_such'"),
        (lambda: parallel.get_auto_parallel_context("no_such"), ValueError, "there is no setting 'no_such'"),
        (lambda: parallel.get_algo_parameters("no_such"), ValueError, "there is no setting 'no_such'"),
        (
            lambda: parallel.set_auto_parallel_context(parallel_mode="all"), ValueError,
            "'parallel_mode' must be one of .*, but got 'all'",
        ),
        (lambda: parallel.AutoParallel(None), NotImplementedError, "call the network itself in one process"),
    ],
)  # fmt: skip
def test_what_takes_more_than_one_process_is_refused(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


def test_settings_of_a_cluster_are_kept_until_they_are_reset() -> None:
    for setting, keep, read, reset in (
        ({"device_num": 8, "parallel_mode": "data_parallel"}, parallel.set_auto_parallel_context,
         parallel.get_auto_parallel_context, parallel.reset_auto_parallel_context),
        ({"fully_use_devices": True, "algo_approxi_epsilon": 0.3}, parallel.set_algo_parameters,
         parallel.get_algo_parameters, parallel.reset_algo_parameters),
    ):  # fmt: skip
        before = {name: read(name) for name in setting}
        keep(**setting)
        assert {name: read(name) for name in setting} == setting != before
        reset()
        assert {name: read(name) for name in setting} == before
