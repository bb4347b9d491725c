"""mint: PyTorch's names, defaults and numbers, against NumPy and formulas."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, mint
from hookscope.engine.experimental import optim as experimental
from hookscope.engine.mint.nn import functional as F  # noqa: N812

A = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
T = Tensor(A)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (lambda: mint.sum(T, dim=1, keepdim=True), A.sum(1, keepdims=True)),
        (lambda: mint.mean(T, dim=0), A.mean(0)),
        (lambda: mint.std(T, dim=1), A.std(1, ddof=1)),
        (lambda: mint.var(T, dim=1, correction=0), A.var(1)),
        (lambda: mint.max(T), A.max()),
        (lambda: mint.max(T, 1)[0], A.max(1)),
        (lambda: mint.max(T, 1)[1], A.argmax(1)),
        (lambda: mint.min(T, dim=0, keepdim=True)[0], A.min(0, keepdims=True)),
        (lambda: mint.max(T, T * 0), np.maximum(A, 0)),
        (lambda: mint.median(T), np.sort(A.ravel())[5]),
        (lambda: mint.add(T, T, alpha=2), A * 3),
        (lambda: mint.sub(T, T, alpha=2), -A),
        (lambda: mint.div(T, T * 0 + 2, rounding_mode="floor"), np.floor(A / 2)),
        (lambda: mint.div(T, T * 0 + 2, rounding_mode="trunc"), np.trunc(A / 2)),
        (lambda: mint.cat([T, T], dim=1), np.concatenate([A, A], 1)),
        (lambda: mint.stack([T, T], dim=-1), np.stack([A, A], -1)),
        (lambda: mint.split(T, 2, dim=1)[1], A[:, 2:]),
        (lambda: mint.chunk(T, 2, dim=1)[0], A[:, :2]),
        (lambda: mint.transpose(T, 0, 1), A.T),
        (lambda: mint.permute(T, (1, 0)), A.T),
        (lambda: mint.flatten(T), A.ravel()),
        (lambda: mint.squeeze(T, 0), A),
        (lambda: mint.unsqueeze(T, 0), A[None]),
        (lambda: mint.narrow(T, 1, 1, 2), A[:, 1:3]),
        (lambda: mint.select(T, 1, 2), A[:, 2]),
        (lambda: mint.index_select(T, 1, Tensor([3, 0])), A[:, [3, 0]]),
        (lambda: mint.gather(T, 1, Tensor([[0], [1], [2]])), A[np.arange(3), [0, 1, 2]][:, None]),
        (lambda: mint.take(T, Tensor([0, 5])), A.ravel()[[0, 5]]),
        (lambda: mint.where(T > 0, T, T * 0), np.maximum(A, 0)),
        (lambda: mint.sort(T, dim=0, descending=True)[0], -np.sort(-A, 0)),
        (lambda: mint.argsort(T, dim=1), np.argsort(A, 1)),
        (lambda: mint.cumsum(T, 1), A.cumsum(1)),
        (lambda: mint.diag(T[0], 1), np.diag(A[0], 1)),
        (lambda: mint.diag(T[0], -2), np.diag(A[0], -2)),
        (lambda: mint.matmul(T, T.T), A @ A.T),
        (lambda: mint.clamp(T, -0.5, 0.5), A.clip(-0.5, 0.5)),
        (lambda: mint.arange(5), np.arange(5)),
        (lambda: mint.arange(Tensor(2), 9, 3), np.arange(2, 9, 3)),
        (lambda: mint.arange(1.0, -0.6, -0.5), np.array([1.0, 0.5, 0.0, -0.5])),
        (lambda: mint.arange(3, 2), np.arange(0)),
        (lambda: mint.arange(3, dtype=ms.float64), np.arange(3.0)),
        (lambda: mint.zeros(2, 3), np.zeros((2, 3))),
        (lambda: mint.ones((2, 3)), np.ones((2, 3))),
        (lambda: mint.norm(T), np.linalg.norm(A)),
        (lambda: mint.norm(T, 1, dim=1), np.abs(A).sum(1)),
        (lambda: mint.linalg.vector_norm(T, 3, dim=0), (np.abs(A) ** 3).sum(0) ** (1 / 3)),
        (lambda: mint.linalg.vector_norm(T, float("inf")), np.abs(A).max()),
        (lambda: mint.meshgrid(T[0], T[:, 0])[0], np.meshgrid(A[0], A[:, 0], indexing="ij")[0]),
        (lambda: mint.count_nonzero(T > 0, 1), (A > 0).sum(1)),
        (lambda: mint.special.expm1(T), np.expm1(A)),
        (lambda: F.softmax(T, 1), np.exp(A) / np.exp(A).sum(1, keepdims=True)),
        (lambda: F.one_hot(Tensor([2, 0])), np.eye(3)[[2, 0]]),
        (lambda: F.linear(T, T, None), A @ A.T),
        (lambda: F.pad(T, (1, 2)), np.pad(A, ((0, 0), (1, 2)))),
        (lambda: F.elu(T, 0.5), np.where(A > 0, A, 0.5 * np.expm1(A))),
        (lambda: F.leaky_relu(T), np.where(A > 0, A, 0.01 * A)),
        (lambda: F.normalize(T), A / np.linalg.norm(A, axis=1, keepdims=True)),
        (lambda: F.embedding(Tensor([[1, 0]]), T), A[[[1, 0]]]),
        (lambda: F.mse_loss(T, T * 0), (A**2).mean()),
        (lambda: F.smooth_l1_loss(T, T * 0), np.where(np.abs(A) < 1, A**2 / 2, np.abs(A) - 0.5).mean()),
        (lambda: F.binary_cross_entropy_with_logits(T, T * 0 + 1), np.log1p(np.exp(-A)).mean()),
        (lambda: F.kl_div(T, T * 0 + 0.5, "batchmean"), (0.5 * (np.log(0.5) - A)).sum() / 3),
        (lambda: F.soft_margin_loss(T, T * 0 - 1), np.log1p(np.exp(A)).mean()),
    ],
)
def test_a_function_gives_numpys_numbers(actual: Any, expected: Any) -> None:
    result = actual()
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=2e-5, atol=1e-6)


def test_scattering_adds_and_puts() -> None:
    zeros, indices, values = mint.zeros(3), Tensor([0, 2, 0]), Tensor([1.0, 2.0, 3.0])
    assert mint.scatter_add(zeros, 0, indices, values).asnumpy().tolist() == [4, 0, 2]
    assert mint.index_add(zeros, 0, Tensor([1], ms.int32), Tensor([5.0]), alpha=2).asnumpy().tolist() == [0, 10, 0]


def test_in_place_functions_change_their_input() -> None:
    subject = Tensor(A)
    assert F.relu_(subject) is subject
    np.testing.assert_array_equal(subject.asnumpy(), np.maximum(A, 0))


def test_a_linear_layer_starts_within_pytorchs_bound() -> None:
    layer = mint.nn.Linear(100, 50)
    for parameter in (layer.weight, layer.bias):
        values = parameter.asnumpy()
        assert np.abs(values).max() <= 0.1 and values.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.35)
    x = Tensor(np.ones((2, 100), np.float32))
    np.testing.assert_allclose(
        layer(x).asnumpy(), x.asnumpy() @ layer.weight.asnumpy().T + layer.bias.asnumpy(), rtol=1e-4, atol=1e-5
    )


def test_batch_norm_normalizes_and_keeps_running_figures() -> None:
    x = np.random.default_rng(1).standard_normal((4, 3, 2, 2)).astype(np.float32) * 3 + 1
    layer = mint.nn.BatchNorm2d(3)
    layer.set_train()
    out = layer(Tensor(x)).asnumpy()
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    shaped = (x - mean[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None]
    np.testing.assert_allclose(out, shaped, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer.running_mean.asnumpy(), 0.1 * mean, rtol=1e-5)
    np.testing.assert_allclose(layer.running_var.asnumpy(), 0.9 + 0.1 * x.var((0, 2, 3), ddof=1), rtol=1e-5)
    layer.set_train(False)
    running = layer.running_mean.asnumpy()[:, None, None], np.sqrt(layer.running_var.asnumpy() + 1e-5)[:, None, None]
    np.testing.assert_allclose(layer(Tensor(x)).asnumpy(), (x - running[0]) / running[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: mint.nn.Conv2d(3, 4, 3, padding=1), (2, 4, 8, 8)),
        (lambda: mint.nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), (2, 4, 8, 8)),
        (lambda: mint.nn.Conv2d(3, 4, 3, padding="same", bias=False), (2, 4, 8, 8)),
        (lambda: mint.nn.ConvTranspose2d(3, 4, 2, stride=2), (2, 4, 16, 16)),
        (lambda: mint.nn.GroupNorm(3, 3), (2, 3, 8, 8)),
        (lambda: mint.nn.AvgPool2d(2), (2, 3, 4, 4)),
        (lambda: mint.nn.MaxPool2d(2), (2, 3, 4, 4)),
        (lambda: mint.nn.AdaptiveAvgPool2d(2), (2, 3, 2, 2)),
        (lambda: mint.nn.ZeroPad2d((1, 2, 3, 4)), (2, 3, 15, 11)),
        (lambda: mint.nn.ReflectionPad2d(1), (2, 3, 10, 10)),
        (lambda: mint.nn.Upsample(scale_factor=2.0), (2, 3, 16, 16)),
        (lambda: mint.nn.UpsamplingBilinear2d((4, 4)), (2, 3, 4, 4)),
        (lambda: mint.nn.Flatten(), (2, 192)),
        (lambda: mint.nn.PReLU(), (2, 3, 8, 8)),
        (lambda: mint.nn.GELU(), (2, 3, 8, 8)),
        (lambda: mint.nn.Softmax(dim=1), (2, 3, 8, 8)),
        (lambda: mint.nn.Hardshrink(), (2, 3, 8, 8)),
    ],
)
def test_a_layer_gives_this_shape_and_a_gradient(layer: Any, shape: tuple[int, ...]) -> None:
    x = Tensor(np.random.default_rng(2).standard_normal((2, 3, 8, 8)).astype(np.float32))
    module = layer()
    assert module(x).shape == shape
    if "Reflection" in type(module).__name__ or getattr(module, "padding_mode", "") == "reflect":
        return  # ops.pad has no gradient of that mode
    assert ms.grad(lambda v: module(v).sum())(x).shape == x.shape


def adam(value: float, gradients: list[float], decay: float) -> float:
    m = v = 0.0
    for t, g in enumerate(gradients, 1):
        value *= 1 - 0.1 * decay
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        value -= 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return value


@pytest.mark.parametrize(("name", "decay"), [("Adam", 0.0), ("AdamW", 0.01)])
def test_adam_follows_its_formula(name: str, decay: float) -> None:
    parameter = ms.Parameter(Tensor([2.0]), name="p")
    optimizer = getattr(mint.optim, name)([parameter], lr=0.1)
    gradients = [0.5, -1.0, 2.0]
    for gradient in gradients:
        optimizer((Tensor([gradient]),))
    assert float(parameter.asnumpy()[0]) == pytest.approx(adam(2.0, gradients, decay), rel=1e-5)


def test_sgd_follows_its_formula_in_groups() -> None:
    a, b = (ms.Parameter(Tensor([1.0]), name=name) for name in "ab")
    optimizer = mint.optim.SGD([{"params": [a], "lr": 1.0}, {"params": [b], "momentum": 0.5}], lr=0.1)
    for _ in range(2):
        optimizer((Tensor([0.1]), Tensor([0.1])))
    assert float(a.asnumpy()[0]) == pytest.approx(0.8)
    assert float(b.asnumpy()[0]) == pytest.approx(1 - 0.1 * (0.1 + 0.15))


def test_one_process_is_all_ranks() -> None:
    assert mint.distributed.get_rank() == 0 and mint.distributed.get_world_size() == 1
    x = ms.Tensor([1.0, 2.0])
    assert mint.distributed.all_reduce(x) is None and x.asnumpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match="'dst' must be a rank other than this one, but got 0"):
        mint.distributed.send(x, 0)


def test_random_numbers_follow_a_generator() -> None:
    left, right = (ms.Generator().manual_seed(4) for _ in range(2))
    first = mint.rand(3, generator=left).asnumpy()
    np.testing.assert_array_equal(first, mint.rand(3, generator=right).asnumpy())
    assert not np.array_equal(first, mint.rand(3, generator=left).asnumpy())
    assert not np.array_equal(first, mint.rand(3, generator=ms.Generator().manual_seed(5)).asnumpy())
    for many in (mint.rand(200, 200), mint.rand((200, 200), generator=left)):
        numbers = many.asnumpy().astype(np.float64)
        assert 0 <= numbers.min() < 0.001 and 0.999 < numbers.max() < 1
        assert abs(numbers.mean() - 0.5) < 5 / 200 * 12**-0.5
    assert sorted(mint.randperm(6).asnumpy().tolist()) == list(range(6))


ZEROS = ms.ops.zeros((200, 200), ms.float16)
DRAWS: dict[str, tuple[Callable[..., Tensor], Any, float, float]] = {
    "randn": (lambda **g: mint.randn(200, 200, **g), ms.float32, 0, 1),
    "randn of a dtype": (lambda **g: mint.randn((200, 200), dtype=ms.float64, **g), ms.float64, 0, 1),
    "randint": (lambda **g: mint.randint(3, (200, 200), **g), ms.int64, 1, (2 / 3) ** 0.5),
    "randint from": (lambda **g: mint.randint(-4, -1, (200, 200), **g), ms.int64, -3, (2 / 3) ** 0.5),
    "bernoulli": (lambda **g: mint.bernoulli(ZEROS + 0.25, **g), ms.float16, 0.25, (3 / 16) ** 0.5),
    "rand_like": (lambda: mint.rand_like(ZEROS), ms.float16, 0.5, 12**-0.5),
    "rand_like of a dtype": (lambda: mint.rand_like(ZEROS, dtype=ms.float64), ms.float64, 0.5, 12**-0.5),
    "randn_like": (lambda: mint.randn_like(ZEROS), ms.float16, 0, 1),
    "randn_like of a dtype": (lambda: mint.randn_like(ZEROS, dtype=ms.float32), ms.float32, 0, 1),
    "randint_like": (lambda: mint.randint_like(ZEROS, 3), ms.float16, 1, (2 / 3) ** 0.5),
    "randint_like from": (lambda: mint.randint_like(ZEROS, -4, -1, dtype=ms.int32), ms.int32, -3, (2 / 3) ** 0.5),
}


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_have_their_dtype_mean_and_deviation(name: str) -> None:
    draw, dtype, mean, deviation = DRAWS[name]
    for result in (draw(), draw(generator=ms.Generator().manual_seed(3)) if "like" not in name else draw()):
        assert (result.shape, result.dtype) == ((200, 200), dtype)
        numbers = result.asnumpy().astype(np.float64)
        assert abs(numbers.mean() - mean) < 5 * deviation / 200
        assert abs(numbers.std() - deviation) < 0.02 * deviation
        if name.startswith(("randint", "bernoulli")):
            assert sorted(set(numbers.ravel())) == ([0, 1] if name == "bernoulli" else [mean - 1, mean, mean + 1])


@pytest.mark.parametrize("name", [name for name in DRAWS if "like" not in name])
def test_draws_repeat_with_their_generator(name: str) -> None:
    draw = DRAWS[name][0]
    first, second = (draw(generator=ms.Generator().manual_seed(7)).asnumpy() for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, draw(generator=ms.Generator().manual_seed(8)).asnumpy())


LAYERS = [  # as MindSpore 2.10 prints them
    (lambda: mint.nn.Linear(2, 3), "Linear(input_features=2, output_features=3, has_bias=True)"),
    (lambda: mint.nn.Linear(2, 3, bias=False), "Linear(input_features=2, output_features=3)"),
    (
        lambda: mint.nn.Conv2d(2, 3, 3),
        "Conv2d(input_channels=2, output_channels=3, kernel_size=(3, 3), stride=(1, 1), padding=(0, 0), "
        "dilation=(1, 1), groups=1, bias=True)",
    ),
    (
        lambda: mint.nn.Conv3d(2, 4, 3, stride=2, padding=1, dilation=2, groups=2, bias=False),
        "Conv3d(input_channels=2, output_channels=4, kernel_size=(3, 3, 3), stride=(2, 2, 2), padding=(1, 1, 1), "
        "dilation=(2, 2, 2), groups=2, bias=False)",
    ),
    (
        lambda: mint.nn.BatchNorm1d(3, 1e-3, 0.2, False, False),
        "BatchNorm1d(num_features=3, eps=0.001, momentum=0.2, affine=False, track_running_stats=False)",
    ),
]


@pytest.mark.parametrize(("make", "want"), LAYERS)
def test_a_layer_prints_as_mindspores(make: Callable[[], Any], want: str) -> None:
    assert repr(make()) == want


def test_a_padding_layer_prints_its_widths_which_mindspores_does_not() -> None:
    assert repr(mint.nn.ConstantPad1d(1, 2.0)) == "ConstantPad1d(padding=(1, 1))"
    assert repr(mint.nn.ReflectionPad2d((1, 2, 3, 4))) == "ReflectionPad2d(padding=(1, 2, 3, 4))"


@pytest.mark.parametrize("name", ["array([1, 2])", "arange(5)"])
def test_mindspore_numpy_makes_int32_of_pythons_ints(name: str) -> None:
    output = ms.numpy.array([1, 2]) if name.startswith("array") else ms.numpy.arange(5)
    assert output.dtype == ms.int32


def test_mindspore_numpy_has_numpys_numbers() -> None:
    mnp = ms.numpy
    np.testing.assert_allclose(mnp.dot(T, T.T).asnumpy(), A @ A.T, rtol=1e-5)
    np.testing.assert_allclose(mnp.tensordot(T, T, ([1], [1])).asnumpy(), np.tensordot(A, A, ([1], [1])), rtol=1e-5)
    np.testing.assert_allclose(mnp.cumsum(T).asnumpy(), A.cumsum(), rtol=1e-5)
    np.testing.assert_array_equal(mnp.moveaxis(T, 0, 1).asnumpy(), A.T)
    np.testing.assert_array_equal(mnp.split(T, 2, axis=1)[1].asnumpy(), A[:, 2:])
    np.testing.assert_array_equal(mnp.vstack((T[0], T[1])).asnumpy(), A[:2])


def test_a_length_said_of_repeated_elements_must_be_right() -> None:
    x = Tensor([1, 2])
    assert mint.repeat_interleave(x, 2, 0, output_size=4).tolist() == [1, 1, 2, 2]
    assert mint.repeat_interleave(x, 2, output_size=4).tolist() == [1, 1, 2, 2]
    with pytest.raises(ValueError, match="'output_size' must be the length 4 of the result, but got 3"):
        mint.repeat_interleave(x, 2, 0, output_size=3)


PARTS = ((2, "a"), (3, "b"))
LATE = {
    "Adam": lambda p: mint.optim.Adam(p, 0.1),
    "AdamW": lambda p: mint.optim.AdamW(p, 0.1),
    "SGD": lambda p: mint.optim.SGD(p, 0.1, momentum=0.9, dampening=0.5),
    **{
        f"experimental.{name}": lambda p, name=name, more=more: getattr(experimental, name)(p, 0.1, **more)
        for name, more in {
            "ASGD": {},
            "Adadelta": {},
            "Adagrad": {},
            "Adam": {},
            "AdamW": {},
            "Adamax": {},
            "NAdam": {},
            "RAdam": {},
            "RMSprop": {"momentum": 0.9},
            "Rprop": {},
            "SGD": {"momentum": 0.9},
        }.items()
    },
}


@pytest.mark.parametrize("name", LATE)
def test_a_group_that_comes_later_is_trained_as_by_an_optimizer_of_its_own(name: str) -> None:
    def parameter(label: str, size: int) -> Parameter:
        return Parameter(Tensor(np.arange(1.0, size + 1), ms.float64), label)

    def gradient(parameter: Parameter) -> Tensor:
        return Tensor(np.cos(parameter.asnumpy()))

    early, late, left, right = parameter("a", 2), parameter("b", 3), parameter("c", 2), parameter("d", 3)
    both, first, second = LATE[name]([early]), LATE[name]([left]), LATE[name]([right])
    for _ in range(3):
        both((gradient(early),))
        first((gradient(left),))
    both.add_param_group({"params": [late]})
    for _ in range(3):
        both((gradient(early), gradient(late)))
        first((gradient(left),))
        second((gradient(right),))
    np.testing.assert_allclose(early.asnumpy(), left.asnumpy(), rtol=1e-12)
    np.testing.assert_allclose(late.asnumpy(), right.asnumpy(), rtol=1e-12)
    assert not np.allclose(late.asnumpy(), np.arange(1.0, 4.0))


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("name", LATE)
def test_training_goes_on_from_a_checkpoint_bit_for_bit(name: str, together: bool, tmp_path: Path) -> None:
    def network() -> list[Parameter]:
        return [Parameter(Tensor(np.cos(np.arange(1.0, n + 1)).astype(np.float32)), label) for n, label in PARTS]

    def steps(optimizer: Any, parameters: list[Parameter], count: int) -> None:
        for _ in range(count):
            optimizer(tuple(Tensor(np.sin(p.asnumpy())) for p in parameters))

    early, late = network()
    saved = LATE[name]([early])
    steps(saved, [early], 2)
    saved.add_param_group({"params": [late]})
    steps(saved, [early, late], 3)
    path = str(tmp_path / "optimizer.ckpt")
    ms.save_checkpoint(saved, path)
    steps(saved, [early, late], 3)

    first, second = network()
    if together:  # the program that goes on may know both groups from the start
        restored = LATE[name]([{"params": [first]}, {"params": [second]}])
    else:
        restored = LATE[name]([first])
        restored.add_param_group({"params": [second]})
    assert ms.load_param_into_net(restored, ms.load_checkpoint(path)) == ([], [])
    steps(restored, [first, second], 3)
    for left, right in ((first, early), (second, late)):
        np.testing.assert_array_equal(left.asnumpy(), right.asnumpy())


def test_a_later_group_may_be_the_first_to_keep_the_largest_moment() -> None:
    early, late = (Parameter(Tensor(np.ones(2)), label) for label in "ab")
    optimizer = mint.optim.AdamW([early], 0.1)
    optimizer((Tensor(np.ones(2)),))
    optimizer.add_param_group({"params": [late], "amsgrad": True})
    other = Parameter(Tensor(np.ones(2)), "c")
    alone = mint.optim.AdamW([other], 0.1, amsgrad=True)
    for scale in (1.0, 0.1, 0.01):
        optimizer((Tensor(np.ones(2)), Tensor(np.full(2, scale))))
        alone((Tensor(np.full(2, scale)),))
    np.testing.assert_allclose(late.asnumpy(), other.asnumpy(), rtol=1e-12)


def test_an_axis_that_is_not_there_is_refused_by_select() -> None:
    x = Tensor(np.arange(6.0).reshape(2, 3))
    assert mint.select(x, -1, 1).tolist() == [1.0, 4.0]
    with pytest.raises(ValueError, match=r"'axis' must be in \[-2, 2\), but got 5"):
        mint.select(x, 5, 0)


def test_normal_numbers_are_drawn_for_each_mean_and_deviation() -> None:
    ms.set_seed(0)
    drawn = mint.normal(Tensor([10.0, 20.0, 30.0]), Tensor(np.full((500, 1), 0.5, np.float32))).asnumpy()
    assert drawn.shape == (500, 3)
    np.testing.assert_allclose(drawn.mean(axis=0), [10, 20, 30], atol=0.15)  # 6 deviations of a mean
    np.testing.assert_allclose(drawn.std(axis=0), 0.5, atol=0.1)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.3


def test_a_row_to_be_left_out_must_be_there() -> None:
    with pytest.raises(ValueError, match=r"'padding_idx' must be in \[-3, 3\), but got 5"):
        mint.nn.Embedding(3, 2, padding_idx=5)


def test_a_layer_of_a_function_explains_the_arguments_of_the_function() -> None:
    import inspect

    text = inspect.getdoc(mint.nn.AvgPool2d) or ""
    assert text.splitlines()[:5] == [
        "The layer of ``mint.nn.functional.avg_pool2d``, called with 1 tensor.",
        "",
        "Args:",
        "    kernel_size: the size of the windows: an int, or one for each axis.",
        "    stride: the stride; None is ``kernel_size``.",
    ]
    assert (
        text.splitlines()[-1] == "    divisor_override: the divisor of the sums; None or 0 for the number of elements."
    )
    assert inspect.getdoc(mint.nn.Sigmoid) == "The layer of ``mint.nn.functional.sigmoid``, called with 1 tensor."
    assert repr(mint.nn.ELU(0.5)) == "ELU(alpha=0.5, inplace=False)"


@pytest.mark.parametrize("name", ["Mish", "SELU", "Hardswish"])
def test_a_layer_of_the_users_own_computes_what_its_base_does(name: str) -> None:
    own = type("Own", (getattr(mint.nn, name),), {})
    x = Tensor(np.array([-2.0, 0.5, 3.0], np.float32))
    want = {
        "Mish": lambda t: t * np.tanh(np.log1p(np.exp(t))),
        "SELU": lambda t: 1.0507009873554805 * np.where(t > 0, t, 1.6732632423543772 * np.expm1(t)),
        "Hardswish": lambda t: t * np.clip(t + 3, 0, 6) / 6,
    }[name](x.asnumpy().astype(np.float64))
    np.testing.assert_allclose(own()(x).asnumpy(), want, rtol=1e-5)


def test_second_names_of_mint_give_mindspores_numbers() -> None:
    x = Tensor([1.5, -1.5, 0.2, -0.4])
    for name in ("fix", "trunc"):
        assert getattr(mint, name)(input=x).asnumpy().tolist() == [1.0, -1.0, 0.0, 0.0]
        assert getattr(mint, name)(Tensor([1, 2])).dtype is ms.int64
    assert [mint.item(Tensor(variant)) for variant in ([2.5], [[True]], 3)] == [2.5, True, 3]
    halved = mint.nn.GLU()(Tensor([1.0, 2.0, 3.0, 4.0])).asnumpy()
    assert np.allclose(halved, [0.952574134, 1.96402752], rtol=1e-6)
    assert mint.nn.GLU(dim=0)(Tensor([[1.0], [2.0]])).shape == (1, 1)
    functional = mint.nn.functional
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    slopes = [scale * v if v > 0 else scale * alpha * np.expm1(v) for v in x.asnumpy().astype(float)]
    assert np.allclose(functional.selu(input=x).asnumpy(), slopes, rtol=1e-6)
    assert np.allclose(functional.softshrink(x, 0.3).asnumpy(), [1.2, -1.2, 0.0, -0.1], atol=1e-6)
    assert np.allclose(functional.softshrink(x, lambd=0.5).asnumpy(), [1.0, -1.0, 0.0, 0.0], atol=1e-6)
    with pytest.raises(RuntimeError, match="For 'mint.item', 'input' must have one element, but got 2"):
        mint.item(Tensor([1, 2]))
    with pytest.raises(TypeError, match="For 'mint.item', 'input' must be a Tensor, but got int"):
        mint.item(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="lambd"):
        functional.softshrink(x, -1.0)
