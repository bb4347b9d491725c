"""Single calls whose answers are recorded from MindSpore 2.10 on a CPU: the dtype and every number, or the error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, mint, nn, ops, train

NAN, INF = math.nan, math.inf


def t(values: Any, dtype: Any = ms.float32) -> Tensor:
    return Tensor(np.array(values), dtype)


def i8(*values: int) -> Tensor:
    return t(values, ms.int8)


def u8(*values: int) -> Tensor:
    return t(values, ms.uint8)


def with_element(x: Tensor, value: Any) -> Tensor:
    x[0] = value
    return x


def sloped(function: Callable[..., Any], *inputs: Tensor) -> Any:
    """Return the gradients of the sum of what comes out, by all inputs."""
    indices = tuple(range(len(inputs)))
    return ms.grad(lambda *x: function(*x).sum(), indices if len(indices) > 1 else 0)(*inputs)


HALVES, BESIDE = t([NAN, 1.0, NAN, 2.0]), t([1.0, NAN, NAN, 2.0])
LINE, PLANE = t(np.arange(6).reshape(1, 2, 3)), t(np.arange(9).reshape(1, 1, 3, 3))
TABLE, ROW = t(np.arange(12).reshape(3, 4)), t([1.0, 2.0])
F = mint.nn.functional


def padded(x: Tensor, mode: str, *amounts: int) -> Tensor:
    """Return the gradient of the padded elements' sum, weighed 1, 2, 3, ..."""
    shape = ops.pad(x, amounts, mode).shape
    weights = t(np.arange(1, 1 + math.prod(shape)).reshape(shape))
    result: Tensor = sloped(lambda x: ops.pad(x, amounts, mode) * weights, x)
    return result


def variable(dtype: Any = ms.float32, *values: float) -> Parameter:
    return Parameter(t(list(values), dtype), "variable")


def evaluated(metric: Any, predictions: Any, labels: Any, **how: Any) -> Any:
    metric.update(t(predictions), t(labels, ms.int32))
    return metric.eval(**how)


IMAGE = t(np.arange(16).reshape(1, 1, 4, 4))
SCORES = t(np.random.RandomState(0).rand(5, 2, 4).round(2))
PLACES, STEPS = t([[0, 0], [0, 1], [1, 0]], ms.int64), t([5, 4], ms.int32)
RIGHT = [[0.1, 0.9], [0.9, 0.1]]
CHANNELS = t(np.arange(24).reshape(2, 3, 4))


def scored(*labels: int, **how: bool) -> Tensor:
    """Return CTCLoss of the labels 0 and 1 of the first sample and 0 of the second one."""
    losses: Tensor = ops.CTCLoss(**how)(SCORES, PLACES, t(labels, ms.int32), STEPS)[0]
    return losses


LEAST = -3.4028234663852886e38

