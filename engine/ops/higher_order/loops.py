"""Loops as operators (``ops.WhileLoop``, ``ops.ForiLoop``, ``ops.Scan``): Python's own, with MindSpore's arguments.

A graph compiler would keep such a loop as one node. Here gradients pass through each iteration of it.
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
    """Loop ``value = loop_func(value)`` while ``cond_func(value)`` holds."""

    def __call__(self, cond_func: Callable[[Any], Any], loop_func: Callable[[Any], Any], init_val: Any) -> Any:
        """Run the loop.

        Args:
            cond_func: a function of the value that returns whether there is another iteration.
            loop_func: a function of the value that returns the next one.
            init_val: the first value: a Tensor, a number, or anything that the two functions accept.

        Returns:
            The last value.

        Raises:
            TypeError: an argument is not a function.
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
    """Loop ``value = loop_func(i, value)`` for each i from ``lower`` to ``upper``, which is not included."""

    def __call__(
        self,
        lower: int | Tensor,
        upper: int | Tensor,
        loop_func: Callable[[int, Any], Any],
        init_val: Any,
        unroll: bool = True,
    ) -> Any:
        """Run the loop.

        Args:
            lower: the first i: an int, or a Tensor with one.
            upper: the end, likewise.
            loop_func: a function of i and the value that returns the next value.
            init_val: the first value: a Tensor, a number, or anything that ``loop_func`` accepts.
            unroll: how a graph compiler would keep the loop; it has no effect.

        Returns:
            The last value.

        Raises:
            TypeError: a bound is not an int, or ``loop_func`` is not a function.
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
    """Loop ``carry, y = loop_func(carry, x)`` for each x, which collects the y."""

    def __call__(
        self,
        loop_func: Callable[[Any, Any], tuple[Any, Any]],
        init: Any,
        xs: Sequence[Any] | None,
        length: int | None = None,
        unroll: bool = True,
    ) -> tuple[Any, list[Any]]:
        """Run the loop.

        Args:
            loop_func: a function of the carry and of x that returns the next carry and a y.
            init: the carry of the first iteration.
            xs: a list or tuple, an x for each iteration; or None, which is None in each of ``length`` iterations.
            length: the number of iterations if ``xs`` is None.
            unroll: how a graph compiler would keep the loop; it has no effect.

        Returns:
            A tuple of the last carry, and the list of the y.

        Raises:
            TypeError: ``loop_func`` is not a function, ``xs`` is not a list, tuple or None, or ``xs`` is None and
                ``length`` is not an int.
            ValueError: ``loop_func`` failed or did not return a pair; its error is the cause.
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
