"""An interrupt waits for what must not be half done, and then comes as ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hookscope.engine.cpu.interrupts import uninterrupted


def test_it_comes_when_the_block_is_over() -> None:
    ends = []

    def work() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            ends.append("whole")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert ends == ["whole"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_one_nothing_changes_and_an_error_comes_out() -> None:
    with pytest.raises(ValueError, match="own"), uninterrupted():
        raise ValueError("own")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_another_thread_the_block_just_runs() -> None:
    ends = []

    def work() -> None:
        with uninterrupted():
            ends.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ends == [True]


SCRIPT = """
import pathlib, signal, sys
import numpy as np
from hookscope.engine.cpu import compiling
from hookscope.engine.debug.record.statistics import statistics

compiling.BUILT = pathlib.Path("nowhere")  # as where nothing was compiled when the environment was made

class Once:  # as soon as Numba's import is under way
    def find_spec(self, name, path=None, target=None):
        if name.startswith("numba.core"):
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Once())
try:
    statistics(np.ones(3))
except KeyboardInterrupt:
    print("interrupted")
print(statistics(np.ones(3)).mean)
"""


def test_figures_can_be_computed_after_an_interrupt_of_the_first_ones(tmp_path: Path) -> None:
    variables = {**os.environ, "HOOKSCOPE_NUMBA": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    process = subprocess.run([sys.executable, "-c", SCRIPT], env=variables, capture_output=True, text=True, timeout=240)
    assert process.stdout.splitlines() == ["interrupted", "1.0"], process.stderr
