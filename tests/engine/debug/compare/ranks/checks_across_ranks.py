"""Comparisons of recorded runs on two or four ranks: planted faults are named, and sound runs have no finding."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, communication, nn, ops
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.compare.ranks import Comparison, RankFinding, RankRecorder
from hookscope.engine.nn.data_parallel import DistributedGradReducer


def findings(watched: list[RankRecorder], records: list[Any]) -> list[RankFinding]:
    """Return the findings of a comparison of all ranks' records, exchanged as JSON in rounds, as over a wire."""
    from mpi4py import MPI

    everybody = MPI.COMM_WORLD
    of_ranks = [json.loads(text) for text in everybody.allgather(json.dumps(records))]
    comparison = Comparison(everybody.size)
    for rank, record in enumerate(of_ranks):
        comparison.add(rank, record)
    while requests := comparison.wanted():
        answers = [watched[0].detail(*item) for item in requests]
        for rank, text in enumerate(everybody.allgather(json.dumps(answers))):
            for detail in json.loads(text):
                comparison.add_detail(rank, detail)
    for finding in comparison.findings:
        json.dumps(finding.data(), allow_nan=False)
    return comparison.findings


def compare(net: nn.Cell, run: Callable[[], Any]) -> list[RankFinding]:
    """Run a network under a recorder and return the findings of the comparison."""
    records: list[Any] = []
    with DebugSession(net) as session:
        recorder = RankRecorder(session, records.append)
        run()
    recorder.close()
    return findings([recorder], records)


class DataParallel:
    """Context in which training cells reduce gradients."""

    def __init__(self, **settings: Any) -> None:
        self._settings = settings

    def __enter__(self) -> None:
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, **self._settings)

    def __exit__(self, *error: object) -> None:
        ms.reset_auto_parallel_context()


class Layers(nn.Cell):
    """An MLP with dropout, unless ``p`` is 0."""

    def __init__(self, p: float = 0.0, norm: nn.Cell | None = None) -> None:
        super().__init__()
        self.first = nn.Dense(16, 12)
        self.norm = norm or nn.Identity()
        self.drop = nn.Dropout(p=p)
        self.head = nn.Dense(12, 3)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.drop(ops.relu(self.norm(self.first(x)))))


def trainer(net: nn.Cell) -> nn.Cell:
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    return nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer).set_train()


def batches(rank: int, count: int, shape: tuple[int, ...] = (8, 16)) -> list[tuple[Tensor, Tensor]]:
    """Return batches of samples that only this rank has, with their classes."""
    rng = np.random.default_rng([17, rank])
    return [
        (Tensor(rng.standard_normal(shape).astype(np.float32)), Tensor(rng.integers(0, 3, shape[0]).astype(np.int32)))
        for _ in range(count)
    ]


def train(net: nn.Cell, data: Iterable[tuple[Tensor, Tensor]]) -> None:
    step = trainer(net)
    for x, y in data:
        step(x, y)


def single(findings: list[RankFinding]) -> RankFinding:
    assert len(findings) == 1, findings
    return findings[0]


def at(rank: int, size: int) -> tuple[int, ...]:
    """Return the ranks that a finding names when this rank differs: with two ranks, both."""
    return (rank,) if size > 2 else (0, 1)


# Faults


def source(count: int) -> Any:
    rng = np.random.default_rng(3)
    rows = [(rng.standard_normal(16).astype(np.float32), np.int32(index % 3)) for index in range(count)]
    return rows


def check_a_shard_that_one_rank_does_not_shuffle_is_told_as_rows_that_ranks_share(rank: int, size: int) -> None:
    ms.set_seed(5)
    net, rows = Layers(), source(320)
    data = ms.dataset.GeneratorDataset(rows, ["x", "y"], shuffle=rank != 1, num_shards=size, shard_id=rank).batch(4)

    def run() -> None:
        step = trainer(net)
        for _ in range(2):
            for x, y in data:
                step(x, y)

    with DataParallel():
        finding = single(compare(net, run))
    assert (finding.condition, finding.ranks, finding.path, finding.name) == (
        "ranks_alike",
        at(1, size),
        "",
        "input[0]",
    )
    assert 1 <= finding.step <= 10 and "num_shards" in finding.advice and "in one epoch" in finding.message


