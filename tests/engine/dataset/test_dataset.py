"""Data sets: rows in order, steps, samplers, files. Expected values were read off MindSpore 2.10."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import os
import struct
import tracemalloc
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine.dataset import transforms, vision

X = np.arange(12, dtype=np.float32).reshape(6, 2)


class Rows:
    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return X[index], index, index

    def __len__(self) -> int:
        return 6


def rows() -> Any:
    return ds.GeneratorDataset(Rows(), ["a", "b", "e"], shuffle=False)


def column(dataset: Any, index: int = 1) -> list[Any]:
    return [row[index].tolist() for row in dataset.create_tuple_iterator(output_numpy=True, num_epochs=1)]


def contents(dataset: Any) -> list[list[Any]]:
    """Return all columns of all rows."""
    return [[value.tolist() for value in row] for row in dataset.create_tuple_iterator(output_numpy=True, num_epochs=1)]


def test_rows_are_tensors_by_column_or_numpy_when_wished() -> None:
    first = next(rows().create_dict_iterator())
    assert list(first) == ["a", "b", "e"] and first["a"].dtype == ms.float32 and first["b"].dtype == ms.int64
    assert isinstance(next(rows().create_tuple_iterator(output_numpy=True))[0], np.ndarray)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (lambda d: d.skip(2).take(3), [2, 3, 4]),
        (lambda d: d.filter(lambda v: v % 2 == 0, input_columns=["b"]), [0, 2, 4]),
        (lambda d: d.map(lambda v: v * 2, input_columns=["b"]), [0, 2, 4, 6, 8, 10]),
        (lambda d: d.map([lambda v: v + 1, lambda v: v * 2], "b"), [2, 4, 6, 8, 10, 12]),
        (lambda d: d + d.take(1), [0, 1, 2, 3, 4, 5, 0]),
        (lambda d: d.take(2).repeat(2), [0, 1, 0, 1]),
        (lambda d: d.batch(4), [[0, 1, 2, 3], [4, 5]]),
        (lambda d: d.batch(4, drop_remainder=True), [[0, 1, 2, 3]]),
        (lambda d: d.apply(lambda dataset: dataset.take(1)), [0]),
    ],
)
def test_a_step_gives_these_rows_and_knows_their_number(step: Any, expected: list[Any]) -> None:
    made = step(rows())
    assert column(made) == expected
    assert made.get_dataset_size() == len(expected)


@pytest.mark.parametrize(
    ("step", "names"),
    [
        (lambda d: d.map(lambda b: (b, b), ["b"], ["c", "d"]), ["c", "d", "a", "e"]),
        (lambda d: d.map(lambda b, e: b + e, ["b", "e"], ["s"]), ["s", "a"]),
        (lambda d: d.map(lambda e, b: (e, b), ["e", "b"], ["s", "t"]), ["a", "t", "s"]),
        (lambda d: d.project(["e", "a"]), ["e", "a"]),
        (lambda d: d.rename(["a"], ["z"]), ["z", "b", "e"]),
        (lambda d: ds.zip((d, d.rename(["a", "b", "e"], ["1", "2", "3"]))), ["a", "b", "e", "1", "2", "3"]),
    ],
)
def test_the_columns_after_a_step(step: Any, names: list[str]) -> None:
    assert step(rows()).get_col_names() == names


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (lambda d: d.project(["e", "a"]), [[4, [8, 9]], [5, [10, 11]]]),
        (lambda d: d.project("b"), [[4], [5]]),
        (lambda d: d.rename(["a", "b"], ["y", "z"]), [[[8, 9], 4, 4], [[10, 11], 5, 5]]),
        (lambda d: d.rename("b", "z").project(["z", "a"]), [[4, [8, 9]], [5, [10, 11]]]),
        (
            lambda d: d.project("b").zip(d.repeat(2).rename(["a", "b"], ["y", "z"]).project(["z", "y"])),
            [[4, 4, [8, 9]], [5, 5, [10, 11]]],
        ),
        (
            lambda d: ds.zip((d.repeat(2).project("b"), ds.NumpySlicesDataset([7, 8, 9], "n", shuffle=False))),
            [[4, 7], [5, 8], [4, 9]],
        ),
        (
            lambda d: d.flat_map(lambda a, b, e: ds.NumpySlicesDataset(a + b, "n", shuffle=False).repeat(int(e) - 3)),
            [[12], [13], [15], [16], [15], [16]],
        ),
    ],
)
def test_steps_on_columns_give_their_values_and_know_the_number_of_rows(step: Any, expected: list[Any]) -> None:
    dataset = step(rows().skip(4))
    assert contents(dataset) == expected
    assert dataset.get_dataset_size() == len(expected)


def test_a_function_of_rows_gets_their_columns_as_numpy_arrays() -> None:
    records: list[Any] = []
    rows().take(2).flat_map(lambda *row: records.append(row) or rows())
    assert [[item.tolist() for item in row] for row in records] == [[[0, 1], 0, 0], [[2, 3], 1, 1]]
    assert {type(item) for row in records for item in row} == {np.ndarray}


def test_an_iterator_gives_one_row_after_another_until_it_is_stopped() -> None:
    iterator = rows().project("b").create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [iterator.get_next()[0].item() for _ in range(6)] == [0, 1, 2, 3, 4, 5]
    with pytest.raises(StopIteration):
        iterator.get_next()
    assert iterator.get_next()[0].item() == 0
    iterator.stop()
    with pytest.raises(RuntimeError, match="all epochs of this iterator are finished"):
        iterator.get_next()


THREE = ds.NumpySlicesDataset([1, 2, 3], "n", shuffle=False)


@pytest.mark.parametrize(
    ("data", "batch_size", "repeats"),
    [
        (rows(), 1, 1),
        (rows().batch(4), 4, 1),
        (rows().batch(4).repeat(2), 4, 2),
        (rows().batch(2).batch(3).map(lambda a: a, "a"), 3, 1),
        (rows().batch(lambda info: 2), -1, 1),
        (rows().batch(4).zip(THREE.repeat(3).batch(2)), 2, 3),
        (rows().repeat(5).batch(2) + rows().batch(3), 3, 1),
        (rows().repeat(3).repeat(2), 1, 2),
        (rows().repeat(3).batch(2).repeat(5), 2, 5),
        (rows().repeat(), 1, -1),
        (rows().repeat().repeat(2), 1, 2),
        (ds.GeneratorDataset(Rows(), ["a", "b", "e"], batch_sampler=[[3, 1], [0]]), -1, 1),
    ],
)
def test_a_chain_tells_its_batch_size_and_how_often_it_repeats(data: Any, batch_size: int, repeats: int) -> None:
    assert (data.get_batch_size(), data.get_repeat_count()) == (batch_size, repeats)


def test_no_data_set_here_is_told_its_classes() -> None:
    assert rows().batch(2).num_classes() is None
    assert rows().batch(2).get_class_indexing() == {}


def growing(*shapes: tuple[int, ...]) -> Any:
    return ds.GeneratorDataset([np.zeros(shape, np.float16) for shape in shapes], ["a"], shuffle=False)


@pytest.mark.parametrize(
    ("data", "first", "all_rows"),
    [
        (rows(), [[2], [], []], [[2], [], []]),
        (rows().batch(4), [[4, 2], [4], [4]], [[None, 2], [None], [None]]),
        (rows().batch(4, drop_remainder=True), [[4, 2], [4], [4]], [[4, 2], [4], [4]]),
        (growing((2, 3), (4, 3), (2, 3)), [[2, 3]], [[None, 3]]),
        (growing((0, 3)), [[0, 3]], [[0, 3]]),
    ],
)
def test_shapes_are_those_of_the_first_row_or_of_all(data: Any, first: Any, all_rows: Any) -> None:
    assert data.output_shapes() == first
    assert data.output_shapes(estimate=True) == all_rows


def test_types_are_those_of_the_first_row() -> None:
    assert rows().output_types() == [np.float32, np.int64, np.int64]
    assert growing((2,)).batch(1).output_types() == [np.float16]


def test_two_data_sets_are_the_same_when_they_are_one_object() -> None:
    subject = rows()
    assert ds.compare(subject, subject) and not ds.compare(subject, rows()) and not ds.compare(subject, subject.take(2))


def test_the_seed_is_mindspores_until_one_is_set() -> None:
    assert ds.config.get_seed() == 5489
    try:
        ds.config.set_seed(7)
        assert ds.config.get_seed() == 7
    finally:
        ds.config._seed = None


def test_functions_of_batches_are_told_the_epoch_of_their_iterator_and_the_batch_of_its_pass() -> None:
    records: list[tuple[int, int]] = []

    def size(info: Any) -> int:
        records.append((info.get_epoch_num(), info.get_batch_num()))
        return 1 + 3 * info.get_epoch_num() + info.get_batch_num()

    data = rows().project("b").batch(size)
    assert data.get_dataset_size() == 3 and records == [(0, 0), (0, 1), (0, 2)]
    for _ in range(2):  # each iterator counts from 0
        records.clear()
        iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
        assert [[row[0].tolist() for row in iterator] for _ in range(2)] == [
            [[0], [1, 2], [3, 4, 5]],
            [[0, 1, 2, 3], [4, 5]],
        ]
        assert records == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    records.clear()
    iterator = data.repeat(2).create_tuple_iterator(num_epochs=2)
    assert [len(list(iterator)), len(list(iterator))] == [6, 4]
    assert records == [(0, 0), (0, 1), (0, 2)] * 2 + [(1, 0), (1, 1)] * 2


def test_a_function_of_whole_batches_changes_their_columns() -> None:
    def changed(b: list[Any], info: Any) -> Any:
        return [value + 100 * info.get_epoch_num() + 10 * info.get_batch_num() for value in b]

    data = rows().batch(4, per_batch_map=changed, input_columns="b").project("b")
    iterator = data.create_tuple_iterator(num_epochs=2)
    assert [[row[0].asnumpy().tolist() for row in iterator] for _ in range(2)] == [
        [[0, 1, 2, 3], [14, 15]],
        [[100, 101, 102, 103], [114, 115]],
    ]


def test_batches_by_lists_of_row_numbers() -> None:
    data = ds.GeneratorDataset(Rows(), ["a", "b", "e"], batch_sampler=[[3, 1], [0]])
    assert contents(data) == [[[[6, 7], [2, 3]], [3, 1], [3, 1]], [[[0, 1]], [0], [0]]]
    assert data.get_dataset_size() == 2


def test_what_puts_a_batch_together_gets_the_values_column_by_column() -> None:
    records: list[Any] = []

    def together(*columns: Any) -> Any:
        records.append([[value.tolist() for value in column] for column in columns])
        a, b, e = columns
        return sum(a), max(b), [len(e)]

    data = ds.GeneratorDataset(Rows(), ["a", "b", "e"], batch_sampler=[[3, 1], [0]], collate_fn=together)
    assert contents(data) == [[[8, 10], 3, [2]], [[0, 1], 0, [1]]]
    assert records == [[[[6, 7], [2, 3]], [3, 1], [3, 1]], [[[0, 1]], [0], [0]]]


class EverySecondFromTheEnd(ds.Sampler):
    def __iter__(self) -> Any:
        return iter(range(self.dataset_size - 1, -1, -2))


class WithoutEnd(ds.Sampler):
    def __iter__(self) -> Any:
        return itertools.cycle((2, 0))


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        (EverySecondFromTheEnd(), [6, 4, 2, 0]),
        (EverySecondFromTheEnd(3), [6, 4, 2]),
        (EverySecondFromTheEnd(9), [6, 4, 2, 0]),
        (WithoutEnd(5), [2, 0, 2, 0, 2]),
    ],
)
def test_a_sampler_of_the_users_own_chooses_rows(sampler: Any, expected: list[int]) -> None:
    data = ds.NumpySlicesDataset(np.arange(7), sampler=sampler)
    assert column(data, 0) == expected
    assert data.get_dataset_size() == len(expected)


@pytest.mark.parametrize(
    ("sampler", "number"),
    [
        (ds.SequentialSampler(1, 3), 3),
        (ds.RandomSampler(), None),
        (EverySecondFromTheEnd(2), 2),
        (ds.WeightedRandomSampler([1, 2], 4), 4),
        (ds.DistributedSampler(2, 0), None),
        (ds.SubsetSampler([1, 2, 3]), 3),
        (ds.SubsetSampler([1, 2, 3], 2), 2),
        (ds.SubsetRandomSampler([1, 2], 5), 2),
        (ds.SubsetSampler(4), 1),
    ],
)
def test_a_sampler_tells_how_many_rows_it_takes_at_most(sampler: Any, number: int | None) -> None:
    assert sampler.get_num_samples() == number


def test_each_pass_is_an_epoch_shuffled_anew_and_a_seed_repeats_them() -> None:
    try:
        ds.config.set_seed(3)
        data = ds.NumpySlicesDataset(np.arange(50))
        iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
        first, second = ([int(row[0]) for row in iterator] for _ in range(2))
        assert sorted(first) == sorted(second) == list(range(50)) and first != second
        again = data.create_tuple_iterator(output_numpy=True)
        assert [int(row[0]) for row in again] == first
        with pytest.raises(RuntimeError, match="epochs"):
            next(iterator)
    finally:
        ds.config._seed = None


def test_a_data_set_tells_its_shapes_types_and_counts() -> None:
    dataset = ds.NumpySlicesDataset({"a": X, "b": np.arange(6)}, shuffle=False)
    assert dataset.output_shapes() == [[2], []] and dataset.batch(4).output_shapes() == [[4, 2], [4]]
    assert dataset.output_types() == [np.float32, np.int64]
    assert dataset.map(lambda a: a.astype(np.int8), ["a"]).output_types() == [np.int8, np.int64]
    batched = (dataset, dataset.batch(4), dataset.batch(4).repeat(2), dataset.batch(4).batch(2))
    assert [item.get_batch_size() for item in batched] == [1, 4, 4, 2]
    repeated = (dataset, dataset.repeat(3), dataset.repeat(3).batch(2), dataset.repeat(3).repeat(2), dataset.repeat(-1))
    assert [item.get_repeat_count() for item in repeated] == [1, 3, 3, 2, -1]
    assert dataset.get_class_indexing() == {} and dataset.num_classes() is None
    with pytest.raises(RuntimeError, match="the data set is empty"):
        dataset.skip(6).output_shapes()


def test_the_data_sets_of_all_rows_follow_each_other() -> None:
    def twice(column: Any) -> Any:
        return ds.NumpySlicesDataset([int(column)] * 2, shuffle=False)

    assert column(ds.NumpySlicesDataset([1, 2], shuffle=False).flat_map(twice), 0) == [1, 1, 2, 2]


@pytest.fixture
def seeded() -> Iterator[None]:
    ds.config.set_seed(3)
    yield
    ds.config._seed = None


def rows_of(dataset: Any) -> list[tuple[Any, ...]]:
    return [tuple(v.tolist() for v in row) for row in dataset.create_tuple_iterator(output_numpy=True, num_epochs=1)]


@pytest.mark.usefixtures("seeded")
def test_a_buffer_shuffle_keeps_every_row_whole_and_draws_from_the_next_ones() -> None:
    orders = set()
    for seed in range(20):
        ds.config.set_seed(seed)
        output = rows_of(rows().shuffle(3))
        assert sorted(output) == [(X[i].tolist(), i, i) for i in range(6)]
        order = [row[1] for row in output]
        # Of the rows that are left, one of the first three is next.
        assert all(sorted(order[i:]).index(row) < 3 for i, row in enumerate(order))
        orders.add(tuple(order))
    assert len(orders) > 10


def test_filtered_and_changed_rows_keep_their_other_columns() -> None:
    odd = rows().filter(lambda v: v % 2 == 1, input_columns=["b"])
    assert rows_of(odd) == [(X[i].tolist(), i, i) for i in (1, 3, 5)]
    assert rows_of(rows().filter(lambda a, b, e: a[0] > 3 and b + e < 9)) == [(X[i].tolist(), i, i) for i in (2, 3, 4)]
    changed = rows().take(2).map(lambda e, b: (e - 10, b + 10), input_columns=["e", "b"])
    assert rows_of(changed) == [([0.0, 1.0], 10, -10), ([2.0, 3.0], 11, -9)]
    joined = rows().take(2).map([lambda a, e: a * e, lambda s: s + 1], ["a", "e"], ["s"])
    assert rows_of(joined) == [([1.0, 1.0], 0), ([3.0, 4.0], 1)]


# The arguments of a function of ``batch`` are those in MindSpore 2.10.


def test_a_function_of_batch_is_told_the_epoch_of_its_iterator_and_the_batch() -> None:
    records: list[tuple[int, int]] = []

    def size(info: Any) -> int:
        records.append((info.get_epoch_num(), info.get_batch_num()))
        return 2 + info.get_batch_num()

    batches = rows().project(["b"]).batch(size)
    iterator = batches.create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [[row[0].tolist() for row in iterator] for _ in range(2)] == [[[0, 1], [2, 3, 4], [5]]] * 2
    assert records == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    records.clear()
    assert batches.get_dataset_size() == 3
    records.clear()
    assert column(batches, 0) == [[0, 1], [2, 3, 4], [5]]  # the next iterator counts anew
    assert records == [(0, 0), (0, 1), (0, 2)]
    records.clear()
    column(rows().batch(size).repeat(2))
    assert records == [(0, 0), (0, 1), (0, 2)] * 2

    def marked(values: list[Any], info: Any) -> tuple[list[Any]]:
        return ([100 * info.get_epoch_num() + 10 * info.get_batch_num() + v for v in values],)

    twice = rows().project(["b"]).batch(4, per_batch_map=marked, input_columns=["b"])
    iterator = twice.create_tuple_iterator(num_epochs=2, output_numpy=True)
    results = [[row[0].tolist() for row in iterator] for _ in range(2)]
    assert results == [[[0, 1, 2, 3], [14, 15]], [[100, 101, 102, 103], [114, 115]]]


@pytest.mark.parametrize("size", [0, -1, 2.5, "a", None])
def test_a_batchs_size_from_a_function_is_an_int_above_0(size: Any) -> None:
    with pytest.raises(RuntimeError) as raised:
        column(rows().batch(lambda info: size))
    assert str(raised.value) == f"For 'batch', the function 'batch_size' must return an int above 0, but got {size!r}"


def test_shares_of_a_split_have_every_row_once() -> None:
    parts = rows().split([0.5, 0.5])
    assert [part.get_dataset_size() for part in parts] == [3, 3]
    assert sorted(column(parts[0]) + column(parts[1])) == [0, 1, 2, 3, 4, 5]
    assert [column(part) for part in rows().split([4, 2], randomize=False)] == [[0, 1, 2, 3], [4, 5]]


def test_samplers_choose_rows() -> None:
    def chosen(sampler: Any) -> list[Any]:
        return column(ds.NumpySlicesDataset((X, np.arange(6)), sampler=sampler))

    assert chosen(ds.SubsetSampler([3, 1])) == [3, 1]
    assert chosen(ds.SequentialSampler(1, 3)) == [1, 2, 3]
    assert chosen(ds.DistributedSampler(2, 1, shuffle=False)) == [1, 3, 5]
    assert len(chosen(ds.RandomSampler(num_samples=4))) == 4
    assert set(chosen(ds.WeightedRandomSampler([0, 0, 1, 0, 0, 0]))) == {2}
    assert sorted(chosen(ds.SubsetRandomSampler([5, 0]))) == [0, 5]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: rows().batch(0), ValueError),
        (lambda: rows().batch("a"), TypeError),
        (lambda: rows().shuffle(1), ValueError),
        (lambda: rows().take(-2), ValueError),
        (lambda: rows().map(3), ValueError),
        (lambda: ds.GeneratorDataset(3, ["a"]), TypeError),
        (lambda: ds.NumpySlicesDataset([]), ValueError),
        (lambda: ds.NumpySlicesDataset((X, X[:2])), ValueError),
        (lambda: rows().rename(["a"], ["b", "c"]), ValueError),
        (lambda: rows().split([0.5, 0.6]), ValueError),
        (lambda: ds.MnistDataset("/does/not/exist"), ValueError),
        (lambda: rows().project(["zz"]).get_col_names(), RuntimeError),
        (lambda: list(rows().map(lambda v: 1 / 0, "b")), RuntimeError),
        (lambda: list(ds.GeneratorDataset([np.zeros(2), np.zeros(3)], ["a"], shuffle=False).batch(2)), RuntimeError),
        (lambda: list(ds.GeneratorDataset(Rows(), ["a"], shuffle=False)), RuntimeError),
    ],
)
def test_bad_input_raises_mindspores_class(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


@pytest.mark.parametrize(
    ("values", "info", "expected"),
    [
        ([[1, 1], [1, 1, 1]], ([4], 0), [[1, 1, 0, 0], [1, 1, 1, 0]]),
        ([[1, 1], [1, 1, 1]], ([4], None), [[1, 1, 0, 0], [1, 1, 1, 0]]),
        ([[1, 1], [1, 1, 1]], ([None], -7), [[1, 1, -7], [1, 1, 1]]),
        ([[1, 2], [3, 4, 5]], ([1], 0), [[1], [3]]),
        ([[1, 1], [1, 1, 1]], None, [[1, 1, 0], [1, 1, 1]]),
        ([["a"], ["bcd", "e"]], None, [["a", ""], ["bcd", "e"]]),
        ([["a"], ["b", "e"]], ([3], "none"), [["a", "none", "none"], ["b", "e", "none"]]),
    ],
)
def test_padded_batches_take_a_shape(values: Any, info: Any, expected: Any) -> None:
    data = ds.GeneratorDataset([np.array(value) for value in values], ["a"], shuffle=False)
    assert column(data.padded_batch(2, pad_info={"a": info} if info else {}), 0) == [expected]


@pytest.mark.parametrize("kind", [ds.MnistDataset, ds.FashionMnistDataset])
@pytest.mark.parametrize("zipped", [False, True])
def test_mnist_is_read_from_idx_files(tmp_path: Path, kind: Any, zipped: bool) -> None:
    images = (np.arange(2 * 28 * 28) % 256).astype(np.uint8).reshape(2, 28, 28)
    files = {
        "train-images-idx3-ubyte": struct.pack(">4I", 0x803, 2, 28, 28) + images.tobytes(),
        "train-labels-idx1-ubyte": struct.pack(">2I", 0x801, 2) + bytes([7, 3]),
    }
    for name, data in files.items():
        path = tmp_path / (f"{name}.gz" if zipped else name)
        path.write_bytes(gzip.compress(data) if zipped else data)
    data = kind(str(tmp_path), "train", shuffle=False)
    first = next(data.create_dict_iterator(output_numpy=True))
    assert first["image"].shape == (28, 28, 1) and first["image"].dtype == np.uint8
    assert (first["image"][:, :, 0] == images[0]).all() and first["label"] == 7 and first["label"].dtype == np.uint32


def test_cifar_10_is_read_from_its_binary_files(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3)).astype(np.uint8)
    labels = [7, 3, 9, 250]
    # The format: a byte for the label, then all red, all green and all blue bytes, row by row.
    coded = [bytes([n]) + image.transpose(2, 0, 1).tobytes() for n, image in zip(labels, images, strict=True)]
    for name, data in (("data_batch_2", coded[2]), ("data_batch_1", coded[0] + coded[1]), ("test_batch", coded[3])):
        (tmp_path / f"{name}.bin").write_bytes(data)
    for usage, expected in (("train", slice(0, 3)), ("test", slice(3, 4)), ("all", slice(0, 4)), (None, slice(0, 4))):
        data = ds.Cifar10Dataset(str(tmp_path), usage, shuffle=False)
        read = list(data.create_dict_iterator(output_numpy=True, num_epochs=1))
        assert [row["label"].item() for row in read] == labels[expected] and data.get_dataset_size() == len(read)
        np.testing.assert_array_equal(np.stack([row["image"] for row in read]), images[expected])
        assert {(row["image"].dtype.name, row["label"].dtype.name) for row in read} == {("uint8", "uint32")}


@pytest.mark.parametrize(
    ("files", "usage", "text"),
    [
        ({}, None, "there are no data_batch_"),
        ({"data_batch_1.bin": b"12"}, "test", "there are no data_batch_"),
        ({"data_batch_1.bin": b"12"}, "train", "is not a file of CIFAR-10: 2 bytes"),
    ],
)
def test_what_is_no_cifar_10_is_refused(tmp_path: Path, files: dict[str, bytes], usage: str | None, text: str) -> None:
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(RuntimeError, match=text):
        ds.Cifar10Dataset(str(tmp_path), usage)


def test_a_truncated_idx_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, 2, 28, 28) + b"\0" * 10)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, 2) + b"\1\2")
    with pytest.raises(RuntimeError, match="should hold"):
        ds.MnistDataset(str(tmp_path), "train")


IMAGE = (np.arange(48) % 255).astype(np.uint8).reshape(4, 4, 3)


@pytest.mark.parametrize(
    ("operation", "shape", "dtype", "first"),
    [
        (vision.ToTensor(), (3, 4, 4), "float32", [0.0, 0.011764707043766975]),
        (vision.Rescale(1 / 255.0, 0.0), (4, 4, 3), "float32", [0.0, 0.003921568859368563]),
        (vision.HWC2CHW(), (3, 4, 4), "uint8", [0, 3]),
        (vision.Normalize([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]), (4, 4, 3), "float32", [-0.5, -0.5]),
        (vision.Resize((2, 2)), (2, 2, 3), "uint8", [8, 9]),
        (vision.Resize((3, 5), vision.Inter.NEAREST), (3, 5, 3), "uint8", [0, 1]),
        (vision.CenterCrop(2), (2, 2, 3), "uint8", [15, 16]),
        (vision.Pad(1), (6, 6, 3), "uint8", [0, 0]),
        (vision.HorizontalFlip(), (4, 4, 3), "uint8", [9, 10]),
        (vision.RandomCrop(3), (3, 3, 3), "uint8", None),
        (transforms.TypeCast(ms.float32), (4, 4, 3), "float32", [0.0, 1.0]),
    ],
)
def test_what_a_transform_makes_of_an_image(operation: Any, shape: Any, dtype: str, first: Any) -> None:
    output = operation(IMAGE)
    assert output.shape == shape and output.dtype == dtype
    if first is not None:
        np.testing.assert_allclose(output.ravel()[:2], first, rtol=1e-6)


GRAY = [[4, 19, 34, 49], [64, 79, 94, 109], [124, 139, 154, 169], [184, 199, 214, 229]]
STEEP = (np.arange(48) * 5 % 255).astype(np.uint8).reshape(4, 4, 3)
LIST, TABLE = np.array([1, 2, 3]), np.array([[1, 2, 3], [4, 5, 6]], np.int32)


@pytest.mark.parametrize(
    ("output", "argument", "expected"),
    [
        (transforms.Slice(1), LIST, [2]),
        (transforms.Slice(-1), LIST, [3]),
        (transforms.Slice([0, 2]), LIST, [1, 3]),
        (transforms.Slice(slice(0, 2)), LIST, [1, 2]),
        (transforms.Slice(slice(2, 0, -1)), LIST, [3, 2]),
        (transforms.Slice(slice(1, 9)), LIST, [2, 3]),
        (transforms.Slice(0), TABLE, [[1, 2, 3]]),
        (transforms.Slice(0, 1), TABLE, [[2]]),
        (transforms.Slice(slice(0, 1), [0, 2]), TABLE, [[1, 3]]),
        (transforms.Slice([0, 1], [0, 2]), TABLE, [[1, 3], [4, 6]]),
        (transforms.Slice(..., [0]), TABLE, [[1], [4]]),
        (transforms.Slice(None), TABLE, TABLE.tolist()),
        (transforms.Slice(True), LIST, [1, 2, 3]),
        (transforms.Slice(), LIST, [1, 2, 3]),
        (transforms.PadEnd([3, 4], -1), TABLE, [[1, 2, 3, -1], [4, 5, 6, -1], [-1, -1, -1, -1]]),
        (transforms.PadEnd([1, 2]), TABLE, [[1, 2]]),
        (transforms.Fill(7), TABLE, [[7, 7, 7], [7, 7, 7]]),
        (transforms.Concatenate(0, np.array([9]), np.array([8, 7])), LIST, [9, 1, 2, 3, 8, 7]),
        (transforms.RandomChoice([transforms.Fill(7)]), LIST, [7, 7, 7]),
        (transforms.RandomOrder([lambda v: v + 1, lambda v: v + 2]), LIST, [4, 5, 6]),
        (transforms.RandomApply([lambda v: v + 1, lambda v: v * 2], 1.0), LIST, [4, 6, 8]),
        (transforms.RandomApply([lambda v: v + 1], 0.0), LIST, [1, 2, 3]),
        (vision.Grayscale(), STEEP, GRAY),  # MindSpore takes PIL images only
        (vision.Grayscale(3), STEEP, np.stack([GRAY] * 3, -1).tolist()),
        (vision.VerticalFlip(), STEEP, STEEP[::-1].tolist()),
        (vision.RandomVerticalFlip(1.0), STEEP, STEEP[::-1].tolist()),
        (vision.RandomVerticalFlip(0.0), STEEP, STEEP.tolist()),
        (vision.ToType(np.float32), STEEP, STEEP.astype(np.float32).tolist()),
        (vision.Crop((1, 2), 2), STEEP[:, :, 0], [[90, 105], [150, 165]]),
        (
            vision.Pad([1, 2, 0, 1], fill_value=9),
            STEEP[2:, :2, 0],
            [[9, 9, 9], [9, 9, 9], [9, 120, 135], [9, 180, 195], [9, 9, 9]],
        ),
        (
            vision.Pad(1, padding_mode=vision.Border.EDGE),
            STEEP[:2, :2, 0],
            [[0, 0, 15, 15], [0, 0, 15, 15], [60, 60, 75, 75], [60, 60, 75, 75]],
        ),
        (
            vision.Pad([1, 2], padding_mode=vision.Border.REFLECT),
            STEEP[:, :, 0],
            [
                [135, 120, 135, 150, 165, 150],
                [75, 60, 75, 90, 105, 90],
                [15, 0, 15, 30, 45, 30],
                [75, 60, 75, 90, 105, 90],
                [135, 120, 135, 150, 165, 150],
                [195, 180, 195, 210, 225, 210],
                [135, 120, 135, 150, 165, 150],
                [75, 60, 75, 90, 105, 90],
            ],
        ),
        (
            vision.Pad([1, 2, 0, 1], padding_mode=vision.Border.SYMMETRIC),
            STEEP[:, :, 0],
            [
                [60, 60, 75, 90, 105],
                [0, 0, 15, 30, 45],
                [0, 0, 15, 30, 45],
                [60, 60, 75, 90, 105],
                [120, 120, 135, 150, 165],
                [180, 180, 195, 210, 225],
                [180, 180, 195, 210, 225],
            ],
        ),
    ],
)
def test_a_transform_makes_what_mindspores_makes(output: Any, argument: Any, expected: Any) -> None:
    result = output(argument)
    assert result.tolist() == expected and result.dtype == (
        np.float32 if isinstance(output, vision.ToType) else argument.dtype
    )


def test_different_elements_come_in_the_order_of_their_first_places() -> None:
    for value in (np.array([[3, 1], [3, 2]], np.int64), np.array([3, 1, 3, 2])):
        result, indices, counts = transforms.Unique()(value)
        assert (result.tolist(), indices.tolist(), counts.tolist()) == ([3, 1, 2], [0, 1, 0, 2], [2, 1, 1])
        assert (result.dtype, indices.dtype, counts.dtype) == (np.int64, np.int32, np.int32)
    assert [item.tolist() for item in transforms.Duplicate()(LIST)] == [[1, 2, 3]] * 2


def test_one_of_the_transforms_is_taken_and_all_in_some_order() -> None:
    two = [lambda v: v + 1, lambda v: v * 2]
    for output, possible in (
        (transforms.RandomChoice(two), {4, 6}),
        (transforms.RandomOrder(two), {7, 8}),
        (transforms.RandomApply(two, 0.5), {3, 8}),
    ):
        data = ds.NumpySlicesDataset(np.full(60, 3), shuffle=False).map(output)
        assert set(column(data, 0)) == possible


def test_random_transforms_follow_the_seed() -> None:
    def run() -> list[Any]:
        data = ds.GeneratorDataset([IMAGE] * 8, ["image"], shuffle=False)
        flips = transforms.Compose([vision.RandomHorizontalFlip(0.5), vision.RandomCrop(2)])
        return column(data.map(flips, "image"), 0)

    try:
        ds.config.set_seed(5)
        assert run() == run()
    finally:
        ds.config._seed = None


def test_composed_transforms_hand_tuples_on_as_arguments() -> None:
    both = transforms.Compose([lambda a, b: (a + b, a - b), lambda s, d: s * d])
    assert both(np.array(5), np.array(3)).tolist() == 16
    pair = transforms.Compose([lambda a: (a, a + 1), lambda a, b: (b, a)])(np.array([1, 2]))
    assert [item.tolist() for item in pair] == [[2, 3], [1, 2]]


def flipped(operation: Any, count: int = 2000, images: int = 1) -> list[list[bool]]:
    """Return for each row whether each of its images was changed; a change is the mirror image along one axis."""
    names = [f"image{i}" for i in range(images)]
    data = ds.GeneratorDataset([(IMAGE,) * images] * count, names, shuffle=False).map(operation, names)
    results = []
    for row in data.create_tuple_iterator(output_numpy=True, num_epochs=1):
        kinds = [[(v == IMAGE).all(), (v == IMAGE[:, ::-1]).all(), (v == IMAGE[::-1]).all()] for v in row]
        assert all(sum(kind) == 1 for kind in kinds)
        results.append([not kind[0] for kind in kinds])
    return results


@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize(
    "make",
    [
        vision.RandomHorizontalFlip,
        vision.RandomVerticalFlip,
        lambda prob: transforms.RandomApply([vision.HorizontalFlip()], prob),
    ],
    ids=["RandomHorizontalFlip", "RandomVerticalFlip", "RandomApply"],
)
def test_an_image_is_mirrored_as_often_as_its_probability_says(make: Any) -> None:
    for prob in (0.25, 0.75):
        often = sum(item for (item,) in flipped(make(prob)))
        assert abs(often - 2000 * prob) < 4 * np.sqrt(2000 * prob * (1 - prob))
    assert {item for (item,) in flipped(make(1), 50)} == {True}
    assert {item for (item,) in flipped(make(0), 50)} == {False}
    alike = flipped(make(0.5), 50, images=2)
    assert {first == second for first, second in alike} == {True} and len({first for first, _ in alike}) == 2


def test_which_mirror_image_a_random_flip_makes() -> None:
    assert (vision.RandomHorizontalFlip(1)(IMAGE) == IMAGE[:, ::-1]).all()
    assert (vision.RandomVerticalFlip(1)(IMAGE) == IMAGE[::-1]).all()


@pytest.mark.parametrize(("size", "shape"), [(3, (3, 3)), ((2, 3), (2, 3)), ([3, 1], (3, 1))])
def test_a_size_is_a_square_or_a_height_and_a_width(size: Any, shape: tuple[int, int]) -> None:
    cut = vision.Crop((1, 0), size)(IMAGE)
    np.testing.assert_array_equal(cut, IMAGE[1 : 1 + shape[0], : shape[1]], strict=True)
    for operation in (vision.CenterCrop(size), vision.RandomCrop(size), vision.Resize(shape)):
        assert operation(IMAGE).shape == (*shape, 3)


@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize(
    ("settings", "around"),
    [
        ({"size": (3, 2)}, IMAGE),
        ({"size": 4, "padding": (1, 2)}, np.pad(IMAGE, ((2, 2), (1, 1), (0, 0)))),
        (
            {"size": 3, "padding": [2, 0, 0, 1], "padding_mode": vision.Border.EDGE},
            np.pad(IMAGE, ((0, 1), (2, 0), (0, 0)), mode="edge"),
        ),
        (
            {"size": (6, 4), "pad_if_needed": True, "fill_value": 7},
            np.pad(IMAGE, ((2, 2), (0, 0), (0, 0)), constant_values=7),
        ),
    ],
)
def test_a_random_crop_is_any_window_of_the_padded_image_the_same_in_several_images(
    settings: dict[str, Any], around: Any
) -> None:
    operation = vision.RandomCrop(**settings)
    size = settings["size"] if isinstance(settings["size"], tuple) else (settings["size"],) * 2
    windows = {
        (top, left): around[top : top + size[0], left : left + size[1]]
        for top in range(around.shape[0] - size[0] + 1)
        for left in range(around.shape[1] - size[1] + 1)
    }
    data = ds.GeneratorDataset([(IMAGE, IMAGE)] * 200, ["a", "b"], shuffle=False).map(operation, ["a", "b"])
    results = set()
    for first, second in data.create_tuple_iterator(output_numpy=True, num_epochs=1):
        np.testing.assert_array_equal(first, second, strict=True)
        (position,) = (index for index, window in windows.items() if np.array_equal(first, window))
        results.add(position)
    assert results == set(windows)


def test_one_hot_is_smoothed_over_all_classes() -> None:
    assert transforms.OneHot(3)(np.array(1)).tolist() == [0, 1, 0]
    np.testing.assert_allclose(transforms.OneHot(3, 0.1)(np.array(1)), [0.1 / 3, 0.9 + 0.1 / 3, 0.1 / 3])


@pytest.mark.parametrize(
    ("rows", "shards", "offset", "expected"),
    [
        (10, 4, -1, [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]),
        (10, 4, 0, [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]),
        (10, 4, 1, [[3, 7], [0, 4, 8], [1, 5, 9], [2, 6]]),
        (10, 4, 3, [[1, 5, 9], [2, 6], [3, 7], [0, 4, 8]]),
        (10, 4, 4, [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]),
        (9, 3, 1, [[2, 5, 8], [0, 3, 6], [1, 4, 7]]),
        (3, 4, 2, [[2], [0], [0], [1]]),
    ],
)
def test_the_offset_names_the_shard_of_the_first_row(
    rows: int, shards: int, offset: int, expected: list[list[int]]
) -> None:
    datasets = [
        ds.NumpySlicesDataset(np.arange(rows), sampler=ds.DistributedSampler(shards, i, False, offset=offset))
        for i in range(shards)
    ]
    assert [column(item, 0) for item in datasets] == expected
    assert [item.get_dataset_size() for item in datasets] == [len(item) for item in expected]


def weighted(weights: Any) -> Any:
    return lambda: ds.WeightedRandomSampler(weights)


@pytest.mark.parametrize(("count", "expected"), [(None, 4), (2, 2), (9, 4)])
def test_rows_of_weight_0_come_last_where_none_comes_twice(count: int | None, expected: int) -> None:
    # MindSpore draws [2, 0, 1, 3], [0, 2, 1, 3], ... by these weights.
    for _ in range(20):
        sampler = ds.WeightedRandomSampler([1, 0, 5, 0], count, replacement=False)
        result = column(ds.NumpySlicesDataset(np.arange(4), sampler=sampler), 0)
        assert len(result) == len(set(result)) == expected and set(result[:2]) == {0, 2}


def test_rows_are_drawn_by_their_weights() -> None:
    for weights in ([3.0, 0.0, 1.0], np.array([3.0, 0.0, 1.0]), (6, 0, 2)):
        sampler = ds.WeightedRandomSampler(weights, 4000)  # type: ignore[arg-type]
        result = column(ds.NumpySlicesDataset(np.arange(4000), sampler=sampler), 0)
        assert set(result) == {0, 2} and len(result) == 4000
        assert abs(np.mean(np.equal(result, 0)) - 0.75) < 6 * (0.75 * 0.25 / 4000) ** 0.5  # deviations of the share
    assert set(column(ds.NumpySlicesDataset(np.arange(3), sampler=ds.WeightedRandomSampler(2)), 0)) == {0}


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (TypeError, "'offset' must be an int", lambda: ds.DistributedSampler(4, 1, offset="a")),
        (RuntimeError, "'offset' must be from -1 to", lambda: ds.DistributedSampler(4, 1, offset=5)),
        (TypeError, "no argument 'per_batch_mapp'", lambda: rows().batch(2, per_batch_mapp=len)),
        (TypeError, "no argument 'columns'", lambda: rows().map(len, columns=["a"])),
        (TypeError, "'callbacks' must be a DSCallback", lambda: rows().map(len, callbacks=[len])),
        (TypeError, "'datasets' must be a tuple of data sets", lambda: ds.zip((1, rows()))),
        (ValueError, "'coordinates' must not be negative", lambda: vision.Crop((-1, 0), 2)),
        (TypeError, "'coordinates' must be a row and a column", lambda: vision.Crop((0.5, 0), 2)),
        (TypeError, "For 'Slice', 'slices' must be slices, ints, .* but got 'a'", lambda: transforms.Slice("a")),
        (TypeError, "'slices' must be slices, ints, .* but got False", lambda: transforms.Slice(False)),
        (RuntimeError, r"places must be in \[-3, 3\), but got \[7\]", lambda: transforms.Slice([7])(LIST)),
        (RuntimeError, r"there are 2 'slices', but the shape is \(3,\)", lambda: transforms.Slice(0, 0)(LIST)),
        (RuntimeError, "'start_index' is -1", lambda: column(of_three(ds.SequentialSampler(-1)))),
        (RuntimeError, "'start_index' is 20", lambda: column(of_three(ds.SequentialSampler(20)))),
        (TypeError, "For 'WeightedRandomSampler', 'weights' must be .* numbers, but got 'a'", weighted(["a"])),
        (TypeError, "'weights' must be a list of numbers, but got 'ab'", weighted("ab")),
        (TypeError, r"'weights' must be a list of numbers, but got \[1, 2\]", weighted([[1, 2]])),
        (TypeError, "'weights' must be a list of numbers, but got None", weighted(None)),
        (TypeError, "'weights' must be a list of numbers, but got None", weighted([1, None])),
        (RuntimeError, r"'weights' must not be empty, but got \[\]", weighted([])),
        (RuntimeError, r"'weights' must not be all 0, but got \[0, 0\]", weighted([0, 0])),
        (RuntimeError, r"'weights' must be finite and not negative, but got \[-1, 2\]", weighted([-1, 2])),
        (RuntimeError, r"'weights' must be finite and not negative, but got \[nan, 1\]", weighted([float("nan"), 1])),
        (RuntimeError, "4 'weights', but 3 rows", lambda: column(of_three(ds.WeightedRandomSampler([0, 0, 0, 1])))),
        (TypeError, "'func' must be a function, but got int", lambda: rows().flat_map(3)),
        (TypeError, "'func' must return a data set, but got int", lambda: rows().flat_map(lambda *row: 3)),
        (TypeError, "no rows of which 'func' could", lambda: rows().skip(6).flat_map(lambda *row: rows())),
        (TypeError, "'estimate' must be a bool, but got 3", lambda: rows().output_shapes(3)),
        (RuntimeError, "the data set is empty", lambda: rows().skip(6).output_shapes()),
        (RuntimeError, "the data set is empty", lambda: rows().skip(6).output_types()),
        (RuntimeError, "'a' has values with 1 axes and with 2", lambda: growing((2,), (2, 2)).output_shapes(True)),
        (RuntimeError, "must return an int above 0, but got 0", lambda: column(rows().batch(lambda info: 0))),
        (RuntimeError, "must return an int above 0, but got 'a'", lambda: column(rows().batch(lambda info: "a"))),
        (ValueError, "'batch_sampler' excludes 'num_samples'", lambda: by_batches(num_samples=1)),
        (ValueError, "'collate_fn' takes a 'batch_sampler'", lambda: by_batches(batch_sampler=None, collate_fn=max)),
        (TypeError, "'collate_fn' must be a function, but got int", lambda: by_batches(collate_fn=3)),
        (RuntimeError, "a row has 1 values, but the columns", lambda: column(by_batches(collate_fn=lambda *of: 3))),
        (RuntimeError, "raised ZeroDivisionError", lambda: column(by_batches(collate_fn=lambda *of: 1 / 0))),
        (RuntimeError, "row 7 of the source raised IndexError", lambda: column(by_batches(batch_sampler=[[7]]))),
        (
            RuntimeError,
            r"'a' has \[\(2,\), \(3,\)\]; give a 'coll",
            lambda: column(ds.GeneratorDataset([np.ones(2), np.ones(3)], ["a"], batch_sampler=[[0, 1]]), 0),
        ),
        (
            RuntimeError,
            r"column 'a' cannot be padded to one shape: there are \[1, 2\] axes",
            lambda: column(growing((2,), (2, 2)).padded_batch(2, pad_info={})),
        ),
        (
            RuntimeError,
            "column 'a' is of float16 and cannot be padded with 'x'",
            lambda: column(growing((2,)).padded_batch(1, pad_info={"a": ([3], "x")})),
        ),
    ],
)
def test_what_would_choose_other_rows_than_was_meant_is_refused(error: type[Exception], text: str, call: Any) -> None:
    with pytest.raises(error, match=text):
        call()


def by_batches(**more: Any) -> Any:
    return ds.GeneratorDataset(Rows(), ["a", "b", "e"], **{"batch_sampler": [[3, 1]], **more})


def of_three(sampler: Any) -> Any:
    return ds.NumpySlicesDataset(np.arange(3), sampler=sampler)


# Results of MindSpore 2.10.


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        ((1,), [[4, 5, 6, 7]]),
        ((-1,), [[8, 9, 10, 11]]),
        ((None, 1), [[1], [5], [9]]),
        (([2, 0],), [[8, 9, 10, 11], [0, 1, 2, 3]]),
        (([0, 2], [1, 3]), [[1, 3], [9, 11]]),
        ((slice(0, 2), [-1, 0]), [[3, 0], [7, 4]]),
        ((..., 1), [[1], [5], [9]]),
        ((True, slice(1, 4, 2)), [[1, 3], [5, 7], [9, 11]]),
    ],
)
def test_a_slice_keeps_its_axes_and_chooses_rows_and_columns(slices: Any, expected: Any) -> None:
    assert transforms.Slice(*slices)(np.arange(12).reshape(3, 4)).tolist() == expected


@pytest.mark.parametrize("slices", [(5,), ([5],), (0, 0, 0)])
def test_a_slice_that_a_value_does_not_have_is_refused(slices: Any) -> None:
    with pytest.raises(RuntimeError, match=r"For 'Slice', (places must be in|there are 3 'slices')"):
        transforms.Slice(*slices)(np.arange(12).reshape(3, 4))


@pytest.mark.parametrize(
    ("operation", "value", "expected"),
    [
        (transforms.Fill(7), [1, 2, 3], [7, 7, 7]),
        (transforms.PadEnd([5], -1), [1, 2, 3], [1, 2, 3, -1, -1]),
        (transforms.PadEnd([2]), [1, 2, 3], [1, 2]),
        (transforms.PadEnd([2, 3], 9), [[1, 2]], [[1, 2, 9], [9, 9, 9]]),
        (transforms.Concatenate(0, np.array([9]), np.array([8])), [1, 2], [9, 1, 2, 8]),
        (transforms.TypeCast(ms.int32), [2.7, -2.7], [2, -2]),
    ],
)
def test_what_a_transform_makes_of_a_value(operation: Any, value: Any, expected: Any) -> None:
    assert operation(np.array(value)).tolist() == expected


def test_transforms_that_give_several_values() -> None:
    first, second = transforms.Duplicate()(np.array([1, 2]))
    assert first.tolist() == second.tolist() == [1, 2]
    values, indices, counts = transforms.Unique()(np.array([3, 1, 3, 2, 1]))
    assert (values.tolist(), indices.tolist(), counts.tolist()) == ([3, 1, 2], [0, 1, 0, 2, 1], [2, 2, 1])
    assert transforms.Concatenate()(np.array([1, 2]), np.array([3])).tolist() == [1, 2, 3]


@pytest.mark.usefixtures("seeded")
def test_one_transform_is_chosen_and_all_are_taken_in_any_order() -> None:
    def results(operation: Any) -> dict[int, int]:
        output = column(ds.NumpySlicesDataset(np.full(3000, 10), shuffle=False).map(operation), 0)
        return {value: output.count(value) for value in set(output)}

    steps = [lambda v: v + 1, lambda v: v * 2, lambda v: v - 5]
    chosen = results(transforms.RandomChoice(steps))
    assert set(chosen) == {11, 20, 5} and all(abs(often - 1000) < 110 for often in chosen.values())
    # (10 + 1) * 2 - 5, (10 + 1 - 5) * 2, 10 * 2 + 1 - 5 (which comes of two orders), (10 - 5) * 2 + 1, (10 - 5 + 1) * 2
    ordered = results(transforms.RandomOrder(steps))
    assert set(ordered) == {17, 12, 16, 11}
    expected = {17: 500, 12: 1000, 16: 1000, 11: 500}
    assert all(abs(ordered[value] - often) < 110 for value, often in expected.items())


PLANE = np.arange(16, dtype=np.uint8).reshape(4, 4)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (vision.CenterCrop((5, 3)), np.pad(PLANE, ((1, 0), (0, 0)))[:, :3]),
        (vision.CenterCrop((7, 4)), np.pad(PLANE, ((2, 1), (0, 0)))),
        (vision.CenterCrop((3, 7)), np.pad(PLANE, ((0, 0), (2, 1)))[:3]),
        (vision.CenterCrop((6, 2)), np.pad(PLANE, ((1, 1), (0, 0)))[:, 1:3]),
        (vision.VerticalFlip(), PLANE[::-1]),
        (vision.Pad((1, 2, 3, 4), 5), np.pad(PLANE, ((2, 4), (1, 3)), constant_values=5)),
        (vision.Pad((1, 2), padding_mode=vision.Border.EDGE), np.pad(PLANE, ((2, 2), (1, 1)), mode="edge")),
        (vision.Pad(1, padding_mode=vision.Border.REFLECT), np.pad(PLANE, 1, mode="reflect")),
        (vision.Pad(1, padding_mode=vision.Border.SYMMETRIC), np.pad(PLANE, 1, mode="symmetric")),
        (vision.Crop((1, 2), (3, 2)), PLANE[1:, 2:]),
        (vision.ToType(np.float32), PLANE.astype(np.float32)),
        (vision.Rescale(0.5, -1.0), PLANE.astype(np.float32) / 2 - 1),
    ],
)
def test_where_a_pixel_goes(operation: Any, expected: Any) -> None:
    np.testing.assert_array_equal(operation(PLANE), expected, strict=True)


def test_facts_of_a_data_set() -> None:
    def small() -> Any:
        return ds.GeneratorDataset([(X[i], i) for i in range(6)], ["a", "b"], shuffle=False)

    assert (small().get_batch_size(), small().batch(4).get_batch_size()) == (1, 4)
    assert small().batch(lambda info: 2).get_batch_size() == -1
    repeated = small().repeat(2).batch(2).repeat(3)
    assert (small().get_repeat_count(), repeated.get_repeat_count()) == (1, 3)
    assert repeated.get_dataset_size() == 18 and small().repeat(-1).get_repeat_count() == -1
    assert small().output_types() == [np.dtype("float32"), np.dtype("int64")]
    assert (small().output_shapes(), small().batch(4).output_shapes()) == ([[2], []], [[4, 2], [4]])
    assert (small().num_classes(), small().get_class_indexing()) == (None, {})
    other = small().rename(["a", "b"], ["c", "d"]).skip(3)
    side_by_side = ds.zip((small().take(2).project(["b", "a"]), other))
    assert side_by_side.get_col_names() == ["b", "a", "c", "d"] and side_by_side.get_dataset_size() == 2
    assert rows_of(side_by_side) == [(0, [0.0, 1.0], [6.0, 7.0], 3), (1, [2.0, 3.0], [8.0, 9.0], 4)]
    nested = ds.NumpySlicesDataset([[1, 2], [3, 4]], shuffle=False)
    flat = nested.flat_map(lambda column: ds.NumpySlicesDataset(column, shuffle=False))
    assert column(flat, 0) == [1, 2, 3, 4]


# Rows of sources, and errors


def numbers(**chosen: Any) -> list[int]:
    return column(ds.NumpySlicesDataset(np.arange(7), **chosen), 0)


def test_row_numbers_go_with_a_number_of_rows_and_a_sampler_does_not() -> None:
    # MindSpore makes SubsetSampler(rows, num_samples) of them.
    assert numbers(sampler=[5, 3, 1], num_samples=2) == [5, 3]
    assert numbers(sampler=[5, 3], num_samples=4) == numbers(sampler=(5, 3)) == [5, 3]
    assert numbers(sampler=iter([5, 3, 1]), num_samples=2) == [5, 3]
    assert numbers(sampler=[5, 3, 1], num_samples=0) == [5, 3, 1]  # all
    assert ds.NumpySlicesDataset(np.arange(7), sampler=[5, 3, 1], num_samples=2).get_dataset_size() == 2
    argument = ds.GeneratorDataset(Rows(), ["a", "b", "e"], sampler=[5, 3, 1], num_samples=2)
    assert column(argument) == [5, 3]
    for chosen in ({"num_samples": 2}, {"shuffle": False}, {"num_shards": 2, "shard_id": 0}):
        with pytest.raises(ValueError, match="'sampler' excludes 'shuffle', 'num_samples' and 'num_shards'"):
            numbers(sampler=ds.SubsetSampler([5, 3]), **chosen)
    for chosen in ({"shuffle": True}, {"num_shards": 2, "shard_id": 0}):
        with pytest.raises(ValueError, match="'sampler' excludes 'shuffle', 'num_samples' and 'num_shards'"):
            numbers(sampler=[5, 3], **chosen)


def test_a_shard_is_every_so_many_rows_from_its_number_on() -> None:
    shards = [numbers(num_shards=3, shard_id=i, shuffle=False) for i in range(3)]
    assert shards == [[0, 3, 6], [1, 4, 0], [2, 5, 1]]  # all as long as the longest: some rows twice
    assert numbers(num_shards=3, shard_id=1, shuffle=False, num_samples=2) == [1, 4]
    assert numbers(num_shards=1, shard_id=0, shuffle=False) == list(range(7))
    shuffled = [numbers(num_shards=7, shard_id=i) for i in range(7)]
    assert all(len(item) == 1 for item in shuffled)


def test_shuffled_shards_of_processes_with_other_seeds_have_no_row_in_common() -> None:
    def epochs(shard: int, **chosen: Any) -> list[list[int]]:
        ms.set_seed(shard)  # as ranks that did not agree on one
        rows = ds.NumpySlicesDataset(list(range(8)), shuffle=True, num_shards=2, shard_id=shard, **chosen)
        iterator = rows.create_tuple_iterator(num_epochs=3, output_numpy=True)
        return [[int(row[0]) for row in iterator] for _ in range(3)]

    first, second = epochs(0), epochs(1)
    for left, right in zip(first, second, strict=True):
        assert sorted(left + right) == list(range(8))
    assert first[0] != first[1] and first[0] != sorted(first[0])
    assert epochs(0) == first
    ds.config.set_seed(3)
    assert epochs(0) != first


def test_columns_of_arrays_have_the_names_given() -> None:
    assert ds.NumpySlicesDataset([1, 2], column_names="n").get_col_names() == ["n"]
    assert ds.NumpySlicesDataset(([1], [2]), ["n", "m"]).get_col_names() == ["n", "m"]
    assert ds.NumpySlicesDataset(([1], [2])).get_col_names() == ["column_0", "column_1"]


def test_a_generators_rows_are_taken_by_number_or_as_they_come() -> None:
    class Numbered:
        def __getitem__(self, index: int) -> int:
            return index * index

        def __len__(self) -> int:
            return 4

        def __iter__(self) -> Iterator[int]:
            raise AssertionError("it has numbers")

    assert column(ds.GeneratorDataset(Numbered(), "n", shuffle=False), 0) == [0, 1, 4, 9]
    assert column(ds.GeneratorDataset(lambda: iter([3, 1]), "n"), 0) == [3, 1]


def test_a_function_of_whole_batches_names_its_columns() -> None:
    def both(a: Any, b: Any, info: Any) -> Any:
        return [x + y for x, y in zip(a, b, strict=True)], [x - y for x, y in zip(a, b, strict=True)]

    def first(a: Any, info: Any) -> Any:
        return [-x for x in a]

    two = ds.NumpySlicesDataset({"a": [1, 2, 3], "b": [10, 20, 30]}, shuffle=False)
    for function, more, names, expected in (
        (both, {}, ["a", "b"], [[[11, 22], [-9, -18]], [[33], [-27]]]),
        (both, {"output_columns": ["c", "d"]}, ["c", "d"], [[[11, 22], [-9, -18]], [[33], [-27]]]),
        (both, {"input_columns": ["b", "a"]}, ["a", "b"], [[[9, 18], [11, 22]], [[27], [33]]]),
        (first, {"input_columns": ["b"]}, ["a", "b"], [[[1, 2], [-10, -20]], [[3], [-30]]]),
        (first, {"input_columns": "b", "output_columns": "b"}, ["a", "b"], [[[1, 2], [-10, -20]], [[3], [-30]]]),
        (first, {"input_columns": "b", "output_columns": "c"}, ["c", "a"], [[[-10, -20], [1, 2]], [[-30], [3]]]),
    ):
        batched = two.batch(2, per_batch_map=function, **more)
        assert batched.get_col_names() == names and contents(batched) == expected


def test_an_idx_file_of_bytes_is_a_header_and_as_many_bytes_as_it_says(tmp_path: Path) -> None:
    def read(images: int) -> Any:
        header = struct.pack(">4I", 0x803, images, 1, 2)
        (tmp_path / "train-images-idx3-ubyte").write_bytes(header + b"\7\5" * images)
        (tmp_path / "train-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, images) + b"\3" * images)
        return ds.MnistDataset(str(tmp_path), "train", shuffle=False)

    assert contents(read(1)) == [[[[[7], [5]]], 3]]
    with pytest.raises(RuntimeError, match="the data set has 0 rows"):  # of the sampler: the file is as it should be
        contents(read(0))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\x08",
        b"\0\0\x0d\1" + struct.pack(">I", 0),
        b"\0\1\x08\1" + struct.pack(">I", 0),
        struct.pack(">4I", 0x803, 0, 1, 2)[:-1],
        struct.pack(">I", 0x803),
    ],
)
def test_what_is_no_idx_file_of_bytes_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_bytes(data)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, 0))
    with pytest.raises(RuntimeError, match="train-images-idx3-ubyte is not an idx file of bytes"):
        ds.MnistDataset(str(tmp_path), "train")


LABELS = struct.pack(">2I", 0x801, 2) + b"\1\2"


@pytest.mark.parametrize(
    ("zipped", "message"),
    [
        (b"no gzip", "cannot be unzipped"),
        (gzip.compress(struct.pack(">4I", 0x803, 2, 28, 28) + bytes(1568))[:-12], "cannot be unzipped"),
        (gzip.compress(struct.pack(">4I", 0x803, 2, 28, 28) + bytes(1568))[:30] + b"\xff" * 30, "cannot be unzipped"),
        (gzip.compress(struct.pack(">4I", 0x803, 2, 28, 28) + bytes(200 << 20)), "but holds more"),
        (gzip.compress(struct.pack(">4I", 0x803, 2**32 - 1, 2**32 - 1, 2**32 - 1) + bytes(9)), "but holds 9"),
        (gzip.compress(b"\0\0\x08\xff" + struct.pack(">I", 1) * 255 + b"\5"), "holds no array"),
        (gzip.compress(b"\0\0\x08\xff" + bytes(99)), "is not an idx file of bytes"),
    ],
    ids=["no gzip", "cut", "damaged", "bomb", "huge sizes", "255 axes", "cut header"],
)
def test_a_hostile_archive_is_one_clear_error_and_little_memory(tmp_path: Path, zipped: bytes, message: str) -> None:
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(zipped)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(LABELS)
    tracemalloc.start()
    try:
        with pytest.raises(RuntimeError, match=message):
            ds.MnistDataset(str(tmp_path), "train")
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF"])
def test_a_damaged_image_is_one_kind_of_error(tmp_path: Path, kind: str) -> None:
    pillow = pytest.importorskip("PIL.Image")
    content = io.BytesIO()
    pillow.fromarray(np.arange(300, dtype=np.uint8).reshape(10, 10, 3)).save(content, kind)
    data, path, generator = content.getvalue(), tmp_path / "image", np.random.default_rng(5)
    for _ in range(150):
        damaged = bytearray(data)
        for at in generator.integers(0, len(data), 4):
            damaged[at] = generator.integers(0, 256)
        damaged = damaged[: generator.integers(1, 2 * len(data))]
        path.write_bytes(damaged)
        for read in (lambda: vision.Decode()(path.read_bytes()), lambda: vision.read_image(str(path))):
            with contextlib.suppress(RuntimeError), warnings.catch_warnings(action="ignore"):
                read()


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("name", ["train-images-idx3-ubyte", "train-images-idx3-ubyte.gz"])
def test_nothing_that_has_no_end_is_read_as_a_file(tmp_path: Path, kind: str, name: str) -> None:
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(LABELS)
    if kind == "pipe":
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(RuntimeError, match="must be a file with data, but is a pipe, device or socket"):
        ds.MnistDataset(str(tmp_path), "train")


@pytest.mark.parametrize("count", [-1, 1, 2**31 - 1])
def test_an_iterator_goes_as_often_as_it_is_told(count: int) -> None:
    iterator = rows().create_tuple_iterator(num_epochs=count)
    assert len(list(iterator)) == 6


def test_the_seed_is_any_number_of_32_bits() -> None:
    before = ds.config._seed
    try:
        for seed in (0, 1, 2**32 - 1):
            ds.config.set_seed(seed)
            assert ds.config.get_seed() == seed
        for wrong, error in ((-1, ValueError), (2**32, ValueError), (True, TypeError), (1.0, TypeError)):
            with pytest.raises(error, match="For 'config.set_seed', 'seed' must be"):
                ds.config.set_seed(wrong)
        assert ds.config.get_seed() == 2**32 - 1
    finally:
        ds.config._seed = before


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        *(
            (
                ValueError if n else RuntimeError,
                f"'num_epochs' must be -1 or above 0, but got {n}",
                lambda n=n: rows().create_tuple_iterator(num_epochs=n),
            )
            for n in (0, -2, 2**31)
        ),
        (TypeError, "'num_epochs' must be an int, but got '3'", lambda: rows().create_dict_iterator(num_epochs="3")),
        (TypeError, "'output_numpy' must be a bool, but got 1", lambda: rows().create_dict_iterator(output_numpy=1)),
        (TypeError, "'start_index' must be an int, but got '3'", lambda: ds.SequentialSampler("3")),
        (TypeError, "'replacement' must be a bool, but got 1", lambda: ds.WeightedRandomSampler([1], 1, 1)),
        (RuntimeError, "'shard_id' must be from 0 to 'num_shards' - 1, got 3, 3", lambda: ds.DistributedSampler(3, 3)),
        (
            RuntimeError,
            "'shard_id' must be from 0 to 'num_shards' - 1, got -1, 3",
            lambda: ds.DistributedSampler(3, -1),
        ),
        (RuntimeError, "'shard_id' must be from 0 to 'num_shards' - 1, got 0, 0", lambda: ds.DistributedSampler(0, 0)),
        (
            RuntimeError,
            "'offset' must be from -1 to 'num_shards', but got -2, 4",
            lambda: ds.DistributedSampler(4, 1, offset=-2),
        ),
        (TypeError, "'shuffle' must be a bool or None, but got 'x'", lambda: numbers(shuffle="x")),
        (ValueError, "'num_shards' and 'shard_id' go together", lambda: numbers(num_shards=2)),
        (ValueError, "'num_shards' and 'shard_id' go together", lambda: numbers(shard_id=0)),
        (
            ValueError,
            "For 'NumpySlicesDataset', 'column_names' must name different columns, but got ''",
            lambda: ds.NumpySlicesDataset([1], ""),
        ),
        (TypeError, "'batch_size' must be an int or a function, but got True", lambda: rows().batch(True)),
        (TypeError, "'batch_size' must be an int or a function, but got 2.0", lambda: rows().batch(2.0)),
        (
            RuntimeError,
            r"For 'batch', .* column 'a' has \[\(2,\), \(3,\)\]; use padded_batch",
            lambda: column(growing((2,), (3,)).batch(2)),
        ),
        (ValueError, "'sizes' must not be empty", lambda: rows().split([])),
        (TypeError, r"'sizes' must be a list, but got \(3, 3\)", lambda: rows().split((3, 3))),
        (ValueError, r"the shares in 'sizes' must sum to 1, but got \[1.5, -0.5\]", lambda: rows().split([1.5, -0.5])),
        (ValueError, r"the shares in 'sizes' must sum to 1, but got \[0.0, 1.0\]", lambda: rows().split([0.0, 1.0])),
        (ValueError, r"the shares in 'sizes' must sum to 1, but got \[0.5, 0.25\]", lambda: rows().split([0.5, 0.25])),
        (ValueError, "'smoothing_rate' must be from 0 to 1, but got 1.5", lambda: transforms.OneHot(3, 1.5)),
        (ValueError, "'smoothing_rate' must be from 0 to 1, but got -0.5", lambda: transforms.OneHot(3, -0.5)),
        *(
            (RuntimeError, "labels must be ints from 0 to 2, but got", lambda v=v: transforms.OneHot(3)(np.array(v)))
            for v in ([-1, 0], [0, 3], [0.0, 1.0])
        ),
        *(
            (TypeError, "'size' must be an int, or a height and a width, but got", lambda s=s: vision.CenterCrop(s))
            for s in (True, 2.5, "ab", (2, True), (2.0, 2), None)
        ),
        *(
            (ValueError, "'size' must be an int above 0, or a height and a width", lambda s=s: vision.CenterCrop(s))
            for s in (0, (2, 0))
        ),
        *(
            (TypeError, "'size' must be an int above 0, or a height and a width", lambda s=s: vision.CenterCrop(s))
            for s in ((1,), (1, 2, 3))
        ),
        *(
            (
                RuntimeError,
                f"there are {of} means for {channels} channels",
                lambda of=of, shape=shape, hwc=hwc: vision.Normalize([0.5] * of, [0.5] * of, hwc)(np.ones(shape)),
            )
            for of, channels, shape, hwc in (
                (2, 1, (4, 2), True),
                (2, 1, (4, 2), False),
                (2, 3, (4, 2, 3), True),
                (2, 4, (4, 2, 3), False),
            )
        ),
    ],
)
def test_a_wrong_choice_is_named(error: type[Exception], text: str, call: Any) -> None:
    with pytest.raises(error, match=text):
        call()


def test_a_class_number_is_a_row_up_to_the_last_class_and_the_whole_share() -> None:
    np.testing.assert_array_equal(transforms.OneHot(3)(np.array([0, 2])), [[1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(transforms.OneHot(4, 1)(np.array([0, 3])), np.full((2, 4), 0.25))
    assert transforms.OneHot(3)(np.array([], int)).shape == (0, 3)
    assert [transforms.OneHot(9)(np.zeros(s, int)).shape for s in ((1,), (3, 1), (1, 1))] == [(9,), (3, 9), (9,)]
    with pytest.raises(RuntimeError, match="For 'OneHot', labels must have one axis at most, but got the shape"):
        transforms.OneHot(3)(np.zeros((2, 2), int))
    assert [part.get_dataset_size() for part in rows().split([1.0])] == [6]


@pytest.mark.parametrize(("hwc", "shape"), [(True, (4, 2, 3)), (False, (3, 4, 2))])
def test_each_channel_has_its_own_mean(hwc: bool, shape: tuple[int, ...]) -> None:
    image = np.arange(24, dtype=np.uint8).reshape(shape)
    mean, std = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 8.0])
    result = vision.Normalize(mean, std, hwc)(image)
    wide = (slice(None), None, None)
    expected = (image - mean) / std if hwc else (image - mean[wide]) / std[wide]
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_a_sampler_added_chooses_among_the_rows_of_the_one_before() -> None:
    def rows(subject: Any) -> list[int]:
        return [int(row[0].asnumpy()) for row in subject.create_tuple_iterator(num_epochs=1)]

    subject = ds.GeneratorDataset(list(range(10)), "c", sampler=ds.SequentialSampler(3, 6))
    subject.add_sampler(ds.SequentialSampler(1, 4))
    assert rows(subject) == [4, 5, 6, 7] and subject.get_dataset_size() == 4
    subject.use_sampler(ds.SequentialSampler(2, 3))  # in place of the one added: MindSpore 2.10 keeps the first
    assert rows(subject) == [5, 6, 7]
    half = ds.NumpySlicesDataset(list(range(10)))
    half.add_sampler(ds.DistributedSampler(2, 0, shuffle=False))
    assert len(set(rows(half))) == 5 == half.get_dataset_size()
    listed = ds.NumpySlicesDataset(list(range(6)), sampler=[1, 2, 3])
    listed.add_sampler(ds.SequentialSampler(1, 2))
    assert rows(listed) == [2, 3]
    with pytest.raises(RuntimeError, match="For 'SequentialSampler.add_child', there is a child already"):
        listed.sampler.add_child(ds.SequentialSampler())  # type: ignore[union-attr]
    with pytest.raises(TypeError, match="For 'NumpySlicesDataset.add_sampler', 'new_sampler' must be a Sampler"):
        listed.add_sampler(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="For 'GeneratorDataset.use_sampler', rows must be chosen by number"):
        ds.GeneratorDataset(lambda: iter([1, 2]), "c").use_sampler(ds.SequentialSampler())
