"""Course of a number from step to step, in a bounded number of means."""

from __future__ import annotations

__all__ = ["Course"]

_MOST = 128


class Course:
    """Means of equally many numbers in a row, oldest first; there are never more than 128.

    Attributes:
        count: the number of numbers.
        pools: what a check of the numbers keeps from step to step, by its name.
    """

    def __init__(self) -> None:
        self.count = 0
        self.pools: dict[object, tuple[list[float], list[float]]] = {}
        self._means: list[float] = []
        self._width = 1
        self._newest: list[float] = []

    def add(self, number: float) -> None:
        """Add the number of a step."""
        self.count += 1
        self._newest.append(number)
        if len(self._newest) < self._width:
            return
        self._means.append(sum(self._newest) / self._width)
        self._newest.clear()
        if len(self._means) == _MOST:
            self._means = [
                (first + second) / 2 for first, second in zip(self._means[::2], self._means[1::2], strict=True)
            ]
            self._width *= 2

    def parts(self, number: int) -> list[list[float]] | None:
        """Return the means in equal parts, oldest first; None if there are fewer than two for each."""
        length = len(self._means) // number
        if length < 2:
            return None
        first = len(self._means) - number * length
        return [self._means[first + part * length : first + (part + 1) * length] for part in range(number)]
