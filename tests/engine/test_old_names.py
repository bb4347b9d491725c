"""Names that modules had before the packages were divided by subject can be imported, and are the same modules."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib import import_module

import pytest

import hookscope.engine  # noqa: F401  (it resolves the old names)
from hookscope.engine.base.old_names import _NAMES

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize("old", sorted(_NAMES))
def test_an_old_name_is_the_module_of_the_new_one(old: str) -> None:
    module = import_module(old)
    assert module is import_module(_NAMES[old]) and module.__name__ == _NAMES[old]


def test_documented_names_work_in_a_fresh_process(run_python: Run) -> None:
    code = (
        "from hookscope.engine.core import taps, progress\n"
        "import hookscope.engine.core.operator as operator\n"
        "from hookscope.engine.core.tensor import Tensor\n"
        "from hookscope.engine.serialization import load_checkpoint\n"
        "from hookscope.engine.debug.across_ranks import RankRecorder\n"
        "from hookscope.engine.debug.pausing.pause import DebugAbort\n"
        "import hookscope.engine as ms, hookscope.engine.debug as debug\n"
        "print(Tensor is ms.Tensor, load_checkpoint is ms.load_checkpoint, DebugAbort is debug.DebugAbort)\n"
        "print(taps.__name__, progress.__spec__.name, operator.__name__)"
    )
    assert run_python(code).stdout.splitlines() == [
        "True True True",
        "hookscope.engine.tape.taps hookscope.engine.tape.progress hookscope.engine.tensors.operator",
    ]


def test_an_unknown_name_below_the_engine_is_an_import_error(run_python: Run) -> None:
    code = "try: import hookscope.engine.core.nope\nexcept ModuleNotFoundError as error: print(error)"
    assert "No module named 'hookscope.engine.core.nope'" in run_python(code).stdout
