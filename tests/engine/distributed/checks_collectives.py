"""Checks of four ranks: results of collectives, their gradients, their order, and errors if ranks differ."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, communication, mint, nn, ops
from hookscope.engine.communication import comm_func, in_place
from hookscope.engine.distributed.world import world
from tests import strict_device
from tests.conftest import in_ci
from tests.engine.distributed.random_collectives import run


def check_collectives_give_what_mpi4pys_give(rank: int, size: int) -> None:
    assert not run(2000 if in_ci() else 300, 5)


def check_groups_know_who_is_in_them(rank: int, size: int) -> None:
    communication.create_group("pair", [3, 1])
    assert communication.get_process_group_ranks("pair") == [1, 3]
    assert communication.get_world_rank_from_group_rank("pair", 1) == 3
    assert communication.get_group_rank_from_world_rank(1, "pair") == 0
    assert communication.get_group_size("pair") == 2
    assert in_place.get_rank("pair") == {1: 0, 3: 1}.get(rank, -1)
    if rank in (1, 3):
        assert communication.get_rank("pair") == (1, 3).index(rank)
        assert communication.get_local_rank("pair") == (1, 3).index(rank)
        assert communication.get_local_rank_size("pair") == 2
        communication.destroy_group("pair")
    else:
        message = error_of(lambda: ops.AllReduce("sum", "pair")(Tensor([1.0])))
        assert "this process is not in group 'pair', whose ranks are [1, 3]" in message
    assert (communication.get_rank(), communication.get_group_size()) == (rank, size)
    assert communication.get_local_rank() == rank and communication.get_local_rank_size() == size


def error_of(function: Callable[[], Any]) -> str:
    try:
        function()
    except (RuntimeError, ValueError, TypeError) as error:
        return str(error)
    raise AssertionError("nothing was raised")


GRADIENTS: dict[str, Callable[[Tensor], Tensor]] = {
    **{f"AllReduce {op}": lambda x, op=op: ops.AllReduce(op)(x) for op in ("sum", "prod", "max", "min", "avg")},
    **{f"ReduceScatter {op}": lambda x, op=op: ops.ReduceScatter(op)(x) for op in ("sum", "prod", "max", "min", "avg")},
    **{f"Reduce {op}": lambda x, op=op: ops.Reduce(2, op)(x) for op in ("sum", "prod", "max", "min", "avg")},
    "AllGather": lambda x: ops.AllGather()(x),
    "Broadcast": lambda x: ops.Broadcast(1)((x,))[0],
    "AlltoAll": lambda x: ops.AlltoAll(4, 0, 1)(x),
    "AlltoAllV": lambda x: ops.AlltoAllV()(x.reshape(-1)[:10], *_uneven()),
    "AllGatherV": lambda x: ops.AllGatherV()(x.reshape(-1)[: world().everybody.rank + 1], [1, 2, 3, 4]),
    "ReduceScatterV": lambda x: ops.ReduceScatterV()(x.reshape(-1)[:10], [1, 2, 3, 4]),
    "CollectiveScatter": lambda x: ops.CollectiveScatter(3)(x),
    "CollectiveGather": lambda x: ops.CollectiveGather(3)(x),
    "Send and Receive": lambda x: _around(x),
}


def _uneven() -> tuple[list[int], list[int]]:
    counts = np.array([[1, 2, 3, 4], [4, 3, 2, 1], [2, 2, 3, 3], [3, 3, 2, 2]])
    rank = world().everybody.rank
    return counts[rank].tolist(), counts[:, rank].tolist()


def _around(x: Tensor) -> Tensor:
    """Send to the next rank, and receive from the previous one."""
    rank = world().everybody.rank
    sent = ops.Send(7, (rank + 1) % 4)(x)
    came = ops.Receive(7, (rank - 1) % 4, x.shape, x.dtype)(x)
    return came + 0 * sent


def check_gradients_are_those_of_finite_differences_through_all_ranks(rank: int, size: int) -> None:
    from mpi4py import MPI

    for name, function in GRADIENTS.items():
        own = np.random.default_rng([3, rank])
        x = own.uniform(0.5, 2, (4, 3))
        weights = own.standard_normal(function(Tensor(x)).shape)
        gradient = ms.grad(lambda v, f=function, w=weights: (f(v) * Tensor(w)).sum())(Tensor(x)).asnumpy()

        def loss(change: Any, f: Any = function, w: Any = weights, at: Any = x) -> float:
            total = np.empty(1)
            request = MPI.COMM_WORLD.Iallreduce(np.array([(f(Tensor(at + change)).asnumpy() * w).sum()]), total)
            while not request.Test():  # a rank that waits inside MPI may hold up the messages of the others
                time.sleep(1e-4)
            return float(total[0])

        for of_rank in range(size):
            for index in range(0, x.size, 5):
                change = np.zeros(x.size)
                change[index] = 1e-6 if rank == of_rank else 0
                change = change.reshape(x.shape)
                numeric = (loss(change) - loss(-change)) / 2e-6
                if rank == of_rank:
                    assert abs(numeric - gradient.flat[index]) < 1e-7, (
                        name,
                        rank,
                        index,
                        numeric,
                        gradient.flat[index],
                    )


def check_half_precision_is_added_in_single(rank: int, size: int) -> None:
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = np.array([1.0] * 3 + [0.001] * 3).astype(dtype) if rank == 0 else np.full(6, 0.0006).astype(dtype)
        rest = np.float32(np.full(6, 0.0006).astype(dtype))
        expected = (((np.float32(np.array([1.0] * 3 + [0.001] * 3).astype(dtype)) + rest) + rest) + rest).astype(dtype)
        for length in (6, 6 * 20_000):  # in one exchange, and share by share
            actual = ops.AllReduce()(Tensor(np.tile(x, length // 6))).asnumpy()
            assert actual.dtype == dtype and actual.tobytes() == np.tile(expected, length // 6).tobytes()


def check_sums_have_one_order_whatever_the_size(rank: int, size: int) -> None:
    parts = [np.random.default_rng(r).standard_normal(40_000).astype(np.float32) for r in range(size)]
    expected = ((parts[0] + parts[1]) + parts[2]) + parts[3]
    assert ops.AllReduce()(Tensor(parts[rank])).asnumpy().tobytes() == expected.tobytes()
    assert ops.AllReduce()(Tensor(parts[rank][:100])).asnumpy().tobytes() == expected[:100].tobytes()
    shares = ops.ReduceScatter()(Tensor(parts[rank])).asnumpy()
    assert shares.tobytes() == expected[rank * 10_000 : (rank + 1) * 10_000].tobytes()


def check_ranks_that_do_not_do_the_same_are_told_and_go_on_in_step(rank: int, size: int) -> None:
    x = Tensor(np.ones((2, 3), np.float32))
    message = error_of(lambda: ops.AllGather()(x) if rank == 1 else ops.AllReduce()(x))
    assert "the ranks of group 'mccl_world_group' do not do the same" in message
    assert "rank 0: all_reduce of sum, float32 [2, 3] (" in message and "checks_collectives.py:" in message
    assert "rank 1: all_gather of float32 [2, 3] (" in message
    assert ops.AllReduce()(x).asnumpy().tolist() == [[4.0] * 3] * 2
    for other in (Tensor(np.ones((3, 2), np.float32)), Tensor(np.ones((2, 3), np.float64))):
        message = error_of(lambda y=other: ops.AllReduce()(x if rank else y))
        assert "do not do the same" in message
    message = error_of(lambda: ops.AllReduce("max" if rank == 3 else "sum")(x))
    assert "rank 3: all_reduce of max" in message
    message = error_of(lambda: ops.Broadcast(rank % 2)((x,)))
    assert "broadcast of rank 0's float32 [2, 3]" in message and "broadcast of rank 1's" in message
    sent = [2, 1, 1, 1] if rank == 2 else [1, 1, 1, 1]
    message = error_of(lambda: ops.AlltoAllV()(Tensor(np.ones(sum(sent), np.float32)), sent, [1, 1, 1, 1]))
    expected = "rank 2 sends 2 elements where this one waits for 1" if rank == 0 else "a different number of elements"
    assert expected in message
    assert ops.AllReduce()(x).asnumpy().tolist() == [[4.0] * 3] * 2


def check_bad_arguments_are_refused_before_anything_is_exchanged(rank: int, size: int) -> None:
    x = Tensor(np.ones((2, 3), np.float32))
    for call, text in (
        (lambda: ops.AllReduce("mean")(x), "'op' must be one of ('sum', 'prod', 'max', 'min', 'avg'), but got 'mean'"),
        (lambda: ops.AllReduce(3)(x), "'op' must be a str, but got int"),
        (lambda: ops.AllReduce()(Tensor([True])), "'sum' is not for Bool; cast the tensor first"),
        (lambda: ops.AllReduce("avg")(Tensor([1])), "'avg' is not for Int64; cast the tensor first"),
        (lambda: ops.AllReduce("max")(Tensor([1j])), "'max' is not for Complex128"),
        (lambda: ops.ReduceScatter()(x), "the 4 ranks must divide axis 0 of 'input_x', but got shape (2, 3)"),
        (lambda: ops.AllGather()(Tensor(1.0)), "'input_x' must have an axis, but got shape ()"),
        (lambda: ops.Broadcast(4)((x,)), "'root_rank' must be from 0 to 3, but got 4"),
        (lambda: ops.AlltoAll(2, 0, 0)(x), "'split_count' must be the number of ranks, 4, but got 2"),
        (lambda: ops.AllGatherV()(Tensor([1.0]), [1, 1]), "4 lengths of 0 or more, one for each rank, but got [1, 1]"),
        (lambda: ops.AllReduce("sum", "nobody")(x), "there is no group 'nobody'; create_group makes one"),
        (lambda: in_place.broadcast(x, 9), "'src' must be one of [0, 1, 2, 3], but got 9"),
        (lambda: in_place.all_gather([x], x), "'tensor_list' must hold 4 tensors, one for each rank, but got 1"),
        (lambda: in_place.all_gather_into_tensor(x, x), "'output_tensor' must have 24 elements of Float32"),
        (lambda: in_place.send(x, rank), f"'dst' must be a rank other than this one, but got {rank}"),
        (lambda: in_place.all_gather_object([None] * 4, {1, 2}), "but got set; nothing is pickled"),
        (lambda: communication.create_group("g", [0, 4]), "different ranks from 0 to 3, but got [0, 4]"),
        (lambda: in_place.init_process_group(world_size=3), "'world_size' must be -1 or 4, but got 3"),
    ):
        assert text in (message := error_of(call)), message
    communication.init()
    assert ops.AllReduce()(Tensor([1.0])).asnumpy().tolist() == [4.0]


def check_what_is_under_way_goes_on_while_the_rank_computes(rank: int, size: int) -> None:
    tensors = [Tensor(np.full(3, float(rank + i), np.float32)) for i in range(5)]
    handles = [in_place.all_reduce(x, async_op=True) for x in tensors]
    for handle in handles[::-1]:  # not in the order of the requests
        handle.wait()
        handle.wait()
    assert [x.asnumpy()[0] for x in tensors] == [6.0 + 4 * i for i in range(5)]
    result, handle = comm_func.all_gather_into_tensor(Tensor([float(rank)]), async_op=True)
    handle.wait()
    assert result.asnumpy().tolist() == [0.0, 1.0, 2.0, 3.0] and handle.is_completed()


def check_functions_write_into_tensors(rank: int, size: int) -> None:
    x = Tensor(np.full((2, 2), float(rank), np.float32))
    assert mint.distributed.all_reduce(x) is None and x.asnumpy().tolist() == [[6.0] * 2] * 2
    into = [Tensor(np.zeros(r + 1, np.float32)) for r in range(size)]
    mint.distributed.all_gather(into, Tensor(np.full(rank + 1, float(rank), np.float32)))
    assert [item.asnumpy().tolist() for item in into] == [[float(r)] * (r + 1) for r in range(size)]
    into = [Tensor(np.zeros(r + 1, np.float32)) for r in range(size)]
    mint.distributed.all_gather(into, Tensor(np.full(rank + 1, float(rank), np.float32)), async_op=True).wait()
    assert [item.asnumpy().tolist() for item in into] == [[float(r)] * (r + 1) for r in range(size)]
    uneven, lengths = Tensor(np.zeros((10, 2), np.float32)), [1, 2, 3, 4]
    own = Tensor(np.full((rank + 1, 2), float(rank), np.float32))
    for is_async in (False, True):
        uneven.fill_(0)
        handle = mint.distributed.all_gather_into_tensor_uneven(uneven, own, lengths, async_op=is_async)
        assert (handle is not None) == is_async
        if handle is not None:
            handle.wait()
        assert uneven.asnumpy()[:, 1].tolist() == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]
        share = Tensor(np.zeros((rank + 1, 2), np.float32))
        objects = Tensor(np.ones((10, 2), np.float32))
        handle = mint.distributed.reduce_scatter_tensor_uneven(share, objects, lengths, async_op=is_async)
        if handle is not None:
            handle.wait()
        assert share.asnumpy().tolist() == [[4.0, 4.0]] * (rank + 1)
    output = Tensor(np.zeros(1, np.float32))
    mint.distributed.reduce_scatter(output, [Tensor([float(rank + 10 * r)], ms.float32) for r in range(size)])
    assert output.asnumpy().tolist() == [6.0 + 40 * rank]
    gathered = [Tensor(np.zeros(2, np.float32)) for _ in range(size)]
    mint.distributed.gather(Tensor(np.full(2, float(rank), np.float32)), gathered, dst=2)
    assert [item.asnumpy()[0] for item in gathered] == ([0.0, 1.0, 2.0, 3.0] if rank == 2 else [0.0] * 4)
    objects = [Tensor([float(r)], ms.float32) for r in range(size)] if rank == 1 else None
    mint.distributed.scatter(output, objects, src=1)
    assert output.asnumpy().tolist() == [float(rank)]
    received = [Tensor(np.zeros(1, np.float32)) for _ in range(size)]
    mint.distributed.all_to_all(received, [Tensor([10.0 * rank + r], ms.float32) for r in range(size)])
    assert [item.asnumpy()[0] for item in received] == [10.0 * r + rank for r in range(size)]
    single = Tensor(np.zeros(4, np.float32))
    own = Tensor(np.arange(4, dtype=np.float32) + 10 * rank)
    mint.distributed.all_to_all_single(single, own, async_op=True).wait()
    assert single.asnumpy().tolist() == [10.0 * r + rank for r in range(size)]
    tensor = Tensor([float(rank)])
    in_place.reduce(tensor, dst=1)
    assert tensor.asnumpy().tolist() == ([6.0] if rank == 1 else [float(rank)])
    in_place.broadcast(tensor, src=1)
    assert tensor.asnumpy().tolist() == [6.0]
    part, full = Tensor(np.zeros(1, np.float32)), Tensor(np.zeros(4, np.float32))
    in_place.gather_into_tensor(full, Tensor([float(rank)], ms.float32), dst=0)
    assert full.asnumpy().tolist() == ([0.0, 1.0, 2.0, 3.0] if rank == 0 else [0.0] * 4)
    in_place.scatter_tensor(part, full, src=0)
    assert part.asnumpy().tolist() == [float(rank)]
    in_place.set_comm_ops_inplace(False)
    result, handle = in_place.all_reduce(part)
    in_place.set_comm_ops_inplace(True)
    assert handle is None and result.asnumpy().tolist() == [6.0] and part.asnumpy().tolist() == [float(rank)]


def check_messages_come_in_order_and_to_who_waits(rank: int, size: int) -> None:
    other = rank ^ 1
    for i in range(5):
        in_place.send(Tensor(np.full(3 + i, float(rank * 10 + i), np.float32)), other)
    for i in range(5):
        x = Tensor(np.zeros(3 + i, np.float32))
        assert in_place.recv(x, other) == 0 and x.asnumpy().tolist() == [float(other * 10 + i)] * (3 + i)
    large = Tensor(np.full(3_000_000, float(rank), np.float32))  # more than MPI sends before a receive is posted
    came, handle = comm_func.irecv(large, other, tag=3)
    in_place.isend(large, other, tag=3)
    handle.wait()
    assert came.asnumpy()[0] == other and large.asnumpy()[0] == rank
    first, second = Tensor([0.0]), Tensor([0.0])
    waiting = [in_place.irecv(first, other, tag=1), in_place.irecv(second, other, tag=2)]
    in_place.send(Tensor([2.0]), other, tag=2)
    in_place.send(Tensor([1.0]), other, tag=1)
    for handle in waiting[::-1]:
        handle.wait()
    assert (first.asnumpy()[0], second.asnumpy()[0]) == (1.0, 2.0)
    in_place.send(Tensor(np.ones((2, 2), np.float32)), other)
    message = error_of(lambda: in_place.recv(Tensor(np.ones(4, np.float32)), other))
    assert f"receive of float32 [4] from rank {other}" in message and "but got a message of float32 [2, 2]" in message
    sent = ops.BatchISendIRecv(["isend", "irecv"], [other, other], [(2,)], [ms.float32])
    assert sent((Tensor(np.full(2, float(rank), np.float32)),))[1].asnumpy().tolist() == [float(other)] * 2
    batch = [in_place.P2POp("irecv", first, other), in_place.P2POp(in_place.isend, Tensor([float(rank)]), other)]
    for handle in in_place.batch_isend_irecv(batch):
        handle.wait()
    assert first.asnumpy()[0] == other


def check_objects_are_json_and_tensors(rank: int, size: int) -> None:
    tensor = Tensor(np.full(2, rank, ml_dtypes.bfloat16))
    mine = {"rank": rank, "list": [None, True, 1.5, "text", ("a", 2)], "tensor": tensor}
    results: list[Any] = [None] * size
    in_place.all_gather_object(results, mine)
    for r, result in enumerate(results):
        assert result["rank"] == r and result["list"] == [None, True, 1.5, "text", ("a", 2)]
        assert result["tensor"].dtype == ms.bfloat16 and result["tensor"].float().asnumpy().tolist() == [float(r)] * 2
    gathered: list[Any] = [None] * size
    in_place.gather_object("x" * rank, gathered if rank == 1 else None, dst=1)
    assert gathered == (["x" * r for r in range(size)] if rank == 1 else [None] * size)
    objects = [{"from": 2}, "y"] if rank == 2 else [None, None]
    in_place.broadcast_object_list(objects, src=2)
    assert objects == [{"from": 2}, "y"]
    taken = [None]
    in_place.scatter_object_list(taken, [[r] * r for r in range(size)] if rank == 3 else None, src=3)
    assert taken == [[rank] * rank]
    if rank == 0:
        in_place.send_object_list([1, "two", Tensor([3.0])], dst=3)
    if rank == 3:
        received: list[Any] = []
        assert in_place.recv_object_list(received, src=0) == 0
        assert received[:2] == [1, "two"] and received[2].asnumpy().tolist() == [3.0]


def check_a_rank_that_is_interrupted_stays_in_step(rank: int, size: int) -> None:
    import signal

    if rank == 0:
        threading.Timer(0.3, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)).start()
        try:
            ops.Barrier()()
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("the interrupt did not come")
    else:
        time.sleep(0.6)  # so that rank 0 waits when it is interrupted
        ops.Barrier()()
    assert ops.AllReduce()(Tensor([1.0])).asnumpy().tolist() == [4.0]


def check_functions_of_graph_mode_run_without_a_plan(rank: int, size: int) -> None:
    import warnings

    net = nn.Dense(3, 2)
    function = ms.jit(lambda x: ops.AllReduce()(net(x)).sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [float(function(Tensor(np.full((1, 3), float(rank + i), np.float32))).asnumpy()) for i in range(3)]
    weights, bias = (p.asnumpy() for p in (net.weight, net.bias))
    sums = []
    for i in range(3):
        own = Tensor((np.full((1, 3), float(rank + i)) @ weights.T.astype(np.float64) + bias).sum())
        sums.append(float(ops.AllReduce()(own).asnumpy()))
    np.testing.assert_allclose(results, sums, rtol=1e-5)


def check_watching_tells_collectives_and_changes_no_bit(rank: int, size: int) -> None:
    from hookscope.engine.debug import DebugSession

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Dense(4, 4)

        def construct(self, x: Tensor) -> Tensor:
            return ops.AllReduce()(self.dense(x))

    ms.set_seed(3)
    net, x = Net(), Tensor(np.random.default_rng(rank).standard_normal((2, 4)).astype(np.float32))
    step = ms.value_and_grad(lambda: net(x).sum(), None, net.trainable_params())
    loss, gradients = step()
    with DebugSession(net) as session:
        again, others = step()
    assert loss.asnumpy().tobytes() == again.asnumpy().tobytes()
    assert all(a.asnumpy().tobytes() == b.asnumpy().tobytes() for a, b in zip(gradients, others, strict=True))
    assert len(session.captures) > 0


def check_tensors_of_a_gpu_go_by_way_of_the_host_and_stay_there(rank: int, size: int) -> None:
    with strict_device.device() as counts:
        x = Tensor(np.full((2, 3), float(rank), np.float32))
        results = [
            ops.AllReduce()(x),
            ops.AllGather()(x),
            ops.Broadcast(2)((x,))[0],
            ops.ReduceScatter()(ops.AllGather()(x)),
            ms.grad(lambda v: (ops.AllReduce()(v) * v).sum())(x),
        ]
        assert all(type(result._array).__module__ == "cupy" for result in results)
        counts.clear()
        handle = in_place.all_reduce(x, async_op=True)
        handle.wait()
        assert len(counts.synchronizations) == 1 and type(x._array).__module__ == "cupy"
        half = Tensor(np.full(5, rank, ml_dtypes.bfloat16))
        numbers = [item.asnumpy()[0, 0] for item in (*results, x)] + [ops.AllReduce("max")(half).float().asnumpy()[0]]
    assert numbers == [6.0, 0.0, 2.0, 4.0 * rank, 6.0 + sum(range(size)), 6.0, 3.0]
