"""``bucket_batch_by_length``: batches of rows of similar length."""

from __future__ import annotations

import itertools
import operator
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..base.argument_checks import check_bool, check_callable, check_type
from . import steps
from .base import Dataset, Names, Row, Step, names_of

__all__ = ["BucketBatch"]


class BucketBatch(Step):
    """Rows grouped into buckets by length; each full bucket is a batch, and the remaining rows are the last batches.

    Args:
        source: the preceding data set.
        column_names: the columns that determine the length.
        boundaries: the boundaries between buckets.
        sizes: the batch size of each bucket, one more than boundaries.
        length: a function of these columns that returns the length; None: that of the first axis.
        pad_info: as for ``Dataset.padded_batch``.
        to_boundary: pad to the greatest length of the bucket instead of the batch.
        drop_remainder: drop buckets that are not full.
    """

    def __init__(
        self,
        source: Dataset,
        column_names: Names,
        boundaries: list[int],
        sizes: list[int],
        length: Callable[..., int] | None,
        pad_info: dict[str, Any] | None,
        to_boundary: bool,
        drop_remainder: bool,
    ) -> None:
        caller = "bucket_batch_by_length"
        check_type(column_names, list, caller, "column_names", "a list of str", show=repr)
        if not column_names:
            raise ValueError(f"For '{caller}', 'column_names' must not be empty")
        for name, numbers in (("bucket_boundaries", boundaries), ("bucket_batch_sizes", sizes)):
            check_type(numbers, list, caller, name, "a list of int", show=repr)
            if not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
                raise TypeError(f"For '{caller}', '{name}' must be a list of int, but got {numbers!r}")
            if not numbers or min(numbers) < 1:
                raise ValueError(f"For '{caller}', '{name}' must be ints above 0, at least one, but got {numbers}")
        if any(low >= high for low, high in itertools.pairwise(boundaries)):
            raise ValueError(f"For '{caller}', 'bucket_boundaries' must rise, but got {boundaries}")
        if len(sizes) != len(boundaries) + 1:
            raise ValueError(
                f"For '{caller}', 'bucket_batch_sizes' must have one entry more than 'bucket_boundaries', "
                f"but got {len(sizes)} for {len(boundaries)}"
            )
        if length is not None:
            check_callable(length, caller, "element_length_function", show=repr)
        if length is None and len(column_names) != 1:
            raise ValueError(
                f"For '{caller}', 'column_names' must be one column where there is no 'element_length_function', "
                f"but got {column_names}"
            )
        check_type(pad_info, dict | None, caller, "pad_info", "a dict or None", show=repr)
        check_bool(to_boundary, caller, "pad_to_bucket_boundary", show=repr)
        check_bool(drop_remainder, caller, "drop_remainder", show=repr)
        super().__init__(source)
        self.names = names_of(caller, "column_names", column_names)
        self.boundaries, self.sizes, self.length = boundaries, sizes, length
        self.pad_info, self.to_boundary, self.drop_remainder = pad_info or {}, to_boundary, drop_remainder

    def size(self) -> int:
        return Dataset.size(self)

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        positions = self._column_numbers(self.names)
        buckets: list[list[Row]] = [[] for _ in self.sizes]
        for row in self.source.rows(generator):
            index = bisect_right(self.boundaries, self._length([row[p] for p in positions]))
            buckets[index].append(row)
            if len(buckets[index]) == self.sizes[index]:
                yield self._collate(buckets[index], index)
                buckets[index] = []
        for index, rows in enumerate(buckets):
            if rows and not self.drop_remainder:
                yield self._collate(rows, index)

    def _length(self, values: list[Any]) -> int:
        if self.length is None:
            shape = np.shape(values[0])
            return shape[0] if shape else 0
        name = getattr(self.length, "__name__", type(self.length).__name__)
        try:
            result = self.length(*values)
        except Exception as error:  # the user's code may raise anything; MindSpore raises RuntimeError for it
            raise RuntimeError(
                f"For 'bucket_batch_by_length', {name} raised {type(error).__name__}: {error}"
            ) from error
        try:
            length = operator.index(result)
        except TypeError:
            length = -1
        if length < 0:
            raise RuntimeError(f"For 'bucket_batch_by_length', {name} must return an int from 0 on, but got {result!r}")
        return length

    def _collate(self, rows: list[Row], bucket: int) -> Row:
        columns = zip(self.columns(), zip(*rows, strict=True), strict=True)
        return tuple([self._column(name, list(values), bucket) for name, values in columns])

    def _column(self, name: str, values: list[Any], bucket: int) -> Any:
        if not self.pad_info or name in self.pad_info:
            info = self.pad_info.get(name)
            if self.to_boundary and info is not None and info[0] is not None and None in info[0]:
                if bucket == len(self.boundaries):
                    raise RuntimeError(
                        "For 'bucket_batch_by_length', a row of the last bucket cannot be padded to its boundary: it "
                        f"has none, and column '{name}' must be shorter than {self.boundaries[-1]}"
                    )
                most = self.boundaries[bucket] - 1
                info = ([most if n is None else n for n in info[0]], info[1])
            values = steps.pad(f"column '{name}'", [steps.as_array(value) for value in values], info)
        return steps.stacked("bucket_batch_by_length", name, values, "give 'pad_info'")
