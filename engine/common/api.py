"""``mindspore.common.api``: what MindSpore keeps beside its compiler, as far as eager execution has a use for it."""

from __future__ import annotations

from ..core.names import on_first_use
from ..core.recording import no_gradients, state
from ..core.saved_tensors import saved_tensors_hooks
from ..jit import jit, jit_class, ms_memory_recycle

__all__ = ["_no_grad", "_pynative_executor", "jit", "jit_class", "ms_memory_recycle", "saved_tensors_hooks"]

_no_grad = no_gradients


class _Executor:
    """MindSpore's executor of operators; here every operator has run when its call returns."""

    def sync(self) -> None:
        """Wait until all has run."""

    def enable_grad(self) -> bool:
        """Whether gradients can be asked for: not inside ``_no_grad``."""
        return not state.refused

    def grad_flag(self) -> bool:
        """Whether operators are recorded where a gradient is asked for: they always are."""
        return True

    def requires_grad(self) -> bool:
        """Whether gradients can be asked for; the same as ``enable_grad``."""
        return not state.refused

    def high_order(self) -> bool:
        """Whether a gradient of a gradient is being computed."""
        return len(state.recordings) > 1


_pynative_executor = _Executor()
__getattr__ = on_first_use(__name__)
