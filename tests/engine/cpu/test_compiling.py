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

# As where nothing was compiled when the environment was made.
NOTHING_BUILT = """
import pathlib, sys
from hookscope.engine.cpu import compiling
compiling.BUILT = pathlib.Path("nowhere")
"""

LOAD = (
    NOTHING_BUILT
    + """
assert not {"llvmlite", "numba"} & set(sys.modules)
module = compiling.kernels("products")
assert compiling.kernels("products") is module
print("numba" in sys.modules)
"""
)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command, variables = [sys.executable, "-P", "-c", code], {**os.environ, "HOOKSCOPE_COMPILE_NOTICE": "1"}
    process = subprocess.run(command, env={**variables, **environment}, text=True, capture_output=True, check=False)
    assert process.returncode == 0, process.stderr
    return process


def test_what_was_compiled_is_told_once_and_found_on_disk_after_that_without_numba(tmp_path: Path) -> None:
    first = run(LOAD, NUMBA_CACHE_DIR=str(tmp_path))
    (line,) = first.stderr.splitlines()
    assert line.startswith(f"Hookscope compiles products for this CPU (kept in {tmp_path}) ... ")
    assert line.endswith(" s")
    assert first.stdout == "True\n"
    (path,) = tmp_path.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    again = run(LOAD, NUMBA_CACHE_DIR=str(tmp_path))
    assert (again.stderr, again.stdout) == ("", "False\n")


def test_it_is_told_before(tmp_path: Path) -> None:
    """So that a user sees what the process does meanwhile."""
    code = (
        NOTHING_BUILT
        + """
def build(*_, **__):
    raise RuntimeError("stopped here")
compiling._building = build
compiling.kernels("products")
"""
    )
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "HOOKSCOPE_COMPILE_NOTICE": "1"}
    message = subprocess.run([sys.executable, "-c", code], env=variables, text=True, capture_output=True).stderr
    assert message.startswith(f"Hookscope compiles products for this CPU (kept in {tmp_path}) ...")


def test_how_far_it_is_can_be_shown(tmp_path: Path) -> None:
    code = (
        NOTHING_BUILT
        + """
from hookscope.engine.tape import progress
seen = []
progress.listen(lambda work: seen.append((work.what, work.total, work.unit, work.stoppable, work.done)))
compiling.kernels("rectifiers")
print(seen[-1])
"""
    )
    output = run(code, NUMBA_CACHE_DIR=str(tmp_path), HOOKSCOPE_COMPILE_NOTICE="0").stdout
    assert output == "('compiling rectifiers', 3, 'steps', False, 3)\n"


def test_loops_of_level_o1_are_told_before_they_are_compiled(tmp_path: Path) -> None:
    code = """
import numpy as np
from hookscope.engine import Tensor, jit, ops
from hookscope.engine.tape import progress
from hookscope.engine.cpu import compiling
seen = []
progress.listen(lambda work: seen.append((work.what, work.done, work.total)))
apart = jit(lambda x, y: ops.exp(x).sum() + (ops.sin(y) * y).mean(), jit_level="O1")
apart(*[Tensor(np.ones(shape, np.float32)) for shape in ((400, 300), (500, 7))])
print(*[told for told in seen if told[0] == "compiling loops"][-1:])
"""
    first = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    lines = [line for line in first.stderr.splitlines() if " loops " in line]
    assert len(lines) == 1
    assert lines[0].startswith(f"Hookscope compiles loops for this CPU (kept in {tmp_path}) ... ")
    assert first.stdout == "('compiling loops', 2, 2)\n"
    again = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert (again.stderr, again.stdout) == ("", "\n")


