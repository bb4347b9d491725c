"""Debugger across ranks: differences between ranks that should agree, and agreement where they should differ.

In each rank a ``RankRecorder`` makes small records; the observer passes them to a ``Comparison``. The messages between
them are plain data (``records``), independent of the transport.
"""

from .comparison import Comparison
from .findings import RANK_CONDITIONS, RankCondition, RankFinding, RankFindingData
from .recorder import RankRecorder
from .records import Detail, Ended, Failed, Kind, Record, Row, StepRecord

__all__ = [
    "RANK_CONDITIONS",
    "Comparison",
    "Detail",
    "Ended",
    "Failed",
    "Kind",
    "RankCondition",
    "RankFinding",
    "RankFindingData",
    "RankRecorder",
    "Record",
    "Row",
    "StepRecord",
]
