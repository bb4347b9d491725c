"""Primitive classes that MindSpore keeps for older programs, each beside its family in ops: against MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from recorded import check, wave

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, ops


def primitive(name: str, *settings: Any, **keywords: Any) -> Any:
    """Return a class, wherever it is: MindSpore has most of these in files of `ops.operations` only."""
    files = ("nn_ops", "math_ops", "array_ops", "image_ops", "random_ops")
    rooms = [ops, *(vars(ops.operations).get(file) for file in files)]
    return next(getattr(room, name) for room in rooms if hasattr(room, name))(*settings, **keywords)


def t(values: Any, dtype: Any = ms.float32) -> Tensor:
    return Tensor(np.array(values), dtype)


def ints(values: Any) -> Tensor:
    return t(values, ms.int32)


def stepped(name: str, parameters: list[Tensor], *rest: Any, **settings: Any) -> list[Tensor]:
    """Return a table and its state after two steps."""
    tables = [Parameter(item, f"held{i}") for i, item in enumerate(parameters)]
    update = primitive(name, **settings)
    for _ in range(2):
        update(*tables, *rest)
    return [Tensor(table.asnumpy()) for table in tables]


TABLE, MOMENT, SQUARES = wave(3, 2), wave(3, 2, k=1.0), wave(3, 2, k=2.0) ** 2 + 0.2
G, ROWS, TWICE = t([[0.3, 0.7], [0.1, 0.8]]), ints([2, 0]), ints([1, 1])
LR, DECAY, L1, L2 = t(0.1), t(0.9), t(0.05), t(0.2)
RMSPROP = {"rho": 0.9, "momentum": 0.8, "epsilon": 1e-3}
CROP = (t([[[[2.0], [5.0]], [[1.0], [4.0]]]]), t([[0.1, 0.2, 0.3, 0.4]]), ints([0]))
NORMAL = (wave(2, 2, 1, 1, k=1.0), wave(2, 2, 1, 1, k=2.0), wave(2, 2, 1, 1, k=3.0), wave(2, 2, 1, 1, k=4.0) ** 2)
DIAGONALS, RIGHT = t([[1.0, 2, 3], [5, 6, 7], [3, 4, 5]]), t([[1.0, 4], [2, 5], [3, 7]])
IMAGE = t(np.arange(18.0).reshape(1, 3, 3, 2))
GLIMPSES = (
    ((2, 3), (0.0, 0.0), False, False),
    ((3, 3), (-0.5, 0.9), True, True),
    ((2, 2), (0.5, 1.0), False, True),
    ((2, 3), (0.6, -1.2), True, False),
    ((4, 4), (0.0, 0.0), True, True),
    ((3, 3), (2.7, 2.2), False, False),
)


def normalized(training: bool) -> list[Tensor]:
    mean, variance = (Tensor(item.asnumpy()) for item in NORMAL[2:])
    results = primitive("InstanceNormV2", training)(wave(2, 2, 3, 2), *NORMAL[:2], mean, variance)
    return [*results, mean, variance]


CASES: dict[str, Callable[[], Any]] = {
    **{
        f"SparseApplyAdagrad {slots} {name}": partial(
            lambda rows, slots: stepped("SparseApplyAdagrad", [TABLE, SQUARES], G, rows, lr=0.1, update_slots=slots),
            rows,
            slots,
        )
        for name, rows in (("once", ROWS), ("twice", TWICE))
        for slots in (True, False)
    },
    **{
        f"{name} {how}": partial(
            lambda name, held, rest, rows, more: stepped(name, held, *rest(rows), **more), name, held, rest, rows, more
        )
        for name, held, rest, more in (
            ("SparseApplyAdagradDA", [TABLE, MOMENT, SQUARES], lambda r: (G, r, LR, L1, L2, t(2, ms.int64)), {}),
            (
                "SparseApplyCenteredRMSProp",
                [TABLE, MOMENT * 0.1, SQUARES, MOMENT],
                lambda r: (LR, DECAY, t(0.8), t(0.01), G, r),
                {},
            ),
            ("SparseApplyMomentum", [TABLE, MOMENT], lambda r: (LR, G, r, DECAY), {}),
            ("SparseApplyProximalGradientDescent", [TABLE], lambda r: (LR, L1, L2, G, r), {}),
        )
        for how, rows in (("once", ROWS), ("twice", TWICE))
    },
    # There the gradient must have the shape of the table.
    "SparseApplyRMSProp": lambda: stepped(
        "SparseApplyRMSProp", [TABLE, SQUARES, MOMENT], 0.1, wave(3, 2, k=3.0), ints([2, 0, 1]), **RMSPROP
    ),
    "SparseApplyRMSProp twice": lambda: stepped(
        "SparseApplyRMSProp", [TABLE, SQUARES, MOMENT], 0.1, wave(3, 2, k=3.0), ints([2, 0, 2]), **RMSPROP
    ),
    "AddV2": lambda: primitive("AddV2")(ints([1, 2]), t([0.5, 1])),
    "AdjustContrastv2": lambda: primitive("AdjustContrastv2")(wave(2, 2, 2, 3), t(2.0)),
    "ConcatOffsetV1": lambda: primitive("ConcatOffsetV1")(ints(1), (ints([1, 2, 3]), ints([1, 5, 3]), ints([1, 4, 3]))),
    "ConcatOffsetV1 from the end": lambda: primitive("ConcatOffsetV1")(ints(-1), (ints([1, 2, 3]), ints([1, 2, 5]))),
    "CropAndResizeGradBoxes": lambda: primitive("CropAndResizeGradBoxes")(CROP[0], wave(1, 4, 4, 1), *CROP[1:]),
    **{
        f"CropAndResizeGradImage {method}": partial(
            lambda method: primitive("CropAndResizeGradImage", ms.float32, method)(*CROP, ints([1, 4, 4, 1])), method
        )
        for method in ("bilinear", "nearest")
    },
    "DeformableOffsets": lambda: primitive("DeformableOffsets", (1, 1, 1, 1), (0, 0, 0, 0), (2, 2))(
        wave(1, 2, 3, 3), wave(1, 12, 2, 2, k=1.0)
    ),
    "DeformableOffsets groups": lambda: primitive(
        "DeformableOffsets", (1, 1, 2, 1), (1, 0, 1, 1), (2, 3), deformable_groups=2
    )(wave(1, 4, 4, 4), wave(1, 36, 2, 4, k=1.0)),
    "InstanceNormV2": lambda: normalized(True),
    "InstanceNormV2 of given statistics": lambda: normalized(False),
    "RangeV2": lambda: primitive("RangeV2")(t(0.0), t(2.1), t(0.5)),
    "RangeV2 down": lambda: primitive("RangeV2")(ints(10), ints(1), ints(-4)),
    "ReLUV3": lambda: primitive("ReLUV3")(wave(5, k=-1.0)),
    **{
        f"ResizeV2 {how} {mode}": partial(
            lambda how, mode: primitive("ResizeV2", how, mode)(
                wave(1, 2, 1, 4), t([0.0]), t([0.0]), t([1, 2, 1, 9], ms.int64)
            ),
            how,
            mode,
        )
        for how, mode in (("half_pixel", "nearest"), ("half_pixel", "linear"), ("align_corners", "linear"))
    },
    **{
        f"ResizeV2 {how} cubic": partial(
            lambda how: primitive("ResizeV2", how, "cubic")(wave(1, 1, 3, 4), t([0.0]), t([0.0]), ints([1, 1, 5, 6])),
            how,
        )
        for how in ("half_pixel", "align_corners")
    },
    "SelfAdjointEig": lambda: primitive("SelfAdjointEig")(t([[[2.0, 9], [1, 3]], [[5, 0], [0, 1]]]))[0],
    "conv3d_transpose": lambda: ops.conv3d_transpose(wave(1, 2, 2, 2, 2), wave(2, 1, 2, 2, 2, k=1.0)),
    "conv3d_transpose same": lambda: ops.conv3d_transpose(
        wave(1, 2, 2, 2, 2), wave(2, 1, 2, 2, 2, k=1.0), pad_mode="same", stride=2
    ),
    "conv3d_transpose pad": lambda: ops.conv3d_transpose(
        wave(1, 2, 2, 2, 2), wave(2, 1, 3, 3, 3, k=1.0), pad_mode="pad", padding=1, stride=2, output_padding=1
    ),
    "NuclearNorm": lambda: primitive("NuclearNorm")(wave(3, 2)),
    "NuclearNorm of axes": lambda: primitive("NuclearNorm", [0, 2], True)(wave(2, 3, 2)),
    "TridiagonalSolve": lambda: primitive("TridiagonalSolve")(DIAGONALS, RIGHT),
    "TridiagonalSolve exchanges": lambda: primitive("TridiagonalSolve")(
        t([[[1.0, 2, 3], [0, 6, 7], [3, 4, 5]]]), t([[[1.0], [2], [3]]])
    ),
    **{
        f"ExtractGlimpse {i}": partial(
            lambda size, at, centered, normal: primitive("ExtractGlimpse", centered, normal, False, "zero")(
                IMAGE, ints(size), t([at])
            ),
            *item,
        )
        for i, item in enumerate(GLIMPSES)
    },
    "ExtractVolumePatches": lambda: primitive("ExtractVolumePatches", (1, 1, 2, 2, 1), (1, 1, 1, 1, 1), "VALID")(
        wave(1, 2, 3, 2, 1)
    ),
    "ExtractVolumePatches same": lambda: primitive("ExtractVolumePatches", 2, 2, "SAME")(wave(1, 1, 3, 3, 3)),
    "SparseSoftmaxCrossEntropyWithLogitsV2": lambda: primitive("SparseSoftmaxCrossEntropyWithLogitsV2")(
        wave(2, 3), ints([0, 2])
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_older_class_gives_mindspores_numbers(name: str) -> None:
    check(__file__, name, CASES[name])


GRADIENTS: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "NuclearNorm": (lambda x: primitive("NuclearNorm")(x), (wave(3, 2),)),
    "TridiagonalSolve": (lambda *x: primitive("TridiagonalSolve")(*x), (DIAGONALS, RIGHT)),
    "ExtractVolumePatches": (lambda x: primitive("ExtractVolumePatches", 2, 2, "SAME")(x), (wave(1, 1, 3, 3, 3),)),
    "DeformableOffsets": (
        lambda *x: primitive("DeformableOffsets", (1, 1, 1, 1), (0, 0, 0, 0), (2, 2))(*x),
        (wave(1, 2, 3, 3), wave(1, 12, 2, 2, k=1.0)),
    ),
    "ResizeV2": (
        lambda x: primitive("ResizeV2", mode="cubic")(x, t([0.0]), t([0.0]), ints([1, 1, 5, 6])),
        (wave(1, 1, 3, 4),),
    ),
    "conv3d_transpose": (
        lambda x, w: ops.conv3d_transpose(x, w, stride=2, group=2),
        (wave(1, 2, 2, 2, 2), wave(2, 1, 2, 2, 2, k=1.0)),
    ),
    "SparseSoftmaxCrossEntropyWithLogitsV2": (
        lambda x: primitive("SparseSoftmaxCrossEntropyWithLogitsV2")(x, ints([0, 2]))[0],
        (wave(2, 3),),
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_agree_with_central_differences(name: str) -> None:
    from function_cases import agrees  # not where MindSpore records

    function, inputs = GRADIENTS[name]
    agrees(function, *(item.asnumpy().astype(np.float64) for item in inputs))


def test_contrast_is_linear_in_the_distance_from_the_mean_and_so_is_its_gradient() -> None:
    x, factor = wave(2, 2, 3), t(2.5)
    gradient = ms.grad(lambda x: (primitive("AdjustContrastv2")(x, factor) * x).sum())(x).asnumpy()
    array = x.asnumpy().astype(np.float64)
    np.testing.assert_allclose(gradient, 2 * (2.5 * array + (1 - 2.5) * array.mean((0, 1))), rtol=1e-5, atol=1e-6)


def test_nesterovs_form_looks_a_step_ahead() -> None:
    table, kept = TABLE.asnumpy().astype(np.float64), MOMENT.asnumpy().astype(np.float64)
    for _ in range(2):
        for row, g in zip((2, 0), G.asnumpy(), strict=True):
            kept[row] = kept[row] * 0.9 + g
            table[row] -= 0.1 * (g + 0.9 * kept[row])
    result = stepped("SparseApplyMomentum", [TABLE, MOMENT], LR, G, ROWS, DECAY, use_nesterov=True)
    np.testing.assert_allclose(result[0].asnumpy(), table, rtol=1e-5)
    np.testing.assert_allclose(result[1].asnumpy(), kept, rtol=1e-5)


def test_eigenvectors_are_those_of_the_lower_triangle_and_have_length_1() -> None:
    x = np.array([[2.0, 9.0], [1.0, 3.0]])
    values, vectors = primitive("SelfAdjointEig")(t(x, ms.float64))
    lower = np.array([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(lower @ vectors.asnumpy(), vectors.asnumpy() * values.asnumpy(), rtol=1e-12)
    np.testing.assert_allclose(vectors.asnumpy().T @ vectors.asnumpy(), np.eye(2), atol=1e-12)
    assert primitive("SelfAdjointEig", False)(t(x))[1].size == 0
    with pytest.raises(NotImplementedError, match="For 'SelfAdjointEig', there is no gradient"):
        ms.grad(lambda x: primitive("SelfAdjointEig")(x)[0].sum())(t(x))


def test_noise_fills_what_is_outside_of_the_image() -> None:
    result = primitive("ExtractGlimpse", False, False, True, "uniform")(
        IMAGE + 5, ints([4, 4]), t([[0.0, 0.0]])
    ).asnumpy()
    outside = result[0, :2].reshape(-1)
    assert result[0, 2:, 2:].min() >= 5 and ((outside >= 0) & (outside < 1)).all() and len(set(outside)) == 16


def test_uniform_draws_within_its_bounds_and_the_same_by_the_same_seed() -> None:
    x = t(np.zeros((100, 10)), ms.float16)
    drawn = primitive("Uniform", 1.0, 3.0, 7)(x)
    assert drawn.shape == (100, 10) and drawn.dtype is ms.float16
    numbers = drawn.asnumpy().astype(np.float64)
    assert numbers.min() >= 1 and numbers.max() <= 3 and abs(numbers.mean() - 2) < 0.1
    assert (primitive("Uniform", 1.0, 3.0, 7)(x).asnumpy() == drawn.asnumpy()).all()
    assert (primitive("Uniform", 1.0, 3.0)(x).asnumpy() != primitive("Uniform", 1.0, 3.0)(x).asnumpy()).any()


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "AddV2": (
        lambda: primitive("AddV2")(wave(2, 3), wave(3)),
        ValueError,
        r"must have one shape, but got \(2, 3\) and \(3,\)",
    ),
    "contrast": (lambda: primitive("AdjustContrastv2")(wave(2, 3), t(2.0)), ValueError, "must have at least 3 axes"),
    "offsets": (
        lambda: primitive("ConcatOffsetV1")(ints(0), (ints([1, 2]), ints([1, 3]))),
        ValueError,
        "must agree but",
    ),
    "range": (
        lambda: primitive("RangeV2")(ints(1), ints(10), ints(-4)),
        ValueError,
        "must lead from 1 to 10, but got -4",
    ),
    "sizes": (
        lambda: primitive("ResizeV2")(wave(1, 1, 2, 2), t([0.0]), t([0.0]), ints([1, 1, 2, 2])),
        ValueError,
        "height must be 1",
    ),
    "aligned": (
        lambda: primitive("ResizeV2", "align_corners")(wave(1, 1, 1, 2), t([0.0]), t([0.0]), ints([1, 1, 1, 2])),
        ValueError,
        "must be 'half_pixel' with mode 'nearest'",
    ),
    "nuclear": (lambda: primitive("NuclearNorm")(wave(3, 2, 2)), ValueError, "must have 2 axes without 'dim'"),
    "diagonals": (lambda: primitive("TridiagonalSolve")(DIAGONALS[:2], RIGHT), ValueError, "must have the shape"),
    "singular": (lambda: primitive("TridiagonalSolve")(DIAGONALS * 0, RIGHT), ValueError, "not singular"),
    "noise": (
        lambda: primitive("ExtractGlimpse", noise="pink")(IMAGE, ints([2, 2]), t([[0.0, 0.0]])),
        ValueError,
        "'noise'",
    ),
    "statistics": (
        lambda: primitive("InstanceNormV2")(wave(2, 2, 3, 2), *NORMAL[:3], wave(2)),
        ValueError,
        r"'variance' must have the shape \(2, 2, 1, 1\)",
    ),
    "bounds": (lambda: primitive("Uniform", 2.0, 1.0)(wave(2)), ValueError, "must rise from 0 on"),
    "rate": (
        lambda: primitive("SparseApplyAdagrad", 0.0)(Parameter(TABLE), Parameter(SQUARES), G, ROWS),
        ValueError,
        "'lr' must be above 0",
    ),
    "no kernel": (
        lambda: primitive("LARSUpdate")(),
        NotImplementedError,
        "mindspore.ops.LARSUpdate is not covered by hookscope: MindSpore 2.10 has no kernel of it on a CPU "
        "either; use mindspore.nn.LARS",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_one_clear_error(name: str) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind, match=text):
        call()
