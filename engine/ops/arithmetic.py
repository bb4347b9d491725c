"""Elementwise operators: arithmetic, comparison, logic, and the usual functions of one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.backend import is_array
from ..core.dtype import float32, promote, promote_scalar
from ..core.operator import ARRAY_FUNCTIONS, COMPLEX, FLOAT32, Operator, binary_method, fitted
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu import fused
from ..cpu.array_module import array_module

__all__ = [
    "abs", "absolute", "add", "ceil", "clamp", "clip", "cos", "cosh", "div", "divide", "eq", "equal", "erf", "exp",
    "expm1", "floor", "floor_divide", "fmod", "ge", "greater", "greater_equal", "gt", "isfinite", "isinf", "isnan",
    "le",
    "less", "less_equal", "log", "log1p", "log2", "logical_and", "logical_not", "logical_or", "logical_xor", "lt",
    "maximum", "minimum", "mul", "multiply", "ne", "neg", "negative", "not_equal", "pow", "pows", "reciprocal",
    "remainder",
    "round", "rsqrt", "select", "sign", "sin", "sinh", "sqrt", "square", "sub", "subtract", "tan", "true_divide",
    "trunc", "where", "xlogy",
]  # fmt: skip


def fit(F: Any, g: Any, x: Any) -> Any:
    """A gradient summed over the axes along which ``x`` was broadcast."""
    return g if g.shape == x.shape else F.sum_to(g, shape=tuple(x.shape))


def _sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    added = x.ndim - len(shape)
    axes = tuple(range(added)) + tuple(i + added for i, n in enumerate(shape) if n == 1 and x.shape[i + added] != 1)
    return x.sum(axis=axes, keepdims=True).reshape(shape) if axes else x


_sum_to_operator = Operator(
    "sum_to",
    _sum_to,
    (lambda F, g, out, x, shape: F.broadcast_to(g, shape=tuple(x.shape)),),
    keeps_dtype=True,
)
_broadcast_to_operator = Operator(
    "broadcast_to",
    lambda x, shape: array_module(x).broadcast_to(x, shape),
    (lambda F, g, out, x, shape: fit(F, g, x),),
    keeps_dtype=True,
)


@declare(method=True)
def _sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """Summed over the axes in which ``size`` is 1 or missing.

    Raises:
        ValueError: the tensor cannot be summed to ``size``.
    """
    wanted = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    if len(wanted) > input.ndim or any(n not in (1, m) for n, m in zip(wanted[::-1], input.shape[::-1], strict=False)):
        raise ValueError(f"For 'Tensor.sum_to_size', {input.shape} cannot be summed to {tuple(wanted)}")
    return _sum_to_operator(input, shape=tuple(wanted))


def cast_array(x: Any, dtype: np.dtype[Any]) -> Any:
    """``x`` with another element type, itself where it has it already; a real type takes the real parts of numbers."""
    if x.dtype in COMPLEX and dtype.kind not in "cb":
        x = x.real
    return x.astype(dtype, copy=False)


cast_operator = Operator(
    "cast", cast_array, (lambda F, g, out, x, dtype: F.cast(g, dtype=_np_dtype(x)),), keeps_dtype=True
)


def _np_dtype(x: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = x._array.dtype if isinstance(x, Tensor) else x.dtype
    return dtype


_REAL = frozenset((int, float))


class Binary(Operator):
    """An operator on two tensors, or a tensor and a number, that broadcasts and combines dtypes as MindSpore does."""

    def __init__(self, *args: Any, integers_to_float: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.integers_to_float = integers_to_float

    def __call__(self, input: Any, other: Any) -> Tensor:
        # Benchmarked as "add of two small tensors": what needs no conversion goes first.
        if type(input) is Tensor:
            array = input._array
            dtype = array.dtype
            if type(other) is Tensor:
                if other._array.dtype is dtype and (not self.integers_to_float or dtype.kind == "f"):
                    return self._run((input, other), (array, other._array), {})
            elif dtype.kind == "f" and type(other) in _REAL:
                return self._run((input, other), (array, other), {})
        x, y = self._operands(input, other)
        return Operator.__call__(self, x, y)

    def gradients(
        self,
        functions: Any,
        tracked: set[int],
        g: Any,
        output: Any,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
        conjugated: bool = False,
    ) -> list[tuple[Any, Any]]:
        # Most nodes of a tape come here: arrays of one dtype, so without the loop over inputs and what fits them.
        dtype = g.dtype
        if functions is ARRAY_FUNCTIONS and len(self.vjps) == 2 and (dtype is FLOAT32 or dtype not in COMPLEX):
            x, y = inputs
            of_x, of_y = self.vjps
            pairs = []
            if of_x is not None and id(x) in tracked:
                gx = of_x(functions, g, output, x, y)
                pairs.append((x, gx if type(gx) is np.ndarray and gx.dtype is x.dtype else fitted(gx, x, functions)))
            if of_y is not None and id(y) in tracked:
                gy = of_y(functions, g, output, x, y)
                pairs.append((y, gy if type(gy) is np.ndarray and gy.dtype is y.dtype else fitted(gy, y, functions)))
            return pairs
        return Operator.gradients(self, functions, tracked, g, output, inputs, attrs, conjugated)

    def as_method(self) -> Callable[..., Any]:
        """The function behind Python's operator."""
        return binary_method(self, self.integers_to_float)

    def _operands(self, input: Any, other: Any) -> tuple[Any, Any]:
        x, y = _operand(self.name, "input", input), _operand(self.name, "other", other)
        if isinstance(x, Tensor):
            mine = x._array.dtype
            wanted = promote(mine, y._array.dtype) if isinstance(y, Tensor) else promote_scalar(mine, y)
        elif isinstance(y, Tensor):
            wanted = promote_scalar(y._array.dtype, x)
        else:
            x = Tensor(x)
            wanted = promote_scalar(x._array.dtype, y)
        if self.integers_to_float and wanted.kind in "biu":
            wanted = float32.numpy
        return _as(x, wanted), _as(y, wanted)