def test_an_interrupt_waits_for_what_is_compiled_and_that_is_kept(tmp_path: Path) -> None:
    code = (
        NOTHING_BUILT
        + """
import signal
from hookscope.engine.tape import progress
once = []
def interrupt(work):
    if not once:
        once.append(signal.raise_signal(signal.SIGINT))
progress._INTERVAL = 0
progress.listen(interrupt)
try:
    compiling.kernels("rectifiers")
except KeyboardInterrupt:
    print("interrupted", len(list(pathlib.Path(sys.argv[1]).iterdir())))
"""
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    process = subprocess.run(command, env=variables, text=True, capture_output=True, check=True)
    assert process.stdout == "interrupted 1\n", process.stderr


def test_what_is_saved_can_do_without_the_line(tmp_path: Path) -> None:
    assert run(LOAD, NUMBA_CACHE_DIR=str(tmp_path), HOOKSCOPE_COMPILE_NOTICE="0").stderr == ""
    assert any(tmp_path.iterdir())


def test_files_of_kernels_import_of_each_other_only_what_is_in_their_digest() -> None:
    folder = Path(compiling.__file__).parent / "compiled"
    for path in folder.rglob("*.py"):
        imported = {
            (path.parents[node.level - 1] / f"{(node.module or '').replace('.', '/')}.py")
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and node.level
        }
        assert {file for file in imported if folder in file.parents} <= set(compiling._shared()), path.name


def test_without_a_folder_each_process_compiles(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.touch()
    message = run(LOAD, NUMBA_CACHE_DIR=str(occupied)).stderr
    assert "(for this process: there is no folder to keep it in) ... " in message


USE = (
    NOTHING_BUILT
    + """
import numpy as np
found, board, x = compiling.kernels("sharing"), np.zeros(8, np.int64), np.full(3, -1, np.float32)
assert not found.wake(board) and found.help_out(board, 1) and found.wake(board) == 1
compiling.kernels("rectifiers").relu(board, 1, *[compiling.address(x)] * 3, 0.0, 3)
assert not x.any()
"""
)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("warm")
    run(USE, NUMBA_CACHE_DIR=str(folder))
    assert run(USE, NUMBA_CACHE_DIR=str(folder)).stderr == ""
    return folder


@pytest.fixture
def folder(warm: Path, tmp_path: Path) -> Path:
    """Provide a folder that has what USE needs: machine code of two files."""
    return Path(shutil.copytree(warm, tmp_path / "copied"))


def test_damaged_and_missing_files_are_compiled_again(folder: Path) -> None:
    """As a crash of the machine, a disk that fails, or somebody who removes files may leave them."""
    first, second = folder.iterdir()
    content = first.read_bytes()
    first.write_bytes(
        content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 1]) + content[len(content) // 2 + 1 :]
    )
    second.unlink()
    assert run(USE, NUMBA_CACHE_DIR=str(folder)).stderr.count(f"(kept in {folder})") == 2
    assert run(USE, NUMBA_CACHE_DIR=str(folder)).stderr == ""


def test_a_folder_that_others_can_write_is_refused_in_one_line(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    folder.chmod(0o775)
    message = run(USE, NUMBA_CACHE_DIR=str(folder), HOOKSCOPE_COMPILE_NOTICE="0").stderr
    assert message == (
        "Hookscope keeps no machine code, and compiles in each process: "
        f"the folder {folder} can be written by other users: chmod go-w {folder}\n"
    )
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_the_folder_of_another_user_is_refused_in_one_line(folder: Path) -> None:
    os.chown(folder, 65534, 65534)
    message = run(USE, NUMBA_CACHE_DIR=str(folder), HOOKSCOPE_COMPILE_NOTICE="0").stderr
    assert message.endswith(f"the folder {folder} belongs to another user\n") and message.count("\n") == 1


def test_on_a_full_disk_each_process_compiles_and_says_why(tmp_path: Path) -> None:
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))"
    message = run(full + USE, NUMBA_CACHE_DIR=str(tmp_path)).stderr
    assert f" s (for this process: {tmp_path}" in message and "File too large)\n" in message
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


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
        compiled = compiling.ready(other)
        assert compiled is not other and compiled.flags.c_contiguous and compiled.flags.aligned
        np.testing.assert_array_equal(compiled, other)


def test_addresses_are_where_elements_begin() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    cases = [x, x[1:, 1:, 2:], x.T, x[::-1], np.broadcast_to(x[0, 0], (5, 4)), x[:, :0], np.zeros((), np.int8)]
    cases.append(np.frombuffer(b"\0" + x.tobytes(), np.float32, offset=1))
    for each in cases:
        assert compiling.address(each) == each.__array_interface__["data"][0] == each.ctypes.data
    with pytest.raises(TypeError, match="x must be a numpy.ndarray, got float32"):
        compiling.address(np.float32(1))
