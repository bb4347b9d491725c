"""Checkpoint files among processes: killed writers, writers in the background, the other format."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.formats import ckpt


def tensors() -> dict[str, Tensor]:
    return {"w": Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), "n": Tensor(7)}


def values_of(loaded: dict[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else value.tolist() for name, value in loaded.items()}


# A writer that is killed

KILLED = """
import os, sys
import numpy as np
import hookscope.engine as ms
path, moment = sys.argv[1:]
def stop(*_):
    print("there", flush=True)
    sys.stdin.read()
if moment == "before it is flushed":
    os.fsync = stop
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
    ms.save_checkpoint({"x": Tensor([3.0])}, path)
    assert ms.load_checkpoint(path)["x"].tolist() == [3.0]
    assert os.listdir(tmp_path) == ["x.ckpt"]


# In the background


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


def test_loading_in_the_background(tmp_path: Path) -> None:
    ms.save_checkpoint(tensors(), tmp_path / "x.ckpt")
    assert values_of(ms.load_checkpoint_async(tmp_path / "x.ckpt").result()) == values_of(tensors())
    with pytest.raises(ValueError, match="does not exist"):
        ms.load_checkpoint_async(tmp_path / "none.ckpt").result()


def test_loading_in_the_background_takes_the_arguments_of_loading(tmp_path: Path) -> None:
    path = tmp_path / "x.ckpt"
    values = {"a.weight": Tensor([[1.0, 2.0]]), "a.bias": Tensor([3.0]), "b.bias": Tensor([4.0]), "c": Tensor([5.0])}
    ms.save_checkpoint(values, path)
    for options, names in (
        ({"filter_prefix": "a"}, ["b.bias", "c"]),
        ({"specify_prefix": ["a.w", "b"]}, ["a.weight", "b.bias"]),
        ({"choice_func": lambda name: "bias" in name}, ["a.bias", "b.bias"]),
    ):
        assert sorted(ms.load_checkpoint_async(path, **options).result()) == names
    net = nn.Dense(2, 1)
    ms.load_checkpoint_async(path, net, strict_load=False, choice_func=lambda name: name.startswith("a")).result()
    assert (net.weight.tolist(), net.bias.tolist()) == ([[1.0, 2.0]], [3.0])


# Tensors in several slices, as MindSpore writes those above 512 MiB


def test_large_tensors_are_written_in_slices_and_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.ckpt"
    monkeypatch.setattr(ckpt, "_SLICE", 64)
    arrays = {"a": np.arange(40.0), "b": np.arange(16, dtype=np.float32), "c": np.zeros((0, 3))}
    tensors = {name: Tensor(array) for name, array in arrays.items()}
    ms.save_checkpoint(tensors, path, crc_check=True)
    body = path.read_bytes()
    assert [len(re.findall(rb"\n\x01" + name, body)) for name in (b"a", b"b", b"c")] == [5, 1, 1]
    assert values_of(ms.load_checkpoint(path, crc_check=True)) == values_of(tensors)
    payload = ckpt.read(str(path), False)
    assert payload["a"].dtype == np.float64
    # Each entry of "a" is 86 bytes; a file that lacks one, or has another's in between, is refused.
    for bad in (body[86:], body[: 86 * 2] + body[86 * 3 :], body[: 86 * 4 + 80]):
        path.chmod(0o600)
        path.write_bytes(bad)
        with pytest.raises(ValueError, match="cannot be read"):
            ms.load_checkpoint(path)


def test_slices_of_another_name_type_or_length_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.ckpt"
    monkeypatch.setattr(ckpt, "_SLICE", 64)
    ms.save_checkpoint({"a": Tensor(np.arange(40.0))}, path)
    body = path.read_bytes()
    path.chmod(0o600)
    length = len(body) // 5  # of each of the entries; the first alone says the shape
    for first, second in ((b"\n\x01a", b"\n\x01x"), (b"Float64", b"Float32")):
        for entry in (1, 4):
            rest = body[entry * length :].replace(first, second, 1)
            path.write_bytes(body[: entry * length] + rest)
            with pytest.raises(ValueError, match=rf"'a' has {64 * entry} bytes, which is not \(40,\) of Float64"):
                ms.load_checkpoint(path)
    assert body.count(b"\x08\x28", 0, length) == 1
    path.write_bytes(body.replace(b"\x08\x28", b"\x08\x27", 1))  # one number less than the slices hold
    with pytest.raises(ValueError, match=r"'a' has 256 bytes, which is not \(39,\) of Float64"):
        ms.load_checkpoint(path)
    path.write_bytes(body)
    np.testing.assert_array_equal(ms.load_checkpoint(path)["a"].asnumpy(), np.arange(40.0))


