"""Checkpoints: what is written is read again, MindSpore's own files are read, and a bad file changes nothing."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.tensors.dtype import DTYPES

# Written by MindSpore 2.10.0's save_checkpoint (CPU) for a Dense(2, 1) of weight [[1.5, -2.25]] and bias [0.5].
MINDSPORES = bytes.fromhex(
    "0a210a067765696768741217080108021207466c6f617433321a080000c03f000010c0"
    "0a190a0462696173121108011207466c6f617433321a040000003f"
)
# The same with crc_check=True.
WITH_CHECKSUM = MINDSPORES + bytes.fromhex("6372635f6e756d00000000000075880db8")


# The wire format by hand: a field is its number and kind in one byte, then its length, then its bytes.


def field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    result = b""
    while number >= 128:
        result += bytes([number & 127 | 128])
        number >>= 7
    return result + bytes([number])


def entry(name: bytes, dims: list[int], kind: bytes, content: bytes) -> bytes:
    tensor = b"".join(b"\x08" + varint(n) for n in dims) + field(2, kind) + field(3, content)
    return field(1, field(1, name) + field(2, tensor))


def network() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3), nn.Dense(3, 1))


def bytes_of(net: nn.Cell) -> list[bytes]:
    return [p.asnumpy().tobytes() for p in net.get_parameters()]


# Round trips


def test_a_network_is_read_again_bit_for_bit(tmp_path: Path) -> None:
    saved, loaded = network(), network()
    ms.save_checkpoint(saved, tmp_path / "net.ckpt")
    assert bytes_of(saved) != bytes_of(loaded)
    result = ms.load_checkpoint(tmp_path / "net.ckpt", loaded)
    assert bytes_of(saved) == bytes_of(loaded)
    assert list(result) == [p.name for p in saved.get_parameters()]
    assert all(isinstance(p, Parameter) and p.requires_grad for p in result.values())


@pytest.mark.parametrize("dtype", [d for d in DTYPES if not d.is_complex], ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)], ids=str)
def test_every_dtype_and_shape_comes_back(dtype: ms.DType, shape: tuple[int, ...], tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 2, shape) * 1.5
    tensor = Tensor(values, dtype)
    ms.save_checkpoint({"x": tensor}, tmp_path / "x.ckpt")
    result = ms.load_checkpoint(tmp_path / "x.ckpt")["x"]
    assert (result.shape, result.dtype) == (shape, dtype)
    assert result.asnumpy().tobytes() == tensor.asnumpy().tobytes()


def test_views_are_saved_as_what_they_show(tmp_path: Path) -> None:
    view = Tensor(np.arange(12.0).reshape(3, 4))[:, ::2].T
    ms.save_checkpoint({"view": view}, tmp_path / "x.ckpt")
    assert ms.load_checkpoint(tmp_path / "x.ckpt")["view"].tolist() == view.tolist()


def test_a_list_and_appended_values(tmp_path: Path) -> None:
    appended = {"epoch": 3, "loss": 0.5, "done": True, "note": "höhe", "t": Tensor([1.0])}
    ms.save_checkpoint([{"name": "w", "data": Tensor([2.0])}], tmp_path / "x", append_dict=appended)
    result = ms.load_checkpoint(tmp_path / "x.ckpt")
    assert result.pop("note") == "höhe"
    assert {name: value.tolist() for name, value in result.items()} == {
        "w": [2.0],
        "epoch": 3,
        "loss": 0.5,
        "done": True,
        "t": [1.0],
    }


def test_names_are_chosen_when_saving_and_when_loading(tmp_path: Path) -> None:
    path = tmp_path / "x.ckpt"
    tensors = {name: Tensor([1.0]) for name in ("a.w", "a.b", "c.w")}
    ms.save_checkpoint(tensors, path, choice_func=lambda name: name != "a.b")
    assert set(ms.load_checkpoint(path)) == {"a.w", "c.w"}
    assert set(ms.load_checkpoint(path, specify_prefix="a")) == {"a.w"}
    assert set(ms.load_checkpoint(path, filter_prefix=["a", "x"])) == {"c.w"}
    assert set(ms.load_checkpoint(path, choice_func=lambda name: name.endswith("w"))) == {"a.w", "c.w"}
    with pytest.raises(ValueError, match="no parameter is left of the file .*: check the prefixes"):
        ms.load_checkpoint(path, specify_prefix="z")
    with pytest.raises(ValueError, match="'filter_prefix' must be a str or strs that are not empty"):
        ms.load_checkpoint(path, filter_prefix="")


# MindSpore's own bytes


def test_a_file_of_mindspores_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.ckpt").write_bytes(MINDSPORES)
    result = ms.load_checkpoint(tmp_path / "x.ckpt")
    assert {name: p.tolist() for name, p in result.items()} == {"weight": [[1.5, -2.25]], "bias": [0.5]}


@pytest.mark.parametrize("crc_check", [False, True])
def test_the_bytes_written_are_mindspores(crc_check: bool, tmp_path: Path) -> None:
    tensors = {"weight": Tensor([[1.5, -2.25]]), "bias": Tensor([0.5])}
    ms.save_checkpoint(tensors, tmp_path / "x.ckpt", crc_check=crc_check)
    assert (tmp_path / "x.ckpt").read_bytes() == (WITH_CHECKSUM if crc_check else MINDSPORES)
    assert set(ms.load_checkpoint(tmp_path / "x.ckpt", crc_check=crc_check)) == {"weight", "bias"}


# Writing whole or not at all


def test_the_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    ms.save_checkpoint({"x": Tensor([1.0])}, tmp_path / "x.ckpt")
    assert stat.S_IMODE((tmp_path / "x.ckpt").stat().st_mode) == 0o400


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.ckpt"
    for value in (1.0, 2.0):
        ms.save_checkpoint({"x": Tensor([value])}, path)
    assert ms.load_checkpoint(path)["x"].tolist() == [2.0]
    assert os.listdir(path.parent) == ["x.ckpt"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.ckpt"
    ms.save_checkpoint({"x": Tensor([1.0])}, path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        ms.save_checkpoint({"x": Tensor([2.0])}, path)
    assert ms.load_checkpoint(path)["x"].tolist() == [1.0]
    assert os.listdir(tmp_path) == ["x.ckpt"]


@pytest.mark.parametrize(
    ("saved", "text"),
    [
        (3, r"'save_obj' must be a Cell, a dict, a list of \{'name', 'data'\} or a list of parameters, but got int"),
        ({"x": 3}, "'x' must be a Tensor or a Parameter, but got int"),
        ([{"name": "x"}], "'save_obj' must be"),
    ],
)
def test_what_cannot_be_saved_is_refused_and_no_file_appears(saved: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=text):
        ms.save_checkpoint(saved, tmp_path / "x.ckpt")
    with pytest.raises(
        TypeError, match="'extra' in 'append_dict' must be a number, a string or a Tensor, but got list"
    ):
        ms.save_checkpoint({"x": Tensor([1.0])}, tmp_path / "x.ckpt", append_dict={"extra": [1]})
    assert os.listdir(tmp_path) == []


def test_text_with_half_a_character_is_refused_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.ckpt"
    ms.save_checkpoint({"x": Tensor([1.0])}, path)
    text = "^For 'save_checkpoint', the text 'note' has half a character, which no file can hold$"
    with pytest.raises(ValueError, match=text):
        ms.save_checkpoint({"x": Tensor([2.0])}, path, append_dict={"note": "a\ud800"})
    assert ms.load_checkpoint(path)["x"].tolist() == [1.0] and os.listdir(tmp_path) == ["x.ckpt"]


# Bad files: one clear error, and the network as it was

ZEROS = bytes(8)
BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it holds nothing"),
    "text": (b"hello, this is no checkpoint\n" * 3, "it is not a checkpoint, or is damaged"),
    "pickle": (
        b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07builtins\x94.",
        "it is not a checkpoint, or is damaged",
    ),
    "cut off": (MINDSPORES[:-2], "it is not a checkpoint, or is damaged"),
    "too few bytes": (
        entry(b"weight", [3], b"Float32", ZEROS),
        r"'weight' has 8 bytes, which is not \(3,\) of Float32",
    ),
    "too many bytes": (entry(b"weight", [1], b"Float32", ZEROS), r"'weight' has 8 bytes, which is not \(1,\)"),
    "negative axis": (entry(b"weight", [-2], b"Float32", ZEROS), r"which is not \(-2,\) of Float32"),
    "overflowing axes": (entry(b"weight", [2**62, 2**62, 2**62], b"Float32", ZEROS), "has 8 bytes, which is not"),
    "product that wraps to 2": (entry(b"weight", [2**33, 2**31 + 1], b"Float32", ZEROS), "has 8 bytes, which is not"),
    "long empty axes": (
        entry(b"weight", [0, 2**62, 2**62], b"Float32", b""),
        "'weight' has a shape that no array can have",
    ),
    "too many axes": (entry(b"weight", [1] * 100, b"Float32", bytes(4)), "'weight' has a shape that no array can have"),
    "unknown type": (entry(b"weight", [2], b"Object", ZEROS), "'weight' has the unknown type 'Object'"),
    "no type": (field(1, field(1, b"weight") + field(2, b"")), "cannot be read"),
    "no tensor": (field(1, field(1, b"weight")), "'weight' has the unknown type ''"),
    "name that is no text": (
        entry(b"\xff\xfe", [2], b"Float32", ZEROS),
        "not a checkpoint, or is damaged|not UTF-8 text",
    ),
    "empty name": (entry(b" ", [2], b"Float32", ZEROS), "the name ' ' is empty"),
    "text that is not text": (entry(b"note", [0], b"str", b"\xff\xff\xff\xff"), "'note' is not UTF-32 text"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_clear_error_and_changes_nothing(name: str, tmp_path: Path) -> None:
    content, text = BAD[name]
    path = tmp_path / "bad.ckpt"
    good = entry(b"bias", [1], b"Float32", bytes(4)) if content and name not in ("text", "pickle") else b""
    path.write_bytes(good + content)
    net = nn.Dense(2, 1)
    before = bytes_of(net)
    with pytest.raises(ValueError, match=f"the checkpoint file '.*bad.ckpt' cannot be read: .*{text}|{text}") as caught:
        ms.load_checkpoint(path, net)
    assert "bad.ckpt" in str(caught.value)
    assert bytes_of(net) == before


@pytest.mark.parametrize("index", range(0, len(WITH_CHECKSUM), 7))
def test_the_checksum_finds_every_changed_byte(index: int, tmp_path: Path) -> None:
    changed = bytearray(WITH_CHECKSUM)
    changed[index] ^= 0x40
    (tmp_path / "x.ckpt").write_bytes(bytes(changed))
    with pytest.raises(ValueError, match=r"the checksum of .* does not fit: the file is damaged|has no checksum"):
        ms.load_checkpoint(tmp_path / "x.ckpt", crc_check=True)


def test_any_changed_byte_is_read_as_other_values_or_refused_by_value_error(tmp_path: Path) -> None:
    path = tmp_path / "x.ckpt"
    for index in range(len(MINDSPORES)):
        for bit in (0x01, 0x80, 0xFF):
            changed = bytearray(MINDSPORES)
            changed[index] ^= bit
            path.write_bytes(bytes(changed))
            try:
                ms.load_checkpoint(path)
            except ValueError as error:
                assert "x.ckpt" in str(error)  # noqa: PT017  # most changes raise, some do not: both are right


def test_missing_files_and_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the checkpoint file '.*none.ckpt' does not exist"):
        ms.load_checkpoint(tmp_path / "none.ckpt")
    (tmp_path / "x.ckpt").write_bytes(MINDSPORES)
    with pytest.raises(ValueError, match="has no checksum; save it with crc_check=True"):
        ms.load_checkpoint(tmp_path / "x.ckpt", crc_check=True)
    for action in (lambda: ms.load_checkpoint("x", format="hdf"), lambda: ms.save_checkpoint({}, "x", format="hdf")):
        with pytest.raises(ValueError, match="'format' must be 'ckpt' or 'safetensors', but got 'hdf'"):
            action()


# Into a network


def values(**keywords: Any) -> dict[str, Parameter]:
    return {name: Parameter(Tensor(value), name) for name, value in keywords.items()}


def test_what_was_not_loaded_is_told_both_ways() -> None:
    missing, unused = ms.load_param_into_net(nn.Dense(2, 1), values(weight=np.zeros((1, 2), np.float32), other=[1.0]))
    assert (missing, unused) == (["bias"], ["other"])


def test_values_are_cast_within_their_kind_unless_strict() -> None:
    net = nn.Dense(2, 1)
    parameters = values(weight=np.full((1, 2), 2.0))
    ms.load_param_into_net(net, parameters)
    assert (net.weight.dtype, net.weight.tolist()) == (ms.float32, [[2.0, 2.0]])
    with pytest.raises(RuntimeError, match="'weight' is Float32, but the value is Float64"):
        ms.load_param_into_net(net, parameters, strict_load=True)
    with pytest.raises(RuntimeError, match="'weight' is Float32, but the value is Int64"):
        ms.load_param_into_net(net, values(weight=np.ones((1, 2), np.int64)))


@pytest.mark.parametrize(
    ("own", "argument"),
    [
        ("float32", "bfloat16"),
        ("bfloat16", "float64"),
        ("float16", "bfloat16"),
        ("int32", "uint8"),
        ("uint16", "int64"),
        ("complex64", "complex128"),
    ],
)
def test_floats_go_into_floats_and_integers_into_integers(own: str, argument: str) -> None:
    net = nn.Cell()
    net.p = Parameter(Tensor([1, 0], getattr(ms, own)), "p")
    ms.load_param_into_net(net, {"p": Parameter(Tensor([3, 5], getattr(ms, argument)), "p")})
    assert (net.p.dtype, net.p.asnumpy().astype(complex).tolist()) == (getattr(ms, own), [3, 5])


def test_a_shape_that_does_not_fit_changes_nothing_at_all() -> None:
    net = nn.Dense(2, 1)
    before = bytes_of(net)
    parameters = values(weight=np.zeros((1, 2), np.float32), bias=np.zeros(2, np.float32))
    with pytest.raises(RuntimeError, match=r"'bias' has the shape \(1,\), but the value has \(2,\)"):
        ms.load_param_into_net(net, parameters)
    assert bytes_of(net) == before


def test_loaded_values_are_the_networks_own() -> None:
    net, parameters = nn.Dense(2, 1), values(bias=[5.0])
    ms.load_param_into_net(net, parameters)
    net.bias[0] = 7.0
    assert parameters["bias"].tolist() == [5.0]


@pytest.mark.parametrize(
    ("net", "argument", "text"),
    [
        (3, {}, "'net' must be a Cell, but got int"),
        (nn.Cell(), [], "'parameter_dict' must be a dict, but got list"),
        (nn.Cell(), {"w": 3}, "'w' must be a Parameter, but got str and int"),
        (nn.Dense(2, 1), {"bias": "text"}, "'bias' must be a Parameter, but got str"),
    ],
)
def test_what_is_no_network_or_no_parameters_is_refused(net: Any, argument: Any, text: str) -> None:
    with pytest.raises(TypeError, match=f"For 'load_param_into_net', {text}"):
        ms.load_param_into_net(net, argument)


def test_an_optimizers_state_is_saved_with_the_rest(tmp_path: Path) -> None:
    net = nn.Dense(2, 1)
    optimizer = nn.Adam(net.trainable_params())
    optimizer([Tensor(np.ones(p.shape, np.float32)) for p in net.trainable_params()])
    ms.save_checkpoint(optimizer, tmp_path / "x.ckpt")
    fresh = nn.Adam(nn.Dense(2, 1).trainable_params())
    ms.load_checkpoint(tmp_path / "x.ckpt", fresh)
    assert bytes_of(fresh) == bytes_of(optimizer)


# Equal names


def of_inserted_blocks() -> nn.SequentialCell:
    """Return three blocks whose parameters have the same two names, since inserting does not rename."""
    net = nn.SequentialCell(nn.Dense(3, 3))
    for name in ("s1", "s2"):
        net.insert_child_to_cell(name, nn.SequentialCell(nn.Dense(3, 3)))
    return net


def same_values(net: nn.Cell, other: nn.Cell) -> bool:
    pairs = zip(net.get_parameters(), other.get_parameters(), strict=True)
    return all(np.array_equal(a.asnumpy(), b.asnumpy()) for a, b in pairs)


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
@pytest.mark.parametrize("called", [(), ("saved",), ("loaded",), ("saved", "loaded")])
def test_a_network_of_equal_names_comes_back_by_path(format: str, called: tuple[str, ...], tmp_path: Path) -> None:
    saved, loaded = of_inserted_blocks(), of_inserted_blocks()
    for name, net in (("saved", saved), ("loaded", loaded)):
        if name in called:
            net(Tensor(np.ones((1, 3), np.float32)))
    path = str(tmp_path / f"a.{format}")
    ms.save_checkpoint(saved, path, format=format)
    values = ms.load_checkpoint(path, format=format)
    paths = ["0.bias", "0.weight", "s1.0.bias", "s1.0.weight", "s2.0.bias", "s2.0.weight"]
    assert sorted(values) == paths
    assert ms.load_param_into_net(loaded, values) == ([], []) and same_values(saved, loaded)
    other = of_inserted_blocks()
    ms.load_checkpoint(path, other, format=format)
    assert same_values(saved, other)
    assert [p.name for p in other.get_parameters()] == ["0.weight", "0.bias"] * 3  # nothing is renamed by it


def test_equal_names_in_a_cell_around_it_come_back_too(tmp_path: Path) -> None:
    class Around(nn.Cell):
        def __init__(self) -> None:
            super().__init__(auto_prefix=False)
            self.net = of_inserted_blocks()

        def construct(self, x: Tensor) -> Tensor:
            return self.net(x)

    around = Around()
    around(Tensor(np.ones((1, 3), np.float32)))
    ms.save_checkpoint(around.net, str(tmp_path / "a.ckpt"))
    other = of_inserted_blocks()
    missing, _ = ms.load_param_into_net(other, ms.load_checkpoint(str(tmp_path / "a.ckpt")))
    assert missing == [] and same_values(around.net, other)


def test_names_that_a_file_lacks_are_told_by_path(tmp_path: Path) -> None:
    """An older version wrote the last value of each name."""
    values = {p.name: p for p in of_inserted_blocks().get_parameters()}
    missing, unknown = ms.load_param_into_net(of_inserted_blocks(), values)
    assert (missing, unknown) == (["s1.0.weight", "s1.0.bias", "s2.0.weight", "s2.0.bias"], [])


def test_a_list_of_equal_names_is_refused_with_them(tmp_path: Path) -> None:
    parameters = list(of_inserted_blocks().get_parameters())
    pairs = [{"name": p.name, "data": p} for p in parameters]
    for value in (parameters, pairs):
        with pytest.raises(ValueError, match=r"names must differ, but several values are named '0\.weight', '0\.bias'"):
            ms.save_checkpoint(value, str(tmp_path / "a.ckpt"))
    ms.save_checkpoint([parameters[0], parameters[0]], str(tmp_path / "a.ckpt"))  # one value, twice
    assert list(ms.load_checkpoint(str(tmp_path / "a.ckpt"))) == ["0.weight"] and len(list(tmp_path.iterdir())) == 1


def test_parameters_of_one_name_and_one_path_are_refused(tmp_path: Path) -> None:
    net, inner = nn.Cell(), nn.Cell()
    inner.insert_param_to_cell("w", Parameter(Tensor([1.0]), name="x"))
    net.insert_child_to_cell("a", inner)
    net.insert_param_to_cell("a.w", Parameter(Tensor([2.0]), name="x"), check_name_contain_dot=False)
    for action in (
        lambda: ms.save_checkpoint(net, str(tmp_path / "a.ckpt")),
        lambda: ms.load_param_into_net(net, {"x": Parameter(Tensor([3.0]))}),
    ):
        with pytest.raises(ValueError, match=r"several values are named 'a\.w'"):
            action()
