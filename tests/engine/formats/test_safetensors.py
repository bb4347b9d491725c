"""The .safetensors format: MindSpore's files and the library's are read and written byte for byte."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor
from hookscope.engine.tensors.dtype import DTYPES

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


def test_safetensors_come_back_and_mindspores_are_read(tmp_path: Path) -> None:
    ms.save_checkpoint(tensors(), tmp_path / "x", format="safetensors", crc_check=True)
    loaded = ms.load_checkpoint(tmp_path / "x.safetensors", format="safetensors", crc_check=True)
    assert values_of(loaded) == values_of(tensors())
    assert all(isinstance(p, Parameter) and p.name == name for name, p in loaded.items())
    (tmp_path / "ms.safetensors").write_bytes(MINDSPORES)
    result = ms.load_checkpoint(tmp_path / "ms.safetensors", format="safetensors", crc_check=True)
    assert {name: p.shape for name, p in result.items()} == {"bias": (1,), "weight": (1, 2)}


def test_the_safetensors_written_are_mindspores(tmp_path: Path) -> None:
    (tmp_path / "ms.safetensors").write_bytes(MINDSPORES)
    result = ms.load_checkpoint(tmp_path / "ms.safetensors", format="safetensors")
    again = tmp_path / "again.safetensors"
    ms.save_checkpoint(
        {"weight": result["weight"], "bias": result["bias"]}, again, format="safetensors", crc_check=True
    )

    def content(file: bytes) -> tuple[str, bytes]:
        length = int.from_bytes(file[:8], "little")
        return file[8 : 8 + length].decode().strip(), file[8 + length :]

    header, elements = content(again.read_bytes())
    without_ours = re.sub(r',"hookscope_crc_num":"\d+"', "", header)
    assert elements == content(MINDSPORES)[1] and header != without_ours
    assert sorted(without_ours) == sorted(content(MINDSPORES)[0])


@pytest.mark.parametrize(
    ("good", "damaged"),
    [
        (b'"dtype":"I32","shape":[2,3]', b'"dtype":"F32","shape":[2,3]'),
        (b'"dtype":"I32","shape":[2,3]', b'"dtype":"I32","shape":[3,2]'),
        (b'"dtype":"I32","shape":[2,3]', b'"dtype":"I32","shape":[06] '),
        (b'"shape":[2,3]', b'"shape":[6,1]'),
        (b'"dtype":"I32"', b'"dtype":"U32"'),
    ],
)
def test_crc_check_refuses_another_dtype_or_shape(good: bytes, damaged: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    ms.save_checkpoint({"a": Tensor(np.ones((2, 3), np.int32))}, path, format="safetensors", crc_check=True)
    content = path.read_bytes()
    assert good in content
    path.write_bytes(content.replace(good, damaged))
    with pytest.raises(ValueError, match="does not fit: the file is damaged|cannot be read"):
        ms.load_checkpoint(path, format="safetensors", crc_check=True)


def test_a_file_with_the_checksum_of_mindspore_alone_is_read(tmp_path: Path) -> None:
    """As MindSpore writes it, and Hookscope before there was a checksum of its own."""
    path = tmp_path / "x.safetensors"
    path.write_bytes(MINDSPORES)
    assert len(ms.load_checkpoint(path, format="safetensors", crc_check=True)) == 2
    path.write_bytes(MINDSPORES.replace(b"3846360274", b"3846360275"))
    with pytest.raises(ValueError, match="the file is damaged"):
        ms.load_checkpoint(path, format="safetensors", crc_check=True)


def test_the_checksum_of_numbers_is_mindspores_too(tmp_path: Path) -> None:
    floats, small = np.arange(4, dtype=np.float32), np.arange(2, dtype=np.int8)
    tensors = {"b": Tensor(floats), "s": Tensor(3), "a": Tensor(np.arange(3.0)), "c": Tensor(small)}
    ms.save_checkpoint(tensors, tmp_path / "x", format="safetensors", crc_check=True)
    # The number that MindSpore 2.10.0 writes for the same values.
    assert b'"crc_num":"767729765"' in (tmp_path / "x.safetensors").read_bytes()
    ms.load_checkpoint(tmp_path / "x.safetensors", format="safetensors", crc_check=True)


@pytest.mark.parametrize(
    ("value", "summed"),
    [
        (Tensor(0), b""),
        (Tensor(1), b"\0"),
        (Tensor(2**24 - 1), bytes(2**24 - 1)),  # as many zeros as the number
        (Tensor(2**24), (2**24).to_bytes(8, "little")),
        (Tensor(-1), b"\xff" * 8),
        (Tensor([2]), (2).to_bytes(8, "little")),
        (Tensor(2.0), np.float32(2.0).tobytes()),
    ],
)
def test_the_checksum_is_over_the_name_and_the_bytes(value: Tensor, summed: bytes, tmp_path: Path) -> None:
    ms.save_checkpoint({"s": value}, tmp_path / "x", format="safetensors", crc_check=True)
    result = zlib.crc32(summed, zlib.crc32(b"s"))
    assert f'"crc_num":"{result}"'.encode() in (tmp_path / "x.safetensors").read_bytes()


@pytest.mark.parametrize("dtype", [d for d in DTYPES if not d.is_complex], ids=str)
def test_every_dtype_comes_back_from_safetensors(dtype: ms.DType, tmp_path: Path) -> None:
    argument = Tensor(np.array([[0, 1], [1, 0]]), dtype)
    ms.save_checkpoint({"x": argument.T, "empty": argument[:0]}, tmp_path / "x", format="safetensors")
    result = ms.load_checkpoint(tmp_path / "x.safetensors", format="safetensors")
    assert (result["x"].dtype, result["x"].tolist()) == (dtype, argument.T.tolist())
    assert result["empty"].shape == (0, 2)


def test_the_librarys_own_writer_would_write_the_same_bytes(tmp_path: Path) -> None:
    from safetensors.numpy import save

    kinds = [d for d in DTYPES if d != ms.complex128]
    arrays = {f"{name}{index}": np.ones((index, 3)) for index in range(2) for name in "ba"}
    tensors = {f"{kind}.{name}": Tensor(array, kind) for name, array in arrays.items() for kind in kinds}
    path = tmp_path / "x.safetensors"
    ms.save_checkpoint({**tensors, "höhe": Tensor(2.0)}, path, format="safetensors")
    reference = {name: tensor.asnumpy().copy() for name, tensor in tensors.items()}
    assert path.read_bytes() == save({**reference, "höhe": np.array(2.0, np.float32)}, {"format": "ms"})


def test_every_dtype_is_read_by_a_program_that_made_none_of_it(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    ms.save_checkpoint({"x": Tensor([0.5, -1.5], ms.bfloat16)}, path, format="safetensors")
    program = "import sys, hookscope.engine as m; print(m.load_checkpoint(*sys.argv[1:], format='safetensors'))"
    process = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert "shape=(2,), dtype=BFloat16" in process.stdout


def header_of(**rows: Any) -> bytes:
    header = json.dumps(rows).encode()
    return len(header).to_bytes(8, "little") + header


@pytest.mark.parametrize("code", ["F8_E4M3", "F8_E5M2", "F8_E8M0"])
def test_a_dtype_that_the_engine_has_not_is_named(code: str, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(header_of(w={"dtype": code, "shape": [2], "data_offsets": [0, 2]}) + b"ab")
    with pytest.raises(ValueError, match=f"'{path}' cannot be read: 'w' has the type '{code}', which the engine"):
        ms.load_checkpoint(path, format="safetensors")
    with pytest.raises(TypeError, match="'c' is Complex128, which a safetensors file cannot hold; use ckpt"):
        ms.save_checkpoint({"c": Tensor([1j], ms.complex128)}, path, format="safetensors")


def test_a_string_is_refused_by_safetensors_and_no_file_appears(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="'note' is a str, which a safetensors file cannot hold; use ckpt"):
        ms.save_checkpoint(tensors(), tmp_path / "x", format="safetensors", append_dict={"note": "text"})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("second", ["a", "\\u0061"])
def test_a_name_that_stands_twice_in_a_file_is_refused(second: str, tmp_path: Path) -> None:
    entries = ['{"dtype":"F32","shape":[0],"data_offsets":[0,0]}', '{"dtype":"F32","shape":[1],"data_offsets":[0,4]}']
    header = f'{{"a":{entries[0]},"{second}":{entries[1]}}}'.encode()
    path = tmp_path / "twice.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + np.float32(7).tobytes())
    with pytest.raises(ValueError, match="'a' is in it twice"):
        ms.load_checkpoint(str(path), format="safetensors")
