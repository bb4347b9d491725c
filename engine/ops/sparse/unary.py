"""Functions of one sparse tensor, element by element: those of ``ops`` applied to the stored values.

Other elements stay 0, also if the function of 0 is another number, as in MindSpore.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...base.argument_checks import check_type
from ...tensors.tensor import Tensor
from ..elementwise import arithmetic, comparison, elementary, exponentials
from ..neural import activation
from .tensors import COOTensor, CSRTensor

__all__ = [
    "coo_abs", "coo_acos", "coo_acosh", "coo_asin", "coo_asinh", "coo_atan", "coo_atanh", "coo_ceil", "coo_cos",
    "coo_cosh", "coo_exp", "coo_expm1", "coo_floor", "coo_inv", "coo_isfinite", "coo_isinf", "coo_isnan", "coo_log",
    "coo_log1p", "coo_neg", "coo_relu", "coo_relu6", "coo_round", "coo_sigmoid", "coo_sin", "coo_sinh", "coo_softsign",
    "coo_sqrt", "coo_square", "coo_tan", "coo_tanh", "csr_abs", "csr_acos", "csr_acosh", "csr_asin", "csr_asinh",
    "csr_atan", "csr_atanh", "csr_ceil", "csr_cos", "csr_cosh", "csr_exp", "csr_expm1", "csr_floor", "csr_inv",
    "csr_isfinite", "csr_isinf", "csr_isnan", "csr_log", "csr_log1p", "csr_neg", "csr_relu", "csr_relu6", "csr_round",
    "csr_sigmoid", "csr_sin", "csr_sinh", "csr_softsign", "csr_sqrt", "csr_square", "csr_tan", "csr_tanh"
]  # fmt: skip

S = TypeVar("S", COOTensor, CSRTensor)


def _of_values(kind: type[S], function: Callable[..., Tensor]) -> Callable[[S], S]:
    name = f"{kind.__name__[:3].lower()}_{function.__name__}"

    def applied(x: S) -> S:
        return check_type(x, kind, name, "x")._with_values(function(x.values))

    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = f"""``ops.{function.__name__}`` of the values that a {kind.__name__} keeps; all else stays 0.

    Args:
        x: the {kind.__name__}.

    Returns:
        A {kind.__name__} with the same places.

    Raises:
        TypeError: ``x`` is no {kind.__name__}.
    """
    return applied


coo_abs = _of_values(COOTensor, arithmetic.abs)
coo_acos = _of_values(COOTensor, elementary.acos)
coo_acosh = _of_values(COOTensor, elementary.acosh)
coo_asin = _of_values(COOTensor, elementary.asin)
coo_asinh = _of_values(COOTensor, elementary.asinh)
coo_atan = _of_values(COOTensor, elementary.atan)
coo_atanh = _of_values(COOTensor, elementary.atanh)
coo_ceil = _of_values(COOTensor, arithmetic.ceil)
coo_cos = _of_values(COOTensor, exponentials.cos)
coo_cosh = _of_values(COOTensor, exponentials.cosh)
coo_exp = _of_values(COOTensor, exponentials.exp)
coo_expm1 = _of_values(COOTensor, exponentials.expm1)
coo_floor = _of_values(COOTensor, arithmetic.floor)
coo_inv = _of_values(COOTensor, elementary.inv)
coo_isfinite = _of_values(COOTensor, comparison.isfinite)
coo_isinf = _of_values(COOTensor, comparison.isinf)
coo_isnan = _of_values(COOTensor, comparison.isnan)
coo_log = _of_values(COOTensor, exponentials.log)
coo_log1p = _of_values(COOTensor, exponentials.log1p)
coo_neg = _of_values(COOTensor, arithmetic.neg)
coo_relu = _of_values(COOTensor, activation.relu)
coo_relu6 = _of_values(COOTensor, activation.relu6)
coo_round = _of_values(COOTensor, arithmetic.round)
coo_sigmoid = _of_values(COOTensor, activation.sigmoid)
coo_sin = _of_values(COOTensor, exponentials.sin)
coo_sinh = _of_values(COOTensor, exponentials.sinh)
coo_softsign = _of_values(COOTensor, activation.softsign)
coo_sqrt = _of_values(COOTensor, arithmetic.sqrt)
coo_square = _of_values(COOTensor, arithmetic.square)
coo_tan = _of_values(COOTensor, exponentials.tan)
coo_tanh = _of_values(COOTensor, activation.tanh)
csr_abs = _of_values(CSRTensor, arithmetic.abs)
csr_acos = _of_values(CSRTensor, elementary.acos)
csr_acosh = _of_values(CSRTensor, elementary.acosh)
csr_asin = _of_values(CSRTensor, elementary.asin)
csr_asinh = _of_values(CSRTensor, elementary.asinh)
csr_atan = _of_values(CSRTensor, elementary.atan)
csr_atanh = _of_values(CSRTensor, elementary.atanh)
csr_ceil = _of_values(CSRTensor, arithmetic.ceil)
csr_cos = _of_values(CSRTensor, exponentials.cos)
csr_cosh = _of_values(CSRTensor, exponentials.cosh)
csr_exp = _of_values(CSRTensor, exponentials.exp)
csr_expm1 = _of_values(CSRTensor, exponentials.expm1)
csr_floor = _of_values(CSRTensor, arithmetic.floor)
csr_inv = _of_values(CSRTensor, elementary.inv)
csr_isfinite = _of_values(CSRTensor, comparison.isfinite)
csr_isinf = _of_values(CSRTensor, comparison.isinf)
csr_isnan = _of_values(CSRTensor, comparison.isnan)
csr_log = _of_values(CSRTensor, exponentials.log)
csr_log1p = _of_values(CSRTensor, exponentials.log1p)
csr_neg = _of_values(CSRTensor, arithmetic.neg)
csr_relu = _of_values(CSRTensor, activation.relu)
csr_relu6 = _of_values(CSRTensor, activation.relu6)
csr_round = _of_values(CSRTensor, arithmetic.round)
csr_sigmoid = _of_values(CSRTensor, activation.sigmoid)
csr_sin = _of_values(CSRTensor, exponentials.sin)
csr_sinh = _of_values(CSRTensor, exponentials.sinh)
csr_softsign = _of_values(CSRTensor, activation.softsign)
csr_sqrt = _of_values(CSRTensor, arithmetic.sqrt)
csr_square = _of_values(CSRTensor, arithmetic.square)
csr_tan = _of_values(CSRTensor, exponentials.tan)
csr_tanh = _of_values(CSRTensor, activation.tanh)
