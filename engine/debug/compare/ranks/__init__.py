"""The debugger over ranks: what differs between those that should be the same, and what is the same and should not be.

In each rank a ``RankRecorder`` makes small records; who looks feeds a ``Comparison`` with them. What goes from one to
the other is plain data (``records``), whatever carries it.
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
