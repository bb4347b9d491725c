"""``mindspore.train.summary``: numbers, images and histograms of a training, in event files for TensorBoard."""

from __future__ import annotations

import contextlib
import platform
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..base.argument_checks import check_bool, check_int, check_one_of, check_type
from ..base.types import Array
from ..ops.legacy.side_effects import receivers
from ..tensors.tensor import Tensor
from . import _events

__all__ = ["SummaryRecord"]

_KINDS = ("tensor", "scalar", "image", "histogram")
_MINDINSIGHTS = ("train_lineage", "eval_lineage", "dataset_graph", "graph", "landscape")


class SummaryRecord:
    """An event file for TensorBoard: values are added, and written when their step is recorded.

    Only one is open at a time; it is closed as a context or by ``close``.

    Args:
        log_dir: the folder, which is created if missing.
        file_prefix: the prefix of the file's name.
        file_suffix: the suffix of the file's name.
        num_process: accepted; files are written in this process.
        network: accepted for compatibility; no graph is written.
        max_file_size: the maximum bytes of a file; further values are dropped with a warning. By default unlimited.
        raise_exception: raise the error of a file that cannot be written; otherwise warn.
        export_options: ``{"tensor_format": "npy"}`` also writes each tensor into a file ``export_.../tensor/*.npy``.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: an unknown option, or a name with characters other than letters, digits, dots, dashes and
            underscores.
        RuntimeError: one is open, or the folder cannot be made.
    """

    _open: ClassVar[SummaryRecord | None] = None

    def __init__(
        self,
        log_dir: str,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: object = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: dict[str, Any] | None = None,
    ) -> None:
        caller = "SummaryRecord"
        if SummaryRecord._open is not None:
            raise RuntimeError(f"For '{caller}', one is open at {SummaryRecord._open.log_dir}: close it first")
        folder = Path(check_type(log_dir, str, caller, "log_dir", show=repr))
        for name, value in (("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            check_type(value, str, caller, name, show=repr)
            if not re.fullmatch(r"[\w.-]*", value, re.ASCII):
                raise ValueError(
                    f"For '{caller}', '{name}' must be of letters, digits, dots, dashes and underscores, but got "
                    f"{value!r}"
                )
        if max_file_size is not None:
            check_int(max_file_size, caller, "max_file_size", show=repr)
        self._most = max_file_size if max_file_size is not None and max_file_size > 0 else None
        self._raises = check_bool(raise_exception, caller, "raise_exception", show=repr)
        self._exports = export_format(caller, export_options) == "npy"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"For '{caller}', 'log_dir' cannot be made: {error}") from error
        seconds = int(time.time())
        path = folder / f"{file_prefix}.out.tfevents.{seconds}.{platform.node()}{file_suffix}"
        for number in range(1, 1000):  # another file within the same second
            if not path.exists():
                break
            path = path.with_name(f"{file_prefix}.out.tfevents.{seconds}.{number}.{platform.node()}{file_suffix}")
        self._path, self._export = path.absolute(), path.parent / f"export_{seconds}" / "tensor"
        self._mode, self._values = "train", dict[tuple[str, str], Any]()
        self._full = False
        self._file = self._path.open("xb")
        SummaryRecord._open = self
        receivers.append(self._receive)
        self._write(_events.first_event(time.time()))

    def __enter__(self) -> SummaryRecord:
        if self._file.closed:
            raise ValueError("For 'SummaryRecord', this one has been closed; make a new one")
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def log_dir(self) -> str:
        """The path of the file."""
        return str(self._path)

    def set_mode(self, mode: str) -> None:
        """Set whether training or evaluation runs: in evaluation operators such as ``ops.ScalarSummary`` add nothing.

        Args:
            mode: "train" or "eval".

        Raises:
            ValueError: an unknown word.
        """
        self._mode = check_one_of(mode, ("train", "eval"), "SummaryRecord.set_mode", "mode")

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Add a value to the next step that is recorded; the last one of each name and kind counts.

        Args:
            plugin: "scalar", a tensor with one element; "image", a tensor (N, C, H, W) with 1 or 3 channels;
                "histogram" or "tensor", any tensor; or "custom_lineage_data", a dictionary, which is written as text.
            name: the tag in TensorBoard.
            value: the value.

        Raises:
            ValueError: an unknown kind, no name, or a tensor that does not match the kind.
            TypeError: not a tensor.
            NotImplementedError: a kind that only MindInsight displays.
        """
        caller = "SummaryRecord.add_value"
        if plugin in _MINDINSIGHTS:
            raise NotImplementedError(
                f"{caller} of '{plugin}' is not covered by hookscope: TensorBoard does not show it"
            )
        if plugin not in (*_KINDS, "custom_lineage_data"):
            kinds = ", ".join(_KINDS)
            raise ValueError(
                f"For '{caller}', 'plugin' must be one of {kinds}, custom_lineage_data, but got {plugin!r}"
            )
        if not name or not isinstance(name, str):
            raise ValueError(f"For '{caller}', 'name' must be a str that is not empty, but got {name!r}")
        if plugin == "custom_lineage_data":
            lines = "\n\n".join(f"{key}: {entry}" for key, entry in check_type(value, dict, caller, "value").items())
            self._values["text", name] = lines
            return
        array = check_type(value, Tensor, caller, "value", "a tensor").asnumpy()
        _check(caller, plugin, name, array)
        self._values[plugin, name] = np.array(array)  # a copy, so that later changes do not affect it

    def _receive(self, plugin: str, name: str, value: Tensor) -> None:
        """Record the value of an operator such as ``ops.ScalarSummary``, except during evaluation."""
        if self._mode == "train":
            self.add_value(plugin, name, value)

    def record(
        self, step: int, train_network: object = None, plugin_filter: Callable[[str], bool] | None = None
    ) -> bool:
        """Write the added values.

        Args:
            step: the number of the step.
            train_network: accepted for compatibility; no graph is written.
            plugin_filter: a function of a kind that decides whether its values are written; by default all are.

        Returns:
            whether the file was open.

        Raises:
            TypeError: not an int, or not a function.
        """
        check_int(step, "SummaryRecord.record", "step", show=repr)
        if plugin_filter is not None and not callable(plugin_filter):
            raise TypeError(
                f"For 'SummaryRecord.record', 'plugin_filter' must be a function or None, but got {plugin_filter!r}"
            )
        if self._file.closed:
            warnings.warn("SummaryRecord: it has been closed, and nothing is recorded", RuntimeWarning, stacklevel=2)
            return False
        waiting, self._values = self._values, {}
        values = [
            (kind, tag, value)
            for (kind, tag), value in waiting.items()
            if plugin_filter is None or plugin_filter("custom_lineage_data" if kind == "text" else kind)
        ]
        if values:
            self._write(_events.event(time.time(), step, values))
        for kind, tag, value in values if self._exports else []:
            if kind == "tensor":
                self._export.mkdir(parents=True, exist_ok=True)
                name = re.sub(r"[^\w.-]", "_", tag)
                np.save(self._export / f"{name}_{step}.npy", value, allow_pickle=False)
        return True

    def _write(self, data: bytes) -> None:
        record = _events.frame(data)
        if self._full or (self._most is not None and self._file.tell() + len(record) > self._most):
            if not self._full:
                self._full = True
                warnings.warn(
                    f"SummaryRecord: {self._path} has reached 'max_file_size', {self._most} bytes; "
                    "nothing more is written",
                    RuntimeWarning,
                    stacklevel=3,
                )
            return
        self._try(lambda: self._file.write(record))

    def _try(self, action: Callable[[], object]) -> None:
        try:
            action()
        except OSError as error:
            if self._raises:
                raise
            warnings.warn(f"SummaryRecord: {self._path} cannot be written: {error}", RuntimeWarning, stacklevel=4)

    def flush(self) -> None:
        """Flush the records to the system, so that TensorBoard sees them."""
        if not self._file.closed:
            self._try(self._file.flush)

    def close(self) -> None:
        """Finish the file; added values that were not recorded are lost."""
        if SummaryRecord._open is self:
            SummaryRecord._open = None
            receivers.clear()
        if not self._file.closed:
            self._try(self._file.close)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # of a record whose constructor failed
            self.close()


def _check(caller: str, plugin: str, name: str, array: Array) -> None:
    if not array.size:
        raise ValueError(f"For '{caller}', the tensor '{name}' must have elements, but its shape is {array.shape}")
    if plugin == "scalar" and array.size != 1:
        raise ValueError(f"For '{caller}', the scalar '{name}' must have one element, but its shape is {array.shape}")
    if plugin == "image" and (array.ndim != 4 or array.shape[1] not in (1, 3)):
        raise ValueError(
            f"For '{caller}', the image '{name}' must be (N, C, H, W) with 1 or 3 channels, but got {array.shape}"
        )


def export_format(caller: str, options: Any) -> str | None:
    """Return the format of exported tensors.

    Raises:
        TypeError: not a dictionary.
        ValueError: an unknown option or format.
    """
    check_type(options, dict | None, caller, "export_options", "a dict or None", show=repr)
    for name, value in (options or {}).items():
        if name != "tensor_format" or value not in ("npy", None):
            raise ValueError(
                f"For '{caller}', 'export_options' must be {{'tensor_format': 'npy'}}, but got {options!r}"
            )
    return (options or {}).get("tensor_format")
