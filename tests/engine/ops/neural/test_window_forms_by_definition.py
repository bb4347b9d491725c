"""Classes of convolution, pooling, unpooling, resizing and sampling, against loops that follow their definitions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from kernel_references import central_difference
from operator_samples_layers import avg_pool, columns, conv, max_pool, transposed

import hookscope.engine as ms
from hookscope.engine import Tensor, mint, ops

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(23)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape)


def close(actual: Any, want: Any, rtol: float = 1e-9, atol: float = 1e-10) -> None:
    array = actual.asnumpy() if isinstance(actual, Tensor) else np.asarray(actual)
    assert array.shape == np.shape(want)
    np.testing.assert_allclose(array, want, rtol=rtol, atol=atol)


# Convolution


@pytest.mark.parametrize(
    ("mode", "pad", "pads"),
    [
        ("valid", 0, (0,) * 6),
        ("VALID", 0, (0,) * 6),
        ("pad", 1, (1,) * 6),
        ("pad", (1, 0, 0, 2, 1, 1), (1, 0, 0, 2, 1, 1)),
        ("same", 0, (0, 0, 0, 1, 0, 1)),
    ],
)
@pytest.mark.parametrize("group", [1, 2])
def test_conv3d(mode: str, pad: Any, pads: Any, group: int) -> None:
    x, weight, bias = normal(2, 4, 3, 4, 5), normal(4, 4 // group, 1, 2, 2), normal(4)
    how = {"stride": (1, 1, 1), "dilation": (1, 1, 1)}
    want = conv(x, weight, how["stride"], pads, how["dilation"], group)
    operator = ops.Conv3D(4, (1, 2, 2), 1, mode, pad, group=group)
    close(operator(Tensor(x), Tensor(weight)), want)
    close(operator(Tensor(x), Tensor(weight), Tensor(bias)), want + bias.reshape(1, 4, 1, 1, 1))


def test_conv3d_with_stride_and_dilation() -> None:
    x, weight = normal(1, 2, 5, 5, 6), normal(3, 2, 2, 2, 2)
    want = conv(x, weight, (2, 1, 2), (0,) * 6, (1, 2, 1), 1)
    close(ops.Conv3D(3, 2, stride=(2, 1, 2), dilation=(1, 2, 1))(Tensor(x), Tensor(weight)), want)


def same_pads(length: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    total = max(0, (-(-length // stride) - 1) * stride + dilation * (kernel - 1) + 1 - length)
    return total // 2, total - total // 2


@pytest.mark.parametrize("name", ["Conv2DTranspose", "Conv2DBackpropInput"])
@pytest.mark.parametrize(
    ("stride", "dilation"), [((1, 1), (1, 1)), ((2, 1), (1, 1)), ((2, 2), (1, 2)), ((4, 3), (1, 1))]
)
@pytest.mark.parametrize("mode", ["valid", "same", "pad"])
@pytest.mark.parametrize("size", [(6, 7), (5, 8)])
def test_a_convolution_is_transposed(name: str, size: Any, mode: str, stride: Any, dilation: Any) -> None:
    weight, shape = normal(2, 3, 3, 2), (1, 3, *size)
    pads: tuple[int, ...] = {"valid": (0,) * 4, "pad": (1, 0, 0, 1), "same": ()}[mode]
    for n, k, s, d in zip(size, (3, 2), stride, dilation, strict=True):
        pads += same_pads(n, k, s, d) if mode == "same" else ()
    how = {"stride": stride, "pads": pads, "dilation": dilation, "group": 1}
    g = normal(*conv(np.zeros(shape), weight, **how).shape)
    operator = getattr(ops, name)(
        2, (3, 2), mode, pads if mode == "pad" else 0, stride=(1, 1, *stride), dilation=dilation
    )
    want = transposed(lambda v: conv(v, weight, **how), shape)(g)
    for value in (shape, Tensor(np.array(shape))):
        close(operator(Tensor(g), Tensor(weight), value), want)


@pytest.mark.parametrize("function", [ops.conv_transpose2d, mint.nn.functional.conv_transpose2d])
@pytest.mark.parametrize(
    ("stride", "padding", "more", "groups", "dilation"),
    [(1, 0, 0, 1, 1), (2, 1, 1, 2, 1), ((3, 2), (1, 0), (2, 1), 1, (1, 2)), ((1, 2), (0, 1), (0, 1), 2, (2, 1))],
)
def test_conv_transpose2d_with_every_setting(
    function: Any, stride: Any, padding: Any, more: Any, groups: int, dilation: Any
) -> None:
    strides, (top, left), ends, apart = ((v, v) if isinstance(v, int) else v for v in (stride, padding, more, dilation))
    x, weight, bias = normal(2, 4, 3, 2), normal(4, 3, 3, 2), normal(3 * groups)
    sizes = [
        (n - 1) * s + d * (k - 1) + 1 - 2 * p + e
        for n, s, d, k, p, e in zip((3, 2), strides, apart, (3, 2), (top, left), ends, strict=True)
    ]
    shape = (2, len(bias), *sizes)
    how = {"stride": strides, "pads": (top, top, left, left), "dilation": apart, "group": groups}
    want = transposed(lambda v: conv(v, weight, **how), shape)(x)
    close(function(Tensor(x), Tensor(weight), None, stride, padding, more, groups, dilation), want)
    result = function(Tensor(x), Tensor(weight), Tensor(bias), stride, padding, more, groups, dilation)
    close(result, want + bias.reshape(-1, 1, 1))


@pytest.mark.parametrize("more", [0, 1, (0, 2)])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("group", [1, 2])
def test_gradients_of_a_transposed_convolution_that_adds_more_than_a_stride(more: Any, stride: int, group: int) -> None:
    x, weight = normal(2, 2, 3, 2), normal(2, 4 // group, 2, 3)

    def loss(x: Tensor, weight: Tensor) -> Tensor:
        y = ops.conv_transpose2d(x, weight, None, stride, 0, more, group, 3)
        return (y * y * y).sum()

    for index, item in enumerate((x, weight)):

        def along(value: Any, index: int = index) -> Any:
            return loss(*(Tensor(value if index == i else other) for i, other in enumerate((x, weight)))).asnumpy()

        result = ms.grad(loss, index)(Tensor(x), Tensor(weight))
        np.testing.assert_allclose(result.asnumpy(), central_difference(along, item, np.ones(())), rtol=1e-5, atol=1e-6)
    first = ms.grad(lambda x: loss(x, Tensor(weight)))
    second = ms.grad(lambda x: (first(x) * first(x)).sum())(Tensor(x))
    norm = central_difference(lambda v: (first(Tensor(v)).asnumpy() ** 2).sum(), x, np.ones(()))
    np.testing.assert_allclose(second.asnumpy(), norm, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("stride", [(1, 1, 1), (2, 1, 2)])
@pytest.mark.parametrize("group", [1, 2])
def test_conv3d_is_transposed(stride: Any, group: int) -> None:
    weight, bias, size = normal(4, 2 // group, 2, 2, 1), normal(2), (4, 3, 5)
    how = {"stride": stride, "pads": (1, 1, 0, 0, 0, 0), "dilation": (1, 1, 1), "group": group}
    shape = (1, 2, *size)
    forward = conv(np.zeros(shape), weight, **how)
    g = normal(*forward.shape)
    ends = [(o - 1) * s + k for o, s, k in zip(forward.shape[2:], stride, (2, 2, 1), strict=True)]
    more = tuple(n + p - e for n, p, e in zip(size, (2, 0, 0), ends, strict=True))
    want = transposed(lambda v: conv(v, weight, **how), shape)(g)
    operator = ops.Conv3DTranspose(
        4, 2, (2, 2, 1), pad_mode="pad", pad=how["pads"], stride=stride, group=group, output_padding=more
    )
    close(operator(Tensor(g), Tensor(weight)), want)
    close(operator(Tensor(g), Tensor(weight), Tensor(bias)), want + bias.reshape(1, 2, 1, 1, 1))


# Pooling


@pytest.mark.parametrize(
    ("mode", "pad", "pads"), [("valid", 0, (0,) * 6), ("pad", 1, (1,) * 6), ("SAME", 0, (0, 1, 0, 0, 0, 1))]
)
def test_pooling_of_volumes(mode: str, pad: Any, pads: Any) -> None:
    x = normal(2, 2, 4, 5, 4)
    kernel, stride = (3, 2, 2), (2, 3, 3) if mode == "SAME" else (1, 2, 2)
    if mode == "SAME":
        pads = tuple(p for n, k, s in zip(x.shape[2:], kernel, stride, strict=True) for p in same_pads(n, k, s, 1))
    close(ops.MaxPool3D(kernel, stride, mode, pad)(Tensor(x)), max_pool(x, kernel, stride, pads, (1, 1, 1)))
    close(ops.AvgPool3D(kernel, stride, mode, pad)(Tensor(x)), avg_pool(x, kernel, stride, pads))
    ones = avg_pool(np.ones(x.shape), kernel, stride, pads)
    apart = ops.AvgPool3D(kernel, stride, mode, pad, count_include_pad=False)(Tensor(x))
    close(apart, avg_pool(x, kernel, stride, pads) / ones)
    divided = ops.AvgPool3D(kernel, stride, mode, pad, divisor_override=5)(Tensor(x))
    close(divided, avg_pool(x, kernel, stride, pads) * 12 / 5)


@pytest.mark.parametrize("mode", ["same", "SAME", "valid"])
@pytest.mark.parametrize(("kernel", "stride"), [((3, 2), (2, 3)), ((2, 3), (1, 2)), ((3, 3), (2, 2))])
def test_pooling_of_images_fills_up_only_with_the_mode_same(mode: str, kernel: Any, stride: Any) -> None:
    x = normal(2, 2, 5, 4)
    pads = tuple(p for n, k, s in zip((5, 4), kernel, stride, strict=True) for p in same_pads(n, k, s, 1))
    pads = (0,) * 4 if mode == "valid" else pads
    close(ops.MaxPool(kernel, stride, mode)(Tensor(x)), max_pool(x, kernel, stride, pads, (1, 1)))
    covered = avg_pool(np.ones(x.shape), kernel, stride, pads)  # the part of each window without padding
    close(ops.AvgPool(kernel, stride, mode)(Tensor(x)), avg_pool(x, kernel, stride, pads) / covered)


def windows_of_a_line(n: int, k: int, s: int, before: int, after: int, ceil: bool) -> list[tuple[list[int], int]]:
    """Return each window's positions inside, and its number of positions with padding."""
    total = n + before + after
    count = (total - k + (s - 1 if ceil else 0)) // s + 1
    if ceil and (count - 1) * s >= n + before:  # it would begin behind the elements
        count -= 1
    results = []
    for i in range(count):
        indices = [p for p in range(i * s, i * s + k) if p < total]
        results.append(([p - before for p in indices if 0 <= p - before < n], len(indices)))
    return results


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize(("k", "s"), [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (3, 2), (3, 4), (4, 3)])
def test_pooling_of_lines_of_every_length(k: int, s: int, ceil: bool) -> None:
    for n, before, after in itertools.product(range(1, 9), range(k // 2 + 1), range(k // 2 + 1)):
        if n + before + after < k:
            continue
        x = normal(1, 2, n)
        windows = windows_of_a_line(n, k, s, before, after, ceil)
        for include in (False, True):
            counts = [size if include else len(inside) for inside, size in windows]
            want = [x[..., inside].sum(-1) / max(1, size) for (inside, _), size in zip(windows, counts, strict=True)]
            argument = [(before, after)] + [before, (before,)] * (before == after)
            for padding in argument:
                close(ops.avg_pool1d(Tensor(x), k, s, padding, ceil, include), np.stack(want, -1))
        if before == after:
            best = [x[..., inside].max(-1) for inside, _ in windows]
            result = ops.max_pool2d(Tensor(x[..., None]), (k, 1), (s, 1), (before, 0), ceil_mode=ceil)
            close(result[..., 0], np.stack(best, -1))
        if not before and not after and not ceil:
            for p in (1.0, 2.0, 4.0):
                x[..., : n // 2] = 0.0
                want = [(abs(x[..., inside]) ** p).sum(-1) ** (1 / p) for inside, _ in windows]
                close(ops.lp_pool1d(Tensor(abs(x)), p, k, s), np.stack(want, -1))


def test_pooling_of_volumes_with_a_partial_window_at_the_end() -> None:
    x = normal(1, 2, 5, 4, 6)
    want = max_pool(x, (2, 3, 2), (2, 2, 2), (0, 1, 0, 1, 0, 0), (1, 1, 1))
    close(ops.MaxPool3D((2, 3, 2), 2, "pad", 0, True)(Tensor(x)), want)
    assert ops.MaxPool3D((2, 3, 2), 2, "pad", 0, None)(Tensor(x)).shape == (1, 2, 2, 1, 3)
    counted = avg_pool(x, (2, 3, 2), (2, 2, 2), (0, 1, 0, 1, 0, 0))
    counted /= avg_pool(np.ones(x.shape), (2, 3, 2), (2, 2, 2), (0, 1, 0, 1, 0, 0))
    close(ops.AvgPool3D((2, 3, 2), 2, "pad", 0, True)(Tensor(x)), counted)


@pytest.mark.parametrize(("pads", "dilation", "ceil"), [(0, 1, False), (1, 1, False), (0, 2, False), (0, 1, True)])
@pytest.mark.parametrize("axes", [2, 3])
def test_pooling_says_where_the_largest_is(axes: int, pads: int, dilation: int, ceil: bool) -> None:
    lengths, kernel, stride = (6, 5, 7)[:axes], (2, 3, 2)[:axes], (2, 1, 2)[:axes]
    x = normal(2, 2, *lengths)
    around = [pads] * (2 * axes)
    for i, (n, k, s) in enumerate(zip(lengths, kernel, stride, strict=True)):
        rest = (n + 2 * pads - dilation * (k - 1) - 1) % s
        around[2 * i + 1] += (s - rest) % s if ceil else 0
    name = "MaxPoolWithArgmaxV2" if axes == 2 else "MaxPool3DWithArgmax"
    best, indices = getattr(ops, name)(kernel, stride, pads, (dilation,) * axes, ceil)(Tensor(x))
    want = max_pool(x, kernel, stride, around, (dilation,) * axes)
    close(best, want)
    flat = x.reshape(2, 2, -1)
    for index in np.ndindex(want.shape):
        assert flat[(*index[:2], int(indices[index]))] == want[index]


@pytest.mark.parametrize("size", [(2, 3, 2), (1, 1, 1), (4, 5, 3), (3, None, 2), 2])
@pytest.mark.parametrize("axes", [2, 3])
def test_pooling_to_a_size(size: Any, axes: int) -> None:
    x = normal(2, 2, *(4, 5, 3)[:axes])
    argument = size if isinstance(size, int) else size[:axes]
    expected = [
        n if m is None else m for n, m in zip(x.shape[2:], (size,) * 3 if isinstance(size, int) else size, strict=False)
    ]
    out = (2, 2, *expected)
    means, best, where = np.zeros(out), np.zeros(out), np.zeros(out, np.int64)
    for index in np.ndindex(out):
        ranges = [
            range(math.floor(i * n / m), math.ceil((i + 1) * n / m))
            for i, n, m in zip(index[2:], x.shape[2:], expected, strict=True)
        ]
        window = {at: float(x[(*index[:2], *at)]) for at in itertools.product(*ranges)}
        means[index] = sum(window.values()) / len(window)
        at = max(window, key=lambda key: window[key])
        best[index], where[index] = window[at], np.ravel_multi_index(at, x.shape[2:])
    close(getattr(ops, f"AdaptiveAvgPool{axes}D")(argument)(Tensor(x)), means)
    if axes == 2:
        largest, indices = ops.AdaptiveMaxPool2D(argument)(Tensor(x))
    else:
        sizes = argument if isinstance(argument, int) or None in argument else Tensor(np.array(argument, np.int32))
        largest, indices = ops.AdaptiveMaxPool3D()(Tensor(x), sizes)
    close(largest, best)
    np.testing.assert_array_equal(indices.asnumpy(), where)


@pytest.mark.parametrize(("stride", "pads", "size"), [(0, 0, ()), (0, 0, (1, 2, 5, 4, 4)), (2, 0, ()), (3, 0, ())])
@pytest.mark.parametrize("axes", [2, 3])
def test_unpooling_puts_elements_where_they_were(axes: int, stride: int, pads: int, size: Any) -> None:
    x = normal(1, 2, *(2, 2, 2)[:axes])
    lengths = size[-axes:] if size else ((x.shape[2] - 1) * (stride or 2) + 2,) * axes
    total = math.prod(lengths)
    indices = np.array([RNG.permutation(total)[: x[0, 0].size] for _ in range(2)]).reshape(x.shape)
    want = np.zeros((1, 2, total))
    for index in np.ndindex(x.shape):
        want[(*index[:2], indices[index])] = x[index]
    operator = getattr(ops, f"MaxUnpool{axes}D")(2, stride, pads, size[-axes - 2 :] if size else ())
    close(operator(Tensor(x), Tensor(indices)), want.reshape(1, 2, *lengths))
    back = ms.grad(lambda x: (operator(x, Tensor(indices)) * 3.0).sum())(Tensor(x))
    close(back, np.full(x.shape, 3.0))
    with pytest.raises(ValueError, match="'indices' must be in"):
        operator(Tensor(x), Tensor(indices + total))


def fractional(x: Array, window: tuple[int, ...], lengths: tuple[int, ...], drawn: Array) -> tuple[Array, Array]:
    """Along an axis window i begins at floor(alpha * (i + u)) - floor(alpha * u), the last at the end (Graham 2014)."""
    values, indices = np.zeros((*x.shape[:2], *lengths)), np.zeros((*x.shape[:2], *lengths), int)
    numbers = np.arange(math.prod(x.shape[2:])).reshape(x.shape[2:])
    for index in np.ndindex(values.shape):
        block = []
        for axis, i in enumerate(index[2:]):
            n, k, m, u = x.shape[2 + axis], window[axis], lengths[axis], drawn[(*index[:2], axis)]
            alpha = (n - k) / (m - 1) if m > 1 else 0
            start = n - k if i == m - 1 else math.floor((i + u) * alpha) - math.floor(u * alpha)
            block.append(slice(start, start + k))
        part = x[index[:2]][tuple(block)]
        values[index] = part.max()
        indices[index] = numbers[tuple(block)].ravel()[part.argmax()]
    return values, indices


@pytest.mark.parametrize(
    ("shape", "window", "lengths"),
    [
        ((2, 3, 9, 9), (2, 2), (3, 4)),
        ((1, 2, 7, 5), (3, 1), (1, 5)),
        ((2, 2, 9, 9, 8), (2, 2, 2), (3, 3, 4)),
        ((1, 3, 4, 10, 6), (1, 3, 2), (2, 4, 1)),
    ],
)
def test_fractional_pooling_begins_elsewhere_in_each_sample_and_channel(shape: Any, window: Any, lengths: Any) -> None:
    axes = len(window)
    x, drawn = np.round(normal(*shape), 1), RNG.uniform(0, 1, (*shape[:2], axes))  # some tie
    drawn = np.round(drawn * 64) / 65  # exact in Float32, too, so that the floors do not depend on rounding
    function, cell = (getattr(ops, f"fractional_max_pool{axes}d"), getattr(ms.nn, f"FractionalMaxPool{axes}d"))
    # As recorded from MindSpore: numbers for an image are for the width first, those for a volume for the depth.
    argument = Tensor(drawn[..., ::-1] if axes == 2 else drawn)
    want = fractional(x, window, lengths, drawn)
    for result in (
        function(Tensor(x), window, lengths, return_indices=True, _random_samples=argument),
        cell(window, lengths, return_indices=True, _random_samples=argument)(Tensor(x)),
    ):
        close(result[0], want[0])
        close(result[1], want[1])
        assert result[1].dtype == ms.int64
    close(function(Tensor(x[0]), window, lengths, _random_samples=argument[:1]), want[0][0])
    ratio = tuple(m / n + 1e-9 for m, n in zip(lengths, shape[2:], strict=True))
    if max(ratio) < 1:
        close(function(Tensor(x), window, output_ratio=ratio, _random_samples=argument), want[0])
    weights = normal(*want[0].shape)
    result = ms.grad(lambda x: (function(x, window, lengths, _random_samples=argument) * Tensor(weights)).sum())(
        Tensor(x)
    )
    slope = np.zeros((*shape[:2], math.prod(shape[2:])))
    for index in np.ndindex(weights.shape):
        slope[(*index[:2], want[1][index])] += weights[index]
    close(result, slope.reshape(shape))


@pytest.mark.parametrize(("dtype", "starts"), [(np.float32, [0, 3, 5, 7, 8]), (np.float64, [0, 2, 4, 6, 8])])
def test_fractional_windows_begin_where_numbers_of_the_dtype_of_the_samples_say(dtype: Any, starts: Any) -> None:
    # As MindSpore rounds: (10 - 2) / (5 - 1) = 2, and in Float32 1 + u is 1.5.
    x, u = Tensor(np.arange(10.0).reshape(1, 1, 1, 10)), Tensor(np.full((1, 1, 2), 0.5 - 2.0**-25, dtype))
    result = ops.fractional_max_pool2d(x, (1, 2), (1, 5), _random_samples=u)
    assert result.asnumpy().ravel().tolist() == [start + 1 for start in starts]


def test_fractional_pooling_is_the_example_of_mindspore_and_draws_where_nothing_is_given() -> None:
    x = Tensor(np.arange(1, 17, dtype=np.float32).reshape(1, 1, 2, 2, 4))
    samples = Tensor(np.full((1, 1, 3), 0.7, np.float32))
    best, indices = ops.fractional_max_pool3d(x, 1, (1, 1, 3), return_indices=True, _random_samples=samples)
    assert (best.tolist(), indices.tolist()) == ([[[[[13.0, 14.0, 16.0]]]]], [[[[[12, 13, 15]]]]])
    ramp = Tensor(np.tile(np.arange(40.0), (3, 5, 4, 1)))
    ms.set_seed(0)
    result = ops.fractional_max_pool2d(ramp, (4, 2), (1, 9)).asnumpy()
    steps = np.diff(result, axis=-1)
    assert len({tuple(row) for row in result.reshape(15, 9)}) > 1  # others in each sample and channel
    assert set(steps.ravel().tolist()) <= {4.0, 5.0} and (result[..., -1] == 39).all()
    ms.set_seed(0)
    np.testing.assert_array_equal(ops.fractional_max_pool2d(ramp, (4, 2), (1, 9)).asnumpy(), result)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((2, 3, None, False, Tensor(np.zeros((1, 2, 2)))), r"must have the shape \(2, 2, 2\), but got \(1, 2, 2\)"),
        ((2, 5), "windows of 2 and output 5 do not fit into length 5"),
        ((2, None, 0.1), "windows of 2 and output 0 do not fit into length 5"),
        ((2, None, (0.5, 1.0)), "'output_ratio' must be a float or 2 floats between 0 and 1"),
        ((2,), "'output_size' or 'output_ratio' must be given"),
    ],
)
def test_fractional_windows_that_do_not_fit_are_refused(arguments: Any, text: str) -> None:
    with pytest.raises(ValueError, match=f"For 'fractional_max_pool2d', .*{text}"):
        ops.fractional_max_pool2d(Tensor(normal(2, 2, 5, 5)), *arguments)


# Images


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation", "pads"),
    [(2, 1, 1, 0), ((2, 1), (1, 2), 1, 1), ((2, 2), 1, (1, 2), 0), ((3, 2), (2, 1), 1, (1, 0))],
)
def test_columns_and_back(kernel: Any, stride: Any, dilation: Any, pads: Any) -> None:
    def pair(value: Any) -> Any:
        return (value, value) if isinstance(value, int) else value

    x = normal(2, 3, 4, 5)
    low, high = pair(pads)
    how = (pair(kernel), pair(stride), (low, low, high, high), pair(dilation))
    output = columns(x, *how)
    parts = (2, 3, math.prod(pair(kernel)), -1)
    close(ops.Im2Col(kernel, stride, dilation, pads)(Tensor(x)), output.reshape(parts))
    g = normal(*output.shape)
    back = ops.Col2Im(kernel, dilation, pads, stride)(Tensor(g.reshape(parts)), Tensor(np.array([4, 5], np.int32)))
    close(back, transposed(columns, x.shape, *how)(g))


