"""Event files: what is recorded is read back by a reader that knows TensorBoard's format and nothing of the writer."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.train import SummaryCollector, SummaryRecord


def crc32c(data: bytes) -> int:
    """Compute the checksum bit by bit, by RFC 3720."""
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = (rest >> 1) ^ (0x82F63B78 * (rest & 1))
    return rest ^ 0xFFFFFFFF


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_the_readers_checksum_is_the_published_one() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def records(path: str) -> Iterator[bytes]:
    """Yield the TFRecords of a file, with both checksums compared."""
    data = Path(path).read_bytes()
    while data:
        (length,), (check,) = struct.unpack("<Q", data[:8]), struct.unpack("<I", data[8:12])
        assert check == masked(data[:8])
        body = data[12 : 12 + length]
        assert struct.unpack("<I", data[12 + length : 16 + length])[0] == masked(body)
        yield body
        data = data[16 + length :]


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data: bytes) -> dict[int, list[Any]]:
    """Return a protobuf message's fields by number: ints, bytes, or the bytes of a number of fixed width."""
    results: dict[int, list[Any]] = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            length, at = varint(data, at) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            value, at = data[at : at + length], at + length
        results.setdefault(key >> 3, []).append(value)
    return results


def numbers(data: bytes, kind: str) -> list[float]:
    return np.frombuffer(data, kind).tolist()


def events(path: str) -> list[tuple[int, dict[str, dict[int, Any]]]]:
    """Return the step and the values by tag of each event but the first, which says the version."""
    first, *others = map(fields, records(path))
    assert first[3] == [b"brain.Event:2"]
    results = []
    for item in others:
        (wall_time,) = numbers(item[1][0], "<f8")
        assert wall_time > 1e9
        values = [fields(value) for value in fields(item[5][0])[1]]
        results.append((item.get(2, [0])[0], {value[1][0].decode(): value for value in values}))
    return results


def scalars(path: str, tag: str) -> dict[int, float]:
    return {step: numbers(values[tag][2][0], "<f4")[0] for step, values in events(path) if tag in values}


def test_scalars_are_those_of_their_steps(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "new" / "folder")) as record:
        for step, value in ((1, 0.5), (2, 0.0), (300, -2.5)):
            record.add_value("scalar", "loss", Tensor(99.0))
            record.add_value("scalar", "loss", Tensor(value))  # of one name the last counts
            record.add_value("scalar", "beside", Tensor([[step]], ms.int32))
            assert record.record(step) is True
        assert record.record(301) is True  # nothing was added
        record.flush()
        assert scalars(record.log_dir, "loss") == {1: 0.5, 2: 0.0, 300: -2.5}
    assert scalars(record.log_dir, "beside") == {1: 1.0, 2: 2.0, 300: 300.0}
    path = Path(record.log_dir)
    assert path.parent == tmp_path / "new" / "folder" and path.name.startswith("events.out.tfevents.")
    assert path.name.endswith("_MS")
    with pytest.warns(RuntimeWarning, match="it has been closed, and nothing is recorded"):
        assert record.record(302) is False
    with pytest.raises(ValueError, match="has been closed"), record:
        pass


def test_a_histogram_counts_all_finite_elements(tmp_path: Path) -> None:
    values = np.random.default_rng(3).normal(size=(40, 5)).astype(np.float32)
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("histogram", "w", Tensor(np.append(values, np.nan).astype(np.float32)))
        record.add_value("histogram", "constant", Tensor(np.full(7, 3.0)))
        record.record(4)
    ((_, result),) = events(record.log_dir)
    histogram = fields(result["w"][5][0])
    exact = values.astype(np.float64)
    summaries = [numbers(histogram[index][0], "<f8")[0] for index in (1, 2, 3, 4, 5)]
    assert np.allclose(summaries, [exact.min(), exact.max(), 200, exact.sum(), (exact**2).sum()], rtol=1e-12)
    limits, counts = (np.array(numbers(histogram[index][0], "<f8")) for index in (6, 7))
    edges = np.concatenate([[exact.min()], limits])
    assert limits[-1] == exact.max() and counts.sum() == 200
    below = [int((exact < edge).sum()) for edge in edges[:-1]]
    assert np.diff([*below, 200]).tolist() == counts.tolist()
    constant = fields(result["constant"][5][0])
    assert sum(numbers(constant[7][0], "<f8")) == 7 and numbers(constant[1][0], "<f8") == [3.0]


def image_of(value: dict[int, Any]) -> Any:
    message = fields(value[4][0])
    image = np.asarray(Image.open(io.BytesIO(message[4][0])))
    assert [message[1][0], message[2][0]] == list(image.shape[:2]) and message[3] == [1 if image.ndim == 2 else 3]
    return image