class Equality(Binary):
    """``==`` or ``!=``, which Python code also asks of a tensor and None, a string or a list: not equal."""

    def __call__(self, input: Tensor, other: Any) -> Any:
        if other is None or isinstance(other, str | list | tuple):
            return self is not eq
        return Binary.__call__(self, input, other)


def _operand(name: str, argument: str, value: Any) -> Any:
    if isinstance(value, Tensor | bool | int | float | complex):
        return value
    if is_array(value) or isinstance(value, list | tuple):
        return Tensor(value)
    raise TypeError(f"For '{name}', '{argument}' must be a Tensor or a number, but got {type(value).__name__}")


def _as(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, Tensor):
        return value if value._array.dtype == dtype else cast_operator(value, dtype=dtype)
    if dtype.kind == "V":
        return np.asarray(value, dtype)  # beside a bare number NumPy widens bfloat16, which is not its own
    return value if dtype.kind in "fc" or not isinstance(value, float) else int(value)


def _halves(F: Any, g: Any, mine: Any, other: Any, wins: Any) -> Any:
    """A gradient of max or min: all to the winner, and half to each where they tie."""
    share = F.cast(wins, dtype=_np_dtype(g)) + F.cast(mine == other, dtype=_np_dtype(g)) * 0.5
    return fit(F, g * share, mine)


add = Binary(
    "add",
    np.add,
    (lambda F, g, out, x, y: fit(F, g, x), lambda F, g, out, x, y: fit(F, g, y)),
    doc="x + y.",
    numpy=renamed(input="x1", other="x2"),
    primitive=(prim("Add"), prim("TensorAdd")),
)
sub = Binary(
    "sub",
    np.subtract,
    (lambda F, g, out, x, y: fit(F, g, x), lambda F, g, out, x, y: fit(F, -g, y)),
    doc="x - y.",
    numpy=renamed("subtract", input="x1", other="x2"),
    primitive=prim("Sub"),
)
mul = Binary(
    "mul",
    np.multiply,
    (lambda F, g, out, x, y: fit(F, g * y, x), lambda F, g, out, x, y: fit(F, g * x, y)),
    doc="x * y.",
    method=("mul", "multiply"),
    in_place=True,
    primitive=prim("Mul"),
    mint=True,
)


