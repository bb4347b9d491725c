"""Random collectives of random shapes, dtypes and groups, against mpi4py's own.

    mpiexec -n 4 python -m tests.engine.distributed.random_collectives --calls 10000 --seed N

Numbers are small integers, so that every order of summation gives the same bits; dtypes that MPI lacks are compared in
float64.
"""

from __future__ import annotations

import argparse
from typing import Any

import ml_dtypes
import numpy as np

from hookscope.engine import Tensor, communication, ops
from hookscope.engine.distributed.world import world

DTYPES = [
    np.dtype(x) for x in (np.float64, np.float32, np.float16, ml_dtypes.bfloat16, "i1", "i4", "i8", "u1", np.complex64)
]
KINDS = ("AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "AlltoAll", "AlltoAllV", "Scatter", "Gather")


def draw(rng: Any, dtype: Any, shape: tuple[int, ...], own: Any) -> Any:
    """Return numbers of this rank: ``rng`` is the same on all, ``own`` is not."""
    x = own.integers(0 if dtype.kind == "u" else -1, 2, shape)
    return np.array(x + 1j * own.integers(-1, 2, shape) if dtype.kind == "c" else x, dtype)


def run_one(rng: Any, own: Any, comms: dict[str, Any]) -> str:
    """Run one collective; return "" if it gives mpi4py's result, else the difference."""
    from mpi4py import MPI

    name = [*comms][rng.integers(len(comms))]
    kind, dtype, way = KINDS[rng.integers(len(KINDS))], DTYPES[rng.integers(len(DTYPES))], ("sum", "prod", "max", "min")
    op = way[rng.integers(4 if dtype.kind != "c" else 2)]
    shape = tuple(rng.integers(0, 5, rng.integers(0, 4)).tolist())
    if rng.random() < 0.05:
        shape = (int(rng.integers(1, 60_000)),)
    seeds, root_draw = rng.integers(0, 2**31, 8), rng.random()
    if (comm := comms[name]) is None:
        return ""
    n, root = comm.size, int(root_draw * comm.size)
    if kind not in ("AllReduce", "Broadcast", "Reduce"):
        shape = (int(shape[0] if shape else 1) * n, *shape[1:])
    own = np.random.default_rng([int(seeds[0]), world().everybody.rank])
    x = draw(rng, dtype, shape, own)
    wide = np.array(x, np.complex128 if dtype.kind == "c" else np.float64)
    mpi = {"sum": MPI.SUM, "prod": MPI.PROD, "max": MPI.MAX, "min": MPI.MIN}[op]
    tensor, expected = Tensor(x), np.empty_like(wide)
    if kind == "AllReduce":
        actual = ops.AllReduce(op, name)(tensor)
        comm.Allreduce(wide, expected, mpi)
    elif kind == "Reduce":
        actual = ops.Reduce(root, op, name)(tensor)
        comm.Reduce(wide, expected, mpi, root)
        expected = expected if comm.rank == root else np.zeros_like(expected)
    elif kind == "Broadcast":
        actual, expected = ops.Broadcast(root, name)((tensor,))[0], wide.copy()
        comm.Bcast(expected, root)
    elif kind == "AllGather":
        actual, expected = ops.AllGather(name)(tensor), np.empty((shape[0] * n, *shape[1:]), wide.dtype)
        comm.Allgather(wide, expected)
    elif kind == "ReduceScatter":
        actual, expected = ops.ReduceScatter(op, name)(tensor), np.empty((shape[0] // n, *shape[1:]), wide.dtype)
        comm.Reduce_scatter_block(wide, expected, mpi)
    elif kind == "Scatter":
        actual, expected = ops.CollectiveScatter(root, name)(tensor), np.empty((shape[0] // n, *shape[1:]), wide.dtype)
        comm.Scatter(wide, expected, root)
    elif kind == "Gather":
        actual, expected = ops.CollectiveGather(root, name)(tensor), np.zeros((shape[0] * n, *shape[1:]), wide.dtype)
        comm.Gather(wide, expected, root)
        expected = expected if comm.rank == root else np.zeros_like(wide)
    elif kind == "AlltoAll":
        actual = ops.AlltoAll(n, 0, 0, name)(tensor)
        comm.Alltoall(wide, expected)
    else:
        counts = np.random.default_rng(int(seeds[1])).integers(0, 6, (n, n))
        sent, received = counts[comm.rank], counts[:, comm.rank]
        x = draw(rng, dtype, (int(sent.sum()),), own)
        wide = x.astype(wide.dtype)
        actual = ops.AlltoAllV(name)(Tensor(x), sent.tolist(), received.tolist())
        expected = np.empty(int(received.sum()), wide.dtype)
        comm.Alltoallv([wide, sent], [expected, received])
    array = actual.asnumpy()
    same = (
        array.dtype == dtype
        and array.shape == expected.shape
        and np.array_equal(array.astype(expected.dtype), expected)
    )
    return "" if same else f"{kind} {op} {dtype} {shape} in {name}: {array} for {expected}"


def run(calls: int, seed: int) -> list[str]:
    """Run random collectives; return the differences."""
    from mpi4py import MPI

    here = MPI.COMM_WORLD
    for name, members in (("even", [0, 2]), ("others", [1, 2, 3]), ("one", [3])):
        communication.create_group(name, members)
    comms = {name: here.Split(0 if here.rank in group.ranks else 1) for name, group in world().groups.items()}
    comms = {name: comm if here.rank in world().groups[name].ranks else None for name, comm in comms.items()}
    rng = np.random.default_rng(seed)
    differences = [run_one(rng, None, comms) for _ in range(calls)]
    for name in ("even", "others", "one"):
        if comms[name] is not None:
            communication.destroy_group(name)
    return [text for text in differences if text]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    communication.init()
    wrong = run(options.calls, options.seed)
    print(f"rank {world().everybody.rank}: {options.calls} calls, {len(wrong)} differences", *wrong[:5], sep="\n")


if __name__ == "__main__":
    main()
