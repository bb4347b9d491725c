"""Generator: an independent stream of random numbers, with a seed and a position that can be saved and restored."""

from __future__ import annotations

import os

import numpy as np

from ..base.argument_checks import check_at_most, check_int, check_not_negative, check_type
from . import random
from .tensor import Tensor

__all__ = ["Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


class Generator:
    """An independent stream of random numbers: a seed, and a position in its sequence.

    It starts at the seed 0. Draws from it advance its position; the engine's own stream is not affected.
    """

    def __init__(self) -> None:
        self._position = (0, 0)

    def manual_seed(self, seed: int) -> Generator:
        """Restart from a seed.

        Args:
            seed: an int of 64 bits that is not negative.

        Returns:
            this Generator.

        Raises:
            TypeError: ``seed`` is not an int.
            ValueError: it has more bits.
        """
        name = "Generator.manual_seed"
        check_at_most(check_int(seed, name, "seed"), random.MOST_SEED, name, "seed")
        self._set_position((seed, 0))
        return self

    def seed(self) -> int:
        """Restart from a seed that the operating system draws.

        Returns:
            the seed, an int of 32 bits.
        """
        chosen = int.from_bytes(os.urandom(4), "little")
        self.manual_seed(chosen)
        return chosen

    def initial_seed(self) -> int:
        """Return the seed that the stream started from.

        Returns:
            an int.
        """
        return self._get_position()[0]

    def get_state(self) -> Tensor:
        """Return the seed and the position in the stream.

        Returns:
            a UInt8 Tensor of 16 elements, for ``set_state``.
        """
        return Tensor(np.array(self._get_position(), "<u8").view(np.uint8))

    def set_state(self, state: Tensor) -> None:
        """Restore a state of ``get_state``: the same numbers follow.

        Args:
            state: a Tensor of 16 bytes.

        Raises:
            TypeError: ``state`` is not a Tensor.
            ValueError: it does not have 16 elements.
        """
        check_type(state, Tensor, "Generator.set_state", "state")
        if state.shape != (16,):
            raise ValueError(f"For 'Generator.set_state', 'state' must be a result of get_state, but got {state.shape}")
        stream, offset = state.asnumpy().astype(np.uint8).view("<u8").tolist()
        self._set_position((stream, offset))

    def draw(self, count: int) -> tuple[int, int]:
        """Return the seed and the first of ``count`` unused counters; the position advances by ``count``.

        Args:
            count: how many numbers are drawn.

        Returns:
            ``(seed, counter)``.
        """
        stream, offset = self._position
        self._position = (stream, offset + count)
        return stream, offset

    def _get_position(self) -> tuple[int, int]:
        return self._position

    def _set_position(self, position: tuple[int, int]) -> None:
        self._position = position


class _DefaultGenerator(Generator):
    """The engine's own stream."""

    def manual_seed(self, seed: int) -> Generator:
        check_not_negative(check_int(seed, "manual_seed", "seed"), "manual_seed", "seed")
        random.set_seed(check_at_most(seed, random.MOST_SEED, "manual_seed", "seed"))
        return self

    def draw(self, count: int) -> tuple[int, int]:
        return random.draw(count)

    def _get_position(self) -> tuple[int, int]:
        return random.position()

    def _set_position(self, position: tuple[int, int]) -> None:
        random.go_to(position)


_DefaultGenerator.__name__ = _DefaultGenerator.__qualname__ = "Generator"  # for its repr
default_generator: Generator = _DefaultGenerator()
"""The default stream of every operator that draws."""


def seed() -> int:
    """Restart the engine's random numbers from a seed that the operating system draws.

    Returns:
        the seed.
    """
    return default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Restart the engine's random numbers from a seed.

    Args:
        seed: an int of 64 bits that is not negative.

    Returns:
        the Generator of the engine's own stream.

    Raises:
        TypeError: ``seed`` is not an int.
        ValueError: it is negative or has more bits.
    """
    return default_generator.manual_seed(seed)


def initial_seed() -> int:
    """Return the seed that the engine's random numbers started from.

    Returns:
        an int.
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the engine's random numbers.

    Returns:
        a UInt8 Tensor of 16 elements, for ``set_rng_state``.
    """
    return default_generator.get_state()


def set_rng_state(state: Tensor) -> None:
    """Restore a state of ``get_rng_state``: the same random numbers follow.

    Args:
        state: a Tensor of 16 bytes.

    Raises:
        TypeError: ``state`` is not a Tensor.
        ValueError: it does not have 16 elements.
    """
    default_generator.set_state(state)
