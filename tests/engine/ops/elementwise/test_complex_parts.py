"""Complex numbers are put together and taken apart as NumPy does it, infinite parts too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

R = np.random.default_rng(3)
X, Y = R.standard_normal((2, 3, 5)), R.standard_normal((3, 1))
Z = X + 1j * R.standard_normal((2, 3, 5))
SPECIAL = np.array([np.inf, -np.inf, np.nan, 2.0, -3.0, 0.0])


def check(result: Tensor, want: Any, single: bool = False) -> None:
    assert result.shape == want.shape
    assert result.asnumpy().dtype == (np.result_type(want, np.complex64) if np.iscomplexobj(want) else want.dtype)
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-5 if single else 1e-12, atol=1e-5 if single else 1e-12)


@pytest.mark.parametrize("single", [False, True])
def test_numbers_are_put_together_and_taken_apart(single: bool) -> None:
    x, y, z = (X.astype(np.float32), Y.astype(np.float32), Z.astype(np.complex64)) if single else (X, Y, Z)
    check(ops.complex(Tensor(x), Tensor(y)), x + 1j * y, single)
    check(ops.complex(Tensor(x.astype(np.float32)), Tensor(Y)), x.astype(np.float32) + 1j * Y)
    check(ops.polar(Tensor(abs(x)), Tensor(y)), abs(x) * np.exp(1j * y), single)
    check(ops.real(Tensor(z)), z.real, single)
    check(ops.imag(Tensor(z)), z.imag, single)
    check(ops.angle(Tensor(z)), np.angle(z), single)
    check(ops.conj(Tensor(z)), z.conj(), single)
    check(ops.view_as_real(Tensor(z)), np.stack([z.real, z.imag], -1), single)


def test_infinite_parts_stay_apart() -> None:
    for real in SPECIAL:
        for imag in SPECIAL:
            result = ops.complex(Tensor(np.array([real])), Tensor(np.array([imag]))).asnumpy()
            np.testing.assert_array_equal([result[0].real, result[0].imag], [real, imag])


def test_a_real_number_has_no_imaginary_part_and_the_angle_0_or_pi() -> None:
    for dtype in (np.float32, np.float64):
        x = SPECIAL.astype(dtype)
        check(ops.imag(Tensor(x)), np.zeros_like(x))
        check(ops.angle(Tensor(x)), np.angle(x), dtype is np.float32)
    check(ops.imag(Tensor([3, -4])), np.array([0, 0]))
    check(ops.angle(Tensor([3, -4])), np.array([0, np.pi], np.float32))
    assert ms.grad(lambda x: (ops.imag(x) + ops.angle(x)).sum())(Tensor([1.0, -2.0])).tolist() == [0.0, 0.0]
