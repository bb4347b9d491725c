"""The first cause that a session without a network names in a script is what was planted; healthy ones have none."""

from __future__ import annotations

import pytest

from tests.faults.judging import lines_of

from .expected import NOT_FOUND, SYMPTOMS_WITHOUT_FAULT, WITHOUT_STEPS, is_right
from .judging import HEALTHY_SCRIPTS, PLANTED_SCRIPTS, session_of
from .script import Script


def name_of(script: Script) -> str:
    return script.name


@pytest.mark.parametrize("script", PLANTED_SCRIPTS, ids=name_of)
def test_the_first_cause_is_what_was_planted(script: Script) -> None:
    causes = session_of(script).findings().causes()
    found = bool(causes) and is_right(causes[0], script)
    assert found == (script.name not in NOT_FOUND), "\n".join(lines_of(causes)) or "nothing found"


@pytest.mark.parametrize("script", HEALTHY_SCRIPTS, ids=name_of)
def test_nothing_is_found_in_a_healthy_script(script: Script) -> None:
    session = session_of(script)
    assert lines_of(session.findings().causes()) == []
    assert session.step > 0 or script.name in WITHOUT_STEPS


@pytest.mark.parametrize("script", PLANTED_SCRIPTS, ids=name_of)
def test_nothing_is_found_once_the_fault_is_taken_out(script: Script) -> None:
    causes = session_of(script, mended=True).findings().causes()
    allowed = {"loss_not_decreasing"} if script.name in SYMPTOMS_WITHOUT_FAULT else set()
    assert {cause.condition for cause in causes} <= allowed, "\n".join(lines_of(causes))


def test_names_are_unique() -> None:
    names = [script.name for script in (*PLANTED_SCRIPTS, *HEALTHY_SCRIPTS)]
    assert len(names) == len(set(names)) == 164
