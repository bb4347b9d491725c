"""Functions of mint.special that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from hookscope.engine.core.tensor import Tensor
from hookscope.engine.core.types import Operand
from typing import Any

def erfc(input: Any) -> Any:
    """1 - erf(x)."""

def exp2(input: Operand) -> Tensor:
    """2 to the power x."""

def expm1(input: Operand) -> Tensor:
    """exp(x) - 1, exact near 0."""

def log1p(input: Operand) -> Tensor:
    """log(1 + x), exact near 0."""

def round(input: Any, *, decimals: int = 0) -> Any:
    """The nearest number with ``decimals`` places, halves to the even one."""

def sinc(input: Operand) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""