# The call, and dtype and elements of what comes out, or of each thing in a tuple.
ANSWERS: dict[str, tuple[Callable[[], Any], Any]] = {
    # Integers are unchanged.
    "round int32": (lambda: ops.round(t([1, -3], ms.int32)), ("Int32", [1, -3])),
    "round int64": (lambda: mint.round(t([1, -3], ms.int64)), ("Int64", [1, -3])),
    "Tensor.round": (lambda: t([1, -3], ms.int32).round(), ("Int32", [1, -3])),
    "Round": (lambda: ops.Round()(t([1, -3], ms.int32)), ("Int32", [1, -3])),
    "round float16": (lambda: ops.round(t([0.5, 1.5], ms.float16)), ("Float16", [0.0, 2.0])),
    # An integer beside a complex number.
    "int32 + complex64": (lambda: t([1], ms.int32) + t([1 + 2j], ms.complex64), ("Complex64", [2 + 2j])),
    "int64 + complex64": (lambda: t([1], ms.int64) + t([1 + 2j], ms.complex64), ("Complex64", [2 + 2j])),
    "complex64 - int64": (lambda: t([1 + 2j], ms.complex64) - t([1], ms.int64), ("Complex64", [2j])),
    "pow complex64": (lambda: ops.pow(t([1 + 2j, 2], ms.complex64), t([1, 2])), ("Complex64", [1 + 2j, 4])),
    "float64 + complex64": (lambda: t([1], ms.float64) + t([1j], ms.complex64), ("Complex128", [1 + 1j])),
    # A number out of the range of the tensor's integers is counted around.
    "uint8 + 300": (lambda: u8(1, 2) + 300, ("UInt8", [45, 46])),
    "uint8 * -1": (lambda: u8(1, 2) * -1, ("UInt8", [255, 254])),
    "int8 + 200": (lambda: i8(1, 2) + 200, ("Int8", [-55, -54])),
    "int8 - 200": (lambda: i8(1, 2) - 200, ("Int8", [57, 58])),
    "int8 * 1000": (lambda: i8(1, 2) * 1000, ("Int8", [-24, -48])),
    "300 - int8": (lambda: 300 - i8(1, 2), ("Int8", [43, 42])),
    "uint8 == 257": (lambda: u8(1, 2) == 257, ("Bool", [True, False])),
    "int8 // 300": (lambda: i8(1, 2) // 300, ("Int8", [0, 0])),
    "int8 % 300": (lambda: i8(7, 8) % 300, ("Int8", [7, 8])),
    "maximum": (lambda: ops.maximum(i8(1, 2), 300), ("Int8", [44, 44])),
    "int16 + 70000": (lambda: t([1, 2], ms.int16) + 70000, ("Int16", [4465, 4466])),
    "int32 + 2**31": (lambda: t([1, 2], ms.int32) + 2**31, ("Int32", [-2147483647, -2147483646])),
    "int32 * 2**33": (lambda: t([1, 2], ms.int32) * 2**33, ("Int32", [0, 0])),
    "uint8 & 257": (lambda: u8(1, 2) & 257, ("UInt8", [1, 0])),
    "uint8 | -1": (lambda: u8(1, 2) | -1, ("UInt8", [255, 255])),
    "clip_by_value": (lambda: ops.clip_by_value(i8(1, 2), -300, 300), ("Int8", [1, 2])),
    "clip_by_value float": (lambda: ops.clip_by_value(t([1, 5], ms.int64), 2.5, t(3.9)), ("Int64", [2, 3])),
    "clip_by_value list": (
        lambda: ops.clip_by_value([t([0.0, NAN]), t([INF])], t(1.0), 2),
        [("Float32", [1.0, 1]), ("Float32", [2.0])],
    ),
    "slope clip_by_value": (
        lambda: sloped(ops.clip_by_value, t([1.0, 2, 1.5, 0, 3]), t(1.0), t(2.0)),
        [("Float32", [0.5, 0.5, 1, 0, 0]), ("Float32", 1.5), ("Float32", 1.5)],
    ),
    "slope clamp": (
        lambda: sloped(ops.clamp, t([1.0, 2, 1.5, 0, 3]), t(1.0), t(2.0)),
        [("Float32", [1.0, 1, 1, 0, 0]), ("Float32", 1.0), ("Float32", 1.0)],
    ),
    "clamp": (lambda: ops.clamp(u8(1, 200), -3, 300), ("UInt8", [44, 44])),
    "full_like": (lambda: ops.full_like(u8(1, 2), 300), ("UInt8", [44, 44])),
    "full": (lambda: ops.full((2,), 300, dtype=ms.int8), ("Int8", [44, 44])),
    "where": (lambda: ops.where(t([True, False], ms.bool_), i8(1, 2), 300), ("Int8", [1, 44])),
    "Tensor(300)": (lambda: Tensor(300, ms.int8), ("Int8", 44)),
    "Tensor(-1)": (lambda: Tensor(-1, ms.uint8), ("UInt8", 255)),
    "x[0] = 300": (lambda: with_element(u8(1, 2), 300), ("UInt8", [44, 2])),
    "uint8 / 300": (lambda: u8(3, 6) / 300, ("Float32", [0.01, 0.02])),
    "bool + 300": (lambda: t([True], ms.bool_) + 300, ("Int64", [301])),
    # NumPy's numbers count as Python's.
    "float32 + np.float64": (lambda: t([1.0]) + np.float64(1), ("Float32", [2.0])),
    "int32 * np.float64": (lambda: t([1, 2], ms.int32) * np.float64(2), ("Float32", [2.0, 4.0])),
    "int32 * np.int64": (lambda: t([1, 2], ms.int32) * np.int64(2), ("Int32", [2, 4])),
    "float16 * np.float64": (lambda: t([1.0], ms.float16) * np.float64(2), ("Float16", [2.0])),
    # One element, or none, and no axes.
    "unique_consecutive": (lambda: ops.unique_consecutive(t([3], ms.int32)), ("Int32", [3])),
    "unique_consecutive all": (
        lambda: ops.unique_consecutive(t([3.0]), True, True),
        [("Float32", [3.0]), ("Int64", [0]), ("Int64", [1])],
    ),
    "unique_consecutive dim": (
        lambda: ops.unique_consecutive(t([[3.0]]), True, True, 1),
        [("Float32", [[3.0]]), ("Int64", [0]), ("Int64", [1])],
    ),
    "unique_consecutive 0-d": (
        lambda: ops.unique_consecutive(t(3.0), True, True),
        [("Float32", [3.0]), ("Int64", 0), ("Int64", [1])],
    ),
    "unique_consecutive empty": (lambda: mint.unique_consecutive(t([])), ("Float32", [])),
    "mint.squeeze": (lambda: (mint.squeeze(t(3.0), 0), mint.squeeze(t(3.0), -1)), [("Float32", 3.0)] * 2),
    "mint.swapaxes": (lambda: mint.swapaxes(t(3.0), 0, -1), ("Float32", 3.0)),
    "mint.transpose": (lambda: mint.transpose(t(3.0), 0, 0), ("Float32", 3.0)),
    "mint.softmax": (lambda: mint.softmax(t(3.0), 0), ("Float32", 1.0)),
    "functional.softmax": (lambda: F.softmax(t(3.0), 0), ("Float32", 1.0)),
    "linear": (lambda: F.linear(t([[1.0, 2], [3, 4]]), ROW), ("Float32", [5.0, 11.0])),
    "linear 1-d": (lambda: F.linear(ROW, ROW), ("Float32", 5.0)),
    "linear bias": (lambda: F.linear(t([[1.0, 2], [3, 4]]), ROW, t(1.0)), ("Float32", [6.0, 12.0])),
    "linear row": (lambda: F.linear(ROW, t([[1.0, 2], [3, 4]])), ("Float32", [5.0, 11.0])),
    "nan_to_num float16": (
        lambda: ops.nan_to_num(t([NAN, INF, -INF], ms.float16)),
        ("Float16", [0.0, 65504.0, -65504.0]),
    ),
    "tile": (lambda: ROW.tile(1, 3), ("Float32", [[1.0, 2, 1, 2, 1, 2]])),
    "tile rows": (lambda: ROW.tile(2, 1), ("Float32", [[1.0, 2], [1, 2]])),
    "tile int": (lambda: ROW.tile(2), ("Float32", [1.0, 2, 1, 2])),
    "tile dims": (lambda: (ROW.tile(dims=(2,)), ROW.tile(reps=(2,))), [("Float32", [1.0, 2, 1, 2])] * 2),
    # Padding, negative amounts, and its gradients.
    "pad -1, 1": (lambda: ops.pad(LINE, (-1, 1)), ("Float32", [[[1.0, 2, 0], [4, 5, 0]]])),
    "pad value": (lambda: ops.pad(LINE, (1, -1), "constant", 5.0), ("Float32", [[[5.0, 0, 1], [5, 3, 4]]])),
    "pad int": (lambda: ops.pad(t([1, 2, 3], ms.int32), (-1, 1), value=7), ("Int32", [2, 3, 7])),
    "pad reflect": (lambda: ops.pad(LINE, (-1, 1), "reflect"), ("Float32", [[[1.0, 2, 1], [4, 5, 4]]])),
    "pad replicate": (lambda: ops.pad(LINE, (-1, 1), "replicate"), ("Float32", [[[1.0, 2, 2], [4, 5, 5]]])),
    "pad circular": (lambda: ops.pad(LINE, (-1, 1), "circular"), ("Float32", [[[1.0, 2, 1], [4, 5, 4]]])),
    "slope reflect": (lambda: padded(LINE, "reflect", 1, 2), ("Float32", [[[8.0, 9, 4], [20, 27, 10]]])),
    "slope replicate": (lambda: padded(LINE, "replicate", 1, 2), ("Float32", [[[3.0, 3, 15], [15, 9, 33]]])),
    "slope circular": (lambda: padded(LINE, "circular", 1, 2), ("Float32", [[[7.0, 9, 5], [19, 21, 17]]])),
    "slope reflect plane": (
        lambda: padded(PLANE, "reflect", 1, 2, 1, 1),
        ("Float32", [[[[20.0, 27, 10], [96, 135, 48], [44, 63, 22]]]]),
    ),
    "slope replicate plane": (
        lambda: padded(PLANE, "replicate", 1, 2, 0, 1),
        ("Float32", [[[[3.0, 3, 15], [15, 9, 33], [66, 36, 120]]]]),
    ),
    "slope circular plane": (
        lambda: padded(PLANE, "circular", 1, 2, 0, 1),
        ("Float32", [[[[50.0, 54, 46], [19, 21, 17], [31, 33, 29]]]]),
    ),
    "slope negative": (lambda: padded(LINE, "constant", -1, 1, 0, -1), ("Float32", [[[0.0, 1, 2], [0, 0, 0]]])),
    # NaN.
    "sign": (lambda: (ops.sign(BESIDE), mint.sign(BESIDE)), [("Float32", [1.0, 0, 0, 1])] * 2),
    "Sign": (lambda: (ops.Sign()(-BESIDE), (-BESIDE).sign()), [("Float32", [-1.0, 0, 0, -1])] * 2),
    "sign int": (lambda: ops.sign(t([1, -2], ms.int32)), ("Int32", [1, -1])),
    "slope abs": (lambda: sloped(ops.abs, t([NAN, 1.0, -2.0])), ("Float32", [0.0, 1.0, -1.0])),
    "slope maximum": (lambda: sloped(ops.maximum, HALVES, BESIDE), [("Float32", [1.0, 1, 1, 0.5])] * 2),
    "slope minimum": (lambda: sloped(ops.minimum, HALVES, BESIDE), [("Float32", [1.0, 1, 1, 0.5])] * 2),
    "slope fmax": (
        lambda: sloped(ops.fmax, HALVES, BESIDE),
        [("Float32", [0.0, 1, 1, 1]), ("Float32", [1.0, 0, 0, 0])],
    ),
    "slope max": (lambda: sloped(lambda x: ops.max(x)[0], t([NAN, 1.0])), ("Float32", [1.0, 0.0])),
    "slope Tensor.max": (lambda: sloped(lambda x: x.max(), t([NAN, 1.0])), ("Float32", [1.0, 0.0])),
    # An index for each row.
    "gather": (lambda: ops.gather(TABLE, t([1, 0, 2], ms.int32), 1, 1), ("Float32", [1.0, 4, 10])),
    "Gather": (lambda: ops.Gather(1)(TABLE, t([1, 0, 2], ms.int32), 1), ("Float32", [1.0, 4, 10])),
    "slope gather": (
        lambda: sloped(lambda x: ops.gather(x, t([1, 0, 2], ms.int32), 1, 1) * t([1.0, 2, 3]), TABLE),
        ("Float32", [[0.0, 1, 0, 0], [2, 0, 0, 0], [0, 0, 3, 0]]),
    ),
    # Powers of integers are integers.
    "pow -1": (lambda: ops.pow(t([1, 2, -1], ms.int32), t([-1, -1, -1], ms.int32)), ("Int32", [1, 0, -1])),
    "int32 ** -1": (lambda: t([1, 2], ms.int32) ** -1, ("Int32", [1, 0])),
    "int8 ** -2": (lambda: i8(1, 2) ** -2, ("Int8", [1, 0])),
    "2 ** int32": (lambda: mint.pow(2, t([-1, 2], ms.int32)), ("Int32", [0, 4])),
    # Far from 0 hardly anything is left of 1 - erf(x), but it is there.
    "erfc": (lambda: ops.erfc(t([5.0])), ("Float32", [1.5374598503112793e-12])),
    "mint.erfc": (lambda: mint.erfc(t([5.0], ms.float64)), ("Float64", [1.5374597944280347e-12])),
    "slope erfc": (lambda: sloped(ops.erfc, t([5.0])), ("Float32", [-1.5670767e-11])),
    # Names of arguments.
    "remainder": (lambda: ROW.remainder(divisor=2), ("Float32", [1.0, 0.0])),
    "ones": (lambda: ops.ones(shape=(2,)), ("Float32", [1.0, 1.0])),
    "unsqueeze": (lambda: (ops.unsqueeze(ROW, dim=0), ROW.unsqueeze(dim=0)), [("Float32", [[1.0, 2.0]])] * 2),
    "swapdims": (
        lambda: (ops.swapdims(t([[1.0, 2]]), dim0=0, dim1=1), t([[1.0, 2]]).swapdims(dim0=0, dim1=1)),
        [("Float32", [[1.0], [2.0]])] * 2,
    ),
    "max": (lambda: ops.max(t([[1.0, 2]]), axis=1, initial=5.0), [("Float32", [5.0]), ("Int64", [0])]),
    # dtypes by NumPy's and Python's names, where MindSpore takes them.
    "astype": (lambda: (ROW.astype(np.float16), ROW.astype("float16")), [("Float16", [1.0, 2.0])] * 2),
    "astype float": (lambda: ROW.astype(float), ("Float64", [1.0, 2.0])),
    "astype int": (lambda: (ROW.astype(int), ROW.astype("int64")), [("Int64", [1, 2])] * 2),
    "cumsum": (lambda: ops.cumsum(ROW, 0, np.float32), ("Float32", [1.0, 3.0])),
    "numpy.zeros": (lambda: (ms.numpy.zeros(1, np.float32), ms.numpy.zeros(1, "float32")), [("Float32", [0.0])] * 2),
    "numpy.zeros int": (lambda: ms.numpy.zeros((2,), int), ("Int32", [0, 0])),
    # Images: the corners in their places, or centers, or the first element in its place.
    "bilinear": (
        lambda: ops.ResizeBilinearV2()(IMAGE, (6, 3)),
        (
            "Float32",
            [
                [
                    [
                        [0.0, 4 / 3, 8 / 3],
                        [8 / 3, 4, 16 / 3],
                        [16 / 3, 20 / 3, 8],
                        [8, 28 / 3, 32 / 3],
                        [32 / 3, 12, 40 / 3],
                        [12, 40 / 3, 44 / 3],
                    ]
                ]
            ],
        ),
    ),
    "nearest": (
        lambda: ops.ResizeNearestNeighbor((6, 3), align_corners=True)(IMAGE),
        ("Float32", [[[[0.0, 2, 3], [4, 6, 7], [4, 6, 7], [8, 10, 11], [8, 10, 11], [12, 14, 15]]]]),
    ),
    "nearest V2": (
        lambda: ops.ResizeNearestNeighborV2(align_corners=True)(IMAGE, (2, 3)),
        ("Float32", [[[[0.0, 2, 3], [12, 14, 15]]]]),
    ),
    "slope bilinear": (
        lambda: sloped(lambda x: ops.ResizeBilinearV2()(x, (6, 3)) ** 2, IMAGE)[0, 0, 0],
        ("Float32", [1.7777777, 3.5555556, 4.7407407, 5.925926]),
    ),
    "bincount": (lambda: ops.bincount(t([1, 2, 2], ms.int32)), ("Float32", [0.0, 1.0, 2.0])),
    "bincount weights": (
        lambda: t([1, 2], ms.int32).bincount(weights=t([1, 2], ms.int64), minlength=4),
        ("Float32", [0.0, 1.0, 2.0, 0.0]),
    ),
    "mint.bincount": (lambda: mint.bincount(t([0, 1, 1, 3], ms.int64)), ("Int64", [1, 2, 0, 1])),  # as documented
    "Flatten": (
        lambda: (ops.Flatten()(ROW), ops.Flatten()(CHANNELS)[:, :2]),
        [("Float32", [[1.0], [2.0]]), ("Float32", [[0.0, 1.0], [12.0, 13.0]])],
    ),
    # Membership.
    "in": (lambda: t([2 in ROW, 3 in ROW, t(1.0) in ROW, t([1.0, 5.0]) in ROW], ms.bool_), ("Bool", [1, 0, 1, 1])),
    "in rows": (lambda: t([1 in t([[1, 2], [3, 4]]), 1 in t(1.0)], ms.bool_), ("Bool", [True, True])),
    "in other": (lambda: t(["a" in ROW, None in ROW, [1.0] in ROW], ms.bool_), ("Bool", [False, False, False])),
    # Assignments give values, which later ones do not change.
    "assign": (lambda: ops.assign(variable(ms.float32, 1, 2), t([3, 4], ms.int32)), ("Float32", [3.0, 4.0])),
    "assign bool": (lambda: ops.assign(variable(ms.float32, 1, 2), t([1, 0], ms.bool_)), ("Float32", [1.0, 0.0])),
    "assign_add": (lambda: ops.assign_add(variable(ms.float32, 1, 2), ROW), ("Float32", [2.0, 4.0])),
    "assign_sub": (lambda: ops.assign_sub(variable(ms.int32, 1, 2), t([1, 1], ms.bool_)), ("Int32", [0, 1])),
    "assign_add one": (lambda: ops.assign_add(variable(ms.float32, 1), 7.0), ("Float32", [8.0])),
    "assign_add 0-d": (lambda: ops.assign_add(Parameter(t(1.0)), t([1.0])), ("Float32", 2.0)),
    "AssignAdd": (lambda: ops.AssignAdd()(Parameter(t(1.0)), 2), ("Float32", 3.0)),
    # Layers and losses.
    "CTCLoss": (lambda: scored(1, 1, 2), ("Float32", [3.81535, 3.6241])),
    "CTCLoss once": (lambda: scored(1, 1, 2, preprocess_collapse_repeated=True), ("Float32", [3.86144, 3.6241])),
    "CTCLoss apart": (lambda: scored(1, 2, 2, ctc_merge_repeated=False), ("Float32", [4.44455, 4.31421])),
    "CTCLoss both": (lambda: scored(1, 1, 2, ctc_merge_repeated=False), ("Float32", [4.19222, 4.31421])),
    "CTCLoss ends": (lambda: scored(1, 3, 2), ("Float32", [3.86144, 3.6241])),
    "CTCLoss slope": (
        lambda: ops.CTCLoss(ctc_merge_repeated=False)(SCORES, PLACES, t([1, 1, 2], ms.int32), STEPS)[1][1, 0],
        ("Float32", [0.32743165, -0.19237477, 0.27624258, -0.4112995]),
    ),
    "Conv1dTranspose": (
        lambda: nn.Conv1dTranspose(2, 1, 3, weight_init="ones", has_bias=True, bias_init="ones")(t(np.ones((1, 2, 4)))),
        ("Float32", [[[5.0, 7, 7, 5]]]),
    ),
    "Conv1dTranspose valid": (
        lambda: nn.Conv1dTranspose(2, 1, 3, stride=2, pad_mode="valid", weight_init="ones")(t(np.ones((1, 2, 4)))),
        ("Float32", [[[2.0, 2, 4, 2, 4, 2, 4, 2, 2]]]),
    ),
    "LayerNorm": (
        lambda: ops.LayerNorm(2, 1)(CHANNELS, t(np.arange(12).reshape(3, 4)), t(np.zeros((3, 4))))[0][0],
        (
            "Float32",
            [
                [0.0, -0.4472133, 0.8944266, 4.02492],
                [-5.36656, -2.2360666, 2.68328, 9.39148],
                [-10.73312, -4.02492, 4.472133, 14.75804],
            ],
        ),
    ),
    "LayerNorm -1, 1": (
        lambda: ops.LayerNorm(-1, 1)(CHANNELS, t(np.ones((3, 4))), t(np.ones((3, 4))))[0][1, 2],
        ("Float32", [-0.34164, 0.552787, 1.447213, 2.34164]),
    ),
    "LayerNorm 1, 2": (
        lambda: ops.LayerNorm(1, 2)(CHANNELS, t(np.arange(4)), t(np.zeros(4)))[0][0],
        (
            "Float32",
            [
                [0.0, -1.303561, -2.027762, -2.172602],
                [0.0, -0.14484, 0.28968, 1.303561],
                [0.0, 1.013881, 2.607122, 4.779723],
            ],
        ),
    ),
    "CumulativeLogsumexp": (
        lambda: ops.CumulativeLogsumexp(exclusive=True)(t([[1.0, 2, 3], [0, -1, 1]]), t(1, ms.int32)),
        ("Float32", [[LEAST, 1.0, 2.3132617], [LEAST, 0.0, 0.3132617]]),
    ),
    "CumulativeLogsumexp reverse": (
        lambda: ops.CumulativeLogsumexp(exclusive=True, reverse=True)(t([[1.0, 2, 3]]), t(1, ms.int32)),
        ("Float32", [[3.3132617, 3.0, LEAST]]),
    ),
    "SegmentMax": (
        lambda: ops.SegmentMax()(t([[1.0, 2], [-3, 4], [5, -6]]), t([0, 0, 2], ms.int32)),
        ("Float32", [[1.0, 4], [0, 0], [5, -6]]),
    ),
    "SegmentMin": (
        lambda: ops.SegmentMin()(t([[1.0, 2], [-3, 4], [5, -6]]), t([0, 0, 2], ms.int32)),
        ("Float32", [[-3.0, 2], [0, 0], [5, -6]]),
    ),
    "SegmentMin int": (lambda: ops.SegmentMin()(t([1, 2, 3], ms.int32), t([0, 0, 2], ms.int32)), ("Int32", [1, 0, 3])),
    "EmbeddingLookup": (
        lambda: nn.EmbeddingLookup(2, 2, param_init=t([[1.0, 2], [3, 4]]))(t([0, 2, -1], ms.int32)),
        ("Float32", [[1.0, 2], [0, 0], [0, 0]]),
    ),
    "vecdot": (
        lambda: ops.vecdot(t([[1 + 2j, 3 - 1j]], ms.complex64), t([[2 - 1j, 1j]], ms.complex64)),
        ("Complex64", [-1 - 2j]),
    ),
    "vecdot int": (lambda: ops.vecdot(t([[1, 2]], ms.int32), t([[1, 2]], ms.int32)), ("Int64", [5])),
    "matrix_solve": (
        lambda: ops.matrix_solve(t([[2 + 1j, 1], [0, 3 - 1j]], ms.complex64), t([[1 + 1j], [2]], ms.complex64), True),
        ("Complex64", [[0.2 + 0.6j], [0.48 - 0.36j]]),
    ),
    "contiguous": (
        lambda: sloped(lambda x: x.T.contiguous() ** 2, t([[1.0, 2], [3, 4]])),
        ("Float32", [[2.0, 4], [6, 8]]),
    ),
    "BatchNorm half": (
        lambda: nn.BatchNorm1d(2, gamma_init=t([2.0, 1]), beta_init=t([0.0, 1]))(t([[1.5, -2]], ms.float16)),
        ("Float16", [[3.0, -1.0]]),
    ),
    "GroupNorm half": (lambda: nn.GroupNorm(1, 2)(t([[[[1]], [[3]]]], ms.float16)), ("Float16", [[[[-1.0]], [[1.0]]]])),
    "PReLU half": (lambda: nn.PReLU()(t([[-2, 3]], ms.float16)), ("Float16", [[-0.5, 3.0]])),
    "LayerNorm half": (
        lambda: ops.LayerNorm(1, 1, 0.25)(t([[1, 3]], ms.float16), t([2.0, 4.0], ms.float16), t([1.0, 0], ms.float16)),
        [("Float16", [[-0.788854, 3.5777]]), ("Float32", [[2.0]]), ("Float32", [[1.0]])],
    ),
    "numpy.sign": (lambda: ms.numpy.sign(t([NAN, -2.0, 0.0])), ("Float32", [NAN, -1.0, 0.0])),
    "numpy.sign half": (lambda: ms.numpy.sign(t([NAN, 2.0], ms.float16)), ("Float16", [NAN, 1.0])),
    "slope hardswish": (lambda: sloped(ops.hardswish, t([NAN, 3.0, -3.0])), ("Float32", [NAN, 1.5, -0.5])),
    "slope HSwish half": (lambda: sloped(nn.HSwish(), t([NAN, -4.0], ms.float16)), ("Float16", [NAN, 0.0])),
    "ApplyFtrl": (
        lambda: ops.ApplyFtrl()(
            variable(ms.float32, 1, 2), variable(ms.float32, 1, 1), variable(ms.float32, 1, 1), ROW, 0.1, 0.0, 0.0, -0.5
        ),
        ("Float32", [0.15147182, 0.9714087]),
    ),
    "mint.add alpha": (lambda: mint.add(ROW, ROW, alpha=3), ("Float32", [4.0, 8.0])),
    "mint.sub alpha": (lambda: mint.sub(ROW, 2, alpha=3), ("Float32", [-5.0, -4.0])),
    "mint.pow bool": (lambda: mint.pow(t([True], ms.bool_), -1), ("Int64", [1])),
    "Precision": (lambda: t(evaluated(train.Precision(), RIGHT, [1, 0], average=True) == 1.0), ("Float32", 1.0)),
    "Recall": (lambda: t(evaluated(train.Recall(), RIGHT, [1, 0]) == 1.0), ("Float32", [1.0, 1.0])),
}


def assert_answer(result: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert isinstance(result, tuple) and len(result) == len(expected)
        for first, second in zip(result, expected, strict=True):
            assert_answer(first, second)
        return
    dtype, elements = expected
    assert isinstance(result, Tensor) and str(result.dtype) == dtype
    actual = result.asnumpy()
    assert actual.shape == np.shape(elements)
    np.testing.assert_allclose(actual, np.array(elements, actual.dtype), rtol=1e-5, atol=0)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_call_gives_what_mindspore_gives(name: str) -> None:
    call, expected = ANSWERS[name]
    assert_answer(call(), expected)


# The call, and the error that MindSpore raises too.
REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "linear": (lambda: F.linear(ROW, ROW, t([1.0])), ValueError, "'bias' must have no axes where 'weight' has one"),
    "exp": (lambda: mint.exp([1.0, 2.0]), TypeError, "For 'exp', 'input' must be a Tensor, but got list"),  # type: ignore[arg-type]
    "exp number": (lambda: ops.exp(1.0), TypeError, "For 'exp', 'input' must be a Tensor, but got float"),  # type: ignore[arg-type]
    "isfinite": (lambda: ops.isfinite(np.ones(1)), TypeError, "'input' must be a Tensor, but got ndarray"),  # type: ignore[arg-type]
    "abs": (lambda: mint.abs([1.0]), TypeError, "For 'abs', 'input' must be a Tensor, but got list"),  # type: ignore[arg-type]
    "pow": (lambda: mint.pow(i8(1, 2), -1), RuntimeError, "integers have no power of -1"),
    "grad": (lambda: ms.grad(ops.exp, ()), RuntimeError, "'grad_position' must name an input at least"),
    "value_and_grad": (lambda: ms.value_and_grad(ops.exp, ()), RuntimeError, "'grad_position' must name an input"),
    "randint_like": (lambda: ops.randint_like(ROW, 0, 3), ValueError, "must be an integer dtype, but got Float32"),
    "Flatten": (lambda: nn.Flatten()(t(3.0)), ValueError, r"For 'Flatten', 'axis' must be in \[0, 0\), but got 1"),
    "Flatten vector": (lambda: nn.Flatten()(ROW), ValueError, "For 'Flatten', 'axis' must be in"),
    "mint.Flatten": (lambda: mint.nn.Flatten()(ROW), ValueError, "For 'flatten', 'axis' must be in"),
    "CTCLoss": (
        lambda: ops.CTCLoss()(SCORES, PLACES, t([1, 2, 2], ms.int32), t([1, 4], ms.int32)),
        RuntimeError,
        "sample 0 has 1 steps for 2 labels",
    ),
    "prefix": (lambda: nn.ReLU().update_parameters_name("a b"), ValueError, "'prefix' must have ASCII letters.* 'a b'"),
    "prefix $": (lambda: nn.ReLU().update_parameters_name("a$"), ValueError, "'prefix' must have ASCII letters"),
    "assign_add": (
        lambda: ops.assign_add(variable(ms.float32, 1, 2), t([1.0])),
        ValueError,
        r"For 'assign_add', 'value' must have the shape \(2,\), but got \(1,\)",
    ),
    "assign_add number": (lambda: ops.assign_add(variable(ms.float32, 1, 2), 1.0), ValueError, r"\(2,\), but got \(\)"),
    "assign_sub": (lambda: ops.assign_sub(variable(ms.float32, 1, 2), t([1.0, 2, 3])), ValueError, r"got \(3,\)"),
    "assign": (lambda: ops.assign(variable(ms.float32, 1, 2), 1.0), ValueError, "For 'assign', 'value' must have"),
    "assign wide": (
        lambda: ops.assign(variable(ms.float32, 1, 2), t([1, 2], ms.float64)),
        TypeError,
        "'value' must have a dtype that fits into Float32, but got Float64",
    ),
    "assign_add wide": (
        lambda: ops.assign_add(variable(ms.int32, 1, 2), ROW),
        TypeError,
        "fits into Int32, but got Float32",
    ),
    "assign array": (
        lambda: ops.assign(variable(ms.float32, 1, 2), np.ones(2)),  # type: ignore[arg-type]
        TypeError,
        "'value' must be a Tensor or a number, but got ndarray",
    ),
    "Embedding": (lambda: nn.Embedding(3, 2)(t([0, 3], ms.int32)), RuntimeError, "indices must be in"),
    "SegmentMax": (lambda: ops.SegmentMax()(ROW, t([1, 0], ms.int32)), ValueError, "'segment_ids' must not decrease"),
    "clamp": (lambda: ops.clamp(t([True], ms.bool_), 0, 1), ValueError, "must be numbers, but got bools"),
    "mint.clamp": (lambda: mint.clamp(t([1.0]), False, 1), ValueError, "must be numbers, but got bools"),
    "zeros": (lambda: ops.zeros((2,), np.float32), TypeError, "'dtype' must be a MindSpore dtype"),
    "mint.ones": (lambda: mint.ones((2,), dtype=np.float32), TypeError, "'dtype' must be a MindSpore dtype"),
    "Tensor": (lambda: Tensor([1.0], np.float32), TypeError, "mindspore.float32, but got <class 'numpy.float32'>"),
    "Tensor str": (lambda: Tensor([1.0], "float32"), TypeError, "'dtype' must be a MindSpore dtype .* got 'float32'"),
    "Tensor float": (lambda: Tensor([1.0], float), TypeError, "'dtype' must be a MindSpore dtype"),
    "cast": (lambda: ops.cast(ROW, np.float16), TypeError, "'dtype' must be a MindSpore dtype"),
    "full dtype": (lambda: ops.full((2,), 1, dtype=np.float32), TypeError, "'dtype' must be a MindSpore dtype"),
    "sum": (lambda: ROW.sum(dtype=np.float32), TypeError, "'dtype' must be a MindSpore dtype"),
    "to": (lambda: ROW.to(np.float16), TypeError, "'dtype' must be a MindSpore dtype"),
    "Dense": (lambda: nn.Dense(2, 2, dtype=np.float32), TypeError, "'dtype' must be a MindSpore dtype"),  # type: ignore[arg-type]
    "no parameters": (lambda: nn.Adam([]), ValueError, "For 'Adam'"),
    "no parameters SGD": (lambda: nn.SGD([], 0.1), ValueError, "For 'SGD'"),
    "no parameters mint": (lambda: mint.optim.Adam([]), ValueError, "For 'Adam'"),
    "None SGD": (lambda: nn.SGD(None, 0.1), ValueError, "For 'SGD', the parameters must be a list"),  # type: ignore[arg-type]
    "LayerNorm": (
        lambda: ops.LayerNorm(2, 1)(CHANNELS, t(np.arange(4)), t(np.zeros(4))),
        ValueError,
        r"'gamma' must have the shape \(3, 4\), but got \(4,\)",
    ),
    "dense": (lambda: ops.dense(ROW, t([[[1.0, 2.0]]])), ValueError, "'weight' must have 1 or 2 axes, but got shape"),
    "linear 0-d": (lambda: F.linear(ROW, t(2.0)), ValueError, "'weight' must have 1 or 2 axes, but got shape"),
    "logcumsumexp": (lambda: ops.logcumsumexp(t(4.0), 0), ValueError, "'input' must have at least 1 axis"),
    "mint.add": (lambda: mint.add(ROW, [1.0, 2.0]), TypeError, "'other' must be a Tensor or a number, but got list"),  # type: ignore[arg-type]
    "mint.sub": (lambda: mint.sub([1.0], [2.0]), TypeError, "'input' must be a Tensor or a number, but got list"),  # type: ignore[arg-type]
    "mint.mean": (lambda: mint.mean(ROW, dtype=np.float32), TypeError, "'dtype' must be a MindSpore dtype"),  # type: ignore[arg-type]
    "topk": (lambda: ops.topk(ROW, 1.5), TypeError, "For 'topk', 'k' must be an int, but got 1.5"),  # type: ignore[arg-type]
    "astype None": (lambda: ROW.astype(None), TypeError, "must be a MindSpore dtype .* but got None"),  # type: ignore[arg-type]
    "nll_loss": (lambda: ops.nll_loss(TABLE, t([0.0, 1, 1])), TypeError, "class numbers in 'target' must be integers"),
    "softmax loss": (lambda: nn.SoftmaxCrossEntropyWithLogits(1), TypeError, "'sparse' must be a bool, but got int"),  # type: ignore[arg-type]
    "Symbol": (lambda: ms.Symbol(divisor=0), ValueError, "For 'Symbol', 'divisor' must be above 0, but got 0"),
    "Symbol min": (lambda: ms.Symbol(min=0), ValueError, "For 'Symbol', 'min' must be above 0, but got 0"),
    "Symbol rest": (lambda: ms.Symbol(divisor=3, remainder=3), ValueError, r"must be in \[0, 3\), but got 3"),
    "Symbol rest below": (lambda: ms.Symbol(divisor=3, remainder=-1), ValueError, r"must be in \[0, 3\), but got -1"),
    "resize": (
        lambda: ops.ResizeBilinearV2(True, True)(IMAGE, (2, 2)),
        ValueError,
        "'half_pixel_centers' must be False with",
    ),
    "Adam": (
        lambda: nn.Adam([ms.Parameter(1.0, "p")], use_amsgrad=True, use_lazy=True),
        ValueError,
        "'use_amsgrad' cannot be set with 'use_lazy' or 'use_offload'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_is_refused_where_mindspore_refuses_it(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        call()


def test_the_largest_bfloat16_stands_for_infinity() -> None:
    # By its definition; MindSpore has no kernel on a CPU. 0x7f7f is the largest number, (2 - 2**-7) * 2**127.
    result = ops.nan_to_num(t([NAN, INF, -INF, 1.5], ms.bfloat16))
    assert result.dtype is ms.bfloat16
    largest = (2 - 2**-7) * 2.0**127
    assert result.float().asnumpy().tolist() == [0.0, largest, -largest, 1.5]


def test_mints_indices_are_int64_as_its_documentation_says() -> None:
    # On a CPU MindSpore has no kernels for most of these.
    x = t([3.0, 1.0, 2.0])
    result = (
        mint.sort(x)[1],
        mint.argsort(x),
        mint.topk(x, 2)[1],
        mint.argmax(x),
        mint.argmin(x),
        mint.max(x, 0)[1],
        mint.min(x, 0)[1],
        mint.median(x, 0)[1],
        mint.cummax(x, 0)[1],
        mint.cummin(x, 0)[1],
        mint.nonzero(x),
        mint.searchsorted(x, x),
    )
    assert {str(item.dtype) for item in result} == {"Int64"}
    expected = [[1, 2, 0], [1, 2, 0], [0, 2], 0, 1, 0, 1, 2, [0, 0, 0], [0, 1, 1], [[0], [1], [2]]]
    assert [item.tolist() for item in result[:-1]] == expected


def test_mints_dot_is_the_sum_of_products() -> None:
    assert mint.dot(t([1, 2], ms.int32), t([3, 4], ms.int32)).tolist() == 11
    with pytest.raises(ValueError, match=r"both must have one axis, but got shapes \(1, 2\) and \(2,\)"):
        mint.dot(t([[1.0, 2.0]]), t([3.0, 4.0]))


def test_the_dtypes_of_drawn_numbers() -> None:
    result = (
        ops.randn_like(t([1, 2], ms.int32)),
        ops.randn_like(t([1, 2], ms.float16)),
        ops.rand_like(t([1, 2], ms.float16)),
        ops.randint_like(i8(1, 2), 0, 3),
        ops.multinomial(ROW, 2),
        ops.multinomial(ROW, 2, False),
        ROW.multinomial(2),
        mint.multinomial(ROW, 2),
    )
    expected = ["Float32", "Float32", "Float16", "Int8", "Int32", "Int32", "Int32", "Int64"]
    assert [str(item.dtype) for item in result] == expected


def test_what_an_assignment_gave_stays_when_another_one_comes() -> None:
    parameter = variable(ms.float32, 1, 2)
    first = ops.assign(parameter, t([7.0, 8.0]))
    ops.assign_add(parameter, t([1.0, 1.0]))
    assert (first.tolist(), parameter.tolist()) == ([7.0, 8.0], [8.0, 9.0])
    assert type(first) is Tensor and str(first) == "[7. 8.]"


def test_operators_that_apply_updates_give_values_that_print() -> None:
    parameter, moment = variable(ms.float32, 1, 2), variable(ms.float32, 1, 2)
    result = ops.ApplyMomentum()(parameter, moment, 0.5, t([1.0, 1.0]), 0.5)
    assert type(result) is Tensor and str(result) == "[0.25 1.  ]"
    both = ops.ApplyAdagrad()(parameter, moment, 0.5, t([0.0, 0.0]))
    assert [type(item) for item in both] == [Tensor, Tensor]


@pytest.mark.parametrize("batch", [0, 1])
def test_indices_of_an_embedding_that_are_not_there_get_no_gradient(batch: int) -> None:
    layer = nn.EmbeddingLookup(3, 2, param_init="ones")
    indices = t([[0, 5, -1], [0, 2, 3]], ms.int32)[batch]
    (slope,) = ms.grad(lambda: layer(indices).sum(), None, [layer.embedding_table])()
    assert slope.asnumpy()[:, 0].tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 1.0]][batch]


def test_a_primitive_has_its_attributes_at_hand() -> None:
    # As recorded from MindSpore 2.10.
    class Mine(ops.PrimitiveWithInfer):
        @ops.prim_attr_register
        def __init__(self, k: int = 3) -> None:
            self.init_prim_io_names(inputs=["x"], outputs=["y"])

    assert Mine(4).attrs == {"k": 4, "input_names": ["x"], "output_names": ["y"]}  # type: ignore[call-arg]
    assert ops.ReduceSum(True).attrs["keep_dims"] is True and ops.Concat(1).attrs == {"axis": 1}
    added = ops.Add()
    assert added.attrs == {} and added.add_prim_attr("a", 1) is added
    assert (added.a, added.attrs) == (1, {"a": 1})  # type: ignore[attr-defined]
    assert added.del_prim_attr("a") is added and added.del_prim_attr("b") is added
    assert added.attrs == {} and not hasattr(added, "a")
    with pytest.raises(TypeError, match="For 'Add', 'name' must be a str, but got int"):
        added.add_prim_attr(1, 1)  # type: ignore[arg-type]
