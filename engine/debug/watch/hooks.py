"""Hooks of the session, attached and removed by path and kind, at most one of a kind on a cell.

They are real hooks of the engine and stay until they are removed, even after the session has ended.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from hookscope.engine.tensors.tensor import Tensor

from ...base.nearest_name import suggestion
from ...tape import taps
from ..record.capture import pick_slot
from ..record.rows import HOOK_KINDS
from .value_event import ValueEvent

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from .attachment import Attachment
    from .observer import Stages

__all__ = ["MAKES_CAPTURES", "HookRecorder", "SessionHooks", "check_kind"]

MAKES_CAPTURES = "makes captures"
"""Name of the session's own hooks in lists."""


def check_kind(kind: str) -> str:
    """Return the kind of a hook.

    Raises:
        ValueError: it is not one of ``HOOK_KINDS``.
    """
    if kind not in HOOK_KINDS:
        raise ValueError(f"kind must be one of {', '.join(HOOK_KINDS)}, got {kind!r}{suggestion(kind, HOOK_KINDS)}")
    return kind


class SessionHooks:
    """Hooks of a session by (path, kind)."""

    def __init__(self) -> None:
        self._attached: dict[tuple[str, str], tuple[Any, Callable[..., Any]]] = {}

    def attach(self, cell: Cell, path: str, kind: str, hook: Callable[..., Any]) -> None:
        """Attach a hook, replacing any of this kind."""
        handle = getattr(cell, f"register_{check_kind(kind)}_hook")(hook)
        self.detach(path, kind)
        self._attached[path, kind] = (handle, hook)
        taps.hooking.add(id(hook))

    def detach(self, path: str, kind: str) -> None:
        """Remove a hook, if one is attached."""
        entry = self._attached.pop((path, check_kind(kind)), None)
        if entry is not None:
            handle, hook = entry
            handle.remove()
            self._tell([hook])

    def detach_recorders(self) -> None:
        """Remove the hooks that make captures, once no session is left to keep them."""
        for (path, kind), (_, hook) in self.state().items():
            if getattr(hook, "__module__", None) == __name__:
                self.detach(path, kind)

    def keys(self) -> Iterable[tuple[str, str]]:
        """Return path and kind of each hook."""
        return tuple(self._attached)

    def functions(self) -> Iterable[Callable[..., Any]]:
        """Return the attached functions."""
        return [function for _, function in self._attached.values()]

    def state(self) -> dict[tuple[str, str], tuple[Any, Callable[..., Any]]]:
        """Return the attached hooks, for ``go_back_to``."""
        return dict(self._attached)

    def go_back_to(self, state: dict[tuple[str, str], tuple[Any, Callable[..., Any]]]) -> None:
        """Restore the table of attached hooks to an earlier state; the hooks themselves belong to the network."""
        previous, self._attached = self._attached, dict(state)
        self._tell([hook for _, hook in (*previous.values(), *state.values())])

    def _tell(self, hooks: Iterable[Callable[..., Any]]) -> None:
        """Inform the engine which of these hooks are attached and which are not."""
        attached = set(map(id, self.functions()))
        for hook in hooks:
            (taps.hooking.add if id(hook) in attached else taps.hooking.discard)(id(hook))

    def __del__(self) -> None:
        taps.hooking.difference_update(map(id, self.functions()))


class HookRecorder:
    """Recorder of what the session's default hooks receive.

    Args:
        stages: the stages of the session.
        attachment: the attachment of the session.
    """

    def __init__(self, stages: Stages, attachment: Attachment) -> None:
        self._stages = stages
        self._attachment = attachment

    def hook(self, path: str, kind: str) -> Callable[..., None]:
        """Return a hook that captures what it receives while the session exists."""
        reference = weakref.ref(self)

        def record(cell: Cell, *received: tuple[str, Any]) -> None:
            recorder = reference()
            if recorder is not None:
                recorder._record(path, kind, cell, received)

        def record_forward_pre(cell: Cell, inputs: Any) -> None:
            record(cell, ("input", inputs))

        def record_forward(cell: Cell, inputs: Any, output: Any) -> None:
            record(cell, ("output", output))

        def record_backward_pre(cell: Cell, grad_output: Any) -> None:
            record(cell, ("grad_output", grad_output))

        def record_backward(cell: Cell, grad_input: Any, grad_output: Any) -> None:
            record(cell, ("grad_output", grad_output), ("grad_input", grad_input))

        hooks: dict[str, Callable[..., None]] = {
            "forward_pre": record_forward_pre,
            "forward": record_forward,
            "backward_pre": record_backward_pre,
            "backward": record_backward,
        }
        hook = hooks[check_kind(kind)]
        hook.__qualname__ = MAKES_CAPTURES
        return hook

    def _record(self, path: str, kind: str, cell: Cell, received: tuple[tuple[str, Any], ...]) -> None:
        stages = self._stages
        direction = "backward" if kind.startswith("backward") else "forward"
        if (eager_call := taps.current_eager_call()) is not None:
            stages.eager_calls.add(*eager_call)
        with taps.mute(), stages.events.faults.at("capturing at a hook"):
            visit = self._attachment.visits.of_hook(cell, path, kind)
            if stages.watches.takes(visit.step):
                slots = [slot for name, value in received for slot in pick_slot(name, value, Tensor)]
                event = ValueEvent(visit, kind, direction, slots, visit.context, origin="hook")
                stages.recorder.record(event, stages.examiner)
