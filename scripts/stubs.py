"""Type stubs of names created at import: methods of Tensor, Primitive classes, functions of mint and numpy.

    python scripts/stubs.py [--check]

Writes stub files from the declarations (`engine/base/surfaces.py`): signatures and the first sentence of each
function's documentation. With --check it writes nothing and exits with 1 if a file is not up to date.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import hookscope.engine.mindspore.mint
import hookscope.engine.mindspore.numpy  # noqa: F401  (both declare)
from hookscope.engine import methods
from hookscope.engine.base import surfaces, types

ENGINE = Path(__file__).resolve().parent.parent / "engine"
HEADER = '''"""{about}

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

'''
# Module of each name in annotations; other names become Any.
MODULES = {
    "Any": "typing",
    "NoReturn": "typing",
    "Literal": "typing",
    "Callable": "collections.abc",
    "Iterable": "collections.abc",
    "Iterator": "collections.abc",
    "Mapping": "collections.abc",
    "Sequence": "collections.abc",
    "DType": "hookscope.engine.tensors.dtype",
    "Generator": "hookscope.engine.tensors.generator",
    "Parameter": "hookscope.engine.tensors.parameter",
    "Tensor": "hookscope.engine.tensors.tensor",
    "Axis": "hookscope.engine.ops.arguments",
    **dict.fromkeys(types.__all__, "hookscope.engine.base.types"),
}
BUILTIN = {
    "None",
    "Ellipsis",
    "bool",
    "bytes",
    "complex",
    "dict",
    "float",
    "int",
    "list",
    "object",
    "set",
    "slice",
    "str",
    "tuple",
    "type",
}
# NumPy's names of arguments, and PyTorch's for methods that accept both.
TORCH_NAMES = {"axis": "dim", "keepdims": "keepdim", "axis0": "dim0", "axis1": "dim1"}


PYTHON_OPERATORS = (
    "getitem",
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "pow",
    "rpow",
    "matmul",
    "rmatmul",
    "and",
    "rand",
    "or",
    "ror",
    "xor",
    "rxor",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
)


class Stub:
    """One stub file: its text, and the names that its annotations need."""

    def __init__(self, about: str, reserved: Iterable[str] = ()) -> None:
        self.about = about
        self.reserved = set(reserved)  # names with another meaning in this file
        self.lines: list[str] = []
        self.needed: set[str] = set()

    def type(self, annotation: Any, shadowed: Iterable[str] = ()) -> str:
        """Return an annotation for the stub; builtins shadowed by names of the class are written as `builtins.x`."""
        if annotation is inspect.Parameter.empty:
            return "Any"
        tree = ast.parse(
            annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any"), mode="eval"
        )
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in self.reserved:
                self.needed.add("Any")
                return "Any"
            if isinstance(node, ast.Attribute) or (
                isinstance(node, ast.Name) and node.id not in BUILTIN | MODULES.keys()
            ):
                self.needed.add("Any")
                return "Any"
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                if node.id in MODULES:
                    self.needed.add(node.id)
                elif node.id in shadowed:
                    node.id = f"builtins.{node.id}"
                    self.needed.add("builtins")
        return ast.unparse(tree)

    def parameters(self, signature: Iterable[inspect.Parameter], shadowed: Iterable[str] = ()) -> str:
        """Return the text between a function's parentheses."""
        texts, star = [], False
        for parameter in signature:
            kind = parameter.kind
            if kind is parameter.VAR_POSITIONAL:
                star = True
            if kind is parameter.KEYWORD_ONLY and not star:
                texts.append("*")
                star = True
            prefix = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(kind, "")
            default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
            texts.append(f"{prefix}{parameter.name}: {self.type(parameter.annotation, shadowed)}{default}")
        return ", ".join(texts)

    def function(
        self,
        name: str,
        call: inspect.Signature,
        doc: str,
        *,
        method: bool = False,
        overloads: int = 1,
        shadowed: Iterable[str] = (),
    ) -> None:
        """Add one function, or one method."""
        receiver = ["self"] if method else []
        arguments = self.parameters(call.parameters.values(), shadowed)
        indent = "    " if method else ""
        returns = self.type(call.return_annotation, shadowed)
        if overloads > 1:
            self.needed.add("overload")
            self.lines.append(f"{indent}@overload")
        self.lines.append(f"{indent}def {name}({', '.join([*receiver, *filter(None, [arguments])])}) -> {returns}:")
        self.lines.append(textwrap.indent(_docstring(doc), f"{indent}    "))

    def text(self) -> str:
        """Return the text of the file."""
        imports: dict[str, list[str]] = {}
        for name in sorted(self.needed - {"builtins"}):
            module = "typing" if name == "overload" else MODULES[name]
            imports.setdefault(module, []).append(name)
        import_lines = [f"from {module} import {', '.join(imports[module])}" for module in sorted(imports)]
        lines = [*(["import builtins"] * ("builtins" in self.needed)), *import_lines, ""]
        return HEADER.format(about=self.about) + "\n".join([*lines, *self.lines]).rstrip() + "\n"


def _default(value: Any) -> str:
    plain = value is None or isinstance(value, bool | int | float | str) or value == ()
    return repr(value) if plain and value == value and abs_finite(value) else "..."


def abs_finite(value: Any) -> bool:
    """Return whether a default can be written as a literal, which infinities cannot."""
    return not isinstance(value, float) or abs(value) != float("inf")


def _docstring(doc: str) -> str:
    first = doc.strip().split("\n\n")[0].replace("\n", " ")
    text = f'"""{" ".join(first.split())}"""'
    return text if len(text) < 100 else '"""' + "\n".join(textwrap.wrap(" ".join(first.split()), 100)) + '\n"""'


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the arguments of a function or an operator; annotations stay text."""
    return inspect.signature(function)


def tensor_methods() -> str:
    """Return the stub of Tensor's methods."""
    stub = Stub("The methods of Tensor that are functions of ops.")
    stub.lines.append("class TensorMethods:")
    names = {**surfaces.METHODS, **surfaces.IN_PLACE}
    for name, function in sorted(names.items()):
        call = signature(function)
        parameters = list(call.parameters.values())[1:]
        call = call.replace(
            parameters=parameters, return_annotation="Tensor" if name in surfaces.IN_PLACE else call.return_annotation
        )
        doc = function.__doc__ or ""
        torch_names = [TORCH_NAMES.get(parameter.name, parameter.name) for parameter in parameters]
        if torch_names != [parameter.name for parameter in parameters] and len(set(torch_names)) == len(torch_names):
            renamed = [parameter.replace(name=new) for parameter, new in zip(parameters, torch_names, strict=True)]
            stub.function(name, call, doc, method=True, overloads=2, shadowed=names)
            stub.function(name, call.replace(parameters=renamed), doc, method=True, overloads=2, shadowed=names)
        else:
            stub.function(name, call, doc, method=True, shadowed=names)
    for name in PYTHON_OPERATORS:
        stub.lines.append(f"    def __{name}__(self, other: Any, /) -> Tensor: ...")
    stub.lines.append("    def __setitem__(self, index: Any, value: Any, /) -> None: ...")
    for name in ("neg", "pos", "abs", "invert"):
        stub.lines.append(f"    def __{name}__(self) -> Tensor: ...")
    for name in ("H", "T", "mH", "mT"):
        stub.lines += ["    @property", f"    def {name}(self) -> Tensor: ..."]
    for name, instead in methods.ABSENT.items():
        stub.lines.append(f"    def {name}(self, *args: Any, **kwargs: Any) -> NoReturn:")
        stub.lines.append(f'        """Not covered: {instead}"""')
    stub.needed |= {"Any", "NoReturn", "Tensor"}
    return stub.text()


def primitives() -> str:
    """Return the stub of the Primitive classes."""
    stub = Stub("The Primitive classes: one of an operator and its attributes.", reserved=surfaces.PRIMITIVES)
    stub.lines.append("from .primitives import Primitive\n")
    for name, (function, row) in sorted(surfaces.PRIMITIVES.items()):
        call = signature(function)
        attribute_defaults = dict(row.parameters)
        inputs = [
            parameter
            for key, parameter in call.parameters.items()
            if key not in attribute_defaults and parameter.kind is not parameter.VAR_KEYWORD
        ]
        inputs = [
            parameter.replace(kind=parameter.POSITIONAL_ONLY)
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            else parameter
            for parameter in inputs
        ]
        stub.lines.append(f"class {name}(Primitive):")
        stub.lines.append(textwrap.indent(_docstring(function.__doc__ or ""), "    "))
        attributes = []
        for key, default in row.parameters:
            declared = call.parameters.get(key)
            kind = stub.type(declared.annotation if declared is not None else inspect.Parameter.empty)
            stub.lines.append(f"    {key}: {kind}")
            attributes.append(f"{key}: {kind}" + ("" if default is surfaces.REQUIRED else f" = {_default(default)}"))
        if attributes:
            stub.lines.append(f"    def __init__(self, {', '.join(attributes)}) -> None: ...")
        arguments = stub.parameters(parameter for parameter in inputs)
        slash = ", /" if inputs and inputs[0].kind is inspect.Parameter.POSITIONAL_ONLY and "*" not in arguments else ""
        stub.lines.append(f"    def __call__(self, {arguments}{slash}) -> {stub.type(call.return_annotation)}: ...\n")
    return stub.text()


def functions(about: str, table: Mapping[str, Callable[..., Any]]) -> str:
    """Return the stub of a module's functions."""
    stub = Stub(about)
    for name, function in sorted(table.items()):
        stub.function(name, signature(function), function.__doc__ or "", shadowed=table)
        stub.lines.append("")
    return stub.text()


def files() -> dict[Path, str]:
    """Return the content of each stub file."""
    stubs = {
        ENGINE / "tensors" / "method_types.pyi": tensor_methods(),
        ENGINE / "ops" / "primitive_types.pyi": primitives(),
        ENGINE / "mindspore" / "numpy" / "function_types.pyi": functions(
            "Functions of numpy that are functions of ops.", surfaces.NUMPY
        ),
    }
    for module in sorted({name.rpartition(".")[0] for name in surfaces.MINT}):
        about = f"Functions of {'.'.join(filter(None, ('mint', module)))} that are functions of ops."
        path = "/".join(module.split(".")) or "function"
        stub = ENGINE / "mindspore" / "mint" / f"{path}_types.pyi"
        stubs[stub] = functions(about, surfaces.functions_of(surfaces.MINT, module))
    return stubs


def main() -> None:
    """Write the files, or print which are out of date."""
    outdated = [path for path, text in files().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        if outdated:
            sys.exit(f"not fresh: {', '.join(path.name for path in outdated)}; run python scripts/stubs.py")
        return
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
