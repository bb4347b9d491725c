"""Rows of Python objects, dictionaries in rows, buckets, callbacks and waiting. Recorded from MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine.dataset.config import ErrorSamplesMode


def rows(dataset: Any) -> list[Any]:
    """Return all rows, with lists for arrays."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(plain(item) for item in value)
        return value.tolist()

    return [[plain(value) for value in row] for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def one_array() -> Iterator[Any]:
    yield np.array([0])
    yield np.array([1])


def two_in_a_list() -> Iterator[Any]:
    yield [np.array([0]), 5]


def mixed() -> Iterator[Any]:
    yield 1, 2.5, "s", True, ms.Tensor([3], ms.float32), b"x"


class Restarting:
    """Source that restarts at each request for an iterator."""

    def __iter__(self) -> Iterator[Any]:
        self.left = iter([(7,), (8,)])
        return self.left


class Both(Restarting):
    def __getitem__(self, index: int) -> tuple[int]:
        return (index,)

    def __len__(self) -> int:
        return 2


@pytest.mark.parametrize(
    ("source", "columns", "expected"),
    [
        (one_array, ["a"], [[[0]], [[1]]]),
        (one_array(), ["a"], [[[0]], [[1]]]),
        (two_in_a_list, ["a", "b"], [[[0], 5]]),
        (mixed, list("abcdef"), [[1, 2.5, "s", True, [3.0], b"x"]]),
        (lambda: [1, 2], "a", [[1], [2]]),
        (range(2), ["a"], [[0], [1]]),
        ("ab", ["a"], [["a"], ["b"]]),
        ({0: 5, 1: 6}, ["a"], [[5], [6]]),
        ({4}, ["a"], [[4]]),
        (np.arange(4).reshape(2, 2), ["a"], [[[0, 1]], [[2, 3]]]),
        ([([[1, 2], [3, 4]],)], ["a"], [[[[1, 2], [3, 4]]]]),
        (Restarting(), ["a"], [[7], [8]]),
        (Both(), ["a"], [[0], [1]]),
    ],
)
def test_rows_come_from_whatever_can_be_gone_over_and_again_in_the_next_pass(
    source: Any, columns: Any, expected: list[Any]
) -> None:
    data = ds.GeneratorDataset(source, columns, shuffle=False)
    assert rows(data) == rows(data) == expected
    assert data.get_dataset_size() == len(expected)


def test_rows_of_a_generator_come_as_it_gives_them_whatever_is_said_of_shuffling() -> None:
    assert rows(ds.GeneratorDataset(one_array, "a", shuffle=True)) == [[[0]], [[1]]]
    assert rows(ds.GeneratorDataset(one_array, "a", num_samples=1)) == [[[0]]]


class OnlyNext:
    def __next__(self) -> int:
        return 1


class NoLength:
    def __getitem__(self, index: int) -> int:
        return index


@pytest.mark.parametrize(
    ("source", "more", "error", "match"),
    [
        (3, {}, TypeError, "'source' must be callable, iterable"),
        (OnlyNext(), {}, TypeError, "'source' must be callable, iterable"),
        (NoLength(), {}, RuntimeError, "'source' has __getitem__, so it must have __len__ too"),
        (one_array, {"sampler": [0]}, ValueError, "rows are chosen by number"),
        (one_array, {"num_shards": 2, "shard_id": 0}, ValueError, "rows are chosen by number"),
    ],
)
def test_a_source_without_rows_is_refused_at_once(source: Any, more: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        ds.GeneratorDataset(source, ["a"], **more)


@pytest.mark.parametrize(
    ("source", "match"),
    [
        (lambda: [None], "a row must be a value for each column.*but got None"),
        (lambda: [(object(),)], "must be of numbers or text, or a dict, but got object"),
        (lambda: [([[1, 2], [3]],)], "cannot be an array"),
        (lambda: 3, "the source raised TypeError"),
        (lambda x: [1], "the source raised TypeError"),
        (two_in_a_list, "a row has 2 values, but the columns are \\['a'\\]"),
    ],
)
def test_a_row_that_cannot_be_one_is_refused_when_it_comes(source: Any, match: str) -> None:
    with pytest.raises(RuntimeError, match=match):
        rows(ds.GeneratorDataset(source, ["a"]))


def dictionaries(*arguments: dict[Any, Any]) -> Any:
    return ds.GeneratorDataset([(argument,) for argument in arguments], ["a"], shuffle=False)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            dictionaries({"a": {"b": 1, "s": "x"}, "l": [1, "y"], "t": (1, 2.5)}),
            [[{"a": {"b": 1, "s": "x"}, "l": [1, "y"], "t": (1, 2.5)}]],
        ),
        (dictionaries({1: 2}), [[{1: 2}]]),
        (dictionaries({"a": 0}, {"a": 1}).batch(2), [[{"a": [0, 1]}]]),
        (dictionaries({"a": "x"}, {"a": "yy"}).batch(2), [[{"a": ["x", "yy"]}]]),
        (dictionaries({"a": [1, 2]}, {"a": [3, 4]}).padded_batch(2), [[{"a": [[1, 2], [3, 4]]}]]),
        (dictionaries({"a": 3}).map(lambda d: d | {"c": 1}, ["a"]), [[{"a": 3, "c": 1}]]),
        (dictionaries({"a": 3}).map(lambda d: d["a"], ["a"]), [[3]]),
        (dictionaries({"a": 0}, {"a": 1}).filter(lambda d: d["a"] > 0, ["a"]), [[{"a": 1}]]),
        (dictionaries({"a": 0}, {"a": 1}).batch(2, per_batch_map=lambda a, info: [d["a"] for d in a]), [[[0, 1]]]),
        (ds.GeneratorDataset(range(2), "a", shuffle=False).map(lambda x: {"v": x}, ["a"]), [[{"v": 0}], [{"v": 1}]]),
        (ds.NumpySlicesDataset([{"a": 1}, {"a": 2}], "x", shuffle=False), [[{"a": 1}], [{"a": 2}]]),
    ],
)
def test_a_column_may_hold_dictionaries(data: Any, expected: list[Any]) -> None:
    assert rows(data) == expected


