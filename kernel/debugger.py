"""Variable panel of a debugger: forms of tensors, parameters and cells. The rest is ipykernel's.

JupyterLab sends `inspectVariables` (a table of all variables) and `richInspectVariables` (one variable, as a cell would
show it) through the control channel: in an idle kernel, while a cell runs or is paused, and at a breakpoint.
"""

from __future__ import annotations

import ast
from typing import Any

from ipykernel.debugger import Debugger
from IPython import get_ipython

from . import variables
from .ipykernel_adapter import DebuggerHooks, add_string_provider

Json = dict[str, Any]


class HookscopeDebugger(DebuggerHooks, Debugger):
    """ipykernel's debugger with forms of tensors."""

    def before_first_request(self) -> None:
        add_string_provider(_OneLine())  # not at kernel start, since finding pydevd's extensions takes a while

    async def variable_forms(self, name: str, message: Json) -> Json:
        if not name.isidentifier():
            return {}
        return await self._forms_at_breakpoint(name, message) if self.is_at_breakpoint else _forms(name)

    async def _forms_at_breakpoint(self, name: str, message: Json) -> Json:
        """Return the forms of a variable of the stopped frame, evaluated in that frame."""
        expression = f"__import__({variables.__name__!r}, fromlist=['forms']).forms({name})"
        text = await self.evaluate_in_stopped_frame(expression, message)
        forms: Json = {} if text is None else ast.literal_eval(text)
        return forms


def _forms(name: str) -> Json:
    shell: Any = get_ipython()
    return variables.forms(shell.user_ns.get(name))


class _OneLine:
    """Formatter of the value column, both in an idle kernel and at a breakpoint."""

    def can_provide(self, type_object: type, type_name: str) -> bool:
        return variables.is_known(type_object)

    def get_str(self, value: object) -> str:
        return variables.line(value)
