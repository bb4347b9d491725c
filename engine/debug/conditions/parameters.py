"""Conditions on parameters over the steps of a training; a formula sees a ``ParameterSeen``."""

from __future__ import annotations

import math
from typing import NamedTuple

from .condition import NO_THRESHOLD, Condition

__all__ = ["ROWS", "ParameterSeen"]

_SAGEMAKER = "https://docs.aws.amazon.com/sagemaker/latest/dg/debugger-built-in-rules.html"
_MINDINSIGHT = "https://gitee.com/mindspore/mindinsight, debugger/conditionmgr/condition_list.py"
_CS231N = "https://cs231n.github.io/neural-networks-3/#ratio"
_HE = "He et al. 2015, https://arxiv.org/abs/1502.01852"
_GLOROT = "Glorot and Bengio 2010, https://proceedings.mlr.press/v9/glorot10a.html"


# How far below Glorot's scale a weight may begin: small is often meant, as in the last layer of a branch.
_SMALLER = 1e4


class ParameterSeen(NamedTuple):
    """What is known of one trainable parameter at one moment; None where that moment does not tell.

    Attributes:
        shape: its shape.
        gradient: at the end of a gradient call: "none", "zeros", "noise" (a sum that is zero but for rounding, as of a
            bias before BatchNorm), "some", or "not asked" where no gradient call has asked for it for a while.
        others: whether another parameter of the same call fared otherwise: got a gradient, or was changed.
        change, norm: after an update: the norm of the difference, and the norm before.
        root_mean_square: before the first update.
        symmetric: after the first gradient: why its units cannot become different, or "".
    """

    shape: tuple[int, ...]
    gradient: str | None = None
    others: bool = False
    change: float | None = None
    norm: float = math.nan
    root_mean_square: float | None = None
    symmetric: str | None = None

    @property
    def is_weight(self) -> bool:
        """Whether it is a matrix or a kernel; biases and scales begin at 0 or 1 and have laws of their own."""
        return len(self.shape) > 1 and min(self.shape[0], self.fan_in) > 1

    @property
    def fan_in(self) -> int:
        """The number of inputs of a unit, as for Dense and convolutions."""
        return math.prod(self.shape[1:])


def _no_gradient(seen: ParameterSeen, threshold: float) -> str | None:
    if seen.gradient == "none":
        return "the loss does not depend on it"
    # Where no parameter has a gradient, the loss may just be at its lowest.
    return "only zeros came" if seen.gradient == "zeros" and seen.others else None


def _unchanged(seen: ParameterSeen, threshold: float) -> str | None:
    if seen.change != 0 or not seen.others:
        return None
    if seen.gradient == "not asked":
        return "it is trainable and in training mode, but no gradient call asks for it"
    return "it has a gradient and stays the same while others change" if seen.gradient == "some" else None


def _too_large(seen: ParameterSeen, threshold: float) -> str | None:
    if seen.change is None or not seen.is_weight:
        return None
    # A weight that begins at or near zero must be able to grow to what its fan-in calls for.
    usual = math.sqrt(math.prod(seen.shape) / seen.fan_in)
    ratio = seen.change / max(seen.norm, usual)
    return f"changed by {ratio:.3g} of its norm in one step" if ratio > threshold else None


def _too_small(seen: ParameterSeen, threshold: float) -> str | None:
    if seen.change is None or not seen.norm or not seen.is_weight or seen.gradient != "some":
        return None
    ratio = seen.change / seen.norm
    return f"changed by {ratio:.3g} of its norm in one step" if ratio < threshold else None


def _initial(seen: ParameterSeen, threshold: float) -> str | None:
    if not seen.is_weight:
        return None
    if seen.symmetric:
        return seen.symmetric
    scale = seen.root_mean_square
    if not scale:  # zeros are a matter of symmetry
        return None
    he = math.sqrt(2 / seen.fan_in)
    glorot = math.sqrt(2 / (seen.fan_in + math.prod(seen.shape) / seen.shape[1]))
    if scale > threshold * he:
        return f"root mean square {scale:.3g}, where He's rule gives {he:.3g}"
    if scale < glorot / _SMALLER:
        return f"root mean square {scale:.3g}, where Glorot's rule gives {glorot:.3g}"
    return None


ROWS = (
    Condition(
        "initial_weights", "parameters", _initial, 5.0, "times He's scale",
        "a weight begins with a scale above that of its fan-in or far below it, or with units that stay alike",
        "Use an initialiser that suits the activation, such as HeNormal or XavierUniform.",
        f"{_HE}; {_GLOROT}; PoorWeightInitialization in {_SAGEMAKER}: variances that differ by 10; wider here, and "
        "more so below, where small is often meant",
    ),
    Condition(
        "no_gradient", "parameters", _no_gradient, NO_THRESHOLD, "",
        "a trainable parameter gets no gradient, or only zeros, in 3 gradient calls",
        "Look for stop_gradient, a way through NumPy, an index or a comparison between it and the loss.",
        f"3 steps as UnchangedTensor in {_SAGEMAKER}",
        in_a_row=3,
    ),
    Condition(
        "unchanged_weight", "parameters", _unchanged, NO_THRESHOLD, "",
        "a trainable parameter with a gradient stays the same over 3 steps while others change",
        "See that the optimiser was given it, and that its learning rate is not too small for its dtype.",
        f"UnchangedTensor in {_SAGEMAKER}: 3 steps",
        in_a_row=3,
    ),
    Condition(
        "update_too_large", "parameters", _too_large, 1.0, "norm of the change by norm of the weight",
        "a weight changes in one step by as much as it is, or as one of variance 1 / fan-in where it is smaller",
        "Lower the learning rate, warm it up or clip the gradient.",
        f"between weight_change_too_large in {_MINDINSIGHT} (0.1: Adam's first steps on small layers reach it) and "
        f"WeightUpdateRatio in {_SAGEMAKER} (10); about 1e-3 is usual: {_CS231N}",
    ),
    Condition(
        "update_too_small", "parameters", _too_small, 1e-7, "norm of the change by norm of the weight",
        "the changes of a weight are below the resolution of float32 in 3 steps",
        "Raise the learning rate, or look for a gradient that is scaled down by mistake.",
        f"WeightUpdateRatio in {_SAGEMAKER}: 1e-8; 2**-24, half a step of float32, is 6e-8",
        in_a_row=3,
    ),
)  # fmt: skip
