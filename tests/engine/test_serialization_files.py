"""Checkpoint files among processes: killed writers, writers in the background, limits of memory, the other format."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.dtype import DTYPES
from hookscope.engine.serialization import ckpt

# Written by MindSpore 2.10.0's save_checkpoint(format="safetensors", crc_check=True) for a Dense(2, 1).
MINDSPORES = (
    b'\xb0\x00\x00\x00\x00\x00\x00\x00{"__metadata__":{"format":"ms","crc_num":"3846360274"},"bias":{"dtype":"F32",'
    b'"shape":[1],"data_offsets":[0,4]},"weight":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]}}    '
    + bytes.fromhex("b5b44b3eb558d2bd6c2453be")
)


def tensors() -> dict[str, Tensor]:
    return {"w": Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), "n": Tensor(7)}


def values_of(loaded: dict[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else value.tolist() for name, value in loaded.items()}


# A writer that is killed

KILLED = """
import os, sys
import numpy as np
import hookscope.engine as ms
from hookscope.engine.serialization import atomic
path, moment = sys.argv[1:]
def stop(*_):
    print("there", flush=True)
    sys.stdin.read()
if moment == "before it is flushed":
    atomic._flush = stop
else:
    os.replace = stop
ms.save_checkpoint({"x": ms.Tensor(np.full(2**20, 2.0, np.float32))}, path)
"""


@pytest.mark.parametrize("moment", ["before it is flushed", "before it is renamed"])
def test_a_writer_that_is_killed_leaves_the_old_file(moment: str, tmp_path: Path) -> None:
    path = tmp_path / "x.ckpt"
    ms.save_checkpoint({"x": Tensor([1.0])}, path)
    before = path.read_bytes()
    writer = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), moment], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with writer:
        assert writer.stdout is not None and writer.stdin is not None
        assert writer.stdout.readline() == "there\n"
        writer.send_signal(signal.SIGKILL)
        assert writer.wait() == -signal.SIGKILL
    assert path.read_bytes() == before
    left = [name for name in os.listdir(tmp_path) if name != "x.ckpt"]
    assert all(name.startswith(".x.ckpt.") and name.endswith(".tmp") for name in left)
    ms.save_checkpoint({"x": Tensor([3.0])}, path)
    assert ms.load_checkpoint(path)["x"].tolist() == [3.0]


# Writers in the background


@pytest.mark.parametrize("how", [True, "thread", "process"])
def test_a_file_written_in_the_background_holds_the_values_of_the_call(how: Any, tmp_path: Path) -> None:
    net = nn.Dense(2, 1)
    before = net.weight.tolist()
    ms.save_checkpoint(net, tmp_path / "x.ckpt", async_save=how)
    net.weight.set_data(net.weight + 1)
    net.bias[0] = 5.0
    loaded = ms.load_checkpoint(tmp_path / "x.ckpt")  # waits for the writer
    assert loaded["weight"].tolist() == before
    assert loaded["bias"].tolist() != [5.0]


def test_the_status_tells_of_writers_and_the_next_writer_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, sync = threading.Event(), os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (go_on.wait(60), sync(descriptor)))
    ms.save_checkpoint({"x": Tensor([1.0])}, tmp_path / "x.ckpt", async_save=True)
    assert ms.async_ckpt_thread_status()
    go_on.set()
    ms.save_checkpoint({"x": Tensor([2.0])}, tmp_path / "x.ckpt", async_save=True)
    assert ms.load_checkpoint(tmp_path / "x.ckpt")["x"].tolist() == [2.0]
    deadline = time.monotonic() + 60
    while ms.async_ckpt_thread_status():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_program_ends_after_its_files_are_written(tmp_path: Path) -> None:
    program = (
        "import sys, hookscope.engine as ms\n"
        "ms.save_checkpoint({'x': ms.ops.ones((2**20,))}, sys.argv[1], async_save=True)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "x.ckpt")], check=True)
    assert ms.load_checkpoint(tmp_path / "x.ckpt")["x"].shape == (2**20,)


def test_loading_in_the_background(tmp_path: Path) -> None:
    ms.save_checkpoint(tensors(), tmp_path / "x.ckpt")
    assert values_of(ms.load_checkpoint_async(tmp_path / "x.ckpt").result()) == values_of(tensors())
    with pytest.raises(ValueError, match="does not exist"):
        ms.load_checkpoint_async(tmp_path / "none.ckpt").result()


# Tensors in several slices, as MindSpore writes those above 512 MiB


def test_large_tensors_are_written_in_slices_and_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.ckpt"
    monkeypatch.setattr(ckpt, "_SLICE", 64)
    arrays = {"a": np.arange(40.0), "b": np.arange(16, dtype=np.float32), "c": np.zeros((0, 3))}
    given = {name: Tensor(array) for name, array in arrays.items()}
    ms.save_checkpoint(given, path, crc_check=True)
    body = path.read_bytes()
    assert [len(re.findall(rb"\n\x01" + name, body)) for name in (b"a", b"b", b"c")] == [5, 1, 1]
    assert values_of(ms.load_checkpoint(path, crc_check=True)) == values_of(given)
    whole = ckpt.read(str(path), False)
    assert whole["a"].dtype == np.float64
    # Each entry of "a" is 86 bytes; a file that lacks one, or has another's in between, is refused.
    for bad in (body[86:], body[: 86 * 2] + body[86 * 3 :], body[: 86 * 4 + 80]):
        path.chmod(0o600)
        path.write_bytes(bad)
        with pytest.raises(ValueError, match="cannot be read"):
            ms.load_checkpoint(path)


# What a hostile file may cost

LIMITED = """
import resource, sys
import hookscope.engine as ms
ms.load_checkpoint(sys.argv[1]) if sys.argv[2] == "good" else None
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + 64 * 2**20,) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
try:
    ms.load_checkpoint(sys.argv[3], format=sys.argv[4])
