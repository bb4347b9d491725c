"""Data sets: chains of steps that make rows lazily.

A data set is a source (``sources.py``) or a step on others (``steps.py``). Each defines ``rows(generator)``: an
iterator over one epoch, in which a row is a tuple of NumPy arrays, one per column. Evaluation is lazy: rows are made
one by one in the thread of the iterator's caller. A pipeline yields the same rows in every run with the same seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeAlias

import numpy as np

from ..base.argument_checks import check_bool, check_callable, check_int, check_type
from ..tensors.tensor import Tensor
from . import config
from .callback import Watch, callback_list

__all__ = ["Dataset", "DatasetIterator", "Row", "Step", "names_of", "newest_pass"]

Row = tuple[Any, ...]
Names: TypeAlias = str | list[str] | tuple[str, ...]
"""A name of a column, or several."""
_MOST = 2**31 - 1
_passes = itertools.count(1)
_newest = (0, 0)  # the latest pass that returned a row, and the number of rows returned by then


class Dataset:
    """Base of the data sets.

    Args:
        children: the data sets that this one combines.
        columns: the names of its columns; by default those of the first child.
    """

    def __init__(self, children: tuple[Dataset, ...] = (), columns: list[str] | None = None) -> None:
        self.children = children
        self._columns = columns

    # Methods that every kind defines

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        """Return the rows of one epoch: tuples with an array for each column.

        Args:
            generator: the iterator's random generator.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define 'rows'")

    def size(self) -> int:
        """Return the number of rows of an epoch, counted by running one if there is no other way."""
        return sum(1 for _ in self.rows(config.new_random()))

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.children[0].columns() if self._columns is None else self._columns)

    # Facts

    def get_col_names(self) -> list[str]:
        """Return the names of the columns."""
        return self.columns()

    input_indexs = ()
    """The columns that a training step takes, as set by the user; all if empty."""

    def get_dataset_size(self) -> int:
        """Return the number of rows (batches, after ``batch``) of an epoch."""
        return self.size()

    __len__ = get_dataset_size

    def get_batch_size(self) -> int:
        """Return the batch size of the last of several data sets; 1 without ``batch``, -1 if it varies."""
        return self.children[-1].get_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
        """Return the count of the last ``repeat`` in the last of several data sets; 1 without one."""
        return self.children[-1].get_repeat_count() if self.children else 1

    def num_classes(self) -> int | None:
        """Return the number of classes: None, since these data sets do not know it."""
        return None

    def get_class_indexing(self) -> dict[str, Any]:
        """Return the names of the classes: empty, since these data sets do not know them."""
        return {}

    def output_shapes(self, estimate: bool = False) -> list[list[int | None]]:
        """Return the shapes of the columns, taken from the first row.

        Args:
            estimate: inspect all rows; a length that differs among them is None.

        Raises:
            TypeError: ``estimate`` is not a bool.
            RuntimeError: there are no rows, or rows of several ranks.
        """
        check_bool(estimate, "output_shapes", "estimate", show=repr)
        shapes: list[list[int | None]] = [list(np.shape(value)) for value in self._first()]
        for row in self.rows(config.new_random()) if estimate else ():
            for name, axes, shape in zip(self.columns(), shapes, map(np.shape, row), strict=True):
                if len(axes) != len(shape):
                    raise RuntimeError(
                        f"For 'output_shapes', column '{name}' has values with {len(axes)} axes and with {len(shape)}"
                    )
                axes[:] = [old if old == new else None for old, new in zip(axes, shape, strict=True)]
        return shapes

    def output_types(self) -> list[np.dtype[Any]]:
        """Return the NumPy dtypes of the columns, taken from the first row.

        Raises:
            RuntimeError: there are no rows.
        """
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
        """Iterate over rows as dictionaries by column; each pass of a ``for`` over the iterator is an epoch.

        Args:
            num_epochs: the number of passes; -1: unlimited.
            output_numpy: NumPy arrays instead of tensors.
            do_copy: accepted; returned values always belong to the caller.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: ``num_epochs`` is below -1.
            RuntimeError: ``num_epochs`` is 0.
        """
        names = self.columns()
        return DatasetIterator(
            self,
            num_epochs,
            output_numpy,
            lambda row: dict(zip(names, row, strict=True)),
            "create_dict_iterator",
            do_copy,
        )

    def create_tuple_iterator(
        self, columns: Names | None = None, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> DatasetIterator:
        """Iterate over rows as lists; each pass of a ``for`` over the iterator is an epoch.

        Args:
            columns: a name or a list of names of the columns to return; by default all.
            num_epochs: the number of passes; -1: unlimited.
            output_numpy: NumPy arrays instead of tensors.
            do_copy: accepted; returned values always belong to the caller.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: ``num_epochs`` is below -1.
            RuntimeError: ``num_epochs`` is 0, or a column is unknown.
        """
        source: Dataset = self if columns is None else self.project(columns)
        source.columns()
        return DatasetIterator(source, num_epochs, output_numpy, list, "create_tuple_iterator", do_copy)

    def __iter__(self) -> DatasetIterator:
        return self.create_tuple_iterator(num_epochs=1)

    def reset(self) -> None:
        """Do nothing: no state is kept between epochs."""

    # Steps

    def batch(
        self,
        batch_size: int | Callable[[steps.BatchInfo], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Combine rows into batches, stacked along a new first axis.

        Args:
            batch_size: the number of rows, or a function of the batch info (``get_epoch_num``, ``get_batch_num``).
            drop_remainder: drop a last batch that is not full.
            num_parallel_workers: accepted; rows are made one by one in the caller's thread.
            **kwargs: ``per_batch_map``, a function of lists of values (one list for each of ``input_columns``) and the
                batch info, with its ``input_columns`` and ``output_columns``; ``python_multiprocessing`` and
                ``max_rowsize`` are accepted without effect.

        Raises:
            TypeError: an argument of the wrong type, or one that there is not.
            ValueError: ``batch_size`` is below 1, or there are ``input_columns`` without ``per_batch_map``.
            RuntimeError: during iteration: the rows of a batch differ in shape or dtype, or ``per_batch_map`` raises or
                returns the wrong number of columns.
        """
        _check_workers("batch", num_parallel_workers)
        more = ("per_batch_map", "input_columns", "output_columns", "python_multiprocessing", "max_rowsize")
        _check_keywords("batch", kwargs, more)
        return steps.Batch(self, batch_size, drop_remainder, kwargs)

    def padded_batch(
        self,
        batch_size: int | Callable[[steps.BatchInfo], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict[str, Any] | None = None,
    ) -> Dataset:
        """Combine rows into batches, padded to one shape.

        Args:
            batch_size: the number of rows, or a function of the batch info.
            drop_remainder: drop a last batch that is not full.
            num_parallel_workers: accepted; rows are made one by one in the caller's thread.
            pad_info: ``{column: (shape, value)}``; None in a shape, or for it, is the largest of the batch. With {} all
                columns are padded with zeros to the largest of the batch; by default none is.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: ``batch_size`` is below 1, or an entry is not a pair of shape and value.
        """
        _check_workers("padded_batch", num_parallel_workers)
        return steps.Batch(self, batch_size, drop_remainder, {}, None if pad_info is None else pads(pad_info))

    def map(
        self,
        operations: Callable[..., Any] | list[Callable[..., Any]] | tuple[Callable[..., Any], ...],
        input_columns: Names | None = None,
        output_columns: Names | None = None,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Apply functions in turn to the input columns; their results become the output columns.

        Args:
            operations: a function or a list of them.
            input_columns: the arguments of the first function; by default the first column.
            output_columns: the names of the last function's results; by default those of the input columns.
            num_parallel_workers: accepted; rows are made one by one in the caller's thread.
            **kwargs: ``callbacks``, a ``DSCallback`` or a list of them, called around the rows of an iterator;
                ``python_multiprocessing``, ``max_rowsize``, ``cache`` and ``offload`` are accepted without effect.

        Raises:
            TypeError: an argument that there is not, names that are not strings, or ``callbacks`` that are none.
            ValueError: an operation that cannot be called.
            AttributeError: a callback that defines none of its methods.
            RuntimeError: no operations; or while iterating, a function or a callback raised, or returned the wrong
                number of values.
        """
        _check_workers("map", num_parallel_workers)
        callbacks = kwargs.pop("callbacks", None)
        _check_keywords("map", kwargs, ("python_multiprocessing", "max_rowsize", "cache", "offload"))
        return steps.Map(self, operations, input_columns, output_columns, callback_list(callbacks))

    def bucket_batch_by_length(
        self,
        column_names: list[str],
        bucket_boundaries: list[int],
        bucket_batch_sizes: list[int],
        element_length_function: Callable[..., int] | None = None,
        pad_info: dict[str, Any] | None = None,
        pad_to_bucket_boundary: bool = False,
        drop_remainder: bool = False,
    ) -> Dataset:
        """Combine rows of similar length into batches, padded to one shape.

        Args:
            column_names: the columns that determine the length.
            bucket_boundaries: ascending ints above 0; rows below the first are in the first bucket, rows from the last
                on in the last.
            bucket_batch_sizes: the batch size of each bucket, one more int than boundaries.
            element_length_function: a function of these columns that returns the length; by default that of the first
                axis of the one column, 0 for a value without axes.
            pad_info: as for ``padded_batch``; unlisted columns are not padded, and by default all are.
            pad_to_bucket_boundary: None in a shape of ``pad_info`` is the greatest length of the bucket.
            drop_remainder: drop the batches that are not full.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: boundaries that do not ascend, the wrong number of sizes, or several columns without a function.
            RuntimeError: while iterating, an unknown column, or the function raised or did not return an int.
        """
        return buckets.BucketBatch(
            self,
            column_names,
            bucket_boundaries,
            bucket_batch_sizes,
            element_length_function,
            pad_info,
            pad_to_bucket_boundary,
            drop_remainder,
        )

    def filter(
        self, predicate: Callable[..., Any], input_columns: Names | None = None, num_parallel_workers: int | None = None
    ) -> Dataset:
        """Keep the rows for which ``predicate`` of the input columns is true.

        Args:
            predicate: a function of the values.
            input_columns: a name or a list of names of its arguments; by default all columns.
            num_parallel_workers: accepted; rows are made one by one in the caller's thread.

        Raises:
            TypeError: ``predicate`` is not a function.
            RuntimeError: while iterating, ``predicate`` raised.
        """
        _check_workers("filter", num_parallel_workers)
        return steps.Filter(self, predicate, input_columns)

    def flat_map(self, func: Callable[..., Dataset]) -> Dataset:
        """Concatenate the data sets that ``func`` returns for the rows; it is called for all rows immediately.

        Args:
            func: a function of the columns of a row, NumPy arrays, that returns a data set.

        Raises:
            TypeError: it is not a function, did not return a data set, or there are no rows.
        """
        check_callable(func, "flat_map", "func")
        datasets = tuple(func(*row) for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True))
        for dataset in datasets:
            if not isinstance(dataset, Dataset):
                raise TypeError(f"For 'flat_map', 'func' must return a data set, but got {type(dataset).__name__}")
        if not datasets:
            raise TypeError("For 'flat_map', there are no rows of which 'func' could make data sets")
        return steps.Concat(datasets)

    def shuffle(self, buffer_size: int) -> Dataset:
        """Shuffle the rows: each is drawn from the next ``buffer_size``.

        Args:
            buffer_size: the size of the shuffle buffer, at least 2.

        Raises:
            TypeError: not an int.
            ValueError: an int below 2.
            RuntimeError: after ``sync_wait``.
        """
        if synchronizing.gates_of(self):
            raise RuntimeError("For 'shuffle', rows behind a 'sync_wait' cannot be drawn ahead: shuffle before it")
        return steps.Shuffle(self, between("shuffle", "buffer_size", buffer_size, 2))

    def repeat(self, count: int | None = None) -> Dataset:
        """Repeat the rows ``count`` times.

        Args:
            count: at least 1; -1 or None: unlimited.

        Raises:
            TypeError: not an int.
            ValueError: 0, or below -1.
        """
        if count is not None and count != -1:
            between("repeat", "count", count, 1)
        return steps.Repeat(self, -1 if count is None else count)

    def take(self, count: int = -1) -> Dataset:
        """Keep the first ``count`` rows.

        Args:
            count: at least 1; -1: all.

        Raises:
            TypeError: not an int.
            ValueError: 0, or below -1.
        """
        if count != -1:
            between("take", "count", count, 1)
        return steps.Part(self, 0, None if count == -1 else count)

    def skip(self, count: int) -> Dataset:
        """Drop the first ``count`` rows.

        Args:
            count: at least 0.

        Raises:
            TypeError: not an int.
            ValueError: a negative int.
        """
        return steps.Part(self, between("skip", "count", count, 0), None)

    def zip(self, datasets: Dataset | tuple[Dataset, ...]) -> Dataset:
        """Combine the columns of several data sets; the length is that of the shortest.

        Args:
            datasets: a data set or a tuple of them, with other column names.

        Raises:
            TypeError: an argument is not a data set.
            RuntimeError: while iterating, a duplicate name.
        """
        more = datasets if isinstance(datasets, tuple) else (datasets,)
        return steps.Zip((self, *more))

    def concat(self, datasets: Dataset | list[Dataset] | tuple[Dataset, ...]) -> Dataset:
        """Concatenate the rows of several data sets.

        Args:
            datasets: a data set or a list of them, with the same columns.

        Raises:
            TypeError: an argument is not a data set.
            RuntimeError: while iterating, the columns differ.
        """
        more = tuple(datasets) if isinstance(datasets, list | tuple) else (datasets,)
        return steps.Concat((self, *more))

    def __add__(self, other: Dataset) -> Dataset:
        return self.concat(other)

    def split(self, sizes: list[int] | list[float], randomize: bool = True) -> list[Dataset]:
        """Split the rows among several data sets.

        Args:
            sizes: numbers of rows that sum to all, or fractions, floats that sum to 1.
            randomize: distribute the rows in random order.

        Returns:
            a data set for each entry of ``sizes``.

        Raises:
            TypeError: ``sizes`` is not a list, or ``randomize`` is not a bool.
            ValueError: no entries, entries of both kinds or below 0, or fractions with the wrong sum.
            RuntimeError: numbers with the wrong sum, or too few rows for the fractions.
        """
        return steps.split(self, sizes, randomize)

    def project(self, columns: Names) -> Dataset:
        """Select these columns, in this order.

        Args:
            columns: a name or a list of names.

        Raises:
            TypeError: not strings.
            ValueError: no name, or a duplicate.
            RuntimeError: while iterating, an unknown column.
        """
        return steps.Project(self, names_of("project", "columns", columns))

    def rename(self, input_columns: Names, output_columns: Names) -> Dataset:
        """Rename columns.

        Args:
            input_columns: a name or a list of names.
            output_columns: the new names, one for each.

        Raises:
            TypeError: not strings.
            ValueError: the wrong number of new names, no name, or a duplicate.
            RuntimeError: while iterating, an unknown column.
        """
        return steps.Rename(
            self,
            names_of("rename", "input_columns", input_columns),
            names_of("rename", "output_columns", output_columns),
        )

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Return the result of a function of this data set.

        Args:
            apply_func: a function of a data set that returns one.

        Raises:
            TypeError: it is not a function, or does not return a data set.
        """
        check_callable(apply_func, "apply", "apply_func")
        dataset = apply_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"For 'apply', 'apply_func' must return a data set, but got {type(dataset).__name__}")
        return dataset

    # Synchronization with the consumer of the rows

    def sync_wait(
        self, condition_name: str, num_batch: int = 1, callback: Callable[[Any], Any] | None = None
    ) -> Dataset:
        """Wait for ``sync_update`` after each batch, so that later steps can depend on the training.

        Rows are made one by one in the caller's thread, in which waiting would never end. Rows requested without an
        update are therefore returned, with a RuntimeWarning.

        Args:
            condition_name: the name for ``sync_update``.
            num_batch: the number of batches before the first update.
            callback: a function of the data of each update.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: ``num_batch`` is below 1.
            RuntimeError: the name is in use.
        """
        return synchronizing.SyncWait(self, condition_name, num_batch, callback)

    def sync_update(self, condition_name: str, num_batch: int | None = None, data: Any = None) -> None:
        """Release further batches of a ``sync_wait`` of this chain and pass data to its callback.

        Args:
            condition_name: its name.
            num_batch: the number of batches; by default that of ``sync_wait``.
            data: the argument of its callback.

        Raises:
            TypeError: a name that is not a str.
            RuntimeError: an unknown name, or ``num_batch`` is not an int above 0; waiting is disabled then.
        """
        synchronizing.update(self, condition_name, num_batch, data)

    def disable_sync(self) -> None:
        """Stop every ``sync_wait`` of this chain from waiting."""
        synchronizing.disable(self)

    # Methods without a meaning in one process without a device

    def device_que(
        self, send_epoch_end: bool = True, create_data_info_queue: bool = False, queue_name: str = ""
    ) -> NoReturn:
        """Raise NotImplementedError: there is no device with a queue of rows.

        Args:
            send_epoch_end: not used.
            create_data_info_queue: not used.
            queue_name: not used.

        Raises:
            NotImplementedError: always; the message names an alternative.
        """
        _not_covered("device_que", "iterate over the data set, or give it to Model.train")

    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> NoReturn:
        """Raise NotImplementedError: MindRecord files are not written.

        Args:
            file_name: not used.
            num_files: not used.
            file_type: not used.

        Raises:
            NotImplementedError: always; the message names an alternative.
        """
        _not_covered("save", "put the rows of create_dict_iterator(output_numpy=True) into a file with numpy.savez")

    def to_json(self, filename: str = "") -> NoReturn:
        """Raise NotImplementedError: a chain holds functions, which JSON cannot represent.

        Args:
            filename: not used.

        Raises:
            NotImplementedError: always; the message names an alternative.
        """
        _not_covered("to_json", "keep the function that makes the chain")

    def send(self, tensor: Any = None, dst: int = 0, group: str | None = None) -> NoReturn:
        """Raise NotImplementedError: there is one process.

        Args:
            tensor: not used.
            dst: not used.
            group: not used.

        Raises:
            NotImplementedError: always; the message names an alternative.
        """
        _not_covered("send", "there is one process, which has the rows already")

    def recv(self, src: int | list[int] = 0, group: str | None = None) -> NoReturn:
        """Raise NotImplementedError: there is one process.

        Args:
            src: not used.
            group: not used.

        Raises:
            NotImplementedError: always; the message names an alternative.
        """
        _not_covered("recv", "there is one process, which has the rows already")


class Step(Dataset):
    """A data set made of one other.

    Args:
        source: the preceding data set.
        columns: the names of its columns; by default those of ``source``.
    """

    def __init__(self, source: Dataset, columns: list[str] | None = None) -> None:
        super().__init__((source,), columns)
        self.source = source

    def size(self) -> int:
        return self.source.size()

    def _column_numbers(self, names: list[str]) -> list[int]:
        columns = self.source.columns()
        for name in names:
            if name not in columns:
                raise RuntimeError(f"there is no column '{name}'; the columns are {columns}")
        return [columns.index(name) for name in names]


class DatasetIterator:
    """Goes over the rows; each pass of a ``for`` is an epoch, shuffled anew.

    Args:
        dataset: the data set.
        num_epochs: the number of passes; -1: unlimited.
        output_numpy: NumPy arrays instead of tensors.
        form: converts a row, a tuple, to the returned value.
        caller: the name of the method in messages.
        do_copy: a bool, without effect: returned values belong to the caller.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``num_epochs`` is below -1.
        RuntimeError: ``num_epochs`` is 0.
    """

    def __init__(
        self,
        dataset: Dataset,
        num_epochs: int,
        output_numpy: bool,
        form: Callable[[Row], Any],
        caller: str,
        do_copy: bool,
    ) -> None:
        check_int(num_epochs, caller, "num_epochs", show=repr)
        if num_epochs == 0:
            raise RuntimeError(f"For '{caller}', 'num_epochs' must be -1 or above 0, but got 0")
        if num_epochs != -1 and not 1 <= num_epochs <= _MOST:
            raise ValueError(f"For '{caller}', 'num_epochs' must be -1 or above 0, but got {num_epochs}")
        check_bool(output_numpy, caller, "output_numpy", show=repr)
        check_bool(do_copy, caller, "do_copy", show=repr)
        self._dataset, self._left, self._numpy, self._form = dataset, num_epochs, output_numpy, form
        self._random, self._epoch = config.new_random(), -1
        self._rows: Iterator[Row] | None = None
        self._pass = 0
        self._watches = {step: Watch(step.callbacks) for step in _maps(dataset) if step.callbacks}

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        global _newest
        if self._rows is None:
            if self._left == 0:
                raise RuntimeError("all epochs of this iterator are finished; make a new one, or set 'num_epochs'")
            self._left -= self._left > 0
            self._epoch += 1
            self._pass = next(_passes)
            if self._epoch == 0:
                self._tell(Watch.begins)
            self._tell(Watch.epoch_begins)
            with config.iteration(self._random, self._epoch, self._watches):
                self._rows = self._dataset.rows(self._random)
        try:
            with config.iteration(self._random, self._epoch, self._watches):
                row = next(self._rows)
        except StopIteration:
            self._rows = None
            self._tell(Watch.epoch_ends)
            raise
        _newest = self._pass, _newest[1] + 1
        return self._form(_converted_row(row, self._numpy))

    def _tell(self, moment: Callable[[Watch], None]) -> None:
        for watch in self._watches.values():
            moment(watch)

    def stop(self) -> None:
        """End the iteration."""
        self._rows, self._left = None, 0

    release = stop

    def get_next(self) -> Any:
        """Return the next row.

        Raises:
            StopIteration: the epoch is over.
            RuntimeError: all epochs are over.
        """
        return next(self)


def newest_pass() -> tuple[int, int]:
    """Return the number of this process's pass that returned the latest row, and the count of rows returned so far.

    Returns:
        two ints, 0 if no row was returned yet.
    """
    return _newest


def _maps(dataset: Dataset) -> Iterator[steps.Map]:
    if isinstance(dataset, steps.Map):
        yield dataset
    for child in dataset.children:
        yield from _maps(child)


def _converted_row(row: Row, as_numpy: bool) -> Row:
    """Convert a row for its consumer; text stays a NumPy array."""
    return tuple([_value(value, as_numpy) for value in row])


def _value(value: Any, as_numpy: bool) -> Any:
    """Convert numbers, text and arrays, also within dictionaries and lists; other values stay as they are."""
    if isinstance(value, dict):
        return {key: _value(item, as_numpy) for key, item in value.items()}
    if isinstance(value, list | tuple):
        values = [_value(item, as_numpy) for item in value]
        return values if isinstance(value, list) else tuple(values)
    if not isinstance(value, np.ndarray | np.generic | bool | int | float | complex | str | bytes):
        return value
    array = np.asarray(value)
    return array if as_numpy or array.dtype.kind in "USO" else Tensor(array)


def _not_covered(name: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"Dataset.{name} is not covered by hookscope: {instead}")


def _check_keywords(caller: str, keywords: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in keywords:
        if name not in names:
            raise TypeError(f"For '{caller}', there is no argument '{name}'; further ones are {', '.join(names)}")


def _check_workers(caller: str, number: int | None) -> None:
    if number is not None:
        between(caller, "num_parallel_workers", number, 1)


def between(caller: str, argument: str, value: int, least: int) -> int:
    """Raise TypeError or ValueError unless ``value`` is an int from ``least`` on."""
    check_int(value, caller, argument)
    if not least <= value <= _MOST:
        raise ValueError(f"For '{caller}', '{argument}' must be from {least} to {_MOST}, but got {value}")
    return value


def pads(pad_info: dict[str, Any]) -> dict[str, Any]:
    """Return the padding of columns by their names.

    Raises:
        TypeError: not a dictionary by str, or an entry that is neither None nor a shape and a value.
        ValueError: such an entry is not of length two.
    """
    caller = "padded_batch"
    padding: dict[str, Any] = check_type(pad_info, dict, caller, "pad_info", show=repr)
    for name, entry in padding.items():
        check_type(name, str, caller, "pad_info", "a dictionary by the names of columns", show=repr)
        check_type(entry, tuple | list | None, caller, "pad_info", "{column: (shape, value)}", show=repr)
        if entry is not None and len(entry) != 2:
            raise ValueError(
                f"For '{caller}', 'pad_info' must have a shape and a value for '{name}', but got {entry!r}"
            )
    return padding


def names_of(caller: str, argument: str, columns: Names) -> list[str]:
    """Return a name or a list of names as a list.

    Args:
        caller: the name of the function in messages.
        argument: the name of its argument.
        columns: the argument's value.

    Raises:
        TypeError: not strings.
        ValueError: no name, an empty one, or a duplicate.
    """
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"For '{caller}', '{argument}' must be a str or a list of them, but got {columns!r}")
    if not names or len(set(names)) != len(names) or "" in names:
        raise ValueError(f"For '{caller}', '{argument}' must name different columns, but got {columns!r}")
    return list(names)


from . import buckets, steps, synchronizing  # noqa: E402  (they are data sets themselves)
