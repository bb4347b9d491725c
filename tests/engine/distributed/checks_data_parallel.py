"""Checks of two or four ranks that train in data parallel, against MindSpore's records and one process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import hookscope
import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, mint, nn, ops
from hookscope.engine.distributed import exchange
from hookscope.engine.nn.data_parallel import buckets_of
from tests.engine.on_device.networks import ResNet18

RECORDED = Path(__file__).with_name("recorded.json")


def check_ranks_give_what_mindspores_gave(rank: int, size: int) -> None:
    if size != 2:
        return
    hookscope.install_as_mindspore()
    from tests.engine.distributed.record import results_of_rank

    expected = json.loads(RECORDED.read_text())
    result = json.loads(json.dumps(results_of_rank(rank)))
    assert result.keys() == expected.keys()
    for name, both in expected.items():
        compare(result[name], both[rank], name)


def compare(result: Any, expected: Any, name: str) -> None:
    if isinstance(expected, dict):
        assert (result["dtype"], result["shape"]) == (expected["dtype"], expected["shape"]), name
        np.testing.assert_allclose(result["values"], expected["values"], rtol=2e-6, atol=2e-7, err_msg=name)
    elif isinstance(expected, list):
        assert len(result) == len(expected), name
        for item, other in zip(result, expected, strict=True):
            compare(item, other, name)
    else:
        assert result == expected, name


class LeNet(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 3, pad_mode="valid", has_bias=True),
            nn.ReLU(),
            nn.Flatten(),
            nn.Dense(256, 32),
            nn.ReLU(),
            nn.Dense(32, 10),
        )

    def construct(self, x: Tensor) -> Tensor:
        return self.body(x)


class Encoder(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
        self.head = nn.Dense(16, 10)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.layer(x).mean(1))


def synchronized(norm: Any) -> Any:
    """Return ResNet-18 of width 4, whose normalizations share the statistics of all ranks' batches."""

    def exchanged(cell: nn.Cell) -> None:
        for name, child in cell.name_cells().items():
            if isinstance(child, nn.BatchNorm2d):
                cell._cells[name] = norm(child.num_features)
                cell._cells[name].update_parameters_name(f"{child.gamma.name.rpartition('.')[0]}.")
            else:
                exchanged(child)

    def made() -> nn.Cell:
        net = ResNet18(4)
        exchanged(net)
        return net

    return made


IMAGES = (8, 3, 16, 16)
# For each network: as one process has it, as ranks have it, the shape of the whole batch, and the tolerance of the
# losses over 20 steps; those of ResNet-18 fall to a thousandth of the first.
NETWORKS = {
    "LeNet": (LeNet, LeNet, (8, 1, 16, 16), 2e-5),
    "Transformer": (Encoder, Encoder, (8, 5, 16), 2e-5),
    "ResNet-18": (lambda: ResNet18(4), synchronized(nn.SyncBatchNorm), IMAGES, 1e-3),
    "ResNet-18 of mint": (lambda: ResNet18(4), synchronized(mint.nn.SyncBatchNorm), IMAGES, 1e-3),
}


def trained(make: Any, x: Any, y: Any, steps: int = 20) -> tuple[list[float], list[Any]]:
    """Train; return the losses, and the parameters at the end."""
    ms.set_seed(11)
    net = make()
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer).set_train()
    losses = [float(step(Tensor(x), Tensor(y)).asnumpy()) for _ in range(steps)]
    return losses, [p.asnumpy() for p in net.get_parameters()]


