"""The cell and the line of each planted exception are right; its explanation states the facts and nothing false."""

from __future__ import annotations

import pytest

from .case import Case
from .judging import CASES, false_of, judged

NOT_EXPLAINED: dict[str, str] = {
    "chomp_of_everything": "outside of a gradient call the output of a cell that has parts is not known",
    "tensor_hook_that_returns_norms": "as in MindSpore a hook's gradient of another shape goes on, to a later operator",
}
"""By script: why its explanation is not the right one."""


def name_of(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_exception_is_explained(case: Case) -> None:
    judgment = judged(case)
    assert (type(judgment.error), judgment.path, judgment.line) == (case.error, case.path, case.line)
    assert judgment.false == (), judgment.text
    assert judgment.is_right == (case.name not in NOT_EXPLAINED), f"{judgment.missing} is missing in\n{judgment.text}"


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES) == 144


def test_a_false_statement_is_noticed() -> None:
    """The check itself: an explanation of another script is false of this one."""
    case, other = (next(case for case in CASES if case.name.startswith(name)) for name in ("unet", "digits"))
    assert false_of(case, judged(other).text)