def check_a_data_set_that_nobody_divides_is_told_in_the_first_step(rank: int, size: int) -> None:
    ms.set_seed(5)
    net = Layers()
    data = ms.dataset.GeneratorDataset(source(24), ["x", "y"], shuffle=False).batch(4)
    with DataParallel():
        finding = single(compare(net, lambda: train(net, data)))
    assert (finding.condition, finding.step, finding.ranks) == ("ranks_alike", 1, tuple(range(size)))


def check_rows_of_a_loop_without_a_data_set_are_told_too(rank: int, size: int) -> None:
    ms.set_seed(5)
    net, data = Layers(), batches(0, 3)
    with DataParallel():
        finding = single(compare(net, lambda: train(net, data)))
    assert (finding.condition, finding.step, finding.ranks) == ("ranks_alike", 1, tuple(range(size)))
    assert "in the same step" in finding.message


def check_dropout_with_one_seed_is_told_with_its_cell(rank: int, size: int) -> None:
    ms.set_seed(7)
    net = Layers(p=0.5)
    with DataParallel():
        finding = single(compare(net, lambda: train(net, batches(rank, 3))))
    assert (finding.condition, finding.step, finding.ranks, finding.path) == (
        "ranks_alike",
        1,
        tuple(range(size)),
        "drop",
    )
    assert "set_seed" in finding.advice and len(set(finding.figures.values())) == 1


def check_two_of_the_ranks_with_one_seed_are_the_ones_named(rank: int, size: int) -> None:
    ms.set_seed(7)
    net = Layers(p=0.5)
    ms.set_seed(rank // 2)
    with DataParallel():
        finding = single(compare(net, lambda: train(net, batches(rank, 2))))
    assert (finding.condition, finding.ranks, finding.path) == ("ranks_alike", (0, 1), "drop")


def own_loop(net: nn.Cell, rank: int, left_out: str = "", from_step: int = 1) -> Callable[[Any], None]:
    """Train in a loop with a reducer; rank 1 may leave one gradient out of it."""
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    reducer = DistributedGradReducer(optimizer.parameters, True)
    loss = nn.CrossEntropyLoss()
    forward = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    def run(data: Any) -> None:
        for number, (x, y) in enumerate(data, 1):
            _, gradients = forward(x, y)
            reduced = list(reducer(gradients))
            for index, parameter in enumerate(optimizer.parameters):
                if rank == 1 and parameter.name == left_out and number >= from_step:
                    reduced[index] = gradients[index]
            optimizer(tuple(reduced))

    return run


def check_a_gradient_that_misses_the_reduction_on_one_rank_is_named(rank: int, size: int) -> None:
    ms.set_seed(9)
    net = Layers().set_train()
    run = own_loop(net, rank, "head.weight", from_step=3)
    finding = single(compare(net, lambda: run(batches(rank, 5))))
    assert (finding.condition, finding.step, finding.ranks) == ("ranks_differ", 3, at(1, size))
    assert (finding.path, finding.name) == ("head", "head.weight") and "gradient" in finding.message
    assert "norm" in finding.figures[0] and finding.figures[0] != finding.figures[1]


def check_other_initial_weights_are_named(rank: int, size: int) -> None:
    ms.set_seed(100 if rank == size - 1 else 3)
    net = Layers()
    with DataParallel(parameter_broadcast=False):
        finding = single(compare(net, lambda: train(net, batches(rank, 3))))
    assert (finding.condition, finding.step, finding.ranks) == ("parameters_differ", 1, at(size - 1, size))
    assert (finding.path, finding.name) == ("first", "first.weight") and "more" in finding.message


def check_a_rank_with_another_dtype_in_one_cell_is_named(rank: int, size: int) -> None:
    ms.set_seed(4)
    net = Layers()
    if rank == 1:
        net.first.to_float(ms.float16)
    with DataParallel():
        finding = single(compare(net, lambda: train(net, batches(rank, 3))))
    assert (finding.condition, finding.step, finding.ranks) == ("ranks_differ", 1, at(1, size))
    assert (finding.path, finding.name) == ("first", "output")
    assert (finding.figures[0], finding.figures[1]) == ("float32", "float16")


def check_moving_statistics_of_batch_norm_are_named_as_what_they_are(rank: int, size: int) -> None:
    ms.set_seed(4)
    net = Layers(norm=nn.BatchNorm1d(12))
    with DataParallel():
        finding = single(compare(net, lambda: train(net, batches(rank, 3))))
    assert (finding.condition, finding.step, finding.ranks) == ("parameters_differ", 2, tuple(range(size)))
    assert (finding.path, finding.name) == ("norm", "norm.moving_mean") and "SyncBatchNorm" in finding.advice


def check_an_extra_step_of_one_rank_is_told(rank: int, size: int) -> None:
    ms.set_seed(2)
    net = Layers().set_train()
    run = own_loop(net, rank)
    grad = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())

    def longer() -> None:
        run(batches(rank, 4))
        if rank == 1:
            grad(batches(9, 1)[0][0])

    finding = single(compare(net, longer))
    assert (finding.condition, finding.step, finding.ranks) == ("ranks_differ", 5, at(1, size))
    assert finding.figures[0] == "4 steps" and finding.figures[1] == "5 steps"


