"""Functions of one sparse tensor, element by element: those of ``ops`` applied to the stored values.

Other elements stay 0, also if the function of 0 is a different number, as in MindSpore.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...base.argument_checks import check_type
from ...tensors.tensor import Tensor
from ..elementwise import arithmetic, comparison, exponentials, older_arithmetic, trigonometry
from ..neural import activation
from .tensors import COOTensor, CSRTensor

__all__ = [
    "coo_abs",
    "coo_acos",
    "coo_acosh",
    "coo_asin",
    "coo_asinh",
    "coo_atan",
    "coo_atanh",
    "coo_ceil",
    "coo_cos",
    "coo_cosh",
    "coo_exp",
    "coo_expm1",
    "coo_floor",
    "coo_inv",
    "coo_isfinite",
    "coo_isinf",
    "coo_isnan",
    "coo_log",
    "coo_log1p",
    "coo_neg",
    "coo_relu",
    "coo_relu6",
    "coo_round",
    "coo_sigmoid",
    "coo_sin",
    "coo_sinh",
    "coo_softsign",
    "coo_sqrt",
    "coo_square",
    "coo_tan",
    "coo_tanh",
    "csr_abs",
    "csr_acos",
    "csr_acosh",
    "csr_asin",
    "csr_asinh",
    "csr_atan",
    "csr_atanh",
    "csr_ceil",
    "csr_cos",
    "csr_cosh",
    "csr_exp",
    "csr_expm1",
    "csr_floor",
    "csr_inv",
    "csr_isfinite",
    "csr_isinf",
    "csr_isnan",
    "csr_log",
    "csr_log1p",
    "csr_neg",
    "csr_relu",
    "csr_relu6",
    "csr_round",
    "csr_sigmoid",
    "csr_sin",
    "csr_sinh",
    "csr_softsign",
    "csr_sqrt",
    "csr_square",
    "csr_tan",
    "csr_tanh",
]

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
        TypeError: ``x`` is not a {kind.__name__}.
    """
    return applied


def _both(function: Callable[..., Tensor]) -> tuple[Callable[[COOTensor], COOTensor], Callable[[CSRTensor], CSRTensor]]:
    return _of_values(COOTensor, function), _of_values(CSRTensor, function)


coo_abs, csr_abs = _both(arithmetic.abs)
coo_acos, csr_acos = _both(trigonometry.acos)
coo_acosh, csr_acosh = _both(trigonometry.acosh)
coo_asin, csr_asin = _both(trigonometry.asin)
coo_asinh, csr_asinh = _both(trigonometry.asinh)
coo_atan, csr_atan = _both(trigonometry.atan)
coo_atanh, csr_atanh = _both(trigonometry.atanh)
coo_ceil, csr_ceil = _both(arithmetic.ceil)
coo_cos, csr_cos = _both(exponentials.cos)
coo_cosh, csr_cosh = _both(exponentials.cosh)
coo_exp, csr_exp = _both(exponentials.exp)
coo_expm1, csr_expm1 = _both(exponentials.expm1)
coo_floor, csr_floor = _both(arithmetic.floor)
coo_inv, csr_inv = _both(older_arithmetic.inv)
coo_isfinite, csr_isfinite = _both(comparison.isfinite)
coo_isinf, csr_isinf = _both(comparison.isinf)
coo_isnan, csr_isnan = _both(comparison.isnan)
coo_log, csr_log = _both(exponentials.log)
coo_log1p, csr_log1p = _both(exponentials.log1p)
coo_neg, csr_neg = _both(arithmetic.neg)
coo_relu, csr_relu = _both(activation.relu)
coo_relu6, csr_relu6 = _both(activation.relu6)
coo_round, csr_round = _both(arithmetic.round)
coo_sigmoid, csr_sigmoid = _both(activation.sigmoid)
coo_sin, csr_sin = _both(exponentials.sin)
coo_sinh, csr_sinh = _both(exponentials.sinh)
coo_softsign, csr_softsign = _both(activation.softsign)
coo_sqrt, csr_sqrt = _both(arithmetic.sqrt)
coo_square, csr_square = _both(arithmetic.square)
coo_tan, csr_tan = _both(exponentials.tan)
coo_tanh, csr_tanh = _both(activation.tanh)
