"""Each view as a separate widget, to be combined with others in an `HBox`, a `VBox` or a `Tab`.

Each is a panel with one view. Widgets of the same session all follow it, and a change in one appears in the other.
`ipywidgets.link((timeline, "selected"), (tensor, "selected"))` makes one show the other's selection.
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
        options: the options of `DebuggerPanel`, except `views`.
    """

    _only: ClassVar[str]

    def __init__(self, session: DebugSession, **options: Any) -> None:
        super().__init__(session, views=(self._only,), **options)


class CellTree(_Single):
    """The cells of a network: hooks, train mode, breakpoint and findings of each."""

    _only = "cells"


class CaptureTimeline(_Single):
    """The values that passed the watched cells, in run order; `selected` is the index of the selected capture."""

    _only = "timeline"


class TensorView(_Single):
    """The capture with index `selected`: statistics, histogram, heatmap, channels, table."""

    _only = "tensor"


class LossCurves(_Single):
    """Losses, metrics and learning rates by step, with those of the run before."""

    _only = "curves"


class ParameterEditor(_Single):
    """The parameters with their statistics, live during training, and an editor of their values."""

    _only = "parameters"


class Stepper(_Single):
    """The paused position of a run: source, locals, operators, gradient check, and buttons that resume it."""

    _only = "stepper"


class FindingList(_Single):
    """Findings and advice; the settings list the conditions with their thresholds."""

    _only = "findings"


class HookEditor(_Single):
    """All hooks, an editor for new ones, and their output."""

    _only = "hooks"
