"""Bounds on the cost of a hostile file, and the effect of its names on a message."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.formats import free_memory
from hookscope.engine.formats.checkpoint_names import is_name, is_text


def tensors() -> dict[str, Tensor]:
    return {"w": Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), "n": Tensor(7)}


def header_of(**rows: Any) -> bytes:
    header = json.dumps(rows).encode()
    return len(header).to_bytes(8, "little") + header


# Cost of a hostile file

LIMITED = """
import resource, sys
import hookscope.engine as ms
ms.load_checkpoint(sys.argv[1]) if sys.argv[2] == "good" else None
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + 64 * 2**20,) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
try:
    ms.load_checkpoint(sys.argv[3], format=sys.argv[4])
except (ValueError, MemoryError) as error:
    print(type(error).__name__, error)
"""


def hostile_files() -> dict[str, bytes]:
    huge = b"\x08" + b"\xff" * 8 + b"\x7f"
    tensor = huge * 2 + b"\x12\x07Float32\x1a\x04abcd"
    header = b'{"x":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}}'
    return {
        "huge dims.ckpt": b"\x0a" + bytes([len(tensor) + 5]) + b"\x0a\x01x\x12" + bytes([len(tensor)]) + tensor,
        "huge length.ckpt": b"\x0a\xff\xff\xff\xff\x7f" + bytes(100),
        "endless varint.ckpt": b"\x0a" + b"\xff" * 1000,
        "millions of empty entries.ckpt": b"\x0a\x00" * 2**22,
        "millions of axes.ckpt": entry_of_axes(2**22),
        "huge header.safetensors": (2**62).to_bytes(8, "little") + bytes(100),
        "huge shape.safetensors": len(header).to_bytes(8, "little") + header + b"abcd",
    }


def entry_of_axes(count: int) -> bytes:
    from google.protobuf.internal.encoder import _VarintBytes  # type: ignore[attr-defined, unused-ignore]

    tensor = b"\x08\x01" * count + b"\x12\x07Float32\x1a\x04abcd"
    value = b"\x0a\x01x\x12" + _VarintBytes(len(tensor)) + tensor
    return bytes(b"\x0a" + _VarintBytes(len(value)) + value)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
@pytest.mark.parametrize("name", hostile_files())
def test_a_hostile_file_is_refused_within_64_mebibytes(name: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.ckpt", tmp_path / name
    ms.save_checkpoint(tensors(), good)
    bad.write_bytes(hostile_files()[name])
    process = subprocess.run(
        [sys.executable, "-c", LIMITED, str(good), "good", str(bad), bad.suffix[1:]],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert process.stdout.startswith("ValueError") and name in process.stdout, process.stderr[-500:]


def sparse(path: Path, begin: bytes, size: int, end: bytes = b"") -> None:
    with path.open("wb") as file:
        file.write(begin)
        file.truncate(size - len(end))
        file.seek(0, os.SEEK_END)
        file.write(end)


def length(number: int) -> bytes:
    """Return a number as protobuf writes it."""
    rest, byte = divmod(number, 128)
    return bytes([byte | 128]) + length(rest) if rest else bytes([byte])


def tensor_entry(name: bytes, count: int, content: int) -> bytes:
    """Return the beginning of an entry of so many numbers, and so many bytes of content behind it."""
    tensor = b"\x08" + length(count) + b"\x12\x07Float32\x1a" + length(content)
    value = b"\x0a" + length(len(name)) + name + b"\x12" + length(len(tensor) + content) + tensor
    return b"\x0a" + length(len(value) + content) + value


@pytest.mark.parametrize("crc", [False, True])
@pytest.mark.parametrize("kind", ["nothing.ckpt", "one tensor.ckpt", "one tensor.safetensors"])
def test_four_terabytes_of_nothing_are_one_clear_error(kind: str, crc: bool, tmp_path: Path) -> None:
    path, size = tmp_path / kind, 2**42
    header = header_of(x={"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]})
    begin = {"nothing.ckpt": b"", "one tensor.ckpt": tensor_entry(b"x", size // 4, size)}.get(kind, header)
    try:
        sparse(path, begin, len(begin) + size, b"crc_num" + bytes(10) if crc and path.suffix == ".ckpt" else b"")
    except OSError:
        pytest.skip("this file system has no sparse files of 4 TB")
    with pytest.raises(MemoryError, match=rf"'{path}' has 4,398,[\d,]+ bytes, and memory has [\d,]+ left"):
        ms.load_checkpoint(path, format=path.suffix[1:], crc_check=crc)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
@pytest.mark.parametrize("suffix", ["ckpt", "safetensors"])
def test_a_tensor_that_a_limit_leaves_no_memory_for_is_one_clear_error(suffix: str, tmp_path: Path) -> None:
    good, large, size = tmp_path / "good.ckpt", tmp_path / f"large.{suffix}", 2**27
    ms.save_checkpoint(tensors(), good)
    header = header_of(x={"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]})
    begin = header if suffix == "safetensors" else tensor_entry(b"x", size // 4, size)
    sparse(large, begin, len(begin) + size)
    process = subprocess.run(
        [sys.executable, "-c", LIMITED, str(good), "good", str(large), suffix],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert process.stdout == (
        f"MemoryError For 'load_checkpoint', the checkpoint file '{large}' holds more than memory has left\n"
    ), process.stderr
    assert process.stderr == ""


def test_a_containers_limit_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ms.save_checkpoint({"x": Tensor(np.zeros(1000))}, tmp_path / "x.ckpt")
    (tmp_path / "none").write_text("max\n")
    (tmp_path / "limit").write_text("1000\n")
    monkeypatch.setattr(free_memory, "_LIMITS", (str(tmp_path / "none"),))
    ms.load_checkpoint(tmp_path / "x.ckpt")
    monkeypatch.setattr(free_memory, "_LIMITS", (str(tmp_path / "none"), str(tmp_path / "limit")))
    with pytest.raises(MemoryError, match=r"has 8,\d+ bytes, and memory has 1,000 left"):
        ms.load_checkpoint(tmp_path / "x.ckpt")


def test_what_the_machine_has_left_is_its_memory_and_its_swap(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_rows(rows: str) -> None:
        monkeypatch.setattr(free_memory, "open", lambda path, encoding: io.StringIO(rows), raising=False)

    monkeypatch.setattr(free_memory, "min", lambda *result: result[0], raising=False)
    write_rows(
        "MemTotal:       32000 kB\nMemFree: 5 kB\nMemAvailable:    3000 kB\nSwapTotal: 9 kB\nSwapFree:   200 kB\n"
    )
    assert free_memory.free_memory() == 3200 * 1024
    write_rows("MemTotal:       32000 kB\n")  # an old kernel does not say
    assert free_memory.free_memory() == sys.maxsize


# Deceptive names

NAMES = {"escape": "\x1b[2J\x1b]0;title\x07", "reordered": "w\u202etxt.exe", "endless": "n" * 60_000}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_is_shown_without_what_a_terminal_obeys_and_cut(name: str, tmp_path: Path) -> None:
    net, errors = nn.Dense(2, 1), []

    def note(action: Any, *arguments: Any, **keywords: Any) -> None:
        with pytest.raises((ValueError, TypeError, RuntimeError)) as caught:
            action(*arguments, **keywords)
        errors.append(str(caught.value))

    path, coded = tmp_path / "x.ckpt", name.encode()
    for content in (
        tensor_entry(coded, 9, 4) + bytes(4),  # too few bytes
        2 * (tensor_entry(coded, 1, 4) + bytes(4)),  # twice
        tensor_entry(coded, 1, 4).replace(b"Float32", b"\x1b[2Jabc") + bytes(4),
        tensor_entry(b"note", 0, 4).replace(b"\x07Float32", b"\x03str").replace(b"note", coded) + b"\xff\xff\xff\xff",
    ):
        path.write_bytes(content)
        note(ms.load_checkpoint, path, net)
    path = tmp_path / "x.safetensors"
    for row in (
        {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": [9, 4]},
        {"dtype": name, "shape": [1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1] * 100, "data_offsets": [0, 4]},
    ):
        path.write_bytes(header_of(**{name: row}) + bytes(4))
        note(ms.load_checkpoint, path, net, format="safetensors")
    good = Parameter(Tensor([1.0]), name[:1000])
    net.bias.name = good.name
    for wrong in (Tensor([1.0]), "text", Parameter(Tensor([[1.0, 2.0]]))):
        note(ms.load_param_into_net, net, {good.name: wrong})
    note(ms.load_param_into_net, net, {good.name: Parameter(Tensor([1]))}, strict_load=True)
    note(ms.save_checkpoint, {name: 3}, tmp_path / "y")
    note(ms.save_checkpoint, {}, tmp_path / "y", append_dict={name: [3]})
    note(ms.save_checkpoint, {}, tmp_path / "y", append_dict={name: "text"}, format="safetensors")
    note(Parameter(Tensor([1]), good.name).set_data, 1.5)
    note(ms.ParameterTuple, [good, Parameter(Tensor([1.0]), good.name)])
    errors.append(repr(good))
    for text in errors:
        assert text.isprintable() and len(text) < 600, text


@pytest.mark.parametrize("name", ["", " ", "n" * 70_000, "half \udc80"], ids=["empty", "blank", "endless", "half"])
@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_a_name_that_could_not_be_read_again_is_not_written(name: str, format: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is empty, too long or has half a character"):
        ms.save_checkpoint({name: Tensor([1.0])}, tmp_path / "x", format=format)
    assert os.listdir(tmp_path) == []


def test_64_axes_are_read_and_one_more_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.ckpt"
    path.write_bytes(entry_of_axes(64))
    assert ms.load_checkpoint(path)["x"].shape == (1,) * 64
    path.write_bytes(entry_of_axes(65))
    with pytest.raises(ValueError, match="'x' has a shape that no array can have: 65 axes"):
        ms.load_checkpoint(path)


def test_half_a_character_names_nothing_and_its_neighbors_do() -> None:
    for code in (0xD800, 0xDBFF, 0xDC00, 0xDFFF):
        assert not is_text(f"a{chr(code)}") and not is_name(chr(code))
    for code in (0xD7FF, 0xE000):
        assert is_text(chr(code)) and is_name(chr(code))


IN_PURE_PYTHON = """
import sys, zlib
import hookscope.engine as ms
from google.protobuf.internal import api_implementation
assert api_implementation.Type() == "python"
path, damaged = sys.argv[1:]
ms.save_checkpoint([{"name": "w\\u00e9ight", "data": ms.Tensor([1.0, 2.0])}], path, append_dict={"note": "\\u2603"},
                   crc_check=True)
found = ms.load_checkpoint(path, crc_check=True)
assert found["w\\u00e9ight"].tolist() == [1.0, 2.0] and found["note"] == "\\u2603"
body = open(path, "rb").read()[:-17].replace("\\u00e9".encode(), b"\\xff\\xff")
open(damaged, "wb").write(body + b"crc_num" + zlib.crc32(body).to_bytes(10, "big"))
try:
    ms.load_checkpoint(damaged, crc_check=True)
except Exception as error:
    print(type(error).__name__, error)
"""


def test_protobuf_without_its_compiled_part_reads_the_same_and_has_the_same_error(tmp_path: Path) -> None:
    path, damaged = tmp_path / "net.ckpt", tmp_path / "damaged.ckpt"
    environment = {**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}
    process = subprocess.run(
        [sys.executable, "-c", IN_PURE_PYTHON, str(path), str(damaged)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    message = f"the checkpoint file '{damaged}' cannot be read: it is not a checkpoint, or is damaged"
    assert process.stdout == f"ValueError {message}\n"
