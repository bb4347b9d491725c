"""What the kernel tells a debugger's variable panel about tensors, parameters and cells. The rest is ipykernel's.

JupyterLab asks by `inspectVariables` (a table of all variables) and `richInspectVariables` (one of them, as a cell
would show it), through the control channel: in a free kernel, while a cell runs or is paused, and at a breakpoint.
"""

from __future__ import annotations

import ast
from typing import Any

from ipykernel.debugger import Debugger
from IPython import get_ipython

from . import variables

Json = dict[str, Any]


class HookscopeDebugger(Debugger):
    """ipykernel's debugger, which knows what a tensor is."""

    _knows_tensors = False

    async def process_request(self, message: Json) -> Json:
        if not self._knows_tensors:  # not when the kernel starts: finding pydevd's extensions takes a while
            self._knows_tensors = True
            _teach_pydevd()
        reply: Json = await super().process_request(message)  # type: ignore[no-untyped-call]  # ipykernel has no types
        return reply

    async def richInspectVariables(self, message: Json) -> Json:  # noqa: N802  # the command's name
        name = message["arguments"]["variableName"]
        if name.isidentifier():
            forms = await self._forms_at_breakpoint(name, message) if self.stopped_threads else _forms(name)
            if forms:
                return {
                    "type": "response",
                    "request_seq": message["seq"],
                    "success": True,
                    "command": message["command"],
                    "body": {"data": forms, "metadata": {}},
                }
        reply: Json = await super().richInspectVariables(message)  # type: ignore[no-untyped-call]
        return reply

    async def _forms_at_breakpoint(self, name: str, message: Json) -> Json:
        """The forms of a variable of the stopped frame, made where that frame is."""
        expression = f"__import__({variables.__name__!r}, fromlist=['forms']).forms({name})"
        arguments = {"expression": expression, "frameId": message["arguments"].get("frameId"), "context": "clipboard"}
        request = {"type": "request", "command": "evaluate", "seq": message["seq"] + 1, "arguments": arguments}
        reply = await self._forward_message(request)  # type: ignore[no-untyped-call]
        forms: Json = ast.literal_eval(reply["body"]["result"]) if reply["success"] else {}
        return forms


def _forms(name: str) -> Json:
    shell: Any = get_ipython()
    return variables.forms(shell.user_ns.get(name))


class _OneLine:
    """Writes the value column, in pydevd's words a StrPresentationProvider."""

    def can_provide(self, type_object: type, type_name: str) -> bool:
        return variables.is_known(type_object)

    def get_str(self, value: object) -> str:
        return variables.line(value)


def _teach_pydevd() -> None:
    """Let pydevd, which lists variables both in a free kernel and at a breakpoint, show a tensor by its figures."""
    # debugpy carries pydevd with it and puts it on the path when it is imported.
    from _pydevd_bundle.pydevd_extension_api import StrPresentationProvider  # type: ignore[import-not-found]
    from _pydevd_bundle.pydevd_extension_utils import extensions_of_type  # type: ignore[import-not-found]

    extensions_of_type(StrPresentationProvider).append(_OneLine())
