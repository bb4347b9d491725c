"""The stubs say what the declarations say, and the pages of the reference have every declared name."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from hookscope.engine import Tensor, mint, ops
from hookscope.engine.base import surfaces

ENGINE = Path(ops.__file__).parent.parent


def test_stubs_are_fresh(repository: Path) -> None:
    script = [sys.executable, str(repository / "scripts" / "stubs.py"), "--check"]
    result = subprocess.run(script, capture_output=True, text=True, cwd=repository, timeout=240, check=False)
    assert result.returncode == 0, result.stderr


def stub(path: str) -> ast.Module:
    return ast.parse((ENGINE / path).read_text(encoding="utf-8"))


def test_each_declared_method_is_in_the_stub_with_its_arguments_and_a_sentence() -> None:
    (methods,) = [node for node in stub("tensors/method_types.pyi").body if isinstance(node, ast.ClassDef)]
    functions = {node.name: node for node in methods.body if isinstance(node, ast.FunctionDef)}
    for name in {**surfaces.METHODS, **surfaces.IN_PLACE}:
        assert hasattr(Tensor, name)
        assert ast.get_docstring(functions[name]), name


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("ops/primitive_types.pyi", set(surfaces.PRIMITIVES)),
        ("mindspore/mint/function_types.pyi", set(surfaces.functions_of(surfaces.MINT))),
    ],
)
def test_each_declared_name_is_in_its_stub(path: str, names: set[str]) -> None:
    declared = {node.name for node in stub(path).body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    assert declared == names
    assert all(hasattr(mint if "/mint/" in path else ops, name) for name in names)
