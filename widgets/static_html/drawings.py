"""Small drawings for pages that run no script: a histogram and a curve as SVG, a matrix as a PNG.

They hold no text, since code hosts that remove drawings leave their text behind. Lines take the color of the
surrounding text, and zero in a matrix takes the color of the page, for light and dark themes. Equal numbers give equal
bytes with any build of zlib, since nothing is compressed.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hookscope.widgets import texts
from hookscope.widgets.static_html.markup import PALETTE, number, table, text

if TYPE_CHECKING:
    from hookscope.engine.debug import Statistics

MOST_PIXELS = 64
"""A matrix with more rows or columns is subsampled to this many."""
_MOST_SIDE = 192

_BAR, _HEIGHT = 3, 40
_WIDTH = 200
_Array = npt.NDArray[Any]


def _svg(label: str, width: int, height: int, shapes: str) -> str:
    return (
        f'<svg class="hs-drawing" role="img" aria-label="{text(label)}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{shapes}</svg>'
    )


def histogram(counts: Sequence[int] | _Array, low: float, high: float) -> str:
    """Draw bars between two limits, with a line at zero if zero is between them; "" if all counts are zero."""
    numbers = np.asarray(counts)
    largest = int(numbers.max(initial=0))
    if not largest:
        return ""
    width = _BAR * len(numbers)
    bars = [
        # A nonempty bin stays visible next to one that holds a thousand times as much.
        f"M{_BAR * k} {_HEIGHT}v-{max(1, round((_HEIGHT - 2) * int(count) / largest))}h{_BAR - 1}V{_HEIGHT}z"
        for k, count in enumerate(numbers)
        if count
    ]
    shapes = f'<path fill="currentColor" fill-opacity=".65" d="{"".join(bars)}"/>'
    if low < 0 < high:
        # Divide before subtracting: the difference of the largest numbers overflows a float.
        below = -low / high
        zero = round(width * (below / (1 + below) if below < math.inf else 1.0), 1)
        shapes += f'<path stroke="currentColor" stroke-opacity=".6" stroke-dasharray="2 2" d="M{zero} 0v{_HEIGHT}"/>'
    return _svg(f"histogram from {low:.5g} to {high:.5g}", width, _HEIGHT, shapes)


def figures_html(statistics: Statistics) -> str:
    """Return the statistics of one value as a one-line table, with a histogram above."""
    columns: dict[str, object] = {
        "min": number(statistics.minimum),
        "max": number(statistics.maximum),
        "mean": number(statistics.mean),
        "std": number(statistics.std),
        "norm": number(statistics.norm),
    }
    counts = {"zeros": statistics.zeros, "NaN": statistics.nan}
    counts |= {"+inf": statistics.positive_inf, "-inf": statistics.negative_inf}
    columns |= {name: f"{count:,}" for name, count in counts.items() if count}
    bins = statistics.histogram  # empty if the value was released before its histogram was computed
    picture = histogram(bins, statistics.minimum, statistics.maximum) if bins.size else ""
    return picture + table("", tuple(columns), [tuple(columns.values())], numeric=columns)


def curve(label: str, points: Sequence[tuple[float, float]]) -> str:
    """Draw a line through points (x, y), omitting those whose y is not finite; "" for fewer than two points."""
    finite = np.array([point for point in points if np.isfinite(point[1])], np.float64).reshape(-1, 2)
    if len(finite) < 2:
        return ""
    if len(finite) > _WIDTH:
        finite = finite[np.linspace(0, len(finite) - 1, _WIDTH).round().astype(int)]
    x, y = (_between_0_and_1(column) for column in finite.T)
    line = " ".join(
        f"{round(_WIDTH * a, 1)},{round(1 + (_HEIGHT - 2) * (1 - b), 1)}" for a, b in zip(x, y, strict=True)
    )
    shapes = f'<polyline fill="none" stroke="currentColor" stroke-width="1.5" points="{line}"/>'
    return _svg(label, _WIDTH, _HEIGHT, shapes)


def _between_0_and_1(values: _Array) -> _Array:
    low, high = values.min(), values.max()
    with np.errstate(all="ignore"):
        span = high / 2 - low / 2
        if not span:  # also true between the two smallest representable numbers
            return np.full(len(values), 0.5)
        shares: _Array = (values / 2 - low / 2) / span
    return shares


def _color(name: str) -> tuple[int, ...]:
    """Return a palette color that is the same on a light and on a dark page."""
    match = re.search(rf"--hs-{name}: rgb\((\d+) (\d+) (\d+)\)", PALETTE)
    assert match is not None, name
    return tuple(map(int, match.groups()))


def _palette() -> tuple[bytes, bytes]:
    """Return the colors of the palette and the opacity of each.

    Blue is below zero and red above, each in 120 steps; magenta is NaN and green is infinity. Colors near zero are more
    transparent, so that zero is light on a light page and dark on a dark one.
    """
    below, zero, above, nan, infinite = map(_color, ("still-below", "still-zero", "still-above", "nan", "inf"))
    colors = [below] * _ZERO + [zero] + [above] * _ZERO + [nan, infinite]
    shares = np.abs(np.arange(-_ZERO, _ZERO + 1)) / _ZERO
    opaque = [*np.round(shares * 255).astype(int).tolist(), 255, 255]
    return bytes(np.array(colors, np.uint8).tobytes()), bytes(opaque)


_ZERO, _NAN, _INFINITE = 120, 241, 242


def figure(picture: str, caption: str) -> str:
    """Return a picture with a caption below it."""
    return f"<figure>{picture}<figcaption>{text(caption)}</figcaption></figure>"


def matrix_figure(array: Any, caption: str = "", limit: int = MOST_PIXELS) -> str:
    """Return the first matrix of a value as a heatmap with a caption; "" for a value of one axis."""
    if array.ndim < 2 or array.dtype.kind not in "biuf" or not array.size:
        return ""
    lead = (0,) * (array.ndim - 2)
    matrix = array[lead]
    # Subsampled on its own device, so that little is copied from a GPU.
    matrix = matrix[tuple(slice(None, None, -(-size // limit)) for size in matrix.shape)]
    matrix = matrix.get() if hasattr(matrix, "get") else np.asarray(matrix)
    caption += f"[{', '.join('0' for _ in lead)}] of it: " if lead else ""
    common_value = texts.same_text(matrix)
    colors = "blue below 0, clear at 0, red above; magenta NaN, green inf"
    caption += f"all {matrix.size:,} values are {common_value}" if common_value else colors
    if matrix.shape != array.shape[-2:]:
        caption += f"; {texts.shape_text(matrix.shape)} of its elements, at equal distances"
    return figure(heatmap("heatmap", matrix), caption)


def heatmap(label: str, matrix: _Array) -> str:
    """Draw a matrix of numbers as an image of at most 192 pixels, with colors centered at zero."""
    values = np.asarray(matrix, np.float64)
    finite = np.isfinite(values)
    largest = np.abs(values[finite]).max(initial=0.0)
    pixels = np.full(values.shape, _ZERO, np.uint8)
    if largest:
        with np.errstate(all="ignore"):
            pixels[finite] = np.round(values[finite] / largest * _ZERO + _ZERO)
    pixels[np.isnan(values)], pixels[np.isinf(values)] = _NAN, _INFINITE
    zoom = max(1, min(12, _MOST_SIDE // max(pixels.shape)))
    rows, columns = matrix.shape
    height, width = zoom * rows, zoom * columns
    data = b64encode(_png(pixels)).decode()
    return (
        f'<img class="hs-heatmap" alt="{text(label)}" width="{width}" height="{height}" '
        f'src="data:image/png;base64,{data}">'
    )


def _png(pixels: _Array) -> bytes:
    """Return a PNG image with one byte per pixel, an index into the palette (PNG specification, color type 3)."""
    height, width = pixels.shape
    palette, opaque = _palette()
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette),
        (b"tRNS", opaque),
        (b"IDAT", zlib.compress(lines, 0)),
        (b"IEND", b""),
    )
    parts = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
