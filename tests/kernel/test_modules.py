"""The modules of MindSpore 2.10 and what each offers are here, or there is a reason: by the record of the real one."""

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
    done = subprocess.run([sys.executable, "-c", INSTALL + code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def modules(repository: Path) -> ModuleType:
    """scripts/modules.py, which compares."""
    spec = importlib.util.spec_from_file_location("hookscope_modules", repository / "scripts" / "modules.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_mindspore_offers_is_here_or_there_is_a_reason_and_no_reason_is_left_over(repository: Path) -> None:
    script = [sys.executable, str(repository / "scripts" / "modules.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, cwd=repository, timeout=100, check=False)
    assert done.returncode == 0, f"tests/kernel/module_reasons.txt:\n{done.stderr}"


def test_the_comparison_finds_what_has_no_reason_and_what_needs_none(modules: ModuleType) -> None:
    found = [
        modules.Difference("mindspore.ops", "Fog", None),
        modules.Difference("mindspore.ops.operations", "FogGrad", None),
        modules.Difference("mindspore.opsimath", "Fog", None),
        modules.Difference("mindspore.ops", "Mist", "open a window"),
        modules.Difference("mindspore.haze", modules.WHOLE, None),
    ]
    rows = [
        modules.Reason("weather", "mindspore.ops", "Fog*"),
        modules.Reason("weather", "mindspore.ops", "Mist"),
        modules.Reason("weather", "mindspore.haze", modules.WHOLE),
        modules.Reason("weather", "mindspore.nn", "*"),
    ]
    assert modules.checked(found, rows) == [
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
        "and what runs can be watched by hooks\n"
        "mindspore.dataset.audio is not covered by hookscope: compute with SciPy in a function that you give to map\n"
        "mindspore.nn.probability.bnn_layers is not covered by hookscope: draw the weights in construct, with "
        "mindspore.nn.probability.distribution\n"
    )
