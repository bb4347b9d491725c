"""The watcher of comparisons with all of its checks."""

from __future__ import annotations

from .choice_checks import ChoiceCheck
from .comparisons import ComparisonWatch
from .leak_checks import LateMaskCheck, TargetInputCheck
from .representation_checks import CollapseCheck, RepeatedCheck
from .target_checks import BoundsCheck, ColumnCheck, DrawnCheck, ScaleCheck, TeacherCheck, TeacherModeCheck

__all__ = ["ComparisonsWatch"]


class ComparisonsWatch(ComparisonWatch):
    """Check of the pairs of values that losses are made of."""

    users = (
        ScaleCheck,
        TeacherCheck,
        TeacherModeCheck,
        DrawnCheck,
        BoundsCheck,
        ColumnCheck,
        ChoiceCheck,
        TargetInputCheck,
        LateMaskCheck,
        CollapseCheck,
        RepeatedCheck,
    )
    shows = tuple(kind for user in users for kind in user.shows)
