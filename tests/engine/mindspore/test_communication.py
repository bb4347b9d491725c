"""``mindspore.communication`` in one process: it has rank 0 of 1 in each group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hookscope.engine import communication, mint, nn, parallel
from hookscope.engine.communication import HCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP


@pytest.fixture(autouse=True)
def _released() -> Iterator[None]:
    yield
    communication.release()


def facts(group: str) -> list[Any]:
    return [
        communication.get_rank(group),
        communication.get_local_rank(group),
        communication.get_group_size(group),
        communication.get_local_rank_size(group),
        communication.get_process_group_ranks(group),
        communication.get_comm_name(group),
        communication.get_world_rank_from_group_rank(group, 0),
        communication.get_group_rank_from_world_rank(0, group),
    ]


@pytest.mark.parametrize(
    "arguments", [{"parallel_mode": "auto_parallel"}, {"pipeline_stages": 2}, {"parallel_optimizer_config": {"a": 1}}]
)
def test_a_setting_that_has_no_effect_says_so(arguments: dict[str, Any]) -> None:
    with pytest.warns(UserWarning, match=f"{next(iter(arguments))}.* is kept and has no effect yet"):
        parallel.set_auto_parallel_context(**arguments)
    parallel.reset_auto_parallel_context()


def test_a_parallel_optimizer_is_for_data_parallel() -> None:
    with pytest.raises(TypeError, match="'enable_parallel_optimizer' must be a bool, but got int"):
        parallel.set_auto_parallel_context(enable_parallel_optimizer=1)
    parallel.set_auto_parallel_context(enable_parallel_optimizer=True)
    net = nn.Dense(2, 1)
    message = "For '{}', 'enable_parallel_optimizer' needs parallel_mode=\"data_parallel\", but the mode is '{}'"
    try:
        for mode in ("stand_alone", "hybrid_parallel"):
            parallel.set_auto_parallel_context(parallel_mode=mode)
            with pytest.raises(RuntimeError, match=message.format("Adam", mode)):
                nn.Adam(net.trainable_params())
            with pytest.raises(RuntimeError, match=message.format("SGD", mode)):
                mint.optim.SGD(net.trainable_params(), 0.1)
        parallel.set_auto_parallel_context(parallel_mode="data_parallel")
        adam = nn.Adam(net.trainable_params())  # one process keeps everything
        assert adam.optim_filter == (True, True) and not adam.use_parallel
        assert adam.whole_state() == adam.parameters_dict()
    finally:
        parallel.reset_auto_parallel_context()


ALONE = [0, 0, 1, 1, [0]]


@pytest.mark.parametrize("group", [HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP])
def test_the_process_is_the_only_one_of_the_world(group: str) -> None:
    assert facts(group) == [*ALONE, group, 0, 0]


def test_without_a_group_the_world_is_asked() -> None:
    assert [
        communication.get_local_rank(),
        communication.get_local_rank_size(),
        communication.get_process_group_ranks(),
        communication.get_comm_name(),
    ] == [0, 1, [0], "hccl_world_group"]


def test_a_group_is_there_from_its_making_to_its_end() -> None:
    communication.create_group("pair", [0])
    communication.create_group("other", [0])
    assert facts("pair") == [*ALONE, "pair", 0, 0]
    communication.destroy_group("pair")
    with pytest.raises(ValueError, match="there is no group 'pair'; create_group makes one"):
        communication.get_rank("pair")
    assert facts("other") == [*ALONE, "other", 0, 0]
    communication.release()
    with pytest.raises(ValueError, match="there is no group 'other'"):
        communication.get_rank("other")


def test_after_a_release_it_is_said_again(capsys: pytest.CaptureFixture[str]) -> None:
    message = "hookscope runs in one process: communication has rank 0 of 1.\n"
    for backend, expected in ((None, message), ("nccl", ""), ("hccl", "")):
        communication.init(backend)
        assert capsys.readouterr().err == expected and communication.GlobalComm.INITED
    communication.release()
    assert not communication.GlobalComm.INITED
    communication.init("mccl")
    assert capsys.readouterr().err == message


WORLD = HCCL_WORLD_COMM_GROUP
OF_A_GROUP: dict[str, Any] = {
    "get_rank": communication.get_rank,
    "get_local_rank": communication.get_local_rank,
    "get_group_size": communication.get_group_size,
    "get_local_rank_size": communication.get_local_rank_size,
    "get_process_group_ranks": communication.get_process_group_ranks,
    "get_comm_name": communication.get_comm_name,
    "get_world_rank_from_group_rank": lambda group: communication.get_world_rank_from_group_rank(group, 0),
    "get_group_rank_from_world_rank": lambda group: communication.get_group_rank_from_world_rank(0, group),
    "destroy_group": communication.destroy_group,
}


@pytest.mark.parametrize("name", OF_A_GROUP)
def test_a_group_that_is_not_there_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=f"For '{name}', there is no group 'x'; create_group makes one"):
        OF_A_GROUP[name]("x")
    with pytest.raises(TypeError, match=f"For '{name}', 'group' must be a str, but got int"):
        OF_A_GROUP[name](1)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: communication.get_world_rank_from_group_rank(WORLD, 1), ValueError, "ranks from 0 to 0, but got 1"),
        (lambda: communication.get_group_rank_from_world_rank(-1, WORLD), ValueError, r"are \[0\], but got -1"),
        (lambda: communication.get_world_rank_from_group_rank(WORLD, True), TypeError, "must be an int, but got bool"),
        (lambda: communication.get_group_rank_from_world_rank("0", WORLD), TypeError, "must be an int, but got str"),
        (lambda: communication.create_group("g", [0, 1]), ValueError, r"different ranks from 0 to 0, but got \[0, 1\]"),
        (lambda: communication.create_group("g", (0,)), TypeError, "'rank_ids' a list of ints"),
        (lambda: communication.create_group(1, [0]), TypeError, "'group' must be a str"),
        (lambda: communication.destroy_group(WORLD), ValueError, "cannot be destroyed; call release"),
        (lambda: communication.init(3), TypeError, "'backend_name' must be a str or None, but got int"),
        (lambda: communication.init("mpi"), RuntimeError, "must be 'hccl', 'nccl' or 'mccl', but got 'mpi'"),
    ],
)
def test_what_one_process_cannot_be_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
