"""One declaration a name: a surface is the function, under another name or with other names of its arguments."""

from __future__ import annotations

import inspect
import operator
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, float32, int32, mint, ops
from hookscope.engine import numpy as mindspore_numpy
from hookscope.engine.base import surfaces
from hookscope.engine.base.surfaces import REQUIRED, alias, declare, prim, renamed
from hookscope.engine.ops.shapes.broadcasting import Binary, Unary
from hookscope.engine.tensors import operator as operators
from hookscope.engine.tensors.operator import Operator

X = Tensor(np.array([[0.25, 0.5, 0.75], [0.125, 0.625, 0.875]]), float32)
Y = Tensor(np.array([[0.5, 0.25, 0.75]]), float32)
TABLES = {"method": surfaces.METHODS, "in_place": surfaces.IN_PLACE, "mint": surfaces.MINT}


@pytest.fixture(autouse=True)
def _tables_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("METHODS", "IN_PLACE", "MINT", "NUMPY", "PRIMITIVES"):
        monkeypatch.setattr(surfaces, name, dict(getattr(surfaces, name)))


def elementwise() -> list[Any]:
    results = {
        id(item): item for table in TABLES.values() for item in table.values() if isinstance(item, Unary | Binary)
    }
    return sorted(results.values(), key=lambda item: item.name)


@pytest.mark.parametrize("function", elementwise(), ids=lambda item: item.name)
def test_every_surface_of_an_elementwise_operator_gives_its_bits(function: Any) -> None:
    bits = function.name.startswith("bitwise") or function.name in ("gcd", "lcm")
    x, y = ((X * 8).astype(int32), (Y * 8).astype(int32)) if bits else (X, Y)
    operands = (x,) if isinstance(function, Unary) else (x, y)
    want = function(*operands).asnumpy()
    results = {f"Tensor.{n}": getattr(Tensor, n) for n, method in surfaces.METHODS.items() if method is function}
    results |= {f"mint.{n}": getattr(mint, n) for n, item in surfaces.MINT.items() if item is function and "." not in n}
    results |= {
        f"ops.{n}()": getattr(ops, n)() for n, (primitive, _) in surfaces.PRIMITIVES.items() if primitive is function
    }
    for name, surface in results.items():
        np.testing.assert_array_equal(surface(*operands).asnumpy(), want, err_msg=name, strict=True)
    for name, entry in surfaces.IN_PLACE.items():
        if entry is function:
            changed = x.copy()
            getattr(changed, name)(*operands[1:])
            np.testing.assert_array_equal(changed.asnumpy(), want.astype(np.float32), err_msg=name)


def declared() -> list[Any]:
    kinds = {
        "method": surfaces.METHODS,
        "in_place": surfaces.IN_PLACE,
        "mint": surfaces.MINT,
        "numpy": surfaces.NUMPY,
        "primitive": surfaces.PRIMITIVES,
    }
    return [pytest.param(kind, name, id=f"{kind}-{name}") for kind, table in kinds.items() for name in table]


class Sentinel:
    """An argument that equals only itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def bound(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return each argument's value for a function, also those in ``**rest``."""
    signature = inspect.signature(function)
    result = signature.bind(*args, **kwargs).arguments
    rest = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind is parameter.VAR_KEYWORD and name in result
    ]
    return {name: value for name, value in result.items() if name not in rest} | (result[rest[0]] if rest else {})


