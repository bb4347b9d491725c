"""The headless debugger: watch, look, pause and step, in a plain script as well as in a notebook."""

from .breakpoint import Breakpoint
from .capture import Capture, CaptureRing
from .conditions import CONDITIONS, Condition, Hit
from .pause import (
    DebugAbort,
    OperatorRecord,
    PausePoint,
    Pauser,
    TerminalPauser,
    default_pauser,
    set_default_pauser,
)
from .rows import CellNode, HookRow, ParameterRow
from .session import DebugSession
from .statistics import Statistics, statistics
from .stepper import Stepper, Stop

__all__ = [
    "CONDITIONS",
    "Breakpoint",
    "Capture",
    "CaptureRing",
    "CellNode",
    "Condition",
    "DebugAbort",
    "DebugSession",
    "Hit",
    "HookRow",
    "OperatorRecord",
    "ParameterRow",
    "PausePoint",
    "Pauser",
    "Statistics",
    "Stepper",
    "Stop",
    "TerminalPauser",
    "default_pauser",
    "set_default_pauser",
    "statistics",
]