def test_numbers_in_a_dictionary_become_tensors_and_what_is_no_number_stays() -> None:
    thing = object()
    (row,) = dictionaries({"n": 1, "s": "x", "l": [True], "o": thing}).create_dict_iterator(num_epochs=1)
    result = row["a"]
    assert (result["n"].dtype, result["l"][0].dtype, result["l"][0].item()) == (ms.int64, ms.bool_, True)
    assert isinstance(result["s"], np.ndarray) and result["s"].item() == "x" and result["o"] is thing


@pytest.mark.parametrize(
    "argument",
    [
        ({"a": 1}, {"b": 2}),
        ({"a": 1}, {"a": 2, "b": 3}),
        ({"a": [1]}, {"a": [2, 3]}),
        ({"a": None}, {"a": None}),
        ({"a": {"b": 1}}, {"a": {"b": 2}}),
    ],
)
def test_dictionaries_that_do_not_fit_make_no_batch(argument: Any) -> None:
    with pytest.raises(RuntimeError, match="For 'batch', .*column 'a'"):
        rows(dictionaries(*argument).batch(2))


class Longer:
    """Source whose row i has i + 1 elements, and i."""

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return np.arange(index + 1), index

    def __len__(self) -> int:
        return 7


def longer(count: int = 7) -> Any:
    return ds.GeneratorDataset(Longer(), ["a", "b"], shuffle=False).take(count)


BY_LENGTH = [
    [[[0, 0], [0, 1]], [0, 1]],
    [[[0, 1, 2, 0], [0, 1, 2, 3]], [2, 3]],
    [[[0, 1, 2, 3, 4]], [4]],
    [[[0, 1, 2, 3, 4, 5]], [5]],
    [[[0, 1, 2, 3, 4, 5, 6]], [6]],
]