@pytest.mark.parametrize("group", [1, 2, 3, 6])
@pytest.mark.parametrize("shape", [(2, 6, 2, 3), (1, 6, 2), (2, 6, 1, 2, 2)])
def test_channels_are_dealt_out(shape: tuple[int, ...], group: int) -> None:
    x = normal(*shape)
    want = np.zeros(shape)
    for c in range(6):
        # Channel i of group j comes to place i * groups + j.
        j, i = divmod(c, 6 // group)
        want[:, i * group + j] = x[:, c]
    close(ops.ChannelShuffle(group)(Tensor(x)), want)


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("before", [(), (2,), (2, 3)])
def test_channels_become_pixels_and_pixels_channels(before: tuple[int, ...], r: int) -> None:
    wide = normal(*before, 2, 3 * r, 2 * r)
    deep = np.zeros((*before, 2 * r * r, 3, 2))
    for index in np.ndindex(wide.shape):
        # Pixel (h * r + i, w * r + j) of channel c comes from channel (c * r + i) * r + j (Shi et al. 2016).
        *first, c, row, column = index
        (h, i), (w, j) = divmod(row, r), divmod(column, r)
        deep[(*first, (c * r + i) * r + j, h, w)] = wide[index]
    close(ops.pixel_shuffle(Tensor(deep), r), wide)
    close(ops.pixel_unshuffle(Tensor(wide), r), deep)
    close(ms.grad(lambda x: (ops.pixel_shuffle(x, r) * Tensor(wide)).sum())(Tensor(deep)), deep)
    close(ms.grad(lambda x: (ops.pixel_unshuffle(x, r) * Tensor(deep)).sum())(Tensor(wide)), wide)


def outside(at: float, length: int, padding: str, corners: bool) -> float:
    if padding == "border":
        return min(max(at, 0.0), length - 1.0)
    if padding == "reflection":
        low, high = (0.0, length - 1.0) if corners else (-0.5, length - 0.5)
        while high > low and not low <= at <= high:
            at = 2 * low - at if at < low else 2 * high - at
        return min(max(at, 0.0), length - 1.0)
    return at


def sampled(x: Array, grid: Array, mode: str, padding: str, corners: bool) -> Array:
    lengths = x.shape[2:]
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for n, *index in np.ndindex(x.shape[0], *grid.shape[1:-1]):
        ats = []
        for v, length in zip(reversed(grid[(n, *index)]), lengths, strict=True):
            at = (v + 1) / 2 * (length - 1) if corners else ((v + 1) * length - 1) / 2
            ats.append(outside(float(at), length, padding, corners))
        for corner in itertools.product(
            *([round(a)] if mode == "nearest" else [math.floor(a), math.floor(a) + 1] for a in ats)
        ):
            share = 1.0 if mode == "nearest" else math.prod(1 - abs(a - c) for a, c in zip(ats, corner, strict=True))
            if all(0 <= c < length for c, length in zip(corner, lengths, strict=True)):
                out[(n, slice(None), *index)] += share * x[(n, slice(None), *corner)]
    return out


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("axes", [2, 3])
def test_sampling_on_a_grid(axes: int, mode: str, padding: str, corners: bool) -> None:
    x = normal(2, 2, *(3, 4, 2)[:axes])
    grid = RNG.uniform(-1.6, 1.6, (2, *(3, 2, 2)[:axes], axes))
    result = getattr(ops, f"GridSampler{axes}D")(mode, padding, corners)(Tensor(x), Tensor(grid))
    close(result, sampled(x, grid, mode, padding, corners))


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("size", [(2, 3, 3, 4), (1, 1, 1, 2), (2, 1, 2, 3, 4)])
def test_an_affine_grid_is_the_matrix_times_the_place(size: tuple[int, ...], corners: bool) -> None:
    axes = len(size) - 2
    theta = normal(size[0], axes, axes + 1)
    want = np.zeros((size[0], *size[2:], axes))
    for index in np.ndindex(want.shape[:-1]):
        at = []
        for i, n in zip(index[1:], size[2:], strict=True):
            at.append((0.0 if n == 1 else -1 + 2 * i / (n - 1)) if corners else (2 * i + 1) / n - 1)
        want[index] = theta[index[0]] @ np.array([*reversed(at), 1.0])
    close(ops.AffineGrid(corners)(Tensor(theta), size), want)


def resized(x: Array, size: Any, at: Any, weights: Any) -> Array:
    """Resize axis by axis: ``at`` is the source position, ``weights`` the shares of the elements around it."""
    for axis, expected in enumerate(size, 2):
        n = x.shape[axis]
        parts = []
        for i in range(expected):
            shares = weights(at(i, n, expected), n)
            parts.append(sum(share * x.take([index], axis) for index, share in shares))
        x = np.concatenate(parts, axis)
    return x


def corners_kept(i: int, n: int, m: int) -> float:
    return i * (n - 1) / (m - 1) if m > 1 else 0.0


def half_pixel(i: int, n: int, m: int) -> float:
    return (i + 0.5) * n / m - 0.5


def line(at: float, n: int) -> list[tuple[int, float]]:
    at = min(max(at, 0.0), n - 1.0)
    low = math.floor(at)
    return [(low, 1 - (at - low)), (min(low + 1, n - 1), at - low)]


def nearest(at: float, n: int) -> list[tuple[int, float]]:
    return [(min(math.floor(at + 1e-9), n - 1), 1.0)]


def cubic(a: float, edge: bool) -> Any:
    def shares(at: float, n: int) -> list[tuple[int, float]]:
        results, first = [], math.floor(at)
        for position in range(first - 1, first + 3):
            d = abs(at - position)
            w = (a + 2) * d**3 - (a + 3) * d**2 + 1 if d <= 1 else a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
            if edge or 0 <= position < n:
                results.append((min(max(position, 0), n - 1), w))
        total = sum(w for _, w in results)
        return [(index, w / total) for index, w in results]

    return shares


@pytest.mark.parametrize("size", [(2, 3), (5, 7), (3, 4), (1, 1), (6, 2)])
def test_images_are_resized(size: tuple[int, int]) -> None:
    x = normal(2, 2, 3, 4)
    argument = Tensor(np.array(size, np.int32))
    plain = resized(x, size, lambda i, n, m: i * n / m, nearest)
    close(ops.ResizeNearestNeighbor(size)(Tensor(x)), plain)
    close(ops.ResizeNearestNeighborV2()(Tensor(x), argument), plain)
    for corners, at in ((True, corners_kept), (False, half_pixel)):
        close(ops.ResizeBilinearV2(corners, not corners)(Tensor(x), argument), resized(x, size, at, line))
        want = resized(x, size, at, cubic(-0.75, True) if corners else cubic(-0.5, False))
        close(ops.ResizeBicubic(corners, not corners)(Tensor(x), argument), want)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_signals_and_volumes_are_resized(size: int) -> None:
    x = normal(2, 2, 3)
    argument = Tensor(np.array([size], np.int32))
    close(ops.ResizeLinear1D()(Tensor(x), argument), resized(x, (size,), corners_kept, line))
    close(ops.ResizeLinear1D("half_pixel")(Tensor(x), argument), resized(x, (size,), half_pixel, line))
    x, sizes = normal(1, 2, 2, 3, 2), (size, 4, 3)
    close(ops.UpsampleNearest3D()(Tensor(x), sizes), resized(x, sizes, lambda i, n, m: i * n / m, nearest))
    close(ops.UpsampleTrilinear3D()(Tensor(x), Tensor(np.array(sizes))), resized(x, sizes, half_pixel, line))
    close(ops.UpsampleTrilinear3D(True)(Tensor(x), sizes), resized(x, sizes, corners_kept, line))
    scaled = ops.UpsampleTrilinear3D()(Tensor(x), None, (2.0, 1.5, 3.0))
    close(scaled, resized(x, (4, 4, 6), half_pixel, line))


@pytest.mark.parametrize("size", [(2, 3), (5, 7), (3, 4), (1, 1), (6, 2)])
def test_images_are_resized_also_from_the_first_element_on(size: tuple[int, int]) -> None:
    x = normal(2, 2, 3, 4)
    argument, beginning = Tensor(np.array(size, np.int32)), lambda i, n, m: i * n / m
    close(ops.ResizeBilinearV2()(Tensor(x), argument), resized(x, size, beginning, line))
    close(ops.ResizeBicubic()(Tensor(x), argument), resized(x, size, beginning, cubic(-0.75, True)))
    want = resized(x, size, lambda i, n, m: corners_kept(i, n, m) + 0.5, nearest)
    close(ops.ResizeNearestNeighbor(size, True)(Tensor(x)), want)
    close(ops.ResizeNearestNeighborV2(True)(Tensor(x), argument), want)
    close(ops.ResizeNearestNeighborV2(False, True)(Tensor(x), argument), resized(x, size, centered, nearest))


def centered(i: int, n: int, m: int) -> float:
    return (i + 0.5) * n / m


@pytest.mark.parametrize("name", ["ResizeBicubic", "ResizeBilinearV2", "ResizeNearestNeighborV2"])
def test_resizing_refuses_both_settings_and_what_is_no_image(name: str) -> None:
    with pytest.raises(ValueError, match="'half_pixel_centers' must be False with align_corners"):
        getattr(ops, name)(True, True)(Tensor(normal(1, 1, 2, 2)), (3, 3))
    for size in ((3,), (3, 0)):
        with pytest.raises(ValueError, match="'x' must have 4 axes and 'size' two lengths above 0"):
            getattr(ops, name)()(Tensor(normal(1, 1, 2, 2)), size)


@pytest.mark.parametrize(
    ("name", "settings", "axes"),
    [
        ("Conv3D", (1, 1), 3),
        ("Conv2DTranspose", (1, 1), 2),
        ("Conv2DBackpropInput", (1, 1), 2),
        ("Conv3DTranspose", (1, 1, 1), 3),
        ("MaxPool3D", (), 3),
        ("AvgPool3D", (), 3),
        ("MaxPool3DWithArgmax", (1, 1, 0), 3),
        ("MaxUnpool2D", (1,), 2),
        ("MaxUnpool3D", (1,), 3),
        ("BatchNorm", (), 2),
    ],
)
def test_another_layout_than_channels_first_is_refused(name: str, settings: Any, axes: int) -> None:
    first, last = ("NCHW", "NHWC") if axes == 2 else ("NCDHW", "NDHWC")
    subject = Tensor(normal(*(1,) * (axes + 2)))
    inputs = {"MaxPool3D": 1, "AvgPool3D": 1, "MaxPool3DWithArgmax": 1, "BatchNorm": 5}.get(name, 2)
    with pytest.raises(ValueError, match=f"For '{name}', 'data_format' must be '{first}', but got '{last}'"):
        getattr(ops, name)(*settings, data_format=last)(*(subject,) * inputs)
