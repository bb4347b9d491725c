"""The modules and names of MindSpore 2.10 are here, or there is a reason: by the record of the real one."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

INSTALL = "from hookscope.kernel import install_as_mindspore; install_as_mindspore()\n"


def python(code: str) -> str:
    """Run code in a new Python where the alias is installed, and return what it printed."""
    process = subprocess.run([sys.executable, "-c", INSTALL + code], capture_output=True, text=True, timeout=240)
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def modules(repository: Path) -> ModuleType:
    """Return scripts/modules.py, which compares."""
    spec = importlib.util.spec_from_file_location("hookscope_modules", repository / "scripts" / "modules.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_mindspore_offers_is_here_or_there_is_a_reason_and_no_reason_is_left_over(repository: Path) -> None:
    script = [sys.executable, str(repository / "scripts" / "modules.py"), "--check"]
    process = subprocess.run(script, capture_output=True, text=True, cwd=repository, timeout=240, check=False)
    assert process.returncode == 0, f"tests/kernel/module_reasons.txt:\n{process.stderr}"


def test_the_comparison_finds_what_has_no_reason_and_what_needs_none(modules: ModuleType) -> None:
    results = [
        modules.Difference("mindspore.ops", "Fog", None),
        modules.Difference("mindspore.ops.operations", "FogGrad", None),
        modules.Difference("mindspore.opsimath", "Fog", None),
        modules.Difference("mindspore.ops", "Mist", "open a window"),
        modules.Difference("mindspore.haze", modules.WHOLE_MODULE, None),
    ]
    rows = [
        modules.Reason("weather", "mindspore.ops", "Fog*"),
        modules.Reason("weather", "mindspore.ops", "Mist"),
        modules.Reason("weather", "mindspore.haze", modules.WHOLE_MODULE),
        modules.Reason("weather", "mindspore.nn", "*"),
    ]
    assert modules.checked(results, rows) == [
        "no reason: mindspore.opsimath Fog",
        "not needed: mindspore.ops Mist (weather)",
        "not needed: mindspore.nn * (weather)",
    ]


def test_a_module_that_cannot_be_here_says_in_one_line_what_to_use_instead() -> None:
    code = """
for name in ("mindrecord", "rewrite", "dataset.audio.transforms", "nn.probability.bnn_layers"):
    try: __import__("mindspore." + name)
    except ModuleNotFoundError as error: print(error)
"""
    assert python(code) == (
        "mindspore.mindrecord is not covered by hookscope: read the files with NumPy and hand them to "
        "mindspore.dataset.GeneratorDataset\n"
        "mindspore.rewrite is not covered by hookscope: change the network itself: a member of a cell can be replaced, "
        "and hooks can observe a run\n"
        "mindspore.dataset.audio is not covered by hookscope: compute with SciPy in a function that you give to map\n"
        "mindspore.nn.probability.bnn_layers is not covered by hookscope: draw the weights in construct, with "
        "mindspore.nn.probability.distribution\n"
    )


# In a new process of MindSpore 2.10: the results of `from parent import name` and then `import parent.name as x`; and
# in another one of the two in reverse order.
BOTH_ORDERS = """
common.lazy_inline: object module, module module
common.mutable: object module, module module
common.no_inline: object module, module module
common.recompute: object object, object object
common.seed: object object, object object
common.tensor: object object, object object
common.initializer: module module, module module
nn.optim.thor: object object, object object
ops.function.grad: object object, object object
ops.op_info_register: object object, object object
ops.operations: module module, module module
parallel.parameter_broadcast: object object, object object
parallel.shard: object object, object object
run_check: object object, object object
tools.stress_detect: object object, object object
train.data_sink: object object, object object
train.metrics.auc: object object, object object
train.serialization: module module, module module
utils.stress_detect: object object, object object
utils.runtime_execution_order_check: object object, object object
nn.metrics: module module, module module
nn.loss.loss: module module, module module
graph.mutable: module module, module module
common.dynamic_shape.enable_dynamic: module module, module module
ops.function.grad.grad_func: module none, none module
run_check.run_check: object none, none object
communication.comm_func: module module, module module
"""
IN_ORDER = """
import os, types
def told(line):
    names = {}
    try: exec(line, names)
    except (ImportError, AttributeError): return "none"
    return "module" if isinstance(names["x"], types.ModuleType) else "object"
import mindspore
for name in NAMES:
    parent, _, leaf = f"mindspore.{name}".rpartition(".")
    lines = [f"from {parent} import {leaf} as x", f"import {parent}.{leaf} as x"]
    found = []
    for order in (lines, lines[::-1]):  # each in a process where nothing below mindspore was imported by name
        end, other = os.pipe()
        if not os.fork():
            os.write(other, " ".join(map(told, order)).encode())
            os._exit(0)
        os.close(other)
        os.wait()
        found.append(os.read(end, 100).decode())
    print(f"{name}: {found[0]}, {found[1]}")
"""


def test_a_name_that_is_a_module_and_a_function_too_is_what_pythons_import_gives_in_mindspore() -> None:
    names = [line.partition(":")[0] for line in BOTH_ORDERS.split("\n") if line]
    assert "\n" + python(f"NAMES = {names}\n" + IN_ORDER) == BOTH_ORDERS


def test_a_name_that_is_both_works_as_either() -> None:
    code = """
from mindspore.common import initializer, mutable
import mindspore.common.mutable as file
import mindspore.common.initializer as init
assert callable(mutable) and mutable((1, 2)) == (1, 2) and file.mutable is mutable
assert init is initializer and init.initializer("ones", (2,)).shape == (2,)
assert init._calculate_fan_in_and_fan_out((2, 3)) == (3, 2)
"""
    python(code)


def test_the_source_of_each_module_can_be_read() -> None:
    code = """
import inspect, pathlib
from importlib import import_module
from hookscope.kernel.alias import TABLE
for row in TABLE:
    module = import_module(f"mindspore.{row}".rstrip("."))
    assert inspect.getsource(module) == pathlib.Path(module.__file__).read_text(encoding="utf-8"), row
import mindspore
assert inspect.getsource(mindspore.nn.Cell).startswith("class Cell")
assert "def mutable" in inspect.getsource(import_module("mindspore.common.mutable"))
"""
    python(code)
