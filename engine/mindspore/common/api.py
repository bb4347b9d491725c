"""``mindspore.common.api``: helpers of MindSpore's compiler that apply to eager execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...autograd.saved_tensors import saved_tensors_hooks
from ...base.module_names import on_first_use
from ...tape.tape import no_gradients, state
from ...tensors.nested import tensors_in
from ...tensors.placeholder import Placeholder
from ..jit import jit, jit_class, ms_memory_recycle

if TYPE_CHECKING:
    from ...nn import Cell

__all__ = [
    "_cell_graph_executor",
    "_no_grad",
    "_pynative_executor",
    "jit",
    "jit_class",
    "ms_memory_recycle",
    "saved_tensors_hooks",
]

_no_grad = no_gradients


class _Executor:
    """MindSpore's executor of operators; here every operator has run when its call returns."""

    def sync(self) -> None:
        """Wait until all work is done."""

    def enable_grad(self) -> bool:
        """Return whether gradients are enabled, as they are outside ``_no_grad``."""
        return not state.gradients_disabled

    def grad_flag(self) -> bool:
        """Return whether operators are recorded on request: always True."""
        return True

    def requires_grad(self) -> bool:
        """Return whether gradients are enabled; the same as ``enable_grad``."""
        return not state.gradients_disabled

    def high_order(self) -> bool:
        """Return whether a gradient of a gradient is being computed."""
        return len(state.recordings) > 1


_pynative_executor = _Executor()


class _CellExecutor:
    """Stands in for a graph compiler: checks whether a cell can be called with these inputs."""

    def compile(
        self,
        obj: Cell,
        *args: Any,
        phase: str = "predict",
        do_convert: bool = True,
        jit_config_dict: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> tuple[str, bool]:
        """Call a cell once and restore its parameters, so that its errors are raised.

        The call is skipped if an input is a placeholder, which has no values.

        Args:
            obj: the cell.
            *args: its positional inputs.
            phase: a name, which is returned.
            do_convert: ignored; nothing is converted.
            jit_config_dict: ignored; there is no compiler.
            **kwargs: its keyword inputs.

        Returns:
            (phase, True).

        Raises:
            AttributeError: ``obj`` has no ``construct``.
            Exception: whatever the call raises.
        """
        if not hasattr(obj, "construct"):
            raise AttributeError(f"{type(obj).__name__} has no method 'construct', so it cannot be compiled")
        if any(isinstance(value, Placeholder) for value in tensors_in((args, kwargs))):
            return phase, True
        before = [(parameter, parameter._array) for parameter in obj.get_parameters()]
        try:
            obj(*args, **kwargs)
        finally:
            for parameter, array in before:
                parameter._rebind(array)
        return phase, True

    def __call__(self, obj: Cell, *args: Any, phase: str = "predict") -> Any:
        """Call a cell.

        Args:
            obj: the cell.
            *args: its inputs.
            phase: a name; it has no effect.

        Returns:
            The result of the call.
        """
        return obj(*args)

    run = __call__


_cell_graph_executor = _CellExecutor()
__getattr__ = on_first_use(__name__)