except ValueError as error:
    print("ValueError", error)
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
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(good), "good", str(bad), bad.suffix[1:]],
        capture_output=True, text=True, timeout=60, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.stdout.startswith("ValueError") and name in done.stdout, done.stderr[-500:]


# The other format


def test_safetensors_come_back_and_mindspores_are_read(tmp_path: Path) -> None:
    ms.save_checkpoint(tensors(), tmp_path / "x", format="safetensors", crc_check=True)
    loaded = ms.load_checkpoint(tmp_path / "x.safetensors", format="safetensors", crc_check=True)
    assert values_of(loaded) == values_of(tensors())
    assert all(isinstance(p, Parameter) and p.name == name for name, p in loaded.items())
    (tmp_path / "ms.safetensors").write_bytes(MINDSPORES)
    found = ms.load_checkpoint(tmp_path / "ms.safetensors", format="safetensors", crc_check=True)
    assert {name: p.shape for name, p in found.items()} == {"bias": (1,), "weight": (1, 2)}


def test_the_safetensors_written_are_mindspores(tmp_path: Path) -> None:
    (tmp_path / "ms.safetensors").write_bytes(MINDSPORES)
    found = ms.load_checkpoint(tmp_path / "ms.safetensors", format="safetensors")
    again = tmp_path / "again.safetensors"
    ms.save_checkpoint({"weight": found["weight"], "bias": found["bias"]}, again, format="safetensors", crc_check=True)

    def content(file: bytes) -> tuple[str, bytes]:
        length = int.from_bytes(file[:8], "little")
        return file[8 : 8 + length].decode().strip(), file[8 + length :]

    assert content(again.read_bytes())[1] == content(MINDSPORES)[1]
    assert sorted(content(again.read_bytes())[0]) == sorted(content(MINDSPORES)[0])


def test_the_checksum_of_numbers_is_mindspores_too(tmp_path: Path) -> None:
    floats, small = np.arange(4, dtype=np.float32), np.arange(2, dtype=np.int8)
    given = {"b": Tensor(floats), "s": Tensor(3), "a": Tensor(np.arange(3.0)), "c": Tensor(small)}
    ms.save_checkpoint(given, tmp_path / "x", format="safetensors", crc_check=True)
    # The number that MindSpore 2.10.0 writes for the same values.
    assert b'"crc_num":"767729765"' in (tmp_path / "x.safetensors").read_bytes()
    ms.load_checkpoint(tmp_path / "x.safetensors", format="safetensors", crc_check=True)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if not d.is_complex], ids=str)
def test_every_dtype_comes_back_from_safetensors(dtype: ms.DType, tmp_path: Path) -> None:
    given = Tensor(np.array([[0, 1], [1, 0]]), dtype)
    ms.save_checkpoint({"x": given.T, "empty": given[:0]}, tmp_path / "x", format="safetensors")
    found = ms.load_checkpoint(tmp_path / "x.safetensors", format="safetensors")
    assert (found["x"].dtype, found["x"].tolist()) == (dtype, given.T.tolist())
    assert found["empty"].shape == (0, 2)


def test_a_string_is_refused_by_safetensors_and_no_file_appears(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="'note' is a str, which a safetensors file cannot hold; use ckpt"):
        ms.save_checkpoint(tensors(), tmp_path / "x", format="safetensors", append_dict={"note": "text"})
    assert os.listdir(tmp_path) == []