def test_images_stand_beside_each_other_as_a_png_file(tmp_path: Path) -> None:
    gray = (np.arange(3 * 4 * 5).reshape(3, 1, 4, 5) / 59).astype(np.float32)
    color = np.arange(9 * 3 * 2 * 2, dtype=np.uint8).reshape(9, 3, 2, 2)
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("image", "gray", Tensor(gray))
        record.add_value("image", "color", Tensor(color))
        record.add_value("image", "spread", Tensor(np.array([-1.0, 0.0, 1.0, 2.0]).reshape(1, 1, 2, 2)))
        record.record(1)
    ((_, result),) = events(record.log_dir)
    assert np.array_equal(image_of(result["gray"]), np.hstack((gray[:, 0].astype(np.float64) * 255).astype(np.uint8)))
    text = image_of(result["color"])
    assert text.shape == (4, 16, 3) and np.array_equal(text[2:, :2], color[8].transpose(1, 2, 0))
    assert np.array_equal(text[:2, 4:6], color[2].transpose(1, 2, 0)) and not text[2:, 2:].any()
    assert image_of(result["spread"]).tolist() == [[0, 63], [127, 191]]  # (x + 1) * 255 / 4


@pytest.mark.parametrize(
    ("dtype", "number"),
    [("float32", 1), ("float64", 2), ("int32", 3), ("uint8", 4), ("int64", 9), ("bool", 10), ("float16", 19)],
)
def test_tensors_keep_their_shape_dtype_and_elements(tmp_path: Path, dtype: str, number: int) -> None:
    value = (np.arange(6).reshape(2, 3) % 2 + 1).astype(dtype)
    with SummaryRecord(str(tmp_path), export_options={"tensor_format": "npy"}) as record:
        tensor = Tensor(value)
        record.add_value("tensor", "a/b", tensor)
        tensor += 1  # what was added does not change
        record.record(7)
    ((_, result),) = events(record.log_dir)
    message = fields(result["a/b"][8][0])
    assert message[1] == [number] and np.frombuffer(message[4][0], dtype).tolist() == value.reshape(-1).tolist()
    assert [fields(dim)[1] for dim in fields(message[2][0])[2]] == [[2], [3]]
    (exported,) = tmp_path.glob("export_*/tensor/*.npy")
    assert exported.name == "a_b_7.npy" and np.array_equal(np.load(exported), value)


def test_a_filter_and_the_most_bytes_leave_values_out(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "s", Tensor(1.0))
        record.add_value("tensor", "t", Tensor([1.0]))
        record.record(1, plugin_filter=lambda kind: kind != "tensor")
        record.record(2)
    assert [(step, list(values)) for step, values in events(record.log_dir)] == [(1, ["s"])]
    with SummaryRecord(str(tmp_path), max_file_size=200) as small:
        assert small.log_dir != record.log_dir

        def fill() -> None:
            for step in range(30):
                small.add_value("scalar", "s", Tensor(1.0))
                small.record(step)

        with pytest.warns(RuntimeWarning, match="has reached 'max_file_size', 200 bytes") as warned:
            fill()
    assert len(warned) == 1 and Path(small.log_dir).stat().st_size <= 200
    assert 0 < len(scalars(small.log_dir, "s")) < 5


@pytest.mark.parametrize(
    ("wrong", "error", "match"),
    [
        (lambda r: r.add_value("sound", "a", Tensor(1)), ValueError, "'plugin' must be one of"),
        (lambda r: r.add_value("scalar", "", Tensor(1)), ValueError, "'name' must be a str that is not empty"),
        (lambda r: r.add_value("scalar", "a", 1.0), TypeError, "'value' must be a tensor, but got float"),
        (lambda r: r.add_value("scalar", "a", Tensor([1, 2])), ValueError, "must have one element"),
        (lambda r: r.add_value("image", "a", Tensor(np.zeros((1, 2, 3, 3)))), ValueError, "1 or 3 channels"),
        (lambda r: r.add_value("tensor", "a", Tensor(np.zeros((0, 2)))), ValueError, "must have elements"),
        (lambda r: r.add_value("graph", "a", 1), NotImplementedError, "TensorBoard does not show it"),
        (lambda r: r.record("1"), TypeError, "'step' must be an int"),
        (lambda r: r.record(1, plugin_filter=3), TypeError, "'plugin_filter' must be a function"),
        (lambda r: r.set_mode("test"), ValueError, "'mode' must be 'train' or 'eval'"),
        (lambda r: SummaryRecord("other"), RuntimeError, "one is open at"),
    ],
)
def test_values_that_cannot_be_recorded_are_refused(tmp_path: Path, wrong: Any, error: Any, match: str) -> None:
    with SummaryRecord(str(tmp_path)) as record, pytest.raises(error, match=match):
        wrong(record)


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"log_dir": 3}, TypeError),
        ({"file_prefix": "a/b"}, ValueError),
        ({"file_suffix": 3}, TypeError),
        ({"max_file_size": "a"}, TypeError),
        ({"raise_exception": 1}, TypeError),
        ({"export_options": 3}, TypeError),
        ({"export_options": {"tensor_format": "csv"}}, ValueError),
        ({"export_options": {"x": 1}}, ValueError),
    ],
)
def test_a_file_that_cannot_be_made_is_refused_and_leaves_nothing_open(tmp_path: Path, more: Any, error: Any) -> None:
    with pytest.raises(error, match="^For 'SummaryRecord'"):
        SummaryRecord(**{"log_dir": str(tmp_path), **more})
    SummaryRecord(str(tmp_path)).close()


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.flat, self.dense = nn.Flatten(), nn.Dense(4, 2)

    def construct(self, x: Any) -> Any:
        return self.dense(self.flat(x))


