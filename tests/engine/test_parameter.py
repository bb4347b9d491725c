"""Parameter: its names and the settings that it keeps. What it does as a value is in test_cell.py."""

from __future__ import annotations

from typing import Any

import pytest

from hookscope.engine import Parameter, Tensor, nn


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


def test_data_is_read_and_assigned() -> None:
    p = parameter()
    p.data = Tensor([5.0, 6.0])
    assert p.data.tolist() == p.copy().tolist() == [5.0, 6.0]
    assert p.init_data() is p
    with pytest.raises(ValueError, match="'device' must be \"CPU\" or \"Remote\", but got 'GPU'"):
        Parameter(Tensor([1.0]), device="GPU")
