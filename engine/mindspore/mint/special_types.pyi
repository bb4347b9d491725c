"""Functions of mint.special that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from hookscope.engine.tensors.tensor import Tensor

def erfc(input: Tensor) -> Tensor:
    """The complementary error function, 1 - erf(x), also where that is much smaller than 1."""

def exp2(input: Tensor) -> Tensor:
    """2 to the power x."""

def expm1(input: Tensor) -> Tensor:
    """exp(x) - 1, exact near 0."""

def log1p(input: Tensor) -> Tensor:
    """log(1 + x), exact near 0; NaN below -1."""

def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Return the nearest number with ``decimals`` decimal places, halves to the even one; its gradient is
    0.
    """

def sinc(input: Tensor) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""
