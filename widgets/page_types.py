"""Types of messages between Python and the page, written for the type checker of the JavaScript.

State and messages are TypedDicts in Python; a page's requests are the tables of actions. Types keep their names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from hookscope.widgets.view import View

_PLAIN = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    bytes: "DataView",
    list: "unknown[]",
    dict: "Record<string, unknown>",
    Any: "unknown",
}


class Types:
    """Types by name, in order of first use."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, str]] = {}

    def add(self, views: Iterable[View]) -> None:
        """Add the types of these views' state, messages and requests."""
        messages: dict[str, str] = {}
        requests: dict[str, str] = {}
        for view in views:
            for trait in view.traits.values():
                self.written(trait.metadata["content"])
            messages |= {name: self.written(message.content) for name, message in view.messages.items()}
            for name, action in view.actions.items():
                fields = "".join(f", {field}: {self.written(kind)}" for field, kind in action.fields.items())
                requests[name] = f"{{type: {json.dumps(name)}{fields}}}"
        self._known["Sent"] = (Literal, " | ".join(messages.values()) or "never")
        self._known["Asked"] = (Literal, " | ".join(requests.values()) or "never")

    def written(self, kind: Any) -> str:
        """Return a type in TypeScript syntax.

        Raises:
            TypeError: values of the type cannot be sent.
            ValueError: another type has the same name.
        """
        origin, inner = get_origin(kind), get_args(kind)
        if is_typeddict(kind):
            return self._dictionary(kind)
        if origin is Literal:
            return " | ".join(json.dumps(value) for value in inner)
        if origin in (Union, UnionType):
            return " | ".join(self.written(member) for member in inner)
        if origin is list:
            item = self.written(inner[0])
            return f"({item})[]" if " | " in item else f"{item}[]"
        if origin is tuple:
            return f"[{', '.join(self.written(member) for member in inner)}]"
        if origin is dict:
            return f"Record<{self.written(inner[0])}, {self.written(inner[1])}>"
        if kind not in _PLAIN:
            raise TypeError(f"nothing of the type {kind!r} can be sent to the page")
        return _PLAIN[kind]

    def _dictionary(self, kind: Any) -> str:
        name: str = kind.__name__
        entry = self._known.setdefault(name, (kind, ""))
        if entry[0] is not kind:
            raise ValueError(f"two types are called {name}: of {entry[0].__module__} and of {kind.__module__}")
        if not entry[1]:
            optional = kind.__optional_keys__
            fields = (
                f"{field}{'?' * (field in optional)}: {self.written(of)}" for field, of in get_type_hints(kind).items()
            )
            self._known[name] = (kind, f"{{{', '.join(fields)}}}")
        return name

    def text(self) -> str:
        """Return all types as JSDoc."""
        return (
            "\n".join(f"/** @typedef {{{definition}}} {name} */" for name, (_, definition) in self._known.items())
            + "\n"
        )
