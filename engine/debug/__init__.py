"""Headless debugger: watching, inspecting, pausing and stepping, in a plain script as well as in a notebook."""

from .compare.compare import Comparison, ComparisonRow, compare
from .compare.difference import Difference
from .compare.gradient_check import check_gradient
from .compare.gradient_rows import GradientCheck, GradientRow
from .diagnose.conditions import CONDITIONS, Condition, Hit, ParameterObservation, condition, remove_condition
from .diagnose.figures_by_step import History
from .diagnose.findings import Finding, Findings, Muted
from .diagnose.producer import Producer
from .events import Event
from .faults import Fault
from .record.capture import Capture
from .record.evicted import EvictedCapture
from .record.ring import CaptureRing, kept_value
from .record.rows import CellNode, HookRow, ParameterRow
from .record.scalars import Point, Scalars, Series
from .record.statistics import Statistics, statistics
from .scalar_log import Run, SummaryWriter, log
from .session import DebugSession
from .stop.breakpoints.breakpoint import Breakpoint
from .stop.failure import FailedCall, Failure
from .stop.frames import StackFrame
from .stop.pause import DebugAbort, OperatorRecord, PausePoint, Pauser, default_pauser, set_default_pauser
from .stop.stepping.history import PastState
from .stop.stepping.stepper import Stepper, Stop
from .stop.terminal import TerminalPauser

GivenUp = EvictedCapture  # its name before

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
    "EvictedCapture",
    "FailedCall",
    "Failure",
    "Fault",
    "Finding",
    "Findings",
    "GradientCheck",
    "GradientRow",
    "History",
    "Hit",
    "HookRow",
    "Muted",
    "OperatorRecord",
    "ParameterObservation",
    "ParameterRow",
    "PastState",
    "PausePoint",
    "Pauser",
    "Point",
    "Producer",
    "Run",
    "Scalars",
    "Series",
    "StackFrame",
    "Statistics",
    "Stepper",
    "Stop",
    "SummaryWriter",
    "TerminalPauser",
    "check_gradient",
    "compare",
    "condition",
    "default_pauser",
    "kept_value",
    "log",
    "remove_condition",
    "set_default_pauser",
    "statistics",
]
