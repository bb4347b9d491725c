"""Callbacks that report: the loss, the time, the history, any function, and a progress bar."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_not_negative
from ...cpu.notices import tell
from ...tensors.tensor import Tensor
from .base import Callback, RunContext, loss_of

__all__ = ["History", "LambdaCallback", "LossMonitor", "ProgressBar", "TimeMonitor"]


class LossMonitor(Callback):
    """Prints the loss of steps, and the metrics after an epoch of ``Model.fit``.

    A loss that is NaN or Inf ends the run with a ValueError.

    Args:
        per_print_times: the number of steps between prints; 0: never.

    Raises:
        TypeError: not an int.
        ValueError: a negative int.
    """

    def __init__(self, per_print_times: int = 1) -> None:
        check_int(per_print_times, "LossMonitor", "per_print_times", show=repr)
        self._per_print_times = check_not_negative(per_print_times, "LossMonitor", "per_print_times")
        self._last_print_time = 0

    def step_end(self, run_context: RunContext) -> None:
        facts = run_context.original_args()
        epoch, step = facts.get("cur_epoch_num", 1), (facts.cur_step_num - 1) % facts.batch_num + 1
        loss = loss_of(facts.net_outputs)
        if isinstance(loss, float) and not math.isfinite(loss):
            raise ValueError(
                f"In epoch: {epoch} step: {step}, loss is NAN or INF, training process cannot continue, "
                "terminating training."
            )
        if self._per_print_times == 0:
            return
        if facts.cur_step_num <= self._last_print_time:  # another run has begun
            self._last_print_time = 0
        if facts.cur_step_num - self._last_print_time >= self._per_print_times:
            self._last_print_time = facts.cur_step_num
            print(f"epoch: {epoch} step: {step}, loss is {loss}", flush=True)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        facts = run_context.original_args()
        if facts.get("metrics"):
            print(f"Eval result: epoch {facts.cur_epoch_num}, metrics: {facts.metrics}")


class TimeMonitor(Callback):
    """Prints the duration of each epoch, and the average of its steps.

    Args:
        data_size: the number of steps, if the run does not know it.
        data_time: report the time that steps waited for data.

    Raises:
        TypeError: ``data_time`` is not a bool.
        ValueError: after an epoch, if the number of steps is unknown.
    """

    def __init__(self, data_size: int | None = None, data_time: bool = False) -> None:
        check_bool(data_time, "TimeMonitor", "data_time", show=repr)
        self.data_size, self.data_time = data_size, data_time
        self.epoch_time = self._waiting_since = time.time()
        self._data_seconds = 0.0

    def epoch_begin(self, run_context: RunContext) -> None:
        self.epoch_time = self._waiting_since = time.time()
        self._data_seconds = 0.0

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self._data_seconds += time.time() - self._waiting_since

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._waiting_since = time.time()

    def epoch_end(self, run_context: RunContext) -> None:
        milliseconds = (time.time() - self.epoch_time) * 1000
        facts = run_context.original_args()
        steps = facts.get("batch_num") or self.data_size
        if not isinstance(steps, int) or steps <= 0:
            raise ValueError(f"For 'TimeMonitor', 'data_size' must be an int above 0, but got {steps!r}")
        text = (
            f"{facts.get('mode', '').title()} epoch time: {milliseconds:5.3f} ms, "
            f"per step time: {milliseconds / steps:5.3f} ms"
        )
        if self.data_time:
            text += f" (data time: {self._data_seconds * 1000 / steps:5.3f} ms)"
        print(text, flush=True)


class History(Callback):
    """Stores the output and the metrics of each epoch in ``history``, and the epochs' numbers in ``epoch``.

    Another run appends to ``history``, and resets ``epoch``, as in MindSpore.
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}
        self.epoch: dict[str, list[int]] = {}

    def begin(self, run_context: RunContext) -> None:
        self.epoch = {"epoch": []}

    def epoch_end(self, run_context: RunContext) -> None:
        facts = run_context.original_args()
        self.epoch.setdefault("epoch", []).append(facts.get("cur_epoch_num", 1))
        output = facts.get("net_outputs")
        if isinstance(output, tuple | list) and isinstance(output[0], Tensor):
            output = output[0]
        if isinstance(output, Tensor):
            output = float(np.mean(output.asnumpy()))
        for name, value in {"net_output": output, **(facts.get("metrics") or {})}.items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """Functions of the run's context, called at their moments.

    Args:
        on_train_epoch_begin: called before each epoch of training.
        on_train_epoch_end: called after each epoch of training.
        on_train_step_begin: called before each step of training.
        on_train_step_end: called after each step of training.
        on_train_begin: called before the first epoch of training.
        on_train_end: called after the last epoch of training.
        on_eval_epoch_begin: called before each epoch of evaluation.
        on_eval_epoch_end: called after each epoch of evaluation.
        on_eval_step_begin: called before each step of evaluation.
        on_eval_step_end: called after each step of evaluation.
        on_eval_begin: called before the first epoch of evaluation.
        on_eval_end: called after the last epoch of evaluation.
    """

    def __init__(
        self,
        on_train_epoch_begin: Callable[[RunContext], Any] | None = None,
        on_train_epoch_end: Callable[[RunContext], Any] | None = None,
        on_train_step_begin: Callable[[RunContext], Any] | None = None,
        on_train_step_end: Callable[[RunContext], Any] | None = None,
        on_train_begin: Callable[[RunContext], Any] | None = None,
        on_train_end: Callable[[RunContext], Any] | None = None,
        on_eval_epoch_begin: Callable[[RunContext], Any] | None = None,
        on_eval_epoch_end: Callable[[RunContext], Any] | None = None,
        on_eval_step_begin: Callable[[RunContext], Any] | None = None,
        on_eval_step_end: Callable[[RunContext], Any] | None = None,
        on_eval_begin: Callable[[RunContext], Any] | None = None,
        on_eval_end: Callable[[RunContext], Any] | None = None,
    ) -> None:
        super().__init__()
        functions = {name: function for name, function in locals().items() if name.startswith("on_")}
        for name, function in functions.items():
            setattr(self, name, function or (lambda run_context: None))


class ProgressBar(Callback):
    """The progress of training. MindSpore has no such callback.

    In a notebook, if tqdm is installed, its bar, in its own output area; otherwise one line for each epoch on stderr.
    Either way the prints of other callbacks are unaffected.
    """

    def __init__(self) -> None:
        self._bar: Any = None

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        facts = run_context.original_args()
        if "ipykernel" not in sys.modules:  # not imported: the engine is independent of notebooks
            return
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped]  # has no types
        except ImportError:
            return
        self._bar = tqdm(total=facts.batch_num, desc=f"epoch {facts.cur_epoch_num}/{facts.epoch_num}", unit="step")

    def on_train_step_end(self, run_context: RunContext) -> None:
        if self._bar is not None:
            self._bar.set_postfix(loss=loss_of(run_context.original_args().net_outputs), refresh=False)
            self._bar.update()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        facts = run_context.original_args()
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        else:
            text = f"epoch {facts.cur_epoch_num}/{facts.epoch_num}: loss {loss_of(facts.net_outputs)}"
            tell(text)
