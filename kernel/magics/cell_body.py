"""Context of the body of a `%%cell`: everything is restored when the body ends, however it ends."""

from __future__ import annotations

import ast
import asyncio
import symtable
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.display import display

from ..ipykernel_adapter import ends_with_semicolon
from .options import one_line

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.nn import Cell


def show(value: object) -> None:
    """Display a value in the running cell's output."""
    display(value)  # type: ignore[no-untyped-call]  # IPython has no types here


class Body:
    """The code below a `%%cell` line.

    Attributes:
        names: the variables that the body binds.
        is_valid: whether it can be parsed; if not, running it raises the error.
        error: the exception that it raised, after it has run.
    """

    def __init__(self, shell: Any, text: str) -> None:
        self._shell = shell
        self._text = text
        self.names: set[str] = set()
        self.is_valid = True
        self.error: BaseException | None = None
        self._is_silent = False
        try:
            code = shell.transform_cell(text)
            compile(code, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST)
        except SyntaxError:
            self.is_valid = False
            return
        if _loop_is_running() and shell.should_run_async(text, transformed_cell=code):
            raise UsageError("%%cell: the body cannot use `await` outside a function; await in another cell")
        table = symtable.symtable(code, "<cell>", "exec")
        self.names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned()}
        # The display hook looks for a closing semicolon in its current cell, which is the one with the magic.
        self._is_silent = ends_with_semicolon(code)

    def run(self) -> None:
        """Run the body as a cell of its own, so that its traceback and the display of its last line are as usual."""
        interactivity = self._shell.ast_node_interactivity
        if self._is_silent:
            self._shell.ast_node_interactivity = "none"
        try:
            result = self._shell.run_cell(self._text)
        finally:
            self._shell.ast_node_interactivity = interactivity
        self.error = result.error_before_exec or result.error_in_exec


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def device(name: str) -> Iterator[None]:
    """Create new tensors on this device inside the context."""
    from hookscope.engine.tensors.backend import device_target, set_device

    previous = device_target()
    try:
        set_device(name)
    except RuntimeError as error:
        raise UsageError(f"%%cell: --device {name}: {one_line(error)}") from None
    try:
        yield
    finally:
        set_device(previous)


@contextmanager
def restored_modes(net: Cell, body: Body, mode: bool | None) -> Iterator[None]:
    """Restore every cell's training mode if `mode` was given or the run is aborted.

    Otherwise a mode set by the body, or in the panel, stays, as after any `net.set_train()`.
    """
    from hookscope.engine.debug import DebugAbort
    from hookscope.engine.debug.stop.undo import TrainingModes

    previous = TrainingModes([net])
    if mode is not None:
        net.set_train(mode)
    try:
        yield
    finally:
        if mode is not None or isinstance(body.error, DebugAbort):
            previous.restore()


@contextmanager
def detached_at_end(session: DebugSession) -> Iterator[None]:
    """Detach the session and remove its hooks at the end: %%cell leaves nothing in the network."""
    from hookscope.engine.debug.faults import suppress_faults

    try:
        yield
    finally:
        session.detach()
        with suppress_faults(session, "taking the session's hooks away"):
            for row in session.hooks():
                if row.by_session:
                    session.detach_hook(row.path, row.kind)


def fail_cell(shell: Any, error: BaseException) -> None:
    """Mark the surrounding cell as failed, so that "run all" stops, without a second traceback."""

    def fail(result: Any) -> None:
        forget()
        result.error_in_exec = error

    def forget(*_: object) -> None:
        shell.events.unregister("post_run_cell", fail)
        shell.events.unregister("pre_run_cell", forget)

    shell.events.register("post_run_cell", fail)
    shell.events.register("pre_run_cell", forget)  # a silent cell ends without the first event
