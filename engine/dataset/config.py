"""``mindspore.dataset.config``: settings of the data sets, and the source of their random numbers.

The seed and the treatment of rows for which a ``map`` fails have an effect. Settings that tune MindSpore's worker
threads are only stored, since rows are made one by one on request.
"""

from __future__ import annotations

import enum
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import numpy as np

from ..base.argument_checks import check_bool, check_int, check_one_of, check_type
from ..tensors import random as engine_random

_DEFAULT_SEED = 5489  # MindSpore's default seed
_seed: int | None = None
_current: np.random.Generator | None = None
_epoch = 0
_NO_WATCHES: Mapping[Any, Any] = {}
_watches = _NO_WATCHES
# name: MindSpore's name of the argument, the default value, the minimum of an int or the allowed words
_SETTINGS: dict[str, tuple[str, Any, int | tuple[str, ...] | None]] = {
    "auto_num_workers": ("enable", False, None),
    "auto_offload": ("offload", False, None),
    "autotune_interval": ("interval", 0, 0),
    "callback_timeout": ("timeout", 60, 1),
    "debug_mode": ("debug_mode_flag", False, None),
    "dynamic_shape": ("is_dynamic", False, None),
    "enable_autotune": ("enable", False, None),
    "enable_shared_mem": ("enable", True, None),
    "enable_watchdog": ("enable", True, None),
    "fast_recovery": ("fast_recovery", True, None),
    "monitor_sampling_interval": ("interval", 1000, 1),
    "multiprocessing_start_method": ("start_method", "fork", ("fork", "spawn")),
    "multiprocessing_timeout_interval": ("interval", 300, 1),
    "num_parallel_workers": ("num", 8, 1),
    "numa_enable": ("numa_enable", False, None),
    "prefetch_size": ("size", 16, 1),
    "sending_batches": ("batch_num", 0, -(2**31)),
    "video_backend": ("backend", None, ("CPU", "Ascend")),
}
_values: dict[str, Any] = {name: default for name, (_, default, _) in _SETTINGS.items()}
_iterator_mode = {"do_copy": False, "parallel_convert": False}


class ErrorSamplesMode(enum.IntEnum):
    """Treatments of a row for which the operations of a ``map`` raise."""

    RETURN = 0
    """Raise a RuntimeError."""
    REPLACE = 1
    """Drop it, and repeat as many others at the end of the pass."""
    SKIP = 2
    """Drop it."""


_error_samples_mode = ErrorSamplesMode.RETURN


def set_seed(seed: int) -> None:
    """Set the seed of shuffles and random transforms: each pass over a data set starts over from it.

    Args:
        seed: an int from 0 to 2**32 - 1.

    Raises:
        TypeError: not an int.
        ValueError: negative or above 2**32 - 1.
    """
    global _seed
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"For 'config.set_seed', 'seed' must be an int, but got {type(seed).__name__}")
    if not 0 <= seed < 2**32:
        raise ValueError(f"For 'config.set_seed', 'seed' must be from 0 to 2**32 - 1, but got {seed}")
    _seed = seed


def get_seed() -> int:
    """Return the seed of ``set_seed``; 5489, as in MindSpore, if none was set."""
    return _DEFAULT_SEED if _seed is None else _seed


def new_random() -> np.random.Generator:
    """Return a random generator for one iterator, seeded by this module's seed, else the engine's, else the system."""
    seed = _seed if _seed is not None else engine_random.get_seed()
    return np.random.default_rng(int.from_bytes(os.urandom(8), "little") if seed is None else seed)


def current_random() -> np.random.Generator:
    """Return the random generator of the active iterator, for transforms; a new one outside an iterator."""
    return new_random() if _current is None else _current


def current_epoch() -> int:
    """Return the number of the active iterator's pass, from 0; 0 outside an iterator."""
    return _epoch


def current_watches() -> Mapping[Any, Any]:
    """Return the callbacks of the active iterator by the step that calls them; empty outside an iterator."""
    return _watches


@contextmanager
def iteration(generator: np.random.Generator, epoch: int, watches: Mapping[Any, Any] = _NO_WATCHES) -> Iterator[None]:
    """Use ``generator`` for transforms and this epoch for batches inside the block.

    Args:
        generator: random numbers.
        epoch: the number of the iterator's pass.
        watches: the callbacks of its steps; by default none.
    """
    global _current, _epoch, _watches
    before = _current, _epoch, _watches
    _current, _epoch, _watches = generator, epoch, watches
    try:
        yield
    finally:
        _current, _epoch, _watches = before


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode) -> None:
    """Set how a ``map`` treats a row for which its operations raise.

    Args:
        error_samples_mode: one of ``ErrorSamplesMode``.

    Raises:
        TypeError: something else.
    """
    global _error_samples_mode
    _error_samples_mode = check_type(
        error_samples_mode,
        ErrorSamplesMode,
        "config.set_error_samples_mode",
        "error_samples_mode",
        "an ErrorSamplesMode",
        show=repr,
    )


def get_error_samples_mode() -> ErrorSamplesMode:
    """Return how a ``map`` treats a row for which its operations raise."""
    return _error_samples_mode


