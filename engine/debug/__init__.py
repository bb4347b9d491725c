"""The headless debugger: watch, look, pause and step, in a plain script as well as in a notebook."""

from .breakpoint import Breakpoint
from .capture import Capture, CaptureRing
from .compare import Comparison, ComparisonRow, compare
from .conditions import CONDITIONS, Condition, Hit
from .difference import Difference
from .figures_by_step import History
from .findings import Finding, Findings
from .gradient_check import check_gradient
from .gradient_rows import GradientCheck, GradientRow
from .history import PastState
from .pause import (
    DebugAbort,
    OperatorRecord,
    PausePoint,
    Pauser,
    default_pauser,
    set_default_pauser,
)
from .producer import Producer
from .rows import CellNode, HookRow, ParameterRow
from .session import DebugSession
from .statistics import Statistics, statistics
from .stepper import Stepper, Stop
from .terminal import TerminalPauser
from .user_code import set_file_labels

__all__ = [
    "CONDITIONS",
    "Breakpoint",
    "Capture",
    "CaptureRing",
    "CellNode",
    "Comparison",
    "ComparisonRow",
    "Condition",
    "DebugAbort",
    "DebugSession",
    "Difference",
    "Finding",
    "Findings",
    "GradientCheck",
    "GradientRow",
    "History",
    "Hit",
    "HookRow",
    "OperatorRecord",
    "ParameterRow",
    "PastState",
    "PausePoint",
    "Pauser",
    "Producer",
    "Statistics",
    "Stepper",
    "Stop",
    "TerminalPauser",
    "check_gradient",
    "compare",
    "default_pauser",
    "set_default_pauser",
    "set_file_labels",
    "statistics",
]
