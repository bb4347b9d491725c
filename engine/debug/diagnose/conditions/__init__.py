"""Conditions: possible faults of a training, as rows of data; ``CONDITIONS`` has them by name.

Rows about data, losses, their terms, optimizers, non-finite numbers, activations, gradients, parameters and the
network are in one module each, with the observations that their formulas use. The checks that make the observations are
in ``checks``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ....base.nearest_name import suggestion
from ....base.quoting import quoted
from ...argument_checks import checked_text
from ...record.statistics import any_nonfinite
from . import (
    activations,
    data,
    gradients,
    loss,
    loss_terms,
    network,
    nonfinite,
    optimizer,
    parameters,
    representations,
    structure,
    targets,
    updates,
    values,
)
from .condition import Condition, Detail, Hit
from .registered import CONDITIONS, ParameterObservation, condition, load_plugins, remove_condition
from .user import own_condition

if TYPE_CHECKING:
    from ...record.capture import Capture
    from ...record.statistics import Statistics

__all__ = [
    "CONDITIONS",
    "Condition",
    "Detail",
    "Hit",
    "ParameterObservation",
    "condition",
    "condition_names",
    "examine",
    "parse_conditions",
    "remove_condition",
    "split_conditions",
    "tried",
]

CONDITIONS.update(
    (row.name, row)
    for module in (
        data,
        targets,
        loss,
        loss_terms,
        optimizer,
        updates,
        nonfinite,
        activations,
        gradients,
        parameters,
        network,
        representations,
        structure,
    )
    for row in module.ROWS
)

_SATURATED = ("saturated_sigmoid", "saturated_tanh")
_ALIASES = ("saturated", "all")


_OWN_CONDITION = re.compile(r"(^|,)\s*if\s")


def split_conditions(text: str, option: str = "conditions") -> list[str]:
    """Split conditions at commas; an ``if EXPRESSION`` is the last one, since it may contain commas.

    Args:
        text: the conditions.
        option: the argument's name in errors.

    Raises:
        ValueError: a name is empty.
    """
    match = _OWN_CONDITION.search(text)
    name_text, expression_text = (
        (text, "") if match is None else (text[: match.start()], text[match.start() :].lstrip(", "))
    )
    names = [name.strip() for name in name_text.split(",")] if name_text.strip() or not expression_text else []
    if not all(names):
        raise ValueError(f"{option} must be names between commas, none of them empty, got {text!r}")
    return [*names, expression_text] if expression_text else names


def parse_conditions(texts: Sequence[str], option: str = "conditions") -> list[Condition]:
    """Parse ``NAME``, ``NAME=THRESHOLD`` or ``if EXPRESSION`` each.

    "saturated" is saturated_sigmoid and saturated_tanh, "all" is every row.

    Args:
        texts: the conditions.
        option: the argument's name in errors.

    Raises:
        TypeError: an item is not a str.
        ValueError: an unknown name, a faulty expression, a threshold that is not a number, or one where none is used.
    """
    conditions: dict[str, Condition] = {}
    for text in texts:
        try:
            parsed = _parse(checked_text(option, text).strip())
        except ValueError as error:
            raise ValueError(f"{option} {quoted(text)}: {error}") from None
        conditions.update({condition.name: condition for condition in parsed})
    return list(conditions.values())


def condition_names() -> list[str]:
    """Return the names of all conditions, and the names for several of them."""
    return [*CONDITIONS, *_ALIASES]


def _parse(text: str) -> list[Condition]:
    if text.split(maxsplit=1)[:1] == ["if"]:
        return [own_condition(text)]
    name, equals, number = (part.strip() for part in text.partition("="))
    load_plugins()
    if name not in CONDITIONS and name not in _ALIASES:
        known_names = condition_names()
        raise ValueError(f"no such condition{suggestion(name, known_names)} (all: {', '.join(known_names)})")
    names = tuple(CONDITIONS) if name == "all" else _SATURATED if name == "saturated" else (name,)
    rows = [CONDITIONS[known_name] for known_name in names]
    if equals and len(rows) > 1 and any(math.isnan(row.threshold) for row in rows):
        raise ValueError(f"{name!r} takes no threshold, since not all it names have one; give it to one by name")
    return [_with_threshold(row, number) for row in rows] if equals else rows


def _with_threshold(condition: Condition, number: str) -> Condition:
    if math.isnan(condition.threshold):
        raise ValueError(f"{condition.name} has no threshold")
    try:
        threshold = float(number)
    except ValueError:
        threshold = math.nan
    if not math.isfinite(threshold):
        raise ValueError(f"the threshold must be a finite number, got {number!r}")
    return replace(condition, threshold=threshold)


def examine(
    capture: Capture,
    conditions: Iterable[Condition] = tuple(CONDITIONS.values()),
    first_gradient: Statistics | None = None,
    names: Callable[[], Mapping[str, object]] = dict,
    failed: Callable[[Condition, Exception], None] | None = None,
) -> list[Hit]:
    """Return the hits of the conditions on a captured value.

    Args:
        capture: the value.
        conditions: the conditions to check.
        first_gradient, names: see ``values.ValueObservation``.
        failed: called with a condition whose formula raises, which then does not hold. Without it, only the user's own
            conditions may raise.
    """
    applicable = [condition for condition in conditions if condition.looks_at(capture)]
    return tried(capture, applicable, first_gradient, names, failed)


def tried(
    capture: Capture,
    applicable: Sequence[Condition],
    first_gradient: Statistics | None,
    names: Callable[[], Mapping[str, object]],
    failed: Callable[[Condition, Exception], None] | None,
) -> list[Hit]:
    """Return the hits of conditions that all apply to such a value."""
    # Most values are finite, and this check costs a fraction of the statistics.
    if all(condition.nonfinite for condition in applicable) and not (applicable and any_nonfinite(capture.array)):
        return []
    observation = values.ValueObservation(capture, first_gradient, names)
    hits = []
    for row in applicable:
        try:
            detail = row.formula(observation, row.threshold)
        except Exception as error:  # an error of the user's expression must not end the user's run
            if failed is not None:
                failed(row, error)
            elif not row.is_own:
                raise
            continue
        if detail is not None:
            hits.append(Hit.of(row, capture.path, capture.key, capture.step, detail, capture))
    return hits
