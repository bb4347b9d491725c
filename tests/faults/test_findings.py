"""The first cause that a session names is the planted fault at its place; healthy programs have none."""

from __future__ import annotations

import pytest

from tests.faults.corpus import HEALTHY, MORE_HEALTHY, MORE_PLANTED, PLANTED
from tests.faults.judging import findings_of, is_planted_fault, lines_of
from tests.faults.programs import Program

NOT_FOUND = {
    "only_positive_pairs": "a loss that is written out does not tell which of its numbers are labels",
    "advantages_as_column": "a product of (N, 1) and (N,) is an outer one by right as often as by mistake",
    "rnn_over_thirty_steps": "5e-6 of the gradient comes through, and 1e-7 is where it counts as gone",
    "decoder_alone_in_optimizer": "it is told of the weights that nobody asks for, not of the optimizer",
    "noise_in_evaluation": "who draws numbers in evaluation may be making samples",
    "embedding_frozen_at_random": "it stands first in its network, like a body that is frozen on purpose",
}


def name_of(program: Program) -> str:
    return program.name


@pytest.mark.parametrize("program", [*PLANTED, *MORE_PLANTED], ids=name_of)
def test_the_first_cause_is_what_was_planted(program: Program) -> None:
    causes = findings_of(program).causes()
    is_right = bool(causes) and is_planted_fault(causes[0], program)
    assert is_right == (program.name not in NOT_FOUND), "\n".join(lines_of(causes)) or "nothing found"


@pytest.mark.parametrize("program", [*HEALTHY, *MORE_HEALTHY], ids=name_of)
def test_nothing_is_found_in_a_healthy_program(program: Program) -> None:
    assert lines_of(findings_of(program).causes()) == []


@pytest.mark.parametrize("program", PLANTED, ids=name_of)
def test_nothing_is_found_once_the_fault_is_taken_out(program: Program) -> None:
    # Over 40 steps of 0.9 its recurrent weights forget, also when they are mended.
    allowed = {"vanishing_gradient"} if program.name == "rnn_of_wide_weights" else set()
    causes = findings_of(program, mended=True).causes()
    assert {cause.condition for cause in causes} <= allowed, "\n".join(lines_of(causes))


def test_as_many_are_found_as_is_claimed() -> None:
    results = [program for program in PLANTED if program.name not in NOT_FOUND]
    assert len(results) >= 85 and len(HEALTHY) >= 60
