"""The Makefile and what it leads to, as far as that can be seen without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYTHONS = ("3.11", "3.12", "3.13")


def make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    # `make test` runs these tests: its own variables must not reach the make that is tested.
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment |= variables
    return subprocess.run(
        [str(shutil.which("make")), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


@pytest.fixture
def clone(repository: Path, tmp_path: Path) -> Path:
    """Provide the files for make, in a path with a space in it."""
    folder = tmp_path / "a clone"
    names = ("Makefile", "pyproject.toml", "requirements.lock", "js/package.json", "js/package-lock.json")
    for name in (*names, "scripts/install.py", "scripts/locked.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / name, folder / name)
    (folder / "js" / "node_modules").mkdir()
    return folder


def test_another_python_is_refused_in_one_line(clone: Path) -> None:
    old = clone / "python3.9"
    old.write_text('#!/bin/sh\ncase "$1" in -c) exit 1;; *) echo "Python 3.9.2";; esac\n')
    old.chmod(0o755)
    result = make(clone, "demo", f"PYTHON={old}")
    assert result.returncode != 0
    assert result.stdout.splitlines() == [
        f"Hookscope needs Python 3.11 to 3.14; '{old}' is Python 3.9.2. Name another one: make PYTHON=python3.12"
    ]
    assert not (clone / ".venv").exists()


def test_a_python_that_was_not_tried_is_taken_after_a_line_that_says_so(clone: Path) -> None:
    new = clone / "python3.14"
    new.write_text(
        '#!/bin/sh\ncase "$*" in *3,\\ 15*) ;; *3,\\ 14*) exit 1;; *venv*) exit 1;; *) echo "Python 3.14.2";; esac\n'
    )
    new.chmod(0o755)
    output = make(clone, "demo", f"PYTHON={new}").stdout
    assert "Hookscope's tests have run on Python 3.11 to 3.13; this is Python 3.14.2" in output


def fake_programs(folder: Path, *names: str) -> str:
    """Return a PATH with the shell's own programs and these, which do nothing."""
    folder.mkdir()
    for name in ("sh", "bash", "touch", "id", "env"):
        (folder / name).symlink_to(str(shutil.which(name)))
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.mark.parametrize("programs", [(), ("npm",), ("node",)])
def test_without_node_or_npm_lint_is_one_line(programs: tuple[str, ...], clone: Path, tmp_path: Path) -> None:
    installed(clone)
    (clone / "js" / "node_modules" / ".installed").unlink()
    result = make(clone, "lint", PATH=fake_programs(tmp_path / "programs", *programs))
    assert result.returncode != 0
    assert result.stdout.splitlines() == [
        "The checks of the JavaScript need node and npm. On Debian and Ubuntu: apt-get install nodejs npm"
    ]


@pytest.mark.parametrize("refused", [False, True])
def test_debian_packages_are_installed_after_a_line_that_says_so(
    refused: bool, repository: Path, tmp_path: Path
) -> None:
    programs = Path(fake_programs(tmp_path / "programs"))
    for name in ("apt-get", "sudo"):
        (programs / name).write_text('#!/bin/sh\necho "$0 $@" >> called\nexit 1\n')
        (programs / name).chmod(0o755)
    variables = {
        "PATH": str(programs),
        "HOOKSCOPE_CHROMIUM": "/nowhere",
        **({"HOOKSCOPE_NO_APT": "1"} if refused else {}),
    }
    script = str(repository / "tests" / "browser" / "chromium.py")
    output = subprocess.run(
        [sys.executable, script, "--install"], cwd=tmp_path, env=variables, capture_output=True, text=True, check=True
    )
    assert (tmp_path / "called").exists() is not refused
    assert ("HOOKSCOPE_NO_APT=1 prevents it" in output.stdout) is not refused
    assert len(output.stdout.splitlines()) == (not refused)
    assert output.stderr.startswith("the browser tests cannot run: no chromium")


def test_packages_are_installed_by_the_script_that_asks_for_hashes(clone: Path) -> None:
    """The environment's python is a stand-in that says how it was called; make does nothing that it would not do."""
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@" >> calls\n')
    python.chmod(0o755)
    make(clone, "demo")
    install, *_, demo = (clone / "calls").read_text().splitlines()
    assert install == "scripts/install.py --installer uv build lab"
    assert demo == "scripts/demo.py notebooks/01_tour.ipynb"
    (clone / "calls").unlink()
    make(clone, "test", "INSTALLER=pip")
    assert (clone / "calls").read_text().startswith("scripts/install.py --installer pip build dev\n")


