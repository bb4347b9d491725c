"""Contents of the wheels that are built from the tree and from the sdist."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOMS = ("engine", "kernel", "widgets", "triton_kernels")
CARRIED = {".py", ".js", ".css", ".json", ".svg", ".png"}
LINK = 0o120000  # S_IFLNK, in the upper half of a zip entry's attributes


@pytest.fixture(params=["tree", "sdist"])
def wheel(request: pytest.FixtureRequest, wheels: dict[str, Path]) -> zipfile.ZipFile:
    return zipfile.ZipFile(wheels[request.param])


@pytest.fixture(scope="module")
def stem(repository: Path) -> str:
    """Provide the start of the names of the wheel's own folders."""
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    return f"{project['name']}-{project['version']}"


def sources(repository: Path, room: str) -> set[str]:
    """Return the files of one of the top-level folders, as the names that they must have in the wheel."""
    folder = repository / room
    return {
        f"hookscope/{room}/{path.relative_to(folder).as_posix()}"
        for path in folder.rglob("*")
        if path.suffix in CARRIED and "__pycache__" not in path.parts
    }


def test_the_sdist_gives_the_same_files_as_the_tree(wheels: dict[str, Path]) -> None:
    tree, sdist = (zipfile.ZipFile(path) for path in (wheels["tree"], wheels["sdist"]))
    assert sorted(tree.namelist()) == sorted(sdist.namelist())
    assert [name for name in tree.namelist() if tree.read(name) != sdist.read(name)] == []


@pytest.mark.parametrize("room", ROOMS)
def test_the_wheel_holds_every_source_file_of(room: str, repository: Path, wheel: zipfile.ZipFile) -> None:
    expected = sources(repository, room)
    assert expected, f"{room}/ has no source files"
    assert expected - set(wheel.namelist()) == set()


def test_the_wheel_holds_each_file_once_and_no_link(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert len(names) == len(set(names))
    modes = {entry.filename: entry.external_attr >> 16 for entry in wheel.infolist()}
    assert [name for name, mode in modes.items() if mode & 0o170000 == LINK] == []


def test_the_wheel_holds_the_package_and_nothing_of_the_repository(wheel: zipfile.ZipFile, stem: str) -> None:
    tops = {PurePosixPath(name).parts[0] for name in wheel.namelist()}
    assert tops == {"hookscope", f"{stem}.dist-info", f"{stem}.data"}
    inside = {PurePosixPath(name).parts[1] for name in wheel.namelist() if name.startswith("hookscope/")}
    assert inside == {"__init__.py", "__main__.py", "py.typed", *ROOMS}
    parts = {part for name in wheel.namelist() for part in PurePosixPath(name).parts}
    assert parts & {"__pycache__", "tests", "benchmarks", "notebooks", "docs"} == set()


def test_the_wheel_puts_the_kernel_where_jupyter_looks(wheel: zipfile.ZipFile, stem: str) -> None:
    prefix = f"{stem}.data/data/share/jupyter/kernels/hookscope/"
    names = {name.removeprefix(prefix) for name in wheel.namelist() if name.startswith(prefix)}
    assert {"kernel.json", "logo-svg.svg", "logo-32x32.png", "logo-64x64.png"} <= names


def test_the_wheel_carries_its_licence(repository: Path, wheel: zipfile.ZipFile, stem: str) -> None:
    text = wheel.read(f"{stem}.dist-info/licenses/LICENSE").decode()
    assert text == (repository / "LICENSE").read_text()
    assert "Apache License" in text
