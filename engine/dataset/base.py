"""Dataset: a chain of steps that make rows when they are asked for.

A data set is a source (``sources.py``) or a step on others (``steps.py``). Each gives ``rows(generator)``: an iterator
over one epoch, where a row is a tuple of NumPy arrays, one for each column. Nothing runs until somebody iterates, and
rows are made in the caller's thread, one by one: what a pipeline gives is the same in every run with the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from . import config

__all__ = ["Dataset", "DatasetIterator", "Row", "names_of"]

Row = tuple[Any, ...]
_MOST = 2**31 - 1


class Dataset:
    """Base of the data sets."""

    def __init__(self, children: tuple[Dataset, ...] = (), columns: list[str] | None = None) -> None:
        self.children = children
        self._columns = columns

    # What every kind defines

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        """The rows of one epoch."""
        raise NotImplementedError(f"{type(self).__name__} does not define 'rows'")

    def size(self) -> int:
        """The number of rows of an epoch; found by running one, if there is no other way."""
        return sum(1 for _ in self.rows(config.new_random()))

    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.children[0].columns() if self._columns is None else self._columns)

    # Facts

    def get_col_names(self) -> list[str]:
        """The names of the columns."""
        return self.columns()

    def get_dataset_size(self) -> int:
        """The number of rows (batches, after ``batch``) of an epoch."""
        return self.size()

    __len__ = get_dataset_size

    def get_batch_size(self) -> int:
        """The size of a batch; 1 without ``batch``."""
        return self.children[0].get_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
        """How often the rows are repeated."""
        return self.children[0].get_repeat_count() if self.children else 1

    def num_classes(self) -> int | None:
        """The number of classes, where the data set knows it."""
        return self.children[0].num_classes() if self.children else None

    def get_class_indexing(self) -> dict[str, Any]:
        """Names of the classes, where the data set knows them."""
        return self.children[0].get_class_indexing() if self.children else {}

    def output_shapes(self, estimate: bool = False) -> list[list[int]]:
        """The shapes of the columns, those of the first row."""
        return [list(np.shape(value)) for value in self._first()]

    def output_types(self) -> list[np.dtype[Any]]:
        """The NumPy dtypes of the columns, those of the first row."""
        return [np.asarray(value).dtype for value in self._first()]

    def _first(self) -> Row:
        first = next(iter(self.rows(config.new_random())), None)
        if first is None:
            raise RuntimeError("the data set is empty")
        return first

    # Iterating

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> DatasetIterator:
        """Rows as dictionaries by column; each pass of a ``for`` over the iterator is an epoch.

        Args:
            num_epochs: how many passes there are; -1: as many as one likes.
            output_numpy: NumPy arrays instead of tensors.
            do_copy: kept; what comes is the caller's own in any case.
        """
        names = self.columns()
        return DatasetIterator(
            self, num_epochs, output_numpy, lambda row: dict(zip(names, row, strict=True)), "create_dict_iterator"
        )

    def create_tuple_iterator(
        self,
        columns: Any = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> DatasetIterator:
        """Rows as lists, of these columns or of all; each pass of a ``for`` over the iterator is an epoch."""
        source: Dataset = self if columns is None else self.project(columns)
        return DatasetIterator(source, num_epochs, output_numpy, list, "create_tuple_iterator")

    def __iter__(self) -> DatasetIterator:
        return self.create_tuple_iterator(num_epochs=1)

    def reset(self) -> None:
        """Nothing is kept between epochs."""

    # Steps

    def batch(
        self, batch_size: Any, drop_remainder: bool = False, num_parallel_workers: int | None = None, **kwargs: Any
    ) -> Dataset:
        """Rows put together: ``batch_size`` of them, or as many as it returns when called with batch info.

        Args:
            batch_size: the number of rows, or a function of the batch info.
            drop_remainder: leave out a last batch that is not full.
            num_parallel_workers: kept.
            **kwargs: ``per_batch_map``, a function of lists of values (one list for each of ``input_columns``) and the
                batch info, with its ``input_columns`` and ``output_columns``.
        """
        return steps.Batch(self, batch_size, drop_remainder, kwargs)

    def padded_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict[str, Any] | None = None,
    ) -> Dataset:
        """Batches of rows padded to one shape: ``{column: (shape, value)}``, or the largest of the batch."""
        return steps.Batch(self, batch_size, drop_remainder, {}, {} if pad_info is None else pad_info)

    def map(
        self,
        operations: Any,
        input_columns: Any = None,
        output_columns: Any = None,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """One function after another on the input columns; their results become the output columns.

        Args:
            operations: a function or a list of them.
            input_columns: the columns that the first gets; the first column without it.
            output_columns: names of what the last returns; those of the input columns without it.
            num_parallel_workers, **kwargs: kept.
        """
        return steps.Map(self, operations, input_columns, output_columns)

    def filter(
        self, predicate: Callable[..., Any], input_columns: Any = None, num_parallel_workers: int | None = None
    ) -> Dataset:
        """The rows for which ``predicate`` of the input columns is true."""
        return steps.Filter(self, predicate, input_columns)

    def flat_map(self, func: Callable[[Any], Dataset]) -> Dataset:
        """The rows of all data sets that ``func`` makes of a row."""
        return steps.Concat(tuple(func(_given(row, False)) for row in self.rows(config.new_random())))

    def shuffle(self, buffer_size: int) -> Dataset:
        """Rows in random order, each drawn from the next ``buffer_size``."""
        return steps.Shuffle(self, between("shuffle", "buffer_size", buffer_size, 2))

    def repeat(self, count: int | None = None) -> Dataset:
        """The rows ``count`` times over; -1 or None: without end."""
        if count is not None and count != -1:
            between("repeat", "count", count, 1)
        return steps.Repeat(self, -1 if count is None else count)

    def take(self, count: int = -1) -> Dataset:
        """The first ``count`` rows; -1: all."""
        if count != -1:
            between("take", "count", count, 1)
        return steps.Part(self, 0, None if count == -1 else count)

    def skip(self, count: int) -> Dataset:
        """All but the first ``count`` rows."""
        return steps.Part(self, between("skip", "count", count, 0), None)

    def zip(self, datasets: Any) -> Dataset:
        """The columns of several data sets side by side, as long as the shortest."""
        others = datasets if isinstance(datasets, tuple) else (datasets,)
        return steps.Zip((self, *others))

    def concat(self, datasets: Any) -> Dataset:
        """The rows of several data sets one after another."""
        others = tuple(datasets) if isinstance(datasets, list | tuple) else (datasets,)
        return steps.Concat((self, *others))

    def __add__(self, other: Any) -> Dataset:
        return self.concat(other)

    def split(self, sizes: list[Any], randomize: bool = True) -> list[Dataset]:
        """Data sets that share the rows out: by numbers of rows, or by shares that sum to 1."""
        return steps.split(self, sizes, randomize)

    def project(self, columns: Any) -> Dataset:
        """These columns, in this order."""
        return steps.Project(self, names_of("project", "columns", columns))

    def rename(self, input_columns: Any, output_columns: Any) -> Dataset:
        """Other names for columns."""
        return steps.Rename(
            self,
            names_of("rename", "input_columns", input_columns),
            names_of("rename", "output_columns", output_columns),
        )

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What ``apply_func`` makes of this data set.

        Raises:
            TypeError: it is no function, or does not return a data set.
        """
        if not callable(apply_func):
            raise TypeError(f"For 'apply', 'apply_func' must be a function, but got {type(apply_func).__name__}")
        made = apply_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"For 'apply', 'apply_func' must return a data set, but got {type(made).__name__}")
        return made


