"""A session without a network finds in the corpus what a session of the network finds."""

from __future__ import annotations

import pytest

from tests.faults.corpus import HEALTHY, PLANTED
from tests.faults.judging import findings_of
from tests.faults.programs import Program

# A network that is never called as a whole is seen as several: two names for one network within it.
_NEVER_CALLED = {"target_network_not_copied"}
SOME = [program for program in (*PLANTED[::4], *HEALTHY[::6]) if program.name not in _NEVER_CALLED]


@pytest.mark.parametrize("program", SOME, ids=lambda program: str(program.name))
def test_the_first_cause_is_that_of_a_session_of_the_network(program: Program) -> None:
    explicit, taken = (findings_of(program, take_roots=take).causes() for take in (False, True))
    assert [(item.condition, item.place) for item in taken[:1]] == [
        (item.condition, item.place) for item in explicit[:1]
    ]
