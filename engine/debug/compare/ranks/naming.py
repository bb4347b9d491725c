"""Location of the first difference in the details of all ranks: its cell, its name, and the ranks at fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from ...record.capture import cell_name
from .findings import RankFinding, at_fault, ranks_text
from .records import Row

__all__ = ["RowsOfRanks", "alike_draws", "differing", "first_cell", "first_dtype", "first_gradient", "first_parameter"]

RowsOfRanks = Mapping[int, Sequence[Row]]
"""The rows of each rank."""
Key = TypeVar("Key", bound=Hashable)

_CELLS = "Look in construct for code that depends on the rank: different cells add up gradients of different functions."
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
    """Return the first position in the sequence of outputs where the ranks differ in cell, call, slot or shape."""
    for index in range(max(len(rows) for rows in details.values())):
        rows_here = {rank: rows[index] if index < len(rows) else None for rank, rows in details.items()}
        keys = {
            rank: None if row is None else (row["path"], row.get("call"), row["name"], *row.get("shape", ()))
            for rank, row in rows_here.items()
        }
        if len(set(keys.values())) == 1:
            continue
        faulty, figures = at_fault(keys), {rank: _value(row) for rank, row in rows_here.items()}
        row = next(
            row for rank, row in sorted(rows_here.items(), key=lambda item: item[0] not in faulty) if row is not None
        )
        is_same_cell = len({None if item is None else (item["path"], item["name"]) for item in rows_here.values()}) == 1
        difference = "does not have the same shape" if is_same_cell else "is not the cell that all ranks run there"
        message = f"{row['name']} of {cell_name(row['path'])} {difference}"
        return RankFinding("ranks_differ", step, faulty, row["path"], row["name"], message, _CELLS, figures)
    return None


def first_dtype(step: int, details: RowsOfRanks) -> RankFinding | None:
    """Return the first value that all ranks have with different dtypes."""
    dtypes: dict[tuple[str, str], dict[int, str]] = {}
    for rank, rows in details.items():
        for row in rows:
            dtypes.setdefault((row["path"], row["name"]), {}).setdefault(rank, row.get("dtype", ""))
    for (path, name), dtype_by_rank in dtypes.items():
        if len(dtype_by_rank) == len(details) and len(set(dtype_by_rank.values())) > 1:
            message = f"{name} of {cell_name(path)} does not have the same dtype on all ranks"
            return RankFinding(
                "ranks_differ", step, at_fault(dtype_by_rank), path, name, message, _DTYPES, dtype_by_rank
            )
    return None


def differing(details: RowsOfRanks) -> dict[tuple[str, int], dict[int, Row | None]]:
    """Return parameters or gradients that differ between ranks, by name and index among those of the same name."""
    rows_by_key: dict[tuple[str, int], dict[int, Row | None]] = {}
    for rank, rows in details.items():
        count: Counter[str] = Counter()
        for row in rows:
            key = row["name"], count[row["name"]]
            count[row["name"]] += 1
            rows_by_key.setdefault(key, dict.fromkeys(details))[rank] = row
    return {
        key: row_by_rank
        for key, row_by_rank in rows_by_key.items()
        if len({None if row is None else row["digest"] for row in row_by_rank.values()}) > 1
    }


def first_parameter(step: int, details: RowsOfRanks, statistics: bool, explained: set[str]) -> RankFinding | None:
    """Return the first parameter, or moving statistic, whose bits differ.

    Args:
        step: the step, before which they differ.
        details: the rows of the ranks.
        statistics: whether to compare moving statistics instead of parameters.
        explained: the names of parameters whose gradients differed before.
    """
    selected = {
        rank: [row for row in rows if row.get("statistic", False) == statistics] for rank, rows in details.items()
    }
    unexplained = {key: row_by_rank for key, row_by_rank in differing(selected).items() if key[0] not in explained}
    kind, advice = ("moving statistic", _STATISTICS) if statistics else ("parameter", _PARAMETERS)
    return _first("parameters_differ", step, unexplained, kind, "before the step", advice, "there is none")


def first_gradient(step: int, details: RowsOfRanks) -> RankFinding | None:
    """Return the first gradient whose bits differ when the optimizers receive it."""
    moment = "when the optimizer gets it"
    return _first("ranks_differ", step, differing(details), "gradient", moment, _GRADIENTS, "no optimizer was given it")


def _first(
    condition: str,
    step: int,
    rows: Mapping[tuple[str, int], Mapping[int, Row | None]],
    kind: str,
    when: str,
    advice: str,
    missing: str,
) -> RankFinding | None:
    if not rows:
        return None
    (name, _), row_by_rank = next(iter(rows.items()))
    faulty = at_fault({rank: None if row is None else row["digest"] for rank, row in row_by_rank.items()})
    path = next(row["path"] for row in row_by_rank.values() if row is not None)
    message = (
        f"the {kind} {name} does not have the same bits on all ranks {when}"
        if kind != "gradient"
        else (f"the gradient of {name} does not have the same bits on all ranks {when}")
    )
    if len(rows) > 1:
        message += f"; nor do {len(rows) - 1} more"
    figures = {rank: missing if row is None else _value(row) for rank, row in row_by_rank.items()}
    return RankFinding(condition, step, faulty, path, name, message, advice, figures)


def alike_draws(step: int, details: RowsOfRanks) -> RankFinding | None:
    """Return the first cell in which several ranks drew the same random numbers."""
    rows_by_digest: dict[str, dict[int, Row]] = {}
    for rank, rows in details.items():
        for row in rows:
            rows_by_digest.setdefault(row["digest"], {})[rank] = row
    common = [row_by_rank for row_by_rank in rows_by_digest.values() if len(row_by_rank) > 1]
    if not common:
        return None
    row_by_rank = common[0]
    ranks = tuple(sorted(row_by_rank))
    path = row_by_rank[ranks[0]]["path"]
    message = f"{ranks_text(ranks)} drew the same random numbers in {cell_name(path)}"
    if len(common) > 1:
        message += f", and so they did {len(common) - 1} more times in this step"
    figures = {
        rank: f"drew {row_by_rank[rank]['digest']}" if rank in row_by_rank else "drew others" for rank in details
    }
    return RankFinding("ranks_alike", step, ranks, path, "", message, _DRAWS, figures)


def _value(row: Row | None) -> str:
    if row is None:
        return "nothing"
    description = f"{row.get('dtype', '')} {tuple(row.get('shape', ()))}"
    if "norm" in row:
        size = row["norm"]
        return f"{description}, {'not finite' if size is None else f'norm {size:.7g}'}, bits {row['digest']}"
    return f"{row['name']} of {cell_name(row['path'])}, {description}"
