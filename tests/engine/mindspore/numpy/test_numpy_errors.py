"""Errors of ``mindspore.numpy``: the class is MindSpore's unless a row says otherwise; the text is ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine.numpy as mnp
from hookscope.engine import Tensor

F = Tensor(np.array([[0.1, 0.5, -0.7], [0.9, -0.3, 0.2]], np.float32))
V, W = Tensor(np.array([0.5, 2, -1, 3], np.float32)), Tensor(np.array([2, 0, 1, 2], np.int32))

REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    ("correlate", lambda: mnp.correlate(F, V), ValueError, "'a' must be a vector of one element at least, but"),
    ("correlate mode", lambda: mnp.correlate(V, V, "x"), ValueError, "'mode' must be .*, but got 'x'"),
    ("convolve", lambda: mnp.convolve([], [1.0]), ValueError, "'a' must be a vector of one element at least"),
    ("pad", lambda: mnp.pad(V, 1, "x"), ValueError, "'mode' must be .*, but got 'x'"),
    ("pad reflect_type", lambda: mnp.pad(V, 1, "reflect", reflect_type="x"), ValueError, "'reflect_type' must be"),
    ("pad widths", lambda: mnp.pad(F, ((1, 1),) * 3), ValueError, "a pair for each of 2 axes, but got"),
    # MindSpore pads nothing.
    ("pad negative", lambda: mnp.pad(V, -1), ValueError, "'pad_width' must not be negative, but got -1"),
    ("pad nothing", lambda: mnp.pad(mnp.zeros((0,)), 1, "edge"), ValueError, "axis 0 must have elements"),
    # There is a NotImplementedError for "raise" there.
    ("choose mode", lambda: mnp.choose(W, (V, V, V), "raise"), ValueError, "'mode' must be .*, but got 'raise'"),
    ("choose", lambda: mnp.choose(V, (V, V)), TypeError, "'a' must be integers, but got Float32"),
    ("unravel_index", lambda: mnp.unravel_index(1, (2, 2), "K"), ValueError, "'order' must be"),
    ("ravel_multi_index", lambda: mnp.ravel_multi_index((W, W), (2, 2, 2)), ValueError, "the 3 entries of 'dims'"),
    ("select", lambda: mnp.select([V > 0], [V, V]), ValueError, "but got 2 for 1"),
    ("piecewise", lambda: mnp.piecewise(V, [V > 0], [1, 2, 3]), ValueError, "but got 3 for 1"),
    ("bartlett", lambda: mnp.bartlett(2.5), TypeError, "'M' must be an int, but got float"),  # type: ignore[arg-type]
    ("diag_indices", lambda: mnp.diag_indices(2.5), TypeError, "'n' must be an int"),  # type: ignore[arg-type]
    ("tril_indices_from", lambda: mnp.tril_indices_from(V), ValueError, "'arr' must be a matrix"),
    ("digitize", lambda: mnp.digitize(V, F), ValueError, "'bins' must be a vector that rises or falls"),
    ("searchsorted", lambda: mnp.searchsorted(V, V, "x"), ValueError, "'side' must be"),
    ("searchsorted a", lambda: mnp.searchsorted(F, V), ValueError, "'a' must be a vector"),
    ("bincount", lambda: mnp.bincount(W, V[:2]), ValueError, "'weights' must have the shape"),
    ("bincount x", lambda: mnp.bincount(V), TypeError, "integers"),
    ("interp", lambda: mnp.interp(V, V, V[:2]), ValueError, "'xp' and 'fp' must be vectors of one length"),
    ("gradient edge", lambda: mnp.gradient(V, edge_order=2), NotImplementedError, "'edge_order' must be 1"),
    ("gradient distances", lambda: mnp.gradient(V, V), NotImplementedError, "must be numbers"),  # type: ignore[arg-type]
    ("gradient axis", lambda: mnp.gradient(V, axis=3), ValueError, "axis"),
    ("gradient count", lambda: mnp.gradient(F, 1.0, 2.0, 3.0), TypeError, "1 distance or 2, but got 3"),
    ("gradient points", lambda: mnp.gradient(V[:1]), ValueError, "2 points at least"),
    ("polyder", lambda: mnp.polyder(V, -1), ValueError, "'m' must"),
    ("polyint", lambda: mnp.polyint(V, -1), ValueError, "'m' must"),
    # MindSpore ignores the third.
    ("polyint constants", lambda: mnp.polyint(V, 2, (1, 2, 3)), ValueError, "'k' must hold 1 or 2 constants, but got"),
    ("polyadd", lambda: mnp.polyadd(F, V), ValueError, "'a1' must have one axis, but got shape"),
    ("polyval", lambda: mnp.polyval(F, V), ValueError, "'p' must have one axis"),
    ("multi_dot one", lambda: mnp.multi_dot([F]), ValueError, "2 matrices at least, but got 1"),
    ("multi_dot", lambda: mnp.multi_dot([F, F, F]), ValueError, "must fit each other"),
    ("roll", lambda: mnp.roll(F, 1, 5), ValueError, "axis"),
    ("roll lengths", lambda: mnp.roll(F, (1, 2, 3), (0, 1)), ValueError, "one length"),
    ("rollaxis", lambda: mnp.rollaxis(F, 5), ValueError, "axis"),
    ("rollaxis start", lambda: mnp.rollaxis(F, 0, 5), ValueError, "'start' must be in"),
    ("expand_dims", lambda: mnp.expand_dims(F, 7), ValueError, "axis"),
    ("expand_dims twice", lambda: mnp.expand_dims(F, (0, 0)), ValueError, "each axis once"),
    ("hsplit", lambda: mnp.hsplit(F, 2), ValueError, "must divide the length 3"),
    ("dsplit", lambda: mnp.dsplit(F, 1), ValueError, "3 axes at least"),
    ("broadcast_arrays", lambda: mnp.broadcast_arrays(V, F), ValueError, "shapes must broadcast"),
    ("append", lambda: mnp.append(F, V, 0), ValueError, "do not fit"),
    ("take_along_axis", lambda: mnp.take_along_axis(F, W, 0), ValueError, "as many axes as 'arr'"),
    ("take_along_axis places", lambda: mnp.take_along_axis(V, V, 0), TypeError, "'indices' must be integers"),
    ("apply_along_axis", lambda: mnp.apply_along_axis(lambda x: x, 7, F), ValueError, "axis"),
    ("apply_over_axes", lambda: mnp.apply_over_axes(mnp.sum, F, 7), ValueError, "axis"),
    ("ix_", lambda: mnp.ix_(F), ValueError, "must have one axis"),
    ("mgrid", lambda: mnp.mgrid[5], TypeError, "must be slices"),  # type: ignore[index]
    ("promote_types", lambda: mnp.promote_types("x", "float32"), TypeError, "'dtype' must be a MindSpore dtype"),
    # An IndexError there.
    ("result_type", lambda: mnp.result_type(), ValueError, "at least one"),
    ("histogramdd", lambda: mnp.histogramdd(V, 2), ValueError, "'sample' must be a matrix"),
    ("histogramdd bins", lambda: mnp.histogramdd(F, (2, 3)), ValueError, "an entry for each of 3 coordinates"),
    ("histogram2d", lambda: mnp.histogram2d(V, V[:2]), ValueError, "vectors of one length"),
    # MindSpore returns them.
    ("histogram_bin_edges", lambda: mnp.histogram_bin_edges(V, [3, 1]), ValueError, "'bins' must rise"),
    ("unwrap", lambda: mnp.unwrap(V, axis=4), ValueError, "axis"),
    ("corrcoef", lambda: mnp.corrcoef(mnp.ones((2, 2, 2))), ValueError, "at most 2 axes"),
    ("sometrue", lambda: mnp.sometrue(V, 3), ValueError, "axis"),
    ("cumprod", lambda: mnp.cumprod(V, 3), ValueError, "axis"),
    ("exp", lambda: mnp.exp("a"), TypeError, "must be a Tensor"),
    ("less", lambda: mnp.less(V, "a"), TypeError, "must be a Tensor or a number, but got str"),
    ("isclose", lambda: mnp.isclose(V, "a"), TypeError, "must be a Tensor"),
    ("array_equal", lambda: mnp.array_equal("a", V), TypeError, "but got str"),  # type: ignore[arg-type]
    ("in1d", lambda: mnp.in1d("a", V), TypeError, "but got str"),  # type: ignore[arg-type]
    ("full_like", lambda: mnp.full_like(F, "a"), TypeError, "but got str"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "kind", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_does_not_fit_is_an_error_that_says_what(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as error:
        call()
    assert "'" in str(error.value)  # it names the function or the argument
