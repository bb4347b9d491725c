"""Conditions of the user's own as functions: registered by the decorator ``condition``, or by a plugin.

A plugin is a package with an entry point in the group ``hookscope.conditions``; its module is imported when conditions
are first named, and registers its functions by the decorator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from hookscope.engine.cpu.notices import tell

from ...argument_checks import checked_text
from .condition import NO_THRESHOLD, Condition
from .network import LossObservation
from .values import ValueObservation

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["CONDITIONS", "ParameterObservation", "condition", "load_plugins", "remove_condition"]

CONDITIONS: dict[str, Condition] = {}
"""All conditions by name: those of the package, in the order of their subjects, then those of users."""

_GROUP = "hookscope.conditions"
_CURES = ("pause_here", "clip", "unfreeze", "set_train")

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class ParameterObservation:
    """A trainable parameter at the end of a gradient call that asked for it.

    Attributes:
        parameter: the parameter.
        gradient: its gradient; None if the loss does not depend on it.
        step: the number of the step.
    """

    group: ClassVar[str] = "parameters"

    parameter: Parameter
    gradient: Tensor | None
    step: int


_ABOUT: dict[str, tuple[type[Any], Callable[[Any], object]]] = {
    "value": (ValueObservation, lambda observation: observation.capture),
    "parameter": (ParameterObservation, lambda observation: observation),
    "loss": (LossObservation, lambda observation: tuple(observation.losses)),
}
"""By the word in ``about``: the class of the observations, and what the function gets of one."""


@overload
def condition(function: Function) -> Function: ...


@overload
def condition(
    *,
    name: str = ...,
    about: str = ...,
    threshold: float = ...,
    meaning: str = ...,
    advice: str = ...,
    steps: int = ...,
    slots: Sequence[str] = ...,
    cells: Sequence[str] = ...,
    certain: bool = ...,
    symptom: bool = ...,
    cures: Sequence[str] = ...,
) -> Callable[[Function], Function]: ...


def condition(
    function: Any = None,
    *,
    name: str = "",
    about: str = "value",
    threshold: float = NO_THRESHOLD,
    meaning: str = "",
    advice: str = "",
    steps: int = 1,
    slots: Sequence[str] = ("output",),
    cells: Sequence[str] = (),
    certain: bool = False,
    symptom: bool = False,
    cures: Sequence[str] = ("pause_here",),
) -> Any:
    """Register a function as a condition, which sessions check like those of the package; replace one of its name.

    The function returns a sentence on what is wrong, True, or None or False if nothing is. It gets, by ``about``:

    - "value": a ``Capture`` of a watched cell, with ``value``, ``statistics()``, ``path``, ``direction``, ``step``;
    - "parameter": a ``ParameterObservation``, with ``parameter``, ``gradient`` and ``step``;
    - "loss": the losses so far, a tuple of floats, oldest first;

    and with a ``threshold`` that number as its second argument, as the session has set it (``NAME=NUMBER``).

    Args:
        function: the function, if the decorator is used without arguments.
        name: its name in ``conditions=``; by default that of the function.
        about: "value", "parameter" or "loss".
        threshold: the default; NaN for none.
        meaning: the condition in words; by default the first line of the function's docstring, or the name.
        advice: the first thing to check, one sentence.
        steps: the number of consecutive steps in which it must hold.
        slots: for values: prefixes of the slots, such as "output", "input", "grad_output" or "grad_input".
        cells: for values: names of cell classes; empty for all.
        certain: whether it is a fact, and not only likely.
        symptom: whether it is a sign of a fault, and not the fault itself.
        cures: the cures that the debugger offers: "pause_here", "clip", "unfreeze", "set_train".

    Returns:
        the function, unchanged.

    Raises:
        TypeError: ``function`` is not callable, or a text is not a str.
        ValueError: a name that is a condition of the package, is not one word or is "all"; an unknown ``about`` or
            cure; ``steps`` below 1; or ``certain`` and ``symptom`` together.
    """
    if function is not None and not callable(function):
        raise TypeError(f"condition: a function is decorated, got {type(function).__name__}")
    checked_text("name", name)
    checked_text("advice", advice)
    checked_text("meaning", meaning)
    if about not in _ABOUT:
        raise ValueError(f"condition: about must be {', '.join(map(repr, _ABOUT))}, got {about!r}")
    unknown_cures = [cure for cure in cures if cure not in _CURES]
    if unknown_cures:
        raise ValueError(f"condition: cures must be among {', '.join(map(repr, _CURES))}, got {unknown_cures[0]!r}")
    if steps < 1:
        raise ValueError(f"condition: steps must be at least 1, got {steps!r}")
    if certain and symptom:
        raise ValueError("condition: it is certain, or a symptom, not both")

    def register(decorated: Function) -> Function:
        own_name = name or decorated.__name__
        _check_name(own_name)
        documented = (decorated.__doc__ or "").strip().partition("\n")[0].rstrip(".")
        observed, argument_of = _ABOUT[about]
        CONDITIONS[own_name] = Condition(
            own_name,
            observed,
            _formula(decorated, argument_of, not math.isnan(threshold)),
            float(threshold),
            "",
            meaning or documented or own_name,
            advice or "It is a condition of your own.",
            "own",
            slots=tuple(slots),
            cells=tuple(cells),
            in_a_row=steps,
            certain=certain,
            symptom=symptom,
            place="loss" if about == "loss" else "",
            cures=tuple(cures),
            is_own=True,
        )
        return decorated

    return register if function is None else register(function)


def _check_name(name: str) -> None:
    if not name.isidentifier() or name in ("all", "saturated"):
        raise ValueError(f"condition: the name must be one word, and not 'all' or 'saturated', got {name!r}")
    if name in CONDITIONS and not CONDITIONS[name].is_own:
        raise ValueError(f"condition: {name!r} is a condition of the package; give yours another name")


def _formula(
    function: Callable[..., Any], argument_of: Callable[[Any], object], has_threshold: bool
) -> Callable[[Any, float], str | None]:
    def formula(observation: Any, threshold: float) -> str | None:
        argument = argument_of(observation)
        result = function(argument, threshold) if has_threshold else function(argument)
        if result is None or result is False:
            return None
        return result if isinstance(result, str) else "it is true"

    return formula


def remove_condition(name: str) -> None:
    """Remove a condition of the user's own; sessions that check it already go on.

    Raises:
        ValueError: there is none of this name.
    """
    if name not in CONDITIONS or not CONDITIONS[name].is_own:
        raise ValueError(f"remove_condition: no condition {name!r} of your own")
    del CONDITIONS[name]


_loaded: set[str] = set()


def load_plugins() -> None:
    """Import the plugins that are installed, each once; one that fails is reported in a line and left out."""
    for plugin in entry_points(group=_GROUP):
        if plugin.value in _loaded:
            continue
        _loaded.add(plugin.value)
        try:
            plugin.load()
        except Exception as error:  # of the plugin: it must not prevent a session
            tell(f"hookscope: the plugin {plugin.name!r} ({plugin.value}) is left out: {type(error).__name__}: {error}")
