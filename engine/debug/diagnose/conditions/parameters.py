"""Conditions on parameters in the course of a training: their initial values, gradients and changes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from .condition import NO_THRESHOLD, Condition, Detail
from .optimizer import summed_detail

__all__ = [
    "ROWS",
    "BeginningObservation",
    "FrozenObservation",
    "GradientObservation",
    "NetworkGradientObservation",
    "UnfrozenObservation",
    "UpdateObservation",
    "UseObservation",
    "is_weight",
    "usual_norm",
]

_SAGEMAKER = "https://docs.aws.amazon.com/sagemaker/latest/dg/debugger-built-in-rules.html"
_MINDINSIGHT = "https://gitee.com/mindspore/mindinsight, debugger/conditionmgr/condition_list.py"
_CS231N = "https://cs231n.github.io/neural-networks-3/#ratio"
_HE = "He et al. 2015, https://arxiv.org/abs/1502.01852"
_GLOROT = "Glorot and Bengio 2010, https://proceedings.mlr.press/v9/glorot10a.html"


_SET_BEFORE = "See what was loaded or written into it; if it was trained, the steps were too large."

# Allowed distance below Glorot's scale: small weights are often intended, as in the last layer of a branch.
_SMALLER = 1e4

# Gradient calls without any gradient that are too many: if the loss depends on no parameter, and if it is flat.
_NONE, _FLAT = 3, 10


@dataclass(frozen=True)
class BeginningObservation:
    """A trainable parameter before its first update.

    Attributes:
        shape: its shape.
        root_mean_square: the root mean square of its elements before the first step; None if its initialization
            follows another rule.
        symmetric: the reason why its units cannot become different, known after the first gradient; or "".
        is_new: whether it holds the values that it was made with; else it may have been trained before.
    """

    group: ClassVar[str] = "parameters"

    shape: tuple[int, ...]
    root_mean_square: float | None = None
    symmetric: str = ""
    is_new: bool = True


@dataclass(frozen=True)
class GradientObservation:
    """The gradient of a trainable parameter in a gradient call.

    Attributes:
        gradient: "none", "zeros", "noise" (a sum that is zero but for rounding, as of a bias before BatchNorm) or
            "some".
        others: whether another parameter of the same call got a gradient.
        cancels: whether it is a bias or a scale that had a gradient before, or whose cell's weight has one: its terms
            may well cancel, as in a difference of two outputs.
    """

    group: ClassVar[str] = "parameters"

    gradient: str
    others: bool
    cancels: bool = False

    @property
    def is_over(self) -> bool:
        """Whether a gradient has come, so that an earlier finding was about some batches: an expert that was idle."""
        return self.gradient == "some"


@dataclass(frozen=True)
class NetworkGradientObservation:
    """All parameters of the gradient calls for the same weights, as long as none of them has had a gradient.

    Attributes:
        calls: the number of these calls.
        zeros: whether some gradients came, all of them zeros; else none came.
        count: the number of the parameters.
        loss: the differentiated value; NaN if it is not a single number.
        is_over: whether a gradient has come.
    """

    group: ClassVar[str] = "parameters"

    calls: int
    zeros: bool
    count: int
    loss: float
    is_over: bool = False


@dataclass(frozen=True)
class UpdateObservation:
    """A trainable parameter in a step in which it, or another one, was assigned a new array.

    Attributes:
        shape: its shape.
        gradient: as in ``GradientObservation``, or "not asked" if no gradient call has requested it for a while.
        change: the norm of the difference; NaN if a value is not finite.
        norm: the norm before; NaN if it was not assigned.
        others: whether another parameter was changed in that step.
        summed: the number of gradient calls whose plain sum its optimizer got; 0 if not of several.
    """

    group: ClassVar[str] = "parameters"

    shape: tuple[int, ...]
    gradient: str
    change: float
    norm: float = math.nan
    others: bool = True
    summed: int = 0


@dataclass(frozen=True)
class UseObservation:
    """The use of a trainable parameter, at the end of a gradient call that requested it.

    Attributes:
        unused: whether no operator used it and it got no gradient.
        ran: whether its cell was called.
    """

    group: ClassVar[str] = "parameters"

    unused: bool
    ran: bool


@dataclass(frozen=True)
class FrozenObservation:
    """A parameter without a gradient in a step in which others have one.

    Attributes:
        meant: whether the freezing is intended. It is if the parameter was loaded or trained before, if its cell is in
            prediction mode, if no operator used it, if many weights are frozen, or if every parameter used before it is
            frozen too, as in the body of a network whose head is trained.
        ndim: its number of axes.
    """

    group: ClassVar[str] = "parameters"

    meant: bool
    ndim: int


@dataclass(frozen=True)
class UnfrozenObservation:
    """A parameter that was frozen, is not any more, and was used in a gradient call that does not request it.

    Attributes:
        held: whether an optimizer holds it.
        ndim: its number of axes.
    """

    group: ClassVar[str] = "parameters"

    held: bool
    ndim: int


def is_weight(shape: tuple[int, ...]) -> bool:
    """Return whether a shape is that of a matrix or a kernel; biases and scales begin at 0 or 1 by other rules."""
    return len(shape) > 1 and min(shape[0], _fan_in(shape)) > 1


def usual_norm(shape: tuple[int, ...]) -> float:
    """Return the norm of a weight of variance 1 / fan-in."""
    return math.sqrt(math.prod(shape) / _fan_in(shape))


def _fan_in(shape: tuple[int, ...]) -> int:
    """Return the number of inputs of a unit, as for Dense and convolutions."""
    return math.prod(shape[1:])


def _unused(observation: UseObservation, threshold: float) -> str | None:
    if not observation.unused:
        return None
    return "construct does not use it" if observation.ran else "its cell is defined, and construct does not call it"


def _frozen(observation: FrozenObservation, threshold: float) -> str | None:
    if observation.meant or observation.ndim < 2:
        return None
    return "requires_grad is False, and it holds the numbers that it was drawn with"


def _unfrozen(observation: UnfrozenObservation, threshold: float) -> str | None:
    if observation.held or observation.ndim < 2:
        return None
    return "requires_grad was set to True, but no optimizer holds it, and no gradient is computed for it"


def _no_gradient(observation: GradientObservation | NetworkGradientObservation, threshold: float) -> str | None:
    if isinstance(observation, NetworkGradientObservation):
        # A loss of zero is at its minimum; a loss may also be flat in the first steps.
        if observation.is_over or observation.calls < (_FLAT if observation.zeros else _NONE):
            return None
        if observation.zeros and not (math.isfinite(observation.loss) and observation.loss):
            return None
        came = "only zeros came" if observation.zeros else "the loss depends on none of them"
        return f"no parameter of {observation.count} gets a gradient: {came}, in every one of {observation.calls} calls"
    if observation.gradient == "none":
        return "the loss does not depend on it"
    # If no parameter has a gradient, the loss may just be at its minimum. A gradient of zeros may be that of a part
    # that was idle in these batches; a loss that does not depend on a parameter never will.
    is_idle = observation.gradient == "zeros" and observation.others and not observation.cancels
    return Detail("only zeros came", minor=True) if is_idle else None


def _unchanged(observation: UpdateObservation, threshold: float) -> str | None:
    if observation.change != 0 or not observation.others:
        return None
    if observation.gradient == "not asked":
        return "it is trainable and in training mode, but no gradient call asks for it"
    return "it has a gradient and stays the same while others change" if observation.gradient == "some" else None


def _too_large(observation: UpdateObservation, threshold: float) -> str | None:
    if not is_weight(observation.shape):
        return None
    # A weight that begins at or near zero must be able to grow to the scale of its fan-in.
    ratio = observation.change / max(observation.norm, usual_norm(observation.shape))
    if not ratio > threshold:
        return None
    return summed_detail(f"changed by {ratio:.3g} of its norm in one step", observation.summed)


def _too_small(observation: UpdateObservation, threshold: float) -> str | None:
    if not (observation.norm > 0 and is_weight(observation.shape) and observation.gradient == "some"):
        return None
    ratio = observation.change / observation.norm
    return f"changed by {ratio:.3g} of its norm in one step" if ratio < threshold else None


def _initial(observation: BeginningObservation, threshold: float) -> str | None:
    if not is_weight(observation.shape):
        return None
    if observation.symmetric:
        return observation.symmetric
    scale = observation.root_mean_square
    if not scale:  # zeros are covered by symmetry
        return None
    he = math.sqrt(2 / _fan_in(observation.shape))
    glorot = math.sqrt(2 / (_fan_in(observation.shape) + math.prod(observation.shape) / observation.shape[1]))
    if scale > threshold * he:
        text = f"root mean square {scale:.3g}, where He's rule gives {he:.3g}"
    elif scale < glorot / _SMALLER:
        text = f"root mean square {scale:.3g}, where Glorot's rule gives {glorot:.3g}"
    else:
        return None
    return text if observation.is_new else Detail(f"{text}, when the session began to watch", _SET_BEFORE)


ROWS = (
    Condition(
        "unused_parameter",
        UseObservation,
        _unused,
        NO_THRESHOLD,
        "",
        "a trainable parameter that no operator reads in 3 gradient calls",
        "Use it in construct, or take it away.",
        f"own; 3 steps as UnchangedTensor in {_SAGEMAKER}",
        in_a_row=3,
        cures=(),
        certain=True,
    ),
    Condition(
        "frozen_parameter",
        FrozenObservation,
        _frozen,
        NO_THRESHOLD,
        "",
        "a weight behind others that learn is frozen at the random numbers that it began with, in 3 steps",
        "Set requires_grad=True, or load what it should hold before it is frozen.",
        f"own; 3 steps as UnchangedTensor in {_SAGEMAKER}",
        in_a_row=3,
        cures=("unfreeze",),
    ),
    Condition(
        "unfrozen_parameter",
        UnfrozenObservation,
        _unfrozen,
        NO_THRESHOLD,
        "",
        "a weight is not frozen any more, but no optimizer holds it, in 3 steps",
        "After it is unfrozen, make the optimizer and the gradient function anew, of all trainable parameters.",
        "own",
        in_a_row=3,
    ),
    Condition(
        "initial_weights",
        BeginningObservation,
        _initial,
        5.0,
        "times He's scale",
        "a weight begins with a scale above that of its fan-in or far below it, or with units that stay alike",
        "Use an initializer that suits the activation, such as HeNormal or XavierUniform.",
        f"{_HE}; {_GLOROT}; PoorWeightInitialization in {_SAGEMAKER}: variances that differ by 10; wider here, and "
        "more so below, where small is often meant",
    ),
    Condition(
        "no_gradient",
        (GradientObservation, NetworkGradientObservation),
        _no_gradient,
        NO_THRESHOLD,
        "",
        "a trainable parameter gets no gradient, or only zeros, in 3 gradient calls",
        "Look for stop_gradient, a way through NumPy, an index or a comparison between it and the loss.",
        f"3 steps as UnchangedTensor in {_SAGEMAKER}",
        in_a_row=3,
        direction="backward",
        comes_late=True,
    ),
    Condition(
        "unchanged_weight",
        UpdateObservation,
        _unchanged,
        NO_THRESHOLD,
        "",
        "a trainable parameter with a gradient stays the same over 3 steps while others change",
        "See that the optimizer was given it, and that its learning rate is not too small for its dtype.",
        f"UnchangedTensor in {_SAGEMAKER}: 3 steps",
        in_a_row=3,
        direction="backward",
        comes_late=True,
    ),
    Condition(
        "update_too_large",
        UpdateObservation,
        _too_large,
        1.0,
        "norm of the change by norm of the weight",
        "a weight changes in one step by as much as it is, or as one of variance 1 / fan-in where it is smaller",
        "Lower the learning rate, warm it up or clip the gradient.",
        f"between weight_change_too_large in {_MINDINSIGHT} (0.1: Adam's first steps on small layers reach it) and "
        f"WeightUpdateRatio in {_SAGEMAKER} (10); about 1e-3 is usual: {_CS231N}",
        direction="backward",
        symptom=True,
    ),
    Condition(
        "update_too_small",
        UpdateObservation,
        _too_small,
        1e-7,
        "norm of the change by norm of the weight",
        "the changes of a weight are below the resolution of float32 in 3 steps",
        "Raise the learning rate, or look for a gradient that is scaled down by mistake.",
        f"WeightUpdateRatio in {_SAGEMAKER}: 1e-8; 2**-24, half a step of float32, is 6e-8",
        in_a_row=3,
        direction="backward",
        symptom=True,
    ),
)
