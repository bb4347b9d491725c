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
        self._definitions: dict[str, tuple[Any, str]] = {}

    def add(self, views: Iterable[View]) -> None:
        """Add the types of these views' state, messages and requests."""
        messages: dict[str, str] = {}
        requests: dict[str, str] = {}
        for view in views:
            for trait in view.traits.values():
                self.syntax_of(trait.metadata["content"])
            messages |= {name: self.syntax_of(message.content) for name, message in view.messages.items()}
            for name, action in view.actions.items():
                fields = "".join(f", {field}: {self.syntax_of(kind)}" for field, kind in action.fields.items())
                requests[name] = f"{{type: {json.dumps(name)}{fields}}}"
        self._definitions["Sent"] = (Literal, " | ".join(messages.values()) or "never")
        self._definitions["Asked"] = (Literal, " | ".join(requests.values()) or "never")

    def syntax_of(self, kind: Any) -> str:
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
            return " | ".join(self.syntax_of(member) for member in inner)
        if origin is list:
            item = self.syntax_of(inner[0])
            return f"({item})[]" if " | " in item else f"{item}[]"
        if origin is tuple:
            return f"[{', '.join(self.syntax_of(member) for member in inner)}]"
        if origin is dict:
            return f"Record<{self.syntax_of(inner[0])}, {self.syntax_of(inner[1])}>"
        if kind not in _PLAIN:
            raise TypeError(f"nothing of the type {kind!r} can be sent to the page")
        return _PLAIN[kind]

    def _dictionary(self, kind: Any) -> str:
        name: str = kind.__name__
        entry = self._definitions.setdefault(name, (kind, ""))
        if entry[0] is not kind:
            raise ValueError(f"two types are called {name}: of {entry[0].__module__} and of {kind.__module__}")
        if not entry[1]:
            optional = kind.__optional_keys__
            fields = (
                f"{field}{'?' * (field in optional)}: {self.syntax_of(field_type)}"
                for field, field_type in get_type_hints(kind).items()
            )
            self._definitions[name] = (kind, f"{{{', '.join(fields)}}}")
        return name

    def text(self) -> str:
        """Return all types as JSDoc."""
        return (
            "\n".join(f"/** @typedef {{{definition}}} {name} */" for name, (_, definition) in self._definitions.items())
            + "\n"
        )
