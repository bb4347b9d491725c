"""A part of a tensor, and the tensor in another shape, share its elements: writing to one changes the others."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, grad, mint, nn, ops
from hookscope.engine.debug import DebugSession
from hookscope.engine.tensors.tensor import swap_tensors

# Recorded from MindSpore 2.10: whether y = view(x) shares with x: y[0] = 9 changes x, and x[0, 0] = 9 changes y.
SHARING: dict[str, Callable[[Tensor], Tensor]] = {
    "x[0]": lambda x: x[0],
    "x[0, 0]": lambda x: x[0, 0],
    "x[0:1]": lambda x: x[0:1],
    "x[...]": lambda x: x[...],
    "x[None]": lambda x: x[None],
    "x[:, ::2]": lambda x: x[:, ::2],
    "x[True]": lambda x: x[True],
    "a row of a loop": lambda x: next(iter(x)),
    "view": lambda x: x.view(-1),
    "reshape": lambda x: ops.reshape(x, (-1,)),
    "Reshape": lambda x: ops.Reshape()(x, (-1,)),
    "T": lambda x: x.T,
    "transpose": lambda x: ops.transpose(x, (1, 0)),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "mint.transpose": lambda x: mint.transpose(x, 0, 1),
    "expand_dims": lambda x: x.expand_dims(0),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "split": lambda x: ops.split(x, 1)[0],
    "chunk": lambda x: x.chunk(2)[0],
    "unbind": lambda x: x.unbind()[0],
    "narrow": lambda x: mint.narrow(x, 0, 0, 1),
    "select": lambda x: x.select(0, 0),
    "Tensor.flatten": lambda x: x.flatten(),
    "mint.flatten": lambda x: mint.flatten(x),
    "strided_slice": lambda x: ops.strided_slice(x, (0, 0), (1, 2), (1, 1)),
    "movedim": lambda x: ops.movedim(x, 0, 1),
    "stop_gradient": lambda x: ops.stop_gradient(x),
    "nn.Identity": lambda x: nn.Identity()(x),
    "contiguous": lambda x: x.contiguous(),
    "numpy.ravel": lambda x: ms.numpy.ravel(x),
    "data": lambda x: x.data,
    "Tensor": lambda x: Tensor(x),
    "Tensor of its dtype": lambda x: Tensor(x, ms.float32),
    "tensor": lambda x: ms.tensor(x),
}
APART: dict[str, Callable[[Tensor], Tensor]] = {
    "ops.flatten": lambda x: ops.flatten(x),
    "nn.Flatten": lambda x: nn.Flatten()(x),
    "copy": lambda x: x.copy(),
    "Identity": lambda x: ops.Identity()(x),
    "flip": lambda x: x.flip((0,)),
    "rot90": lambda x: x.rot90(1, (0, 1)),
    "index_select": lambda x: x.index_select(0, Tensor([0, 1])),
    "real": lambda x: x.real(),
    "Parameter": lambda x: Parameter(x, name="w"),
    "numpy.diag": lambda x: ms.numpy.diag(x),
}


def fresh() -> Tensor:
    return Tensor(np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3))


def first_place(y: Tensor) -> Any:
    return (0,) * y.ndim if y.ndim else ...


@pytest.mark.parametrize("name", SHARING)
def test_writing_to_a_view_changes_its_source_and_the_other_way_around(name: str) -> None:
    x = fresh()
    y = SHARING[name](x)
    y[first_place(y)] = 9
    assert x.asnumpy().tolist() == [[9, 2, 3], [4, 5, 6]]
    x[0, 0] = 7
    assert y[first_place(y)].item() == 7


@pytest.mark.parametrize("name", APART)
def test_what_has_elements_of_its_own_changes_nothing(name: str) -> None:
    x = fresh()
    y = APART[name](x)
    before = y.asnumpy().copy()
    x[...] = 0
    assert (y.asnumpy() == before).all()
    x = fresh()
    APART[name](x)[...] = 0
    assert (x.asnumpy() == fresh().asnumpy()).all()


@pytest.mark.parametrize("index", [[0, 1], Tensor([0, 1]), Tensor([True, False])], ids=str)
def test_elements_that_are_picked_are_written_back_as_in_mindspore(index: Any) -> None:
    x = fresh()
    y = x[index]
    y[0, 0] = 9
    assert x[0, 0].item() == 9
    x[0, 0] = 7
    assert y[0, 0].item() == 9


def test_an_assignment_through_two_indices_is_kept() -> None:
    x = fresh()
    x[1][2] = 60
    for row in x:
        row[0] = 0
    assert x.asnumpy().tolist() == [[0, 2, 3], [0, 5, 60]]


def test_views_of_a_parameter_see_what_an_optimizer_and_assign_do() -> None:
    weight = Parameter(fresh(), name="w")
    row, flat = weight[0], weight.view(-1)
    nn.SGD([weight], 1.0)((ops.ones_like(weight),))
    assert row.tolist() == [0, 1, 2] and flat.tolist() == [0, 1, 2, 3, 4, 5]
    ops.assign(weight, fresh() * 10)
    assert row.tolist() == [10, 20, 30]
    row[0] = 5
    assert weight[0, 0].item() == 5 and isinstance(weight, Parameter)


def test_a_tensor_that_gets_another_shape_shares_nothing_any_more() -> None:
    weight = Parameter(fresh(), name="w")
    row = weight[0]
    weight.set_data(Tensor(np.zeros((1, 2), np.float32)), slice_shape=True)
    row[0] = 5
    assert weight.tolist() == [[0, 0]] and row.tolist() == [5, 2, 3]


def test_what_swap_tensors_exchanged_shares_with_neither() -> None:
    first, second = fresh(), fresh() * 10
    row = first[0]
    swap_tensors(first, second)
    row[0] = 9
    assert second.tolist() == fresh().tolist() and first.tolist() == (fresh() * 10).tolist()


def test_a_captured_array_never_changes() -> None:
    x = fresh()
    row = x[0]
    storage = row._array, x._array
    copies = [value.copy() for value in storage]
    row[0] = 9
    x[1] = 9
    assert all((item == copy).all() for item, copy in zip(storage, copies, strict=True))


def test_writing_row_by_row_leaves_the_array_that_somebody_holds() -> None:
    """An array without another holder is modified in place."""
    x = fresh()
    address = x._array.ctypes.data
    x[0][0] = 8
    assert x._array.ctypes.data == address
    result = x._array
    x[1][1] = 9
    assert x._array is not result and result.tolist() == [[8, 2, 3], [4, 5, 6]]
    row = x[0]
    storage = row._array
    x[1][2] = 7
    x.view(-1)[0] = 6
    assert storage.tolist() == [8, 2, 3] and x.tolist() == [[6, 2, 3], [4, 9, 7]] and row[0].item() == 6
    del row, storage
    x._array.flags.writeable = False
    x[0][0] = 5
    assert x[0, 0].item() == 5


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_write_arrives_in_whatever_layout_the_source_has_now(order: Any) -> None:
    x = fresh()
    flat, across = x.reshape(-1), x.T.T.reshape(-1)
    for number, view in enumerate((flat, across)):
        x._rebind(np.array(fresh().asnumpy(), order=order))
        view[4] = number
        assert x.tolist() == [[1, 2, 3], [4, number, 6]]
    y = fresh()
    y._rebind(np.array(fresh().asnumpy(), order=order))
    turned = y.T.reshape(-1)
    turned[1] = 9
    assert y.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_picked_elements_do_not_keep_what_they_were_picked_from() -> None:
    x = fresh()
    reference = weakref.ref(x)
    rows = x[[0, 1]]
    for _ in range(3):
        rows = rows[[1, 0]]
    del x
    assert reference() is None
    rows[0, 0] = 9
    assert rows[0, 0].item() == 9


def test_a_write_to_a_part_of_picked_elements_goes_back_as_far_as_they_came() -> None:
    x = fresh()
    picked = x.view(3, 2)[[2, 0]]
    picked[0][1] = 9
    assert x.tolist() == [[1, 2, 3], [4, 5, 9]] and picked.tolist() == [[5, 9], [1, 2]]


def test_picked_from_what_was_picked_goes_back_too() -> None:
    x = fresh()
    first = x[[0, 1]]
    first[[1, 0]][0, 0] = 5
    assert x[1, 0].item() == 5 and first[1, 0].item() == 5


def test_nothing_is_shared_with_a_source_or_a_view_of_another_shape() -> None:
    weight = Parameter(fresh(), name="w")
    picked, row = weight[[0, 1]], weight[1]
    weight.set_data(Tensor(np.zeros((1, 2), np.float32)), slice_shape=True)
    picked[0, 0] = 5
    assert weight.tolist() == [[0, 0]] and row.tolist() == [4, 5, 6]
    x = fresh()
    row = x[0]
    row.assign_value(Tensor(np.zeros((2, 3, 2), np.float32)))
    row[...] = 1
    assert x.tolist() == fresh().tolist() and row.shape == (2, 3, 2)


def test_writing_to_a_repeated_view_writes_to_nothing_else() -> None:
    x = fresh()
    repeated = x.broadcast_to((2, 2, 3))
    repeated[0, 0, 0] = 9
    assert x.tolist() == fresh().tolist() and repeated[:, 0, 0].tolist() == [9, 1]


def test_a_part_of_a_diagonal_is_a_part_of_the_matrix() -> None:
    x = fresh()
    x[:, :2].diagonal()[:1][0] = 9
    assert x.tolist() == [[9, 2, 3], [4, 5, 6]]


def test_views_take_the_type_of_their_source_which_keeps_its_own() -> None:
    x = fresh()
    row = x[0]
    x.set_dtype(ms.float16)
    assert row.dtype == ms.float16
    row.set_dtype(ms.float64)
    row[0] = 1 / 3
    assert x.dtype == ms.float16 and x[0, 0].item() == np.float16(1 / 3)


def test_a_tensor_of_constants_has_the_gradient_of_what_was_written_to_its_view() -> None:
    def assignment(x: Tensor) -> Tensor:
        y = ops.zeros((2, 3))
        y[1][2] = x[0, 0] * 3
        return y.sum()

    assert grad(assignment)(fresh()).tolist() == [[3, 0, 0], [0, 0, 0]]


def test_a_tensor_forgets_views_that_are_gone_and_no_others() -> None:
    x = fresh()
    rows = [x[0] for _ in range(50)]
    for _ in range(1000):
        x[1]
    assert x._views is not None and len(x._views) < 600
    x[0] = 9
    assert all(row.tolist() == [9, 9, 9] for row in rows)


# Random programs, beside NumPy, whose views share as MindSpore's do


def view_of(rng: np.random.Generator, array: Any) -> Callable[[Any], Any]:
    """Return a view that both NumPy's arrays and tensors of this shape have."""
    ndim = array.ndim
    kind = rng.integers(6) if ndim else 3
    if kind == 0:
        at = int(rng.integers(array.shape[0])) if array.shape[0] else slice(None)
        return lambda x: x[at, ...]  # NumPy copies a single element without the dots
    if kind == 1:
        index = tuple(slice(int(rng.integers(2)), None, int(rng.integers(1, 3))) for _ in range(ndim))
        return lambda x: x[index]
    if kind == 2:
        axes = tuple(int(i) for i in rng.permutation(ndim))
        return lambda x: x.transpose(axes)
    if kind == 3:
        return lambda x: x[None]
    if kind == 4 and array.flags.c_contiguous:
        return lambda x: x.reshape(-1)
    return lambda x: x[..., -1:]


