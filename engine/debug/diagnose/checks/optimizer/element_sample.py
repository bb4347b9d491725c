"""Sample of the elements of parameters, and of arrays of their shapes: gradients, or weights before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hookscope.engine.tensors.backend import to_host

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter

__all__ = ["ElementSample", "Sample", "cosine", "norm"]

Sample = npt.NDArray[np.float64]

_PARAMETERS, _ELEMENTS = 16, 64


class ElementSample:
    """The same few elements of some parameters each time, at most about 1,000.

    Args:
        parameters: the parameters to choose from, evenly: those of floating-point numbers.
        weights_only: whether only those with at least two axes are chosen.

    Attributes:
        positions: the positions of the chosen ones among ``parameters``.
        ids: their ids.
    """

    def __init__(self, parameters: Sequence[Parameter], weights_only: bool = False) -> None:
        suitable = [
            (position, parameter)
            for position, parameter in enumerate(parameters)
            if parameter._array.dtype.kind in "fV"
            and parameter._array.size
            and (parameter.ndim > 1 or not weights_only)
        ]
        count = min(len(suitable), _PARAMETERS)
        chosen = [suitable[index * len(suitable) // count] for index in range(count)]
        self.positions = [position for position, _ in chosen]
        self.ids = [id(parameter) for _, parameter in chosen]
        self._shapes = [tuple(parameter.shape) for _, parameter in chosen]
        self._strides = [_stride(shape) for shape in self._shapes]

    def __len__(self) -> int:
        return len(self.positions)

    def parts(self, arrays: Sequence[Any]) -> list[Sample] | None:
        """Return the elements of an array for each chosen parameter, zeros for None; None if one does not fit."""
        parts = []
        for array, shape, stride in zip(arrays, self._shapes, self._strides, strict=True):
            if array is None:
                parts.append(np.zeros(len(range(0, math.prod(shape), stride)[:_ELEMENTS])))
            elif tuple(array.shape) != shape or array.dtype.kind not in "fV":
                return None
            else:
                parts.append(_elements(array, stride))
        return parts

    def read(self, arrays: Sequence[Any]) -> Sample | None:
        """Return the elements of the arrays, one after the other; None if one does not fit or is not finite."""
        parts = self.parts(arrays)
        if not parts:
            return None
        elements = np.concatenate(parts)
        return elements if np.isfinite(elements).all() else None


def cosine(first: Sample, second: Sample) -> float:
    """Return the cosine of the angle between two samples; 0 if one is zero."""
    norms = norm(first) * norm(second)
    return float(first @ second) / norms if norms > 0 else 0.0


def norm(sample: Sample) -> float:
    """Return the Euclidean norm of a sample."""
    return math.sqrt(float(sample @ sample))


def _stride(shape: tuple[int, ...]) -> int:
    """Return the distance of the chosen elements; they are not all in one column."""
    stride = max(1, math.prod(shape) // _ELEMENTS)
    while stride > 1 and math.gcd(stride, shape[-1]) > 1:
        stride -= 1
    return stride


def _elements(array: Any, stride: int) -> Sample:
    if isinstance(array, np.ndarray) and not array.flags.c_contiguous:
        return np.asarray(array.flat[: stride * _ELEMENTS : stride]).astype(np.float64)  # without a copy of it all
    flat: Any = array.reshape(-1)[: stride * _ELEMENTS : stride]
    elements: Sample = to_host(flat).astype(np.float64)
    return elements
