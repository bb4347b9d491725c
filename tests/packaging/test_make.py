"""The Makefile and what it leads to, as far as that can be seen without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYTHONS = ("3.11", "3.12", "3.13")


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # `make test` runs these tests: its own variables must not reach the make that is tested.
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def clone(repository: Path, tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(repository / name, tmp_path / name)
    (tmp_path / "js" / "node_modules").mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(repository / "js" / name, tmp_path / "js" / name)
    return tmp_path


def test_another_python_is_refused_in_one_line(clone: Path) -> None:
    old = clone / "python3.9"
    old.write_text('#!/bin/sh\ncase "$1" in -c) exit 1;; *) echo "Python 3.9.2";; esac\n')
    old.chmod(0o755)
    result = make(clone, "demo", f"PYTHON={old}")
    assert result.returncode != 0
    assert result.stdout.splitlines() == [
        f"Hookscope needs Python 3.11, 3.12 or 3.13; '{old}' is Python 3.9.2. Name another one: make PYTHON=python3.12"
    ]
    assert not (clone / ".venv").exists()


def test_the_second_time_nothing_is_installed(clone: Path) -> None:
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    for stamp in (".lab", ".dev"):
        (clone / ".venv" / stamp).touch()
    (clone / "js" / "node_modules" / ".installed").touch()
    for target in ("demo", "lab", "test", "lint"):
        result = make(clone, "--dry-run", target)
        assert result.returncode == 0, result.stderr
        assert "pip" not in result.stdout and "npm" not in result.stdout


def test_a_changed_lock_is_installed_again(clone: Path) -> None:
    test_the_second_time_nothing_is_installed(clone)
    (clone / "requirements.lock").touch()
    assert "pip install" in make(clone, "--dry-run", "demo").stdout


def locked(repository: Path) -> list[Requirement]:
    lines = (repository / "requirements.lock").read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_pins_every_dependency_once(python: str, repository: Path) -> None:
    environment = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": "linux"}
    pins = [
        canonicalize_name(pin.name)
        for pin in locked(repository)
        if pin.marker is None or pin.marker.evaluate(environment)
    ]
    assert len(pins) == len(set(pins))
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    wanted = chain(project["dependencies"], *project["optional-dependencies"].values())
    names = {canonicalize_name(Requirement(text).name) for text in wanted} - {"hookscope"}
    assert names - set(pins) == set()


def test_the_lock_pins_exactly_and_names_no_place(repository: Path) -> None:
    assert all(re.fullmatch(r"==[^=*]+", str(pin.specifier)) and not pin.url for pin in locked(repository))
    assert "://" not in (repository / "requirements.lock").read_text()


def test_the_base_installation_is_small(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    names = {Requirement(text).name for text in project["dependencies"]}
    assert names == {
        "anywidget", "ipykernel", "ipywidgets", "ml_dtypes", "numba", "numpy", "protobuf", "safetensors", "tabulate",
    }  # fmt: skip
