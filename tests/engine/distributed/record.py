"""Record of MindSpore 2.10's results on two ranks of its CPU backend, as tests/engine/distributed/recorded.json.

    msrun --worker_num=2 --local_worker_num=2 --join=True tests/engine/distributed/record.py FOLDER

with the Python of an environment that has MindSpore; each rank writes FOLDER/RANK.json. The file calls only operators
of that backend: after an operator that it refuses, the ranks' messages no longer match. Hookscope's ranks run the same
file (checks_data_parallel.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, communication, nn, ops
from mindspore.ops import communication as ops_communication


def plain_value(value: Any) -> Any:
    if isinstance(value, Tensor):
        numbers = value.asnumpy().astype(np.float64).ravel().tolist()
        return {"dtype": str(value.dtype), "shape": list(value.shape), "values": numbers}
    return [plain_value(item) for item in value] if isinstance(value, list | tuple) else value


class Net(nn.Cell):
    """A layer whose bias differs between the ranks."""

    def __init__(self, rank: int) -> None:
        super().__init__()
        weight = Tensor(np.arange(6).reshape(2, 3).astype(np.float32) / 10)
        self.d = nn.Dense(3, 2, weight_init=weight, bias_init=Tensor(np.array([rank, 0.5], np.float32)))

    def construct(self, x: Tensor) -> Tensor:
        return self.d(x)


def results_of_rank(rank: int) -> dict[str, Any]:
    """Return the results on this rank by name."""
    world = communication.GlobalComm.WORLD_COMM_GROUP
    x = Tensor((np.arange(6).reshape(2, 3) + 10 * rank + 1).astype(np.float32))
    small, y = x / 16, Tensor(np.ones((2, 2), np.float32))
    weights = Tensor(np.arange(1, 7).reshape(2, 3).astype(np.float32) * (rank + 1))

    def in_place() -> Any:
        t = small * 1
        return [ops_communication.broadcast(t, 1), t]

    gradient: dict[str, Callable[[], Any]] = {
        "facts": lambda: [
            rank,
            communication.get_group_size(),
            communication.get_local_rank(),
            communication.get_local_rank_size(),
            communication.get_process_group_ranks(),
            communication.get_world_rank_from_group_rank(world, 1),
            communication.get_group_rank_from_world_rank(1, world),
        ],
        "all_reduce sum": lambda: ops.AllReduce()(x),
        "all_reduce grad sum": lambda: ms.grad(lambda v: (ops.AllReduce()(v) * weights).sum())(x),
        "all_reduce f16": lambda: ops.AllReduce()(Tensor(np.array([1, 2, rank], np.float16))),
        "all_gather": lambda: ops.AllGather()(x),
        "broadcast": lambda: ops.Broadcast(1)((x,)),
        "ops broadcast": in_place,
    }
    values = {name: plain_value(function()) for name, function in gradient.items()}
    for mean in (False, True):
        # MindSpore's default; Hookscope's ranks would begin with the first one's bias.
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=mean, parameter_broadcast=False)
        net = Net(rank)
        parameters = net.trainable_params()
        gradients = ms.value_and_grad(nn.WithLossCell(net, nn.MSELoss()), None, parameters)(small, y)[1]
        values[f"reducer mean={mean}"] = plain_value([gradients, nn.DistributedGradReducer(parameters)(gradients)])
        for argument in (True, False):
            reducer = nn.DistributedGradReducer(parameters, argument, 2)
            values[f"reducer argument {argument}, context {mean}"] = plain_value(reducer(gradients))
        net = Net(rank)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.05)).set_train()
        losses = [step(small, y) for _ in range(3)]
        values[f"one step mean={mean}"] = plain_value([losses, [p.value() for p in net.trainable_params()]])
        net = Net(rank)
        model = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9))
        rows = ms.dataset.GeneratorDataset([(small.asnumpy(), np.ones((2, 2), np.float32))] * 2, ["a", "b"])
        model.train(1, rows, dataset_sink_mode=False)
        values[f"model mean={mean}"] = plain_value([p.value() for p in net.trainable_params()])
    ms.reset_auto_parallel_context()
    net = Net(rank)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.05)).set_train()
    values["one step stand alone"] = plain_value([step(small, y), [p.value() for p in net.trainable_params()]])
    return values


def main() -> None:
    ms.set_device("CPU")
    communication.init()
    rank = communication.get_rank()
    Path(sys.argv[1], f"{rank}.json").write_text(json.dumps(results_of_rank(rank)))


if __name__ == "__main__":
    main()
