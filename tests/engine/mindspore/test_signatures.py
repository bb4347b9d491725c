"""Arguments have the names, the order and the defaults of MindSpore's, as recorded from it (recorded_signatures.py)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest
from recorded_signatures import recorded

import hookscope.engine as ms
from hookscope.engine.base.surfaces import PRIMITIVES, REQUIRED

RECORDED = recorded()
EMPTY = inspect.Parameter.empty
DOTS = object()
DIFFERENT = {
    "dataset.BatchDataset": "made by Dataset.batch here, of children and columns",
    "dataset.Dataset": "a base class, made of children and columns here",
    "dataset.MappableDataset": "a base class, made of children and columns here",
    "dataset.SourceDataset": "a base class, made of children and columns here",
}
"""Differences from MindSpore, with their reasons."""


def function_of(name: str) -> Callable[..., Any] | None:
    try:
        result = attrgetter(name)(ms)
    except (AttributeError, ImportError):
        return None
    return result if callable(result) and not refuses(result) else None


def refuses(item: Any) -> bool:
    """Return whether a function only says that it is not covered: it takes any arguments."""
    if inspect.isclass(item) and item.__name__ in PRIMITIVES:
        return False
    kinds = [p.kind for p in inspect.signature(item).parameters.values()]
    return kinds == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]


def arguments_of(item: Any) -> dict[str, Any]:
    """Return each argument with its default; ``EMPTY`` where there is none."""
    row = PRIMITIVES.get(getattr(item, "__name__", ""), (None, None))[1] if inspect.isclass(item) else None
    if row is not None and getattr(ms.ops, row.name) is item:
        return {key: EMPTY if default is REQUIRED else default for key, default in row.parameters}
    parameters = inspect.signature(item).parameters.values()
    return {p.name: p.default for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def recorded_signature(name: str) -> list[tuple[str, Any, bool]]:
    """Return each argument's name, its default, and whether it can be passed by position."""
    result = RECORDED[name]
    by_place = [*result.posonlyargs, *result.args]
    defaults = [*[None] * (len(by_place) - len(result.defaults)), *result.defaults]
    rows = [(arg.arg, default, True) for arg, default in zip(by_place, defaults, strict=True)]
    rows += [(arg.arg, default, False) for arg, default in zip(result.kwonlyargs, result.kw_defaults, strict=True)]
    return [(arg, EMPTY if node is None else value_of(node), index) for arg, node, index in rows]


def value_of(node: ast.expr) -> Any:
    value = ast.literal_eval(node)
    return DOTS if value is ... else value


def same(item: Any, other: Any) -> bool:
    if other is DOTS:
        return True
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (item, other)]
    item, other = (tuple(value) if isinstance(value, list) else value for value in (item, other))
    return bool(item == other) and (type(item) is type(other) or all(numbers))


NAMES = [name for name in RECORDED if function_of(name) is not None]


@pytest.mark.parametrize("name", sorted(set(NAMES) - DIFFERENT.keys()))
def test_arguments_are_mindspores(name: str) -> None:
    check(name)


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_on_purpose_still_does(name: str) -> None:
    with pytest.raises(AssertionError):
        check(name)


def check(name: str) -> None:
    subject = function_of(name)
    have = arguments_of(subject)
    for index, (argument, default, by_place) in enumerate(recorded_signature(name)):
        if index == 0 and default is EMPTY and by_place:
            continue  # the value that it is about is given by place
        assert argument in have, f"{name} has no argument '{argument}': {list(have)}"
        assert same(have[argument], default), f"{name}: '{argument}' is {have[argument]!r} by default, not {default!r}"
        if by_place:
            assert list(have)[index] == argument, (
                f"{name}: '{argument}' is at another position than {index}: {list(have)}"
            )
