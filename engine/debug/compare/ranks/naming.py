"""From the details of all ranks to the first thing that differs: its cell, its name, which ranks are at fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from ...record.capture import cell_name
from .findings import RankFinding, at_fault, ranks_text
from .records import Row

__all__ = ["RowsOfRanks", "alike_draws", "differing", "first_cell", "first_dtype", "first_gradient", "first_parameter"]

RowsOfRanks = Mapping[int, Sequence[Row]]
"""What each rank has."""
Key = TypeVar("Key", bound=Hashable)

_CELLS = "Look in construct for what hangs on the rank: ranks that run other cells add up gradients of other functions."
_DTYPES = "Give the cell the same to_float, amp level and dtype on all ranks."
_GRADIENTS = (
    "Put all gradients through DistributedGradReducer before the optimizer gets them, and change none afterwards."
)
_PARAMETERS = (
    "Begin with rank 0's parameters (parameter_broadcast), or load one checkpoint on all ranks; what changes them must "
    "be the same everywhere."
)
_STATISTICS = (
    "This is how BatchNorm is in data parallel: each rank averages its own batches, and a checkpoint has one rank's. "
    "nn.SyncBatchNorm averages those of all ranks."
)
_DRAWS = "When the network is made, set a seed of its own on each rank: set_seed(seed + get_rank())."


def first_cell(step: int, details: RowsOfRanks) -> RankFinding | None:
    """The first place in the sequence of outputs where the ranks have another cell, call, slot or shape."""
    for place in range(max(len(rows) for rows in details.values())):
        here = {rank: rows[place] if place < len(rows) else None for rank, rows in details.items()}
        keys = {
            rank: None if row is None else (row["path"], row.get("call"), row["name"], *row.get("shape", ()))
            for rank, row in here.items()
        }
        if len(set(keys.values())) == 1:
            continue
        at, figures = at_fault(keys), {rank: _value(row) for rank, row in here.items()}
        row = next(row for rank, row in sorted(here.items(), key=lambda one: one[0] not in at) if row is not None)
        same_cell = len({None if one is None else (one["path"], one["name"]) for one in here.values()}) == 1
        what = "has not the same shape" if same_cell else "is not what all ranks run there"
        message = f"{row['name']} of {cell_name(row['path'])} {what}"
        return RankFinding("ranks_differ", step, at, row["path"], row["name"], message, _CELLS, figures)
    return None


def first_dtype(step: int, details: RowsOfRanks) -> RankFinding | None:
    """The first value that all ranks have and whose dtype is not the same."""
    dtypes: dict[tuple[str, str], dict[int, str]] = {}
    for rank, rows in details.items():
        for row in rows:
            dtypes.setdefault((row["path"], row["name"]), {}).setdefault(rank, row.get("dtype", ""))
    for (path, name), of_ranks in dtypes.items():
        if len(of_ranks) == len(details) and len(set(of_ranks.values())) > 1:
            message = f"{name} of {cell_name(path)} has not the same dtype on all ranks"
            return RankFinding("ranks_differ", step, at_fault(of_ranks), path, name, message, _DTYPES, of_ranks)
    return None


def differing(details: RowsOfRanks) -> dict[tuple[str, int], dict[int, Row | None]]:
    """Parameters or gradients that are not the same on all ranks, by name and place among those of this name."""
    named: dict[tuple[str, int], dict[int, Row | None]] = {}
    for rank, rows in details.items():
        count: Counter[str] = Counter()
        for row in rows:
            key = row["name"], count[row["name"]]
            count[row["name"]] += 1
            named.setdefault(key, dict.fromkeys(details))[rank] = row
    return {
        key: of_ranks
        for key, of_ranks in named.items()
        if len({None if row is None else row["digest"] for row in of_ranks.values()}) > 1
    }


def first_parameter(step: int, details: RowsOfRanks, statistics: bool, explained: set[str]) -> RankFinding | None:
    """The first parameter, or moving statistic, that has not the same bits.

    Args:
        step: the step, before which they are so.
        details: what the ranks have.
        statistics: which of the two.
        explained: the names of those whose gradients differed before.
    """
    wanted = {
        rank: [row for row in rows if row.get("statistic", False) == statistics] for rank, rows in details.items()
    }
    found = {key: of_ranks for key, of_ranks in differing(wanted).items() if key[0] not in explained}
    kind, advice = ("moving statistic", _STATISTICS) if statistics else ("parameter", _PARAMETERS)
    return _first("parameters_differ", step, found, kind, "before the step", advice, "there is none")


def first_gradient(step: int, details: RowsOfRanks) -> RankFinding | None:
    """The first gradient that the optimizers are not given with the same bits."""
    where = "when the optimizer gets it"
    return _first("ranks_differ", step, differing(details), "gradient", where, _GRADIENTS, "no optimizer was given it")


def _first(
    condition: str,
    step: int,
    found: Mapping[tuple[str, int], Mapping[int, Row | None]],
    kind: str,
    when: str,
    advice: str,
    missing: str,
) -> RankFinding | None:
    if not found:
        return None
    (name, _), of_ranks = next(iter(found.items()))
    at = at_fault({rank: None if row is None else row["digest"] for rank, row in of_ranks.items()})
    path = next(row["path"] for row in of_ranks.values() if row is not None)
    message = (
        f"the {kind} {name} has not the same bits on all ranks {when}"
        if kind != "gradient"
        else (f"the gradient of {name} has not the same bits on all ranks {when}")
    )
    if len(found) > 1:
        message += f"; nor have {len(found) - 1} more"
    figures = {rank: missing if row is None else _value(row) for rank, row in of_ranks.items()}
    return RankFinding(condition, step, at, path, name, message, advice, figures)


def alike_draws(step: int, details: RowsOfRanks) -> RankFinding | None:
    """The first cell in which several ranks drew the same random numbers."""
    drew: dict[str, dict[int, Row]] = {}
    for rank, rows in details.items():
        for row in rows:
            drew.setdefault(row["digest"], {})[rank] = row
    shared = [of_ranks for of_ranks in drew.values() if len(of_ranks) > 1]
    if not shared:
        return None
    of_ranks = shared[0]
    ranks = tuple(sorted(of_ranks))
    path = of_ranks[ranks[0]]["path"]
    message = f"{ranks_text(ranks)} drew the same random numbers in {cell_name(path)}"
    if len(shared) > 1:
        message += f", and so they did {len(shared) - 1} more times in this step"
    figures = {rank: f"drew {of_ranks[rank]['digest']}" if rank in of_ranks else "drew others" for rank in details}
    return RankFinding("ranks_alike", step, ranks, path, "", message, _DRAWS, figures)


def _value(row: Row | None) -> str:
    if row is None:
        return "nothing"
    told = f"{row.get('dtype', '')} {tuple(row.get('shape', ()))}"
    if "norm" in row:
        size = row["norm"]
        return f"{told}, {'not finite' if size is None else f'norm {size:.7g}'}, bits {row['digest']}"
    return f"{row['name']} of {cell_name(row['path'])}, {told}"