# The other format


def test_files_whose_names_match_are_converted(tmp_path: Path) -> None:
    for folder in ("rank_0", "rank_1"):
        (tmp_path / "all" / folder).mkdir(parents=True)
        for number in (1, 12, 2):
            ms.save_checkpoint(tensors(), tmp_path / "all" / folder / f"b-{number}.ckpt")
    ms.ckpt_to_safetensors(str(tmp_path / "all"), str(tmp_path / "out"), file_name_regex=r"-1\d*\.")
    for folder in ("rank_0", "rank_1"):
        assert sorted(os.listdir(tmp_path / "out" / folder)) == ["b-1.safetensors", "b-12.safetensors"]


def test_files_are_converted_both_ways(tmp_path: Path) -> None:
    ms.save_checkpoint(tensors(), tmp_path / "a.ckpt")
    ms.ckpt_to_safetensors(str(tmp_path / "a.ckpt"), str(tmp_path / "new"), name_map={"w": "weight"})
    ms.safetensors_to_ckpt(str(tmp_path / "new" / "a.safetensors"))
    result = values_of(ms.load_checkpoint(tmp_path / "new" / "a.ckpt"))
    assert result == {"n": 7, "weight": tensors()["w"].tolist()}
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
        with pytest.raises(IsADirectoryError, match="is not the name of a file"):
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
    parameters = {
        name: Parameter(Tensor(value), name) for name, value in (("net.weight", [[5.0, 6.0]]), ("bias", [7.0]))
    }
    net = nn.Dense(2, 1)
    assert ms.load_param_into_net(net, parameters) == ([], ["net.weight"])
    assert net.weight.tolist() == [[5.0, 6.0]]
    assert ms.load_param_into_net(nn.Dense(2, 1), parameters, strict_load=True) == (["weight"], ["net.weight"])


def test_a_prefix_is_that_of_the_name_and_not_of_what_stands_first() -> None:
    parameters = {
        name: Parameter(Tensor(value), name) for name, value in (("other", [1.0]), ("a.b.weight", [[5.0, 6.0]]))
    }
    net = nn.Dense(2, 1, has_bias=False)
    assert ms.load_param_into_net(net, parameters) == ([], ["other", "a.b.weight"])
    assert net.weight.tolist() == [[5.0, 6.0]]


def test_loading_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    ms.save_checkpoint(tensors(), tmp_path / "x.ckpt")
    go_on = threading.Event()
    future = ms.load_checkpoint_async(str(tmp_path / "x.ckpt"), choice_func=lambda name: go_on.wait(120))
    try:
        assert not future.done()
    finally:
        go_on.set()
    assert values_of(future.result()) == values_of(tensors())


@pytest.mark.parametrize("name", ["crc_check", "remove_redundancy"])
def test_loading_names_what_is_no_bool(name: str, tmp_path: Path) -> None:
    ms.save_checkpoint(tensors(), tmp_path / "x.ckpt")
    with pytest.raises(ValueError, match=f"'load_checkpoint', '{name}' must be"):
        ms.load_checkpoint(tmp_path / "x.ckpt", **{name: 1})


def test_axes_of_one_behind_the_shape_are_dropped() -> None:
    net = nn.Dense(2, 1)
    ms.load_param_into_net(net, {"weight": Parameter(Tensor([[[[5.0]], [[6.0]]]]), "weight")})
    assert net.weight.tolist() == [[5.0, 6.0]]


@pytest.mark.parametrize(("own", "argument"), [("float32", "bool_"), ("bool_", "int32"), ("int32", "float32")])
def test_values_of_another_kind_are_refused(own: str, argument: str) -> None:
    net = nn.Cell()
    net.p = Parameter(Tensor([1, 0], getattr(ms, own)), "p")
    with pytest.raises(RuntimeError, match="'p' is .*, but the value is"):
        ms.load_param_into_net(net, {"p": Parameter(Tensor([1, 0], getattr(ms, argument)), "p")})


def test_a_path_that_ends_in_the_format_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "state_ckpt"
    ms.save_checkpoint({"a": Tensor([1.0])}, str(path))
    assert [item.name for item in tmp_path.iterdir()] == ["state_ckpt"]
    assert ms.load_checkpoint(str(path))["a"].asnumpy().tolist() == [1.0]
    ms.save_checkpoint({"a": Tensor([2.0])}, str(tmp_path / "other.bin"))
    assert (tmp_path / "other.bin.ckpt").exists()
    with pytest.raises(ValueError, match=r"must end in '\.ckpt'"):
        ms.load_checkpoint(str(tmp_path / "other.bin"))
