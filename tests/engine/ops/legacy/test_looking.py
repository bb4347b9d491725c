"""Operators that look at a value: files, summaries, gradients, assertions. Answers recorded from MindSpore 2.10."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, ops


def saved(folder: Path) -> dict[str, list[float]]:
    """Return the files of a folder, without the number in each name, and their values."""
    return {path.stem.rpartition("_")[0]: np.load(path).tolist() for path in sorted(folder.iterdir())}


def test_tensordump_saves_values_under_the_name_with_the_dtype(tmp_path: Path) -> None:
    x = Tensor([1.0, 2.5])
    assert ops.TensorDump()(f"{tmp_path}/aa", x) is None
    ops.TensorDump("in")(f"{tmp_path}/bb.npy", x.astype(ms.bfloat16))
    ops.tensordump(f"{tmp_path}/cc", Tensor([3], ms.int8), "out")
    values = saved(tmp_path)
    assert values == {"aa_float32": [1.0, 2.5], "bb_bfloat16": [1.0, 2.5], "cc_int8": [3]}
    ops.TensorDump()(f"{tmp_path}/aa", x)
    assert len(list(tmp_path.glob("aa_float32_*.npy"))) == 2  # each has a number of its own


def test_dumpgradient_saves_the_gradient_and_changes_nothing(tmp_path: Path) -> None:
    dump = ops.DumpGradient()
    gradient = ms.grad(lambda x: (dump(f"{tmp_path}/g", x * 2, "out") * Tensor([3.0, 5.0])).sum())(Tensor([1.0, 2.0]))
    assert gradient.asnumpy().tolist() == [6.0, 10.0]
    assert saved(tmp_path) == {"g_float32": [3.0, 5.0]}


def test_insertgradientof_gives_the_gradient_to_a_function_and_takes_what_it_returns() -> None:
    came = []

    def tenfold(gradient: Tensor) -> Tensor:
        came.append(gradient.asnumpy().tolist())
        return gradient * 10

    insert = ops.InsertGradientOf(tenfold)
    x, y = Tensor([1.0, 2.0, 3.0]), Tensor([4.0, 5.0, 6.0])
    gradients = ops.GradOperation(get_all=True)(lambda x, y: (insert(x) * insert(y)).sum())(x, y)
    assert [g.asnumpy().tolist() for g in gradients] == [[40.0, 50.0, 60.0], [10.0, 20.0, 30.0]]
    assert sorted(came) == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert insert(x).asnumpy().tolist() == [1.0, 2.0, 3.0]


def test_assert_shows_the_first_elements_of_its_data() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    assert ops.Assert()(Tensor(True), [x]) is None  # type: ignore[func-returns-value]
    with pytest.raises(RuntimeError) as raised:
        ops.Assert(summarize=2)(Tensor(False), [x, Tensor([[5, 6], [7, 8]]), 9])
    assert str(raised.value) == ("For 'Assert', the condition does not hold; input data: [[1.0, 2.0], [5, 6], [9]]")


def test_summaries_go_into_the_record_that_is_open_while_training(tmp_path: Path) -> None:
    from hookscope.engine.train import SummaryRecord

    network = lambda x: (ops.ScalarSummary()("loss", x.sum()), x)[1]  # noqa: E731
    network(Tensor([1.0]))  # none is open: nothing happens
    with SummaryRecord(str(tmp_path)) as record:
        network(Tensor([1.0, 2.0]))
        ops.TensorSummary()("t", Tensor([[3.0]]))
        ops.HistogramSummary()("h", Tensor([3.0, 4.0]))
        ops.ImageSummary()("i", Tensor(np.zeros((1, 3, 2, 2), np.float32)))
        assert {key: np.array(value).tolist() for key, value in record._values.items() if key[0] != "image"} == {
            ("scalar", "loss"): 3.0,
            ("tensor", "t"): [[3.0]],
            ("histogram", "h"): [3.0, 4.0],
        }
        assert ("image", "i") in record._values
        record.record(1)
        record.set_mode("eval")
        network(Tensor([5.0]))
        assert record._values == {}
    network(Tensor([1.0]))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda x: ops.TensorDump("x"),
            ValueError,
            "For 'TensorDump', 'input_output' must be 'in' or 'out', but got 'x'",
        ),
        (lambda x: ops.TensorDump()("", x), ValueError, "For 'tensordump', 'file_name' must not be empty"),
        (lambda x: ops.TensorDump()("a", 1), TypeError, "For 'tensordump', 'tensor' must be a Tensor, but got int"),
        (lambda x: ops.DumpGradient()(3, x, "in"), TypeError, "For 'DumpGradient', 'path' must be a str, but got int"),
        (lambda x: ops.InsertGradientOf(3), TypeError, "For 'InsertGradientOf'"),
        (lambda x: ops.InsertGradientOf(lambda g: g)(3), TypeError, "'input_x' must be a Tensor, but got int"),
        (lambda x: ops.Assert("a"), TypeError, "For 'Assert', 'summarize' must be an int"),
        (lambda x: ops.Assert()(False, x), TypeError, "'input_data' must be a list or tuple, but got Tensor"),
        (lambda x: ops.ScalarSummary()(3, x), TypeError, "For 'ScalarSummary', 'name' must be a str, but got int"),
        (lambda x: ops.ScalarSummary()("", x), ValueError, "For 'ScalarSummary', 'name' must not be empty"),
        (lambda x: ops.ImageSummary()("i", 3), TypeError, "For 'ImageSummary', 'value' must be a Tensor, but got int"),
    ],
)
def test_what_they_cannot_take_is_said(call, error: type[Exception], text: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as raised:
        call(Tensor([1.0]))
    assert text in str(raised.value)
