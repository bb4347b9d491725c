"""Docstrings of public functions: each explains every argument, where `help` and the API pages find it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import hookscope.engine as ms
import hookscope.engine.mint
import hookscope.engine.numpy  # noqa: F401  (both declare)
from hookscope.engine.base import surfaces
from hookscope.engine.nn._documentation import explained_by

pytestmark = pytest.mark.cases(10_000)  # all: they take seconds together

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(ms.__path__, "hookscope.engine.")
    if not re.search(r"\.(debug|cpu)\b|\._", module.name)
)


def declared() -> dict[str, list[Callable[..., Any]]]:
    """Return the functions of all surfaces, by the module that they are written in."""
    results: dict[str, list[Callable[..., Any]]] = {}
    tables = (surfaces.METHODS, surfaces.IN_PLACE, surfaces.MINT, surfaces.NUMPY)
    functions = [item for table in tables for item in table.values()] + [
        item for item, _ in surfaces.PRIMITIVES.values()
    ]
    for function in functions:
        results.setdefault(getattr(function, "__module__", ""), []).append(function)
    return results


def public(name: str) -> Iterator[Any]:
    """Yield a module's public and declared names, each once."""
    module = importlib.import_module(name)
    offered = [getattr(module, item) for item in getattr(module, "__all__", ())]
    for element in {id(item): item for item in [*offered, *declared().get(name, ())]}.values():
        if getattr(element, "__module__", name) != name or not (inspect.isroutine(element) or inspect.isclass(element)):
            continue
        # Of the machine, what the top of the package offers.
        if (
            not re.search(r"\.(base|tape|tensors|autograd)\.", name)
            or hasattr(ms, element.__name__)
            or element.__module__.endswith("surfaces")
        ):
            yield element


def parameters(item: Any) -> list[str]:
    try:
        signature = inspect.signature(item.__init__ if inspect.isclass(item) else item)
    except (TypeError, ValueError):
        return []
    apart = ("self", "args", "kwargs", "kwds")  # the last of an enumeration
    return [name for name in signature.parameters if name not in apart and not name.startswith("_")]


def unexplained(item: Any) -> list[str]:
    """Return parameters that the documentation does not name."""
    text = inspect.getdoc(item) or ""
    if inspect.isclass(item):
        text += "\n" + (inspect.getdoc(item.__init__) or "")
    return [name for name in parameters(item) if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


@pytest.mark.parametrize("name", MODULES)
def test_each_argument_is_explained(name: str) -> None:
    missing = {getattr(item, "__qualname__", repr(item)): unexplained(item) for item in public(name)}
    assert {key: names for key, names in missing.items() if names} == {}


@pytest.mark.parametrize("name", MODULES)
def test_whatever_is_offered_says_what_it_is(name: str) -> None:
    assert [item for item in public(name) if not (inspect.getdoc(item) or "").strip()] == []


class Family:
    """What they have in common.

    Args:
        first: of the family,
            in two lines.
        second: of the family.
        *rest: more of them.

    Raises:
        TypeError: from the family.
    """


def test_a_class_says_what_its_family_says_of_the_arguments_that_it_takes() -> None:
    @explained_by(Family)
    class One:
        """One of them.

        It says more.

        Args:
            second: its own.
        """

        def __init__(self, second: int, first: int) -> None: ...

    @explained_by(Family)
    class Other:
        """Another.

        Raises:
            ValueError: its own.
        """

        def __init__(self, *rest: int) -> None: ...

    first, raised = "    first: of the family,\n        in two lines.", "\n\nRaises:\n    "
    assert One.__doc__ == (
        f"One of them.\n\nIt says more.\n\nArgs:\n    second: its own.\n{first}{raised}TypeError: from the family."
    )
    assert Other.__doc__ == f"Another.\n\nArgs:\n    *rest: more of them.{raised}ValueError: its own."


def test_an_operator_says_what_its_kind_has_in_common() -> None:
    of_one = (
        "{}\n\nArgs:\n    input: x, a tensor of any shape.\n{}\nReturns:\n    {}\n\nRaises:\n"
        "    TypeError: ``input`` is no Tensor."
    )
    of_two = of_one.replace("any shape.", "any shape or a number.").replace(
        "``input`` is no Tensor", "an input is neither a tensor nor a number"
    )
    other = "    {}: y, a tensor that broadcasts with ``input`` or a number.\n"
    both = (
        "A tensor of the shape that both broadcast to. Of two dtypes the floating or wider one is computed in; a "
        "number takes\n    the tensor's dtype unless its kind is higher."
    )
    for operator, second, returns in (
        (ms.ops.add, "other", both),
        (ms.ops.atan2, "other", f"{both} Bools and integers become Float32."),
        (ms.ops.pow, "exponent", both),
        (ms.ops.neg, "", "A tensor of the same shape."),
        (ms.ops.exp, "", "A tensor of the same shape. Bools and integers become Float32."),
    ):
        text = inspect.getdoc(operator) or ""
        common, more = (of_two, other.format(second)) if second else (of_one, "")
        assert text == common.format(text.partition("\n")[0], more, returns)
