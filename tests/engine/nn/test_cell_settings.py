"""Settings of a cell: what is kept and can be read back, what is refused, and the precision of its operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import JitConfig, Parameter, Tensor, mint, nn, ops
from hookscope.engine.nn import settings
from hookscope.engine.ops import primitives


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())

    def construct(self, x: Tensor) -> Tensor:
        return self.body(x)


@pytest.mark.filterwarnings("ignore:'Cell.pipeline_:UserWarning")
@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("pipeline_stage", 2, "a"),
        ("pipeline_segment", 1, True),
        ("parameter_layout_dict", {"a": 1}, 3),
        ("parallel_parameter_name_list", ["a"], 3),
        ("parallel_parameter_merge_net_dict", {}, 3),
        ("cell_init_args", "text", 3),
        ("compile_phase", "p", 3),
        ("phase", "mine", 3),
        ("bprop_debug", True, 1),
    ],
)
def test_a_setting_is_kept_and_of_its_type(name: str, value: Any, wrong: Any) -> None:
    net = Net()
    setattr(net, name, value)
    assert getattr(net, name) == value
    with pytest.raises(TypeError, match=f"'{name}' must be "):
        setattr(net, name, wrong)


def test_a_stage_is_not_negative_and_not_there_before_it_is_set() -> None:
    with pytest.raises(ValueError, match="'pipeline_stage' must not be negative, but got -1"):
        Net().pipeline_stage = -1
    with pytest.raises(AttributeError, match=r"^'Net' has no 'pipeline_stage': it was not set$"):
        _ = Net().pipeline_stage


@pytest.mark.filterwarnings("ignore:.*has no effect here")  # see test_cell_page.py
def test_what_a_compiler_or_a_cluster_would_read_is_kept() -> None:
    net = Net()
    net.set_jit_config(JitConfig("O1"))
    assert net.jit_config_dict["jit_level"] == "O1"
    net.update_cell_type("quant")
    assert net.cell_type == "quant"
    assert net.set_boost("less_bn").less_bn
    assert net.set_broadcast_flag().body.broadcast_flag
    assert net.set_comm_fusion(2).body[0].weight.comm_fusion == 2
    assert (net.compiled, net.compile_cache, net.phase_cache) == (False, set(), {})


def test_inputs_are_kept_and_the_ways_to_call_a_cell_call_it() -> None:
    net = Net()
    net.set_inputs(Tensor([[1.0, 2.0]]))
    assert net.get_inputs()[0].shape == (1, 2)  # type: ignore[index]
    assert net.get_inputs()[0].tolist() == [[1.0, 2.0]]  # type: ignore[index]
    assert Net().get_inputs() is None
    net.body[0].weight.set_data(Tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
    net.body[0].bias.set_data(Tensor([0.0, 0.0, 1.0]))
    assert net.get_func_graph_proto() is None
    assert net.compile_and_run(x=Tensor([[1.0, 2.0]])).tolist() == [[1.0, 2.0, 0.0]]
    x = Tensor([[1.0, 2.0]])
    assert net.compile_and_run(x).tolist() == net.run_construct((x,), {}).tolist() == net(x=x).tolist()
    assert net.run_construct((), {"x": x}).tolist() == net(x).tolist()


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (lambda net: net.set_boost("fast"), ValueError, "'boost_type' must be \"less_bn\""),
        (lambda net: net.set_inputs(1, x=2), ValueError, "not both"),
        (lambda net: net.set_inputs(y=2), ValueError, "has no input 'y'"),
        (lambda net: net.shard(3), TypeError, "'in_strategy' must be a tuple, but got int"),
        (lambda net: net.shard(((1,),), 3), TypeError, "'out_strategy' must be a tuple or None, but got int"),
        (lambda net: net.shard(((1,),), None, 3), TypeError, "'parameter_plan' must be a dict or None"),
        (lambda net: net.register_parameter_forward_hook(print), NotImplementedError, "register_forward_pre_hook"),
        (lambda net: net.register_parameter_forward_hook(3), TypeError, "'hook' a function"),
        (lambda net: net.recompute(nonsense=True), ValueError, "there is no option 'nonsense'"),
        (lambda net: net.recompute(mp_comm_recompute=3), TypeError, "'mp_comm_recompute' must be a bool"),
        (lambda net: net.to_float(ms.int32), ValueError, "float16, float32 or bfloat16, but got mindspore.int32"),
    ],
)
def test_refused_in_one_line(action: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        action(Net())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("Cell.shard", lambda: Net().shard(((1, 1),), ((1, 1),), {"a": (1,)})),
        ("Cell.pipeline_stage", lambda: setattr(Net(), "pipeline_stage", 1)),
        ("Cell.pipeline_segment", lambda: setattr(Net(), "pipeline_segment", 1)),
        ("Primitive.shard", lambda: ops.Add().shard(((1, 1), (1, 1)))),
        ("Primitive.set_stage", lambda: ops.Add().set_stage(1)),
        ("Primitive.place", lambda: ops.Add().place("MS_WORKER", 0)),
    ],
)
def test_what_is_for_automatic_parallel_modes_is_ignored_with_one_line(
    name: str, action: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "_warned_methods", set())
    monkeypatch.setattr(primitives, "_warned_methods", set())
    text = f"^'{name}' has no effect here: it is for .* and is ignored in others$"
    with pytest.warns(UserWarning, match=text) as notices:
        action()
    assert [item.filename for item in notices] == [__file__]
    action()  # a second time nothing is said


def test_what_is_for_automatic_parallel_modes_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_warned_methods", {"Cell.shard", "Cell.pipeline_stage"})
    net, x = Net(), Tensor(np.ones((1, 2), np.float32))
    before = net(x).asnumpy()
    net.shard(((1, 2),))
    net.body[0].pipeline_stage = 1
    assert np.array_equal(net(x).asnumpy(), before)


@pytest.mark.parametrize("kind", [nn.Cell, nn.SequentialCell])
def test_names_that_cells_have_themselves_are_refused_at_once(kind: Any) -> None:
    net = kind()
    with pytest.raises(AttributeError, match="'cells' is a method of cells: choose a different name"):
        net.cells = [nn.ReLU()]
    with pytest.raises(KeyError, match="'cells' is taken"):
        net.cells = nn.ReLU()
    with pytest.raises(TypeError, match="'phase' must be a str, but got int"):
        net.phase = 3
    net.phase = "train"  # as in MindSpore
    net.cast = ops.Cast()  # so do programs of MindSpore's
    for name, value, text in (
        ("phase", 3, "'phase' in the class: it is a property of all cells"),
        ("phase", lambda self: "train", "it is a property of all cells"),
        ("cells", [], "'cells' in the class: it is a method of all cells"),
    ):
        with pytest.raises(AttributeError, match=f"^For 'Other', .*{text}$"):
            type("Other", (kind,), {name: value})
    for method in (lambda self, x: x, staticmethod(lambda x: x)):
        with pytest.warns(UserWarning, match="^'Other' has a method 'cast', which the page of Cell forbids"):
            type("Other", (kind,), {"cast": method})
    other = type("Other", (kind,), {"cast": ops.Cast(), "cells": lambda self: [], "phase": property(lambda self: "p")})
    assert (list(other().cells()), other().phase) == ([], "p")


def test_scopes_are_paths_with_classes() -> None:
    net = Net()
    net.generate_scope()
    assert (net.get_scope(), net.body[0].get_scope()) == (None, "Default/body-SequentialCell/0-Dense")


# Precision


def test_operators_compute_in_the_asked_type_and_parameters_keep_theirs() -> None:
    net = Net().to_float(ms.float16)
    x = Tensor([[1.0, 2.0]])
    assert net(x).dtype is ms.float16
    assert net.body[0].weight.dtype is ms.float32
    gradients = ms.grad(net, 0, net.trainable_params())(x)
    assert [g.dtype for g in (gradients[0], *gradients[1])] == [ms.float32] * 3
    assert (x + 1.0).dtype is ms.float32


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.bfloat16])
def test_all_floats_and_only_these_are_taken_to_the_asked_type(dtype: ms.DType) -> None:
    class Twice(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x + x

    for value in (ms.float16, ms.float32, ms.float64, ms.bfloat16):
        result = Twice().to_float(dtype)(Tensor([1.5, -2.0], value))
        assert (result.dtype, result.float().tolist()) == (dtype, [3.0, -4.0])
    for value in (ms.int8, ms.uint8, ms.int32, ms.bool_, ms.complex64):
        assert Twice().to_float(dtype)(Tensor([True, False], value)).dtype is value


def test_a_child_may_have_a_type_of_its_own() -> None:
    records = []

    class Probe(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            records.append((x + 1.0).dtype)
            return x

    net = nn.SequentialCell(Probe(), Probe()).to_float(ms.float16)
    net[1].to_float(ms.float32)
    net(Tensor([1.0]))
    assert records == [ms.float16, ms.float32]
    assert net.get_flags() == {"fp16": True, "fp32": False, "bf16": False}


def test_the_type_that_was_set_can_be_read_and_taken_back() -> None:
    net = Net()
    assert net.get_mixed_precision_type() is None
    assert net.to_float(ms.float16).get_mixed_precision_type() is ms.float16
    assert net.body[0].get_mixed_precision_type() is ms.float16
    x = Tensor([[1.0, 2.0]])
    alone = nn.SequentialCell(nn.ReLU())
    for value in (ms.bfloat16, ms.float16, ms.float32):
        alone.set_mixed_precision_type(value)
        assert (alone.get_mixed_precision_type(), alone[0].get_mixed_precision_type()) == (value, None)
        assert alone(x).dtype is value
    alone.set_mixed_precision_type(ms.float16)
    alone.set_mixed_precision_type(None)
    assert alone.get_mixed_precision_type() is None and alone(x).dtype is ms.float32
    with pytest.raises(TypeError, match="give float16, float32, bfloat16 or None, but got mindspore.int32"):
        alone.set_mixed_precision_type(ms.int32)


def test_inputs_are_cast_wherever_they_are() -> None:
    x, y = Tensor([1.5, 2.25]), Tensor([3], ms.int32)
    result = nn.Cell().cast_inputs((x, [y, {"a": x}], "text", 4), ms.float16)
    first, (second, mapping), *others = result
    assert others == ["text", 4] and type(result) is tuple and type(result[1]) is list
    assert [t.tolist() for t in (first, second, mapping["a"])] == [[1.5, 2.25], [3.0], [1.5, 2.25]]
    assert {t.dtype for t in (first, second, mapping["a"])} == {ms.float16} and x.dtype is ms.float32


def test_parameters_in_lists_are_known_by_name_and_no_two_share_one() -> None:
    net = Net()
    assert (net.exist_names, net.exist_objs) == (set(), set())
    first, second = Parameter(Tensor([1.0]), "a"), Parameter(Tensor([2.0]), "b")
    net.listed = [first, second]
    net.same = (second,)
    assert (net.exist_names, net.exist_objs) == ({"a", "b"}, {first, second})
    with pytest.raises(ValueError, match="two parameters in 'more' are named 'a'"):
        net.more = [Parameter(Tensor([3.0]), "a")]


def test_caches_of_compiled_graphs_stay_as_they_are_left() -> None:
    net = Net()
    net.compile_cache.add("graph")
    net.phase_cache["train"] = "graph"
    assert (net.compile_cache, net.phase_cache, Net().compile_cache) == ({"graph"}, {"train": "graph"}, set())


def test_parameters_to_send_to_all_processes_are_those_that_no_process_has_for_itself() -> None:
    net = Net()
    weight, bias = net.body[0].weight, net.body[0].bias
    assert net.parameters_broadcast_dict() == {weight.name: weight, bias.name: bias}
    assert net.parameters_broadcast_dict(recurse=False) is None
    weight.layerwise_parallel = True
    assert net.parameters_broadcast_dict() == {bias.name: bias}
    bias.layerwise_parallel = True
    assert net.parameters_broadcast_dict() is None


def test_casts_and_views_keep_the_type_they_are_asked_for_or_find() -> None:
    class Probe(nn.Cell):
        def construct(self, x: Tensor) -> tuple[Any, ...]:
            half = x * 2.0
            return half.dtype, half.astype(ms.float32).dtype, x.reshape((-1,)).dtype, x[0].dtype

    assert Probe().to_float(ms.float16)(Tensor([[1.0, 2.0]])) == (ms.float16, ms.float32, ms.float32, ms.float32)


# The dtype that MindSpore 2.10 gives where a cell is to compute Float16 and the input is Float32.
IN_HALF = {
    "x[[0, 1]]": lambda x: x[[0, 1]],
    "x[index]": lambda x: x[Tensor([0, 1])],
    "x[mask]": lambda x: x[x > 3],
    "flatten": ops.flatten,
    "nn.Flatten": lambda x: nn.Flatten()(x),
    "tile": lambda x: ops.tile(x, (1, 2)),
    "gather": lambda x: ops.gather(x, Tensor([0, 1]), 0),
    "unbind": lambda x: ops.unbind(x)[0],
    "unstack": lambda x: ops.unstack(x)[0],
    "stop_gradient": ops.stop_gradient,
    "deepcopy": ops.deepcopy,
    "diagonal": lambda x: x.diagonal(),
    "index_select": lambda x: x.index_select(0, Tensor([0, 1])),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 0),
    "one_hot": lambda x: ops.one_hot(Tensor([0, 1]), 3, Tensor(1.0), Tensor(0.0)),
    "full_like": lambda x: ops.full_like(x, 1.0),
    "strided_slice": lambda x: ops.strided_slice(x, (0, 0), (1, 1), (1, 1)),
    "sort": lambda x: ops.sort(x)[0],
    "topk": lambda x: ops.topk(x, 2)[0],
    "BatchNorm": lambda x: nn.BatchNorm1d(3)(x),
    "BatchNorm in training": lambda x: nn.BatchNorm1d(3).set_train()(x),
    "GroupNorm": lambda x: nn.GroupNorm(1, 3)(x.reshape((1, 3, 3, 1))),
    "a number of half precision times x": lambda x: x.sum() * x,
    "x divided by such a number": lambda x: ops.div(x, x.sum()),
    "concat": lambda x: ops.concat((x, x)),
    "where": lambda x: ops.where(x > 2, x, x),
    "max": lambda x: ops.max(x)[0],
    "relu": lambda x: ops.relu(x),
}
IN_SINGLE = {
    "reshape": lambda x: x.reshape((9,)),
    "transpose": lambda x: x.T,
    "x[0]": lambda x: x[0],
    "x[:, 1:]": lambda x: x[:, 1:],
    "expand_dims": lambda x: ops.expand_dims(x, 0),
    "squeeze": lambda x: ops.squeeze(x),
    "Tensor.flatten": lambda x: x.flatten(),
    "mint.flatten": mint.flatten,
    "split": lambda x: ops.split(x, 1)[0],
    "chunk": lambda x: ops.chunk(x, 2)[0],
    "broadcast_to": lambda x: ops.broadcast_to(x, (2, 3, 3)),
    "zeros_like": ops.zeros_like,
    "astype": lambda x: x.astype(ms.float32),
    "narrow": lambda x: ops.narrow(x, 0, 0, 1),
    "movedim": lambda x: x.movedim(0, 1),
    "contiguous": lambda x: x.contiguous(),
    "in a row": lambda x: next(iter(x)),
}


@pytest.mark.parametrize(
    ("function", "expected"),
    [(f, ms.float16) for f in IN_HALF.values()] + [(f, ms.float32) for f in IN_SINGLE.values()],
    ids=[*IN_HALF, *IN_SINGLE],
)
def test_functions_made_of_several_operators_follow_to_float_as_in_mindspore(
    function: Callable[[Tensor], Tensor], expected: Any
) -> None:
    class Probe(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return function(x)

    x = ops.arange(9).reshape((3, 3)).astype(ms.float32)
    assert Probe().to_float(ms.float16)(x).dtype is expected
    assert function(x).dtype is ms.float32


def test_an_error_inside_leaves_no_type_behind() -> None:
    class Broken(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            raise KeyError("broken")

    with pytest.raises(KeyError):
        Broken().to_float(ms.float16)(Tensor([1.0]))
    assert ops.exp(Tensor([1.0])).dtype is ms.float32


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (ValueError, "'dynamic' must be one of", lambda: ms.jit(len, dynamic=5)),
        (TypeError, "'fullgraph' must be a bool, but got int", lambda: ms.jit(len, fullgraph=3)),
        (ValueError, "'target' must be a Cell, but got int", lambda: ms.set_dump(1)),
        (ValueError, "'enabled' must be a bool", lambda: ms.set_dump(nn.ReLU(), 1)),
        (TypeError, "'threads_num' must be an int", lambda: ms.runtime.dispatch_threads_num("a")),
    ],
)
def test_an_option_that_mindspore_refuses_is_refused(error: type[Exception], text: str, call: Any) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("number", [-1, "a", True, 1.5])
def test_a_number_of_fusion_is_an_int_that_is_not_negative(number: Any) -> None:
    with pytest.raises(ValueError, match="'fusion_type' must be an int of at least 0, but got"):
        nn.ReLU().set_comm_fusion(number)
