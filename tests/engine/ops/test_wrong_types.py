"""Errors of functions of ``ops`` for arguments that are not tensors, which name function and argument.

The name may be that of a function that the first one calls.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, float32, ops

NAMES = re.compile(r"For '([\w.]+)', (?:'(\w+)')?")
OF_TENSORS = ("Tensor", "Operand", "TensorLike", "Tensor | None")
LEFT_OUT = (
    *("assign_add", "assign_sub", "matrix_band_part", "polygamma"),  # the errors name another argument, rightly
    *("truncate_div", "tensor_scatter_elements"),
)


class Wrong:
    """An argument that is not a tensor and cannot become one."""


def functions() -> dict[str, Any]:
    results = {name: getattr(ops, name) for name in dir(ops) if not name.startswith("_") and name not in LEFT_OUT}
    return {name: result for name, result in results.items() if callable(result) and not inspect.isclass(result)}


def parameters(item: Any) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each for each in inspect.signature(item).parameters.values() if each.kind in kinds]


def value_for(parameter: inspect.Parameter) -> Any:
    kind = str(parameter.annotation)
    if "Tensor" in kind or "Operand" in kind:
        return Tensor(np.ones((2, 3)), float32)
    return 1 if any(word in kind.lower() for word in ("int", "float", "number")) else "x" if "str" in kind else None


FUNCTIONS = functions()
CASES = [
    pytest.param(name, each.name, id=f"{name}-{each.name}")
    for name, function in FUNCTIONS.items()
    for each in parameters(function)
    if str(each.annotation) in OF_TENSORS
]


@pytest.mark.parametrize(("name", "argument"), CASES)
def test_what_is_no_tensor_is_refused_by_name(name: str, argument: str) -> None:
    subject = FUNCTIONS[name]
    arguments = {
        each.name: Wrong() if each.name == argument else value_for(each)
        for each in parameters(subject)
        if each.name == argument or each.default is each.empty
    }
    with pytest.raises((TypeError, ValueError, RuntimeError)) as raised:
        subject(**arguments)
    match = NAMES.match(str(raised.value))
    assert match is not None, raised.value
    function, what = match.groups()
    room = {"Tensor.item": Tensor}.get(function, ms if function.endswith("Tensor") else ops)
    assert callable(getattr(room, function.rpartition(".")[2])), f"there is no '{function}': {raised.value}"
    if function == name and what is not None and raised.type is TypeError:
        assert what in (*inspect.signature(subject).parameters, "size"), raised.value