def trained(folder: Path, **more: Any) -> tuple[str, list[float]]:
    ms.set_seed(3)
    images = np.random.default_rng(3).random((10, 1, 2, 2)).astype(np.float32)
    data = ms.dataset.NumpySlicesDataset((images, np.arange(10) % 2), ["x", "y"], shuffle=False).batch(2)
    data = data.map(lambda y: y.astype(np.int32), "y")
    net = Net()
    losses: list[float] = []

    class Losses(ms.train.Callback):
        def step_end(self, run_context: Any) -> None:
            losses.append(run_context.original_args().net_outputs.asnumpy().item())

    optimizer = nn.SGD(net.trainable_params(), 0.1)
    model = ms.train.Model(net, nn.CrossEntropyLoss(), optimizer)
    model.train(2, data, callbacks=[SummaryCollector(str(folder), **more), Losses()], dataset_sink_mode=False)
    (path,) = folder.glob("*tfevents*")
    return str(path), losses


def test_a_collector_writes_loss_images_and_parameters_of_the_first_and_every_nth_step(tmp_path: Path) -> None:
    path, losses = trained(tmp_path, collect_freq=4, custom_lineage_data={"rate": 0.1, "kind": "sgd"})
    assert scalars(path, "loss/auto") == {1: losses[0], 4: losses[3], 8: losses[7]}
    first, second, _ = events(path)
    assert set(first[1]) == {
        "loss/auto",
        "input_data/auto",
        "dense.weight/auto",
        "dense.bias/auto",
        "custom_lineage_data",
    }
    assert "custom_lineage_data" not in second[1] and image_of(second[1]["input_data/auto"]).shape == (2, 4)
    assert fields(first[1]["custom_lineage_data"][8][0])[8] == [b"rate: 0.1\n\nkind: sgd"]


def test_a_collector_writes_what_it_is_told_to(tmp_path: Path) -> None:
    path, _ = trained(
        tmp_path,
        collect_freq=5,
        keep_default_action=False,
        collect_specified_data={"collect_metric": True, "histogram_regular": ".*bias"},
    )
    assert [(step, set(values)) for step, values in events(path)] == [
        (step, {"loss/auto", "dense.bias/auto"}) for step in (1, 5, 10)
    ]


@pytest.mark.parametrize(
    ("more", "error", "match"),
    [
        ({"collect_freq": 0}, ValueError, "'collect_freq' must be above 0"),
        ({"collect_tensor_freq": 0}, ValueError, "'collect_tensor_freq' must be above 0"),
        ({"max_file_size": "a"}, TypeError, "'max_file_size' must be an int"),
        ({"keep_default_action": 1}, TypeError, "'keep_default_action' must be a bool"),
        ({"collect_specified_data": {"x": 1}}, ValueError, "but got 'x'"),
        ({"collect_specified_data": {"collect_metric": 1}}, TypeError, "'collect_metric' must be a bool"),
        ({"collect_specified_data": {"histogram_regular": "("}}, ValueError, "is not a regular expression"),
        ({"collect_specified_data": {"collect_landscape": {"unit": "step"}}}, NotImplementedError, "only MindInsight"),
        ({"custom_lineage_data": {"a": [1]}}, TypeError, "'custom_lineage_data' must be a dict"),
        ({"summary_dir": 3}, TypeError, "'summary_dir' must be a str"),
    ],
)
def test_a_collector_refuses_what_it_cannot_write(tmp_path: Path, more: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        SummaryCollector(**{"summary_dir": str(tmp_path), **more})


def test_a_loss_landscape_names_another_way() -> None:
    with pytest.raises(NotImplementedError, match="mindspore.train.SummaryLandscape is not covered by hookscope"):
        ms.train.SummaryLandscape("folder")
