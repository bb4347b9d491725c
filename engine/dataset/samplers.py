"""Samplers: selection and order of a source's rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from ..base.argument_checks import check_bool, check_int, check_type
from ..base.types import Array
from . import config

__all__ = [
    "DistributedSampler",
    "PKSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "SubsetSampler",
    "WeightedRandomSampler",
    "indices_of",
]


class Sampler:
    """Base of the samplers, and of a user's own, which define ``__iter__`` over indices and may read ``dataset_size``.

    Args:
        num_samples: the maximum number of rows; by default all.

    Raises:
        TypeError: not an int.
        ValueError: an int below 1.
    """

    def __init__(self, num_samples: int | None = None) -> None:
        if num_samples is not None and check_int(num_samples, type(self).__name__, "num_samples", show=repr) <= 0:
            raise ValueError(f"For '{type(self).__name__}', 'num_samples' must be above 0, but got {num_samples}")
        self.num_samples = num_samples
        self.dataset_size = 0

    # Class attributes, for samplers of users that do not call __init__.
    _child: Sampler | Iterable[int] | None = None

    def add_child(self, sampler: Sampler | Iterable[int]) -> None:
        """Choose among the rows that another sampler selects, in place of all.

        Args:
            sampler: the other sampler, or a list of row indices.

        Raises:
            RuntimeError: it already has a child.
        """
        if self._child is not None:
            raise RuntimeError(f"For '{type(self).__name__}.add_child', there is a child already")
        self._child = sampler

    def get_child(self) -> Sampler | Iterable[int] | None:
        """Return the sampler from whose rows this one chooses, or None."""
        return self._child

    def indices(self, size: int, generator: np.random.Generator) -> list[int]:
        """Return the indices of the selected rows, in order.

        Args:
            size: the number of rows of the source.
            generator: random numbers.
        """
        self.dataset_size = size
        if not isinstance(self, Iterable) and not hasattr(self, "__getitem__"):
            raise RuntimeError(f"'{type(self).__name__}' must define __iter__, which yields row numbers")
        iterator: Iterable[int] = iter(self)
        return _ints(itertools.islice(iterator, self.num_samples))  # it may be infinite

    def get_num_samples(self) -> int | None:
        """Return the maximum number of rows, at most that of its child; None if unknown."""
        return _fewer(self.num_samples, self._child.get_num_samples() if isinstance(self._child, Sampler) else None)

    def is_shuffled(self) -> bool:
        """Return whether rows come in random order, as the first sampler decides; False for a user's own."""
        return isinstance(self._child, Sampler) and self._child.is_shuffled()

    def is_sharded(self) -> bool:
        """Return whether it selects one of several shards, or chooses within one."""
        return isinstance(self._child, Sampler) and self._child.is_sharded()


class _Random(Sampler):
    """A sampler that draws random rows."""

    def is_shuffled(self) -> bool:
        return True


def _fewer(count: int | None, other: int | None) -> int | None:
    """Return the smaller number; None means unbounded."""
    return other if count is None else count if other is None else min(count, other)


def _ints(numbers: Iterable[Any]) -> list[int]:
    """Return row indices as ints.

    Raises:
        RuntimeError: an index is not an int.
    """
    items = list(numbers)
    for item in items:
        if not isinstance(item, int | np.integer):
            raise RuntimeError(f"a sampler must give ints, the numbers of rows, but got {item!r}")
    return [int(item) for item in items]


class SequentialSampler(Sampler):
    """Consecutive rows from ``start_index`` on.

    Args:
        start_index: the index of the first row; by default 0.
        num_samples: the maximum number of rows; by default all.

    Raises:
        TypeError: not an int.
        ValueError: ``num_samples`` is below 1.
        RuntimeError: while iterating, an index out of range.
    """

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        if start_index is not None:
            check_int(start_index, "SequentialSampler", "start_index", show=repr)
        self.start_index = start_index or 0

    def indices(self, size: int, generator: np.random.Generator) -> list[int]:
        if not 0 <= self.start_index < size:
            raise RuntimeError(
                f"For 'SequentialSampler', 'start_index' is {self.start_index}, but the data set has {size} rows"
            )
        return list(range(self.start_index, size))


