"""Values that the shared checks of arguments accept, and their errors for others."""

from __future__ import annotations

from typing import Any

import pytest

from hookscope.engine.base import argument_checks


@pytest.mark.parametrize(
    ("check", "good", "bad", "error", "text"),
    [
        (argument_checks.check_bool, True, 1, TypeError, "a bool, but got int"),
        (argument_checks.check_int, 3, True, TypeError, "an int, but got bool"),
        (argument_checks.check_number, 0.5, True, TypeError, "a number, but got bool"),
        (argument_checks.check_above_zero, 0.5, 0, ValueError, "above 0, but got 0"),
        (argument_checks.check_not_negative, 0, -0.5, ValueError, "not be negative, but got -0.5"),
        (argument_checks.check_positive_int, 1, 1.0, TypeError, "an int, but got float"),
        (argument_checks.check_positive_int, 1, 0, ValueError, "above 0, but got 0"),
    ],
)
def test_a_check_gives_its_value_back_or_names_the_argument(
    check: Any, good: object, bad: object, error: type[Exception], text: str
) -> None:
    assert check(good, "f", "x") is good
    with pytest.raises(error, match=f"^For 'f', 'x' must .*{text}$"):
        check(bad, "f", "x")


def test_a_type_is_told_by_its_name_or_in_the_words_given() -> None:
    assert argument_checks.check_type(None, int | None, "f", "x", "an int") is None
    with pytest.raises(TypeError, match="^For 'f', 'x' must be an int, but got str$"):
        argument_checks.check_type("2", int, "f", "x")
    with pytest.raises(TypeError, match="^For 'f', 'x' must be a str, but got 2$"):
        argument_checks.check_type(2, str, "f", "x", show=repr)
    with pytest.raises(TypeError, match="^For 'f', 'x' must be a list or a tuple, but got int$"):
        argument_checks.check_type(2, list | tuple, "f", "x", "a list or a tuple")


def test_a_number_may_lie_at_the_ends_of_its_range_and_not_beyond() -> None:
    for good in (0, 0.0, 0.5, 1, 1.0):
        assert argument_checks.check_number(good, "f", "x", within=(0, 1)) is good
    for bad in (-1e-9, 1.001, -1):
        with pytest.raises(ValueError, match=rf"^For 'f', 'x' must be in \[0, 1\], but got {bad}$"):
            argument_checks.check_number(bad, "f", "x", within=(0, 1))
    assert argument_checks.check_number(0, "f", "x", within=(0, float("inf"))) == 0
    with pytest.raises(ValueError, match="^For 'f', 'x' must be 0 or above, but got -0.5$"):
        argument_checks.check_number(-0.5, "f", "x", within=(0, float("inf")))


def test_of_words_all_that_are_allowed_are_told() -> None:
    assert argument_checks.check_one_of("b", ("a", "b"), "f", "x") == "b"
    with pytest.raises(ValueError, match="^For 'f', 'x' must be 'a', 'b' or 'c', but got 'd'$"):
        argument_checks.check_one_of("d", ("a", "b", "c"), "f", "x")
