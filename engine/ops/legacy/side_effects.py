"""Operators with side effects: a value into a file or a summary, a function of its gradient, the end of the program."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base.argument_checks import check_int, check_one_of, check_type
from ...base.module_names import name_methods
from ...tape.hooks import check_arity
from ...tape.tape import report_side_effect
from ...tensors.dtype import bfloat16
from ...tensors.tensor import Tensor
from ..higher_order.hook_backward import HookBackward

__all__ = [
    "Assert",
    "DumpGradient",
    "HistogramSummary",
    "ImageSummary",
    "InsertGradientOf",
    "ScalarSummary",
    "TensorDump",
    "TensorSummary",
    "tensordump",
]

_numbers = itertools.count()


def tensordump(file_name: str, tensor: Tensor, mode: str = "out") -> None:
    """Save a tensor's values to a NumPy file: ``<file_name>_<dtype>_<number>.npy``, the number counted from 0.

    Args:
        file_name: the path; an ending ".npy" may be left out. The folder must exist.
        tensor: the tensor; BFloat16 is saved as float32.
        mode: "out" or "in", which distinguish what an operator of a cluster sends and receives; here they are the same.

    Raises:
        TypeError: ``file_name`` is not a str, or ``tensor`` is not a Tensor.
        ValueError: ``file_name`` is empty, or an unknown ``mode``.
    """
    check_one_of(mode, ("in", "out"), "tensordump", "mode")
    if not check_type(file_name, str, "tensordump", "file_name"):
        raise ValueError("For 'tensordump', 'file_name' must not be empty")
    report_side_effect("tensordump() is called, and a plan would not write a file")
    array = check_type(tensor, Tensor, "tensordump", "tensor").asnumpy()
    stem = file_name.removesuffix(".npy")
    path = Path(f"{stem}_{str(tensor.dtype).lower()}_{next(_numbers)}.npy")
    np.save(path, array.astype(np.float32) if tensor.dtype is bfloat16 else array, allow_pickle=False)


class _SideEffect:
    def __repr__(self) -> str:
        return f"Prim[{type(self).__name__}]"


class TensorDump(_SideEffect):
    """``tensordump`` as a primitive.

    Args:
        input_output: "out" or "in", see there.

    Raises:
        ValueError: an unknown value.
    """

    def __init__(self, input_output: str = "out") -> None:
        self.input_output = check_one_of(input_output, ("in", "out"), "TensorDump", "input_output")

    def __call__(self, file: str, input_x: Tensor) -> None:
        """Save a tensor.

        Args:
            file: the path.
            input_x: the tensor.

        Raises:
            TypeError: ``file`` is not a str, or ``input_x`` is not a Tensor.
            ValueError: ``file`` is empty.
        """
        tensordump(file, input_x, self.input_output)


class InsertGradientOf(_SideEffect):
    """Identity whose backward pass calls a function with the gradient and passes its result on.

    Args:
        f: the function, of one Tensor; it returns a Tensor of the same shape and dtype, or None to keep the gradient.

    Raises:
        TypeError: ``f`` cannot be called with one argument.
    """

    def __init__(self, f: Callable[[Tensor], Tensor | None]) -> None:
        check_arity(f, 1, "InsertGradientOf", "f(gradient)")
        self.f = f
        self._hook = HookBackward(lambda gradients: f(gradients[0]))

    def __call__(self, input_x: Tensor) -> Tensor:
        """Return the input.

        Args:
            input_x: a Tensor.

        Returns:
            ``input_x``.

        Raises:
            TypeError: it is not a Tensor.
        """
        output: Tensor = self._hook(check_type(input_x, Tensor, "InsertGradientOf", "input_x"))
        return output


class DumpGradient(_SideEffect):
    """Identity whose backward pass saves the gradient as ``tensordump`` does."""

    def __call__(self, path: str, x: Tensor, input_output: str) -> Tensor:
        """Return the input.

        Args:
            path: the path of the file.
            x: a Tensor.
            input_output: "out" or "in", see ``tensordump``.

        Returns:
            ``x``.

        Raises:
            TypeError: ``path`` is not a str, or ``x`` is not a Tensor.
            ValueError: ``path`` is empty, or an unknown ``input_output``.
        """
        if not check_type(path, str, "DumpGradient", "path"):
            raise ValueError("For 'DumpGradient', 'path' must not be empty")
        check_one_of(input_output, ("in", "out"), "DumpGradient", "input_output")
        return InsertGradientOf(lambda gradient: tensordump(path, gradient, input_output))(x)


class Assert(_SideEffect):
    """Check that ends the program with an error if a condition does not hold.

    Args:
        summarize: the number of elements of each tensor in the error.

    Raises:
        TypeError: ``summarize`` is not an int.
    """

    def __init__(self, summarize: int = 3) -> None:
        self.summarize = check_int(summarize, "Assert", "summarize")

    def __call__(self, condition: Tensor | bool, input_data: Sequence[Any]) -> None:
        """Raise RuntimeError unless the condition holds.

        Args:
            condition: a bool, or a Tensor with one.
            input_data: a list or tuple of values for the error: Tensors, numbers.

        Raises:
            TypeError: ``input_data`` is not a list or tuple.
            RuntimeError: the condition does not hold.
        """
        check_type(input_data, list | tuple, "Assert", "input_data", "a list or tuple")
        if not bool(condition):
            values = [np.ravel(np.asarray(item))[: self.summarize].tolist() for item in input_data]
            raise RuntimeError(f"For 'Assert', the condition does not hold; input data: {values}")


receivers: list[Callable[[str, str, Tensor], None]] = []
"""Receivers of the values of summary operators: kind, name, value. A SummaryRecord while it is open."""


class _Summary(_SideEffect):
    kind = ""

    def __call__(self, name: str, value: Tensor) -> None:
        """Pass a value to the open SummaryRecord, if there is one; it is written with the step.

        Args:
            name: the tag.
            value: the tensor.

        Raises:
            TypeError: ``name`` is not a str, or ``value`` is not a Tensor.
            ValueError: ``name`` is empty, or the tensor is not of the kind.
        """
        class_name = type(self).__name__
        if not check_type(name, str, class_name, "name"):
            raise ValueError(f"For '{class_name}', 'name' must not be empty")
        check_type(value, Tensor, class_name, "value")
        report_side_effect(f"{class_name} is called, and a plan would not hand its value to a SummaryRecord")
        for receive in receivers:
            receive(self.kind, name, value)


class ScalarSummary(_Summary):
    """Operator that puts a tensor with one element into a summary."""

    kind = "scalar"


class ImageSummary(_Summary):
    """Operator that puts images (N, C, H, W) into a summary."""

    kind = "image"


class TensorSummary(_Summary):
    """Operator that puts a tensor into a summary."""

    kind = "tensor"


class HistogramSummary(_Summary):
    """Operator that puts a histogram of a tensor's elements into a summary."""

    kind = "histogram"


name_methods(globals())