class Division(Binary):
    """``div``, whose result may be rounded."""

    def __call__(self, input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        if rounding_mode is None:
            return Binary.__call__(self, input, other)
        if rounding_mode == "floor":
            return floor_divide(input, other)
        if rounding_mode != "trunc":
            raise ValueError(f"For 'div', 'rounding_mode' must be None, 'floor' or 'trunc', but got {rounding_mode!r}")
        x, y = add._operands(input, other)
        dtype = (x if isinstance(x, Tensor) else y)._array.dtype
        if dtype.kind in "iu":  # a quotient in Float32 would not hold every integer
            return floor_divide(sub(x, fmod(x, y)), y)
        return cast_operator(trunc(Binary.__call__(self, input, other)), dtype=dtype)


div = Division(
    "div",
    np.true_divide,
    (lambda F, g, out, x, y: fit(F, g / y, x), lambda F, g, out, x, y: fit(F, -(g * out / y), y)),
    integers_to_float=True,
    doc="x / y; integers give Float32.",
    method=("div", "divide", "true_divide"),
    in_place=True,
    numpy=renamed("true_divide", without=("rounding_mode",), input="x1", other="x2"),
    primitive=(prim("Div"), prim("RealDiv")),
    mint=("div", "divide"),
)
floor_divide = Binary(
    "floor_divide",
    np.floor_divide,
    doc="The greatest integer not above x / y.",
    method=True,
    in_place=True,
    primitive=prim("FloorDiv"),
    mint=True,
)
remainder = Binary(
    "remainder",
    np.remainder,
    (
        lambda F, g, out, x, y: fit(F, g, x),
        lambda F, g, out, x, y: fit(F, -(g * F.floor_divide(x, y)), y),
    ),
    doc="x - floor(x / y) * y, with the sign of y.",
    method=True,
    in_place=True,
    primitive=prim("FloorMod"),
    mint=True,
    numpy=[renamed(name, input="x1", other="x2") for name in ("remainder", "mod")],
)
fmod = Binary(
    "fmod",
    np.fmod,
    (lambda F, g, out, x, y: fit(F, g, x), lambda F, g, out, x, y: fit(F, -(g * F.trunc(x / y)), y)),
    doc="The remainder with the sign of x.",
    method=True,
    primitive=prim("Mod"),
    mint=True,
)


def _pow_base(F: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return fit(F, g * (y * x ** (y - 1)), x)


def _pow_exponent(F: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    if isinstance(x, int | float):
        return fit(F, g * out * math.log(x) if x > 0 else g * 0, y)
    positive = x > 0
    return fit(F, g * F.where(positive, out * F.log(F.where(positive, x, 1.0)), 0.0), y)


pow = Binary(
    "pow",
    np.power,
    (_pow_base, _pow_exponent),
    doc="x to the power y.",
    method=True,
    primitive=prim("Pow"),
    numpy=renamed("power", input="x1", other="x2"),
)
pows = pow
maximum = Binary(
    "maximum",
    np.maximum,
    (
        lambda F, g, out, x, y: _halves(F, g, x, y, x > y),
        lambda F, g, out, x, y: _halves(F, g, y, x, y > x),
    ),
    doc="The larger of x and y; NaN where either is NaN.",
    method=True,
    primitive=prim("Maximum"),
    mint=True,
)
minimum = Binary(
    "minimum",
    np.minimum,
    (
        lambda F, g, out, x, y: _halves(F, g, x, y, x < y),
        lambda F, g, out, x, y: _halves(F, g, y, x, y < x),
    ),
    doc="The smaller of x and y; NaN where either is NaN.",
    method=True,
    primitive=prim("Minimum"),
    mint=True,
)
eq = Equality("eq", np.equal, doc="x == y.", method=("eq", "equal"), primitive=prim("Equal"), mint=True)
ne = Equality(
    "ne", np.not_equal, doc="x != y.", method=("ne", "not_equal"), primitive=prim("NotEqual"), mint=("ne", "not_equal")
)
lt = Binary("lt", np.less, doc="x < y.", method=("less", "lt"), primitive=prim("Less"), mint=("less", "lt"))
le = Binary(
    "le",
    np.less_equal,
    doc="x <= y.",
    method=("le", "less_equal"),
    primitive=prim("LessEqual"),
    mint=("le", "less_equal"),
)
gt = Binary("gt", np.greater, doc="x > y.", method=("greater", "gt"), primitive=prim("Greater"), mint=("greater", "gt"))
ge = Binary(
    "ge",
    np.greater_equal,
    doc="x >= y.",
    method=("ge", "greater_equal"),
    primitive=prim("GreaterEqual"),
    mint="greater_equal",
)
logical_and = Binary(
    "logical_and", np.logical_and, doc="x and y, elementwise.", method=True, primitive=prim("LogicalAnd"), mint=True
)
logical_or = Binary(
    "logical_or", np.logical_or, doc="x or y, elementwise.", method=True, primitive=prim("LogicalOr"), mint=True
)
logical_xor = Binary(
    "logical_xor",
    np.logical_xor,
    doc="Whether one of x and y holds, and not both.",
    method=True,
    primitive=prim("LogicalXor"),
    mint=True,
)
bitwise_and = Binary("bitwise_and", np.bitwise_and, doc="x & y.", method=True, primitive=prim("BitwiseAnd"), mint=True)
bitwise_or = Binary("bitwise_or", np.bitwise_or, doc="x | y.", method=True, primitive=prim("BitwiseOr"), mint=True)
bitwise_xor = Binary("bitwise_xor", np.bitwise_xor, doc="x ^ y.", method=True, primitive=prim("BitwiseXor"), mint=True)

multiply, divide, true_divide = mul, div, div
equal, not_equal, less, less_equal, greater, greater_equal = eq, ne, lt, le, gt, ge


class Unary(Operator):
    """An operator on one tensor; where it gives fractions, integers become Float32 first."""

    def __init__(self, *args: Any, integers_to_float: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.integers_to_float = integers_to_float

    def __call__(self, input: Any) -> Tensor:
        x = input if type(input) is Tensor else _operand(self.name, "input", input)
        if not isinstance(x, Tensor):
            x = Tensor(x)
        if self.integers_to_float and x._array.dtype.kind in "biu":
            x = cast_operator(x, dtype=float32.numpy)
        return self._run((x,), (x._array,), {})


def _unary(name: str, kernel: Callable[..., Any], rule: Callable[..., Any] | None, doc: str, **kwargs: Any) -> Unary:
    return Unary(name, kernel, () if rule is None else (rule,), doc=doc, **kwargs)


def _function(name: str, kernel: Callable[..., Any], rule: Callable[..., Any], doc: str, **surfaces: Any) -> Unary:
    """A function of a real number."""
    return _unary(name, kernel, rule, doc, integers_to_float=True, **surfaces)


def _sign_rule(F: Any, g: Any, out: Any, x: Any) -> Any:
    if _np_dtype(x) not in COMPLEX:
        return g * 0
    # Around the circle the sign turns, by the part of g across it, the less the farther out; along it stays.
    length = F.abs(x)
    elsewhere = F.cast(F.ne(length, 0.0), dtype=_np_dtype(length))
    return (g - out * F.real(F.conj(out) * g)) * elsewhere / (length + (1.0 - elsewhere))


neg = _unary(
    "neg",
    np.negative,
    lambda F, g, out, x: -g,
    "-x.",
    method=("neg", "negative"),
    primitive=prim("Neg"),
    mint=("neg", "negative"),
)
abs = _unary(
    "abs",
    np.abs,
    lambda F, g, out, x: g * F.sign(x),
    "The absolute value; its gradient at 0 is 0.",
    method=("abs", "absolute"),
    primitive=(prim("Abs"), prim("ComplexAbs")),
    mint=True,
    numpy=[renamed(name, input="x") for name in ("abs", "absolute", "fabs")],
)
sign = _unary(
    "sign",
    np.sign,
    _sign_rule,
    "-1, 0 or 1; of a complex number, x / |x|.",
    analytic=False,
    method=True,
    in_place=True,
    primitive=prim("Sign"),
    mint=True,
)
square = _unary(
    "square", np.square, lambda F, g, out, x: g * (x * 2), "x * x.", method=True, primitive=prim("Square"), mint=True
)
exp = _function(
    "exp",
    np.exp,
    lambda F, g, out, x: g * out,
    "e to the power x.",
    method=True,
    in_place=True,
    primitive=prim("Exp"),
    mint=True,
)
expm1 = _function(
    "expm1",
    np.expm1,
    lambda F, g, out, x: g * (out + 1),
    "exp(x) - 1, exact near 0.",
    method=True,
    primitive=prim("Expm1"),
    mint=("expm1", "special.expm1"),
)
log = _function(
    "log",
    np.log,
    lambda F, g, out, x: g / x,
    "The natural logarithm.",
    method=True,
    in_place=True,
    primitive=prim("Log"),
    mint=True,
)
log1p = _function(
    "log1p",
    np.log1p,
    lambda F, g, out, x: g / (x + 1),
    "log(1 + x), exact near 0.",
    method=True,
    primitive=prim("Log1p"),
    mint=("log1p", "special.log1p"),
)
log2 = _function(
    "log2",
    np.log2,
    lambda F, g, out, x: g / (x * float(np.log(2.0))),
    "The logarithm to base 2.",
    method=True,
    mint=True,
)
sqrt = _function(
    "sqrt",
    np.sqrt,
    lambda F, g, out, x: g / (out * 2),
    "The square root.",
    method=True,
    primitive=prim("Sqrt"),
    mint=True,
)
rsqrt = _function(
    "rsqrt",
    lambda x: x.dtype.type(1) / array_module(x).sqrt(x),
    lambda F, g, out, x: g * (out / x) * -0.5,
    "1 / sqrt(x).",
    method=True,
    primitive=prim("Rsqrt"),
    mint=True,
)
reciprocal = _function(
    "reciprocal",
    lambda x: x.dtype.type(1) / x,
    lambda F, g, out, x: -(g * out * out),
    "1 / x.",
    method=True,
    primitive=prim("Reciprocal"),
    mint=True,
)
sin = _function(
    "sin", np.sin, lambda F, g, out, x: g * F.cos(x), "The sine.", method=True, primitive=prim("Sin"), mint=True
)
cos = _function(
    "cos", np.cos, lambda F, g, out, x: -(g * F.sin(x)), "The cosine.", method=True, primitive=prim("Cos"), mint=True
)
tan = _function(
    "tan",
    np.tan,
    lambda F, g, out, x: g * (out * out + 1),
    "The tangent.",
    method=True,
    primitive=prim("Tan"),
    mint=True,
)
sinh = _function(
    "sinh",
    np.sinh,
    lambda F, g, out, x: g * F.cosh(x),
    "The hyperbolic sine.",
    method=True,
    primitive=prim("Sinh"),
    mint=True,
)
cosh = _function(
    "cosh",
    np.cosh,
    lambda F, g, out, x: g * F.sinh(x),
    "The hyperbolic cosine.",
    method=True,
    primitive=prim("Cosh"),
    mint=True,
)
erf = _function(
    "erf",
    fused.erf,
    lambda F, g, out, x: g * F.exp(-(x * x)) * float(2 / np.sqrt(np.pi)),
    "The error function.",
    method=True,
    primitive=prim("Erf"),
    mint=True,
)
floor = _unary(
    "floor",
    np.floor,
    lambda F, g, out, x: g * 0,
    "The greatest integer not above x.",
    method=True,
    in_place=True,
    primitive=prim("Floor"),
    mint=True,
)
ceil = _unary(
    "ceil",
    np.ceil,
    lambda F, g, out, x: g * 0,
    "The smallest integer not below x.",
    method=True,
    primitive=prim("Ceil"),
    mint=True,
)
_rint = _unary("round", np.rint, lambda F, g, out, x: g * 0, "The nearest integer, halves to the even one.")
trunc = _unary(
    "trunc",
    np.trunc,
    lambda F, g, out, x: g * 0,
    "The integer part.",
    method=True,
    primitive=prim("Trunc"),
    numpy=renamed(input="x"),
)
isnan = _unary("isnan", np.isnan, None, "Whether an element is NaN.", method=True, primitive=prim("IsNan"), mint=True)
isinf = _unary(
    "isinf", np.isinf, None, "Whether an element is infinite.", method=True, primitive=prim("IsInf"), mint=True
)
isfinite = _unary(
    "isfinite",
    np.isfinite,
    None,
    "Whether an element is a finite number.",
    method=True,
    primitive=prim("IsFinite"),
    mint=True,
)


@declare(primitive=prim("CheckNumerics"))
def _check_numerics(x: Tensor) -> Tensor:
    """The tensor itself, if every element is a finite number.

    Raises:
        RuntimeError: it holds NaN or infinity.
    """
    if not isfinite(x)._array.all():
        raise RuntimeError("For 'CheckNumerics', 'x' must be finite everywhere, but holds NaN or infinity")
    return x


logical_not = _unary(
    "logical_not",
    np.logical_not,
    None,
    "Whether an element is zero or False.",
    method=True,
    primitive=prim("LogicalNot"),
    mint=True,
)
bitwise_not = _unary(
    "bitwise_not",
    np.invert,
    None,
    "~x.",
    method=("bitwise_not", "invert"),
    primitive=prim("Invert"),
    mint=True,
    numpy=[renamed(name, input="x") for name in ("bitwise_not", "invert")],
)
absolute, negative = abs, neg


@declare(method=True, primitive=prim("Rint"), mint=("round", "special.round"))
def round(input: Any, *, decimals: int = 0) -> Any:
    """The nearest number with ``decimals`` places, halves to the even one."""
    if not decimals:
        return _rint(input)
    scale = 10.0**decimals
    return div(_rint(mul(input, scale)), scale)


@declare(primitive=prim("Round"))
def _round(input: Any, decimals: int = 0) -> Any:
    """``round``, whose ``decimals`` may be given by place."""
    return round(input, decimals=decimals)


def _scaled(other: Any, alpha: Any) -> Any:
    return other if alpha == 1 and not isinstance(alpha, float) else mul(other, alpha)


@declare(method="add", in_place="add_", mint="add")
def _add_scaled(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """input + alpha * other."""
    return add(input, _scaled(other, alpha))


@declare(method=("sub", "subtract"), in_place="sub_", mint="sub")
def subtract(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """input - alpha * other."""
    return sub(input, _scaled(other, alpha))


_where_operator = Operator(
    "where",
    lambda condition, x, y: array_module(condition).where(condition, x, y),
    (
        None,
        lambda F, g, out, condition, x, y: fit(F, F.where(condition, g, g * 0), x),
        lambda F, g, out, condition, x, y: fit(F, F.where(condition, g * 0, g), y),
    ),
)


def where(condition: Any, input: Any, other: Any) -> Tensor:
    """``input`` where ``condition`` holds, ``other`` elsewhere; the three broadcast."""
    chosen = _operand("where", "condition", condition)
    x, y = add._operands(input, other)
    if not isinstance(x, Tensor):
        x = Tensor(x, y.dtype)
    if not isinstance(y, Tensor):
        y = Tensor(y, x.dtype)
    if not isinstance(chosen, Tensor):
        chosen = Tensor(chosen)
    result: Tensor = _where_operator(_as(chosen, np.dtype(bool)), x, y)
    return result


@declare(method="where")
def _where_of_tensor(input: Tensor, condition: Any, y: Any) -> Tensor:
    """The tensor where ``condition`` holds, ``y`` elsewhere."""
    return where(condition, input, y)


@declare(primitive=prim("Select"))
def select(condition: Any, input: Any, other: Any) -> Tensor:
    """``input`` where ``condition`` holds, ``other`` elsewhere.

    Raises:
        TypeError: neither ``input`` nor ``other`` is a Tensor.
    """
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        raise TypeError(
            "For 'select', at least one of 'input' and 'other' must be a Tensor, "
            f"but got {type(input).__name__} and {type(other).__name__}"
        )
    return where(condition, input, other)


@declare(method="select")
def _select_of_tensor(input: Tensor, first: Any = None, second: Any = None, **named: Any) -> Tensor:
    """``select(dim, index)`` is one entry; ``select(condition, y)`` is the tensor where the condition holds."""
    if isinstance(first, int) or "dim" in named:
        at = int(named.get("dim", first)) % input.ndim
        return input[(slice(None),) * at + (int(named.get("index", second)),)]
    return select(named.get("condition", first), input, named.get("y", second))


@declare(method=("clamp", "clip"), in_place=True, mint=True)
def clamp(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """Elements limited to [min, max].

    Raises:
        ValueError: neither limit is given.
    """
    if min is None and max is None:
        raise ValueError("For 'clamp', at least one of 'min' and 'max' must be given")
    result = input
    if min is not None:
        result = maximum(result, min) if isinstance(min, Tensor) else where(result >= min, result, min)
    if max is not None:
        result = minimum(result, max) if isinstance(max, Tensor) else where(result <= max, result, max)
    return result


clip = clamp


@declare(method=True, primitive=prim("Xlogy"), mint=True)
def xlogy(input: Any, other: Any) -> Tensor:
    """input * log(other), and 0 where ``input`` is 0."""
    return where(eq(input, 0), 0.0, mul(input, log(where(eq(input, 0), 1.0, other))))
