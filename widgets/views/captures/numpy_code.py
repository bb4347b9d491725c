"""Generation of code that reproduces a slice of a capture in a new cell, a script or another process.

The code contains a few elements as numbers, and more elements as compressed bytes in text. The code of a large slice
would be too long for a notebook. So that code reads the value from the session in the same kernel, and states this.
"""

from __future__ import annotations

import base64
import textwrap
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from hookscope.engine.debug.record.size_texts import size_text
from hookscope.widgets import texts

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture

MOST_WRITTEN = 256
"""Maximum number of elements that are written as numbers."""

MOST_BYTES = 64 << 10
"""Maximum number of bytes that are written as text."""


class Code(TypedDict):
    """The reply to a request for code."""

    type: Literal["code"]
    index: int
    code: str


def numpy_code(capture: Capture, at: Sequence[int], ring: str) -> str:
    """Return code that binds a slice of a capture's value to ``array``, element for element.

    Args:
        capture: the capture.
        at: the index along each of the first axes.
        ring: the name of the ring buffer that holds it (`CaptureRing.name`).
    """
    array = capture.value._array
    sizes = array.shape[: max(0, array.ndim - 2)]
    indices = [max(0, min(int(coordinate), size - 1)) for coordinate, size in zip(at, sizes, strict=False)]
    part = array[tuple(indices)] if indices and array.size else array
    index = f"[{', '.join(map(str, indices))}]" if indices else ""
    description = f"{capture.key}, step {capture.step}{', ' + index if index else ''}: "
    description += f"{part.dtype.name} {texts.shape_text(part.shape)}"
    comment = f"# {' '.join(description.split())}"  # a line break in a cell's name must not end the comment
    if part.nbytes > MOST_BYTES:
        return (
            f"{comment}, {size_text(part.nbytes)}: taken from the session in this kernel, while that keeps it\n"
            "from hookscope.engine.debug import kept_value\n\n"
            f"array = kept_value({ring!r}, {capture.index}).asnumpy(){index}\n"
        )
    part = part.get() if hasattr(part, "get") else np.asarray(part)
    return f"{comment}\n{_code(part)}"


def _code(part: npt.NDArray[Any]) -> str:
    native = part.dtype.type.__module__ == "numpy"
    dtype = f"{'np' if native else 'ml_dtypes'}.{part.dtype.name}"
    imports = ["import numpy as np"] if native else ["import ml_dtypes", "import numpy as np"]
    if not part.size:
        return "\n".join([*imports, "", f"array = np.zeros({part.shape}, dtype={dtype})", ""])
    if part.size <= MOST_WRITTEN:
        if part.dtype.kind not in "biu" and not np.isfinite(part).all():
            imports.append("from numpy import inf, nan")
        return "\n".join([*imports, "", f"array = np.array({_literal(part)}, dtype={dtype})", ""])
    packed = base64.b64encode(zlib.compress(np.ascontiguousarray(part).tobytes(), 9)).decode()
    lines = "\n".join(textwrap.wrap(packed, 116))
    imports = ["import base64", "import zlib", "", *imports]
    return "\n".join(
        [
            *imports,
            "",
            f'data = """\n{lines}\n"""',
            f"array = np.frombuffer(bytearray(zlib.decompress(base64.b64decode(data))), dtype={dtype})",
            f"array = array.reshape({part.shape})",
            "",
        ]
    )


def _literal(part: npt.NDArray[Any]) -> str:
    """Return an array as nested lists of the shortest numbers that round-trip."""
    if part.ndim == 0:
        return _number(part[()])
    separator = ", " if part.ndim == 1 else ",\n" + " " * 8
    return f"[{separator.join(_literal(row) for row in part)}]"


def _number(number: Any) -> str:
    if number.dtype.kind == "c":  # as two numbers: Python evaluates 1-0j as 1+0j, and nan+infj is two names
        return f"complex({number.real}, {number.imag})"
    return str(number) if number.dtype.kind in "biuf" else str(float(number))  # str(bfloat16(-0.0)) is "-0"
