"""Callbacks of a data set's ``map``, called before and after its rows during an iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..base.argument_checks import check_int
from ..base.module_names import on_first_use as _on_first_use

__all__ = ["DSCallback"]

T = TypeVar("T")
__getattr__ = _on_first_use(__name__, names={"WaitedDSCallback": "train.callback.waiting"})


class DSRunContext:
    """The position of a ``map`` in the run.

    Args:
        epoch: the number of the pass, from 1; 0 before the first.
        step_in_epoch: the number of the row in it, from 1.
        step: the number of the row since the iterator began, from 1.
    """

    def __init__(self, epoch: int, step_in_epoch: int, step: int) -> None:
        self.cur_epoch_num, self.cur_step_num_in_epoch, self.cur_step_num = epoch, step_in_epoch, step


class DSCallback:
    """Base of the callbacks of a data set's ``map``; a subclass defines at least one of its methods.

    Args:
        step_size: the number of rows of a step; the two methods of a step are called for its first row.

    Raises:
        TypeError: not an int.
        ValueError: an int below 1.
    """

    def __init__(self, step_size: int = 1) -> None:
        if check_int(step_size, type(self).__name__, "step_size", show=repr) < 1:
            raise ValueError(f"For '{type(self).__name__}', 'step_size' must be above 0, but got {step_size}")
        self.step_size = step_size

    def ds_begin(self, ds_run_context: DSRunContext) -> None:
        """Run before the first row of an iterator.

        Args:
            ds_run_context: the state of the run: ``cur_epoch_num``, ``cur_step_num_in_epoch``, ``cur_step_num``.
        """

    def ds_epoch_begin(self, ds_run_context: DSRunContext) -> None:
        """Run before the first row of each pass.

        Args:
            ds_run_context: the state of the run.
        """

    def ds_epoch_end(self, ds_run_context: DSRunContext) -> None:
        """Run after the last row of each pass.

        Args:
            ds_run_context: the state of the run.
        """

    def ds_step_begin(self, ds_run_context: DSRunContext) -> None:
        """Run before the first row of a step.

        Args:
            ds_run_context: the state of the run.
        """

    def ds_step_end(self, ds_run_context: DSRunContext) -> None:
        """Run after the first row of a step.

        Args:
            ds_run_context: the state of the run.
        """


_MOMENTS = ("ds_begin", "ds_epoch_begin", "ds_epoch_end", "ds_step_begin", "ds_step_end")


def callback_list(callbacks: Any) -> list[DSCallback]:
    """Return the callbacks of a ``map``, one, a list or None, as a list.

    Raises:
        TypeError: something else.
        AttributeError: a callback that defines no method.
    """
    if callbacks is None:
        return []
    callbacks = list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks]
    for callback in callbacks:
        if not isinstance(callback, DSCallback):
            raise TypeError(f"For 'map', 'callbacks' must be a DSCallback or a list of them, but got {callback!r}")
        if all(getattr(type(callback), name) is getattr(DSCallback, name) for name in _MOMENTS):
            raise AttributeError(f"For 'map', {type(callback).__name__} in 'callbacks' must define one of {_MOMENTS}")
    return callbacks


class Watch:
    """The callbacks of one ``map`` during the life of one iterator, which reports its passes.

    Args:
        callbacks: the callbacks.
    """

    def __init__(self, callbacks: list[DSCallback]) -> None:
        self.callbacks = callbacks
        self.epoch = self.in_epoch = self.steps = 0

    def begins(self) -> None:
        """Notify the callbacks that the iterator is about to return its first row."""
        self._tell("ds_begin")

    def epoch_begins(self) -> None:
        """Notify the callbacks that a pass begins."""
        self.epoch, self.in_epoch = self.epoch + 1, 0
        self._tell("ds_epoch_begin")

    def epoch_ends(self) -> None:
        """Notify the callbacks that a pass has returned its last row."""
        self._tell("ds_epoch_end")

    def row(self, work: Callable[[], T]) -> T:
        """Return the result of ``work`` for the next row."""
        self.in_epoch, self.steps = self.in_epoch + 1, self.steps + 1
        self._tell("ds_step_begin", step=True)
        result = work()
        self._tell("ds_step_end", step=True)
        return result

    def _tell(self, moment: str, step: bool = False) -> None:
        context = DSRunContext(self.epoch, self.in_epoch, self.steps)
        for callback in self.callbacks:
            if step and (self.in_epoch - 1) % callback.step_size:
                continue
            try:
                getattr(callback, moment)(context)
            except Exception as error:  # the user's code may raise anything; MindSpore raises RuntimeError for it
                raise RuntimeError(
                    f"For 'map', {type(callback).__name__}.{moment} raised {type(error).__name__}: {error}"
                ) from error
