"""Operators that move elements without computing: parts, margins, names of arguments, errors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

X = np.arange(14, dtype=np.float32).reshape(7, 2)


def test_split_has_parts_of_one_length() -> None:
    for axis, count in ((0, 7), (1, 2), (-1, 1)):
        parts = ops.Split(axis, count)(Tensor(X))
        assert isinstance(parts, tuple) and len(parts) == count
        for part, want in zip(parts, np.split(X, count, axis), strict=True):
            np.testing.assert_array_equal(part.asnumpy(), want)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: ops.Split(0, 3)(x), ValueError, "must be positive and divide axis 0"),
        (lambda x: ops.Split(0, 8)(x), ValueError, "but got 8"),
        (lambda x: ops.Split(0, 0)(x), ValueError, "but got 0"),
        (lambda x: ops.Split(5, 2)(x), ValueError, r"'axis' must be in \[-2, 2\), but got 5"),
        (lambda x: ops.Split(1, 2.0)(x), TypeError, "'output_num' must be an int, but got float"),
        (lambda x: ops.SplitV((1, -1, 2), 0, 5)(x), ValueError, "'num_split' must be 3, the number of sizes"),
        (lambda x: ops.SplitV((1, 1), 4, 2)(x), ValueError, "'axis' must be in"),
        (lambda x: ops.chunk(x, 3, 7), ValueError, "For 'chunk', 'axis' must be in"),
        (lambda x: ops.chunk(x, 2.0), TypeError, "'chunks' must be an int, but got 2.0"),
        (lambda x: ops.chunk(x, 0), ValueError, "'chunks' must be above 0, but got 0"),
        (
            lambda x: ops.split(x, [8, -1]),
            ValueError,
            r"the sizes of the parts must not be negative, but got \[8, -1\]",
        ),
        (lambda x: ops.tile(x, (-1, 1)), ValueError, r"'dims' must not be negative, but got \(-1, 1\)"),
        (lambda x: ops.pad(x, (1, 1), "foo"), ValueError, "'mode' must be one of .*'circular'.*, but got 'foo'"),
        (lambda x: ops.pad(x, (1, 1), "reflect", 3.0), ValueError, "'value' must be None with mode 'reflect'"),
        (lambda x: ops.pad(x, (2, 0), "reflect"), ValueError, "'padding' must be less than the length 2"),
        (lambda x: ops.pad(x, (-2, -1)), ValueError, "'padding' must leave something of 2 elements"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call(Tensor(X))


def test_negative_padding_cuts_off() -> None:
    x = Tensor(X)
    np.testing.assert_array_equal(ops.pad(x, (-1, 2, 1, -3)).asnumpy(), np.pad(X[:4, 1:], ((1, 0), (0, 2))))
    # Recorded from MindSpore 2.10.
    y = Tensor(np.array([[1, 3, 3], [2, 2, 2]], np.float32))
    assert ops.pad(y, (-1, 1), "reflect").tolist() == [[3, 3, 3], [2, 2, 2]]
    assert ops.pad(y.reshape(1, 2, 3), (-1, 1), "replicate").tolist() == [[[3, 3, 3], [2, 2, 2]]]
    result = ms.grad(lambda v: (ops.pad(v, (-1, 2)) * Tensor([5.0, 7.0, 9.0])).sum())(x)
    np.testing.assert_array_equal(result.asnumpy(), np.repeat([[0.0, 5.0]], 7, 0))


@pytest.mark.parametrize(
    ("mode", "mode_of_numpy"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")]
)
def test_the_gradient_of_a_margin_goes_to_what_it_repeats(mode: str, mode_of_numpy: Any) -> None:
    x = np.random.default_rng(3).normal(size=(2, 4, 3)).astype(np.float32)
    indices = np.pad(np.arange(24).reshape(2, 4, 3), ((0, 0), (2, 1), (0, 2)), mode=mode_of_numpy)
    weights = np.random.default_rng(4).normal(size=indices.shape).astype(np.float32)
    want = np.bincount(indices.ravel(), weights.ravel(), 24).reshape(x.shape)

    def weighed(v: Any) -> Any:
        return (ops.pad(v, (0, 2, 2, 1), mode) * Tensor(weights)).sum()

    np.testing.assert_allclose(ms.grad(weighed)(Tensor(x)).asnumpy(), want, rtol=1e-5, atol=1e-6)
    # d/dx of (the gradient of sum(w * pad(x) ** 2 / 2)) weighed by 1: each place gets x times the sum of its weights.
    second = ms.grad(lambda v: ms.grad(lambda u: weighed(u * u) * 0.5)(v).sum())(Tensor(x))
    np.testing.assert_allclose(second.asnumpy(), want, rtol=1e-5, atol=1e-6)


def test_the_gradient_of_reflection_is_mindspores() -> None:
    x, by = np.array([[1, 3, 3], [2, 2, 2]], np.float32), Tensor(np.arange(10, dtype=np.float32).reshape(2, 5))
    result = ms.grad(lambda v: (ops.pad(v, (1, 1), "reflect") * by).sum())(Tensor(x))
    assert result.tolist() == [[1, 6, 3], [6, 21, 8]]  # recorded from MindSpore 2.10


def test_axes_may_be_given_by_name() -> None:
    x = Tensor(np.arange(6, dtype=np.float32).reshape(1, 2, 3))
    assert x.squeeze(axis=0).shape == (2, 3)
    assert x.permute(dims=(2, 0, 1)).shape == (3, 1, 2)
    assert x.transpose(dim0=1, dim1=2).shape == (1, 3, 2)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: ops.rot90(x, 1.5, (0, 1)), TypeError, "'k' must be an int, but got float"),
        (lambda x: ops.rot90(x, 1, (0, 1, 1)), ValueError, "'dims' must be two axes"),
        (lambda x: ops.reverse_sequence(x, Tensor([4, 1]), 0, 1), None, ""),
        (lambda x: ops.reverse_sequence(x, Tensor([8, 1]), 0, 1), ValueError, r"'seq_lengths' must be in \[0, 7\]"),
        (lambda x: ops.reverse_sequence(x, Tensor([1, 1]), 0, 0), ValueError, "'seq_dim' and 'batch_dim' must differ"),
        (lambda x: ops.reverse_sequence(x, Tensor([1]), 0, 1), ValueError, "'seq_lengths' must be 2 integers"),
        (lambda x: x.repeat_interleave(2, 0, output_size=14), None, ""),
        (lambda x: x.repeat_interleave(2, 0, output_size=5), ValueError, "'output_size' must be 14"),
        (lambda x: ops.mirror_pad(x, [(0, 0), (2, 0)], "REFLECT"), ValueError, r"of axis 1 must be in \[0, 1\]"),
        (lambda x: ops.mirror_pad(x, [(0, 0), (3, 0)], "SYMMETRIC"), ValueError, r"of axis 1 must be in \[0, 2\]"),
        (lambda x: ops.mirror_pad(x, [(1, 0)], "SYMMETRIC"), ValueError, "'paddings' must be 2 pairs, but got 1"),
        *(
            (
                lambda x, w=widths: ops.mirror_pad(x[:1], [w, (0, 0)], "REFLECT"),
                ValueError,
                rf"of axis 0 must be in \[0, 0\] with mode 'REFLECT', but got {re.escape(str(widths))}",
            )
            for widths in ((0, 1), (1, 0), (-1, 0), (0, -1))
        ),
        *(
            (
                lambda x, s=start, n=count: ops.narrow(x, 0, s, n),
                ValueError,
                rf"For 'narrow', 'start' and 'length' must lie in axis 0 of \(7, 2\), but got {start}, {count}",
            )
            for start, count in ((0, 8), (6, 2), (8, 0), (-8, 1), (-1, 2), (3, -1))
        ),
        (lambda x: ops.t(x.reshape(7, 2, 1)), ValueError, "'input' must have at most 2 axes, but got shape"),
        (lambda x: ops.split(x[:0], []), None, ""),
        *(
            (lambda x, w=widths: ops.pad(x, w), ValueError, "'padding' must leave something of 2 elements")
            for widths in ((-3, 0), (0, -3), (-3, 5), (5, -3), (-1, -2))
        ),
        (lambda x: ops.Padding(3.5)(x), TypeError, "'pad_dim_size' must be an int, but got float"),
        (lambda x: ops.batch_dot(x, x[:1]), ValueError, "the first axes must have one length"),
        (lambda x: ops.layer_norm(x, (2,), Tensor([1.0])), ValueError, r"'weight' must have the shape \(2,\)"),
        (lambda x: ops.group_norm(x, 0), ValueError, "'num_groups' 0 must divide"),
        (lambda x: ops.group_norm(x, 1, Tensor([1.0])), ValueError, r"'weight' must have the shape \(2,\)"),
        (lambda x: ops.Add().set_device("foo"), ValueError, "'device_target' must be 'CPU', 'GPU' or 'Ascend'"),
    ],
)
def test_settings_are_honored_or_refused(call: Any, error: type[Exception] | None, match: str) -> None:
    if error is None:
        call(Tensor(X))
        return
    with pytest.raises(error, match=match):
        call(Tensor(X))


IMAGE = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
VOLUME = Tensor(np.arange(64, dtype=np.float32).reshape(1, 1, 4, 4, 4))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: ops.MaxPool3D(3, 2, "VALID", ceil_mode=True)(VOLUME), ValueError, "'ceil_mode' must be None"),
        (lambda: ops.avg_pool2d(IMAGE, 2, divisor_override=-1), ValueError, "'divisor_override' must be an int"),
        (lambda: ops.MaxPoolWithArgmaxV2(2, 2, argmax_type=ms.float32)(IMAGE), TypeError, "'argmax_type' must be"),
        (lambda: ops.lp_pool1d(IMAGE[0], 0, 2), ValueError, "'norm_type' must not be 0"),
        (lambda: ops.ResizeBilinearV2(True, True)(IMAGE, (2, 3)), ValueError, "'half_pixel_centers' must be False"),
        (lambda: ops.ResizeLinear1D("foo")(IMAGE[0], 3), ValueError, "'coordinate_transformation_mode' must be"),
        (lambda: ops.interpolate(IMAGE, (2, 3), recompute_scale_factor=True), ValueError, "cannot be set with 'size'"),
        (lambda: ops.interpolate(IMAGE.int(), (2, 3), mode="bilinear"), TypeError, "must hold floating numbers"),
        *(
            (
                lambda by=by: ops.interpolate(IMAGE, scale_factor=by),
                ValueError,
                f"'scale_factor' must be positive numbers, but got {re.escape(repr(by))}",
            )
            for by in ((2.0,), (2.0, 3.0, 1.0), (2.0, -1.0), (0, 2.0), [2.0, "2"], 0.0, -2)
        ),
        (
            lambda: ops.space_to_batch_nd(IMAGE, 1.5, [[0, 0]]),
            TypeError,
            "For 'space_to_batch_nd', 'block_size' must be an int or a tuple of ints, but got 1.5",
        ),
    ],
)
def test_settings_of_windows_are_refused_where_they_do_nothing(call: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call()


def test_places_of_the_largest_have_the_dtype_that_is_asked_for() -> None:
    for dtype, want in ((ms.int32, ms.int32), (ms.int64, ms.int64), (None, ms.int64)):
        assert ops.MaxPoolWithArgmaxV2(2, 2, argmax_type=dtype)(IMAGE)[1].dtype == want
        indices = ops.MaxPool3DWithArgmax(2, 2, 0, argmax_type=dtype)(VOLUME)[1]
        assert indices.dtype == want
        assert indices.tolist() == [[[[[21, 23], [29, 31]], [[53, 55], [61, 63]]]]]


def test_nearest_with_half_pixel_centers_is_mindspores() -> None:
    """Recorded from MindSpore 2.10."""
    small = ops.ResizeNearestNeighborV2(False, True)(IMAGE, (2, 3))
    assert small.tolist() == [[[[4, 6, 7], [12, 14, 15]]]]
    large = ops.ResizeNearestNeighborV2(False, True)(IMAGE, (6, 7)).asnumpy()[0, 0]
    np.testing.assert_array_equal(large[0], [0, 0, 1, 2, 2, 3, 3])
    np.testing.assert_array_equal(large[:, 0], [0, 4, 4, 8, 12, 12])


def test_a_p_norm_of_windows_is_mindspores_also_at_zero() -> None:
    """Recorded from MindSpore 2.10."""
    zeros, signs = Tensor([[[0.0, 0.0, 3.0, 1.0]]]), Tensor([[[-1.0, -2.0, 3.0, 1.0]]])
    result = ms.grad(lambda v: ops.lp_pool1d(v, 2.0, 2).sum())(zeros)
    np.testing.assert_allclose(result.asnumpy(), [[[0, 0, 0.94868326, 0.31622776]]], rtol=1e-6)
    np.testing.assert_allclose(ops.lp_pool1d(signs, 3.0, 2).asnumpy(), [[[np.nan, 3.0365891]]], rtol=1e-6)
