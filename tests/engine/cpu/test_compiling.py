"""Kernels are compiled on first use, told in one line, and found on disk by every later process."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hookscope.engine.cpu import compiling

LOAD = """
import sys
from hookscope.engine.cpu import compiling
assert "numba" not in sys.modules
module = compiling.kernels("products")
assert compiling.kernels("products") is module
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command, variables = [sys.executable, "-P", "-c", code], {**os.environ, **environment}
    return subprocess.run(command, env=variables, text=True, capture_output=True, check=True)


def test_what_was_compiled_is_told_once_and_found_on_disk_after_that(tmp_path: Path) -> None:
    first = run(LOAD, NUMBA_CACHE_DIR=str(tmp_path))
    (line,) = first.stderr.splitlines()
    assert line.startswith("Hookscope compiled products for this CPU in ") and line.endswith(f" s (kept in {tmp_path})")
    assert any(tmp_path.rglob("*.nbc"))
    assert run(LOAD, NUMBA_CACHE_DIR=str(tmp_path)).stderr == ""


def test_what_is_saved_can_do_without_the_line(tmp_path: Path) -> None:
    assert run(LOAD, NUMBA_CACHE_DIR=str(tmp_path), HOOKSCOPE_COMPILE_NOTICE="0").stderr == ""
    assert any(tmp_path.rglob("*.nbc"))


def test_files_of_kernels_import_of_each_other_only_what_their_folders_digest_has() -> None:
    for path in (Path(compiling.__file__).parent / "compiled").glob("*.py"):
        imported = {f"{node.module}.py" for node in ast.walk(ast.parse(path.read_text()))
                    if isinstance(node, ast.ImportFrom) and node.level == 1}  # fmt: skip
        assert imported <= set(compiling._SHARED), path.name


def test_without_a_folder_each_process_compiles(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.touch()
    told = run(LOAD, NUMBA_CACHE_DIR=str(occupied)).stderr
    assert told.endswith("(for this process: there is no folder to keep it in)\n")


USE = """
import numpy as np
from hookscope.engine.cpu.compiling import kernels
found, board = kernels("sharing"), np.zeros(8, np.int64)
assert not found.wake(board) and found.help_out(board, 1) and found.wake(board) == 1
"""


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("warm")
    run(USE, NUMBA_CACHE_DIR=str(folder))
    assert run(USE, NUMBA_CACHE_DIR=str(folder)).stderr == ""
    return folder


@pytest.fixture
def folder(warm: Path, tmp_path: Path) -> Path:
    """A folder that has what USE needs: an index, ``*.nbi``, and machine code, ``*.nbc``, of two functions."""
    return Path(shutil.copytree(warm, tmp_path / "copied"))


DAMAGES = {"empty": b"", "other": b"no machine code\n" * 99}


@pytest.mark.parametrize(
    ("help_out", "wake"),
    [(("nbi", "empty"), ("nbc", "cut")), (("nbi", "other"), ("nbc", "empty")), (("nbi", "gone"), ("nbc", "gone"))],
)
def test_a_damaged_or_missing_file_is_replaced(folder: Path, help_out: tuple[str, str], wake: tuple[str, str]) -> None:
    """As a crash of the machine may leave it, a process killed between the two, or somebody who removes files."""
    for function, (ending, damage) in {"help_out": help_out, "wake": wake}.items():
        (path,) = folder.rglob(f"*.{function}-*.{ending}")
        whole = path.read_bytes()
        path.unlink()
        if damage != "gone":
            path.write_bytes(DAMAGES.get(damage, whole[:-9]))
    assert run(USE, NUMBA_CACHE_DIR=str(folder)).stderr.endswith(f"(kept in {folder})\n")
    assert run(USE, NUMBA_CACHE_DIR=str(folder)).stderr == ""


def test_a_damaged_file_that_cannot_be_removed_leaves_each_process_to_compile(folder: Path) -> None:
    for path in folder.rglob("*.nbc"):
        path.write_bytes(b"")
    refused = "import pathlib\ndef unlink(*_, **__): raise PermissionError\npathlib.Path.unlink = unlink\n"
    assert f"(for this process: {folder}" in run(refused + USE, NUMBA_CACHE_DIR=str(folder)).stderr


def test_on_a_full_disk_each_process_compiles_and_says_why(tmp_path: Path) -> None:
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))"
    told = run(full + USE, NUMBA_CACHE_DIR=str(tmp_path)).stderr
    assert f"(for this process: {tmp_path}" in told and told.endswith("File too large)\n")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_nothing_is_kept_beside_the_sources_where_the_folder_cannot_be_written(folder: Path) -> None:
    for inner in list(folder.glob("*")):
        shutil.rmtree(inner)
        inner.touch()  # in the way, also of root, who may write into every folder
    assert f"(for this process: {folder}" in run(USE, NUMBA_CACHE_DIR=str(folder)).stderr
    assert not list(Path(compiling.__file__).parent.rglob("*.nb?"))


@pytest.mark.parametrize("name", ["HOOKSCOPE_NUMBA", "NUMBA_DISABLE_JIT"])
def test_a_variable_of_the_environment_leaves_all_to_numpy(name: str) -> None:
    code = "from hookscope.engine.cpu import compiling; print(compiling.is_on())"
    on = {"HOOKSCOPE_NUMBA": "1", "NUMBA_DISABLE_JIT": "0"}
    assert run(code, **{**on, name: "0"}).stdout == f"{name == 'NUMBA_DISABLE_JIT'}\n"
    assert run(code, **{**on, name: "1"}).stdout == f"{name == 'HOOKSCOPE_NUMBA'}\n"


def test_only_much_work_in_float32_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "is_on", lambda: True)
    assert compiling.is_worth(np.zeros(1 << 14, np.float32))
    assert not compiling.is_worth(np.zeros((1 << 14) - 1, np.float32))
    assert compiling.is_worth(np.zeros(100, np.float32), 100)
    for dtype in (np.float64, np.float16, np.int32, ">f4"):
        assert not compiling.is_worth(np.zeros(1 << 15, dtype))
    monkeypatch.setattr(compiling, "is_on", lambda: False)
    assert not compiling.is_worth(np.zeros(1 << 14, np.float32))


def test_arrays_are_made_ready_without_a_copy_where_they_are() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert compiling.ready(x) is x
    for other in (x.T, x[:, 1:], np.frombuffer(b"\0" + x.tobytes(), np.float32, offset=1).reshape(3, 4)):
        made = compiling.ready(other)
        assert made is not other and made.flags.c_contiguous and made.flags.aligned
        np.testing.assert_array_equal(made, other)


def test_addresses_are_where_elements_begin() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    cases = [x, x[1:, 1:, 2:], x.T, x[::-1], np.broadcast_to(x[0, 0], (5, 4)), x[:, :0], np.zeros((), np.int8)]
    cases.append(np.frombuffer(b"\0" + x.tobytes(), np.float32, offset=1))
    for each in cases:
        assert compiling.address(each) == each.__array_interface__["data"][0] == each.ctypes.data
    with pytest.raises(TypeError, match="x must be a numpy.ndarray, got float32"):
        compiling.address(np.float32(1))