def installed(clone: Path) -> None:
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    for stamp in (".lab", ".dev"):
        (clone / ".venv" / stamp).touch()
    (clone / "js" / "node_modules" / ".installed").touch()


def test_the_lab_opens_a_copy_so_that_a_run_that_is_saved_changes_no_file_of_the_checkout(
    clone: Path, repository: Path
) -> None:
    installed(clone)
    shutil.copytree(repository / "notebooks", clone / "notebooks")
    jupyter = clone / ".venv" / "bin" / "jupyter"
    jupyter.write_text('#!/bin/sh\necho "saved" > build/notebooks/01_tour.ipynb\n')
    jupyter.chmod(0o755)
    (clone / ".venv" / ".kernels").touch()
    tour = (clone / "notebooks" / "01_tour.ipynb").read_bytes()
    for _ in range(2):
        result = make(clone, "--assume-old", ".venv/.kernels", "lab")
        assert result.returncode == 0, result.stderr
    assert (clone / "notebooks" / "01_tour.ipynb").read_bytes() == tour
    assert (clone / "build" / "notebooks" / "01_tour.ipynb").read_text() == "saved\n"
    assert (clone / "build" / "docs").readlink() == Path("../docs")


def test_the_second_time_nothing_is_installed(clone: Path) -> None:
    installed(clone)
    for target in ("demo", "lab", "test", "lint"):
        result = make(clone, "--dry-run", target)
        assert result.returncode == 0, result.stderr
        assert "install" not in result.stdout.replace("--install", "") and "npm" not in result.stdout


def test_a_changed_lock_is_installed_again(clone: Path) -> None:
    installed(clone)
    later = (clone / ".venv" / ".lab").stat().st_mtime + 1
    os.utime(clone / "requirements.lock", (later, later))
    assert "scripts/install.py" in make(clone, "--dry-run", "demo").stdout


def locked(repository: Path) -> list[Requirement]:
    lines = (repository / "requirements.lock").read_text().splitlines()
    return [Requirement(line.removesuffix("\\")) for line in lines if re.match(r"[a-z]", line)]


def test_every_pin_has_the_hashes_of_its_files(repository: Path) -> None:
    for entry in re.split(r"\n(?=[a-z])", (repository / "requirements.lock").read_text())[1:]:
        assert re.search(r"==\S+.* \\\n    --hash=sha256:[0-9a-f]{64}", entry), entry


@pytest.mark.parametrize("extra", ["lab", "test", "dev", "gpu"])
def test_the_part_of_the_lock_for_an_extra_is_what_it_names_and_what_that_asks_for(
    extra: str, repository: Path
) -> None:
    """As the environment that these tests run in has it: what is installed says itself what it needs."""
    command = [sys.executable, str(repository / "scripts" / "locked.py"), extra]
    part = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout
    names = {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", part, re.MULTILINE)}
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    requirements = [*project["dependencies"], *project["optional-dependencies"][extra]]
    assert {canonicalize_name(Requirement(text).name) for text in requirements} - names <= {"hookscope"}
    for name in names:
        for text in (distribution(name).requires or ()) if is_installed(name) else ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert canonicalize_name(needed.name) in names, f"{name} needs {needed.name}"
    assert ("cupy-cuda13x" in names) == (extra == "gpu")
    assert ("mypy" in names) == (extra == "dev")


def is_installed(name: str) -> bool:
    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return False


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
    requirements = chain(project["dependencies"], *project["optional-dependencies"].values())
    names = {canonicalize_name(Requirement(text).name) for text in requirements} - {"hookscope"}
    assert names - set(pins) == set()


def test_the_lock_pins_exactly_and_names_no_place(repository: Path) -> None:
    assert all(re.fullmatch(r"==[^=*]+", str(pin.specifier)) and not pin.url for pin in locked(repository))
    assert "://" not in (repository / "requirements.lock").read_text()


def test_the_base_installation_is_small(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    names = {Requirement(text).name for text in project["dependencies"]}
    assert names == {
        "anywidget",
        "ipykernel",
        "ipywidgets",
        "ml_dtypes",
        "numba",
        "numpy",
        "protobuf",
        "pygments",
        "safetensors",
        "scipy",
        "tabulate",
        "threadpoolctl",
        "wrapt",
    }