class DatasetIterator:
    """Goes over the rows; each pass of a ``for`` is an epoch, shuffled anew."""

    def __init__(
        self, dataset: Dataset, num_epochs: int, output_numpy: bool, form: Callable[[Row], Any], who: str
    ) -> None:
        if isinstance(num_epochs, bool) or not isinstance(num_epochs, int):
            raise TypeError(f"For '{who}', 'num_epochs' must be an int, but got {num_epochs!r}")
        if num_epochs != -1 and not 1 <= num_epochs <= _MOST:
            raise ValueError(f"For '{who}', 'num_epochs' must be -1 or above 0, but got {num_epochs}")
        if not isinstance(output_numpy, bool):
            raise TypeError(f"For '{who}', 'output_numpy' must be a bool, but got {output_numpy!r}")
        self._dataset, self._left, self._numpy, self._form = dataset, num_epochs, output_numpy, form
        self._random = config.new_random()
        self._rows: Iterator[Row] | None = None

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        if self._rows is None:
            if self._left == 0:
                raise RuntimeError("all the epochs of this iterator are over; make a new one, or give 'num_epochs'")
            self._left -= self._left > 0
            self._rows = self._dataset.rows(self._random)
        try:
            with config.using(self._random):
                row = next(self._rows)
        except StopIteration:
            self._rows = None
            raise
        return self._form(_given(row, self._numpy))

    def stop(self) -> None:
        """End the iteration."""
        self._rows, self._left = None, 0

    release = stop

    def get_next(self) -> Any:
        """The next row."""
        return next(self)


def _given(row: Row, as_numpy: bool) -> Row:
    """A row as its taker wants it; text has no tensors."""
    return tuple([v if as_numpy or v.dtype.kind in "USO" else Tensor(v) for v in map(np.asarray, row)])


def between(who: str, argument: str, value: Any, least: int) -> int:
    """Refuse what is no int from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{who}', '{argument}' must be an int, but got {type(value).__name__}")
    if not least <= value <= _MOST:
        raise ValueError(f"For '{who}', '{argument}' must be from {least} to {_MOST}, but got {value}")
    return value


def names_of(who: str, argument: str, columns: Any) -> list[str]:
    """A name or a list of names, as a list."""
    given = [columns] if isinstance(columns, str) else columns
    if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
        raise TypeError(f"For '{who}', '{argument}' must be a str or a list of them, but got {columns!r}")
    if not given or len(set(given)) != len(given) or "" in given:
        raise ValueError(f"For '{who}', '{argument}' must name different columns, but got {columns!r}")
    return list(given)


from . import steps  # noqa: E402  (each step is a data set itself)
