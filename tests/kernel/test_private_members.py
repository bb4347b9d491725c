"""Private members of Jupyter's packages appear in kernel/ipykernel_adapter.py alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

UNDOCUMENTED = {
    "Completer",
    "control_thread",
    "dispatch_shell",
    "execute_request",
    "extensions_of_type",
    "feed_identities",
    "init_events",
    "io_loop",
    "iopub_socket",
    "kernel_info_request",
    "post_handler_hook",
    "pre_handler_hook",
    "process_request",
    "richInspectVariables",
    "run_ast_nodes",
    "safe_execfile",
    "saved_sigint_handler",
    "semicolon_at_end_of_expression",
    "set_parent",
    "shell_channel_thread",
    "shell_channel_thread_main",
    "shell_handlers",
    "shell_main",
    "shell_stream",
    "stopped_threads",
}
"""Members without an underscore that no documentation promises."""

DOCUMENTED = {
    "_current_frames",  # sys
    "_exit",  # os
    "_replace",  # named tuples
    "_render_traceback_",  # IPython's protocols of display
    "_repr_html_",
    "_repr_mimebundle_",
}
"""Members with an underscore that a documentation promises."""

EXCEPTIONS = {
    "_option_string_actions": "argparse's table of options, which nothing else gives",
    "_args_from_interpreter_flags": "subprocess's, which multiprocessing uses; kernel/ranks/launch.py works without it",
    "_validate": "traitlets' only way to check a value without writing it; widgets/ cannot import the adapter",
}
"""Other private members that are used, and why."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def uses(tree: ast.AST) -> Iterator[str]:
    """Return the names of members that a module uses or imports."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name):
                yield name
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr" | "hasattr" | "delattr"),
                args=[_, ast.Constant(value=str(name)), *_],
            ):
                yield name
            case ast.ImportFrom(module=str(module), level=level):
                if not level and not module.startswith(("hookscope", "__future__")):
                    yield from module.split(".")
                    yield from (alias.name for alias in node.names)
            case ast.Import():
                yield from (name for alias in node.names for name in alias.name.split("."))


def bindings(tree: ast.AST) -> Iterator[str]:
    """Return the names that a module binds: functions, classes, variables, slots, and attributes of `self`."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store(), value=ast.Name(id="self" | "cls")):
                yield name
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=value):
                yield from (part.value for part in ast.walk(value) if isinstance(part, ast.Constant))


def functions(tree: ast.AST) -> Iterator[str]:
    """Return the names of the functions and methods of a module."""
    return (node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def attributes_of_self(tree: ast.AST) -> Iterator[str]:
    """Return the names of the attributes that methods of a module set."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store(), value=ast.Name(id="self" | "cls")):
                yield name


def parsed(*patterns: str) -> dict[str, ast.Module]:
    """Return the modules of some folders, by their paths in the repository."""
    paths = [path for pattern in patterns for path in sorted(REPOSITORY.glob(pattern))]
    return {str(path.relative_to(REPOSITORY)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


class Scan:
    """The names that `kernel/` and `widgets/` may use: those that Hookscope binds, and no others' private ones."""

    def __init__(self) -> None:
        self.modules = parsed("kernel/**/*.py", "widgets/**/*.py")
        adapter = self.modules.pop("kernel/ipykernel_adapter.py")
        own = [*self.modules.values(), *parsed("engine/**/*.py", "hookscope/*.py").values()]
        self.bound = {name for tree in own for name in bindings(tree)}
        private = filter(is_private, {*functions(adapter), *uses(adapter)})
        self.adapters = UNDOCUMENTED.union(private).difference(attributes_of_self(adapter)) | {"saved_sigint_handler"}

    def foreign_members(self, tree: ast.AST) -> list[str]:
        """Return the members that a module uses, or overrides, though they are private and not Hookscope's."""
        overridden = self.adapters.intersection(functions(tree))
        return sorted(overridden | {name for name in uses(tree) if self.is_foreign(name)})

    def is_foreign(self, name: str) -> bool:
        if name in EXCEPTIONS or name in DOCUMENTED:
            return False
        return name in self.adapters or (is_private(name) and name not in self.bound)


@pytest.fixture(scope="module")
def scan() -> Scan:
    return Scan()


def test_no_file_but_the_adapter_uses_private_members_of_others(scan: Scan) -> None:
    members = {path: names for path, tree in scan.modules.items() if (names := scan.foreign_members(tree))}
    assert not members, "use these through kernel/ipykernel_adapter.py"


@pytest.mark.parametrize(
    ("code", "member"),
    [
        ("kernel._publish_status('busy')", "_publish_status"),
        ("getattr(kernel, '_allow_stdin', False)", "_allow_stdin"),
        ("class Shell(Base):\n    def _ofind(self, name): ...", "_ofind"),
        ("class Kernel(Base):\n    def pre_handler_hook(self): ...", "pre_handler_hook"),
        ("async def run(self):\n    await self._main_asyncio_lock.acquire()", "_main_asyncio_lock"),
        ("kernel.shell_channel_thread.io_loop", "shell_channel_thread"),
        ("from _pydevd_bundle import pydevd_utils", "_pydevd_bundle"),
        ("from IPython.core.interactiveshell import _asyncio_runner", "_asyncio_runner"),
        ("import zmq._future", "_future"),
        ("shell._a_member_of_tomorrow", "_a_member_of_tomorrow"),
    ],
)
def test_a_private_member_is_noticed(scan: Scan, code: str, member: str) -> None:
    assert member in scan.foreign_members(ast.parse(code))


@pytest.mark.parametrize("code", ["self._kernel", "tensor._array", "row._replace(a=1)", "os._exit(1)", "kernel.pump"])
def test_members_of_hookscope_and_documented_ones_are_left_alone(scan: Scan, code: str) -> None:
    assert not scan.foreign_members(ast.parse(code))


def test_each_exception_is_still_used(scan: Scan) -> None:
    used = {name for tree in scan.modules.values() for name in uses(tree)}
    assert used >= EXCEPTIONS.keys()
