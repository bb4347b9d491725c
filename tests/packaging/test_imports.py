"""`import hookscope` is cheap, and packages import one another only along the layers of docs/design/index.md."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

HEAVY = ("triton", "cupy", "numba", "IPython", "ipywidgets", "anywidget", "ipykernel")
LOADED = f"import sys; print([name for name in {HEAVY!r} if name in sys.modules])"


@pytest.mark.parametrize("module", ["hookscope", "hookscope.engine", "hookscope.engine.debug"])
def test_importing_brings_no_heavy_library_with_it(module: str, run_python: Run) -> None:
    assert run_python(f"import {module}; {LOADED}").stdout.strip() == "[]"


def test_the_test_above_would_notice(run_python: Run) -> None:
    assert run_python(f"import hookscope, ipywidgets; {LOADED}").stdout.strip() != "[]"


def test_importing_starts_no_thread_and_leaves_import_hooks_alone(run_python: Run) -> None:
    code = "import sys, threading; before = list(sys.meta_path); import hookscope"
    state = "print(threading.active_count(), sys.meta_path == before)"
    assert run_python(f"{code}; {state}").stdout.split() == ["1", "True"]
    state = "print(threading.active_count(), *(type(f).__module__ for f in sys.meta_path if f not in before))"
    engine = "import hookscope.engine, hookscope.engine.debug"
    assert run_python(f"{code}; {engine}; {state}").stdout.split() == ["1", "hookscope.engine.base.old_names"]


def lint_imports(repository: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).parent / "lint-imports"
    return subprocess.run(
        [str(command), "--no-cache", "--config", str(repository / "pyproject.toml"), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def layered_modules(repository: Path) -> set[str]:
    """The modules that the contracts of layers name, without the package: ``engine.nn``."""
    settings = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return {
        f"{container}.{name}".removeprefix("hookscope.")
        for contract in settings["contracts"]
        for container in contract.get("containers", ())
        for layer in contract["layers"]
        for name in re.findall(r"\w+", layer)
    }


def write_tree(repository: Path, folder: Path, module: str = "", imported: str = "") -> None:
    """Write a package of empty files in the same shape, with one import in one of its modules."""
    modules = {
        *("widgets.panel", "triton_kernels.matmul", "engine.tensors.tensor", "engine.tensors.dtype"),
        *("engine.debug.session", "engine.cpu.adam"),
        *layered_modules(repository),
    }
    packages = {"", "kernel", *(name.rpartition(".")[0] for name in modules)}
    for name in sorted(modules | packages):
        path = folder / "hookscope" / name.replace(".", "/")
        path = path / "__init__.py" if name in packages else path.with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = ["from hookscope.engine.tensors import tensor, dtype"] if name == "engine" else []
        lines += [f"import {imported}"] if imported and name == module else []
        path.write_text("\n".join(lines))


def test_every_import_follows_the_arrows(repository: Path) -> None:
    result = lint_imports(repository, repository)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("widgets.panel", "hookscope.kernel"),
        ("engine.tensors.tensor", "hookscope.widgets"),
        ("engine.tensors.tensor", "hookscope.engine.debug"),
        ("engine.cpu.adam", "hookscope.engine.tensors.tensor"),
        ("engine.tensors.tensor", "hookscope.engine.ops"),
        ("engine.ops", "hookscope.engine.nn"),
        ("engine.nn", "hookscope.engine.mindspore.mint"),
        ("engine.mindspore.mint", "hookscope.engine.mindspore.numpy"),
        ("engine.tensors.tensor", "IPython"),
        ("triton_kernels.matmul", "hookscope.engine.tensors.dtype"),
    ],
)
def test_an_import_against_the_arrows_is_found(module: str, imported: str, repository: Path, tmp_path: Path) -> None:
    write_tree(repository, tmp_path, module, imported)
    result = lint_imports(repository, tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    assert re.search(r"\b[1-9]\d* broken", result.stdout), result.stdout


def test_nothing_is_found_in_such_a_package_without_the_import(repository: Path, tmp_path: Path) -> None:
    write_tree(repository, tmp_path)
    result = lint_imports(repository, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
