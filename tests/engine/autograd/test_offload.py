"""Offload: the same bits as without it, less memory, and no file that stays."""

from __future__ import annotations

import copy
import gc
import os
import tempfile
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.autograd import offloading
from hookscope.engine.autograd.saved_tensors import saved_tensors_hooks
from hookscope.engine.debug import DebugSession
from hookscope.engine.tape import tape, taps
from hookscope.engine.tensors import blocks
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.operator import OPERATORS

WIDTH = 192  # a square of it is large enough to be moved, also in float16


def values(*shape: int, seed: int = 0) -> Tensor:
    return Tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


class Block(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc, self.drop, self.norm = nn.Dense(WIDTH, WIDTH), nn.Dropout(p=0.3), nn.BatchNorm1d(WIDTH)

    def construct(self, x: Tensor) -> Tensor:
        return ops.gelu(self.norm(self.drop(self.fc(x)))) * x + ops.tanh(x)


class Windows(nn.Cell):
    """Cell with values whose memory order differs from their axes, and with views."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.pool = nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.MaxPool2d(2, 2)
        self.attend = nn.MultiheadAttention(16, 2, batch_first=True)

    def construct(self, x: Tensor) -> Tensor:
        x = self.pool(ops.relu(self.norm(self.conv(x.reshape(8, 4, 32, 64)))))
        x = x.transpose(0, 2, 3, 1).reshape(8, -1, 16)
        return ops.exp(-ops.square(self.attend(x, x, x)[0])).swapaxes(1, 2)


class Twice(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Block()

    def construct(self, x: Tensor) -> Tensor:
        return x * self.inner(self.inner(x) + x)


class Branches(nn.Cell):
    """Cell that returns its input, and a part of it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Block()

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.inner(x)
        return y, y[: WIDTH // 2] * ops.sin(y[WIDTH // 2 :])


class Summed(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.branches, self.block = Branches(), Block()

    def construct(self, x: Tensor) -> Tensor:
        full, half = self.branches(x)
        return self.block(full) + ops.concat((half, half))


class Assigning(nn.Cell):
    """Cell that writes to operands of earlier computations."""

    def __init__(self) -> None:
        super().__init__()
        self.block, self.weight = Block(), Parameter(values(WIDTH, WIDTH), "weight")

    def construct(self, x: Tensor) -> Tensor:
        y = self.block(x)
        z = y * y
        y[0] = 7.0
        flat = z.reshape(-1)
        squares = flat * flat
        flat[:5] = 1.0
        return ops.matmul(squares.reshape(WIDTH, WIDTH), self.weight) * z + y


class ItsOwn(nn.Cell):
    """Cell with a bprop."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.sin(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Tensor:
        return dout * ops.cos(x) * out


def stacked(*kinds: type[nn.Cell]) -> Callable[[], nn.Cell]:
    return lambda: nn.SequentialCell(*[kind() for kind in kinds]).set_train()


NETWORKS: dict[str, Callable[[], nn.Cell]] = {
    "blocks": stacked(Block, Block, Block),
    "windows": stacked(Windows),
    "twice": stacked(Twice, Block),
    "branches": stacked(Summed),
    "assigning": stacked(Assigning, Block),
    "bprop": stacked(Block, ItsOwn, Block),
    "transformer": lambda: nn.SequentialCell(
        *[nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, batch_first=True) for _ in range(2)]
    ).set_train(),
    "recurrent": lambda: nn.SequentialCell(Block(), _First(nn.LSTM(WIDTH, WIDTH)), Block()).set_train(),
}


class _First(nn.Cell):
    def __init__(self, cell: nn.Cell) -> None:
        super().__init__()
        self.cell = cell

    def construct(self, x: Tensor) -> Tensor:
        return self.cell(x.reshape(-1, 16, WIDTH))[0].reshape(WIDTH, WIDTH)


def shown_to_hooks(net: nn.Cell) -> list[bytes]:
    """Register hooks on all cells and on a tensor in the middle, which note their values."""
    records: list[bytes] = []

    def note(*gradients: Any) -> None:
        records.extend(g.asnumpy().tobytes() for g in gradients if isinstance(g, Tensor))

    def on_output(cell: nn.Cell, inputs: Any, output: Any) -> None:
        if isinstance(output, Tensor):
            output.register_hook(note)

    for cell in net.cells():
        cell.register_backward_hook(lambda cell, grad_input, grad_output: note(*grad_input, *grad_output))
        cell.register_forward_hook(on_output)
    return records


def gradients(net: nn.Cell, x: Tensor) -> list[Tensor]:
    value, (of_x, of_weights) = ms.value_and_grad(net, 0, net.trainable_params())(x)
    return [value, of_x, *of_weights]


def with_hooks(net: nn.Cell, x: Tensor) -> list[Any]:
    records = shown_to_hooks(net)
    return [*gradients(net, x), *records]


def with_hooks_on_tensors(net: nn.Cell, x: Tensor) -> list[Any]:
    """Register hooks on outputs of cells that change gradients; some outputs die and are moved."""

    def on_output(cell: nn.Cell, inputs: Any, output: Any) -> None:
        if isinstance(output, Tensor):
            output.register_hook(lambda g: g * 0.75)

    for _, cell in net.cells_and_names():
        cell.register_forward_hook(on_output)
    return gradients(net, x)


def with_a_tensor_hook_inside(net: nn.Cell, x: Tensor) -> list[Any]:
    def f(x: Tensor) -> Tensor:
        y = ops.exp(x * 0.1)
        y.register_hook(lambda g: g * 2.0)
        return net(y).sum() + y.sum()

    return [ms.grad(f)(x)]


def of_a_gradient(net: nn.Cell, x: Tensor) -> list[Tensor]:
    return [ms.grad(ms.grad(lambda x: ops.sin(net(x))))(x)]


def of_a_gradient_of_weights(net: nn.Cell, x: Tensor) -> list[Tensor]:
    def penalty(x: Tensor) -> Tensor:
        return ops.square(ms.grad(net)(x)).sum()

    return [*ms.grad(penalty, 0, net.trainable_params())(x)[1]]


class _Halving(taps.Tap):
    """Tap that replaces the gradients that leave a cell."""

    def backward_exit(self, call: Any, grad_input: Any) -> Any:
        return tuple(None if g is None else g * 0.5 for g in grad_input)


def of_a_gradient_that_a_tap_changes(net: nn.Cell, x: Tensor) -> list[Tensor]:
    tap = _Halving()
    taps.attach(tap)
    try:
        return of_a_gradient(net, x)
    finally:
        taps.detach(tap)


def twice_by_vjp(net: nn.Cell, x: Tensor) -> list[Tensor]:
    output, back = ms.vjp(net, x)
    return [output, *back(ops.ones_like(output)), *back(ops.sin(output))]


def by_jvp(net: nn.Cell, x: Tensor) -> list[Tensor]:
    return [*ms.jvp(net, x, values(*x.shape, seed=1))]


def in_half_precision(net: nn.Cell, x: Tensor) -> list[Tensor]:
    net.to_float(ms.float16)
    return gradients(net, x)


def recomputed(net: nn.Cell, x: Tensor) -> list[Tensor]:
    for cell in net.cells():
        cell.recompute()
    return gradients(net, x)


def recomputed_whole(net: nn.Cell, x: Tensor) -> list[Tensor]:
    next(iter(net.cells())).recompute()
    net.recompute()
    return gradients(net, x)


def watched(net: nn.Cell, x: Tensor) -> list[Any]:
    with DebugSession(net) as session:
        results: list[Any] = gradients(net, x)
        for capture in session.captures:
            results += [capture.path, capture.direction, *tensors_in(capture.value)]
    return results


def watched_with_hooks(net: nn.Cell, x: Tensor) -> list[Any]:
    shown_to_hooks(net)
    return watched(net, x)


def with_packing(net: nn.Cell, x: Tensor) -> list[Tensor]:
    def f(x: Tensor) -> Tensor:
        with saved_tensors_hooks(lambda t: t.asnumpy(), Tensor):
            y = net(x)
        return net(y.reshape(x.shape)) if y.shape == x.shape else y

    return [ms.grad(f)(x)]


WAYS = [
    gradients,
    with_hooks,
    with_hooks_on_tensors,
    with_a_tensor_hook_inside,
    of_a_gradient,
    of_a_gradient_of_weights,
    of_a_gradient_that_a_tap_changes,
    twice_by_vjp,
    by_jvp,
    in_half_precision,
    recomputed,
    recomputed_whole,
    with_packing,
]


@pytest.fixture
def fetches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Provide the sizes of the values that were made again."""
    sizes: list[int] = []
    fetch = offloading.RestoredNodes._fetch

    def noted(self: Any, stand_in: Any) -> None:
        sizes.append(stand_in.size)
        fetch(self, stand_in)

    monkeypatch.setattr(offloading.RestoredNodes, "_fetch", noted)
    return sizes


def bits(way: Callable[[nn.Cell, Tensor], list[Any]], net: nn.Cell) -> list[Any]:
    ms.set_seed(3)
    x = values(WIDTH, WIDTH) if not isinstance(net[0], Windows) else values(8, 4 * 32 * 64)  # type: ignore[index]
    if isinstance(net[0], nn.TransformerEncoderLayer):  # type: ignore[index]
        x = values(4, 32, WIDTH)
    results = [t.asnumpy().tobytes() if isinstance(t, Tensor) else t for t in way(net, x)]
    return [*results, *(p.asnumpy().tobytes() for p in net.get_parameters())]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("way", [*WAYS, watched, watched_with_hooks], ids=lambda way: way.__name__)
def test_offloading_changes_no_bit(way: Callable[[nn.Cell, Tensor], list[Any]], name: str, fetches: list[int]) -> None:
    ms.set_seed(0)
    plain = NETWORKS[name]()
    moving = copy.deepcopy(plain)
    expected = bits(way, plain)
    assert not fetches
    moving.offload()
    assert bits(way, moving) == expected
    assert bool(fetches) != (way is with_packing and name == "windows")  # the block packs them all


class Layer(nn.Cell):
    """Cell that saves four arrays of its input's size for its gradient, and notes which of its arrays are alive."""

    def __init__(self, references: list[weakref.ref[Any]] | None = None) -> None:
        super().__init__()
        self.made = [] if references is None else references

    def construct(self, x: Tensor) -> Tensor:
        for function in (ops.tanh, ops.exp, ops.sin, ops.tanh):
            x = function(x * 0.5)
            self.made.append(weakref.ref(x._array))
        return x


def layers(count: int) -> tuple[nn.SequentialCell, list[weakref.ref[Any]]]:
    references: list[weakref.ref[Any]] = []
    net = nn.SequentialCell(*[Layer(references) for _ in range(count)])
    net.offload()
    return net, references


def test_arrays_are_gone_until_the_walk_comes_to_them() -> None:
    net, references = layers(3)
    living: list[int] = []

    def f(x: Tensor) -> Tensor:
        y = net(x)
        living.append(sum(item() is not None for item in references))
        return y

    _, back = ms.vjp(f, values(WIDTH, WIDTH))
    assert living == [1], "the output"
    del _
    back(Tensor(np.ones((WIDTH, WIDTH), np.float32)))
    assert [item() is not None for item in references] == [False] * 11 + [True]  # the function's result is read again


@pytest.mark.parametrize("recomputed", [False, True])
def test_a_step_holds_less(recomputed: bool) -> None:
    x = values(256, 256)

    def peak(net: nn.Cell) -> int:
        ms.grad(net)(x)
        tracemalloc.start()
        try:
            ms.grad(net)(x)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    plain, moving = (nn.SequentialCell(*[Layer() for _ in range(8)]) for _ in range(2))
    moving.offload()
    if recomputed:
        for cell in (*plain, *moving):
            cell.recompute()
        assert peak(moving) < peak(plain) - 6 * 256 * 256 * 4  # the inputs of eight layers, except those in use
    else:
        assert peak(moving) < peak(plain) / 3


def test_what_somebody_holds_is_the_same_array_on_the_way_back(fetches: list[int]) -> None:
    content: list[Any] = []
    net = nn.SequentialCell(nn.Tanh(), nn.Sigmoid(), nn.Tanh())
    net.offload()
    net[1].register_forward_hook(lambda cell, inputs, output: content.append((*inputs, output)))
    ms.grad(net)(values(WIDTH, WIDTH))
    assert not fetches
    content.clear()
    net[1].register_forward_hook(lambda cell, inputs, output: content.clear())
    ms.grad(net)(values(WIDTH, WIDTH))
    assert len(fetches) == 2


def test_writing_to_what_a_cell_gave_changes_no_gradient() -> None:
    class Flat(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return ops.exp(ops.tanh(x).reshape(-1))

    def f(x: Tensor) -> Tensor:
        y = net(x)
        records[:] = [y, y.reshape(WIDTH, WIDTH)]
        return y * 1.0

    x, records = values(WIDTH, WIDTH), list[Tensor]()
    net = Flat()
    net.offload()
    tanh = np.tanh(np.float64(x.asnumpy()))
    expected = (1 - tanh**2) * np.exp(tanh)
    for index in range(2):
        output, back = ms.vjp(f, x)
        records[index][0] = 7.0
        del records[1 - index]
        records[0][:5] = 9.0
        result = back(ops.ones_like(output))[0].asnumpy()
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_parameters_inputs_and_what_is_small_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    append = blocks.SwapFile.append
    monkeypatch.setattr(blocks.SwapFile, "append", lambda file, flat: sizes.append(flat.size) or append(file, flat))
    net = nn.Dense(WIDTH, WIDTH)
    net.offload()
    x = values(WIDTH, WIDTH)
    ms.grad(net, 0, net.trainable_params())(x)
    ms.grad(net, None, net.trainable_params())(x)
    small = nn.SequentialCell(nn.Tanh(), nn.Tanh())
    small.offload()
    ms.grad(small)(values(2, offloading.MIN_BYTES // 8 - 1))
    small(x)
    between = nn.SequentialCell(nn.Tanh(), nn.Tanh())
    between.offload()
    for cell in between:
        cell.register_backward_hook(lambda cell, grad_input, grad_output: None)
    ms.grad(between)(x)
    assert not sizes, "arrays that hooks read stay alive"
    ms.grad(small)(values(2, offloading.MIN_BYTES // 8))
    assert sizes == [offloading.MIN_BYTES] * 2


@pytest.mark.parametrize(("argument", "ahead"), [("Auto", 1), (0, 0), (3, 3)])
def test_so_many_values_are_fetched_ahead(argument: Any, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    fetch, gradient = blocks._InFile._fetch, OPERATORS["tanh_grad"].kernel
    monkeypatch.setattr(blocks._InFile, "_fetch", lambda block: log.append("fetch") or fetch(block))
    monkeypatch.setattr(OPERATORS["tanh_grad"], "kernel", lambda *arguments: log.append("rule") or gradient(*arguments))
    net = nn.SequentialCell(*[nn.Tanh() for _ in range(7)])  # the output of the last is held
    net.offload(argument)
    ms.grad(net)(values(WIDTH, WIDTH))
    fetched = [log[:index].count("fetch") for index, what in enumerate(log) if what == "rule"]
    assert fetched == [min(number + ahead, 6) for number in range(1, 8)]  # each where it is an operand, and those ahead


# The file


@pytest.fixture
def open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """Provide a count of open or mapped files in the folder for temporary files, which never have a name there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def count() -> int:
        assert not list(tmp_path.iterdir())
        results = [Path("/proc/self/maps").read_text(encoding="utf-8").count(f"{tmp_path}/")]
        for number in os.listdir("/proc/self/fd"):
            try:
                results.append(os.readlink(f"/proc/self/fd/{number}").startswith(f"{tmp_path}/"))
            except OSError:  # that of the folder itself
                continue
        return sum(results)

    gc.disable()
    try:
        yield count
    finally:
        gc.enable()


def test_the_file_is_gone_after_the_walk(open_files: Callable[[], int]) -> None:
    net, _ = layers(2)
    counts: list[int] = []
    net[0].register_backward_hook(lambda *_: counts.append(open_files()))
    ms.grad(net)(values(WIDTH, WIDTH))
    assert counts and counts[0] > 0
    assert open_files() == 0


def test_the_file_is_gone_after_the_walk_through_a_recomputed_cell(open_files: Callable[[], int]) -> None:
    net, _ = layers(2)
    net[0].recompute()
    ms.grad(net)(values(WIDTH, WIDTH))
    assert open_files() == 0


def test_the_file_is_gone_with_the_function_of_vjp(open_files: Callable[[], int]) -> None:
    net, _ = layers(2)
    output, back = ms.vjp(net, values(WIDTH, WIDTH))
    assert open_files() == 1
    back(output)
    assert open_files() == 1
    del back
    assert open_files() == 0


def test_the_file_is_gone_after_an_exception(open_files: Callable[[], int]) -> None:
    net, _ = layers(2)

    def failing(x: Tensor) -> Tensor:
        y = net(x)
        assert open_files() == 1
        raise ArithmeticError(str(y.shape))

    def hook(*_: object) -> None:
        assert open_files() > 0
        raise ArithmeticError

    def failing_on_the_way_back(x: Tensor) -> Tensor:
        y = ops.exp(x)
        y.register_hook(hook)
        return net(y)

    for f in (failing, failing_on_the_way_back):
        with pytest.raises(ArithmeticError):
            ms.grad(f)(values(WIDTH, WIDTH))
        gc.collect()  # of the exception's frames
        assert open_files() == 0


def test_a_value_that_was_captured_outlives_the_file(open_files: Callable[[], int]) -> None:
    records: list[Any] = []

    class Keeping(taps.Tap):
        observes_operators = True

        def operator_backward(self, name: str, g: Any, gs: Any, attrs: Any, inputs: Any, output: Any) -> None:
            records.append(output)

    net, tap, x = nn.SequentialCell(nn.Tanh(), nn.Tanh()), Keeping(), values(WIDTH, WIDTH)
    net.offload()
    output, back = ms.vjp(net, x)
    taps.attach(tap)
    try:
        back(output)
    finally:
        taps.detach(tap)
    del back
    assert open_files() > 0
    np.testing.assert_array_equal(records[-1], ops.tanh(x).asnumpy())
    records.clear()
    assert open_files() == 0


def test_where_the_file_cannot_be_written_an_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    net, _ = layers(1)
    with pytest.raises(OSError, match=r"For 'Cell.offload', 147456 bytes cannot be written .*missing.*: set TMPDIR"):
        ms.grad(net)(values(WIDTH, WIDTH))
    assert not tape.state.recordings


# Observers of each operator


def test_while_operators_are_watched_nothing_is_moved(fetches: list[int]) -> None:
    class Tap(taps.Tap):
        observes_operators = True

    net, _ = layers(2)
    tap = Tap()
    taps.attach(tap)
    try:
        ms.grad(net)(values(WIDTH, WIDTH))
    finally:
        taps.detach(tap)
    assert not fetches


# Plans


def test_a_compiled_function_runs_without_a_plan_from_the_moment_on_that_a_cell_offloads(fetches: list[int]) -> None:
    net = nn.SequentialCell(nn.Tanh(), nn.Tanh(), nn.Sigmoid())
    x = values(WIDTH, WIDTH)
    compiled = ms.jit(lambda x: ms.grad(net)(x))
    expected = ms.grad(net)(x).asnumpy()
    np.testing.assert_array_equal(compiled(x).asnumpy(), expected)
    net.offload()
    with pytest.warns(UserWarning, match="this cell offloads them"):
        np.testing.assert_array_equal(compiled(x).asnumpy(), expected)
    for _ in range(2):
        fetches.clear()
        np.testing.assert_array_equal(compiled(x).asnumpy(), expected)
        assert fetches


# Arguments


@pytest.mark.parametrize(
    ("argument", "error", "text"),
    [
        ("auto", ValueError, "an int from 0 on, but got 'auto'"),
        (-1, ValueError, "an int from 0 on, but got -1"),
        (True, TypeError, "an int from 0 on, but got bool"),
        (1.0, TypeError, "an int from 0 on, but got float"),
        (None, TypeError, "an int from 0 on, but got NoneType"),
    ],
)
def test_another_prefetch_is_refused(argument: Any, error: type[Exception], text: str) -> None:
    """The classes are MindSpore's."""
    net = nn.SequentialCell(nn.Tanh())
    with pytest.raises(error, match=f"For 'offload', 'backward_prefetch' must be .*{text}"):
        net.offload(argument)
    net[0](values(1))
    assert net[0]._plain, "nothing was set"


def test_a_copy_of_a_cell_offloads_too(fetches: list[int]) -> None:
    net, _ = layers(1)
    ms.grad(copy.deepcopy(net))(values(WIDTH, WIDTH))
    assert fetches