error_samples_mode = get_error_samples_mode


def set_iterator_mode(do_copy: bool = False, parallel_convert: bool = False) -> None:
    """Store two settings of iterators. They have no effect: returned values always belong to the caller.

    Args:
        do_copy: stored.
        parallel_convert: stored.

    Raises:
        TypeError: not a bool.
    """
    for name, value in (("do_copy", do_copy), ("parallel_convert", parallel_convert)):
        check_bool(value, "config.set_iterator_mode", name, show=repr)
    _iterator_mode.update(do_copy=do_copy, parallel_convert=parallel_convert)


def get_iterator_mode() -> dict[str, bool]:
    """Return the settings stored by ``set_iterator_mode``."""
    return dict(_iterator_mode)


def load(file: str) -> None:
    """Apply the settings of a JSON file, as the ``set_...`` function of each would.

    Args:
        file: its path; it contains an object with the names of settings.

    Raises:
        RuntimeError: the file does not exist, or its content is invalid.
        TypeError: a value of the wrong type.
        ValueError: a value outside its range.
    """
    try:
        settings = json.loads(Path(check_type(file, str, "config.load", "file", show=repr)).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RuntimeError(f"For 'config.load', {file} cannot be read: {error}") from error
    if not isinstance(settings, dict):
        raise RuntimeError(f"For 'config.load', {file} must hold an object with settings, but holds {settings!r}")
    for name, value in settings.items():
        if name not in _IN_FILES:
            raise RuntimeError(f"For 'config.load', {file} has no setting of {sorted(_IN_FILES)}, but {name!r}")
        if (setting := _IN_FILES[name]) is not None:
            getattr(sys.modules[__name__], f"set_{setting}")(value)


# Names of settings in a file; None: settings only for MindSpore's threads and logs.
_IN_FILES = {
    "seed": "seed",
    "numParallelWorkers": "num_parallel_workers",
    "monitorSamplingInterval": "monitor_sampling_interval",
    "opConnectorSize": "prefetch_size",
    "workerConnectorSize": None,
    "logFilePath": None,
}


def _set(setting: str, value: Any) -> None:
    argument, _, allowed = _SETTINGS[setting]
    caller = f"config.set_{setting}"
    if allowed is None:
        check_bool(value, caller, argument, show=repr)
    elif isinstance(allowed, tuple):
        check_one_of(check_type(value, str, caller, argument, show=repr), allowed, caller, argument)
    elif not allowed <= check_int(value, caller, argument, show=repr) < 2**31:
        raise ValueError(f"For '{caller}', '{argument}' must be from {allowed} to 2**31 - 1, but got {value}")
    _values[setting] = value


def _pair(setting: str) -> tuple[Callable[..., None], Callable[[], Any]]:
    """Return the setter and the getter of a setting that is stored without effect."""
    argument, default, allowed = _SETTINGS[setting]
    description = (
        "a bool" if allowed is None else " or ".join(map(repr, allowed)) if isinstance(allowed, tuple) else "an int"
    )

    def set_(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        if arguments.get("debug_hook_list"):
            raise NotImplementedError(
                "config.set_debug_mode with 'debug_hook_list' is not covered by hookscope: "
                "put a function that shows its values among the operations of map"
            )
        caller = f"config.set_{setting}"
        check_type(arguments.get("filepath_prefix"), str | None, caller, "filepath_prefix", "a str or None")
        _set(setting, arguments[argument])

    def get() -> Any:
        return _values[setting]

    parameters = [Parameter(argument, Parameter.POSITIONAL_OR_KEYWORD, default=_DEFAULTS.get(setting, Parameter.empty))]
    more = _MORE.get(setting)
    if more is not None:
        parameters.append(Parameter(more, Parameter.POSITIONAL_OR_KEYWORD, default=None))
    signature = Signature(parameters)
    set_.__name__ = set_.__qualname__ = f"set_{setting}"
    set_.__signature__ = signature  # type: ignore[attr-defined]
    set_.__doc__ = (
        f"Keep a setting, without effect: it tunes MindSpore's worker threads, and rows are made one by one here.\n\n"
        f"Args:\n    {argument}: {description}."
        + (f"\n    {more}: {_MEANS[more]}." if more else "")
        + "\n\nRaises:\n    TypeError: the wrong type.\n    ValueError: a value outside its range."
    )
    get.__name__ = get.__qualname__ = f"get_{setting}"
    get.__doc__ = f"Return the value of ``set_{setting}``; {default!r} without it. It has no effect here."
    return set_, get


_DEFAULTS = {"multiprocessing_start_method": "fork"}
_MORE = {"debug_mode": "debug_hook_list", "enable_autotune": "filepath_prefix"}
_MEANS = {"debug_hook_list": "None; hooks are refused", "filepath_prefix": "a str, where the search would write"}
for _name in _SETTINGS:
    globals()[f"set_{_name}"], globals()[f"get_{_name}"] = _pair(_name)


def __getattr__(name: str) -> Any:
    # The functions of the settings above are set in the module; these declarations are for type checkers.
    raise AttributeError(f"module 'mindspore.dataset.config' has no attribute '{name}'")
