"""One cause and its consequences: which finding explains which others, and in what order causes are listed."""

from __future__ import annotations

from typing import Any

import pytest

from hookscope.engine.debug.diagnose.causes import causes_of, summary
from hookscope.engine.debug.diagnose.conditions import CONDITIONS
from hookscope.engine.debug.diagnose.conditions.consequences import RULES
from hookscope.engine.debug.diagnose.findings import Finding

ORDER = {path: index for index, path in enumerate(["conv", "act", "norm", "gate", "head", ""])}


def finding(condition: str, path: str = "", step: int = 1, **more: Any) -> Finding:
    row = CONDITIONS[condition]
    backward = more.pop("backward", row.direction == "backward")
    outside = row.place if not path else ""
    return Finding(condition, path, path, condition, row.advice, step, step, outside=outside, backward=backward, **more)


def causes(*findings: Finding) -> list[tuple[str, str, list[tuple[str, str]]]]:
    results = causes_of(sorted(findings, key=lambda item: item.first_step), ORDER)
    return [(result.condition, result.path, [(c.condition, c.path) for c in result.consequences]) for result in results]


def test_zeros_upstream_of_a_wrong_bprop_are_its_consequences() -> None:
    zeros = [finding("all_zero", path, 3, backward=True) for path in ("conv", "act", "norm")]
    none = [finding("no_gradient", path, 3) for path in ("conv", "norm")]
    results = causes(finding("wrong_bprop", "gate"), *zeros, *none)
    assert [result[:2] for result in results] == [("wrong_bprop", "gate")]
    assert len(results[0][2]) == 5


def test_what_lies_the_other_way_is_a_cause_of_its_own() -> None:
    results = causes(finding("wrong_bprop", "norm"), finding("no_gradient", "head", 3))
    assert [result[:2] for result in results] == [("wrong_bprop", "norm"), ("no_gradient", "head")]


def test_a_dead_relu_explains_zeros_on_both_ways_and_a_later_one() -> None:
    others = [
        finding("all_zero", "act", 3, backward=True),
        finding("no_gradient", "conv", 3),
        finding("no_gradient", "head", 3),
        finding("dead_relu", "gate", 4),
        finding("loss_not_decreasing", step=20),
    ]
    ((condition, path, folded),) = causes(finding("dead_relu", "act", 3), *others)
    assert (condition, path, len(folded)) == ("dead_relu", "act", 5)


def test_of_many_cells_without_a_gradient_the_one_nearest_to_the_loss_is_told() -> None:
    result = causes(*(finding("no_gradient", path, 3) for path in ("conv", "norm", "gate")))
    assert result == [("no_gradient", "gate", [("no_gradient", "conv"), ("no_gradient", "norm")])]


def test_of_a_gradient_that_goes_away_the_end_of_its_way_is_told() -> None:
    results = causes(*(finding("vanishing_gradient", path, 3) for path in ("norm", "act", "conv")))
    assert [result[:2] for result in results] == [("vanishing_gradient", "conv")]


def test_a_nan_comes_before_all_and_explains_only_what_came_with_it_or_later() -> None:
    result = causes(
        finding("nan", "gate", 5),
        finding("all_zero", "act", 6),
        finding("inputs_not_normalized"),
        finding("saturated_tanh", "act", 3),
    )
    assert result == [
        ("nan", "gate", [("all_zero", "act")]),
        ("inputs_not_normalized", "", [("saturated_tanh", "act")]),
    ]


def test_steps_that_are_too_long_explain_what_comes_after_the_first_of_them() -> None:
    long = finding("learning_rate_too_large", step=2), finding("update_too_large", "conv", 2)
    results = causes(*long, finding("nan", "head", 4), finding("exploding_gradient", "conv", 1))
    assert [result[:2] for result in results] == [("exploding_gradient", "conv")]
    results = causes(*long, finding("nan", "head", 4))
    assert [result[:2] for result in results] == [("learning_rate_too_large", "")]


def test_faults_of_the_data_stand_before_those_of_the_loss_and_the_optimizer() -> None:
    names = ("learning_rate_zero", "softmax_twice", "one_class", "wrong_mode")
    results = causes(*(finding(name, "norm" if name == "wrong_mode" else "") for name in names))
    assert [result[0] for result in results] == ["one_class", "wrong_mode", "softmax_twice", "learning_rate_zero"]


def test_a_condition_of_ones_own_is_a_cause_among_others() -> None:
    own = Finding("if norm > 3", "act", "act", "if norm > 3 in act", "", 1, 1)
    assert [item.condition for item in causes_of([own, finding("nan", "gate")], ORDER)] == ["nan", "if norm > 3"]


def test_a_cell_that_never_ran_and_a_finding_alone_are_causes() -> None:
    assert causes() == []
    assert causes(finding("unused_parameter", "nowhere")) == [("unused_parameter", "nowhere", [])]


def test_consequences_in_a_few_words() -> None:
    folded = [finding("all_zero", "conv"), finding("all_zero", "act"), finding("loss_not_decreasing", step=20)]
    assert summary(folded) == "all_zero in 2 places, loss_not_decreasing in the loss"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: "-".join(rule.causes))
def test_rules_name_conditions_that_there_are(rule: Any) -> None:
    assert {*rule.causes, *rule.consequences} <= CONDITIONS.keys()
