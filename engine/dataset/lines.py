"""Data sets of local text files, a row for each line: ``TextFileDataset`` and ``CSVDataset``.

Rows of several files are interleaved, with as many files at a time as there are workers, as in MindSpore.
"""

from __future__ import annotations

import csv
import enum
import glob
import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..base.argument_checks import check_type
from . import config
from .base import Dataset, Row, between
from .plain_files import read_plain

__all__ = ["CSVDataset", "Shuffle", "TextFileDataset"]


class Shuffle(str, enum.Enum):  # noqa: UP042  (a StrEnum prints its value; this prints Shuffle.GLOBAL)
    """Modes of shuffling files and their rows."""

    ADAPTIVE = "adaptive"
    GLOBAL = "global"
    PARTIAL = "partial"
    FILES = "files"
    INFILE = "infile"
    FALSE = "false"


ShuffleMode: TypeAlias = bool | Shuffle | None
_KINDS = (str, int, float)


class _Lines(Dataset):
    """Rows of files; a subclass reads each file."""

    def __init__(
        self,
        files: str | list[str],
        num_samples: int | None,
        workers: int | None,
        shuffle: ShuffleMode,
        num_shards: int | None,
        shard_id: int | None,
    ) -> None:
        super().__init__()
        caller = type(self).__name__
        self.files = _check_files(caller, files)
        if num_samples is not None:
            between(caller, "num_samples", num_samples, 0)
        if workers is not None:
            between(caller, "num_parallel_workers", workers, 1)
        check_type(shuffle, bool | Shuffle | None, caller, "shuffle", "a bool, a Shuffle or None", show=repr)
        if (num_shards is None) != (shard_id is None):
            raise RuntimeError(f"For '{caller}', 'num_shards' and 'shard_id' go together")
        if num_shards is not None and shard_id is not None:
            between(caller, "num_shards", num_shards, 1)
            if not 0 <= between(caller, "shard_id", shard_id, 0) < num_shards:
                raise ValueError(f"For '{caller}', 'shard_id' must be from 0 to {num_shards - 1}, but got {shard_id}")
        self.num_samples, self.shard = num_samples, (shard_id or 0, num_shards or 1)
        self.workers = workers or config.get_num_parallel_workers()
        self.order = Shuffle.FILES if shuffle is Shuffle.FILES else Shuffle.GLOBAL if shuffle else Shuffle.FALSE

    def read(self, path: Path) -> list[Row]:
        """Return the rows of a file."""
        raise NotImplementedError

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        parts = [self.read(path) for path in self.files]
        if not any(parts):
            raise RuntimeError(
                f"For '{type(self).__name__}', there are no rows in {[str(file) for file in self.files]}"
            )
        if self.order is not Shuffle.FALSE:
            parts = [parts[i] for i in generator.permutation(len(parts))]
        rows = _in_turn(_of_shard(parts, *self.shard), self.workers)
        if self.order is Shuffle.GLOBAL:
            rows = [rows[i] for i in generator.permutation(len(rows))]
        return iter(rows[: self.num_samples or None])

    def size(self) -> int:
        share = -(-sum(len(self.read(path)) for path in self.files) // self.shard[1])
        return min(share, self.num_samples or share)


def _check_files(caller: str, files: str | list[str]) -> list[Path]:
    """Return the files that match names and patterns, sorted by name."""
    check_type(files, str | list, caller, "dataset_files", "a str or a list of them", show=repr)
    patterns = [files] if isinstance(files, str) else files
    if not patterns or "" in patterns:
        raise ValueError(f"For '{caller}', 'dataset_files' must not be empty, but got {files!r}")
    paths: list[Path] = []
    for pattern in patterns:
        check_type(pattern, str, caller, "dataset_files", "a str or a list of them", show=repr)
        matches = [Path(name) for name in sorted(glob.glob(pattern)) if Path(name).is_file()]
        if not matches:
            raise ValueError(f"For '{caller}', 'dataset_files' must name files, but there is none at {pattern!r}")
        paths += matches
    return sorted(paths)


def _of_shard(parts: list[list[Row]], shard: int, shards: int) -> list[list[Row]]:
    """Return the part of the rows for a shard: equally many in each, padded with the first rows."""
    if shards == 1:
        return parts
    total = sum(map(len, parts))
    share = -(-total // shards)
    indices = [index % total for index in range(shard * share, (shard + 1) * share)]
    ends = list(itertools.accumulate(map(len, parts)))
    positions = [(next(i for i, end in enumerate(ends) if index < end), index) for index in indices]
    # Consecutive rows of one file stay grouped.
    return [
        [parts[part][index - (ends[part] - len(parts[part]))] for _, index in group]
        for part, group in itertools.groupby(positions, lambda pair: pair[0])
    ]


def _in_turn(parts: list[list[Row]], workers: int) -> list[Row]:
    """Return the rows in the order in which interleaved workers read them."""
    streams = [list(itertools.chain.from_iterable(parts[i::workers])) for i in range(min(workers, len(parts)))]
    turns = itertools.zip_longest(*streams)
    return [row for turn in turns for row in turn if row is not None]


class TextFileDataset(_Lines):
    """The lines of text files, in UTF-8, as the column ``text``; empty lines are dropped.

    Args:
        dataset_files: the name of a file, a pattern such as ``"*.txt"``, or a list of them.
        num_samples: the maximum number of rows; by default all.
        num_parallel_workers: the number of interleaved files; by default the setting of ``config``.
        shuffle: ``Shuffle.GLOBAL`` and the others, or True: all rows in random order; ``Shuffle.FILES``: the files;
            False, ``Shuffle.FALSE`` or None: in file order.
        num_shards: the number of contiguous shards; requires ``shard_id``.
        shard_id: the index of this shard, from 0.
        cache: accepted for compatibility.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a name without files, or a number outside its range.
        RuntimeError: one of ``num_shards`` and ``shard_id`` without the other; or while iterating, no lines, or text
            that is not UTF-8.
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: ShuffleMode = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: object = None,
    ) -> None:
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id)

    def columns(self) -> list[str]:
        return ["text"]

    def read(self, path: Path) -> list[Row]:
        return [(np.asarray(line),) for line in _text("TextFileDataset", path).split("\n") if line]


class CSVDataset(_Lines):
    """The records of files of comma-separated values, in UTF-8.

    Args:
        dataset_files: the name of a file, a pattern such as ``"*.csv"``, or a list of them.
        field_delim: the character between the values.
        column_defaults: for each column a value of its type: an int (Int32), a float (Float32) or a str. By default,
            and for further columns, text.
        column_names: the names of the columns; by default those in the first line of each file.
        num_samples: the maximum number of rows; by default all.
        num_parallel_workers: the number of interleaved files; by default the setting of ``config``.
        shuffle: ``Shuffle.GLOBAL`` and the others, or True: all rows in random order; ``Shuffle.FILES``: the files;
            False, ``Shuffle.FALSE`` or None: in file order.
        num_shards: the number of contiguous shards; requires ``shard_id``.
        shard_id: the index of this shard, from 0.
        cache: accepted for compatibility.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a name without files, an invalid delimiter, or a number outside its range.
        RuntimeError: one of ``num_shards`` and ``shard_id`` without the other; or while iterating, no records, a record
            with the wrong number of values, a value that is not of its column's type, files with other headers, or a
            duplicate name.
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        field_delim: str = ",",
        column_defaults: list[Any] | None = None,
        column_names: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: ShuffleMode = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: object = None,
    ) -> None:
        caller = "CSVDataset"
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id)
        check_type(field_delim, str, caller, "field_delim", show=repr)
        if len(field_delim) != 1 or field_delim in '"\r\n':
            raise ValueError(
                f"For '{caller}', 'field_delim' must be one character, no quote or end, got {field_delim!r}"
            )
        for name, values, kinds in (("column_defaults", column_defaults, _KINDS), ("column_names", column_names, str)):
            if values is not None and (
                not isinstance(values, list | tuple | str) or not all(isinstance(value, kinds) for value in values)
            ):
                expected = "str" if kinds is str else "int, float or str"
                raise TypeError(f"For '{caller}', '{name}' must be a list of {expected}, but got {values!r}")
        self.delimiter, self.header = field_delim, column_names is None
        self.kinds: list[type] = [type(value) for value in column_defaults or ()]
        self.names = None if column_names is None else list(column_names)

    def columns(self) -> list[str]:
        if self.names is None:
            self.names = self._records(self.files[0])[0]
        if len(set(self.names)) < len(self.names):
            raise RuntimeError(f"For 'CSVDataset', a column's name is there twice: {self.names}")
        if len(self.kinds) > len(self.names):
            raise RuntimeError(f"For 'CSVDataset', there are {len(self.kinds)} 'column_defaults' for {self.names}")
        return list(self.names)

    def _records(self, path: Path) -> list[list[str]]:
        lines = io.StringIO(_text("CSVDataset", path), newline="")
        try:
            return [record for record in csv.reader(lines, delimiter=self.delimiter, strict=True) if record]
        except csv.Error as error:
            raise RuntimeError(f"For 'CSVDataset', {path} cannot be read: {error}") from error

    def read(self, path: Path) -> list[Row]:
        names, records = self.columns(), self._records(path)
        if self.header:
            if not records or records[0] != names:
                raise RuntimeError(f"For 'CSVDataset', the first line of {path} must be {names}, as in the first file")
            records = records[1:]
        return [self._row(path, record, len(names)) for record in records]

    def _row(self, path: Path, record: list[str], count: int) -> Row:
        if len(record) != count:
            raise RuntimeError(f"For 'CSVDataset', {path} must have {count} values in each record, but one is {record}")
        kinds: list[type] = [*self.kinds, *([str] * (count - len(self.kinds)))]
        try:
            return tuple([_value(kind, text) for kind, text in zip(kinds, record, strict=True)])
        except (ValueError, OverflowError) as error:
            raise RuntimeError(
                f"For 'CSVDataset', a value in the record {record} of {path} is not of its column's type: {error}"
            ) from error


def _value(kind: type, text: str) -> Any:
    if kind is str:
        return np.asarray(text)
    return np.asarray(float(text), np.float32) if kind is float else np.asarray(int(float(text)), np.int32)


def _text(caller: str, path: Path) -> str:
    """Return the text of a file with its line ends."""
    try:
        return read_plain(caller, path).decode()
    except UnicodeDecodeError as error:
        raise RuntimeError(f"For '{caller}', {path} must be text in UTF-8: {error}") from error
