"""The headless debugger: watch, look, pause and step, in a plain script as well as in a notebook."""

from .captures.capture import Capture
from .captures.given_up import GivenUp
from .captures.ring import CaptureRing, kept_value
from .captures.statistics import Statistics, statistics
from .checks.figures_by_step import History
from .checks.findings import Finding, Findings, Muted
from .checks.producer import Producer
from .comparing.compare import Comparison, ComparisonRow, compare
from .comparing.difference import Difference
from .comparing.gradient_check import check_gradient
from .comparing.gradient_rows import GradientCheck, GradientRow
from .conditions import CONDITIONS, Condition, Hit
from .events import Event
from .faults import Fault
from .pausing.breakpoint import Breakpoint
from .pausing.pause import DebugAbort, OperatorRecord, PausePoint, Pauser, default_pauser, set_default_pauser
from .pausing.terminal import TerminalPauser
from .rows import CellNode, HookRow, ParameterRow
from .session import DebugSession
from .stepping.history import PastState
from .stepping.stepper import Stepper, Stop

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
    "Event",
    "Fault",
    "Finding",
    "Findings",
    "GivenUp",
    "GradientCheck",
    "GradientRow",
    "History",
    "Hit",
    "HookRow",
    "Muted",
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
    "kept_value",
    "set_default_pauser",
    "statistics",
]
