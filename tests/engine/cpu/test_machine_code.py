"""Machine code is used only if it is what was written, for what it was written; its functions check what they get."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hookscope.engine.cpu import build_kernels, compiling, machine_code, threads
from hookscope.engine.cpu.compiled import _building
from hookscope.engine.cpu.compiled.library import loops
from hookscope.engine.cpu.compiled.library.loops import f32, f64, i64, kernel, read_array, u8, u64, written_array

FACTS = {"name": "file", "sources": "digest"}
CODE = machine_code.Code(FACTS, {"function": "What it does."}, {"SIDE": 7}, ("malloc",), bytes(range(256)) * 9)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "kept" / "file.code"
    machine_code.write(found, CODE)
    return found


READERS: list[Callable[..., Any]] = [machine_code.read, machine_code.read_own]


@pytest.mark.parametrize("read", READERS)
def test_what_was_written_comes_back_for_what_it_was_made_from(path: Path, read: Callable[..., Any]) -> None:
    assert read(path, **FACTS) == CODE
    assert read(path, name="other") is None and read(path, more=[]) is None
    assert read(path.with_name("none")) is None
    assert list(path.parent.iterdir()) == [path]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "other": lambda _: b"no machine code\n" * 99,
    "cut": lambda content: content[:-9],
    "the first lines alone": lambda content: b"".join(content.splitlines(keepends=True)[:2]),
    "followed": lambda content: content + b"\0",
    "without its first line": lambda content: content.partition(b"\n")[2],
    "zeros": lambda content: bytes(len(content)),
}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_none(path: Path, damage: str, read: Callable[..., Any]) -> None:
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert read(path) is None


def test_no_flipped_bit_is_loaded(path: Path) -> None:
    content = path.read_bytes()
    for at in (*range(150), *range(150, len(content), 97), *range(len(content) - 40, len(content))):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :])
        assert machine_code.read(path) is None


def test_nothing_is_read_before_its_digest_is_right(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    monkeypatch.setattr(machine_code.json, "loads", lambda _: pytest.fail("read"))
    assert machine_code.read(path) is None


def test_what_a_killed_process_left_is_removed_later(path: Path) -> None:
    part, new = path.with_name("0123.part"), path.with_name("4567.part")
    for variant in (part, new):
        variant.touch()
    os.utime(part, (1, 1))
    machine_code.write(path, CODE)
    assert not part.exists() and new.exists()


def test_a_function_that_is_nowhere_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="compiled kernels call hookscope_nothing, which this system has not"):
        machine_code.loaded(CODE._replace(needs=("hookscope_nothing",)), "file")


# Baselines


ALL = {name for _, features in machine_code._LEVELS for name in features.split()}
V3 = ALL - set(machine_code._LEVELS[0][1].split())


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"):
        monkeypatch.delenv(name, raising=False)
    machine_code.baseline.cache_clear()
    yield
    monkeypatch.undo()
    machine_code.baseline.cache_clear()


@pytest.mark.parametrize(
    ("has", "name"),
    [
        (ALL, "x86-64-v4"),
        (ALL | {"avx512bf16"}, "x86-64-v4"),
        (V3, "x86-64-v3"),
        (ALL - {"avx512vl"}, "x86-64-v3"),
        (ALL - {"fma"}, "x86-64-v2"),
        (ALL - {"sse4.2"}, "x86-64"),
        (set(), "x86-64"),
    ],
)
def test_a_processor_is_of_the_level_of_which_it_has_all(
    has: set[str], name: str, fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: dict.fromkeys(has, True))
    monkeypatch.setattr(machine_code, "platform", lambda: "x86_64-unknown-linux-gnu-16")
    assert machine_code.baseline().name == name


def test_other_machines_have_one_baseline(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "platform", lambda: "aarch64-unknown-linux-gnu-16")
    assert machine_code.baseline() == machine_code.Baseline("generic")


def test_numbas_variables_name_another_one(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CPU_NAME", "haswell")
    assert machine_code.baseline() == machine_code.Baseline("haswell")
    machine_code.baseline.cache_clear()
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "-fma")
    assert machine_code.baseline() == machine_code.Baseline("haswell", "-fma")


# Arguments of functions


@kernel(written_array(f32, 2), read_array(i64), i64, u64, f32, f64, written_array(u8), written_array(f64))
def chosen_rows(
    first: int, stop: int, x: Any, indices: Any, count: int, seed: Any, small: Any, large: Any, flags: Any, result: Any
) -> None:
    """Put all that came into an array."""
    for part in range(first, stop):
        x[part, 0] = small
        flags[part] = 1
    result[0], result[1], result[2], result[3] = count, seed >> np.uint64(60), small, large
    result[4], result[5], result[6] = x.shape[0], x.shape[1], indices[0]


def arguments() -> list[Any]:
    x, flags = np.zeros((3, 5), np.float32), np.zeros(3, np.uint8)
    return [np.zeros(8, np.int64), 3, x, np.array([-7]), -(1 << 62), (1 << 64) - 1, 0.1, 0.1, flags, np.zeros(7)]


def test_arguments_come_as_they_are_declared() -> None:
    inputs = arguments()
    chosen_rows(*inputs)
    assert inputs[-1].tolist() == [-(2.0**62), 15, float(np.float32(0.1)), 0.1, 3, 5, -7]
    assert inputs[2][:, 0].tolist() == [np.float32(0.1)] * 3 and inputs[-2].tolist() == [1, 1, 1]
    inputs = arguments()
    inputs[1], inputs[4], inputs[6] = np.int64(1), True, np.float32(2)
    chosen_rows(*inputs)
    assert inputs[-1][:3].tolist() == [1, 15, 2] and inputs[-2].tolist() == [1, 0, 0]


WRONG: dict[str, tuple[int, Any]] = {
    "no array": (2, [1.0]),
    "another dtype": (2, np.zeros((3, 5))),
    "other axes": (2, np.zeros(15, np.float32)),
    "by columns": (2, np.zeros((5, 3), np.float32).T),
    "apart": (2, np.zeros((3, 6), np.float32)[:, :5]),
    "read only": (2, np.broadcast_to(np.zeros((3, 5), np.float32), (3, 5))),
    "not aligned": (2, np.frombuffer(bytearray(61), np.float32, 15, 1).reshape(3, 5)),
    "bytes the other way": (2, np.zeros((3, 5), ">f4")),
    "no number": (4, "1"),
    "a fraction": (4, 1.5),
    "no float": (6, "1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_such_argument_is_a_type_error_that_says_so(case: str) -> None:
    index, value = WRONG[case]
    inputs = arguments()
    inputs[index] = value
    with pytest.raises(TypeError) as info:
        chosen_rows(*inputs)
    if index == 2:
        assert str(info.value) == "argument 2 of chosen_rows() must be a writeable float32 array of 2 axes, by rows"
    assert not inputs[-1].any()


def test_a_number_that_is_too_large_is_an_overflow() -> None:
    inputs = arguments()
    inputs[4] = 1 << 63
    with pytest.raises(OverflowError):
        chosen_rows(*inputs)


def test_other_counts_of_arguments_are_told() -> None:
    with pytest.raises(TypeError, match=re.escape("chosen_rows() takes 10 arguments")):
        chosen_rows(*arguments()[:-1])


def test_integers_of_either_name_are_taken() -> None:
    inputs = arguments()
    inputs[3] = np.array([-7], np.longlong)
    chosen_rows(*inputs)
    assert inputs[-1][6] == -7


def test_memory_that_is_not_there_is_a_memory_error_from_whichever_thread() -> None:
    @kernel(i64, written_array(u8))
    def wanting(first: int, stop: int, size: int, result: Any) -> None:
        for part in range(first, stop):
            if part == 3:
                memory = loops.take(size)
                loops.give_back(memory)
            result[part] = 1

    for count in (1, 3):
        threads.set_number(count)
        try:
            for _ in range(20):
                result = np.zeros(8, np.uint8)
                with pytest.raises(MemoryError, match=re.escape("wanting() could not be computed")):
                    threads.share(wanting, 8, 1 << 60, result)
                threads.share(wanting, 8, 1 << 10, result)
                assert result.all()
        finally:
            threads.set_number(None)


def test_memory_begins_at_a_line_of_the_cache_and_is_ones_own() -> None:
    @kernel(written_array(i64))
    def several(first: int, stop: int, result: Any) -> None:
        for i in range(result.size):
            result[i] = loops.take(i)
        for i in range(result.size):
            loops.give_back(result[i])

    result = np.zeros(50, np.int64)
    threads.share(several, 1, result)
    assert not (result % 64).any() and (np.diff(np.sort(result)) >= 64).all()


# Compiled functions


def test_the_list_of_what_there_is_to_compile_is_closed() -> None:
    """Each file of kernels is built with each of its functions, for the arguments that it names; nothing else is."""
    files = compiling.files()
    libraries = {path.stem for path in compiling._LIBRARY.glob("[!_]*.py")}
    names = [path.stem for path in compiling._COMPILED.rglob("[!_]*.py")]
    assert sorted(names) == sorted([*files, *libraries])  # no name twice
    for name in files:
        result = _building.entries(import_module(compiling.module_name(name)))
        assert result and all(isinstance(item.arguments, tuple) for item in result.values()), name
    for name in libraries:
        assert not _building.entries(import_module(compiling.module_name(name))), name
    called = set()
    for path in Path(compiling.__file__).parents[1].rglob("*.py"):
        called |= set(re.findall(r"\bkernels\(\"(\w+)\"\)", path.read_text()))
    assert called <= set(files)


def test_no_code_needs_numba(tmp_path: Path) -> None:
    for name in ("softmax", "updates", "sharing"):
        kernels = compiling.kernels(name)
        assert kernels.__name__ == compiling.module_name(name)
    built = compiling._built("copying")
    assert not [need for need in built.needs if need.lower().startswith(("nrt", "numba"))]
    assert not re.search(rb"/[a-z]+/[^\0]*\.py", built.machine_code)  # no path of the machine it was made on


def test_what_is_built_is_used_and_what_is_up_to_date_stays(tmp_path: Path) -> None:
    baselines = [machine_code.shipped("x86-64-v3"), machine_code.baseline()]
    if not machine_code.platform().startswith("x86_64"):
        baselines = baselines[1:]
    every = build_kernels._missing
    some = ["rectifiers", "scattering"]
    try:
        build_kernels._missing = lambda *arguments: [name for name in every(*arguments) if name in some]
        assert build_kernels.build(tmp_path, baselines, 1) == some
        times = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        assert len(times) == len(some) * len({baseline.name for baseline in baselines})
        assert build_kernels.build(tmp_path, baselines, 2) == []
        (tmp_path / machine_code.file_name("scattering", machine_code.baseline())).write_bytes(b"damaged")
        assert build_kernels.build(tmp_path, baselines, 2) == ["scattering"]
    finally:
        build_kernels._missing = every
    code = (
        "import pathlib, sys\n"
        "from hookscope.engine.cpu import compiling\n"
        "compiling.BUILT = pathlib.Path(sys.argv[1])\n"
        "compiling.kernels('rectifiers'), compiling.kernels('scattering')\n"
        "print({'numba', 'scipy'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    process = subprocess.run(command, text=True, capture_output=True, check=True)
    assert (process.stdout, process.stderr) == ("set()\n", "")


SCRIPT = """
import hashlib, sys
from hookscope.engine.cpu import compiling
for name in sys.argv[1:]:
    print(name, hashlib.sha256(compiling._built(name).machine_code).hexdigest())
"""


def test_every_process_makes_the_same_machine_code_whatever_it_made_before() -> None:
    """So what a process compiles for itself has the bits of what was compiled with the environment."""
    results = []
    for names, seed in ((["softmax", "products", "updates"], "1"), (["updates", "products", "softmax"], "2")):
        command, variables = [sys.executable, "-c", SCRIPT, *names], {**os.environ, "PYTHONHASHSEED": seed}
        process = subprocess.run(command, env=variables, text=True, capture_output=True, check=True)
        results.append(sorted(process.stdout.splitlines()))
    assert results[0] == results[1] and len(results[0]) == 3


def test_a_function_of_a_kernel_is_one_of_cpythons() -> None:
    function = compiling.kernels("rectifiers").relu
    assert type(function) is type(len) and function.__name__ == "relu"
    assert function.__module__ == "hookscope.engine.cpu.compiled.neural.rectifiers"  # which profilers show


def test_folders_are_left_alone_by_a_copy(path: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(path.parent, tmp_path / "copied"))
    assert machine_code.read_own(copied / path.name) == CODE
    copied.chmod(0o777)
    assert machine_code.read_own(copied / path.name) is None and machine_code.read(copied / path.name) == CODE
