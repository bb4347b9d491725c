"""Sources of a chain: Python objects, arrays, and the files of a few well-known collections."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import GeneratorType
from typing import Any, BinaryIO

import numpy as np

from ..base.argument_checks import check_bool, check_callable, check_int, check_type
from ..base.types import AnyDType, Array
from ..tensors.dtype import any_dtype
from ..tensors.tensor import Tensor
from .base import Dataset, Names, Row, between, names_of
from .plain_files import open_plain, open_unzipped, read_plain, read_up_to
from .samplers import (
    Chosen,
    DistributedSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetSampler,
    indices_of,
)
from .steps import as_value, call, stacked

__all__ = [
    "Cifar10Dataset",
    "Cifar100Dataset",
    "FakeImageDataset",
    "FashionMnistDataset",
    "GeneratorDataset",
    "ImageFolderDataset",
    "MnistDataset",
    "NumpySlicesDataset",
    "PaddedDataset",
]


def _sampler(
    caller: str,
    sampler: Chosen | None,
    shuffle: bool | None,
    num_samples: int | None,
    num_shards: int | None,
    shard_id: int | None,
    by_default: bool,
) -> Chosen:
    """Return one sampler for the arguments that choose rows."""
    if num_samples is not None:
        between(caller, "num_samples", num_samples, 0)
    if sampler is not None:
        if shuffle is not None or num_shards is not None or (num_samples is not None and isinstance(sampler, Sampler)):
            raise ValueError(f"For '{caller}', 'sampler' excludes 'shuffle', 'num_samples' and 'num_shards'")
        if isinstance(sampler, PKSampler) and not sampler.labels.size:
            raise ValueError(f"For '{caller}', 'sampler' cannot be a PKSampler: rows have no classes here")
        if isinstance(sampler, str) or not (isinstance(sampler, Sampler | Iterable) or hasattr(sampler, "__getitem__")):
            raise TypeError(f"For '{caller}', 'sampler' must be a sampler or numbers of rows, but got {sampler!r}")
        if isinstance(sampler, Sampler) or not num_samples:
            return sampler
        return SubsetSampler(sampler, num_samples)
    check_type(shuffle, bool | None, caller, "shuffle", "a bool or None", show=repr)
    if (num_shards is None) != (shard_id is None):
        raise ValueError(f"For '{caller}', 'num_shards' and 'shard_id' go together")
    if num_shards is not None and shard_id is not None:
        between(caller, "num_shards", num_shards, 1)
        if between(caller, "shard_id", shard_id, 0) >= num_shards:
            raise ValueError(f"For '{caller}', 'shard_id' must be below 'num_shards', but got {shard_id}, {num_shards}")
    if num_shards is not None and shard_id is not None:
        return DistributedSampler(num_shards, shard_id, by_default if shuffle is None else shuffle, num_samples or None)
    if shuffle or (shuffle is None and by_default):
        return RandomSampler(num_samples=num_samples or None)
    return SequentialSampler(num_samples=num_samples or None)


class _SampledSource(Dataset):
    """A source from which a sampler selects rows."""

    sampler: Chosen
    has_indices = True  # whether its rows have indices

    def _check(self, method: str, new_sampler: Sampler) -> None:
        caller = f"{type(self).__name__}.{method}"
        check_type(new_sampler, Sampler, caller, "new_sampler", show=repr)
        if not self.has_indices or getattr(self, "batch_sampler", None) is not None:
            raise ValueError(f"For '{caller}', rows must be chosen by number, not by a 'batch_sampler' or an iterator")

    def add_sampler(self, new_sampler: Sampler) -> None:
        """Choose among the rows that the data set currently has.

        Args:
            new_sampler: the selecting sampler; it must have no parent, and gets the current one as its child.

        Raises:
            TypeError: not a sampler.
            ValueError: the rows are not selected by index.
            RuntimeError: the sampler has a child.
        """
        self._check("add_sampler", new_sampler)
        new_sampler.add_child(self.sampler)
        self.sampler = new_sampler

    def use_sampler(self, new_sampler: Sampler) -> None:
        """Replace the last sampler; the one that it chose from stays.

        Args:
            new_sampler: the sampler.

        Raises:
            TypeError: not a sampler.
            ValueError: the rows are not selected by index.
            RuntimeError: both samplers have a child.
        """
        self._check("use_sampler", new_sampler)
        if isinstance(self.sampler, Sampler) and (child := self.sampler.get_child()) is not None:
            new_sampler.add_child(child)
        self.sampler = new_sampler


class _IndexedSource(_SampledSource):
    """A source with indexed rows."""

    def __init__(self, columns: list[str], count: int, sampler: Chosen) -> None:
        super().__init__((), columns)
        self.count, self.sampler = count, sampler

    def row(self, index: int) -> Row:
        """Return the row at an index."""
        raise NotImplementedError

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        return (self.row(i) for i in _check_indices(indices_of(self.sampler, self.count, generator), self.count))

    def size(self) -> int:
        return len(indices_of(self.sampler, self.count, np.random.default_rng(0)))


def _check_indices(numbers: list[int], count: int) -> Iterator[int]:
    """Yield row indices, each checked to be within the rows."""
    for number in numbers:
        if not 0 <= number < count:
            raise RuntimeError(f"a sampler takes row {number}, but there are {count}, from 0 on")
        yield number


class NumpySlicesDataset(_IndexedSource):
    """Rows along the first axis of arrays.

    Args:
        data: an array or list (one column), a tuple of them, or a dictionary by column.
        column_names: a name, or a list of one for each column; by default those of the dictionary, or column_0,
            column_1 ...
        num_samples: the maximum number of rows; by default all.
        num_parallel_workers: accepted; rows are made one by one in the caller's thread.
        shuffle: whether rows are in random order; by default True.
        sampler: a sampler instead of ``shuffle``, ``num_samples`` and ``num_shards``, or a list of row indices
            instead of ``shuffle`` and ``num_shards``.
        num_shards: the number of shards; requires ``shard_id``.
        shard_id: the index of this shard, from 0.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: no rows, columns of several lengths, the wrong number of names, or ``sampler`` combined with what it
            replaces.
        ValueError: one of ``num_shards`` and ``shard_id`` without the other.
    """

    def __init__(
        self,
        data: list[Any] | tuple[Any, ...] | dict[str, Any] | Array,
        column_names: Names | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Chosen | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        check_type(data, list | tuple | dict | np.ndarray, "NumpySlicesDataset", "data", "a list, tuple, dict or array")
        if not len(data):
            raise ValueError("For 'NumpySlicesDataset', 'data' must not be empty")
        columns = list(data.values()) if isinstance(data, dict) else list(data) if isinstance(data, tuple) else [data]
        if len({len(values) for values in columns}) != 1:
            raise ValueError("For 'NumpySlicesDataset', all columns in 'data' must have the same length")
        if column_names is not None:
            names = names_of("NumpySlicesDataset", "column_names", column_names)
        else:
            names = list(data) if isinstance(data, dict) else [f"column_{i}" for i in range(len(columns))]
        if len(names) != len(columns):
            raise ValueError(f"For 'NumpySlicesDataset', there are {len(columns)} columns, but {len(names)} names")
        selected = _sampler("NumpySlicesDataset", sampler, shuffle, num_samples, num_shards, shard_id, True)
        super().__init__(names, len(columns[0]), selected)
        self.data = columns

    def row(self, index: int) -> Row:
        return tuple([as_value("NumpySlicesDataset", column[index]) for column in self.data])


class GeneratorDataset(_SampledSource):
    """Rows of a Python object.

    Args:
        source: an object with ``__getitem__`` and ``__len__``, an iterable, a function that returns an iterable, or
            the generator that such a function returned. A row is a tuple, a list or another iterable with a value for
            each column, or a bare value for one: a number, text, an array, a tensor, or a dictionary.
        column_names: a name, or a list of one for each column.
        column_types: the required element types of the columns.
        schema: accepted for compatibility.
        num_samples: the maximum number of rows; by default all.
        num_parallel_workers: accepted; rows are made one by one in the caller's thread.
        shuffle: whether rows are in random order, by default True; those of a source without ``__getitem__`` keep
            their order.
        sampler: a sampler instead of ``shuffle``, ``num_samples`` and ``num_shards``, or a list of row indices
            instead of ``shuffle`` and ``num_shards``.
        num_shards: the number of shards; requires ``shard_id``.
        shard_id: the index of this shard, from 0.
        python_multiprocessing: accepted for compatibility.
        max_rowsize: an int from -1 on; accepted for compatibility.
        batch_sampler: lists of row indices that form batches.
        collate_fn: a function that combines such a batch from a list of values for each column; by default they are
            stacked.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: no ``column_names``, rows selected from a source without indices, or conflicting arguments.
        RuntimeError: while iterating: the source raised, or a row does not match the columns.
    """

    def __init__(
        self,
        source: Any,
        column_names: Names | None = None,
        column_types: Sequence[AnyDType] | None = None,
        schema: object = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Chosen | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: object = None,
        batch_sampler: Collection[Iterable[int]] | None = None,
        collate_fn: Callable[..., Any] | None = None,
    ) -> None:
        caller = "GeneratorDataset"
        if hasattr(source, "__getitem__") and not hasattr(source, "__len__"):
            raise RuntimeError(
                f"For '{caller}', 'source' has __getitem__, so it must have __len__ too, but it has none"
            )
        self.has_indices = hasattr(source, "__getitem__")
        if not (self.has_indices or isinstance(source, Iterable) or callable(source)):
            raise TypeError(
                f"For '{caller}', 'source' must be callable, iterable, or have __getitem__ and __len__, "
                f"but got {type(source).__name__}"
            )
        if column_names is None:
            raise ValueError(f"For '{caller}', 'column_names' is missing")
        check_bool(python_multiprocessing, caller, "python_multiprocessing")
        if num_parallel_workers is not None:
            between(caller, "num_parallel_workers", num_parallel_workers, 1)
        if max_rowsize is not None:
            between(caller, "max_rowsize", max_rowsize, -1)  # type: ignore[arg-type]  # it is checked
        super().__init__((), names_of(caller, "column_names", column_names))
        self._types = None if column_types is None else [any_dtype(kind).numpy for kind in column_types]
        if not self.has_indices and (sampler is not None or batch_sampler is not None or num_shards is not None):
            raise ValueError(
                f"For '{caller}', rows are chosen by number, which takes __getitem__ and __len__ of 'source'"
            )
        if batch_sampler is not None and (sampler is not None or shuffle is not None or num_shards is not None):
            raise ValueError(f"For '{caller}', 'batch_sampler' excludes 'sampler', 'shuffle' and 'num_shards'")
        if batch_sampler is not None and num_samples is not None:
            raise ValueError(f"For '{caller}', 'batch_sampler' excludes 'num_samples'")
        if collate_fn is not None:
            check_callable(collate_fn, caller, "collate_fn")
        if collate_fn is not None and batch_sampler is None:
            raise ValueError(f"For '{caller}', 'collate_fn' takes a 'batch_sampler'")
        self.source: Any = _Again(source) if isinstance(source, GeneratorType) else source
        self.num_samples = num_samples
        self.batch_sampler, self.collate_fn = batch_sampler, collate_fn
        self.sampler = _sampler(caller, sampler, shuffle, num_samples, num_shards, shard_id, True)
        self._count: int | None = None

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        if self.batch_sampler is not None:
            for batch in self.batch_sampler:
                yield self._batch([self._row(self._item(int(i))) for i in batch])
        elif self.has_indices:
            if not len(self.source):
                raise RuntimeError("For 'GeneratorDataset', 'source' has no rows")
            indices = indices_of(self.sampler, len(self.source), generator)
            for i in _check_indices(indices, len(self.source)):
                yield self._row(self._item(i))
        else:
            items = self._items()
            yield from map(self._row, itertools.islice(items, self.num_samples) if self.num_samples else items)

    def _items(self) -> Iterator[Any]:
        # A source with both is iterated over.
        try:
            yield from self.source if isinstance(self.source, Iterable) else self.source()
        except Exception as error:  # the user's code may raise anything; MindSpore raises RuntimeError for it
            raise RuntimeError(f"For 'GeneratorDataset', the source raised {type(error).__name__}: {error}") from error

    def _item(self, index: int) -> Any:
        try:
            return self.source[index]
        except Exception as error:  # the user's code may raise anything; MindSpore raises RuntimeError for it
            raise RuntimeError(
                f"For 'GeneratorDataset', row {index} of the source raised {type(error).__name__}: {error}"
            ) from error

    def _row(self, item: Any) -> Row:
        values = _values(item)
        names = self._columns or []
        if len(values) != len(names):
            raise RuntimeError(f"For 'GeneratorDataset', a row has {len(values)} values, but the columns are {names}")
        row = tuple([as_value("GeneratorDataset", value) for value in values])
        for name, value, expected in zip(names, row, self._types or (), strict=False):
            actual = "dict" if isinstance(value, dict) else value.dtype
            if actual != expected:
                raise RuntimeError(
                    f"For 'GeneratorDataset', column '{name}' must be {expected} by 'column_types', but got {actual}"
                )
        return row

    def _batch(self, rows: list[Row]) -> Row:
        columns = [list(values) for values in zip(*rows, strict=True)]
        if self.collate_fn is not None:
            return self._row(tuple(call("GeneratorDataset", self.collate_fn, columns)))
        pairs = zip(self._columns or [], columns, strict=True)
        return tuple([stacked("GeneratorDataset", name, values, "give a 'collate_fn'") for name, values in pairs])

    def get_batch_size(self) -> int:
        return 1 if self.batch_sampler is None else -1

    def size(self) -> int:
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        if self.has_indices:
            return len(indices_of(self.sampler, len(self.source), np.random.default_rng(0)))
        if hasattr(self.source, "__len__"):
            return min(len(self.source), self.num_samples or len(self.source))
        if self._count is None:  # it can only be counted by running it once
            self._count = Dataset.size(self)
        return self._count


class PaddedDataset(GeneratorDataset):
    """Rows that pad a data set to equally long shards: ``data + PaddedDataset(rows)``.

    Args:
        padded_samples: a list of rows, each a dictionary by column.

    Raises:
        TypeError: something else.
        ValueError: an empty list.
        RuntimeError: while iterating, a row with columns unlike the first's.
    """

    def __init__(self, padded_samples: list[dict[str, Any]]) -> None:
        check_type(padded_samples, list, "PaddedDataset", "padded_samples", "a list of dictionaries", show=repr)
        for sample in padded_samples:
            check_type(sample, dict, "PaddedDataset", "padded_samples", "a list of dictionaries", show=repr)
        if not padded_samples:
            raise ValueError("For 'PaddedDataset', 'padded_samples' must not be empty")
        super().__init__(_Rows(padded_samples), list(padded_samples[0]), shuffle=False)
        self.padded_samples = padded_samples


class _Rows:
    """Dictionaries as rows, in the order of the first one's columns."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        if self.rows[index].keys() != self.rows[0].keys():
            raise ValueError(f"its columns are {list(self.rows[index])}, not {list(self.rows[0])}")
        return tuple([self.rows[index][name] for name in self.rows[0]])


