"""Scalar functions shared by several kernels that Triton lacks or cannot interpret."""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

import triton
import triton.language as tl


@triton.jit
def tanh(x):
    """Compute tanh by Cephes tanhf (Moshier): an odd polynomial near 0, where the form by exp loses digits."""
    decay = tl.exp(-2.0 * tl.abs(x))
    far = (1.0 - decay) / (1.0 + decay)
    far = tl.where(x < 0, -far, far)
    z = x * x
    series = ((-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2) * z + 1.33314422036e-1
    near = x + x * z * (series * z - 3.33332819422e-1)
    return tl.where(z < 0.390625, near, far)  # |x| < 0.625


@triton.jit
def sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def gelu_gate(x):
    """Return the factor of x in gelu: the normal distribution function."""
    return 0.5 * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def gelu_bend(x):
    """Return the hyperbolic tangent in gelu's tanh form, of sqrt(2 / pi) * (x + 0.044715 x^3)."""
    return tanh(0.7978845608028654 * x * (1.0 + 0.044715 * x * x))


@triton.jit
def activate(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "relu":
        x = tl.where(x < 0, 0.0, x)  # unlike tl.maximum this keeps NaN
    elif ACTIVATION == "gelu":
        x = x * gelu_gate(x)
    elif ACTIVATION == "gelu_tanh":
        x = 0.5 * x * (1.0 + gelu_bend(x))
    elif ACTIVATION == "silu":
        x = x * sigmoid(x)
    elif ACTIVATION == "sigmoid":
        x = sigmoid(x)
    elif ACTIVATION == "tanh":
        x = tanh(x)
    else:
        tl.static_assert(ACTIVATION is None, "no such activation")
    return x


ACTIVATIONS = (None, "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh")
