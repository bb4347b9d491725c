"""A callback that synchronizes the steps of a data set with the training."""

from __future__ import annotations

from ...base.argument_checks import check_int
from ...dataset.callback import DSCallback, DSRunContext
from .base import Callback, RunContext

__all__ = ["WaitedDSCallback"]


class WaitedDSCallback(Callback, DSCallback):
    """Base of callbacks that make the rows of a data set depend on the training's last step or epoch.

    One object is passed to ``Dataset.map(callbacks=)`` and to ``Model.train(callbacks=)``. A subclass defines
    ``sync_epoch_begin`` or ``sync_step_begin``; they are called from the second epoch or step on.

    Args:
        step_size: the number of rows per training step, usually the batch size.

    Raises:
        TypeError: not an int.
        ValueError: an int below 1.
        RuntimeError: while iterating, if no training step or epoch ended since the last call.
    """

    def __init__(self, step_size: int = 1) -> None:
        check_int(step_size, type(self).__name__, "step_size", show=repr)
        DSCallback.__init__(self, step_size)
        self.step_run_context: RunContext | None = None
        self.epoch_run_context: RunContext | None = None
        self.training_ended = False
        self._step_ended = self._epoch_ended = False

    def sync_epoch_begin(self, train_run_context: RunContext | None, ds_run_context: DSRunContext) -> None:
        """Run before each epoch of the data but the first, after the preceding epoch of training.

        Args:
            train_run_context: the facts of the training.
            ds_run_context: the state of the data set.
        """

    def sync_step_begin(self, train_run_context: RunContext | None, ds_run_context: DSRunContext) -> None:
        """Run before each step of the data but the first, after the preceding step of training.

        Args:
            train_run_context: the facts of the training.
            ds_run_context: the state of the data set.
        """

    def epoch_end(self, run_context: RunContext) -> None:
        """Store the facts for ``sync_epoch_begin``.

        Args:
            run_context: the facts of the training.
        """
        self.epoch_run_context, self._epoch_ended = run_context, True

    def step_end(self, run_context: RunContext) -> None:
        """Store the facts for ``sync_step_begin``.

        Args:
            run_context: the facts of the training.
        """
        self.step_run_context, self._step_ended = run_context, True

    def end(self, run_context: RunContext) -> None:
        """End the synchronization: training has ended, so waits return.

        Args:
            run_context: the facts of the training.
        """
        self.epoch_end(run_context)
        self.step_end(run_context)
        self.training_ended = True

    def ds_epoch_begin(self, ds_run_context: DSRunContext) -> None:
        """Call ``sync_epoch_begin``.

        Args:
            ds_run_context: the state of the data set.
        """
        if ds_run_context.cur_epoch_num > 1 and self._defines("sync_epoch_begin"):
            self._need(self._epoch_ended, "epoch")
            self._epoch_ended = False
            self.sync_epoch_begin(self.epoch_run_context, ds_run_context)

    def ds_step_begin(self, ds_run_context: DSRunContext) -> None:
        """Call ``sync_step_begin``.

        Args:
            ds_run_context: the state of the data set.
        """
        if ds_run_context.cur_step_num > self.step_size and self._defines("sync_step_begin"):
            self._need(self._step_ended, "step")
            self._step_ended = False
            self.sync_step_begin(self.step_run_context, ds_run_context)

    def _defines(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(WaitedDSCallback, name)

    def _need(self, ended: bool, what: str) -> None:
        if not ended and not self.training_ended:
            raise RuntimeError(
                f"no {what} of a training ended since the last {what} of the data set: "
                f"give this {type(self).__name__} to the 'callbacks' of Model.train too"
            )
