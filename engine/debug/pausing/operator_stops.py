"""The tap that hears of operators for a session: attached only while it has a breakpoint at one, or steps to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hookscope.engine import taps
from hookscope.engine.tensor import Tensor

from ..captures.capture import pick_slot

__all__ = ["OperatorStops"]


class OperatorStops(taps.Tap):
    """Passes on each operator.

    Args:
        ran: called with the operator's name, "forward" or "backward", the tensors that it gave, and by name what an
            expression may look at: ``inputs`` and ``output``, or the gradients ``grad_output`` and ``grad_input``.
    """

    observes_operators = True

    def __init__(self, ran: Callable[[str, str, list[Tensor], dict[str, Any]], None]) -> None:
        self._ran = ran

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """It ran."""
        values = [value for _, value in pick_slot("output", outputs, Tensor)]
        self._ran(name, "forward", values, {"inputs": inputs, "output": outputs})

    def operator_backward(
        self,
        name: str,
        gradient: Any,
        gradients: list[Any],
        attrs: dict[str, Any],
        inputs: tuple[Any, ...],
        output: Any,
    ) -> None:
        """Its rule ran."""
        given = [_tensor(one) for one in gradients]
        arrived = tuple([_tensor(one) for one in gradient]) if isinstance(gradient, tuple) else _tensor(gradient)
        self._ran(name, "backward", given, {"grad_output": arrived, "grad_input": tuple(given)})


def _tensor(gradient: Any) -> Any:
    return gradient if gradient is None or isinstance(gradient, Tensor) else Tensor._wrap(gradient)