class Summing(nn.Cell):
    """The sum over the ranks; one rank may take the maximum instead."""

    def __init__(self, op: str) -> None:
        super().__init__()
        self.op = op

    def construct(self, x: Tensor) -> Tensor:
        return ops.AllReduce(self.op)(x)


def check_a_collective_that_one_rank_does_not_make_is_an_error_on_all_and_a_finding(rank: int, size: int) -> None:
    ms.set_seed(2)
    net = Layers(norm=Summing("max" if rank == 1 else "sum")).set_train()
    errors: list[str] = []

    def run() -> None:
        try:
            train(net, batches(rank, 2))
        except RuntimeError as error:
            errors.append(str(error))

    finding = single(compare(net, run))
    assert "rank 0: all_reduce of sum, float32 [8, 12] (" in errors[0] and "rank 1: all_reduce of max" in errors[0]
    assert (finding.condition, finding.step, finding.ranks, finding.path) == ("ranks_differ", 1, at(1, size), "norm")
    assert finding.figures[1].startswith("all_reduce of max") and "checks_across_ranks.py" in finding.figures[0]


def check_gradients_that_do_not_fit_together_are_a_finding_of_the_reducer(rank: int, size: int) -> None:
    net = nn.Dense(16, 4 if rank == 1 else 3).set_train()
    with DataParallel(parameter_broadcast=False):
        step = trainer(net)
        errors: list[str] = []

        def run() -> None:
            try:
                step(*batches(rank, 1)[0])
            except RuntimeError as error:
                errors.append(str(error))

        finding, weight = compare(net, run)
    assert (weight.condition, weight.name) == ("parameters_differ", "weight")
    assert "gradients 0 of float32" in errors[0]
    assert (finding.condition, finding.step, finding.ranks) == ("ranks_differ", 1, at(1, size))
    assert finding.path == "DistributedGradReducer" and "[68]" in finding.figures[1] and "[51]" in finding.figures[0]


class Wider(nn.Cell):
    """A network with other cells, or other shapes, on one rank."""

    def __init__(self, rank: int, what: str) -> None:
        super().__init__()
        self.first, self.more, self.head = nn.Dense(16, 12), nn.ReLU(), nn.Dense(12, 3)
        self.odd, self.what = rank == 1, what

    def construct(self, x: Tensor) -> Tensor:
        x = self.first(x)
        if self.odd and self.what == "cell":
            x = self.more(x)
        if self.odd and self.what == "shape":
            x = self.more(x[:4])
        elif self.what == "shape":
            x = self.more(x)
        return self.head(x)


