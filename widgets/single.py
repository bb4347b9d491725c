"""Each view as a widget of its own, to be put beside others in an `HBox`, a `VBox` or a `Tab`.

All are the one panel with one view. Two that look at the same session follow it, and what one changes the other shows;
`ipywidgets.link((timeline, "selected"), (tensor, "selected"))` makes one show what is selected in the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hookscope.widgets.panel import DebuggerPanel

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession


class _Single(DebuggerPanel):
    """A panel of one view, without a tab.

    Args:
        session: the session.
        options: those of `DebuggerPanel`, but `views`.
    """

    _only: ClassVar[str]

    def __init__(self, session: DebugSession, **options: Any) -> None:
        super().__init__(session, views=(self._only,), **options)


class CellTree(_Single):
    """The cells of a network: hooks, train mode and breakpoint of each, and what was found there."""

    _only = "cells"


class CaptureTimeline(_Single):
    """What passed the watched cells, in the order of the run; `selected` is the index of the selected capture."""

    _only = "timeline"


class TensorView(_Single):
    """One capture, the one with the index `selected`: figures, histogram, heatmap, channels, table."""

    _only = "tensor"


class ParameterEditor(_Single):
    """The parameters with their figures, live during training, and an editor of their values."""

    _only = "parameters"


class Stepper(_Single):
    """Where a run is paused: source, locals, operators, gradient check, and the buttons that let it go on."""

    _only = "stepper"


class FindingList(_Single):
    """What is wrong and what to do about it; behind its settings what is looked for, with thresholds."""

    _only = "findings"


class HookEditor(_Single):
    """Every hook there is, an editor in which one is written, and what it prints."""

    _only = "hooks"
