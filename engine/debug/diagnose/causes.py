"""Causes of findings: each cause with its consequences folded under it.

A finding is a consequence if a rule (``conditions.consequences``) explains it by another finding that comes first: in
the flow of the data, or for findings in gradients, in the backward pass. A finding without an explanation is a cause.
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
    """A finding that no other finding explains.

    Attributes:
        finding: the finding.
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
        """ "data", "loss" or "optimizer" for findings outside the cells, the name of a parameter, or a cell's path."""
        return self.finding.place

    @property
    def message(self) -> str:
        """The first observation, one sentence."""
        return self.finding.message

    @property
    def advice(self) -> str:
        """The advice, one sentence."""
        return self.finding.advice

    def __str__(self) -> str:
        folded = summary(self.consequences)
        return f"{self.message}{f'; so also {folded}' if folded else ''}"


def causes_of(findings: Sequence[Finding], call_order: Mapping[str, int]) -> tuple[Cause, ...]:
    """Group findings by cause.

    Args:
        findings: the findings in the order of their first steps.
        call_order: the position of each cell's first call in the flow of the data, by path.
    """
    ordered = sorted(findings, key=lambda finding: _rank(finding, call_order))
    parents: dict[int, Finding] = {}
    for position, finding in enumerate(ordered):
        for other_position, candidate in enumerate(ordered):
            # Of two that may explain each other, the one reported first is the cause.
            is_first = other_position < position or not (
                candidate is finding or _explains(finding, candidate, call_order)
            )
            if is_first and _explains(candidate, finding, call_order) and not _below(candidate, finding, parents):
                parents[id(finding)] = candidate
                break
    folded: dict[int, list[Finding]] = {id(finding): [] for finding in ordered}
    for finding in findings:
        root = finding
        while id(root) in parents:
            root = parents[id(root)]
        if root is not finding:
            folded[id(root)].append(finding)
    causes = [Cause(cause, tuple(folded[id(cause)])) for cause in ordered if id(cause) not in parents]
    return tuple(sorted(causes, key=lambda cause: cause.finding.certainty == "symptom"))


def summary_of(causes: Sequence[Cause]) -> str:
    """Return the numbers of causes and of symptoms without one, such as "no cause found, 1 symptom"."""
    symptoms = sum(cause.finding.certainty == "symptom" for cause in causes)
    faults = len(causes) - symptoms
    texts = [
        f"{number} {name}{'' if number == 1 else 's'}" for number, name in ((faults, "cause"), (symptoms, "symptom"))
    ]
    if not symptoms:
        return texts[0]
    return f"no cause found, {texts[1]}" if not faults else " and ".join(texts)


def summary(findings: Iterable[Finding]) -> str:
    """Return consequences in a few words: "all_zero in 6 cells, loss_not_decreasing"."""
    names_by_condition: dict[str, list[str]] = {}
    for finding in findings:
        names = names_by_condition.setdefault(finding.condition, [])
        if finding.where not in names:
            names.append(finding.where)
    return ", ".join(
        f"{name} in {cells[0] if len(cells) == 1 else f'{len(cells)} places'}"
        for name, cells in names_by_condition.items()
    )


def _rank(finding: Finding, call_order: Mapping[str, int]) -> tuple[int, bool, bool, int, int, bool]:
    """Return the sort key of a finding: first those that make the run useless, then faults, then what they lead to."""
    condition = CONDITIONS.get(finding.condition)
    if condition is None:
        return 1, False, False, _at(finding, call_order), finding.first_step, False
    level = 0 if condition.nonfinite else 2 if condition.symptom or condition.comes_late else 1
    position = _at(finding, call_order)
    # A gradient that grows or vanishes in the backward pass is worst at the end of that pass.
    order = -position if finding.backward and not condition.against_first else position
    # Of a NaN and an infinity from one operator, the one that came first.
    is_other = finding.producer is not None and finding.producer.what != finding.condition
    return level, finding.backward, finding.minor, order, finding.first_step, is_other


def _at(finding: Finding, call_order: Mapping[str, int]) -> int:
    positions = {"data": -1, "loss": len(call_order), "optimizer": len(call_order) + 1}
    return positions.get(finding.outside, call_order.get(finding.path, len(call_order)))


def _explains(cause: Finding, finding: Finding, call_order: Mapping[str, int]) -> bool:
    return any(_fits(rule, cause, finding, call_order) for rule in RULES)


def _fits(rule: Rule, cause: Finding, finding: Finding, call_order: Mapping[str, int]) -> bool:
    if cause.condition not in rule.causes or finding.condition not in rule.consequences:
        return False
    if cause.condition == finding.condition and cause.minor and not finding.minor:
        return False
    are_nonfinite = cause.condition in _NOT_FINITE and finding.condition in _NOT_FINITE
    if are_nonfinite and finding.producer is not None and finding.producer is not cause.producer:
        return False  # another operator produced it, from finite numbers
    if rule.after is not None and finding.first_step < cause.first_step + rule.after:
        return False
    if rule.anywhere or finding.outside or (finding.condition == cause.condition and _grows(cause)):
        return True
    position, cause_position = _at(finding, call_order), _at(cause, call_order)
    if finding.path == cause.path or _holds(cause.path, finding.path) or _holds(finding.path, cause.path):
        return True
    return position <= cause_position if finding.backward else position >= cause_position


def _grows(finding: Finding) -> bool:
    condition = CONDITIONS.get(finding.condition)
    return condition is not None and condition.against_first


def _holds(outer: str, inner: str) -> bool:
    return not outer or inner.startswith(f"{outer}.")


def _below(cause: Finding, finding: Finding, parents: Mapping[int, Finding]) -> bool:
    """Return whether the explaining finding is itself explained by the other."""
    ancestor: Finding | None = cause
    while ancestor is not None:
        if ancestor is finding:
            return True
        ancestor = parents.get(id(ancestor))
    return False
