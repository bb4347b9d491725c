"""``ops.Custom``: an operator that a Python function on NumPy arrays computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd.function import _Function
from ..base.argument_checks import check_callable, check_one_of, check_type
from ..base.types import Array
from ..tensors.dtype import DType, dtype_to_nptype, pytype_to_dtype
from ..tensors.tensor import Tensor
from .primitives import Primitive

__all__ = ["Custom"]

_KINDS = ("hybrid", "akg", "tbe", "aicpu", "aot", "pyfunc")


class Custom(Primitive):
    """An operator that a Python function on NumPy arrays computes.

    Args:
        func: the function. It gets a NumPy array of its own for each tensor, and everything else as it is, and returns
            an array, or a tuple of them.
        out_shape: the shape of the output, a tuple or list of ints, or a tuple of shapes; or a function that returns it
            for the inputs' shapes, which are lists.
        out_dtype: the dtype of the output, or a tuple of dtypes for several; or a function that returns it for the
            inputs' dtypes.
        func_type: "pyfunc". MindSpore's other kinds generate machine code, which is not supported here.
        bprop: the gradient: called with the inputs, the output and the output's gradient, it returns a gradient for
            each input. Without one, a gradient is an error.
        reg_info: stored only; for "pyfunc" MindSpore does not use it either.

    Raises:
        TypeError: ``func`` or ``bprop`` cannot be called, or ``out_shape`` or ``out_dtype`` is none of the above.
        ValueError: an unknown ``func_type``.
        NotImplementedError: one of MindSpore's other kinds.
        RuntimeError: when called, the function returns the wrong number of outputs, or one of a different shape or
            dtype than declared; in the backward pass, there is no ``bprop``.
    """

    name = "Custom"

    def __init__(
        self,
        func: Callable[..., Any] | str,
        out_shape: Callable[..., Any] | Sequence[Any] | None = None,
        out_dtype: Callable[..., Any] | DType | Sequence[DType] | None = None,
        func_type: str = "pyfunc",
        bprop: Callable[..., Any] | None = None,
        reg_info: object = None,
    ) -> None:
        if check_one_of(func_type, _KINDS, "Custom", "func_type") != "pyfunc" or isinstance(func, str):
            kind = func_type if func_type != "pyfunc" else "a name in a file"
            raise NotImplementedError(
                f"ops.Custom of {kind!r} is not covered by hookscope, which makes no machine code: give a function on "
                "NumPy arrays, with func_type='pyfunc'"
            )
        check_callable(func, "Custom", "func")
        if not callable(out_shape):
            check_type(out_shape, tuple | list, "Custom", "out_shape", "a tuple, a list or a function")
        if not callable(out_dtype):
            check_type(out_dtype, DType | tuple | list, "Custom", "out_dtype", "a dtype, a tuple of them or a function")
        if bprop is not None:
            check_callable(bprop, "Custom", "bprop")
        super().__init__()
        self.func, self.func_type, self.bprop, self.reg_info = func, func_type, bprop, reg_info
        self.out_shape, self.out_dtype = out_shape, out_dtype
        self.attrs.update(func_name=getattr(func, "__name__", type(func).__name__), func_type=func_type)

    def __call__(self, *inputs: Any) -> Any:
        """Return the outputs of the function.

        Args:
            *inputs: its arguments; tensors are passed as arrays.

        Returns:
            A Tensor, or a tuple of them.

        Raises:
            RuntimeError: see the class.
        """
        return _Called.apply(self, *inputs)

    def _outputs(self, inputs: tuple[Any, ...]) -> Any:
        dtypes: Any = self.out_dtype
        shapes: Any = self.out_shape
        if callable(shapes):
            shapes = shapes(*[list(x.shape) if isinstance(x, Tensor) else [] for x in inputs])
        if not isinstance(dtypes, DType | Sequence):
            dtypes = dtypes(*[x.dtype if isinstance(x, Tensor) else pytype_to_dtype(type(x)) for x in inputs])
        outputs = self.func(*[np.array(x.asnumpy()) if isinstance(x, Tensor) else x for x in inputs])
        if isinstance(dtypes, DType):
            return self._output(outputs, shapes, dtypes)
        results = outputs if isinstance(outputs, tuple | list) else (outputs,)
        if not len(results) == len(dtypes) == len(shapes):
            raise RuntimeError(
                f"For 'Custom', '{self.attrs['func_name']}' returned {len(results)} outputs, but 'out_shape' has "
                f"{len(shapes)} and 'out_dtype' {len(dtypes)}"
            )
        return tuple([self._output(*item) for item in zip(results, shapes, dtypes, strict=True)])

    def _output(self, value: Any, shape: Sequence[int], dtype: DType) -> Tensor:
        expected = np.dtype(dtype_to_nptype(dtype))
        is_array = isinstance(value, np.ndarray | np.generic)
        if value is None or (is_array and value.dtype != expected):
            kind = "nothing" if value is None else f"an output of {value.dtype}"
            raise RuntimeError(f"For 'Custom', '{self.attrs['func_name']}' returned {kind}, but 'out_dtype' is {dtype}")
        array: Array = np.array(value, expected)
        if array.shape != tuple(shape):
            raise RuntimeError(
                f"For 'Custom', '{self.attrs['func_name']}' returned an output of shape {array.shape}, but "
                f"'out_shape' is {tuple(shape)}"
            )
        return Tensor(array, dtype)


class _Called(_Function):
    """A call of the function."""

    @staticmethod
    def forward(ctx: Any, operator: Custom, *inputs: Any) -> Any:
        ctx.operator, ctx.inputs = operator, inputs
        ctx.output = operator._outputs(inputs)
        return ctx.output

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        bprop = ctx.operator.bprop
        if bprop is None:
            raise RuntimeError(
                f"For 'Custom', there is no gradient of '{ctx.operator.attrs['func_name']}': give 'bprop', or stop the "
                "gradient with ops.stop_gradient"
            )
        upstream = gradients if isinstance(ctx.output, tuple) else gradients[0]
        result = bprop(*ctx.inputs, ctx.output, upstream)
        parts = tuple(result) if isinstance(result, tuple | list) else (result,)
        if len(parts) < len(ctx.inputs):
            raise RuntimeError(
                f"For 'Custom', 'bprop' returned {len(parts)} gradients for {len(ctx.inputs)} inputs; each needs one"
            )
        results = [gradient if isinstance(x, Tensor) else None for gradient, x in zip(parts, ctx.inputs, strict=False)]
        return None, *results