@pytest.mark.parametrize(
    ("count", "more", "expected"),
    [
        (7, {}, BY_LENGTH),
        (7, {"pad_to_bucket_boundary": True}, BY_LENGTH),
        (7, {"drop_remainder": True}, BY_LENGTH),
        (
            7,
            {"pad_info": {"a": (None, 9)}},
            [[[[0, 9], [0, 1]], [0, 1]], [[[0, 1, 2, 9], [0, 1, 2, 3]], [2, 3]], *BY_LENGTH[2:]],
        ),
        (3, {"pad_info": {"a": ([5], 9)}}, [[[[0, 9, 9, 9, 9], [0, 1, 9, 9, 9]], [0, 1]], [[[0, 1, 2, 9, 9]], [2]]]),
        (
            3,
            {"pad_info": {"a": ([None], 7)}, "pad_to_bucket_boundary": True},
            [[[[0, 7], [0, 1]], [0, 1]], [[[0, 1, 2, 7]], [2]]],
        ),
        (3, {"drop_remainder": True}, BY_LENGTH[:1]),
        (
            7,
            {"column_names": ["a", "b"], "element_length_function": lambda a, b: int(b)},
            [BY_LENGTH[0], [[[0, 1, 2, 3, 0], [0, 1, 2, 3, 4]], [3, 4]], *BY_LENGTH[3:], [[[0, 1, 2]], [2]]],
        ),
        (2, {"element_length_function": lambda a: np.array(9)}, [[[[0]], [0]], [[[0, 1]], [1]]]),
        (2, {"column_names": ["b"]}, BY_LENGTH[:1]),
    ],
)
def test_rows_of_about_the_same_length_make_a_batch(count: int, more: Any, expected: list[Any]) -> None:
    argument = {"column_names": ["a"], "bucket_boundaries": [3, 5], "bucket_batch_sizes": [2, 2, 1]} | more
    data = longer(count).bucket_batch_by_length(**argument)
    assert rows(data) == expected
    assert data.get_dataset_size() == len(expected) and data.get_col_names() == ["a", "b"]


@pytest.mark.parametrize(
    ("more", "error", "match"),
    [
        ({"column_names": "a"}, TypeError, "'column_names' must be a list of str"),
        ({"column_names": []}, ValueError, "'column_names' must not be empty"),
        ({"column_names": ["a", "b"]}, ValueError, "must be one column"),
        ({"bucket_boundaries": []}, ValueError, "'bucket_boundaries' must be ints above 0"),
        ({"bucket_boundaries": [5, 3]}, ValueError, "'bucket_boundaries' must rise"),
        ({"bucket_boundaries": [0, 3]}, ValueError, "'bucket_boundaries' must be ints above 0"),
        ({"bucket_boundaries": [2.0, 3]}, TypeError, "'bucket_boundaries' must be a list of int"),
        ({"bucket_boundaries": (3, 5)}, TypeError, "'bucket_boundaries' must be a list of int"),
        ({"bucket_batch_sizes": [1, 2]}, ValueError, "one entry more than 'bucket_boundaries', but got 2 for 2"),
        ({"bucket_batch_sizes": [1, 2, 0]}, ValueError, "'bucket_batch_sizes' must be ints above 0"),
        ({"element_length_function": 3}, TypeError, "'element_length_function' must be a function"),
        ({"pad_info": 3}, TypeError, "'pad_info' must be a dict or None"),
        ({"pad_to_bucket_boundary": 1}, TypeError, "'pad_to_bucket_boundary' must be a bool"),
        ({"drop_remainder": 1}, TypeError, "'drop_remainder' must be a bool"),
        ({"element_length_function": lambda a: 1.0}, RuntimeError, "must return an int from 0 on, but got 1.0"),
        ({"element_length_function": lambda a: -1}, RuntimeError, "must return an int from 0 on, but got -1"),
        ({"element_length_function": lambda a: 1 / 0}, RuntimeError, "raised ZeroDivisionError"),
        ({"column_names": ["z"]}, RuntimeError, "there is no column 'z'"),
        ({"pad_info": {"a": ([None], 0)}, "pad_to_bucket_boundary": True}, RuntimeError, "the last bucket"),
        ({"pad_info": {"b": ([], 0)}}, RuntimeError, "must have one shape.*give 'pad_info'"),
    ],
)
def test_what_makes_no_buckets_is_refused(more: Any, error: Any, match: str) -> None:
    argument = {"column_names": ["a"], "bucket_boundaries": [3, 5], "bucket_batch_sizes": [2, 2, 1]} | more
    with pytest.raises(error, match=match):
        rows(longer().bucket_batch_by_length(**argument))


