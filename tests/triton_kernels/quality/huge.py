"""Calls with more than 2^31 elements in an array, a case for each kernel that can have one: nothing of them is run."""

from typing import Any

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16, INT64 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16), np.dtype(np.int64)
ROWS = 2**20 + 24


def case(operator: str, *inputs: Any, note: str = "", **attrs: Any) -> Case:
    return Case(operator, inputs, Bounds(1), attrs, note)


X, ROW = Array((ROWS, 4096), BFLOAT16), Array((4096,), BFLOAT16)
LONG, LONG_ROW = Array((2**16 + 8, 40000), BFLOAT16), Array((40000,), BFLOAT16)
TURNED = Array((4096, ROWS), BFLOAT16, (1, 4096))
SAVED, LONG_SAVED = Array((ROWS, 1), FLOAT32), Array((2**16 + 8, 1), FLOAT32)
LABELS, LOSSES = Array((ROWS,), INT64), Array((ROWS,), FLOAT32)
WEIGHT = Array((4096, 4096), BFLOAT16)
PLAIN = {"transpose_a": False, "transpose_b": False}
ADAM = {"lr_t": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "use_nesterov": False}

CASES = [
    case("neg", X),
    case("add", X, X),
    case("mul", X, ROW),
    case("mul", X, 0.5),
    case("sub", X, Array((ROWS, 4096), BFLOAT16, (1, ROWS)), note="turned"),
    *[case("softmax", x, axis=1) for x in (X, LONG)],
    case("softmax", TURNED, axis=0),
    *[case("softmax_grad", x, x, axis=1) for x in (X, LONG)],
    case("log_softmax", X, axis=0),
    case("layer_norm", X, ROW, ROW, begin_norm_axis=1, epsilon=1e-5),
    case("layer_norm", LONG, LONG_ROW, LONG_ROW, begin_norm_axis=1, epsilon=1e-5),
    case("layer_norm_grad", X, X, ROW, SAVED, SAVED, begin_norm_axis=1),
    case("layer_norm_grad", LONG, LONG, LONG_ROW, LONG_SAVED, LONG_SAVED, begin_norm_axis=1),
    case("sparse_softmax_cross_entropy", X, LABELS, ignore_index=-100),
    case("sparse_softmax_cross_entropy_grad", LOSSES, X, LABELS, LOSSES, ignore_index=-100),
    case("dropout", X, p=0.1, seed=2**40 + 1, offset=0),
    case("dropout_kept", X, p=0.1, seed=2**40 + 1, offset=0),
    case("adam", X, X, X, X, **ADAM),
    case("linear", X, WEIGHT, ROW, activation="gelu"),
    case("matmul", X, WEIGHT, **PLAIN),
    case("matmul", X, X, transpose_a=True, transpose_b=False),
    case("matmul", Array((2**16, 256, 256), BFLOAT16), Array((2**16, 256, 256), BFLOAT16), **PLAIN),
    case("matmul", Array((64, 2**27), BFLOAT16), Array((2**27, 64), BFLOAT16), **PLAIN),
    case("matmul", Array((64, 2**27 + 1), FLOAT32), Array((2**27 + 1, 64), FLOAT32), **PLAIN),
    case("matmul", Array((2**26, 64), BFLOAT16, (1, 2**26)), Array((64, 48), BFLOAT16), **PLAIN),
    *[case("sum", X, axis=axis, keepdims=False) for axis in ((0,), (1,), None)],
    *[case("mean", LONG, axis=axis, keepdims=False) for axis in ((0,), (1,))],
    case("rms_norm", X, ROW, epsilon=1e-5),
    case("rms_norm_grad", X, X, ROW, SAVED, epsilon=1e-5),
    case("rows_picked", X, LABELS),
]