@pytest.mark.parametrize(("kind", "name"), declared())
def test_a_surface_hands_each_of_its_arguments_to_the_one_function(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "primitive":
        check_primitive(*surfaces.PRIMITIVES[name], monkeypatch)
        return
    if kind in ("method", "in_place"):
        table = surfaces.METHODS if kind == "method" else surfaces.IN_PLACE
        assert inspect.unwrap(Tensor.__dict__[name]) is inspect.unwrap(table[name])
        return
    package, table = (mint, surfaces.MINT) if kind == "mint" else (mindspore_numpy, surfaces.NUMPY)
    surface = table[name]
    offered = operator.attrgetter(name)(package)
    assert offered is surface or offered.__wrapped__ is surface  # in numpy it takes lists too
    if isinstance(surface, Operator) or not hasattr(surface, "__signature__"):
        return  # the function itself
    function = surface.__wrapped__
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    cell = dict(zip(surface.__code__.co_freevars, surface.__closure__, strict=True))["function"]
    monkeypatch.setattr(cell, "cell_contents", lambda *args, **kwargs: calls.append((args, kwargs)))
    parameters = inspect.signature(surface).parameters.values()
    arguments = {parameter.name: Sentinel(parameter.name) for parameter in parameters if parameter.kind in BY_NAME}
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        arguments = {
            parameter.name: arguments[parameter.name]
            for parameter in parameters
            if parameter.kind is parameter.KEYWORD_ONLY
        }
    surface(**arguments)
    by_name = bound(function, *calls[-1])
    assert {item.name for item in by_name.values() if isinstance(item, Sentinel)} == set(arguments)
    by_place = [
        parameter.name
        for parameter in parameters
        if parameter.name in arguments and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    surface(
        *(arguments[key] for key in by_place),
        **{key: argument for key, argument in arguments.items() if key not in by_place},
    )
    assert bound(function, *calls[-1]) == by_name
    with pytest.raises(TypeError, match="got an unexpected keyword argument"):
        surface(**arguments, no_such_argument=1)


def check_primitive(function: Any, row: surfaces.PrimitiveRow, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = getattr(ops, row.name)
    assert kind._function is function
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    monkeypatch.setattr(kind, "_function", staticmethod(lambda *args, **kwargs: calls.append((args, kwargs))))
    settings = {key: Sentinel(key) for key, _ in row.parameters}
    inputs = [
        Sentinel(parameter.name)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name not in settings
        and parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, BY_NAME[0])
    ]
    for primitive in (kind(**settings), kind(*settings.values())):
        primitive(*inputs)
        result = bound(function, *calls[-1])
        assert {key: result.pop(key) for key in settings} == settings  # each setting at its own argument
        assert list(result.values()) == inputs
    required = {key: value for key, value in settings.items() if dict(row.parameters)[key] is REQUIRED}
    kind(**required)(*inputs)
    assert calls[-1][1] == {key: required.get(key, default) for key, default in row.parameters}
    for missing in required:
        with pytest.raises(TypeError, match=f"For '{row.name}', the arguments .*'{missing}'.* missing"):
            kind(**{key: value for key, value in required.items() if key != missing})


def scaled(input: Any, axis: int = 0, keepdims: bool = False, *, by: float = 1.0) -> tuple[Any, ...]:
    return input, axis, keepdims, by


def test_a_renamed_surface_takes_its_own_names_and_only_those() -> None:
    declare(mint=renamed("scaled_there", axis="dim", keepdims="keepdim"))(scaled)
    surface = surfaces.MINT["scaled_there"]
    assert surface(1, dim=2, keepdim=True, by=3.0) == surface(1, 2, True, by=3.0) == (1, 2, True, 3.0)
    assert list(inspect.signature(surface).parameters) == ["input", "dim", "keepdim", "by"]
    with pytest.raises(TypeError, match=r"scaled_there\(\) got an unexpected keyword argument 'axis'"):
        surface(1, axis=2)


def explained(input: Any, axis: int = 0, keepdims: bool = False) -> None:
    """The sum along ``axis``; with ``keepdims`` the axis stays.

    Args:
        input: the tensor.
        axis: the axis; ``axis`` and
            ``keepdims`` go together.
        keepdims: whether the axis
            stays.

    Returns:
        the sums.
    """


def test_a_renamed_surface_is_documented_by_its_own_names() -> None:
    declare(mint=(renamed("there", axis="dim"), renamed("without_keepdims", without=("keepdims",))))(explained)
    assert surfaces.MINT["there"].__doc__ == (
        "The sum along ``dim``; with ``keepdims`` the axis stays.\n\nArgs:\n    input: the tensor.\n"
        "    dim: the axis; ``dim`` and\n        ``keepdims`` go together.\n"
        "    keepdims: whether the axis\n        stays.\n\nReturns:\n    the sums."
    )
    assert surfaces.MINT["without_keepdims"].__doc__ == (
        "The sum along ``axis``; with ``keepdims`` the axis stays.\n\nArgs:\n    input: the tensor.\n"
        "    axis: the axis; ``axis`` and\n        ``keepdims`` go together.\n\nReturns:\n    the sums."
    )


def test_an_operator_shows_its_name_and_what_its_kernel_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def halved(x: Any) -> Any:
        """Half of it."""
        return x / 2

    monkeypatch.setattr(operators, "OPERATORS", {})
    first, second = Operator("halved", halved), Operator("halved_too", halved).declare("Half.")
    assert (repr(first), first.__doc__, second.__doc__) == ("<operator halved>", "Half of it.", "Half.")
    assert operators.OPERATORS["halved"] is first and operators.OPERATORS["halved_too"] is second


def test_a_second_name_of_ops_takes_the_functions_own_names_too_but_not_both_at_once() -> None:
    second = alias(scaled, renamed("second", axis="dim", without=("by",)))
    assert second(1, dim=2) == second(1, axis=2) == (1, 2, False, 1.0)
    with pytest.raises(TypeError, match=r"second\(\) got an argument under two names: axis, dim"):
        second(1, axis=2, dim=2)
    with pytest.raises(TypeError, match=r"second\(\) got an unexpected keyword argument 'by'"):
        second(1, by=2.0)


def test_what_a_surface_does_not_have_keeps_its_default_and_takes_no_place() -> None:
    declare(mint=renamed("without_axis", without=("axis",), defaults={"by": 2.0}))(scaled)
    surface = surfaces.MINT["without_axis"]
    assert surface(1) == (1, 0, False, 2.0)
    assert surface(1, keepdims=True) == (1, 0, True, 2.0)
    with pytest.raises(TypeError, match=r"without_axis\(\) takes 1 positional arguments but 2 were given"):
        surface(1, True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        surface(1, axis=1)


def test_a_name_is_declared_once_and_of_arguments_that_there_are() -> None:
    with pytest.raises(ValueError, match="'exp' is declared already"):
        declare(method="exp")(scaled)
    with pytest.raises(ValueError, match="changes or leaves out 'axes', which is not an argument of"):
        declare(mint=renamed("other", axes="dim"))(scaled)


def test_a_primitive_class_has_required_arguments_first_and_says_what_is_missing() -> None:
    row = prim("Softcap", "cap", scale=2.0)
    assert row.parameters == (("cap", REQUIRED), ("scale", 2.0))
    with pytest.raises(TypeError, match=r"For 'Conv2D', the arguments \['out_channel', 'kernel_size'\] are missing"):
        ops.Conv2D()
    with pytest.raises(TypeError, match=r"For 'Softmax', there is no argument 'dim'; allowed are \['axis'\]"):
        ops.Softmax(dim=1)


ADDED = '''

softcap = Operator(
    "softcap",
    lambda x, cap: np.tanh(x / cap) * cap,
    (lambda F, g, out, x, cap: g * (1.0 - (out / cap) ** 2),),
)


@declare(method="softcap", in_place="softcap_", primitive=prim("Softcap", cap=30.0), mint="softcap")
def _softcap(input: Tensor, cap: float = 30.0) -> Tensor:
    """cap * tanh(input / cap): limited softly to (-cap, cap) (Gemma 2, 2024)."""
    return softcap(input, cap=float(cap))
'''
TRIED = """
import numpy as np
import hookscope
import hookscope.engine as ms
from hookscope.engine import ops, mint
assert hookscope.__file__.startswith({folder!r}), hookscope.__file__
x = ms.Tensor(np.array([-3.0, 0.5, 4.0]), ms.float64)
want = 2.0 * np.tanh(x.asnumpy() / 2.0)
changed = x.copy()
changed.softcap_(cap=2.0)
for found in (x.softcap(2.0), x.softcap(cap=2.0), ops.Softcap(2.0)(x), mint.softcap(x, 2.0), changed):
    np.testing.assert_allclose(found.asnumpy(), want, rtol=1e-12)
gradient = ms.grad(lambda x: x.softcap(2.0).sum())
np.testing.assert_allclose(gradient(x).asnumpy(), 1 - (want / 2.0) ** 2, rtol=1e-12)
second = ms.grad(lambda x: gradient(x).sum())(x).asnumpy()
np.testing.assert_allclose(second, -(want / 2.0) * (1 - (want / 2.0) ** 2), rtol=1e-12)
print(ms.Tensor.softcap.__doc__)
"""


def test_an_operator_is_added_with_all_its_surfaces_in_one_file(tmp_path: Path, repository: Path) -> None:
    for room in ("engine", "triton_kernels", "kernel", "widgets"):
        shutil.copytree(repository / room, tmp_path / "hookscope" / room)
    for name in ("__init__.py", "__main__.py"):
        shutil.copy(repository / "hookscope" / name, tmp_path / "hookscope" / name)
    subject = tmp_path / "hookscope" / "engine" / "ops" / "neural" / "activation.py"
    subject.write_text(subject.read_text(encoding="utf-8") + ADDED, encoding="utf-8")
    code = TRIED.format(folder=str(tmp_path))
    (tmp_path / "tried.py").write_text(code, encoding="utf-8")
    start = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); exec(open('tried.py').read())"
    result = subprocess.run(
        [sys.executable, "-P", "-c", start], cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "limited softly" in result.stdout