def check_other_cells_and_other_shapes_of_one_rank_are_named(rank: int, size: int) -> None:
    differences = {"cell": "is not the cell that all ranks run there", "shape": "does not have the same shape"}
    for what, text in differences.items():
        ms.set_seed(2)
        net = Wider(rank, what).set_train()
        optimizer = nn.SGD(net.trainable_params(), 0.05)
        forward = ms.value_and_grad(lambda x, net=net: net(x).sum(), None, optimizer.parameters)
        reducer = DistributedGradReducer(optimizer.parameters, True)

        def run(forward: Any = forward, reducer: Any = reducer, optimizer: Any = optimizer) -> None:
            for x, _ in batches(rank, 4):
                optimizer(reducer(forward(x)[1]))

        finding = single(compare(net, run))
        assert (finding.condition, finding.step, finding.ranks) == ("ranks_differ", 1, at(1, size))
        assert finding.path == ("more" if what == "shape" or size > 2 else "head") and text in finding.message, finding


# Sound runs


class LeNet(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dense(216, 32),
            nn.ReLU(),
            nn.Dense(32, 3),
        )

    def construct(self, x: Tensor) -> Tensor:
        return self.body(x)


class Encoder(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.2, batch_first=True)
        self.head = nn.Dense(16, 3)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.layer(x).mean(1))


