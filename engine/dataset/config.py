"""``mindspore.dataset.config``: settings of the data sets, and where their random numbers come from.

The seed counts; settings that tune MindSpore's worker threads are kept and readable, since rows are made here one by
one when they are asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core import random as engine_random

_DEFAULT_SEED = 5489  # what MindSpore gives where nobody set one
_seed: int | None = None
_current: np.random.Generator | None = None
_epoch = 0
_SETTINGS: dict[str, Any] = {
    "auto_num_workers": False, "auto_offload": False, "autotune_interval": 0, "callback_timeout": 60,
    "debug_mode": False, "dynamic_shape": False, "enable_autotune": False, "enable_shared_mem": False,
    "enable_watchdog": True, "error_samples_mode": None, "fast_recovery": True,
    "iterator_mode": {"do_copy": False, "parallel_convert": False}, "monitor_sampling_interval": 1000,
    "multiprocessing_start_method": "fork", "multiprocessing_timeout_interval": 300, "num_parallel_workers": 8,
    "numa_enable": False, "prefetch_size": 16, "sending_batches": 0, "video_backend": None,
}  # fmt: skip
_kept: dict[str, Any] = dict(_SETTINGS)


def set_seed(seed: int) -> None:
    """Set the seed of shuffles and random transforms: each pass over a data set starts over from it.

    Args:
        seed: an int from 0 to 2**32 - 1.

    Raises:
        TypeError: no int.
        ValueError: negative or above 2**32 - 1.
    """
    global _seed
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"For 'config.set_seed', 'seed' must be an int, but got {type(seed).__name__}")
    if not 0 <= seed < 2**32:
        raise ValueError(f"For 'config.set_seed', 'seed' must be from 0 to 2**32 - 1, but got {seed}")
    _seed = seed


def get_seed() -> int:
    """The seed of ``set_seed``; 5489, as in MindSpore, where nobody set one."""
    return _DEFAULT_SEED if _seed is None else _seed


def new_random() -> np.random.Generator:
    """Random numbers for one iterator: from this module's seed, else from the engine's, else from the system."""
    chosen = _seed if _seed is not None else engine_random.get_seed()
    return np.random.default_rng(int.from_bytes(os.urandom(8), "little") if chosen is None else chosen)


def current_random() -> np.random.Generator:
    """The random numbers of the iterator that is at work, for transforms; new ones outside."""
    return new_random() if _current is None else _current


def current_epoch() -> int:
    """The epoch of the iterator that is at work, from 0; 0 outside."""
    return _epoch


@contextmanager
def using(generator: np.random.Generator, epoch: int) -> Iterator[None]:
    """Inside the block transforms draw from ``generator``, and it is this epoch.

    Args:
        generator: random numbers.
        epoch: its number, from 0.
    """
    global _current, _epoch
    before, (_current, _epoch) = (_current, _epoch), (generator, epoch)
    try:
        yield
    finally:
        _current, _epoch = before


def __getattr__(name: str) -> Any:
    """set_... and get_... of the settings that are kept."""
    action, _, setting = name.partition("_")
    if setting not in _SETTINGS or action not in ("set", "get"):
        raise AttributeError(f"module 'mindspore.dataset.config' has no attribute '{name}'")
    if action == "get":
        return lambda: _kept[setting]

    def keep(*values: Any, **more: Any) -> None:
        _kept[setting] = values[0] if len(values) == 1 and not more else {**dict(enumerate(values)), **more}

    return keep
