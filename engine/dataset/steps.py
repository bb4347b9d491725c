"""Steps of a data set: each makes rows from the rows of others."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..base.argument_checks import check_bool, check_callable, check_type
from ..base.types import Array
from ..tensors.tensor import Tensor
from . import synchronizing
from .base import Dataset, Names, Row, Step, between, names_of
from .callback import DSCallback
from .config import ErrorSamplesMode, current_epoch, current_watches, error_samples_mode, new_random
from .samplers import DistributedSampler, RandomSampler, Sampler

__all__ = ["Batch", "BatchInfo", "Concat", "Filter", "Map", "Part", "Project", "Rename", "Repeat", "Shuffle", "Zip"]


class BatchInfo:
    """The position of a batch in the run, for functions of ``batch``.

    Args:
        epoch: the number of the epoch, from 0.
        batch: the number of the batch in it, from 0.
    """

    def __init__(self, epoch: int, batch: int) -> None:
        self._epoch, self._batch = epoch, batch

    def get_epoch_num(self) -> int:
        """Return the epoch, from 0."""
        return self._epoch

    def get_batch_num(self) -> int:
        """Return the batch of the epoch, from 0."""
        return self._batch


class Project(Step):
    """Some columns, in this order.

    Args:
        source: the preceding data set.
        columns: their names.
    """

    def __init__(self, source: Dataset, columns: list[str]) -> None:
        super().__init__(source, columns)

    def columns(self) -> list[str]:
        self._column_numbers(self._columns or [])
        return list(self._columns or [])

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        positions = self._column_numbers(self._columns or [])
        return (tuple([row[p] for p in positions]) for row in self.source.rows(generator))


class Rename(Step):
    """The same columns under other names.

    Args:
        source: the preceding data set.
        old: names.
        new: as many new ones.
    """

    def __init__(self, source: Dataset, old: list[str], new: list[str]) -> None:
        if len(old) != len(new):
            raise ValueError(f"For 'rename', there are {len(old)} old names, but {len(new)} new ones")
        super().__init__(source)
        self.names = dict(zip(old, new, strict=True))

    def columns(self) -> list[str]:
        self._column_numbers(list(self.names))
        names = [self.names.get(name, name) for name in self.source.columns()]
        duplicates = {name for name in names if names.count(name) > 1}
        if duplicates:
            raise RuntimeError(f"For 'rename', there is a column {sorted(duplicates)} already; the columns are {names}")
        return names

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        self.columns()
        return self.source.rows(generator)


class Part(Step):
    """A range of the rows.

    Args:
        source: the preceding data set.
        start: the index of the first row.
        count: the number of rows; None: all remaining.
    """

    def __init__(self, source: Dataset, start: int, count: int | None) -> None:
        super().__init__(source)
        self.start, self.count = start, count

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        stop = None if self.count is None else self.start + self.count
        return itertools.islice(self.source.rows(generator), self.start, stop)

    def size(self) -> int:
        remaining = max(self.source.size() - self.start, 0)
        return remaining if self.count is None else min(remaining, self.count)


class Repeat(Step):
    """The rows repeated several times.

    Args:
        source: the preceding data set.
        count: the number of repetitions; -1: unlimited.
    """

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        passes = itertools.count() if self.count == -1 else range(self.count)
        return (row for _ in passes for row in self.source.rows(generator))

    def size(self) -> int:
        return self.source.size() * max(self.count, 1)

    def get_repeat_count(self) -> int:
        return self.count


class Shuffle(Step):
    """Rows drawn from a buffer that is refilled after each.

    Args:
        source: the preceding data set.
        buffer_size: the size of the buffer.
    """

    def __init__(self, source: Dataset, buffer_size: int) -> None:
        super().__init__(source)
        self.buffer_size = buffer_size

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        buffer: list[Row] = []
        for row in self.source.rows(generator):
            if len(buffer) == self.buffer_size:
                index = int(generator.integers(len(buffer)))
                yield buffer[index]
                buffer[index] = row
            else:
                buffer.append(row)
        for index in generator.permutation(len(buffer)):
            yield buffer[index]


class Filter(Step):
    """The rows for which a function is true.

    Args:
        source: the preceding data set.
        predicate: the function.
        columns: the names of its arguments; None: all.
    """

    def __init__(self, source: Dataset, predicate: Callable[..., Any], columns: Names | None) -> None:
        check_callable(predicate, "filter", "predicate")
        super().__init__(source)
        self.predicate = predicate
        self.input_columns = None if columns is None else names_of("filter", "input_columns", columns)

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        positions = self._column_numbers(self.source.columns() if self.input_columns is None else self.input_columns)
        for row in self.source.rows(generator):
            if bool(_result("filter", self.predicate, [row[p] for p in positions])):
                yield row

    def size(self) -> int:
        return Dataset.size(self)


class Map(Step):
    """Functions applied to columns.

    Args:
        source: the preceding data set.
        operations: a function or a list of them.
        inputs: the arguments of the first function; None: the first column.
        outputs: the names of the last function's results; None: those of the inputs.
        callbacks: called around the rows of an iterator.
    """

    def __init__(
        self,
        source: Dataset,
        operations: Callable[..., Any] | list[Callable[..., Any]] | tuple[Callable[..., Any], ...],
        inputs: Names | None,
        outputs: Names | None,
        callbacks: list[DSCallback] | None = None,
    ) -> None:
        functions = list(operations) if isinstance(operations, list | tuple) else [operations]
        if not functions or operations is None:
            raise RuntimeError("For 'map', 'operations' must be functions, but there is none")
        for function in functions:
            if not callable(function):
                raise ValueError(f"For 'map', 'operations' must be functions, but got {type(function).__name__}")
        super().__init__(source)
        self.operations = functions
        self.callbacks = callbacks or []
        self.inputs = None if inputs is None else names_of("map", "input_columns", inputs)
        self.outputs = None if outputs is None else names_of("map", "output_columns", outputs)

    def _names(self) -> tuple[list[str], list[str]]:
        inputs = self.source.columns()[:1] if self.inputs is None else self.inputs
        return inputs, inputs if self.outputs is None else self.outputs

    def columns(self) -> list[str]:
        columns = self.source.columns()
        inputs, outputs = self._names()
        self._column_numbers(inputs)
        if len(inputs) == len(outputs):
            new = dict(zip(inputs, outputs, strict=True))
            return [new.get(name, name) for name in columns]
        return [*outputs, *(name for name in columns if name not in inputs)]

    def size(self) -> int:
        # Only a pass determines the number of dropped rows.
        return Dataset.size(self) if error_samples_mode() is ErrorSamplesMode.SKIP else super().size()

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        inputs, _ = self._names()
        self._column_numbers(inputs)
        mode, watch = error_samples_mode(), current_watches().get(self)
        successes: list[Row] = []
        failures = 0
        for row in self.source.rows(generator):
            result = self._map_row(row, mode) if watch is None else watch.row(partial(self._map_row, row, mode))
            if result is None:
                failures += 1
                continue
            if mode is ErrorSamplesMode.REPLACE:
                successes.append(result)
            yield result
        if mode is ErrorSamplesMode.REPLACE and failures:
            if not successes:
                raise RuntimeError("For 'map', the operations failed for every row, so that none can replace another")
            yield from itertools.islice(itertools.cycle(successes), failures)

    def _map_row(self, row: Row, mode: ErrorSamplesMode) -> Row | None:
        """Return the row after the operations; None if one raised and errors are skipped."""
        columns = self.source.columns()
        inputs, outputs = self._names()
        values: list[Any] = [row[p] for p in self._column_numbers(inputs)]
        try:
            for operation in self.operations:
                values = call("map", operation, values)
        except RuntimeError:
            if mode is ErrorSamplesMode.RETURN:
                raise
            return None
        if len(values) != len(outputs):
            raise RuntimeError(
                f"For 'map', the operations returned {len(values)} values for the columns {outputs}; "
                "name as many in 'output_columns'"
            )
        values_by_name = {name: value for name, value in zip(columns, row, strict=True) if name not in inputs}
        values_by_name.update(zip(outputs, values, strict=True))
        return tuple([values_by_name[name] for name in self.columns()])


def call(caller: str, function: Callable[..., Any], values: list[Any]) -> list[Any]:
    """Return the result of a user's function as a list of arrays.

    Raises:
        RuntimeError: the function raised; its error is the cause.
    """
    result = _result(caller, function, values)
    return [as_value(caller, value) for value in (result if isinstance(result, tuple) else (result,))]


def _result(caller: str, function: Callable[..., Any], values: list[Any]) -> Any:
    """Return the result of a user's function.

    Raises:
        RuntimeError: the function raised; its error is the cause.
    """
    try:
        return function(*values)
    except Exception as error:  # the user's code may raise anything; MindSpore's pipelines raise RuntimeError for it
        name = getattr(function, "__name__", type(function).__name__)
        raise RuntimeError(f"For '{caller}', {name} raised {type(error).__name__}: {error}") from error


def as_array(value: Any) -> Array:
    """Return a value of a row as a NumPy array."""
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


def as_value(caller: str, value: Any) -> Any:
    """Return the result of a user's function or object as a row value: an array, or a dictionary unchanged.

    Raises:
        RuntimeError: it is neither numbers nor text.
    """
    if isinstance(value, dict):
        return value
    try:
        array = as_array(value)
    except ValueError as error:  # lists of several lengths
        raise RuntimeError(f"For '{caller}', a value of a row cannot be an array: {error}") from error
    if array.dtype == object:
        raise RuntimeError(
            f"For '{caller}', a value of a row must be of numbers or text, or a dict, but got {type(value).__name__}"
        )
    return array


def _check_datasets(caller: str, children: tuple[Dataset, ...]) -> tuple[Dataset, ...]:
    for child in children:
        if not isinstance(child, Dataset):
            raise TypeError(f"For '{caller}', there must be data sets, but got {type(child).__name__}")
    return children


class Concat(Dataset):
    """The concatenated rows of data sets.

    Args:
        children: the data sets.
    """

    def __init__(self, children: tuple[Dataset, ...]) -> None:
        super().__init__(_check_datasets("concat", children))
        self.sampler: DistributedSampler | RandomSampler | None = None

    def use_sampler(self, sampler: DistributedSampler | RandomSampler) -> None:
        """Select every n-th row of all, or all in random order.

        Args:
            sampler: a ``DistributedSampler`` with ``shuffle=False``, or a ``RandomSampler``.

        Raises:
            TypeError: something else; or one of the data sets is of batches.
            ValueError: a sampler that repeats rows, shuffles its shard or has ``num_samples``, or one of the data sets
                has one with it.
        """
        if not isinstance(sampler, DistributedSampler | RandomSampler):
            raise TypeError(f"For 'concat', 'sampler' must be a DistributedSampler or RandomSampler, got {sampler!r}")
        if isinstance(sampler, RandomSampler) and sampler.replacement:
            raise ValueError("For 'concat', 'sampler' must have replacement=False")
        if isinstance(sampler, DistributedSampler) and sampler.shuffle:
            raise ValueError("For 'concat', 'sampler' must have shuffle=False")
        for child in self.children:
            if isinstance(child, Batch):
                raise TypeError("For 'concat', 'use_sampler' takes rows one by one: call batch behind it")
        for candidate in (sampler, *(getattr(child, "sampler", None) for child in self.children)):
            if isinstance(candidate, Sampler) and candidate.get_num_samples() is not None:
                raise ValueError("For 'concat', 'sampler', and those of the data sets, must have no 'num_samples'")
        self.sampler = sampler

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        rows = self._all(generator)
        if isinstance(self.sampler, DistributedSampler):
            return itertools.islice(rows, self.sampler.shard_id, None, self.sampler.num_shards)
        if self.sampler is not None:
            order = list(rows)
            return (order[i] for i in generator.permutation(len(order)))
        return rows

    def _all(self, generator: np.random.Generator) -> Iterator[Row]:
        names, like = self.children[0].columns(), None
        for child in self.children:
            if child.columns() != names:
                raise RuntimeError(f"For 'concat', the columns must be the same, but got {names} and {child.columns()}")
            first = True
            for row in child.rows(generator):
                if first:
                    kinds = [None if isinstance(value, dict) else (_kind(value), np.ndim(value)) for value in row]
                    if like is not None and kinds != like:
                        raise RuntimeError(
                            "For 'concat', the columns must have the same dtypes and numbers of axes, but got "
                            f"{_text_of_kinds(like)} and {_text_of_kinds(kinds)}"
                        )
                    like, first = kinds, False
                yield row

    def size(self) -> int:
        rows = sum(child.size() for child in self.children)
        if isinstance(self.sampler, DistributedSampler):
            return len(range(self.sampler.shard_id, rows, self.sampler.num_shards))
        return rows


def _kind(value: Any) -> str:
    """Return the dtype of a value; text of any length has one dtype."""
    dtype = np.asarray(value).dtype
    return {"U": "str", "S": "bytes"}.get(dtype.kind, dtype.name)


def _text_of_kinds(kinds: list[tuple[str, int] | None]) -> str:
    return ", ".join("a dict" if kind is None else f"{kind[0]} with {kind[1]} axes" for kind in kinds)


class Zip(Dataset):
    """The columns of several data sets, as long as the shortest.

    Args:
        children: the data sets.
    """

    def __init__(self, children: tuple[Dataset, ...]) -> None:
        super().__init__(_check_datasets("zip", children))

    def columns(self) -> list[str]:
        names = [name for child in self.children for name in child.columns()]
        duplicates = {name for name in names if names.count(name) > 1}
        if duplicates:
            raise RuntimeError(f"For 'zip', the column {sorted(duplicates)} is in several data sets: rename it")
        return names

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        self.columns()
        rows = zip(*[child.rows(generator) for child in self.children], strict=False)  # as long as the shortest
        return (tuple(itertools.chain.from_iterable(parts)) for parts in rows)

    def size(self) -> int:
        return min(child.size() for child in self.children)


class Batch(Step):
    """Rows combined into batches.

    Args:
        source: the preceding data set.
        batch_size: the number of rows, or a function of ``BatchInfo``.
        drop_remainder: drop a last batch that is not full.
        more: ``per_batch_map``, ``input_columns`` and ``output_columns``, as for ``Dataset.batch``.
        pad_info: the padding of columns, as for ``Dataset.padded_batch``; None: no padding.
    """

    def __init__(
        self,
        source: Dataset,
        batch_size: int | Callable[[BatchInfo], int],
        drop_remainder: bool,
        more: dict[str, Any],
        pad_info: dict[str, Any] | None = None,
    ) -> None:
        if not callable(batch_size):
            if isinstance(batch_size, bool) or not isinstance(batch_size, int):
                raise TypeError(f"For 'batch', 'batch_size' must be an int or a function, but got {batch_size!r}")
            between("batch", "batch_size", batch_size, 1)
        check_bool(drop_remainder, "batch", "drop_remainder", show=repr)
        super().__init__(source)
        for gate in synchronizing.gates_of(source).values():
            if callable(batch_size):
                raise TypeError("For 'batch', 'batch_size' must be an int behind a 'sync_wait', but got a function")
            gate.num_released *= batch_size
        self.batch_size, self.drop_remainder, self.pad_info = batch_size, drop_remainder, pad_info
        self.per_batch_map = more.get("per_batch_map")
        if self.per_batch_map is None and more.get("input_columns"):
            raise ValueError("For 'batch', 'input_columns' are those of 'per_batch_map', which is not given")
        if self.per_batch_map is not None and more.get("input_columns"):
            _check_takes(self.per_batch_map, len(names_of("batch", "input_columns", more["input_columns"])))
        inputs, outputs = more.get("input_columns"), more.get("output_columns")
        self.inputs = None if inputs is None else names_of("batch", "input_columns", inputs)
        self.outputs = self.inputs if outputs is None else names_of("batch", "output_columns", outputs)

    def columns(self) -> list[str]:
        columns = self.source.columns()
        if self.per_batch_map is None or self.outputs is None or self.inputs == self.outputs:
            return columns
        inputs = columns if self.inputs is None else self.inputs
        return [*self.outputs, *(name for name in columns if name not in inputs)]

    def size(self) -> int:
        if callable(self.batch_size):
            return Dataset.size(self)
        rows, batch = self.source.size(), int(self.batch_size)
        return rows // batch if self.drop_remainder else -(-rows // batch)

    def get_batch_size(self) -> int:
        return -1 if callable(self.batch_size) else int(self.batch_size)

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        epoch, source = current_epoch(), self.source.rows(generator)
        for number in itertools.count():
            first = next(source, None)
            if first is None:
                return
            info = BatchInfo(epoch, number)
            size = self._batch_size(info)
            rows = [first, *itertools.islice(source, size - 1)]
            if self.drop_remainder and len(rows) < size:
                return
            yield self._together(rows, info)

    def _batch_size(self, info: BatchInfo) -> int:
        """Return the requested size of this batch."""
        if not callable(self.batch_size):
            return self.batch_size
        size = self.batch_size(info)
        if not isinstance(size, int | np.integer) or size < 1:
            raise RuntimeError(f"For 'batch', the function 'batch_size' must return an int above 0, but got {size!r}")
        return int(size)

    def _together(self, rows: list[Row], info: BatchInfo) -> Row:
        names = self.source.columns()
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        if self.per_batch_map is not None:
            inputs = names if self.inputs is None else self.inputs
            self._column_numbers(inputs)
            result = _result("batch", self.per_batch_map, [*(columns.pop(name) for name in inputs), info])
            outcome = result if isinstance(result, tuple) else (result,)
            outputs = self.outputs or inputs
            if len(outcome) != len(outputs):
                raise RuntimeError(
                    f"For 'batch', 'per_batch_map' returned {len(outcome)} values for the columns {outputs}"
                )
            columns.update(zip(outputs, outcome, strict=True))
        return tuple([self._stack(name, columns[name]) for name in self.columns()])

    def _stack(self, name: str, values: Iterable[Any]) -> Any:
        items = list(values)
        if any(isinstance(value, dict) for value in items):
            return _dictionaries(name, items)
        arrays = [as_array(value) for value in items]
        if self.pad_info is not None and (not self.pad_info or name in self.pad_info):
            arrays = pad(f"column '{name}'", arrays, self.pad_info.get(name))
        return stacked("batch", name, arrays, "use padded_batch")


def _check_takes(function: Callable[..., Any], columns: int) -> None:
    """Raise unless ``per_batch_map`` can be called with this many columns and the batch info."""
    try:
        inspect.signature(function).bind(*range(columns + 1))
    except TypeError as error:
        raise ValueError(
            f"For 'batch', 'per_batch_map' must accept {columns} columns and the batch info: {error}"
        ) from error
    except ValueError:  # a function without a signature
        return


def _dictionaries(name: str, values: list[Any]) -> dict[Any, Array]:
    """Combine dictionaries into one whose values are stacked along a new first axis.

    Raises:
        RuntimeError: their keys differ, or values are not arrays of one shape.
    """
    keys = list(values[0]) if isinstance(values[0], dict) else None
    if any(not isinstance(value, dict) or value.keys() != set(keys or ()) for value in values):
        raise RuntimeError(f"For 'batch', column '{name}' must have a dict with the same keys in every row")
    combined = {}
    for key in keys or ():
        try:
            array = np.asarray([as_array(value[key]) for value in values])
        except ValueError:  # several shapes
            array = np.asarray(None)
        if array.dtype == object:
            raise RuntimeError(
                f"For 'batch', the values of {key!r} in the dicts of column '{name}' must be arrays of one shape; "
                "put them together with 'per_batch_map'"
            )
        combined[key] = array
    return combined


def stacked(caller: str, name: str, arrays: list[Array], instead: str) -> Array:
    """Stack arrays of one shape.

    Raises:
        RuntimeError: their shapes differ.
    """
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise RuntimeError(
            f"For '{caller}', the rows of a batch must have one shape, but column '{name}' has "
            f"{sorted(shapes)}; {instead}"
        )
    kinds = sorted({_kind(array) for array in arrays})
    if len(kinds) > 1:
        raise RuntimeError(
            f"For '{caller}', the rows of a batch must have one dtype, but column '{name}' has {kinds}; cast "
            "them in a map"
        )
    return np.stack(arrays)


def pad(subject: str, arrays: list[Array], info: tuple[Any, Any] | None) -> list[Array]:
    """Pad arrays of one rank with ``info``'s value up to its shape or the largest.

    Raises:
        RuntimeError: different ranks, a different rank than that of the shape, or text for numbers.
    """
    shape, value = (None, None) if info is None else info
    ranks = {array.ndim for array in arrays} | (set() if shape is None else {len(shape)})
    if len(ranks) > 1:
        raise RuntimeError(f"{subject} cannot be padded to one shape: there are {sorted(ranks)} axes")
    if value is None:
        value = arrays[0].dtype.type()
    if isinstance(value, str | bytes) is not (arrays[0].dtype.kind in "SU"):
        raise RuntimeError(f"{subject} is of {arrays[0].dtype} and cannot be padded with {value!r}")
    largest = np.max([array.shape for array in arrays], axis=0).astype(int).tolist()
    target = largest if shape is None else [large if n is None else n for n, large in zip(shape, largest, strict=True)]
    filled = []
    for array in arrays:
        canvas = np.full(target, *like(array, value))
        part = tuple(slice(0, min(n, m)) for n, m in zip(array.shape, target, strict=True))
        canvas[part] = array[part]
        filled.append(canvas)
    return filled


def like(array: Array, value: Any) -> tuple[Array, np.dtype[Any]]:
    """Return a value in the dtype of an array, and that dtype; text dtypes are widened for both."""
    converted = np.asarray(value)
    dtype = np.result_type(array, converted) if array.dtype.kind in "SU" else array.dtype
    return converted.astype(dtype), dtype


class _Share(Step):
    """Rows of a data set by index in an order that all parts of a split share."""

    def __init__(self, source: Dataset, indices: list[int], seed: int) -> None:
        super().__init__(source)
        self.indices, self.seed = indices, seed

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        all_rows = list(self.source.rows(np.random.default_rng(self.seed)))
        return (all_rows[index] for index in self.indices)

    def size(self) -> int:
        return len(self.indices)


def split(source: Dataset, sizes: list[int] | list[float], randomize: bool) -> list[Dataset]:
    """See ``Dataset.split``."""
    check_type(sizes, list, "split", "sizes", show=repr)
    if not sizes:
        raise ValueError("For 'split', 'sizes' must not be empty")
    check_bool(randomize, "split", "randomize", show=repr)
    rows = source.size()
    if all(isinstance(n, int) and not isinstance(n, bool) for n in sizes):
        if any(n <= 0 for n in sizes):
            raise ValueError(f"For 'split', 'sizes' must be above 0, but got {sizes}")
        if sum(sizes) != rows:
            raise RuntimeError(f"For 'split', 'sizes' must sum to the {rows} rows, but got {sizes}")
        counts = [int(n) for n in sizes]
    elif all(isinstance(n, float) for n in sizes):
        if any(not 0 < n <= 1 for n in sizes) or abs(sum(sizes) - 1) > 1e-9:
            raise ValueError(f"For 'split', the shares in 'sizes' must sum to 1, but got {sizes}")
        counts = [round(n * rows) for n in sizes]
        counts[0] += rows - sum(counts)
        if any(n <= 0 for n in counts):
            raise RuntimeError(f"For 'split', {rows} rows are too few for the shares {sizes}")
    else:
        raise ValueError(f"For 'split', 'sizes' must be all ints or all floats, but got {sizes}")
    generator = new_random()
    seed = int(generator.integers(2**32))
    order = generator.permutation(rows).tolist() if randomize else list(range(rows))
    ends = list(itertools.accumulate(counts))
    return [_Share(source, order[end - n : end], seed) for n, end in zip(counts, ends, strict=True)]
