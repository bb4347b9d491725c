"""MultitypeFuncGraph, HyperMap, Map, partial, depend, and what a graph compiler's names do in eager execution."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])

scale = ops.MultitypeFuncGraph("scale")


@scale.register("Tensor", "Tensor")
def _both(x: Tensor, y: Tensor) -> Tensor:
    return x + y


@scale.register("Number", "Tensor")
def _number(x: float, y: Tensor) -> Tensor:
    return y * x


@scale.register("Number", "Number")
def _numbers(x: float, y: float) -> float:
    return x - y


def test_the_types_choose_the_function() -> None:
    assert scale(X, Y).tolist() == [4.0, 6.0]
    assert scale(2, Y).tolist() == [6.0, 8.0]
    assert scale(True, 3) == -2
    with pytest.raises(ValueError, match=r"'scale' has no function for \(str, int\)"):
        scale("a", 3)
    with pytest.raises(TypeError, match=r"numpy\.ndarray"):
        scale(np.ones(2), 3)


# MindSpore 2.10 answers so; a single function is called whatever comes, therefore two.
@pytest.mark.parametrize(
    ("kind", "fitting"),
    [
        ("Int", {"int"}),
        ("Int64", {"int"}),
        ("Float", {"float"}),
        ("Bool", {"bool"}),
        ("String", {"str"}),
        ("Tuple", {"tuple"}),
        ("List", {"list"}),
        ("None", {"NoneType"}),
        ("Tensor", {"Tensor"}),
        ("Number", {"int", "float", "bool", "complex"}),
        ("Int32", set()),
        ("TypeType", {"DType"}),
    ],
)
def test_what_a_type_name_stands_for(kind: str, fitting: set[str]) -> None:
    graph = ops.MultitypeFuncGraph("graph")
    graph.register(kind)(lambda value: True)
    graph.register("Number", "Number")(lambda a, b: False)
    results = set()
    for value in (1, 1.5, True, "s", X, (1,), [1], None, 1j, ms.float32):
        try:
            graph(value)
            results.add(type(value).__name__)
        except ValueError:
            pass
    assert results == fitting


def test_registering_refuses() -> None:
    with pytest.raises(RuntimeError, match="no type named 'nonsense'"):
        ops.MultitypeFuncGraph("g").register("nonsense")
    with pytest.raises(TypeError, match="but got int"):
        ops.MultitypeFuncGraph("g").register(3)


def test_hyper_map_goes_all_the_way_down_map_one_level() -> None:
    assert ops.HyperMap()(lambda v: v + 1, [1, [2, 3]]) == (2, (3, 4))
    assert ops.HyperMap(scale)((2, X), (1, Y))[0] == 1
    assert ops.HyperMap()(ops.partial(scale, 2), (X, Y))[1].tolist() == [6.0, 8.0]
    assert ops.Map()(lambda v: v, ((1, 2), 3)) == ((1, 2), 3)
    assert ops.hyper_add((1, 2), (3, 4)) == (4, 6)
    with pytest.raises(RuntimeError, match="'ops' must be callable, but got int"):
        ops.HyperMap(3)


def test_gradients_pass_through_a_hyper_map() -> None:
    double = ops.partial(scale, 2.0)
    assert ms.grad(lambda x: sum(ops.HyperMap()(double, (x, x * x))))(X).tolist() == [6.0, 10.0]


def test_partial_and_depend() -> None:
    assert ops.partial(lambda a, b: a - b, 3)(1) == 2
    assert ops.depend(X, print) is X
    assert ops.Depend()(X, 3) is X
    with pytest.raises(TypeError, match="'func' must be callable"):
        ops.partial(3, 1)


def test_marks_for_a_compiler_leave_things_as_they_are() -> None:
    @ms.jit_class
    class Plain:
        def double(self, x: Tensor) -> Tensor:
            return x * 2.0

    class Inlined(nn.Cell):
        @ms.lazy_inline(policy="front")
        def __init__(self, a: float) -> None:
            super().__init__()
            self.a = a

        def construct(self, x: Tensor) -> Tensor:
            return x * self.a

    assert Plain().double(X).tolist() == [2.0, 4.0]
    assert Inlined(3.0)(X).tolist() == [3.0, 6.0]
    assert ms.no_inline(scale) is scale and scale.no_inline
    assert ops.constexpr(lambda a: a + 1)(2) == 3
    assert ms.mutable((1, 2), True) == (1, 2)
    assert ms.Symbol(max=3).to_dict() == {"max": 3}
    assert ms.Symbol(0, 1, 1, 0, False).to_dict() == {}
    for figures in ({"max": 2}, {"min": 2}, {"divisor": 2}, {"divisor": 2, "remainder": 1}):
        assert ms.Symbol(**figures).to_dict() == figures
    assert ops.typeof(X) is ms.float32


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (lambda: ms.jit_class(3), TypeError, "a class must be decorated"),
        (lambda: ms.jit_class(nn.ReLU), TypeError, "a Cell needs no mark"),
        (lambda: ms.mutable("a"), TypeError, "but got str"),
        (lambda: ms.mutable(X, True), TypeError, "must be a tuple or list, but got Tensor"),
        (lambda: ms.JitConfig("O9"), ValueError, "'jit_level' must be one of"),
        (lambda: ms.jit(capture_mode="x"), ValueError, "'capture_mode' must be one of"),
        (lambda: ms.Symbol(max="a"), TypeError, "'max' must be an int, but got str"),
    ],
)
def test_a_compilers_options_are_checked(action: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        action()


def test_what_only_a_compiler_reads_is_shown_by_its_name() -> None:
    assert repr(ops.MultitypeFuncGraph("scale")) == "<MultitypeFuncGraph scale>"
    assert repr(ops.Partial()) == "Prim[Partial]"
    assert repr(ops.Depend()) == "Prim[Depend]<side_effect_propagate=True>"
    assert repr(ops.HookBackward(lambda gradient: gradient)) == "Prim[HookBackward]"


def test_flags_of_a_compiler_are_kept_and_change_nothing() -> None:
    def double(x: Tensor) -> Tensor:
        return x * 2.0

    assert ops.composite.add_flags(double, a=1, b=2) is double
    assert ops.composite.add_flags(b=3, c=4)(double) is double
    assert double._mindspore_flags == {"a": 1, "b": 3, "c": 4}  # type: ignore[attr-defined]
    assert double(X).tolist() == [2.0, 4.0]
    net = nn.ReLU()
    assert ops.composite.add_flags(net, a=1) is net
    assert net.get_flags()["a"] == 1
    dynamic = ms.enable_dynamic(x=Tensor(shape=(None,), dtype=ms.float32))
    assert dynamic(double) is double


def test_memory_that_only_a_circle_holds_is_collected() -> None:
    class Held:
        pass

    subject = Held()
    subject.self = subject  # type: ignore[attr-defined]
    reference = weakref.ref(subject)
    gc.disable()
    try:
        del subject
        assert reference() is not None
        ms.ms_memory_recycle()
        assert reference() is None
    finally:
        gc.enable()


def test_what_mindspore_keeps_under_composite_too_is_that_of_ops() -> None:
    assert ops.composite.clip_by_value is ops.clip_by_value


def test_core_make_tuple_and_mixed_precision_cast() -> None:
    from hookscope.engine.ops.higher_order import composite

    def double(x: float) -> float:
        return 2 * x

    assert composite.core(double, p=3) is double
    assert double._mindspore_flags == {"core": True, "p": 3}  # type: ignore[attr-defined]
    assert composite.core(p=3)(double) is double
    assert ops.make_tuple(1, "a") == (1, "a") and ops.make_tuple() == ()
    x = Tensor([1.0, 2.0])
    cast = ops.mixed_precision_cast(ms.float16, (x, [x], 3, {"a": x}, Tensor([1])))
    assert cast[0].dtype is ms.float16 and isinstance(cast[1], tuple) and cast[1][0].dtype is ms.float16
    assert cast[2:4] == (3, {"a": x}) and cast[3]["a"].dtype is ms.float32 and cast[4].dtype is ms.int64
    with pytest.raises(TypeError, match="'dst_dtype' must be a MindSpore dtype, but got int"):
        ops.mixed_precision_cast(3, x)  # type: ignore[arg-type]
