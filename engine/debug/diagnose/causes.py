"""What is behind the findings: each cause with its consequences folded under it.

A finding is a consequence where another one explains it by a rule (``conditions.consequences``) and comes first: in the
flow of the data, or, of what is seen in gradients, on their way back. What nothing explains is a cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .conditions import CONDITIONS
from .conditions.consequences import RULES, Rule
from .findings import Finding

__all__ = ["Cause", "causes_of"]


_NOT_FINITE = [name for name, row in CONDITIONS.items() if row.nonfinite]


@dataclass(frozen=True)
class Cause:
    """A finding that no other one explains.

    Attributes:
        finding: it.
        consequences: the findings that it explains, in the order of the findings.
    """

    finding: Finding
    consequences: tuple[Finding, ...] = ()

    @property
    def condition(self) -> str:
        """The name of the condition."""
        return self.finding.condition

    @property
    def path(self) -> str:
        """The path of the cell."""
        return self.finding.path

    @property
    def place(self) -> str:
        """ "data", "loss" or "optimizer" if it is in no cell, the name of a parameter, or the path of the cell."""
        return self.finding.place

    @property
    def message(self) -> str:
        """What was seen first, one sentence."""
        return self.finding.message

    @property
    def advice(self) -> str:
        """What to do about it, one sentence."""
        return self.finding.advice

    def __str__(self) -> str:
        folded = summary(self.consequences)
        return f"{self.message}{f'; so also {folded}' if folded else ''}"


def causes_of(findings: Sequence[Finding], ran: Mapping[str, int]) -> tuple[Cause, ...]:
    """Group findings.

    Args:
        findings: in the order of their first steps.
        ran: by the path of a cell, which place its first call has in the flow of the data.
    """
    ordered = sorted(findings, key=lambda finding: _rank(finding, ran))
    parents: dict[int, Finding] = {}
    for place, finding in enumerate(ordered):
        for other_place, other in enumerate(ordered):
            # Two that may each be the reason of the other: what is told first.
            first = other_place < place or not (other is finding or _explains(finding, other, ran))
            if first and _explains(other, finding, ran) and not _below(other, finding, parents):
                parents[id(finding)] = other
                break
    folded: dict[int, list[Finding]] = {id(finding): [] for finding in ordered}
    for finding in findings:
        top = finding
        while id(top) in parents:
            top = parents[id(top)]
        if top is not finding:
            folded[id(top)].append(finding)
    return tuple(Cause(one, tuple(folded[id(one)])) for one in ordered if id(one) not in parents)


def summary(findings: Iterable[Finding]) -> str:
    """Consequences in a few words: "all_zero in 6 cells, loss_not_decreasing"."""
    places: dict[str, list[str]] = {}
    for finding in findings:
        names = places.setdefault(finding.condition, [])
        if finding.where not in names:
            names.append(finding.where)
    return ", ".join(
        f"{name} in {where[0] if len(where) == 1 else f'{len(where)} places'}" for name, where in places.items()
    )


def _rank(finding: Finding, ran: Mapping[str, int]) -> tuple[int, bool, int, int, bool]:
    """What is to be told first: what makes the run useless, then faults, then what may be a sign of one."""
    condition = CONDITIONS.get(finding.condition)
    if condition is None:
        return 1, False, _at(finding, ran), finding.first_step, False
    level = 0 if condition.nonfinite else 2 if condition.symptom else 1
    at = _at(finding, ran)
    # A gradient that grows, or goes away, on its way back is worst at the end of that way.
    first = -at if finding.backward and not condition.against_first else at
    # Of a NaN and an infinity that one operator made, the one that came first.
    other = finding.producer is not None and finding.producer.what != finding.condition
    return level, finding.backward, first, finding.first_step, other


def _at(finding: Finding, ran: Mapping[str, int]) -> int:
    outside = {"data": -1, "loss": len(ran), "optimizer": len(ran) + 1}
    return outside.get(finding.outside, ran.get(finding.path, len(ran)))


def _explains(cause: Finding, finding: Finding, ran: Mapping[str, int]) -> bool:
    return any(_fits(rule, cause, finding, ran) for rule in RULES)


def _fits(rule: Rule, cause: Finding, finding: Finding, ran: Mapping[str, int]) -> bool:
    if cause.condition not in rule.causes or finding.condition not in rule.consequences:
        return False
    both = cause.condition in _NOT_FINITE and finding.condition in _NOT_FINITE
    if both and finding.producer is not None and finding.producer is not cause.producer:
        return False  # another operator made it, of numbers
    if rule.after is not None and finding.first_step < cause.first_step + rule.after:
        return False
    if rule.anywhere or finding.outside or (finding.condition == cause.condition and _grows(cause)):
        return True
    at, before = _at(finding, ran), _at(cause, ran)
    if finding.path == cause.path or _holds(cause.path, finding.path) or _holds(finding.path, cause.path):
        return True
    return at <= before if finding.backward else at >= before


def _grows(finding: Finding) -> bool:
    condition = CONDITIONS.get(finding.condition)
    return condition is not None and condition.against_first


def _holds(outer: str, inner: str) -> bool:
    return not outer or inner.startswith(f"{outer}.")


def _below(cause: Finding, finding: Finding, parents: Mapping[int, Finding]) -> bool:
    """Whether the one that is to explain is itself explained by the other."""
    top: Finding | None = cause
    while top is not None:
        if top is finding:
            return True
        top = parents.get(id(top))
    return False