class RandomSampler(_Random):
    """Rows in random order.

    Args:
        replacement: draw each row from all, with replacement.
        num_samples: the maximum number of rows; by default all.
        shuffle: accepted for compatibility; it selects a mode of shuffling files, and rows are shuffled as a whole
            here.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``num_samples`` is below 1.
    """

    def __init__(self, replacement: bool = False, num_samples: int | None = None, shuffle: object = None) -> None:
        super().__init__(num_samples)
        self.replacement = check_bool(replacement, "RandomSampler", "replacement", show=repr)

    def indices(self, size: int, generator: np.random.Generator) -> list[int]:
        if self.replacement:
            return generator.integers(0, size, _fewer(self.num_samples, size)).tolist()
        return generator.permutation(size).tolist()


class SubsetSampler(Sampler):
    """The rows at ``indices``, in this order.

    Args:
        indices: row indices, or one of them.
        num_samples: the maximum number of rows; by default all.

    Raises:
        TypeError: not ints.
        ValueError: ``num_samples`` is below 1.
        RuntimeError: while iterating, an index out of range.
    """

    def __init__(self, indices: int | Iterable[int], num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        items = list(indices) if isinstance(indices, Iterable) else [indices]
        if not items or not all(isinstance(i, int | np.integer) for i in items):
            raise TypeError(f"For '{type(self).__name__}', 'indices' must be ints, but got {indices!r}")
        self.wanted = [int(i) for i in items]

    def indices(self, size: int, generator: np.random.Generator) -> list[int]:
        if any(not 0 <= i < size for i in self.wanted):
            raise RuntimeError(
                f"For '{type(self).__name__}', 'indices' go from {min(self.wanted)} to {max(self.wanted)}, "
                f"but the data set has {size} rows"
            )
        return list(self.wanted)

    def get_num_samples(self) -> int | None:
        return _fewer(len(self.wanted), super().get_num_samples())


class SubsetRandomSampler(SubsetSampler):
    """The rows at ``indices``, in random order.

    Args:
        indices: row indices, or one of them.
        num_samples: the maximum number of rows; by default all.

    Raises:
        TypeError: not ints.
        ValueError: ``num_samples`` is below 1.
        RuntimeError: while iterating, an index out of range.
    """

    def indices(self, size: int, generator: np.random.Generator) -> list[int]:
        return generator.permutation(super().indices(size, generator)).tolist()

    def is_shuffled(self) -> bool:
        return True


class WeightedRandomSampler(_Random):
    """Rows drawn with these probabilities, which need not sum to 1.

    Args:
        weights: a number of at least 0 for each row, in order; rows without a weight are not drawn.
        num_samples: the number of rows, by default and at most the number of weights.
        replacement: draw each row from all, with replacement; otherwise rows of weight 0 come last.

    Raises:
        TypeError: ``weights`` are not numbers, ``replacement`` is not a bool, or ``num_samples`` is not an int.
        ValueError: ``num_samples`` is below 1.
        RuntimeError: no weights, a negative or infinite one, or only zeros; or while iterating, more weights than
            rows.
    """

    def __init__(
        self, weights: float | Sequence[float] | Array, num_samples: int | None = None, replacement: bool = True
    ) -> None:
        super().__init__(num_samples)
        caller = "For 'WeightedRandomSampler', 'weights' must"
        items = list(weights) if isinstance(weights, Iterable) and not isinstance(weights, str) else [weights]
        invalid = [item for item in items if not isinstance(item, Real)]
        if invalid:
            raise TypeError(f"{caller} be a list of numbers, but got {invalid[0]!r}")
        self.weights = np.array([float(item) for item in items])
        if not (np.isfinite(self.weights) & (self.weights >= 0)).all():
            raise RuntimeError(f"{caller} be finite and not negative, but got {items}")
        if not self.weights.any():
            raise RuntimeError(f"{caller} not be {'all 0' if items else 'empty'}, but got {items}")
        self.replacement = check_bool(replacement, "WeightedRandomSampler", "replacement", show=repr)

    def indices(self, size: int, generator: np.random.Generator) -> list[int]:
        if self.weights.size > size:
            raise RuntimeError(f"For 'WeightedRandomSampler', there are {self.weights.size} 'weights', but {size} rows")
        share = self.weights / self.weights.sum()
        count = _fewer(self.num_samples, size)
        if self.replacement:
            return generator.choice(self.weights.size, count, True, share).tolist()
        drawn = generator.choice(self.weights.size, np.count_nonzero(share), False, share)
        last = generator.permutation(np.flatnonzero(share == 0))
        return [*drawn.tolist(), *last.tolist()][:count]


class DistributedSampler(Sampler):
    """Every ``num_shards``-th row, from ``shard_id`` on.

    Args:
        num_shards: the number of shards, at least 1.
        shard_id: the index of this shard, from 0.
        shuffle: divide a random order instead of the rows in sequence. It depends only on the epoch and
            ``dataset.config.set_seed``, so that shards of several processes are disjoint.
        num_samples: the maximum number of rows; by default all.
        offset: the shard that gets the first row, at most ``num_shards``, with each row in one shard; -1, the
            default: the first shard, with equally long shards, in which some rows may repeat.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``num_samples`` is below 1.
        RuntimeError: another number outside its range.
    """

    def __init__(
        self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: int | None = None, offset: int = -1
    ) -> None:
        super().__init__(num_samples)
        for name, value in (("num_shards", num_shards), ("shard_id", shard_id)):
            check_int(value, "DistributedSampler", name, show=repr)
        check_bool(shuffle, "DistributedSampler", "shuffle", show=repr)
        if num_shards < 1 or not 0 <= shard_id < num_shards:
            raise RuntimeError(
                f"For 'DistributedSampler', 'shard_id' must be from 0 to 'num_shards' - 1, got {shard_id}, {num_shards}"
            )
        check_int(offset, "DistributedSampler", "offset", show=repr)
        if not -1 <= offset <= num_shards:
            raise RuntimeError(
                f"For 'DistributedSampler', 'offset' must be from -1 to 'num_shards', but got {offset}, {num_shards}"
            )
        self.num_shards, self.shard_id, self.shuffle, self.offset = num_shards, shard_id, shuffle, offset

    def is_shuffled(self) -> bool:
        return self.shuffle or super().is_shuffled()

    def is_sharded(self) -> bool:
        return self.num_shards > 1 or super().is_sharded()

    def indices(self, size: int, generator: np.random.Generator) -> list[int]:
        if self.num_shards > 1:  # the processes with the other shards have drawn other numbers
            generator = np.random.default_rng([config.get_seed(), config.current_epoch()])
        order = generator.permutation(size) if self.shuffle else np.arange(size)
        if self.offset == -1:
            count = -(-size // self.num_shards)
            return [int(order[(self.shard_id + i * self.num_shards) % size]) for i in range(count)]
        first = (self.shard_id - self.offset) % self.num_shards
        # As in MindSpore, an empty shard gets a row of another.
        return order[first :: self.num_shards].tolist() or [int(order[first % size])]


class PKSampler(_Random):
    """A fixed number of random rows of each class, class after class; for ``ImageFolderDataset``, which has classes.

    Args:
        num_val: the number of rows of each class.
        num_class: the number of classes; only the default, all of them, is supported.
        shuffle: whether rows are in random order.
        class_column: the column of the class.
        num_samples: the maximum number of rows; by default all.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``num_samples`` is below 1.
        RuntimeError: ``num_val`` is below 1.
        NotImplementedError: ``num_class`` is set.
    """

    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ) -> None:
        super().__init__(num_samples)
        if check_int(num_val, "PKSampler", "num_val", show=repr) < 1:
            raise RuntimeError(f"For 'PKSampler', 'num_val' must be above 0, but got {num_val}")
        if num_class is not None:
            raise NotImplementedError("For 'PKSampler', 'num_class' must be None: all classes")
        check_bool(shuffle, "PKSampler", "shuffle", show=repr)
        check_type(class_column, str, "PKSampler", "class_column", show=repr)
        self.num_val, self.shuffle, self.class_column = num_val, shuffle, class_column
        self.labels: Array = np.zeros(0, int)  # of the rows; the data set assigns them

    def indices(self, size: int, generator: np.random.Generator) -> list[int]:
        indices: list[int] = []
        for label in np.unique(self.labels):
            members = np.flatnonzero(self.labels == label)
            indices += generator.choice(members, self.num_val, replace=len(members) < self.num_val).tolist()
        return generator.permutation(indices).tolist() if self.shuffle else indices


Chosen: TypeAlias = Sampler | Iterable[int]
"""A selection of rows: a sampler, or indices."""


def indices_of(sampler: Chosen, size: int, generator: np.random.Generator) -> list[int]:
    """Return the indices of the rows that a sampler selects.

    Args:
        sampler: a Sampler, or row indices.
        size: the number of rows.
        generator: random numbers.
    """
    if isinstance(sampler, Sampler):
        child = sampler.get_child()
        if child is not None:
            candidates = indices_of(child, size, generator)
            indices = [candidates[i] for i in sampler.indices(len(candidates), generator)]
        else:
            indices = sampler.indices(size, generator)
        return indices if sampler.num_samples is None else indices[: sampler.num_samples]
    return _ints(sampler)