def test_fake_images_hang_on_their_number_and_the_seed_alone() -> None:
    data = ds.FakeImageDataset(200, (8, 4, 3), 4, shuffle=False)
    images, labels = map(np.array, zip(*rows(data), strict=True))
    assert data.output_types() == [np.uint8, np.uint32] and data.output_shapes() == [[8, 4, 3], []]
    assert (data.get_dataset_size(), data.num_classes(), data.get_col_names()) == (200, 4, ["image", "label"])
    assert images.shape == (200, 8, 4, 3) and np.unique(labels).tolist() == [0, 1, 2, 3]
    assert np.unique(images).size == 256 and len(np.unique(images, axis=0)) == 200
    assert rows(ds.FakeImageDataset(199, (8, 4, 3), 4, 1, shuffle=False)) == rows(data.skip(1))


@pytest.mark.parametrize(
    ("argument", "error", "match"),
    [
        ((0,), ValueError, "'num_images'"),
        (("a",), TypeError, "'num_images'"),
        ((1, 2), TypeError, "'image_size'"),
        ((1, (2, 2)), ValueError, "'image_size' must be three ints"),
        ((1, (2, 2, 0)), ValueError, "'image_size'"),
        ((1, (2, 2, 3), 0), ValueError, "'num_classes'"),
        ((1, (2, 2, 3), 1, "s"), TypeError, "'base_seed'"),
    ],
)
def test_fake_images_of_no_size_are_refused(argument: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        ds.FakeImageDataset(*argument)


class Log(ds.DSCallback):
    def __init__(self, log: list[Any], step_size: int = 1) -> None:
        super().__init__(step_size)
        self.log = log

    def _note(self, moment: str, at: Any) -> None:
        self.log.append((moment, at.cur_epoch_num, at.cur_step_num_in_epoch, at.cur_step_num))

    def ds_begin(self, ds_run_context: Any) -> None:
        self._note("begin", ds_run_context)

    def ds_epoch_begin(self, ds_run_context: Any) -> None:
        self._note("epoch begin", ds_run_context)

    def ds_epoch_end(self, ds_run_context: Any) -> None:
        self._note("epoch end", ds_run_context)

    def ds_step_begin(self, ds_run_context: Any) -> None:
        self._note("step begin", ds_run_context)

    def ds_step_end(self, ds_run_context: Any) -> None:
        self._note("step end", ds_run_context)


def numbers(count: int) -> Any:
    return ds.NumpySlicesDataset(list(range(count)), "x", shuffle=False)


def test_callbacks_of_a_map_are_called_around_its_rows_and_count_over_the_epochs() -> None:
    log: list[Any] = []
    # A repetition is not an epoch: its rows are counted on, and callbacks are not called.
    data = numbers(1).map(lambda x: (log.append(f"row {x}"), x)[1], ["x"], callbacks=Log(log)).repeat(2)
    data.get_dataset_size()
    data.output_shapes()
    assert log == ["row 0"]  # reading properties does not begin a run
    log.clear()
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(2):
        assert [row[0].item() for row in iterator] == [0, 0]
    assert log == [
        ("begin", 0, 0, 0),
        ("epoch begin", 1, 0, 0),
        ("step begin", 1, 1, 1),
        "row 0",
        ("step end", 1, 1, 1),
        ("step begin", 1, 2, 2),
        "row 0",
        ("step end", 1, 2, 2),
        ("epoch end", 1, 2, 2),
        ("epoch begin", 2, 0, 2),
        ("step begin", 2, 1, 3),
        "row 0",
        ("step end", 2, 1, 3),
        ("step begin", 2, 2, 4),
        "row 0",
        ("step end", 2, 2, 4),
        ("epoch end", 2, 2, 4),
    ]


def test_a_step_of_a_callback_may_be_several_rows() -> None:
    log: list[Any] = []
    assert len(rows(numbers(5).map(lambda x: x, callbacks=[Log(log, 2)]))) == 5
    assert [item for item in log if item[0].startswith("step")] == [
        (moment, 1, step, step) for step in (1, 3, 5) for moment in ("step begin", "step end")
    ]


class Failing(ds.DSCallback):
    def ds_epoch_begin(self, ds_run_context: Any) -> None:
        raise ValueError("no")


def test_what_is_no_callback_is_refused_and_what_one_raises_is_told() -> None:
    for value in (3, [3]):
        with pytest.raises(TypeError, match="'callbacks' must be a DSCallback or a list of them, but got 3"):
            numbers(1).map(lambda x: x, callbacks=value)
    with pytest.raises(AttributeError, match="DSCallback in 'callbacks' must define one of"):
        numbers(1).map(lambda x: x, callbacks=ds.DSCallback())
    for size, error in ((0, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="'step_size' must be"):
            ds.DSCallback(size)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="Failing.ds_epoch_begin raised ValueError: no"):
        rows(numbers(1).map(lambda x: x, callbacks=Failing()))


class Hears(ds.WaitedDSCallback):
    def __init__(self, log: list[Any], step_size: int) -> None:
        super().__init__(step_size)
        self.log = log

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: Any) -> None:
        trained = train_run_context.original_args().cur_step_num
        self.log.append(("data epoch", ds_run_context.cur_epoch_num, ds_run_context.cur_step_num, trained))

    def sync_step_begin(self, train_run_context: Any, ds_run_context: Any) -> None:
        trained = train_run_context.original_args().cur_step_num
        self.log.append(("data step", ds_run_context.cur_epoch_num, ds_run_context.cur_step_num, trained))