class _Again:
    """A generator whose values are stored, for repeated iteration."""

    def __init__(self, generator: Iterator[Any]) -> None:
        self._left = generator

    def __iter__(self) -> Iterator[Any]:
        self._left, copy = itertools.tee(self._left)
        return copy


def _values(item: Any) -> tuple[Any, ...]:
    """Return the values of a row from a source."""
    if isinstance(item, tuple):
        return item
    single = isinstance(item, int | float | str | bytes | np.ndarray | np.generic | Tensor | dict)
    if not single and not isinstance(item, Iterable):
        raise RuntimeError(
            "For 'GeneratorDataset', a row must be a value for each column: numbers, text, arrays, tensors or "
            f"dictionaries, but got {item!r}"
        )
    return (item,) if single else tuple(item)


class FakeImageDataset(_IndexedSource):
    """Random images of UInt8 with random labels of UInt32, each determined by its index and ``base_seed``.

    Args:
        num_images: the number of images.
        image_size: height, width and number of channels.
        num_classes: the exclusive upper bound of the labels.
        base_seed: added to the index of each; ``base_seed=1`` begins with the second image of 0.
        num_samples: the maximum number of rows; by default all.
        num_parallel_workers: accepted; rows are made one by one in the caller's thread.
        shuffle: whether rows are in random order; by default True.
        sampler: a sampler or a list of row indices instead of ``shuffle``, ``num_samples`` and ``num_shards``.
        num_shards: the number of shards; requires ``shard_id``.
        shard_id: the index of this shard, from 0.
        cache: accepted for compatibility.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number below 1, the wrong number of lengths, or ``sampler`` combined with what it replaces.
    """

    def __init__(
        self,
        num_images: int = 1000,
        image_size: Sequence[int] = (224, 224, 3),
        num_classes: int = 10,
        base_seed: int = 0,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Chosen | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: object = None,
    ) -> None:
        caller = "FakeImageDataset"
        check_type(
            image_size, list | tuple, caller, "image_size", "a height, a width and a number of channels", show=repr
        )
        if len(image_size) != 3:
            raise ValueError(f"For '{caller}', 'image_size' must be three ints, but got {image_size!r}")
        between(caller, "num_images", num_images, 1)
        between(caller, "num_classes", num_classes, 1)
        for length in image_size:
            between(caller, "image_size", length, 1)
        check_int(base_seed, caller, "base_seed", show=repr)
        selected = _sampler(caller, sampler, shuffle, num_samples, num_shards, shard_id, True)
        super().__init__(["image", "label"], num_images, selected)
        self.shape, self.classes, self.base_seed = tuple(image_size), num_classes, base_seed

    def num_classes(self) -> int:
        """Return the number of classes."""
        return self.classes

    def row(self, index: int) -> Row:
        random = np.random.default_rng((self.base_seed + index) % 2**64)
        label = np.uint32(random.integers(self.classes))
        return random.integers(256, size=self.shape, dtype=np.uint8), label


