"""Settings that MindSpore programs make and read back: the context, the log, what one process has of many."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, context, mint, nn, ops
from hookscope.engine.common import api


@pytest.fixture(autouse=True)
def _as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "_settings", dict(context._settings))


def test_the_device_is_where_new_tensors_are() -> None:
    assert ms.get_current_device() == ("CPU", 0)
    ms.set_context(device_id=3)
    device = ms.get_current_device()
    assert (device.device_target, device.device_id) == ("CPU", 3) == (Tensor(1).device.split(":")[0], 3)


@pytest.mark.parametrize(("wished", "kept"), [(True, "ON"), (False, "OFF")])
def test_the_wish_for_the_same_bits_is_kept(wished: bool, kept: str) -> None:
    ms.set_deterministic(wished)
    assert ms.get_context("deterministic") == kept


def test_how_deep_a_compiler_may_go_is_kept() -> None:
    ms.set_recursion_limit(77)
    assert ms.get_context("max_call_depth") == 77
    ms.set_recursion_limit()
    assert ms.get_context("max_call_depth") == 1000


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ms.set_deterministic(1), TypeError, "'deterministic' must be a bool, got int"),
        (lambda: ms.set_recursion_limit(True), TypeError, "'recursion_limit' must be an int, but got True"),
        (lambda: ms.set_recursion_limit(2.0), TypeError, "'recursion_limit' must be an int, but got 2.0"),
        (lambda: ms.set_recursion_limit(0), ValueError, "'recursion_limit' must be above 0, but got 0"),
    ],
)
def test_a_setting_of_another_kind_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    found = logging.getLogger("hookscope")
    before = found.level
    yield found
    found.setLevel(before)


@pytest.mark.parametrize(
    ("level", "text"), [("DEBUG", "0"), ("INFO", "1"), ("WARNING", "2"), ("ERROR", "3"), ("CRITICAL", "4"), (35, "2")]
)
def test_the_level_of_the_log_is_counted_as_in_mindspore(logger: logging.Logger, level: Any, text: str) -> None:
    logger.setLevel(level)
    assert ms.get_level() == text
    assert ms.get_log_config() == {"GLOG_v": text, "GLOG_logtostderr": "1"}


def test_other_processes_can_be_met_where_mpi4py_is_installed() -> None:
    assert mint.distributed.is_available() is (importlib.util.find_spec("mpi4py") is not None)
    assert mint.distributed.is_initialized() is False


def test_a_parameter_server_can_be_left_out_but_not_asked_for() -> None:
    assert ms.set_ps_context() is None and ms.context.set_ps_context(enable_ps=False) is None
    with pytest.raises(NotImplementedError, match="for a cluster"):
        ms.set_ps_context(enable_ps=True)
    with pytest.raises(NotImplementedError, match="for a cluster"):
        ms.set_ps_context(client_password="x")
    with pytest.raises(TypeError, match="'enable_ps' must be a bool, but got int"):
        ms.set_ps_context(enable_ps=0)


def test_gradients_can_be_asked_for_at_any_time() -> None:
    assert api._pynative_executor.enable_grad() is True


def test_the_handle_of_a_hook_has_its_number_under_mindspores_name_too() -> None:
    net = nn.ReLU()
    first, second = (net.register_forward_hook(lambda *_: None) for _ in range(2))
    assert first.handle_id == first.id != second.handle_id == second.id


@pytest.mark.parametrize(
    ("setting", "value", "error"),
    [
        ("mode", "a", TypeError),
        ("mode", 3, ValueError),
        ("device_target", 3, TypeError),
        ("device_id", -1, ValueError),
        ("device_id", 4096, ValueError),
        ("device_id", "a", TypeError),
        ("save_graphs", 9, ValueError),
        ("save_graphs", "a", TypeError),
        ("save_graphs_path", 3, TypeError),
        ("max_call_depth", -1, ValueError),
        ("pynative_synchronize", 3, TypeError),
        ("deterministic", "x", ValueError),
        ("runtime_num_threads", -1, ValueError),
        ("inter_op_parallel_num", -1, ValueError),
        ("op_timeout", -2, ValueError),
        ("max_device_memory", 3, TypeError),
        ("memory_optimize_level", "O7", ValueError),
        ("jit_syntax_level", 9, ValueError),
        ("jit_config", 3, TypeError),
        ("debug_level", 7, ValueError),
        ("exec_order", "zz", ValueError),
        ("enable_compile_cache", 3, TypeError),
        ("check_bprop", 3, TypeError),
        ("precompile_only", True, ValueError),
        ("grad_for_scalar", True, ValueError),
        ("no_such_setting", 1, ValueError),
    ],
)
def test_a_value_that_mindspore_refuses_is_refused_with_its_class(
    setting: str, value: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"'{setting}'|setting '{setting}'"):
        ms.set_context(**{setting: value})


@pytest.mark.filterwarnings("ignore:.*has no effect here")
@pytest.mark.parametrize(
    ("setting", "default", "other"),
    [
        ("deterministic", "OFF", "ON"),
        ("max_call_depth", 1000, 50),
        ("save_graphs", 0, True),
        ("jit_syntax_level", 2, 0),
        ("runtime_num_threads", 0, 2),
        ("exec_order", "bfs", "dfs"),
        ("support_binary", False, True),
        ("aoe_tune_mode", "", "online"),
        ("pynative_synchronize", False, True),
    ],
)
def test_a_setting_is_mindspores_default_until_it_is_set(setting: str, default: Any, other: Any) -> None:
    assert ms.get_context(setting) == default
    ms.set_context(**{setting: other})
    assert ms.get_context(setting) == other


def test_a_setting_is_asked_for_by_its_name() -> None:
    with pytest.raises(TypeError, match="'attr_key' must be a str, but got int"):
        ms.get_context(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("device", "error"), [((3,), TypeError), (("CPU", -1), ValueError), (("XX",), ValueError)])
def test_a_device_that_is_none_is_refused(device: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="For 'set_device'"):
        ms.set_device(*device)


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error", "critical"])
def test_messages_go_to_the_log(level: str, logger: logging.Logger, caplog: pytest.LogCaptureFixture) -> None:
    logger.setLevel(logging.DEBUG)
    with caplog.at_level(logging.DEBUG, "hookscope"):
        getattr(ms.log, level)("step %d", 3)
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [(level.upper(), "step 3")]


def test_a_message_of_the_log_names_the_file_that_logged_it(caplog: pytest.LogCaptureFixture) -> None:
    ms.log.warning("%d rows", 3)
    (record,) = caplog.records
    assert (record.getMessage(), record.pathname, record.levelname) == ("3 rows", __file__, "WARNING")


def test_the_graph_executor_calls_a_cell_once_and_undoes_its_steps() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = ms.Parameter(Tensor([2.0, 3.0]))
            self.calls = 0

        def construct(self, x: Tensor, times: int = 1) -> Tensor:
            self.calls += 1
            ops.assign_add(self.weight, Tensor([1.0, 1.0]))
            return ops.matmul(x, self.weight.reshape(2, 1)) * times

    net = Net()
    assert api._cell_graph_executor.compile(net, Tensor([[1.0, 1.0]]), phase="train") == ("train", True)
    assert net.calls == 1
    np.testing.assert_array_equal(net.weight.asnumpy(), [2, 3])
    with pytest.raises(RuntimeError, match="matmul"):
        api._cell_graph_executor.compile(net, Tensor([[1.0, 1.0, 1.0]]))
    np.testing.assert_array_equal(net.weight.asnumpy(), [2, 3])
    api._cell_graph_executor.compile(net, Tensor(shape=[None, 3], dtype=ms.float32))
    assert net.calls == 2, "a placeholder has no values to call it with"
    np.testing.assert_array_equal(api._cell_graph_executor(net, Tensor([[1.0, 1.0]])).asnumpy(), [[7]])
    with pytest.raises(AttributeError, match="construct"):
        api._cell_graph_executor.compile(lambda x: x, Tensor([1.0]))


def test_the_graph_executor_leaves_a_training_step_undone() -> None:
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    x, y = Tensor([[1.0, 2.0]]), Tensor([[1.0]])
    first = [api._cell_graph_executor.compile(step, x, y) and float(step(x, y)) for _ in range(2)]
    again = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    step = nn.TrainOneStepCell(nn.WithLossCell(again, nn.MSELoss()), nn.Momentum(again.trainable_params(), 0.1, 0.9))
    assert first == [float(step(x, y)) for _ in range(2)]
    np.testing.assert_array_equal(net.weight.asnumpy(), again.weight.asnumpy())
