"""Conditions on what a network holds: cells outside of it, copies of its weights, statistics that only grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .condition import NO_THRESHOLD, Condition, Detail

__all__ = ["ROWS", "CopyObservation", "StatisticObservation", "UnregisteredObservation"]

_CONTAINERS = {"dict": "CellDict"}


@dataclass(frozen=True)
class UnregisteredObservation:
    """Cells that ran in a gradient call, whose parameters belong to no network, no optimizer and no gradient call.

    Attributes:
        owner: the class of the cell that holds them.
        attribute: the attribute of that cell, "layers" or "parts.layers".
        container: the kind of the attribute: "list", "tuple", "dict", or the class of another object.
        cells: the number of these cells.
        parameters: the number of their trainable parameters.
        trained: whether some of these were trained or written after all.
    """

    group: ClassVar[str] = "network"

    owner: str
    attribute: str
    container: str
    cells: int
    parameters: int
    trained: bool = False

    @property
    def is_over(self) -> bool:
        """Whether an earlier finding was about cells that only had their turn later."""
        return self.trained


@dataclass(frozen=True)
class CopyObservation:
    """An operator's weight that no gradient reaches, and that holds the values of a parameter which is trained.

    Attributes:
        operator: the name of the operator.
        parameter: the path of the parameter.
        attribute: the attribute that holds the copy; "" if it is made in each run.
        holds: False in a gradient call in which a weight that was a copy is none any more, as one that is averaged.
    """

    group: ClassVar[str] = "network"

    operator: str
    parameter: str
    attribute: str
    holds: bool = True


@dataclass(frozen=True)
class StatisticObservation:
    """A buffer that grows in every step, and by which, or by its root, an operator normalizes values.

    Attributes:
        name: the name of the buffer in its cell.
        steps: the number of steps in which it has grown.
        operator: "div", "mul" or "sub".
        squared: whether its root is used, so that it is compared with a mean square.
        ratio: its mean magnitude by that of the values, or by their mean square.
    """

    group: ClassVar[str] = "network"

    name: str
    steps: int
    operator: str
    squared: bool
    ratio: float


def _unregistered(observation: UnregisteredObservation, threshold: float) -> str | None:
    if observation.trained:
        return None
    count, container = observation.cells, observation.container
    held = f"{count} cells with" if count > 1 else "a cell with"
    kind = container if container in ("list", "tuple", "dict") else f"object ({container})"
    text = (
        f"{held} {observation.parameters} trainable parameters, held in the {kind} `{observation.attribute}` of "
        f"{observation.owner}, is not among its cells: no gradient call asks for them and no optimizer holds them"
    )
    text = text.replace(" is not among", " are not among") if count > 1 else text
    if container in ("list", "tuple"):
        return text
    if container in _CONTAINERS:
        return Detail(text, f"Make `{observation.attribute}` an nn.{_CONTAINERS[container]}.")
    return Detail(text, f"Make {container} a Cell, or assign these cells to attributes of {observation.owner}.")


def _copied(observation: CopyObservation, threshold: float) -> str | None:
    if not observation.holds:
        return None
    where = f"`{observation.attribute}`, " if observation.attribute else ""
    result = "which stays as it was while the parameter is trained" if where else "so no gradient comes through it"
    return f"its weight is {where}a copy of the values of {observation.parameter}, {result}"


def _growing(observation: StatisticObservation, threshold: float) -> str | None:
    if not observation.ratio > threshold:
        return None
    size = "the mean square" if observation.squared else "the root mean square"
    verb = "is subtracted from" if observation.operator == "sub" else "divides"
    return (
        f"`{observation.name}` grew in each of {observation.steps} steps, without slowing, and is "
        f"{observation.ratio:.3g} times {size} of the values that it {verb}"
    )


ROWS = (
    Condition(
        "unregistered_cell",
        UnregisteredObservation,
        _unregistered,
        NO_THRESHOLD,
        "",
        "cells with trainable parameters run in a network that is trained, but are held in a plain list, dict or "
        "object, and nothing trains them",
        "Use nn.CellList in place of the list or tuple, and make the optimizer afterwards.",
        "own; 5 gradient calls, since others may have their turn later",
        in_a_row=5,
    ),
    Condition(
        "copied_weight",
        CopyObservation,
        _copied,
        NO_THRESHOLD,
        "",
        "a weight of an operator is a copy of a trained parameter, through NumPy or Tensor(...), in 3 gradient calls",
        "Use the parameter itself, transposed or reshaped by operators; for a copy that is meant, use stop_gradient.",
        "own; at least 16 elements, all those compared equal",
        in_a_row=3,
    ),
    Condition(
        "growing_statistic",
        StatisticObservation,
        _growing,
        4.0,
        "times the size of what it normalizes",
        "a running statistic by which values are normalized is a sum that grows in every step",
        "Divide the sum by the number of samples before it is used, or keep a moving average.",
        "own; a moving average never exceeds what it averages",
        in_a_row=3,
    ),
)
