"""Functions of mint.special that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from hookscope.engine.core.tensor import Tensor
from typing import Any

def erfc(input: Any) -> Any:
    """1 - erf(x)."""

def exp2(input: Any) -> Tensor:
    """2 to the power x."""

def expm1(input: Any) -> Tensor:
    """exp(x) - 1, exact near 0."""

def log1p(input: Any) -> Tensor:
    """log(1 + x), exact near 0."""

def round(input: Any, *, decimals: int = 0) -> Any:
    """The nearest number with ``decimals`` places, halves to the even one."""

def sinc(input: Any) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""