class Trains(ms.train.Callback):
    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def step_end(self, run_context: Any) -> None:
        self.log.append(("trained", run_context.original_args().cur_step_num))


class Passes(ms.nn.Cell):
    def construct(self, x: Any, y: Any) -> Any:
        return x


def test_rows_may_hang_on_the_training_step_before_them() -> None:
    log: list[Any] = []
    hears = Hears(log, 2)
    data = ds.NumpySlicesDataset(([1, 2, 3, 4], [1, 2, 3, 4]), ["a", "b"], shuffle=False)
    data = data.map(lambda x: x, callbacks=hears).batch(2)
    ms.train.Model(Passes()).train(2, data, callbacks=[Trains(log), hears], dataset_sink_mode=False)
    assert log == [
        ("trained", 1),
        ("data step", 1, 3, 1),
        ("trained", 2),
        ("data epoch", 2, 4, 2),
        ("data step", 2, 5, 2),
        ("trained", 3),
        ("data step", 2, 7, 3),
        ("trained", 4),
    ]
    with pytest.raises(RuntimeError, match="no step of a training ended.*give this Hears to the 'callbacks' of Model"):
        rows(numbers(3).map(lambda x: x, callbacks=Hears([], 1)))


@pytest.mark.parametrize(("batch", "released", "update"), [(None, 1, None), (2, 1, None), (2, 2, None), (2, 1, 2)])
def test_rows_wait_for_the_report_on_those_before(batch: int | None, released: int, update: int | None) -> None:
    log: list[Any] = []
    data = numbers(6).sync_wait("policy", released, log.append)
    records: list[int] = []
    data = data.map(lambda x: (records.append(int(x)), x)[1], ["x"])
    data = data if batch is None else data.batch(batch)
    for number, (row,) in enumerate(data.create_tuple_iterator(num_epochs=1, output_numpy=True), 1):
        assert len(records) == number * (batch or 1)  # none is drawn ahead
        log.append(row.tolist())
        data.sync_update("policy", update, f"report {number}")
    values = np.arange(6).reshape(-1, batch or 1).tolist()
    assert log == [
        variant for i, value in enumerate(values, 1) for variant in (value if batch else value[0], f"report {i}")
    ]


