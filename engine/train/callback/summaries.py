"""A callback that records a training in an event file for TensorBoard."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_positive_int, check_type
from ...tensors.tensor import Tensor
from ..summary import SummaryRecord, export_format
from .base import Callback, RunContext

__all__ = ["SummaryCollector"]

_SWITCHES = (
    "collect_metric",
    "collect_graph",
    "collect_train_lineage",
    "collect_eval_lineage",
    "collect_input_data",
    "collect_dataset_graph",
)
_DEFAULTS: dict[str, Any] = {**dict.fromkeys(_SWITCHES, True), "histogram_regular": None, "collect_landscape": None}
_FIRST_PARAMETERS = 5


class SummaryCollector(Callback):
    """Writes the loss, the input images, and the distribution of parameters, for TensorBoard.

    The first step is written, and each that ``collect_freq`` divides. Tags are loss/auto, input_data/auto and the names
    of the optimizer's parameters followed by /auto.

    Args:
        summary_dir: the folder, which is created if missing.
        collect_freq: the number of steps between records.
        num_process: accepted; files are written in this process.
        collect_specified_data: the values to write: ``collect_metric`` (the loss), ``collect_input_data`` (images in
            the first column), each a bool, and ``histogram_regular``, a regular expression for the beginning of
            parameter names; None: the first five. Lineages and graphs, which only MindInsight displays, are accepted
            and not written.
        keep_default_action: whether unlisted values keep their default, or are not written.
        custom_lineage_data: a dictionary of str, int and float, written once as text.
        collect_tensor_freq: accepted for compatibility; it concerns operators that do not exist here.
        max_file_size: the maximum bytes of the file; by default unlimited.
        export_options: as for ``SummaryRecord``.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number below 1, an unknown key, or an invalid regular expression.
        NotImplementedError: ``collect_landscape``.
    """

    def __init__(
        self,
        summary_dir: str,
        collect_freq: int = 10,
        num_process: int = 32,
        collect_specified_data: dict[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: dict[str, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: dict[str, Any] | None = None,
    ) -> None:
        caller = "SummaryCollector"
        self._folder = check_type(summary_dir, str, caller, "summary_dir", show=repr)
        self._frequency = check_positive_int(collect_freq, caller, "collect_freq", show=repr)
        check_int(num_process, caller, "num_process", show=repr)
        for name, number in (("collect_tensor_freq", collect_tensor_freq), ("max_file_size", max_file_size)):
            if number is not None:
                check_positive_int(number, caller, name, show=repr)
        export_format(caller, export_options)
        self._settings: dict[str, Any] = {"max_file_size": max_file_size, "export_options": export_options}
        check_bool(keep_default_action, caller, "keep_default_action", show=repr)
        actions = _check_actions(caller, collect_specified_data)
        self._actions = {**_DEFAULTS, **actions} if keep_default_action else actions
        self._custom = (
            check_type(custom_lineage_data, dict | None, caller, "custom_lineage_data", "a dict or None") or {}
        )
        for key, value in self._custom.items():
            check_type(key, str, caller, "custom_lineage_data", "a dict with names that are str", show=repr)
            check_type(
                value, int | str | float, caller, "custom_lineage_data", "a dict of int, str and float", show=repr
            )
        self._record: SummaryRecord | None = None
        self._first = True

    def __enter__(self) -> SummaryCollector:
        self._record = SummaryRecord(self._folder, **self._settings)
        self._first = True
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._record is not None:
            self._record.close()

    def begin(self, run_context: RunContext) -> None:
        """Record the run's mode in the file.

        Args:
            run_context: the facts of the run.

        Raises:
            RuntimeError: the collector was not entered as a context.
        """
        self._open_record().set_mode(run_context.original_args().mode)

    def step_end(self, run_context: RunContext) -> None:
        """Write the requested values in the first step and in each that the frequency divides.

        Args:
            run_context: the facts of the run.
        """
        facts, record = run_context.original_args(), self._open_record()
        if facts.mode != "train" or not (self._first or facts.cur_step_num % self._frequency == 0):
            return
        if self._first and self._custom:
            record.add_value("custom_lineage_data", "custom_lineage_data", self._custom)
        self._collect(facts, record)
        record.record(facts.cur_step_num)
        if self._first:
            record.flush()
        self._first = False

    def epoch_end(self, run_context: RunContext) -> None:
        """Flush the file, so that TensorBoard sees it.

        Args:
            run_context: the facts of the run.
        """
        self._open_record().flush()

    def _open_record(self) -> SummaryRecord:
        if self._record is None:
            raise RuntimeError("SummaryCollector is a context: Model enters it, else write 'with' before it")
        return self._record

    def _collect(self, facts: Any, record: SummaryRecord) -> None:
        if self._actions.get("collect_metric"):
            outputs = facts.net_outputs
            loss = outputs[0] if isinstance(outputs, tuple | list) else outputs
            values = loss.asnumpy() if isinstance(loss, Tensor) else np.asarray(loss)
            if values.dtype.kind in "biuf" and values.size:
                record.add_value("scalar", "loss/auto", Tensor(np.float32(values.mean())))
        if self._actions.get("collect_input_data"):
            images = facts.train_dataset_element[0]
            if isinstance(images, Tensor) and images.ndim == 4 and images.shape[1] in (1, 3) and images.size:
                record.add_value("image", "input_data/auto", images)
        if "histogram_regular" in self._actions:
            pattern = self._actions["histogram_regular"]
            optimizer = facts.get("optimizer") or getattr(facts.train_network, "optimizer", None)
            parameters = [] if optimizer is None else list(optimizer.parameters)
            if pattern is None:
                parameters = parameters[:_FIRST_PARAMETERS]
            for parameter in parameters:
                if pattern is None or re.match(pattern, parameter.name):
                    record.add_value("histogram", f"{parameter.name}/auto", Tensor(parameter.asnumpy()))


def _check_actions(caller: str, actions: Any) -> dict[str, Any]:
    check_type(actions, dict | None, caller, "collect_specified_data", "a dict or None", show=repr)
    for name, value in (actions or {}).items():
        if name not in _DEFAULTS:
            raise ValueError(
                f"For '{caller}', the keys of 'collect_specified_data' must be of {list(_DEFAULTS)}, but got {name!r}"
            )
        if name in _SWITCHES:
            check_bool(value, caller, name, show=repr)
        elif name == "collect_landscape" and value:
            raise NotImplementedError(
                "SummaryCollector with 'collect_landscape' is not covered by hookscope: only MindInsight shows it"
            )
        elif name == "histogram_regular":
            try:
                re.compile(check_type(value, str | None, caller, name, "a str or None", show=repr) or "")
            except re.error as error:
                raise ValueError(f"For '{caller}', '{name}' is not a regular expression: {value!r}: {error}") from error
    return dict(actions or {})
