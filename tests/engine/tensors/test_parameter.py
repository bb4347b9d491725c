"""Parameter: its names and its settings. Its behavior as a value is in test_cell.py."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, grad, nn, ops
from hookscope.engine.tensors.initializer import initializer


def parameter() -> Parameter:
    return Parameter(Tensor([1.0, 2.0]), "p")


def test_a_parameter_without_a_name_gets_one_of_its_own_until_a_cell_takes_it() -> None:
    first, second = Parameter(Tensor([1.0])), Parameter(Tensor([1.0]), "  ")
    assert first.name.startswith("Parameter#") and first.name != second.name
    net = nn.Cell()
    net.w = first
    assert first.name == "w"
    assert Parameter(Tensor([1.0]), "  a ").name == "a"


def test_the_defaults_are_mindspores() -> None:
    p = parameter()
    assert (p.comm_fusion, p.layerwise_parallel, p.parallel_optimizer, p.cache_enable) == (1, False, True, False)
    assert (p.unique, p.sliced, p.key, p.cache_shape, p.is_init, p.has_init) == (False, False, -1, [], False, False)
    assert (p.inited_param, p.parallel_optimizer_comm_recompute, p.param_info) == (None, False, p)


@pytest.mark.parametrize(
    ("name", "value", "wrong", "error"),
    [
        ("comm_fusion", 3, "a", TypeError),
        ("comm_fusion", 0, -1, ValueError),
        ("comm_fusion", 2, True, TypeError),
        ("layerwise_parallel", True, "x", TypeError),
        ("parallel_optimizer", False, 1, TypeError),
        ("parallel_optimizer_comm_recompute", True, 1, TypeError),
        ("cache_enable", True, 1, TypeError),
        ("cache_shape", (2, 3), 3, TypeError),
        ("key", 4, "x", TypeError),
        ("requires_grad", False, 1, TypeError),
    ],
)
def test_a_setting_is_kept_and_of_its_type(name: str, value: Any, wrong: Any, error: type[Exception]) -> None:
    p = parameter()
    setattr(p, name, value)
    assert getattr(p, name) == value == getattr(p.clone(), name)
    with pytest.raises(error, match=f"For 'Parameter', '{name}' must"):
        setattr(p, name, wrong)


def test_pipeline_stages_are_kept() -> None:
    p = parameter()
    p.add_pipeline_stage(2)
    with pytest.raises(TypeError, match="'stage' must be an int from 0 on, but got 'a'"):
        p.add_pipeline_stage("a")  # type: ignore[arg-type]
    p.add_pipeline_stage(0)
    with pytest.raises(TypeError, match="'stage' must be an int from 0 on, but got -1"):
        p.add_pipeline_stage(-1)
    assert p._pipeline_stage_list == [2, 0]


def test_data_is_read_and_assigned() -> None:
    p = parameter()
    p.data = Tensor([5.0, 6.0])
    assert p.data.tolist() == p.copy().tolist() == [5.0, 6.0]
    assert p.init_data() is p
    with pytest.raises(ValueError, match="'device' must be \"CPU\" or \"Remote\", but got 'GPU'"):
        Parameter(Tensor([1.0]), device="GPU")


def test_a_pickled_parameter_has_values_name_and_settings() -> None:
    for settings in ((True, False, True), (False, True, False)):
        p = Parameter(Tensor([1.5, -2.0]), "p", *settings)
        other = pickle.loads(pickle.dumps(p))
        assert type(other) is Parameter and (other.name, other.tolist(), other.dtype) == ("p", [1.5, -2.0], p.dtype)
        assert (other.requires_grad, other.layerwise_parallel, other.parallel_optimizer) == settings


def test_a_parameter_knows_whether_it_still_holds_what_was_drawn() -> None:
    def drawn(init: Any = "normal") -> Parameter:
        return Parameter(initializer(init, (2, 3)), "p")

    assert drawn().as_drawn and not drawn("zeros").as_drawn and not parameter().as_drawn
    for change in (
        lambda p: p.set_data(Tensor([[1.0] * 3] * 2)),
        lambda p: ops.assign(p, p * 2),
        lambda p: p.__setitem__(0, 1.0),
        lambda p: nn.SGD([p], 0.1)((p * 1,)),
    ):
        p = drawn()
        grad(lambda x, p=p: (p * x).sum(), None, [p])(Tensor(2.0))
        assert p.as_drawn
        change(p)
        assert not p.as_drawn


def test_a_buffer_object_becomes_a_buffer_of_the_cell_it_is_assigned_to() -> None:
    from hookscope.engine.tensors.parameter import _Buffer

    class Counting(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.seen = _Buffer(Tensor([1.0]))
            self.scratch = _Buffer(Tensor([2.0]), persistent=False)

    buffer = _Buffer(Tensor([1.0, 2.0]))
    assert type(buffer) is Tensor and isinstance(buffer, _Buffer) and not isinstance(Tensor([1.0]), _Buffer)
    cell = Counting()
    assert {name: item.asnumpy().tolist() for name, item in cell.named_buffers()} == {"seen": [1.0], "scratch": [2.0]}
    assert list(cell.state_dict()) == ["seen"] and not cell.trainable_params()
    with pytest.raises(TypeError, match="'seen' is a buffer"):
        cell.seen = Tensor([5.0])
    cell.seen = _Buffer(Tensor([5.0]))
    assert cell.seen.asnumpy().tolist() == [5.0]
    x = Tensor([3.0])
    assert ms.grad(lambda x: (_Buffer(x) * x).sum())(x).asnumpy().tolist() == [3.0]  # gradients do not pass
    with pytest.raises(ValueError, match="'data' must be a Tensor, but got None"):
        _Buffer(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'data' must be a Tensor, but got int"):
        _Buffer(3)  # type: ignore[arg-type]


def test_swap_tensors_makes_each_what_the_other_is() -> None:
    tensor, parameter = Tensor([1.0, 2.0]), Parameter(Tensor([3]), name="q")
    ms.swap_tensors(tensor, parameter)
    assert type(tensor) is Parameter and tensor.name == "q" and tensor.asnumpy().tolist() == [3]
    assert type(parameter) is Tensor and parameter.asnumpy().tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="For 'swap_tensors', 't2' must be a Tensor, but got int"):
        ms.swap_tensors(tensor, 2)  # type: ignore[arg-type]
