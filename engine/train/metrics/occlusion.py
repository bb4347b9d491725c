"""Occlusion sensitivity (Zeiler and Fergus 2014): the change of a score when a part of the image is covered."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array
from ...nn.cell import Cell
from ...tensors.tensor import Tensor
from .metric import Metric, rearrange_inputs, register

__all__ = ["OcclusionSensitivity"]


@register("occlusion_sensitivity")
class OcclusionSensitivity(Metric):
    """The score of a label minus its score with a square around each position covered.

    Args:
        pad_val: the value of the covered part.
        margin: the distance from the square's center to its edge: an int, or a list of one for each axis.
        n_batch: the number of covered images per call of the network.
        b_box: minimum and maximum position along each axis, [low, high, low, high, ...]; negative: the whole axis.

    Raises:
        TypeError: an argument of the wrong type.
    """

    def __init__(
        self, pad_val: float = 0.0, margin: int | list[int] = 2, n_batch: int = 128, b_box: list[int] | None = None
    ) -> None:
        super().__init__()
        for name, value, kinds in (
            ("pad_val", pad_val, float),
            ("margin", margin, int | list),
            ("n_batch", n_batch, int),
            ("b_box", b_box, list | None),
        ):
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise TypeError(f"For 'OcclusionSensitivity', '{name}' cannot be {value!r}")
        self.pad_val, self.margin, self.n_batch, self.b_box = pad_val, margin, n_batch, b_box
        self.clear()

    def clear(self) -> None:
        self._baseline: Any = 0.0
        self._covered: Any = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Store a network and an image in place of the last.

        Args:
            *inputs: the network, one image (1, C, H, ...) and its label.

        Raises:
            TypeError: the network is not a Cell.
            ValueError: the wrong number of inputs, or a ``b_box`` outside the image.
            RuntimeError: several images or labels.
        """
        if len(inputs) != 3:
            raise ValueError(
                f"For 'OcclusionSensitivity.update', there must be 3 inputs (model, image, label), got {len(inputs)}"
            )
        model, image, label = inputs[0], self._convert_data(inputs[1]), self._convert_data(inputs[2])
        if not isinstance(model, Cell):
            raise TypeError(f"For 'OcclusionSensitivity.update', the model must be a Cell, got {type(model).__name__}")
        if image.shape[0] != 1 or label.size != 1:
            raise RuntimeError(
                "For 'OcclusionSensitivity.update', there must be one image and one label, "
                f"but got {image.shape[0]} and {label.size}"
            )
        number = int(label.reshape(-1)[0])
        low, high = self._box(np.array(image.shape[1:]))
        self._baseline = model(Tensor(image)).asnumpy()[0, number].item()
        shape = tuple(high - low)
        scores: list[float] = []
        covered: list[Any] = []
        for position in np.ndindex(*shape):
            centre = np.array(position) + low
            covered_image = image.copy()
            # As in MindSpore the square ends before center + margin.
            margins = np.broadcast_to(self.margin, low.shape)
            square: Any = (0, *(slice(max(0, c - m), c + m) for c, m in zip(centre, margins, strict=True)))
            covered_image[square] = self.pad_val
            covered.append(covered_image)
            if len(covered) == self.n_batch or len(scores) + len(covered) == np.prod(shape):
                scores += model(Tensor(np.concatenate(covered))).asnumpy()[:, number].tolist()
                covered = []
        self._covered = np.array(scores).reshape(shape)

    def _box(self, lengths: Array) -> tuple[Array, Array]:
        """Return the first position along each axis, and the one after the last."""
        if self.b_box is None:
            return np.zeros_like(lengths), lengths
        if len(self.b_box) != 2 * len(lengths):
            raise ValueError(
                f"For 'OcclusionSensitivity', 'b_box' must have 2 numbers for each of the {len(lengths)} axes, "
                f"but got {len(self.b_box)}"
            )
        low, high = np.array(self.b_box[::2]), np.array(self.b_box[1::2])
        low = np.maximum(low, 0)
        high = np.where(high < 0, lengths - 1, high)
        if (high >= lengths).any() or (low > high).any():
            raise ValueError(f"For 'OcclusionSensitivity', 'b_box' {self.b_box} does not lie in the image {lengths}")
        return low, high + 1

    def eval(self) -> Array:
        self._need(self._covered is not None)
        return self._baseline - np.squeeze(self._covered)
