"""From a capture to pictures: the numbers that are sent, their count, and their captions."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from plain_session import PlainCapture, PlainTensor

from hookscope.engine.debug.record.statistics import statistics
from hookscope.widgets.views.captures import tensor as tensor_view


def capture(array: Any, index: int = 0, **more: Any) -> PlainCapture:
    first = PlainCapture(index, "block", PlainTensor(np.asarray(array)), **more)
    first.statistics = lambda: statistics(first.value._array)
    return first


def look(one: PlainCapture, other: PlainCapture | None = None, picture: str = "matrix", at: Any = (), window: Any = ()):
    content, buffers = tensor_view.slice_view(one, other, picture, list(at), list(window))
    json.dumps(content, allow_nan=False)
    assert len(buffers) == 2 * len(content["pictures"])
    pictures = []
    for k, facts in enumerate(content["pictures"]):
        shape = facts["rows"], facts["columns"]
        levels = np.frombuffer(buffers[2 * k], np.uint8).reshape(shape)
        pictures.append((facts, levels, np.frombuffer(buffers[2 * k + 1], "<f8").reshape(shape)))
    return content, pictures


def test_a_small_matrix_comes_whole_with_its_levels() -> None:
    content, [(facts, levels, numbers)] = look(capture([[0.0, 1.0], [2.0, 4.0]]))
    assert numbers.tolist() == [[0, 1], [2, 4]]
    assert levels.tolist() == [[0, 64], [128, 255]]
    assert (facts["low"], facts["high"], content["note"], content["step"]) == ("0.0", "4.0", "", [1, 1])


def test_the_colours_are_symmetric_around_zero_where_signs_differ() -> None:
    _, [(facts, levels, _)] = look(capture([[-1.0, 0.0, 4.0]]))
    assert (facts["low"], facts["high"]) == ("-4.0", "4.0")
    assert levels.tolist() == [[96, 128, 255]]


def test_leading_axes_are_chosen_and_a_place_outside_is_moved_inside() -> None:
    array = np.arange(120.0).reshape(2, 3, 4, 5)
    content, [(_, _, numbers)] = look(capture(array), at=[1, 99])
    assert content["at"] == [1, 2]
    np.testing.assert_array_equal(numbers, array[1, 2])


def test_a_big_matrix_is_sent_as_the_means_of_blocks_and_says_so() -> None:
    array = np.random.default_rng(0).normal(size=(300, 1000))
    content, [(_, levels, numbers)] = look(capture(array))
    assert content["note"] == "each cell is the mean of 3 x 8 elements"
    assert levels.shape == (100, 125)
    np.testing.assert_allclose(numbers, array.reshape(100, 3, 125, 8).mean((1, 3)), atol=1e-12)


def test_the_last_block_may_be_smaller() -> None:
    _, [(_, _, numbers)] = look(capture(np.arange(129.0 * 3).reshape(129, 3)))
    assert numbers.shape == (65, 3)
    assert numbers[-1].tolist() == [384, 385, 386]


def test_one_nan_or_infinity_in_a_block_is_not_averaged_away() -> None:
    array = np.ones((256, 256))
    array[0, 0], array[0, 9], array[9, 0], array[9, 1] = np.nan, np.inf, -np.inf, np.nan
    _, [(facts, _, numbers)] = look(capture(array))
    assert math.isnan(numbers[0, 0]) and numbers[0, 4] == np.inf and math.isnan(numbers[4, 0])
    assert np.isfinite(numbers).sum() == 128 * 128 - 3
    assert (facts["nan"], facts["positive_inf"], facts["negative_inf"]) == (2, 1, 1)


def test_a_mean_of_the_largest_numbers_does_not_overflow() -> None:
    array = np.full((256, 256), 1.7e308)
    array[:, ::2] = -1.7e308
    array[:2] = 1.7e308
    _, [(_, levels, numbers)] = look(capture(array))
    np.testing.assert_allclose(numbers[0], 1.7e308)
    assert (levels[0, 0], levels[1, 0]) == (255, 128)


def test_what_is_sent_of_a_huge_matrix_is_bounded_and_a_window_shows_its_elements() -> None:
    array = np.arange(3000.0 * 4000, dtype=np.float32).reshape(3000, 4000)
    content, [(_, _, numbers)] = look(capture(array))
    assert numbers.size <= 128 * 128
    assert "of which every 4 x 3th was read" in content["note"]
    content, [(_, _, numbers)] = look(capture(array), window=[10, 20, 3990, 9999])
    assert content["window"] == [10, 20, 3990, 4000]
    np.testing.assert_array_equal(numbers, array[10:20, 3990:])


@pytest.mark.parametrize("shape", [(), (7,), (1000,), (1, 5), (5, 1), (0,), (3, 0), (2, 1, 1, 1), (1, 10_000_000)])
def test_every_shape_has_a_picture(shape: tuple[int, ...]) -> None:
    one = capture(np.ones(shape, np.float32))
    for picture in tensor_view.PICTURES:
        _, pictures = look(one, picture=picture)
        assert all(numbers.size <= 128 * 128 and np.allclose(numbers, 1, rtol=1e-12) for _, _, numbers in pictures)


def test_a_feature_map_comes_as_tiles_32_on_a_page() -> None:
    array = np.random.default_rng(0).normal(size=(2, 40, 6, 6))
    content, pictures = look(capture(array), picture="tiles", at=[1, 1])
    assert content["at"] == [1, 1]
    assert [facts["title"] for facts, _, _ in pictures] == [str(k) for k in range(32, 40)]
    np.testing.assert_array_equal(pictures[3][2], array[1, 35])


def test_tiles_of_any_size_stay_within_the_bound() -> None:
    _, pictures = look(capture(np.zeros((64, 500, 700), np.float32)), picture="tiles")
    assert sum(numbers.size for _, _, numbers in pictures) <= 32_768


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.float16, np.complex64])
def test_other_element_types_are_shown_as_numbers(dtype: Any) -> None:
    _, [(_, _, numbers)] = look(capture(np.array([[0, 1]], dtype)))
    assert numbers.tolist() == [[0, 1]]


def test_two_captures_share_their_colours_and_the_difference_has_its_own() -> None:
    one, other = capture([[1.0, np.nan, np.inf]]), capture([[3.0, np.nan, np.inf]], index=4)
    content, [(first, _, of_other), (second, _, of_one), (facts, levels, numbers)] = look(one, other)
    assert (of_other[0, 0], of_one[0, 0]) == (3, 1)
    assert (first["low"], first["high"]) == (second["low"], second["high"]) == ("1.0", "3.0")
    assert numbers.tolist() == [[-2, 0, 0]]
    assert (facts["low"], facts["high"], levels.tolist()) == ("-2.0", "2.0", [[0, 128, 128]])
    assert content["difference"] == "largest difference in this slice: 2 at [0, 0]"
    assert content["other"] == 4


def test_the_largest_difference_is_named_by_its_whole_index() -> None:
    array = np.zeros((2, 3, 4))
    changed = array.copy()
    changed[1, 2, 3] = -5
    content, _ = look(capture(array), capture(changed, 1), at=[1])
    assert content["difference"] == "largest difference in this slice: 5 at [1, 2, 3]"
    content, _ = look(capture(array[0, 0]), capture(changed[1, 2], 1))
    assert content["difference"] == "largest difference in this slice: 5 at [3]"
    content, _ = look(capture(array), capture(changed, 1))
    assert content["difference"] == "no difference in this slice"


def test_values_of_different_shapes_are_not_compared() -> None:
    with pytest.raises(ValueError, match="a different shape"):
        look(capture(np.zeros(3)), capture(np.zeros(4), 1))


@pytest.mark.parametrize("fields", [{"picture": "film"}, {"at": ["0"]}, {"window": [0, 1, 0, 1.5]}, {"at": [True]}])
def test_a_malformed_question_is_refused(fields: Any) -> None:
    with pytest.raises(ValueError, match="picture must be|lists of int"):
        look(capture(np.zeros((2, 2))), **fields)


def test_the_choices_to_compare_with_begin_with_the_same_place() -> None:
    captures = [
        capture(np.zeros(3), 0, step=1),
        capture(np.zeros(3), 1, slot="input[0]"),
        capture(np.zeros(4), 2),
        capture(np.zeros(3), 3, step=2),
        capture(np.zeros(3), 4, step=3),
    ]
    choices, total = tensor_view.choices(captures, captures[4])
    assert ([result["index"] for result in choices], total) == ([3, 0, 1], 3)
    assert choices[0]["label"] == "step 2: block#0 forward output"


def test_the_choices_are_those_with_all_words_however_far_away_and_how_many_there_are_is_told() -> None:
    captures = [capture(np.zeros(3), index, step=index) for index in range(300)]
    choices, total = tensor_view.choices(captures, captures[299])
    assert (len(choices), total, choices[0]["index"]) == (40, 299, 298)
    assert tensor_view.choices(captures, captures[299], "OUTPUT step 7:")[0] == [
        {"index": 7, "label": "step 7: block#0 forward output"}
    ]
    assert tensor_view.choices(captures, captures[299], "step 999") == ([], 0)


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (np.nan, "NaN"),
        (np.inf, "inf"),
        (-np.inf, "\N{MINUS SIGN}inf"),
        (1.5, "1.5"),
        (1 / 3, "0.333333"),
    ],
)
def test_where_all_values_are_the_same_the_page_is_told_what_they_are(value: float, same: str) -> None:
    _, [(facts, _, _)] = look(capture(np.full((64, 64), value)))
    assert (facts["same"], facts["count"]) == (same, 4096)
    array = np.full((64, 64), value)
    array[63, 63] = 7
    _, [(facts, _, _)] = look(capture(array))
    assert facts["same"] == ""
    _, [(facts, _, _)] = look(capture(array), window=[0, 2, 0, 3])
    assert (facts["same"], facts["count"]) == (same, 6)


def test_the_source_of_a_cell_is_its_construct_where_it_can_be_found() -> None:
    class Cell:
        def construct(self, x: int) -> int:
            return x + 1

    view = tensor_view.source_view(Cell(), "head")
    assert view["title"] == "Cell.construct"
    assert ["".join(text for _, text in line) for line in view["lines"]] == [
        "def construct(self, x: int) -> int:",
        "    return x + 1",
    ]
    assert view["first"] == Cell.construct.__code__.co_firstlineno
    assert view["location"] == f"test_tensor_view.py, line {view['first']}"
    assert tensor_view.source_view(3, "head")["lines"] == []


def attention(*shape: int, dtype: Any = np.float32) -> PlainCapture:
    scores = np.exp(np.random.default_rng(0).normal(size=shape) * 3)
    return capture((scores / scores.sum(axis=-1, keepdims=True)).astype(dtype))


def test_weights_of_attention_are_told_by_their_rows() -> None:
    assert tensor_view.is_attention(attention(2, 4, 7, 7))
    assert tensor_view.is_attention(attention(2, 4, 7, 300, dtype=np.float16))
    assert tensor_view.is_attention(attention(4, 7, 7))
    masked = attention(2, 4, 7, 7)
    masked.value._array[0, 0, 0] = np.nan
    assert tensor_view.is_attention(masked)


@pytest.mark.parametrize(
    "one",
    [
        attention(4, 7, 9),  # probabilities of 9 words
        attention(7, 7),
        capture(np.random.default_rng(0).normal(size=(2, 4, 7, 7))),
        capture(attention(2, 4, 7, 7).value._array - 0.5),
        capture(np.full((2, 4, 7, 7), np.nan)),
        capture(np.ones((2, 4, 7, 1))),
        capture(np.zeros((2, 0, 7, 7))),
        capture(np.ones((2, 2, 2, 2), np.int32)),
    ],
    ids=["3-d", "2-d", "feature map", "negative", "nan", "one key", "empty", "int"],
)
def test_other_values_are_not_taken_for_attention(one: PlainCapture) -> None:
    assert not tensor_view.is_attention(one)