def test_files_are_converted_both_ways(tmp_path: Path) -> None:
    ms.save_checkpoint(tensors(), tmp_path / "a.ckpt")
    ms.ckpt_to_safetensors(str(tmp_path / "a.ckpt"), str(tmp_path / "new"), name_map={"w": "weight"})
    ms.safetensors_to_ckpt(str(tmp_path / "new" / "a.safetensors"))
    found = values_of(ms.load_checkpoint(tmp_path / "new" / "a.ckpt"))
    assert found == {"n": 7, "weight": tensors()["w"].tolist()}
    (tmp_path / "all" / "rank_0").mkdir(parents=True)
    ms.save_checkpoint(tensors(), tmp_path / "all" / "rank_0" / "b.ckpt")
    ms.ckpt_to_safetensors(str(tmp_path / "all"), str(tmp_path / "out"))
    assert os.listdir(tmp_path / "out" / "rank_0") == ["b.safetensors"]
    for bad, text in (("none.ckpt", "must be a file or a folder"), ("new", "no folders whose names begin with 'rank'")):
        with pytest.raises(ValueError, match=text):
            ms.ckpt_to_safetensors(str(tmp_path / bad))
    with pytest.raises(ValueError, match=r"must end in '\.safetensors'"):
        ms.safetensors_to_ckpt(str(tmp_path / "a.ckpt"))


# Arguments


def test_encryption_is_named_as_what_is_not_covered(tmp_path: Path) -> None:
    ms.save_checkpoint(tensors(), tmp_path / "x.ckpt")
    for action in (
        lambda: ms.save_checkpoint(tensors(), tmp_path / "y.ckpt", enc_key=b"0123456789abcdef"),
        lambda: ms.load_checkpoint(tmp_path / "x.ckpt", dec_key=b"0123456789abcdef"),
    ):
        with pytest.raises(NotImplementedError, match=r"'(en|de)c_key' is not covered: keep the file on an encrypted"):
            action()


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"async_save": 3}, TypeError),
        ({"async_save": "soon"}, ValueError),
        ({"integrated_save": 1}, TypeError),
        ({"crc_check": 1}, ValueError),
        ({"enc_key": "text"}, ValueError),
        ({"append_dict": [1]}, TypeError),
        ({"append_dict": {1: 1}}, TypeError),
        ({"choice_func": 3}, TypeError),
    ],
)
def test_bad_arguments_of_saving_are_refused_as_mindspore_does(
    options: dict[str, Any], kind: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(kind):
        ms.save_checkpoint(tensors(), tmp_path / "x.ckpt", **options)
    assert os.listdir(tmp_path) == []


def test_where_no_file_can_be_written_the_error_is_the_systems(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
        ms.save_checkpoint(tensors(), tmp_path / "no" / "x.ckpt")
    (tmp_path / "x.ckpt").mkdir()
    for path in (tmp_path / "x.ckpt", ""):
        with pytest.raises(IsADirectoryError, match="is no name of a file"):
            ms.save_checkpoint(tensors(), path)
    with pytest.raises(TypeError, match="'ckpt_file_name' must be a str or a path, but got int"):
        ms.save_checkpoint(tensors(), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"filter_prefix": 3}, TypeError),
        ({"filter_prefix": [1]}, TypeError),
        ({"filter_prefix": []}, ValueError),
        ({"specify_prefix": ""}, ValueError),
        ({"choice_func": 3}, ValueError),
        ({"crc_check": 3}, ValueError),
        ({"remove_redundancy": 3}, ValueError),
        ({"dec_key": "text"}, ValueError),
        ({"format": "safetensors"}, ValueError),
        ({"net": 3}, TypeError),
        ({"net": nn.Dense(2, 1), "strict_load": 3}, TypeError),
    ],
)
def test_bad_arguments_of_loading_are_refused_as_mindspore_does(
    options: dict[str, Any], kind: type[Exception], tmp_path: Path
) -> None:
    ms.save_checkpoint(tensors(), tmp_path / "x.ckpt")
    with pytest.raises(kind):
        ms.load_checkpoint(tmp_path / "x.ckpt", **options)


# Into a network


def test_names_behind_a_prefix_are_found_unless_strict() -> None:
    given = {name: Parameter(Tensor(value), name) for name, value in (("net.weight", [[5.0, 6.0]]), ("bias", [7.0]))}
    net = nn.Dense(2, 1)
    assert ms.load_param_into_net(net, given) == ([], ["net.weight"])
    assert net.weight.tolist() == [[5.0, 6.0]]
    assert ms.load_param_into_net(nn.Dense(2, 1), given, strict_load=True) == (["weight"], ["net.weight"])


def test_axes_of_one_behind_the_shape_are_dropped() -> None:
    net = nn.Dense(2, 1)
    ms.load_param_into_net(net, {"weight": Parameter(Tensor([[[[5.0]], [[6.0]]]]), "weight")})
    assert net.weight.tolist() == [[5.0, 6.0]]


@pytest.mark.parametrize(("mine", "given"), [("float32", "bool_"), ("bool_", "int32"), ("int32", "float32")])
def test_values_of_another_kind_are_refused(mine: str, given: str) -> None:
    net = nn.Cell()
    net.p = Parameter(Tensor([1, 0], getattr(ms, mine)), "p")
    with pytest.raises(RuntimeError, match="'p' is .*, but the value is"):
        ms.load_param_into_net(net, {"p": Parameter(Tensor([1, 0], getattr(ms, given)), "p")})