def test_without_a_report_rows_are_given_with_a_warning() -> None:
    data = numbers(3).sync_wait("policy")
    with pytest.warns(RuntimeWarning, match=r"no sync_update\('policy'\) was called before the next rows"):
        assert rows(data) == [[0], [1], [2]]
    silent = numbers(3).sync_wait("policy").batch(2)
    silent.disable_sync()
    assert rows(silent) == [[[0, 1]], [[2]]]


@pytest.mark.parametrize(
    ("wrong", "error", "match"),
    [
        (lambda d: d.sync_wait("p"), RuntimeError, "there is a condition 'p' already"),
        (lambda d: d.sync_wait(3), TypeError, "'condition_name' must be a str"),
        (lambda d: d.sync_wait("q", 0), ValueError, "'num_batch' must be above 0"),
        (lambda d: d.sync_wait("q", "s"), TypeError, "'num_batch' must be an int"),
        (lambda d: d.sync_wait("q", 1, 3), TypeError, "'callback' must be a function"),
        (lambda d: d.sync_update("q"), RuntimeError, r"there is no condition 'q'; there are \['p'\]"),
        (lambda d: d.sync_update("p", 0), RuntimeError, "'num_batch' must be an int above 0"),
        (lambda d: d.sync_update(3), TypeError, "'condition_name' must be a str"),
        (lambda d: d.shuffle(3), RuntimeError, "shuffle before it"),
        (lambda d: d.batch(lambda info: 2), TypeError, "'batch_size' must be an int behind a 'sync_wait'"),
    ],
)
def test_waiting_that_cannot_work_is_refused(wrong: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        wrong(numbers(3).sync_wait("p"))


@pytest.mark.parametrize("name", ["device_que", "save", "to_json", "send", "recv"])
def test_what_needs_a_device_a_cluster_or_a_file_of_theirs_names_another_way(name: str) -> None:
    arguments = ("file",) if name == "save" else ()
    with pytest.raises(NotImplementedError, match=f"^Dataset.{name} is not covered by hookscope: ") as raised:
        getattr(numbers(1), name)(*arguments)
    assert "\n" not in str(raised.value)


def refuses_even(x: Any) -> Any:
    if x in (0, 2):
        raise ValueError("even")
    return x


@pytest.mark.parametrize(
    ("mode", "expected", "batches"),
    [
        (ErrorSamplesMode.REPLACE, [1, 3, 4, 1, 3], [[1, 3], [4, 1], [3]]),
        (ErrorSamplesMode.SKIP, [1, 3, 4], [[1, 3], [4]]),
    ],
)
def test_rows_for_which_a_map_fails_may_be_passed_over(mode: Any, expected: list[int], batches: list[Any]) -> None:
    try:
        ds.config.set_error_samples_mode(mode)
        assert ds.config.get_error_samples_mode() is mode
        data = numbers(5).map(refuses_even, ["x"])
        assert [row[0] for row in rows(data)] == expected and data.get_dataset_size() == len(expected)
        assert [row[0] for row in rows(data.batch(2))] == batches
        with pytest.raises(RuntimeError, match="the operations returned 2 values"):
            rows(numbers(1).map(lambda x: (x, x), ["x"]))
        only_bad = numbers(1).map(refuses_even, ["x"])
        if mode is ErrorSamplesMode.SKIP:
            assert rows(only_bad) == []
        else:
            with pytest.raises(RuntimeError, match="failed for every row"):
                rows(only_bad)
    finally:
        ds.config.set_error_samples_mode(ErrorSamplesMode.RETURN)
    with pytest.raises(RuntimeError, match="refuses_even raised ValueError: even"):
        rows(numbers(1).map(refuses_even, ["x"]))


SETTINGS = {
    "prefetch_size": (4, 0, "a"),
    "num_parallel_workers": (2, 0, "a"),
    "numa_enable": (True, None, 1),
    "monitor_sampling_interval": (5, 0, "a"),
    "callback_timeout": (5, 0, "a"),
    "auto_num_workers": (True, None, 1),
    "enable_shared_mem": (False, None, 1),
    "enable_autotune": (True, None, 1),
    "autotune_interval": (5, -1, "a"),
    "auto_offload": (True, None, 1),
    "enable_watchdog": (False, None, 1),
    "fast_recovery": (False, None, 1),
    "debug_mode": (True, None, 1),
    "multiprocessing_timeout_interval": (5, 0, "a"),
    "multiprocessing_start_method": ("spawn", "x", 3),
    "dynamic_shape": (True, None, 1),
    "video_backend": ("CPU", "x", 3),
    "sending_batches": (5, 2**31, "a"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_of_worker_threads_is_checked_and_kept_and_says_that_it_has_no_effect(name: str) -> None:
    value, outside, wrong = SETTINGS[name]
    put, get = getattr(ds.config, f"set_{name}"), getattr(ds.config, f"get_{name}")
    before = get()
    try:
        put(value)
        assert get() == value != before
        if outside is not None:
            with pytest.raises(ValueError, match=f"For 'config.set_{name}'"):
                put(outside)
        with pytest.raises(TypeError, match=f"For 'config.set_{name}'"):
            put(wrong)
        assert get() == value
    finally:
        ds.config._values[name] = before
    assert "without effect" in put.__doc__ and "no effect" in get.__doc__


def test_settings_of_iterators_and_of_a_file_are_kept(tmp_path: Path) -> None:
    try:
        ds.config.set_iterator_mode(do_copy=True)
        assert ds.config.get_iterator_mode() == {"do_copy": True, "parallel_convert": False}
        with pytest.raises(TypeError, match="'do_copy' must be a bool"):
            ds.config.set_iterator_mode(1)  # type: ignore[arg-type]
        file = tmp_path / "settings.json"
        file.write_text('{"numParallelWorkers": 3, "seed": 7, "logFilePath": "/tmp"}')
        ds.config.load(str(file))
        assert (ds.config.get_num_parallel_workers(), ds.config.get_seed()) == (3, 7)
        file.write_text('{"speed": 3}')
        with pytest.raises(RuntimeError, match="but 'speed'"):
            ds.config.load(str(file))
        with pytest.raises(RuntimeError, match="cannot be read"):
            ds.config.load(str(tmp_path / "none.json"))
        with pytest.raises(NotImplementedError, match="debug_hook_list"):
            ds.config.set_debug_mode(True, [print])
        with pytest.raises(TypeError, match="an ErrorSamplesMode, but got 1"):
            ds.config.set_error_samples_mode(1)  # type: ignore[arg-type]
    finally:
        ds.config.set_iterator_mode()
        ds.config._seed = None
        ds.config._values["num_parallel_workers"] = 8


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"num_shards": 2}, ValueError),
        ({"num_parallel_workers": 0}, ValueError),
        ({"python_multiprocessing": 3}, TypeError),
    ],
)
def test_settings_of_a_generator_data_set_are_checked(settings: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="For 'GeneratorDataset'"):
        ds.GeneratorDataset([1, 2], ["a"], **settings)


def test_a_column_that_is_not_there_is_refused_before_the_first_row() -> None:
    with pytest.raises(RuntimeError, match="there is no column 'z'"):
        ds.NumpySlicesDataset({"a": [1, 2]}).create_tuple_iterator(columns=["z"])
