"""Text of a logpoint: a breakpoint that prints values in place of a pause."""

from __future__ import annotations

import string
from collections.abc import Mapping
from types import CodeType
from typing import NamedTuple

from ..pause import describe
from .expression import compile_expression, evaluate, names_in, value_scope

__all__ = ["LogText"]


class _Part(NamedTuple):
    """A literal text, and the expression after it with its format; the last part has no expression."""

    text: str
    code: CodeType | None
    format: str


class LogText:
    """Text with expressions in braces, as in an f-string: ``norm {norm:.3g} in step {step}``.

    Args:
        text: the text; ``{{`` is a brace.
        names: the names that the expressions may use apart from Python's own; None if they are not known in advance.

    Raises:
        ValueError: a brace without its pair, or a faulty expression.
    """

    def __init__(self, text: str, names: tuple[str, ...] | None) -> None:
        try:
            fields = list(string.Formatter().parse(text))
        except ValueError as error:
            raise ValueError(f"log {text!r}: {error}") from None
        self._parts = [
            _Part(literal, None if field is None else compile_expression(field, names), format_ or "")
            for literal, field, format_, _ in fields
        ]

    def text_with(self, value: object, names: Mapping[str, object]) -> str:
        """Return the text with the values of its expressions, for one value that passes."""
        pieces: list[str] = []
        for part in self._parts:
            pieces.append(part.text)
            if part.code is not None:
                result = evaluate(part.code, {**value_scope(value, names_in(part.code).difference(names)), **names})
                pieces.append(_formatted(result, part.format))
        return "".join(pieces)


def _formatted(value: object, format_: str) -> str:
    if not format_:
        return value if isinstance(value, str) else describe(value)
    item = getattr(value, "item", None)
    return format(item() if item is not None and getattr(value, "size", 0) == 1 else value, format_)
