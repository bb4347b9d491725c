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


def test_no_import_of_an_old_name_changes_an_attribute(run_python: Run) -> None:
    """``import hookscope.engine.ops.shape`` must leave the function ``ops.shape``."""
    code = (
        "import sys\nfrom importlib import import_module\nimport hookscope.engine, hookscope.engine.debug\n"
        "from hookscope.engine.base.old_names import _NAMES\n"
        "for new in _NAMES.values(): import_module(new)\n"
        "before = {name: dict(vars(module)) for name, module in sys.modules.items() if name.startswith('hookscope')}\n"
        "for old in _NAMES: import_module(old)\n"
        "print([f'{name}.{attribute}' for name, attributes in before.items() for attribute, value in attributes.items()"
        " if getattr(sys.modules[name], attribute) is not value])\n"
        "import hookscope.engine.ops.shape\n"
        "from hookscope.engine.ops.shape import reshape\n"
        "print(hookscope.engine.ops.shape.__name__, reshape is hookscope.engine.ops.reshape)"
    )
    assert run_python(code).stdout.splitlines() == ["[]", "shape True"]


def test_what_is_below_a_package_with_an_old_name_is_not_loaded_again(run_python: Run) -> None:
    code = (
        "import hookscope.engine.communication.in_place as in_place, hookscope.engine as ms\n"
        "print(in_place.__name__, in_place.P2POp is ms.ops.P2POp, ms.communication.in_place is in_place)"
    )
    assert run_python(code).stdout == "hookscope.engine.mindspore.communication.in_place True True\n"


def test_an_unknown_name_below_the_engine_is_an_import_error(run_python: Run) -> None:
    code = "try: import hookscope.engine.core.nope\nexcept ModuleNotFoundError as error: print(error)"
    assert "No module named 'hookscope.engine.core.nope'" in run_python(code).stdout
