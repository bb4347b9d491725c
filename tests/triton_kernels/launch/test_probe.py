"""The probe tells what runs here and why, and looking costs no import until it is asked."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hookscope.triton_kernels as package
from hookscope.triton_kernels.launch import probe
from tests import strict_device

ROOT = Path(__file__).parents[3]
SOURCES = sorted(Path(package.__file__).parent.rglob("*.py"))
HAS_TRITON = importlib.util.find_spec("triton") is not None
needs_triton = pytest.mark.skipif(not HAS_TRITON, reason="Triton is published for Linux only")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.delenv("HOOKSCOPE_TRITON", raising=False)


def cupy(**options: Any) -> Any:
    return strict_device.make(**options)["cupy"]


def look() -> probe.Probe:
    """Return the probe without its memory of an earlier look."""
    return probe.probe.__wrapped__()


def in_a_process(code: str) -> str:
    """Run `code` in a process of its own, since it imports Triton; what it prints."""
    preamble = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.strict_device import make\n"
    command = [sys.executable, "-c", preamble + code]
    process = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


def test_without_cupy_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)  # Python's way to say that an import fails
    assert look() == probe.Probe("none", "cupy is not installed", {})


def test_a_cupy_that_cannot_be_imported_tells_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cupy.py").write_text("raise OSError('libcudart.so.13 not found')")
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert look() == probe.Probe("none", "cupy cannot be imported: OSError: libcudart.so.13 not found", {})


def test_without_a_gpu_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy(available=False))
    assert look() == probe.Probe("none", "CuPy finds no CUDA device", {"cupy": "14.2.0"})


def test_an_old_cupy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    module = cupy()
    monkeypatch.setattr(module, "__version__", "13.6.0")
    monkeypatch.setitem(sys.modules, "cupy", module)
    assert look() == probe.Probe("none", "CuPy 13.6.0 has no bfloat16; 14 or newer is needed", {"cupy": "13.6.0"})


def test_triton_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy())
    monkeypatch.setenv("HOOKSCOPE_TRITON", "0")
    assert look() == probe.Probe("cupy", "HOOKSCOPE_TRITON=0", {"cupy": "14.2.0"})


def test_an_old_gpu_keeps_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy(capability=(7, 5)))
    answer = look()
    assert answer.mode == "cupy"
    assert answer.reason == "the GPU has compute capability 7.5, and the kernels need 8.0"


def test_without_triton_a_gpu_keeps_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy())
    monkeypatch.setitem(sys.modules, "triton", None)
    assert look() == probe.Probe("cupy", "triton is not installed", {"cupy": "14.2.0"})


@needs_triton
def test_a_failed_self_test_tells_its_error() -> None:
    assert (
        in_a_process("""
sys.modules.update(make())
from hookscope.triton_kernels import probe
from hookscope.triton_kernels.launch import drivers
def no_compiler(cupy): raise RuntimeError("no C compiler")
drivers.make_cupy_driver = no_compiler
print(probe().mode, "|", probe().reason)
""")
        == "cupy | Triton's self-test failed: RuntimeError: no C compiler"
    )


@needs_triton
@pytest.mark.parametrize(
    ("computed", "answer"),
    [("x + y", "triton | the self-test passed"), ("x", "cupy | Triton's self-test gave a wrong result")],
)
def test_the_self_test_looks_at_the_result(computed: str, answer: str) -> None:
    # The plan is replaced by what `computed` says: there is no GPU to launch on.
    assert (
        in_a_process(f"""
sys.modules.update(make())
from hookscope.triton_kernels import probe
from hookscope.triton_kernels.launch import drivers, plans
drivers.make_cupy_driver = lambda cupy: drivers.CompileOnlyDriver(90)
plans.plan_for = lambda name, kernel, inputs, attrs: lambda x, y: {computed}
print(probe().mode, "|", probe().reason)
""")
        == answer
    )


@needs_triton
def test_the_interpreter_is_told() -> None:
    assert (
        in_a_process("""
import os
os.environ["TRITON_INTERPRET"] = "1"
from hookscope.triton_kernels import probe
print(probe().mode, probe().reason, *probe().versions)
""")
        == "interpreter TRITON_INTERPRET=1 triton"
    )


def test_the_probe_looks_once() -> None:
    assert (
        in_a_process("""
from hookscope.triton_kernels import probe
print(probe() is probe())
""")
        == "True"
    )


def test_importing_the_package_imports_neither_triton_nor_cupy() -> None:
    assert (
        in_a_process("""
import hookscope.triton_kernels
print([name for name in ("triton", "cupy") if name in sys.modules])
""")
        == "[]"
    )


@needs_triton
def test_triton_and_its_kernels_bring_no_pytorch() -> None:
    assert (
        in_a_process("""
from hookscope.triton_kernels import kernels
from hookscope.triton_kernels.launch import drivers
kernels()
drivers.keep_torch_out()
print("torch" in sys.modules)
""")
        == "False"
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_package_imports_nothing_of_the_engine(path: Path) -> None:
    own = ("hookscope.triton_kernels",)
    allowed = {"triton", "numpy", "cupy", "ml_dtypes", "hookscope", *sys.stdlib_module_names}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            names = [node.module or ""]
        else:
            continue
        for name in names:
            assert name.partition(".")[0] in allowed, name
            assert not name.startswith("hookscope") or name.startswith(own), name