def check_ranks_train_as_one_process_does_with_the_whole_batch(rank: int, size: int) -> None:
    for name, (make, make_shared, shape, tolerance) in NETWORKS.items():
        rng = np.random.default_rng(5)
        x, y = rng.standard_normal(shape).astype(np.float32), rng.integers(0, 10, shape[0]).astype(np.int32)
        whole_losses, reference = trained(make, x, y)
        share = slice(rank * shape[0] // size, (rank + 1) * shape[0] // size)
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
        try:
            losses, parameters = trained(make_shared, x[share], y[share])
        finally:
            ms.reset_auto_parallel_context()
        mean = ops.AllReduce("avg")(Tensor(np.array(losses))).asnumpy()
        np.testing.assert_allclose(mean, whole_losses, rtol=tolerance, err_msg=name)
        # mint's normalizations also count their batches.
        shared = [x for x in parameters if x.dtype == np.float32]
        assert sorted(x.shape for x in shared) == sorted(x.shape for x in reference)
        if "mint" not in name:  # whose parameters have another order
            for item, other in zip(shared, reference, strict=True):
                np.testing.assert_allclose(item, other, rtol=5 * tolerance, atol=tolerance, err_msg=name)
        assert whole_losses[-1] < whole_losses[0]


def check_running_statistics_are_those_of_the_whole_batch(rank: int, size: int) -> None:
    x = np.random.default_rng(1).standard_normal((size + 1, 3, 4, 5)) * 2 + 1
    own = x[[rank, size]] if rank == 1 else x[[rank]]  # a rank has more than the others
    for make, names in (
        (lambda: nn.SyncBatchNorm(3, dtype=ms.float64), ("moving_mean", "moving_variance")),
        (lambda: mint.nn.SyncBatchNorm(3, dtype=ms.float64), ("running_mean", "running_var")),
    ):
        norm = make().set_train()
        result = norm(Tensor(own)).asnumpy()
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
        expected = (own - mean.reshape(1, 3, 1, 1)) / np.sqrt(variance + 1e-5).reshape(1, 3, 1, 1)
        np.testing.assert_allclose(result, expected, rtol=1e-10)
        count = x.size // 3
        np.testing.assert_allclose(getattr(norm, names[0]).asnumpy(), 0.1 * mean, rtol=1e-7)
        unbiased = variance * count / (count - 1)
        np.testing.assert_allclose(getattr(norm, names[1]).asnumpy(), 0.9 + 0.1 * unbiased, rtol=1e-7)
    groups = [[r for r in range(size) if r % 2 == part] for part in range(2)]
    norm = nn.SyncBatchNorm(3, process_groups=groups, dtype=ms.float64).set_train()
    mine = x[groups[rank % 2]]
    mean, deviation = mine.mean((0, 2, 3)), np.sqrt(mine.var((0, 2, 3)) + 1e-5)
    expected = (x[[rank]] - mean.reshape(1, 3, 1, 1)) / deviation.reshape(1, 3, 1, 1)
    np.testing.assert_allclose(norm(Tensor(x[[rank]])).asnumpy(), expected, rtol=1e-9)


def check_all_ranks_have_the_same_bits(rank: int, size: int) -> None:
    rng = np.random.default_rng(rank)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    try:
        x = rng.standard_normal((2, 1, 16, 16)).astype(np.float32)
        _, parameters = trained(LeNet, x, np.array([rank, 1], np.int32))
    finally:
        ms.reset_auto_parallel_context()
    for parameter in parameters:
        gathered = ops.AllGather()(Tensor(parameter[np.newaxis])).asnumpy()
        assert all(other.tobytes() == gathered[0].tobytes() for other in gathered)


class Wide(nn.Cell):
    """Layers of 1 MiB each, so that each is a bucket."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(*[nn.Dense(512, 512, has_bias=False) for _ in range(4)])

    def construct(self, x: Tensor) -> Tensor:
        return self.layers(x).sum()


def check_buckets_leave_before_the_walk_ends(rank: int, size: int) -> None:
    scale = nn.DynamicLossScaleUpdateCell(8.0, 2, 10)
    for make, settings in (
        (nn.TrainOneStepCell, ()),
        (nn.TrainOneStepCell, (0.5,)),
        (nn.TrainOneStepWithLossScaleCell, (scale,)),
    ):
        assert events_of_a_step(make, settings) == [
            "gradients 0",
            "walked 3",
            "gradients 1",
            "walked 2",
            "gradients 2",
            "walked 1",
            "gradients 3",
            "walked 0",
        ], make


def events_of_a_step(make: Any, settings: Any) -> list[str]:
    events: list[str] = []
    net = Wide()
    for number, layer in enumerate(net.layers):
        layer.register_backward_hook(lambda cell, gi, go, number=number: events.append(f"walked {number}"))
    started = exchange.start

    def noted(kind: str, what: str, *others: Any) -> Any:
        if "gradients" in what:
            events.append(what.split(" of ")[0].removeprefix("sum, "))
        return started(kind, what, *others)

    fusion = {"allreduce": {"mode": "size", "config": 1}}
    ms.set_auto_parallel_context(parallel_mode="data_parallel", comm_fusion=fusion)
    exchange.start = noted
    try:
        step = make(net, nn.SGD(net.trainable_params(), 1e-3), *settings)
        step(Tensor(np.ones((2, 512), np.float32)))
    finally:
        exchange.start = started
        ms.reset_auto_parallel_context()
    return events


def check_training_begins_with_the_first_ranks_parameters_unless_that_is_switched_off(rank: int, size: int) -> None:
    def first_weight(**settings: Any) -> float:
        net = nn.Dense(2, 1, weight_init=Tensor(np.full((1, 2), float(rank), np.float32)), has_bias=False)
        if settings.pop("flag", None) is False:
            net.set_broadcast_flag(False)
        ms.set_auto_parallel_context(parallel_mode="data_parallel", **settings)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.0))
        step(Tensor(np.ones((1, 2), np.float32)), Tensor(np.ones((1, 1), np.float32)))
        ms.reset_auto_parallel_context()
        return float(net.weight.asnumpy()[0, 0])

    assert first_weight() == 0 and first_weight(parameter_broadcast=True) == 0
    assert first_weight(parameter_broadcast=False) == rank and first_weight(flag=False) == rank


def check_gradients_that_hooks_change_are_the_ones_that_are_sent(rank: int, size: int) -> None:
    net = nn.Dense(2, 1, weight_init=Tensor(np.ones((1, 2), np.float32)), has_bias=False)
    net.weight.register_hook(lambda gradient: gradient * 0 + rank + 1)
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 1.0), return_grad=True)
    _, gradients = step(Tensor(np.ones((1, 2), np.float32)))
    ms.reset_auto_parallel_context()
    assert gradients["weight"].asnumpy().tolist() == [[sum(range(1, size + 1))] * 2]


def check_a_step_that_fails_leaves_nothing_for_the_next(rank: int, size: int) -> None:
    net = nn.Dense(2, 1, weight_init=Tensor(np.ones((1, 2), np.float32)), has_bias=False)
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 1.0))
    failing = net.register_forward_hook(lambda *_: 1 / 0)
    try:
        step(Tensor(np.ones((1, 2), np.float32)))
    except ZeroDivisionError:
        failing.remove()
    result = step.grad_reducer((Tensor(np.full((1, 2), float(rank), np.float32)),))
    assert not net.weight._gradient_hooks and result[0].asnumpy().tolist() == [[sum(range(size))] * 2]
    ms.reset_auto_parallel_context()


def check_a_parameter_that_got_no_gradient_is_sent_as_zeros(rank: int, size: int) -> None:
    class Branch(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.other = nn.Dense(2, 1, has_bias=False), nn.Dense(2, 1, has_bias=False)

        def construct(self, x: Tensor) -> Tensor:
            return (self.one if rank else self.other)(x).sum()

    net = Branch()
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 1.0), return_grad=True)
    _, gradients = step(Tensor(np.ones((1, 2), np.float32)))
    ms.reset_auto_parallel_context()
    assert gradients["one.weight"].asnumpy().tolist() == [[size - 1.0] * 2]
    assert gradients["other.weight"].asnumpy().tolist() == [[1.0] * 2]


def check_a_loss_scale_trains_as_without(rank: int, size: int) -> None:
    def end(**scale: Any) -> Any:
        ms.set_seed(2)
        net = nn.Dense(3, 2)
        cell = nn.WithLossCell(net, nn.MSELoss())
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        if scale:
            step = nn.TrainOneStepWithLossScaleCell(cell, optimizer, nn.FixedLossScaleUpdateCell(1024.0))
        else:
            step = nn.TrainOneStepCell(cell, optimizer)
        x = np.random.default_rng(rank).standard_normal((2, 3)).astype(np.float32)
        for _ in range(3):
            step(Tensor(x), Tensor(np.ones((2, 2), np.float32)))
        return net.weight.asnumpy()

    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    np.testing.assert_allclose(end(scaled=True), end(), rtol=1e-6)
    ms.reset_auto_parallel_context()


def check_gradients_that_are_sent_early_have_the_bits_of_those_that_wait(rank: int, size: int) -> None:
    """With a factor, a loss scale, and overflows on one rank: parameters, scale and messages."""

    def end(make: Any, settings: Any, waits: bool) -> list[Any]:
        ms.set_seed(2)
        net = LeNet()
        net.body[0].weight.register_hook(lambda gradient: gradient * 1.5)
        cell = nn.WithLossCell(net, nn.CrossEntropyLoss())
        step = make(cell, nn.Adam(net.trainable_params(), 1e-2), *(setting() for setting in settings))
        if waits:
            reducer = nn.DistributedGradReducer(step.weights)
            step.grad_reducer = Waiting(reducer)
        rng, events = np.random.default_rng(rank), []
        for number in range(5):
            x = rng.standard_normal((2, 1, 16, 16)).astype(np.float32)
            if rank == 1 and number in (1, 3):
                x[0, 0, 0, 0] = np.inf
            result = step(Tensor(x), Tensor(np.array([rank, 3], np.int32)))
            events += [item.asnumpy().tobytes() for item in (result if isinstance(result, tuple) else [result])]
        return events + [p.asnumpy().tobytes() for p in step.get_parameters()]

    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, comm_fusion={"openstate": False})
    for make, settings in (
        (nn.TrainOneStepCell, [lambda: 0.3]),
        (nn.TrainOneStepWithLossScaleCell, [lambda: nn.DynamicLossScaleUpdateCell(2.0**12 + 1, 2, 2)]),
        (nn.TrainOneStepWithLossScaleCell, [lambda: Tensor(np.float32(3))]),
    ):
        assert end(make, settings, False) == end(make, settings, True)
    ms.reset_auto_parallel_context()


class Waiting(nn.Cell):
    """A reducer that sends nothing before it is called."""

    def __init__(self, reducer: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.reducer = reducer

    def construct(self, gradients: Any) -> Any:
        return self.reducer(gradients)


def check_watched_training_has_the_same_bits(rank: int, size: int) -> None:
    from hookscope.engine.debug import DebugSession

    def end(watch: bool) -> list[bytes]:
        ms.set_seed(4)
        net = LeNet()
        step = nn.TrainOneStepCell(
            nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), 1e-2)
        ).set_train()
        x = Tensor(np.random.default_rng(rank).standard_normal((2, 1, 16, 16)).astype(np.float32))
        y = Tensor(np.array([rank, 3], np.int32))
        if watch:
            with DebugSession(net, conditions="all"):
                for _ in range(3):
                    step(x, y)
        else:
            for _ in range(3):
                step(x, y)
        return [p.asnumpy().tobytes() for p in net.get_parameters()]

    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    assert end(True) == end(False)
    ms.reset_auto_parallel_context()


def check_settings_decide_what_is_sent_together(rank: int, size: int) -> None:
    parameters = [Parameter(Tensor(np.zeros(4, np.float32)), name=f"p{i}") for i in range(5)]
    assert buckets_of(parameters) == [[4, 3, 2, 1, 0]]
    for settings, expected in (
        ({"all_reduce_fusion_config": [2, 4]}, [[4, 3], [2, 1], [0]]),
        ({"comm_fusion": {"allreduce": {"mode": "index", "config": [1]}}}, [[4], [3, 2, 1, 0]]),
        ({"comm_fusion": {"allreduce": {"mode": "size", "config": 32}}}, [[4, 3, 2, 1, 0]]),
        ({"comm_fusion": {"openstate": False}}, [[4], [3], [2], [1], [0]]),
    ):
        ms.set_auto_parallel_context(**settings)
        assert buckets_of(parameters) == expected, settings
        ms.reset_auto_parallel_context()
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 2), nn.Dense(2, 2))
    net[1].set_comm_fusion(2)
    assert buckets_of(net.trainable_params()) == [[5, 4], [3, 2], [1, 0]]
    net[1].set_comm_fusion(0)
    assert buckets_of(net.trainable_params()) == [[5, 4], [3], [2], [1, 0]]
    parameters[3] = Parameter(Tensor(np.zeros(4, np.float16)), name="half")
    assert buckets_of(parameters) == [[4], [3], [2, 1, 0]]
