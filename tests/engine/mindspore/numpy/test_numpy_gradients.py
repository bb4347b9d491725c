"""Gradients pass through ``mindspore.numpy`` where they do in MindSpore: against central differences in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.numpy as mnp
from hookscope.engine import Tensor

V = np.array([0.5, 2.0, -1.0, 3.0])
M = np.array([[0.1, 0.5, -0.7], [0.9, -0.3, 0.2], [1.2, 0.8, -0.4]])
K, W = Tensor(np.array([0.25, 1.0, 2.5, 4.0])), Tensor(np.array([2, 0, 1, 2], np.int32))
BIG = ms.float64

# A call of a vector, or of a matrix where its name is M.
OF_A_VECTOR: dict[str, Callable[[Tensor], Any]] = {
    "cbrt": mnp.cbrt,
    "exp2": mnp.exp2,
    "log10": lambda x: mnp.log10(x * x),
    "arctan2": lambda x: mnp.arctan2(x, K),
    "divmod": lambda x: mnp.divmod(x, K + 0.1)[1],
    "copysign": lambda x: mnp.copysign(x, -K),
    "square": mnp.square,
    "logaddexp": lambda x: mnp.logaddexp(x, K),
    "logaddexp2": lambda x: mnp.logaddexp2(x, K),
    "fmod": lambda x: mnp.fmod(x, K + 0.1),
    "float_power": lambda x: mnp.float_power(x * x, K),
    "maximum": lambda x: mnp.maximum(x, 1.5),
    "hypot": lambda x: mnp.hypot(x, 2),
    "correlate": lambda x: mnp.correlate(x, K, "same"),
    "correlate by v": lambda x: mnp.correlate(K, x[:3], "full"),
    "correlate of a shorter": lambda x: mnp.correlate(x[:2], K * x, "full"),
    "convolve": lambda x: mnp.convolve(x, K * x, "same"),
    "outer": lambda x: mnp.outer(x, K * x),
    "inner": lambda x: mnp.inner(x, x),
    "kron": lambda x: mnp.kron(x, K * x),
    "bincount": lambda x: mnp.bincount(W, x),
    "histogram": lambda x: mnp.histogram(K, 3, weights=x)[0],
    "histogram as a density": lambda x: mnp.histogram(K, 3, weights=x, density=True)[0],
    "histogram2d": lambda x: mnp.histogram2d(K, K * K, 3, weights=x)[0],
    "unwrap": lambda x: mnp.unwrap(x * 4),
    "gradient": mnp.gradient,
    "trapz": mnp.trapz,
    "trapz by x": lambda x: mnp.trapz(K, x),
    "ediff1d": lambda x: mnp.ediff1d(x, x[0], K),
    "interp by fp": lambda x: mnp.interp(K - 0.1, K, x),
    "interp by x": lambda x: mnp.interp(x, K, K * K),
    "interp by xp": lambda x: mnp.interp(K * 0.3, mnp.cumsum(x * x), K),
    "nanvar": mnp.nanvar,
    "nanstd": lambda x: mnp.nanstd(x, ddof=1),
    "cumprod": mnp.cumprod,
    "nancumsum": mnp.nancumsum,
    "pad with its edge": lambda x: mnp.pad(x, 2, "edge"),
    "pad with its extreme": lambda x: mnp.pad(x, 2, "maximum", stat_length=2),
    "pad with its mean": lambda x: mnp.pad(x, 2, "mean"),
    "pad by a ramp": lambda x: mnp.pad(x, 2, "linear_ramp"),
    "pad reflected": lambda x: mnp.pad(x, 5, "reflect", reflect_type="odd"),
    "pad wrapped": lambda x: mnp.pad(x, 6, "wrap"),
    "pad with constants": lambda x: mnp.pad(x, 2),
    "choose": lambda x: mnp.choose(W, (x, K, x * 2)),
    "select": lambda x: mnp.select([x > 1, x < 0], [x * x, x], 3),
    "piecewise": lambda x: mnp.piecewise(x, [x > 0, x <= 0], [lambda y: y * y, lambda y: -y]),
    "take_along_axis": lambda x: mnp.take_along_axis(x, W, 0),
    "setdiff1d": lambda x: mnp.setdiff1d(x, K),
    "intersect1d": lambda x: mnp.intersect1d(x, x * 1),
    "polyval": lambda x: mnp.polyval(x, K),
    "polyval by x": lambda x: mnp.polyval(K, x),
    "polyint": lambda x: mnp.polyint(x, 2, [1, 2]),
    "polyder": mnp.polyder,
    "polymul": lambda x: mnp.polymul(x, x),
    "polysub": lambda x: mnp.polysub(K[:2], x),
    "linspace": lambda x: mnp.linspace(x[0], x[1:3], 4, dtype=BIG),
    "diagflat": mnp.diagflat,
    "logspace": lambda x: mnp.logspace(x[0], x[1:3], 3, base=2.0, dtype=BIG),
    "geomspace": lambda x: mnp.geomspace(x[0], x[[1, 3]], 3, dtype=BIG),
    "full_like": lambda x: mnp.full_like(K, x[1]),
    "roll": lambda x: mnp.roll(x, 1),
    "tile": lambda x: mnp.tile(x, 2),
    "array_split": lambda x: mnp.array_split(x, 3),
    "append": lambda x: mnp.append(x, x * 2),
    "broadcast_arrays": lambda x: mnp.broadcast_arrays(x, mnp.zeros((2, 4))),
    "atleast_3d": mnp.atleast_3d,
    "expand_dims": lambda x: mnp.expand_dims(x, (0, 2)),
    "hsplit": lambda x: mnp.hsplit(x, 2),
}
OF_A_MATRIX: dict[str, Callable[[Tensor], Any]] = {
    "corrcoef": mnp.corrcoef,
    "trace": mnp.trace,
    "trace of another diagonal": lambda x: mnp.trace(x, 1),
    "multi_dot": lambda x: mnp.multi_dot([x, x, x]),
    "tril": mnp.tril,
    "triu": lambda x: mnp.triu(x, 1),
    "diagonal": lambda x: mnp.diagonal(x, -1),
    "apply_along_axis": lambda x: mnp.apply_along_axis(mnp.cumsum, 0, x),
    "apply_over_axes": lambda x: mnp.apply_over_axes(mnp.sum, x * x, (0, 1)),
    "rollaxis": lambda x: mnp.rollaxis(x, 1),
    "nanvar of columns": lambda x: mnp.nanvar(mnp.where(x > 1, mnp.nan, x), 0),
    "swapaxes": lambda x: mnp.swapaxes(x, 0, 1),
    "gradient of both": lambda x: mnp.gradient(x * x),
    "squeeze": lambda x: mnp.squeeze(x[None]),
    "ravel": mnp.ravel,
    "pad by a function": lambda x: mnp.pad(x, 1, lambda v, widths, axis, options: v * options["by"], by=3),
}


def total(answer: Any) -> Tensor:
    """Return one number that every element of the answer has its own part in."""
    parts = answer if isinstance(answer, tuple | list) else [answer]
    sums = []
    for part in parts:
        flat = part.astype(BIG).reshape(-1)
        weights = Tensor(np.cos(np.arange(flat.size, dtype=np.float64) + len(sums)))
        sums.append((flat * weights).sum())
    result = sums[0]
    for item in sums[1:]:
        result = result + item
    return result


@pytest.mark.parametrize(
    ("function", "at"),
    [*((f, V) for f in OF_A_VECTOR.values()), *((f, M) for f in OF_A_MATRIX.values())],
    ids=[*OF_A_VECTOR, *OF_A_MATRIX],
)
def test_the_gradient_is_that_of_central_differences(function: Callable[[Tensor], Any], at: Any) -> None:
    result = ms.grad(lambda x: total(function(x)))(Tensor(at)).asnumpy()
    expected, step = np.zeros_like(at), 1e-3
    for index in np.ndindex(at.shape):
        moved = [at.copy(), at.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        high, low = (float(total(function(Tensor(item)))) for item in moved)
        expected[index] = (high - low) / (2 * step)
    assert np.abs(result).sum() > 0
    np.testing.assert_allclose(result, expected, rtol=2e-3, atol=2e-3)


def test_the_gradient_of_the_cube_root_at_0_is_infinite() -> None:
    assert ms.grad(mnp.cbrt)(Tensor(np.array(0.0))).item() == np.inf
