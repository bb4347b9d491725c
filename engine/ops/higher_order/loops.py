"""Loops as operators (``ops.WhileLoop``, ``ops.ForiLoop``, ``ops.Scan``): Python's own, with MindSpore's arguments.

A graph compiler would keep such a loop as one node. Here gradients go through each round of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base.argument_checks import check_callable
from ...tensors.tensor import Tensor

__all__ = ["ForiLoop", "Scan", "WhileLoop"]


class _Loop:
    def __repr__(self) -> str:
        return f"Prim[{type(self).__name__}]"

    def _check_functions(self, **functions: object) -> None:
        for name, function in functions.items():
            check_callable(function, type(self).__name__, name)

    def _failed(self, error: Exception) -> ValueError:
        return ValueError(f"For '{type(self).__name__}', a round failed: {type(error).__name__}: {error}")


class WhileLoop(_Loop):
    """Repeats ``value = loop_func(value)`` while ``cond_func(value)`` holds."""

    def __call__(self, cond_func: Callable[[Any], Any], loop_func: Callable[[Any], Any], init_val: Any) -> Any:
        """The loop.

        Args:
            cond_func: a function of the value, which says whether there is a further round.
            loop_func: a function of the value, which gives the next one.
            init_val: the first value: a Tensor, a number, or anything that the two functions take.

        Returns:
            the last value.

        Raises:
            TypeError: something else than functions.
            ValueError: one of them failed; its error is the cause.
        """
        self._check_functions(cond_func=cond_func, loop_func=loop_func)
        value = init_val
        try:
            while cond_func(value):
                value = loop_func(value)
        except Exception as error:
            raise self._failed(error) from error
        return value


class ForiLoop(_Loop):
    """Repeats ``value = loop_func(i, value)`` for each i from ``lower`` up to and without ``upper``."""

    def __call__(
        self,
        lower: int | Tensor,
        upper: int | Tensor,
        loop_func: Callable[[int, Any], Any],
        init_val: Any,
        unroll: bool = True,
    ) -> Any:
        """The loop.

        Args:
            lower: the first i: an int, or a Tensor with one.
            upper: where it ends, likewise.
            loop_func: a function of i and the value, which gives the next value.
            init_val: the first value: a Tensor, a number, or anything that ``loop_func`` takes.
            unroll: how a graph compiler would keep the loop; it changes nothing.

        Returns:
            the last value.

        Raises:
            TypeError: a bound is no int, or ``loop_func`` no function.
            ValueError: ``loop_func`` failed; its error is the cause.
        """
        for name, bound in (("lower", lower), ("upper", upper)):
            if not isinstance(bound, int | Tensor):
                raise TypeError(f"For 'ForiLoop', '{name}' must be an int or a Tensor, but got {type(bound).__name__}")
        self._check_functions(loop_func=loop_func)
        value = init_val
        try:
            for i in range(int(lower), int(upper)):
                value = loop_func(i, value)
        except Exception as error:
            raise self._failed(error) from error
        return value


class Scan(_Loop):
    """Repeats ``carry, y = loop_func(carry, x)`` for each x, and gathers the y."""

    def __call__(
        self,
        loop_func: Callable[[Any, Any], tuple[Any, Any]],
        init: Any,
        xs: Sequence[Any] | None,
        length: int | None = None,
        unroll: bool = True,
    ) -> tuple[Any, list[Any]]:
        """The loop.

        Args:
            loop_func: a function of what is carried on and of x, which gives both what is carried on next and a y.
            init: what is carried into the first round.
            xs: a list or tuple, an x for each round; or None, which is None in each of ``length`` rounds.
            length: the number of rounds where ``xs`` is None.
            unroll: how a graph compiler would keep the loop; it changes nothing.

        Returns:
            a tuple of what is carried out of the last round, and the list of the y.

        Raises:
            TypeError: ``loop_func`` is no function, ``xs`` no list, tuple or None, or ``length`` no int beside None.
            ValueError: ``loop_func`` failed or gave no pair; its error is the cause.
        """
        self._check_functions(loop_func=loop_func)
        if xs is None and isinstance(length, int):
            xs = [None] * length
        if not isinstance(xs, list | tuple):
            raise TypeError(
                f"For 'Scan', 'xs' must be a list or tuple, or None beside an int 'length', but got {type(xs).__name__}"
                f" and 'length' {length!r}"
            )
        carry, ys = init, []
        try:
            for x in xs:
                carry, y = loop_func(carry, x)
                ys.append(y)
        except Exception as error:
            raise self._failed(error) from error
        return carry, ys