class _Pictures(_IndexedSource):
    """Images with a label each, from the files of a folder."""

    columns_read: tuple[str, ...] = ("image", "label")

    def __init__(
        self,
        dataset_dir: str | Path,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Chosen | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: object = None,
    ) -> None:
        caller = type(self).__name__
        folder = _folder(caller, dataset_dir)
        if usage not in (None, "train", "test", "all"):
            raise ValueError(f"For '{caller}', 'usage' must be 'train', 'test' or 'all', but got {usage!r}")
        self.images, self.labels = self._read(caller, folder, usage or "all")
        selected = _sampler(caller, sampler, shuffle, num_samples, num_shards, shard_id, True)
        super().__init__(list(self.columns_read), len(self.labels), selected)

    def _read(self, caller: str, folder: Path, usage: str) -> tuple[Array, Array]:
        """Return the images and labels of a part of the data."""
        raise NotImplementedError


class MnistDataset(_Pictures):
    """Images (28, 28, 1) of UInt8 and labels of UInt32, from the idx files of MNIST, gzipped or not.

    Args:
        dataset_dir: the folder of the files; nothing is downloaded.
        usage: "train", "test" or "all", the default.
        num_samples: the maximum number of rows; by default all.
        num_parallel_workers: accepted; rows are made one by one in the caller's thread.
        shuffle: whether rows are in random order; by default True.
        sampler: a sampler instead of ``shuffle``, ``num_samples`` and ``num_shards``, or a list of row indices
            instead of ``shuffle`` and ``num_shards``.
        num_shards: the number of shards; requires ``shard_id``.
        shard_id: the index of this shard, from 0.
        cache: accepted for compatibility.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: the folder does not exist, ``usage`` is unknown, or ``sampler`` is combined with what it
            replaces.
        RuntimeError: the folder lacks the files, or one is corrupt.
    """

    def _read(self, caller: str, folder: Path, usage: str) -> tuple[Array, Array]:
        parts = {"train": ("train",), "test": ("t10k",), "all": ("train", "t10k")}[usage]
        images, labels = [], []
        for part in parts:
            pair = [_idx(caller, folder, f"{part}-{kind}") for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")]
            if all(item is None for item in pair) and usage == "all":
                continue
            if pair[0] is None or pair[1] is None:
                raise RuntimeError(
                    f"For '{caller}', there are no files {part}-images-idx3-ubyte and labels in {folder}"
                )
            if len(pair[0]) != len(pair[1]):
                raise RuntimeError(f"For '{caller}', {folder} has {len(pair[0])} images, but {len(pair[1])} labels")
            images.append(pair[0])
            labels.append(pair[1])
        if not images:
            raise RuntimeError(f"For '{caller}', there are no idx files of MNIST in {folder}")
        return np.concatenate(images), np.concatenate(labels)

    def row(self, index: int) -> Row:
        return self.images[index][:, :, None], self.labels[index].astype(np.uint32)


class FashionMnistDataset(MnistDataset):
    """Images (28, 28, 1) of UInt8 and labels of UInt32: Fashion-MNIST, in the same files as MNIST.

    Args:
        dataset_dir: the folder of the files; nothing is downloaded.
        usage: "train", "test" or "all", the default.
        num_samples: the maximum number of rows; by default all.
        num_parallel_workers: accepted; rows are made one by one in the caller's thread.
        shuffle: whether rows are in random order; by default True.
        sampler: a sampler instead of ``shuffle``, ``num_samples`` and ``num_shards``, or a list of row indices
            instead of ``shuffle`` and ``num_shards``.
        num_shards: the number of shards; requires ``shard_id``.
        shard_id: the index of this shard, from 0.
        cache: accepted for compatibility.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: the folder does not exist, ``usage`` is unknown, or ``sampler`` is combined with what it
            replaces.
        RuntimeError: the folder lacks the files, or one is corrupt.
    """


def _cifar(caller: str, kind: str, paths: list[Path], labels: int) -> tuple[Array, Array]:
    """Return images (n, 32, 32, 3) and labels (n, labels) of files of labels, then red, green and blue per image."""
    length = labels + 3 * 32 * 32
    blocks = []
    for path in paths:
        data = np.frombuffer(read_plain(caller, path), np.uint8)
        if data.size % length:
            raise RuntimeError(f"For '{caller}', {path} is not a file of {kind}: {data.size} bytes")
        blocks.append(data.reshape(-1, length))
    rows = np.concatenate(blocks)
    return rows[:, labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, :labels]


class Cifar10Dataset(_Pictures):
    """Images (32, 32, 3) of UInt8 and labels of UInt32, from the binary files of CIFAR-10.

    Args:
        dataset_dir: the folder of the files; nothing is downloaded.
        usage: "train", "test" or "all", the default.
        num_samples: the maximum number of rows; by default all.
        num_parallel_workers: accepted; rows are made one by one in the caller's thread.
        shuffle: whether rows are in random order; by default True.
        sampler: a sampler instead of ``shuffle``, ``num_samples`` and ``num_shards``, or a list of row indices
            instead of ``shuffle`` and ``num_shards``.
        num_shards: the number of shards; requires ``shard_id``.
        shard_id: the index of this shard, from 0.
        cache: accepted for compatibility.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: the folder does not exist, ``usage`` is unknown, or ``sampler`` is combined with what it
            replaces.
        RuntimeError: the folder lacks the files, or one is corrupt.
    """

    def _read(self, caller: str, folder: Path, usage: str) -> tuple[Array, Array]:
        train, test = "data_batch_*.bin", "test_batch.bin"
        patterns = {"train": (train,), "test": (test,), "all": (train, test)}[usage]
        paths = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
        if not paths:
            raise RuntimeError(f"For '{caller}', there are no data_batch_*.bin or test_batch.bin in {folder}")
        images, labels = _cifar(caller, "CIFAR-10", paths, 1)
        return images, labels[:, 0]

    def row(self, index: int) -> Row:
        return self.images[index], self.labels[index].astype(np.uint32)


class Cifar100Dataset(_Pictures):
    """Images (32, 32, 3) of UInt8, with a coarse and a fine label of UInt32, from the binary files of CIFAR-100.

    Args:
        dataset_dir: the folder of the files train.bin and test.bin; nothing is downloaded.
        usage: "train", "test" or "all", the default.
        num_samples: the maximum number of rows; by default all.
        num_parallel_workers: accepted; rows are made one by one in the caller's thread.
        shuffle: whether rows are in random order; by default True.
        sampler: a sampler instead of ``shuffle``, ``num_samples`` and ``num_shards``, or a list of row indices
            instead of ``shuffle`` and ``num_shards``.
        num_shards: the number of shards; requires ``shard_id``.
        shard_id: the index of this shard, from 0.
        cache: accepted for compatibility.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: the folder does not exist, ``usage`` is unknown, or ``sampler`` is combined with what it
            replaces.
        RuntimeError: the folder lacks the files, or one is corrupt.
    """

    columns_read = ("image", "coarse_label", "fine_label")

    def _read(self, caller: str, folder: Path, usage: str) -> tuple[Array, Array]:
        names = {"train": ["train.bin"], "test": ["test.bin"], "all": ["train.bin", "test.bin"]}[usage]
        paths = [folder / name for name in names if (folder / name).is_file()]
        if not paths:
            raise RuntimeError(f"For '{caller}', there is no {' or '.join(names)} in {folder}")
        return _cifar(caller, "CIFAR-100", paths, 2)

    def row(self, index: int) -> Row:
        coarse, fine = self.labels[index].astype(np.uint32)
        return self.images[index], coarse, fine


class ImageFolderDataset(_IndexedSource):
    """The files of a folder that has a folder for each class: images of UInt8 and labels of Int32.

    Args:
        dataset_dir: the folder.
        num_samples: the maximum number of rows; by default all.
        num_parallel_workers: accepted; rows are made one by one in the caller's thread.
        shuffle: whether rows are in random order; by default True.
        sampler: a sampler, also a ``PKSampler``, or a list of row indices instead of ``shuffle``, ``num_samples`` and
            ``num_shards``.
        extensions: the extensions of accepted files, such as ``[".png"]``; by default all files.
        class_indexing: the label of each folder's name; other folders are skipped. By default they are counted from 0
            in the order of their names.
        decode: return images (H, W, 3), by the package ``pillow``, instead of the bytes of the files.
        num_shards: the number of shards; requires ``shard_id``.
        shard_id: the index of this shard, from 0.
        cache: accepted for compatibility.
        decrypt: a function from a file's path to its bytes; by default files are read unchanged.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: the folder does not exist, or ``sampler`` is combined with what it replaces.
        RuntimeError: no files, or a folder of ``class_indexing`` is missing; while iterating, a file is not an image,
            or ``decrypt`` did not return bytes.
        ImportError: while iterating, ``decode`` without the package ``pillow``.
    """

    def __init__(
        self,
        dataset_dir: str | Path,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Chosen | None = None,
        extensions: list[str] | None = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: object = None,
        decrypt: Callable[..., Any] | None = None,
    ) -> None:
        caller = "ImageFolderDataset"
        folder = _folder(caller, check_type(dataset_dir, str | Path, caller, "dataset_dir", "a path"))
        check_type(extensions, list | None, caller, "extensions", "a list of str", show=repr)
        check_type(class_indexing, dict | None, caller, "class_indexing", "a dictionary", show=repr)
        self.decode = check_bool(decode, caller, "decode", show=repr)
        for label in (class_indexing or {}).values():
            check_type(label, int, caller, "class_indexing", "a dictionary of ints", show=repr)
        if decrypt is not None:
            check_callable(decrypt, caller, "decrypt")
        self.decrypt = decrypt
        names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
        self.classes = {name: i for i, name in enumerate(names)} if class_indexing is None else dict(class_indexing)
        if missing := [name for name in self.classes if name not in names]:
            raise RuntimeError(f"For '{caller}', there is no folder {missing[0]!r} in {folder}")
        entries = [
            (entry, self.classes[name])
            for name in names
            if name in self.classes
            for entry in sorted((folder / name).iterdir())
        ]
        entries = [(entry, label) for entry, label in entries if extensions is None or entry.suffix in extensions]
        if not entries:
            raise RuntimeError(f"For '{caller}', there are no files in the folders of {folder}")
        if inner := [entry for entry, _ in entries if not entry.is_file()]:
            raise RuntimeError(f"For '{caller}', there must be files in the folders of classes, but {inner[0]} is none")
        self.files, self.labels = [entry for entry, _ in entries], np.array([label for _, label in entries], np.int32)
        if isinstance(sampler, PKSampler):
            sampler.labels = self.labels
        selected = _sampler(caller, sampler, shuffle, num_samples, num_shards, shard_id, True)
        super().__init__(["image", "label"], len(entries), selected)

    def num_classes(self) -> int:
        """Return the number of folders that count as classes."""
        return len(self.classes)

    def get_class_indexing(self) -> dict[str, int]:
        """Return the label of each folder."""
        return dict(self.classes)

    def row(self, index: int) -> Row:
        path = self.files[index]
        content = read_plain("ImageFolderDataset", path) if self.decrypt is None else self.decrypt(str(path))
        if not isinstance(content, bytes):
            raise RuntimeError(f"For 'ImageFolderDataset', 'decrypt' must give bytes, but got {type(content).__name__}")
        data: Any = np.frombuffer(content, np.uint8)
        if self.decode:
            from .vision import Decode  # which imports from modules that import this one

            try:
                data = Decode()(data)
            except RuntimeError as error:
                raise RuntimeError(f"For 'ImageFolderDataset', {path} is not an image: {error}") from error
        return data, np.asarray(self.labels[index])


def _folder(caller: str, path: str | Path) -> Path:
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(f"For '{caller}', 'dataset_dir' must be a folder, but there is none at {folder}")
    return folder


def _idx(caller: str, folder: Path, name: str) -> Array | None:
    """Return an idx file of bytes (LeCun's MNIST page has the format), or None if there is none."""
    plain, zipped = folder / name, folder / f"{name}.gz"
    if plain.exists():
        with open_plain(caller, plain) as file:
            return _idx_of(caller, plain, file)
    if zipped.exists():
        with open_unzipped(caller, zipped) as file:
            return _idx_of(caller, zipped, file)
    return None


def _idx_of(caller: str, path: Path, file: BinaryIO) -> Array:
    head = file.read(4)
    sizes = file.read(4 * head[3]) if len(head) == 4 else b""
    if head[:3] != b"\0\0\x08" or len(head) < 4 or len(sizes) < 4 * head[3]:
        raise RuntimeError(f"For '{caller}', {path} is not an idx file of bytes")
    shape = struct.unpack(f">{head[3]}I", sizes)
    values = np.frombuffer(read_up_to(file, math.prod(shape) + 1), np.uint8)
    if values.size != math.prod(shape):
        actual = "more" if values.size > math.prod(shape) else values.size
        raise RuntimeError(f"For '{caller}', {path} should hold {shape} bytes, but holds {actual}")
    try:
        return values.reshape(shape)
    except ValueError as error:  # more axes than an array supports
        raise RuntimeError(f"For '{caller}', {path} holds no array: {error}") from error
