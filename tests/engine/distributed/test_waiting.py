"""Waiting between ranks: cycles in plain data of all ranks, and ranks that synchronize after errors."""

from __future__ import annotations

import random

import pytest

from hookscope.engine.distributed.waiting import RankState, deadlock, missing, same_waits
from tests.ranks import names, needs_ranks, outcomes

CHECKS = "tests.engine.distributed.checks_waiting"


def computes(**requests: int) -> RankState:
    return {"waits": None, "requests": requests}


def waits(group: str, number: int, ranks: list[int], **requests: int) -> RankState:
    report = {"what": "all_reduce", "line": "train.py:1", "group": group, "number": number, "ranks": ranks}
    return {"waits": report, "requests": {group: number, **requests}}  # type: ignore[typeddict-item]


def receives(source: int, **requests: int) -> RankState:
    report = {"what": "receive", "line": "train.py:2", "group": "", "number": 0, "ranks": [source]}
    return {"waits": report, "requests": requests}  # type: ignore[typeddict-item]


def test_a_collective_waits_for_those_who_have_not_asked_for_it() -> None:
    stand = {0: waits("all", 3, [0, 1, 2]), 1: computes(all=2), 2: computes(all=3)}
    assert missing(0, stand) == [1]
    assert missing(1, stand) == []
    assert deadlock(stand) == {}


def test_a_rank_that_has_ended_is_waited_for() -> None:
    assert missing(0, {0: waits("all", 1, [0, 1])}) == [1]


def test_two_groups_in_opposite_order_are_a_deadlock() -> None:
    assert deadlock({0: waits("a", 1, [0, 1]), 1: waits("b", 1, [0, 1])}) == {0: [1], 1: [0]}


def test_receiving_from_each_other_is_a_deadlock() -> None:
    assert deadlock({0: receives(1), 1: receives(0), 2: computes()}) == {0: [1], 1: [0]}


def test_a_circle_of_three_is_named_without_who_only_waits_for_it() -> None:
    stand = {0: receives(1), 1: receives(2), 2: receives(0), 3: receives(0)}
    assert deadlock(stand) == {0: [1], 1: [2], 2: [0]}


def test_a_receive_from_one_that_waits_at_the_end_of_its_code_is_a_deadlock() -> None:
    assert deadlock({0: receives(1), 1: waits("all", 1, [0, 1])}) == {0: [1], 1: [0]}


def test_ranks_that_are_all_in_one_exchange_are_none() -> None:
    assert deadlock({rank: waits("all", 5, [0, 1, 2]) for rank in range(3)}) == {}


def test_a_chain_to_one_that_computes_is_none() -> None:
    assert deadlock({0: receives(1), 1: receives(2), 2: computes()}) == {}


def test_what_has_changed_in_between_is_not_the_same() -> None:
    before, now = {0: receives(1), 1: receives(0)}, {0: receives(1), 1: computes()}
    assert same_waits(before, dict(before))
    assert not same_waits(before, now)
    assert not same_waits(before, {0: before[0]})


def test_sound_programs_have_no_circle_at_any_moment() -> None:
    """Ranks run one list of exchanges with groups, each up to a random position."""
    chance = random.Random(4)
    for _ in range(2000):
        count = chance.randint(2, 5)
        groups = {f"g{n}": sorted(chance.sample(range(count), chance.randint(2, count))) for n in range(3)}
        program = [chance.choice(list(groups)) for _ in range(12)]
        at = dict.fromkeys(range(count), 0)
        asked: dict[int, dict[str, int]] = {rank: {} for rank in range(count)}
        for _ in range(30):
            stand = {rank: _stands(rank, at, asked, program, groups) for rank in range(count)}
            assert deadlock(stand) == {}
            _go_on(chance.randrange(count), at, asked, program, groups)


def _blocked(rank: int, at: dict[int, int], program: list[str], groups: dict[str, list[int]]) -> bool:
    name = program[at[rank]]
    return any(at[other] < at[rank] for other in groups[name])


def _stands(
    rank: int, at: dict[int, int], asked: dict[int, dict[str, int]], program: list[str], groups: dict[str, list[int]]
) -> RankState:
    if at[rank] < len(program) and rank in groups[program[at[rank]]] and asked[rank].get("now") == at[rank]:
        name = program[at[rank]]
        return waits(name, asked[rank][name], groups[name], **{k: v for k, v in asked[rank].items() if k != "now"})
    return computes(**{name: number for name, number in asked[rank].items() if name != "now"})


def _go_on(
    rank: int, at: dict[int, int], requests: dict[int, dict[str, int]], program: list[str], groups: dict[str, list[int]]
) -> None:
    """Let a rank request its next exchange, or leave it when all of its group have requested it."""
    if at[rank] >= len(program):
        return
    name, mine = program[at[rank]], requests[rank]
    if rank not in groups[name]:
        at[rank] += 1
    elif mine.get("now") != at[rank]:
        mine[name], mine["now"] = mine.get(name, 0) + 1, at[rank]
    elif all(requests[other].get(name, 0) >= mine[name] for other in groups[name]):
        at[rank] += 1


@needs_ranks
@pytest.mark.timeout(300)
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", [*names(CHECKS), "the end"])
def test_ranks(name: str, ranks: int) -> None:
    assert not outcomes(CHECKS, ranks).get(name, "")