class Images(nn.Cell):
    """SyncBatchNorm between convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(1, 4, 3), nn.SyncBatchNorm(4), nn.Dense(4, 3)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(ops.relu(self.norm(self.conv(x))).mean((2, 3)))


SOUND: dict[str, tuple[Callable[[], nn.Cell], tuple[int, ...]]] = {
    "MLP": (Layers, (8, 16)),
    "LeNet": (LeNet, (4, 1, 16, 16)),
    "Transformer": (Encoder, (4, 5, 16)),
    "SyncBatchNorm": (Images, (4, 1, 6, 6)),
}


def check_sound_runs_have_no_finding(rank: int, size: int) -> None:
    for name, (make, shape) in SOUND.items():
        ms.set_seed(11)
        net = make()
        ms.set_seed(20 + rank)
        with DataParallel():
            findings = compare(net, lambda net=net, shape=shape: train(net, batches(rank, 6, shape)))
        assert not findings, (name, findings)


def check_being_recorded_changes_no_bit(rank: int, size: int) -> None:
    def end(make: Any, shape: Any, recorded: bool) -> list[bytes]:
        ms.set_seed(11)
        net = make()
        ms.set_seed(20 + rank)
        step = trainer(net)
        data = batches(rank, 3, shape)
        outputs = []
        if recorded:
            with DebugSession(net) as session:
                recorder = RankRecorder(session, lambda record: None)
                outputs = [step(x, y) for x, y in data]
            recorder.close()
        else:
            outputs = [step(x, y) for x, y in data]
        return [x.asnumpy().tobytes() for x in (*outputs, *net.get_parameters(), *step.optimizer.get_parameters())]

    for make, shape in SOUND.values():
        with DataParallel():
            assert end(make, shape, True) == end(make, shape, False)


def check_shuffled_shards_of_any_length_are_sound_over_epochs(rank: int, size: int) -> None:
    ms.set_seed(5)
    net = Layers()
    data = ms.dataset.GeneratorDataset(source(49), ["x", "y"], shuffle=True, num_shards=size, shard_id=rank).batch(4)

    def run() -> None:
        step = trainer(net)
        for _ in range(4):
            for x, y in data:
                step(x, y)

    with DataParallel():
        assert not compare(net, run)


def check_repeated_shards_and_samples_with_replacement_are_sound(rank: int, size: int) -> None:
    ms.set_seed(5)
    rows = source(24)
    repeated = ms.dataset.GeneratorDataset(rows, ["x", "y"], shuffle=True, num_shards=size, shard_id=rank)
    sampler = ms.dataset.RandomSampler(replacement=True, num_samples=80)
    for data in (repeated.batch(2).repeat(6), repeated.repeat(6).batch(4)):
        net = Layers()
        with DataParallel():
            assert not compare(net, lambda net=net, data=data: train(net, data))
    ms.set_seed(50 + rank)
    net = Layers()
    drawn = ms.dataset.GeneratorDataset(source(400), ["x", "y"], sampler=sampler).batch(2)
    with DataParallel():
        assert not compare(net, lambda: train(net, drawn))


def check_one_rank_that_evaluates_is_sound(rank: int, size: int) -> None:
    ms.set_seed(5)
    net = Layers(p=0.3)
    ms.set_seed(40 + rank)
    data = ms.dataset.GeneratorDataset(source(48), ["x", "y"], shuffle=True, num_shards=size, shard_id=rank).batch(4)
    full_data = ms.dataset.GeneratorDataset(source(48), ["x", "y"], shuffle=False).batch(8)

    def run() -> None:
        step = trainer(net)
        for _ in range(3):
            for number, (x, y) in enumerate(data):
                step(x, y)
                if rank == 0 and number % 2:
                    net.set_train(False)
                    for other, _ in full_data:
                        net(other)
                    net.set_train(True)

    with DataParallel():
        assert not compare(net, run)


def check_accumulated_gradients_a_loss_scale_and_tied_parameters_are_sound(rank: int, size: int) -> None:
    class Tied(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.out = nn.Embedding(9, 8), nn.Dense(8, 9, has_bias=False)
            self.out.weight = self.embedding.embedding_table

        def construct(self, tokens: Tensor) -> Tensor:
            return self.out(self.embedding(tokens).mean(1))

    ms.set_seed(5)
    tied = Tied()
    optimizer = nn.Adam(tied.trainable_params(), 1e-2)
    cell = nn.WithLossCell(tied, nn.CrossEntropyLoss())
    rng = np.random.default_rng(rank)
    tokens = [Tensor(rng.integers(0, 9, (4, 6)).astype(np.int32)) for _ in range(6)]
    labels = Tensor(np.array([0, 1, 2, 3], np.int32))
    with DataParallel():
        step = nn.TrainOneStepWithLossScaleCell(cell, optimizer, nn.FixedLossScaleUpdateCell(1024.0)).set_train()
        assert not compare(tied, lambda: [step(x, labels) for x in tokens])

    net = Layers().set_train()
    for parameter in net.get_parameters():
        parameter.set_data(ops.Broadcast(0)((parameter,))[0])
    updates = nn.SGD(net.trainable_params(), 0.05)
    reducer = DistributedGradReducer(updates.parameters, True)
    forward = ms.value_and_grad(lambda x: net(x).sum(), None, updates.parameters)

    def accumulated() -> None:
        sums: list[Tensor] = []
        for number, (x, _) in enumerate(batches(rank, 6)):
            gradients = forward(x)[1]
            sums = [a + b for a, b in zip(sums, gradients, strict=True)] if sums else list(gradients)
            if number % 3 == 2:
                updates(reducer(tuple(sums)))
                sums = []

    assert not compare(net, accumulated)


def check_rows_that_are_the_same_in_many_samples_are_sound(rank: int, size: int) -> None:
    class Places(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.head = nn.Embedding(32, 8), nn.Dense(8, 3)

        def construct(self, indices: Tensor, mask: Tensor) -> Tensor:
            return self.head((self.table(indices) * mask.expand_dims(-1)).mean(1))

    def run_on(make: Callable[[], nn.Cell], inputs: Callable[[], tuple[Tensor, ...]]) -> None:
        ms.set_seed(1)
        net = make().set_train()
        optimizer = nn.SGD(net.trainable_params(), 0.01)
        reducer = DistributedGradReducer(optimizer.parameters, True)
        forward = ms.value_and_grad(lambda *given: net(*given).sum(), None, optimizer.parameters)
        findings = compare(net, lambda: [optimizer(reducer(forward(*inputs())[1])) for _ in range(8)])
        assert not findings, findings

    rng = np.random.default_rng(rank)
    positions = np.tile(np.arange(32, dtype=np.int32), (4, 1))
    run_on(Places, lambda: (Tensor(positions), Tensor(np.ones((4, 32), np.float32))))
    run_on(lambda: nn.Dense(5, 3), lambda: (Tensor(np.eye(5, dtype=np.float32)[rng.integers(0, 5, 6)]),))
    run_on(lambda: nn.Dense(5, 3), lambda: (Tensor(np.zeros((6, 5), np.float32)),))
    run_on(lambda: nn.Dense(5, 3), lambda: (Tensor(np.full((6, 5), 0.5, np.float32)),))
    run_on(lambda: nn.Dense(2, 3), lambda: (Tensor(rng.integers(0, 2, (4, 2)).astype(np.float32)),))
    few = np.random.default_rng(0).standard_normal((6, 5)).astype(np.float32)  # drawn with replacement
    run_on(lambda: nn.Dense(5, 3), lambda: (Tensor(few[rng.integers(0, 6, 6)]),))


def check_a_network_called_twice_and_two_networks_are_sound(rank: int, size: int) -> None:
    ms.set_seed(1)
    net = Layers().set_train()
    optimizer = nn.SGD(net.trainable_params(), 0.01)
    reducer = DistributedGradReducer(optimizer.parameters, True)
    twice = ms.value_and_grad(lambda x: (net(x) * net(x + 1)).sum(), None, optimizer.parameters)
    assert not compare(net, lambda: [optimizer(reducer(twice(x)[1])) for x, _ in batches(rank, 4)])

    ms.set_seed(1)
    made, judge = nn.Dense(16, 16).set_train(), nn.Dense(16, 1).set_train()
    first, second = nn.SGD(judge.trainable_params(), 0.01), nn.SGD(made.trainable_params(), 0.01)
    reducers = [DistributedGradReducer(item.parameters, True) for item in (first, second)]
    judged = ms.value_and_grad(lambda x: (judge(x) - judge(made(x))).mean(), None, first.parameters)
    making = ms.value_and_grad(lambda x: judge(made(x)).mean(), None, second.parameters)

    def run() -> list[RankFinding]:
        records: list[Any] = []
        with DebugSession() as session:
            recorder = RankRecorder(session, records.append)
            for x, _ in batches(rank, 4):
                first(reducers[0](judged(x)[1]))
                second(reducers[1](making(x)[1]))
        recorder.close()
        assert len(records) == 9
        return findings([recorder], records)

    assert not run()


def check_lengths_and_branches_that_hang_on_the_data_are_sound(rank: int, size: int) -> None:
    class Branches(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.head = nn.Dense(16, 16), nn.Dense(16, 16), nn.Dense(16, 3)

        def construct(self, x: Tensor, which: int) -> Tensor:
            x = self.a(x) if which else self.b(x)
            return self.head(x).sum()

    ms.set_seed(1)
    net = Branches().set_train()
    optimizer = nn.SGD(net.trainable_params(), 0.01)
    reducer = DistributedGradReducer(optimizer.parameters, True)
    forward = ms.value_and_grad(net, None, optimizer.parameters)
    rng = np.random.default_rng(rank)

    def run() -> None:
        for number in range(12):
            length = 3 + (number * 7 + rank * 3) % 5
            x = Tensor(rng.standard_normal((2, length, 16)).astype(np.float32))
            optimizer(reducer(forward(x, (number + rank) % 2)[1]))
        for number in range(8):
            x = Tensor(rng.standard_normal((2, 4, 16)).astype(np.float32))
            optimizer(reducer(forward(x, (number + rank) % 2)[1]))

    assert not compare(net, run)


def check_parameters_that_are_each_ranks_own_are_sound(rank: int, size: int) -> None:
    ms.set_seed(1)
    net = Layers()
    net.first.weight.layerwise_parallel = True
    net.first.weight.set_data(net.first.weight * (rank + 1))
    with DataParallel():
        assert not compare(net, lambda: train(net, batches(rank, 3)))


def check_ranks_are_those_of_the_world(rank: int, size: int) -> None:
    assert (communication.get_rank(), communication.get_group_size()) == (rank, size)