def program(seed: int, start: Any, is_tensor: bool) -> list[Any]:
    """Run views and writes at random; the same for an array and for a tensor."""
    rng = np.random.default_rng(seed)
    model = np.zeros((2, 3, 2))
    tensors, models = [start], [model]
    for _ in range(12):
        position = int(rng.integers(len(tensors)))
        if rng.random() < 0.5:
            take = view_of(rng, models[position])
            tensors.append(take(tensors[position]))
            models.append(take(models[position]))
        elif models[position].size:
            source = int(rng.integers(len(tensors)))
            number = float(rng.integers(1, 9))
            value = tensors[source].sum() * 0.1 + number
            lengths = models[position].shape[: int(rng.integers(models[position].ndim + 1))]
            index = tuple(int(rng.integers(n)) for n in lengths)
            tensors[position][index if index else ...] = value
    return tensors


@pytest.mark.parametrize("seed", range(60))
def test_random_views_and_writes_are_numpys(seed: int) -> None:
    start = np.random.default_rng(seed).standard_normal((2, 3, 2))
    expected = program(seed, start.copy(), False)
    result = program(seed, Tensor(start), True)
    for first, second in zip(result, expected, strict=True):
        np.testing.assert_allclose(first.asnumpy(), second, rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_gradients_through_views_and_writes_are_central_differences(seed: int) -> None:
    start = np.random.default_rng(seed).standard_normal((2, 3, 2))
    weights = np.random.default_rng(seed + 1).standard_normal(100)

    def loss(x: Any) -> Any:
        parts = program(seed, x, False)
        return sum(((part * part).sum() * weights[i] for i, part in enumerate(parts)), start=0.0)

    result = grad(lambda x: loss(x * 1.0))(Tensor(start)).asnumpy()
    step, expected = 1e-5, np.zeros_like(start)
    for index in np.ndindex(start.shape):
        ends = []
        for sign in (1, -1):
            moved = start.copy()
            moved[index] += sign * step
            ends.append(loss(moved))
        expected[index] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


class TurnedAndWritten(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        y = x * 1.0
        v = y.T
        v.mul_(1.5)
        v[:, 0:1] = 0.25
        flat = v.reshape((-1,))
        y.mul_(0.0)
        return flat.sum()


@pytest.mark.filterwarnings("ignore:no plan can be made")  # of arrays of a device, whose numbers NumPy cannot see
def test_whether_a_reshape_shares_is_the_same_plainly_watched_planned_and_in_a_gradient() -> None:
    x, net = Tensor(np.arange(16, dtype=np.float32).reshape(4, 4) + 1), TurnedAndWritten()
    with DebugSession(net, conditions=["all"]):
        watched = net(x).item()
    planned = ms.jit(lambda x: net(x))
    assert [net(x).item(), watched, planned(x).item(), planned(x).item()] == [190] * 4
    assert ms.value_and_grad(net)(x)[0].item() == 190


@pytest.mark.parametrize("write", [False, True])
def test_a_write_does_not_decide_what_a_later_reshape_shares(write: bool) -> None:
    x = Tensor(np.arange(16.0).reshape(4, 4))
    array = np.arange(16.0).reshape(4, 4)
    part, model = x[:, 1::2].T, array[:, 1::2].T
    if write:
        part[0:2, :] = -2.0
        model[0:2, :] = -2.0
    flat, of_model = part.reshape((8, 1)), model.reshape((8, 1))
    x[:, :] = 1.0
    array[:, :] = 1.0
    assert flat.tolist() == of_model.tolist()


@pytest.mark.parametrize("order", ["C", "F"])
def test_strides_follow_from_the_program_and_not_from_how_an_array_lies(order: Any) -> None:
    """Recorded from MindSpore 2.10: a computed tensor lies row by row."""
    x = Tensor(np.array(np.arange(16, dtype=np.float32).reshape(4, 4), order=order))
    strides: list[tuple[Tensor, list[int], bool]] = [
        (x, [4, 1], True),
        (x.T, [1, 4], False),
        (x.T * 1.0, [4, 1], True),
        (ops.exp(x.T), [4, 1], True),
        (x.T.copy(), [4, 1], True),
        (x[:, ::2], [4, 2], False),
        (x.T.reshape((2, 8)), [8, 1], True),
        (x[1], [1], True),
        (x[1, 2], [], True),
        (x.diagonal(), [5], False),
        (x.T.T, [4, 1], True),
        (ops.matmul(x.T, x), [4, 1], True),
    ]
    for tensor, steps, is_contiguous in strides:
        assert (tensor.stride(), tensor.is_contiguous()) == (steps, is_contiguous)
        assert tensor.strides == tuple([4 * step for step in steps])
    assert (x[1:, 2].storage_offset(), x.storage_offset(), x.diagonal(1).storage_offset()) == (6, 0, 1)


# Recorded from MindSpore 2.10: whether z = reshape(view(x)) shares with the view.
RESHAPED: dict[str, tuple[Callable[[Tensor], Tensor], tuple[int, ...], bool]] = {
    "T": (lambda x: x.T, (-1,), False),
    "T of what was computed": (lambda x: (x * 1.0).T, (-1,), False),
    "computed of T": (lambda x: x.T * 1.0, (-1,), True),
    "columns": (lambda x: x[:, 1:3], (-1,), False),
    "rows": (lambda x: x[1:3], (-1,), True),
    "every second row": (lambda x: x[::2], (2, 2, 2), True),
    "every second column": (lambda x: x[:, ::2], (4, 2, 1), True),
    "turned twice": (lambda x: x.T.T, (-1,), True),
    "broadcast": (lambda x: x.broadcast_to((2, 4, 4)), (-1,), False),
    "diagonal": (lambda x: x.diagonal(), (2, 2), True),
}


@pytest.mark.parametrize("name", RESHAPED)
def test_a_reshape_shares_where_it_does_in_mindspore(name: str) -> None:
    view, shape, shares = RESHAPED[name]
    part = view(Tensor(np.arange(16, dtype=np.float32).reshape(4, 4)))
    reshaped = part.reshape(shape)
    reshaped[first_place(reshaped)] = 99
    assert bool(part.asnumpy().max() == 99) is shares


def test_what_a_kernel_lays_out_in_its_own_way_is_shared_too() -> None:
    """Convolutions keep samples last."""
    x = nn.Conv2d(2, 3, 3)(Tensor(np.ones((4, 2, 8, 8), np.float32)))
    flat = x.reshape((4, -1))
    flat[0, 0] = 99
    assert x[0, 0, 0, 0].item() == 99 and x.is_contiguous()


class WritesInput(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        x[0] = 5.0
        return x.T


class WritesInputWithBprop(WritesInput):
    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Tensor:
        return dout.T


@pytest.mark.parametrize("kind", ["plain", "hooked", "bprop", "recompute"])
def test_a_cell_shares_with_its_caller_in_a_gradient_as_without_one(kind: str) -> None:
    cell = WritesInputWithBprop() if kind == "bprop" else WritesInput()
    if kind == "hooked":
        cell.register_backward_hook(lambda cell, gradients, arrived: None)
    elif kind == "recompute":
        cell.recompute()

    def run(x: Tensor) -> Tensor:
        y = x * 1.0
        turned = cell(y)
        flat = turned.reshape((-1,))
        turned[0, 1] = 7.0
        return (y * Tensor([[1.0, 2, 4], [8, 16, 32]])).sum() + flat.sum() * 64

    x = fresh()
    assert ms.value_and_grad(run)(x)[0].item() == run(x).item() == 5 * 7 + 7 * 8 + 5 * 16 + 6 * 32 + 64 * (15 + 15)


class SplitsAgain(nn.Cell):
    def construct(self, x: Tensor) -> tuple[Tensor, ...]:
        y = (x * 2.0).T
        return y[0:1], y, y[:, 0]


class Halves(nn.Cell):
    """Cell that returns views whose root it does not return."""

    def construct(self, x: Tensor) -> tuple[Tensor, ...]:
        y = (x * 2.0).T
        return y[0:2], y[1:3], y[:, 0]


class HalvesWithBprop(Halves):
    def bprop(self, x: Tensor, out: tuple[Tensor, ...], dout: tuple[Tensor, ...]) -> Tensor:
        gradient = ops.zeros((3, 2))
        gradient[0:2] = dout[0]
        gradient[1:3] = gradient[1:3] + dout[1]
        gradient[:, 0] = gradient[:, 0] + dout[2]
        return gradient.T * 2.0


def write_and_sum(parts: tuple[Tensor, ...]) -> Tensor:
    first, second, column = parts
    first[1, 0] = 3.0
    second.mul_(2.0)
    return (first * first).sum() + (second * second).sum() * 3.0 + (column * column).sum()


@pytest.mark.parametrize("kind", [SplitsAgain, Halves, HalvesWithBprop])
def test_views_that_a_node_returns_share_and_have_their_gradients(kind: type[nn.Cell]) -> None:
    plain, again = (Halves if kind is HalvesWithBprop else kind)(), kind()
    if kind is not HalvesWithBprop:
        again.recompute()
    x = fresh()
    if kind is SplitsAgain:  # whose parts have other shapes
        plain, again = [lambda x, cell=cell: (cell(x)[1][0:2], *cell(x)[1:]) for cell in (plain, again)]
    value, gradient = ms.value_and_grad(lambda x: write_and_sum(plain(x)))(x)
    of_node, gradient_of_node = ms.value_and_grad(lambda x: write_and_sum(again(x)))(x)
    assert value.item() == of_node.item() == write_and_sum(plain(x)).item()
    assert gradient.tolist() == gradient_of_node.tolist()


class PassesOn(nn.Cell):
    def construct(self, x: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
        return x * 2.0, table.T


class PassesOnWithBprop(PassesOn):
    def bprop(self, x: Tensor, table: Tensor, out: tuple[Tensor, ...], dout: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return dout[0] * 2.0 + 100.0 * dout[1].sum(), ops.zeros_like(table)


@pytest.mark.parametrize("kind", [PassesOn, PassesOnWithBprop])
def test_an_argument_that_a_node_hands_on_does_not_become_its_result(kind: type[nn.Cell]) -> None:
    cell, table = kind(), fresh()
    if kind is PassesOn:
        cell.recompute()

    def loss(x: Tensor) -> Tensor:
        y, _ = cell(x, table)
        return (y * table).sum()

    assert ms.grad(loss)(fresh()).tolist() == (2 * fresh()).tolist()


def test_views_that_a_recomputed_cell_returns_share_and_have_their_gradients() -> None:
    cell, again = SplitsAgain(), SplitsAgain()
    again.recompute()

    def loss(cell: nn.Cell, x: Tensor) -> Tensor:
        top, y, column = cell(x)
        y[0, 0] = 3.0
        top.mul_(2.0)
        return (top * top).sum() + (y * y).sum() + (column * column).sum()

    x = fresh()
    value, gradient = ms.value_and_grad(lambda x: loss(cell, x))(x)
    of_again, gradient_of_again = ms.value_and_grad(lambda x: loss(again, x))(x)
    assert value.item() == of_again.item() and gradient.tolist() == gradient_of_again.tolist()
