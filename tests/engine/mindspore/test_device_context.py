"""mindspore.device_context: what is there of each kind of device; a setting without effect says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hookscope.engine import device_context, runtime

# MindSpore 2.10 on a CPU
THERE = [
    ("cpu is there", lambda: device_context.cpu.device.is_available(), True),
    ("one CPU", lambda: device_context.cpu.device_count(), 1),
    ("no Ascend device", lambda: device_context.ascend.device.is_available(), False),
]
REFUSED = [
    ("0 threads", lambda: device_context.cpu.threads_num(0), ValueError, "'num' must be"),
    ("a bool", lambda: device_context.cpu.threads_num(True), TypeError, "'num' must be an int, but got bool"),
    ("a float", lambda: device_context.cpu.threads_num(2.0), TypeError, "'num' must be an int, but got float"),  # type: ignore[arg-type]
    ("Ascend devices", device_context.ascend.device_count, RuntimeError, "there must be an Ascend device"),
    (
        "an Ascend setting",
        lambda: device_context.ascend.op_debug.execute_timeout(3),
        NotImplementedError,
        "execute_timeout is not covered by hookscope: it is for Ascend devices",
    ),
    (
        "a GPU setting",
        lambda: device_context.gpu.op_precision.conv_allow_tf32(True),
        NotImplementedError,
        "conv_allow_tf32 is not covered by hookscope: .* leave it out",
    ),
]


@pytest.mark.parametrize(("call", "answer"), [row[1:] for row in THERE], ids=[row[0] for row in THERE])
def test_the_kinds_of_devices_are_told_as_mindspore_on_a_cpu_tells_them(call: Callable[[], Any], answer: Any) -> None:
    assert call() is answer or call() == answer


@pytest.mark.parametrize(("call", "error", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_not_here_is_one_clear_error(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("count", [0, 2])
def test_gpus_are_counted_where_they_can_be_used(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(runtime, "device_count", lambda target: count if target == "GPU" else 1)
    assert device_context.gpu.is_available() is (count > 0)
    if count:
        assert device_context.gpu.device_count() == 2
    else:
        with pytest.raises(RuntimeError, match="there must be a GPU that can be used"):
            device_context.gpu.device.device_count()


def test_the_number_of_threads_can_be_set_once_and_says_that_it_has_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookscope.engine.device_context.cpu.settings", {})
    with pytest.warns(UserWarning, match="set the environment variable OPENBLAS_NUM_THREADS before"):
        device_context.cpu.op_tuning.threads_num(4)
    with pytest.raises(RuntimeError, match="the number can be set once"):
        device_context.cpu.op_tuning.threads_num(5)
