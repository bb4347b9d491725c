"""Data for drawing one slice of a value, limited to as many numbers as a person can distinguish.

A slice is a matrix, or a page of tiles (the channels of a feature map). A slice larger than its picture is reduced here
block by block, and the note describes the reduction; a block that contains a NaN or an infinity shows it. Each picture
is sent as two buffers: the levels of its colors (uint8, 0 at `low`, 255 at `high`), and its numbers (float64).
"""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from hookscope.engine.base.file_labels import file_label
from hookscope.widgets import texts
from hookscope.widgets.highlighting import Piece, pieces

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture

Numbers = npt.NDArray[np.float64]

PICTURES = ("matrix", "tiles")
MOST_CELLS = 128  # along each axis of a matrix
MOST_BARS = 256  # of a value with one axis
MOST_TILES = 32  # on one page
_TILE_CELLS = 32_768  # all tiles of a page together
_MOST_READ = 1 << 20  # elements of one matrix; a larger one is subsampled evenly
_MOST_CHOICES = 40
_MOST_LINES = 400


class PictureFacts(TypedDict):
    """One picture without its numbers; statistics are text, since JSON has neither NaN nor infinity.

    `same` is the common value of all `count` elements, or "" if they differ.
    """

    title: str
    rows: int
    columns: int
    low: str
    high: str
    minimum: str
    maximum: str
    nan: int
    positive_inf: int
    negative_inf: int
    count: int
    same: str


class Slice(TypedDict):
    """The pictures of one slice, with two buffers each: levels and numbers."""

    type: Literal["tensor"]
    picture: Literal["matrix", "tiles"]
    index: int
    other: int
    at: list[int]
    size: list[int]
    window: list[int]
    step: list[int]
    note: str
    difference: str
    pictures: list[PictureFacts]


class Source(TypedDict):
    """The source of a cell's `construct`."""

    type: Literal["source"]
    path: str
    title: str
    location: str
    first: int
    lines: list[list[Piece]]


class Choice(TypedDict):
    """A capture to compare with."""

    index: int
    label: str


class Choices(TypedDict):
    """Captures to compare with whose labels contain all words of a text: the nearest ones, and the total number."""

    type: Literal["choices"]
    index: int
    text: str
    choices: list[Choice]
    total: int


class Read(NamedTuple):
    """Elements of a matrix, before reduction to a size that is sent."""

    numbers: Numbers
    window: tuple[int, int, int, int]
    stride: tuple[int, int]
    step: tuple[int, int]


def slice_view(
    capture: Capture, other: Capture | None, picture: str, at: Sequence[int], window: Sequence[int]
) -> tuple[Slice, list[bytes]]:
    """Return a message and its buffers: a matrix or a page of tiles of a capture.

    Args:
        capture: the capture to show.
        other: a capture of the same shape to compare with: its matrix comes first, and `capture` minus `other` third.
        picture: "matrix" or "tiles".
        at: the index along each axis before the matrix; for tiles, before the channels, then the number of the page.
        window: first row, end row, first column, end column (ends exclusive); empty is the full matrix.
    """
    if picture not in PICTURES:
        raise ValueError(f"picture must be one of {', '.join(PICTURES)}, got {picture!r}")
    if not all(type(number) is int for number in (*at, *window)):
        raise ValueError("at and window must be lists of int")
    if other is not None and other.shape != capture.shape:
        raise ValueError(f"capture {other.index} has a different shape than capture {capture.index}")
    if picture == "tiles" and len(capture.shape) > 2:
        return _tiles(capture, at)
    return _matrices(capture, other, at, window)


def _matrices(
    capture: Capture, other: Capture | None, at: Sequence[int], window: Sequence[int]
) -> tuple[Slice, list[bytes]]:
    indices = _clamped(at, capture.shape[:-2])
    captures = [capture] if other is None else [other, capture]
    planes = [_plane(member, indices) for member in captures]
    height, width = planes[0].shape
    limits = (MOST_CELLS, MOST_BARS if height == 1 else MOST_CELLS)
    reads = [_read(plane, window, limits) for plane in planes]
    low, high = _range(captures)
    titles = [f"{member.key}, step {member.step}" for member in captures]
    pictures = [_picture(title, read, low, high) for title, read in zip(titles, reads, strict=True)]
    largest = ""
    if other is not None:
        full = _apart(*[_read(plane, (), limits) for plane in reversed(planes)])
        reach, largest = _largest(full, indices[: len(capture.shape) - 2], len(capture.shape))
        pictures.append(_picture("difference", _apart(*reversed(reads)), -reach, reach))
    content: Slice = {
        "type": "tensor",
        "picture": "matrix",
        "index": capture.index,
        "other": -1 if other is None else other.index,
        "at": indices,
        "size": [height, width],
        "window": list(reads[0].window),
        "step": list(reads[0].step),
        "note": _note(reads[0]),
        "difference": largest,
        "pictures": [facts for facts, _ in pictures],
    }
    return content, [buffer for _, buffers in pictures for buffer in buffers]


def _tiles(capture: Capture, at: Sequence[int]) -> tuple[Slice, list[bytes]]:
    channels, height, width = capture.shape[-3:]
    pages = math.ceil(channels / MOST_TILES)
    *indices, page = _clamped(at, (*capture.shape[:-3], pages))
    numbers = range(page * MOST_TILES, min(channels, (page + 1) * MOST_TILES))
    side = math.isqrt(_TILE_CELLS // max(1, len(numbers)))
    low, high = _range([capture])
    reads = [_read(_plane(capture, [*indices, k]), (), (side, side)) for k in numbers]
    pictures = [_picture(str(k), read, low, high) for k, read in zip(numbers, reads, strict=True)]
    content: Slice = {
        "type": "tensor",
        "picture": "tiles",
        "index": capture.index,
        "other": -1,
        "at": [*indices, page],
        "size": [height, width],
        "window": [0, height, 0, width],
        "step": list(reads[0].step) if reads else [1, 1],
        "note": _note(reads[0]) if reads else "no elements",
        "difference": "",
        "pictures": [facts for facts, _ in pictures],
    }
    return content, [buffer for _, buffers in pictures for buffer in buffers]


def _clamped(at: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return an index along each axis, clamped to the axis."""
    requested = [*at, *[0] * len(sizes)][: len(sizes)]
    return [max(0, min(index, size - 1)) for index, size in zip(requested, sizes, strict=True)]


def _plane(capture: Capture, indices: Sequence[int]) -> Any:
    """Return the matrix at these indices as a view of the array; a value of one axis is one row."""
    array = capture.value._array
    if 0 in array.shape:
        return np.zeros((1, 0))
    plane = array[tuple(indices)] if indices else array
    return plane.reshape((1,) * (2 - plane.ndim) + tuple(plane.shape)) if plane.ndim < 2 else plane


def _read(plane: Any, window: Sequence[int], limits: tuple[int, int]) -> Read:
    """Return the window as float64, with the number of elements that become one cell of the picture."""
    height, width = plane.shape
    top, bottom, left, right = window if len(window) == 4 else (0, height, 0, width)
    top, left = (max(0, min(first, size - 1)) for first, size in ((top, height), (left, width)))
    bottom, right = max(top + 1, min(bottom, height)), max(left + min(1, width), min(right, width))
    rows, columns = bottom - top, right - left
    down, across = math.ceil(rows / limits[0]), max(1, math.ceil(columns / limits[1]))
    surplus = rows * columns / _MOST_READ
    each_row = min(down, math.ceil(math.sqrt(max(1.0, surplus))))
    each_column = min(across, math.ceil(max(1.0, surplus / each_row)))
    sample = plane[top:bottom:each_row, left:right:each_column]
    sample = sample.get() if hasattr(sample, "get") else np.asarray(sample)
    numbers = (np.abs(sample) if sample.dtype.kind == "c" else sample).astype(np.float64)
    step = (math.ceil(down / each_row) * each_row, math.ceil(across / each_column) * each_column)
    return Read(numbers, (top, bottom, left, right), (each_row, each_column), step)


def _cells(read: Read) -> Numbers:
    """Return the mean of each block; a block that contains a NaN or an infinity becomes that value."""
    down, across = (step // stride for step, stride in zip(read.step, read.stride, strict=True))
    numbers = read.numbers
    if (down, across) == (1, 1) or not numbers.size:
        return numbers
    finite = np.isfinite(numbers)
    share = np.where(finite, numbers, 0.0) / (down * across)  # a sum of shares does not overflow
    count = _blocks(finite.astype(np.float64), down, across)
    cells = _blocks(share, down, across) * (down * across / np.maximum(count, 1.0))
    if not finite.all():
        for fault in (np.isneginf(numbers), np.isposinf(numbers), np.isnan(numbers)):
            cells[_blocks(fault.astype(np.float64), down, across) > 0] = numbers[fault][0] if fault.any() else 0.0
    return cells


def _blocks(numbers: Numbers, down: int, across: int) -> Numbers:
    rows: Numbers = np.add.reduceat(numbers, np.arange(0, numbers.shape[0], down), axis=0)
    sums: Numbers = np.add.reduceat(rows, np.arange(0, numbers.shape[1], across), axis=1)
    return sums


def _apart(read: Read, other: Read) -> Read:
    """Return the difference of two reads; elements with the same NaN or infinity have difference 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = read.numbers - other.numbers
    equal = (read.numbers == other.numbers) | (np.isnan(read.numbers) & np.isnan(other.numbers))
    difference[equal] = 0.0
    return read._replace(numbers=difference)


def _largest(sample: Read, indices: Sequence[int], axes: int) -> tuple[float, str]:
    """Return the largest finite difference, and a line with its position."""
    size = np.abs(sample.numbers)
    faults = int(size.size - np.isfinite(size).sum())
    tail = f"; {faults} differ by NaN or an infinity" if faults else ""
    finite = np.where(np.isfinite(size), size, -1.0)
    if not size.size or finite.max() <= 0.0:
        return 1.0, ("no difference in this slice" if not faults else "the finite elements are the same") + tail
    row, column = (int(k) for k in np.unravel_index(int(finite.argmax()), size.shape))
    position = [*indices, row * sample.stride[0], column * sample.stride[1]]
    reach = float(finite[row, column])
    return reach, f"largest difference in this slice: {reach:.6g} at {position[len(position) - axes :]}{tail}"


def _range(captures: Iterable[Capture]) -> tuple[float, float]:
    """Return the limits of the color scale, symmetric around 0 if signs differ.

    They are those of complete captures, so that slices are comparable."""
    figures = [summary.statistics() for summary in captures]
    low = min((summary.minimum for summary in figures if math.isfinite(summary.minimum)), default=0.0)
    high = max((summary.maximum for summary in figures if math.isfinite(summary.maximum)), default=0.0)
    if low < 0.0 < high:
        high = max(-low, high)
        low = -high
    return low, high


def _picture(title: str, read: Read, low: float, high: float) -> tuple[PictureFacts, list[bytes]]:
    """Return one picture's facts, with its levels and its numbers."""
    cells = _cells(read)
    finite = np.isfinite(cells)
    clipped = np.clip(np.where(finite, cells, low), low, high)
    reach = high / 2 - low / 2  # halves, since the full range of a dtype overflows it
    levels = np.round((clipped / 2 - low / 2) / reach * 255) if reach > 0 else np.full(cells.shape, 128.0)
    numbers = read.numbers
    finite_numbers = numbers[np.isfinite(numbers)]
    facts: PictureFacts = {
        "title": title,
        "rows": int(cells.shape[0]),
        "columns": int(cells.shape[1]),
        "low": repr(float(low)),
        "high": repr(float(high)),
        "minimum": repr(float(finite_numbers.min()) if finite_numbers.size else math.nan),
        "maximum": repr(float(finite_numbers.max()) if finite_numbers.size else math.nan),
        "nan": int(np.isnan(numbers).sum()),
        "positive_inf": int(np.isposinf(numbers).sum()),
        "negative_inf": int(np.isneginf(numbers).sum()),
        "count": int(numbers.size),
        "same": texts.same_text(numbers),
    }
    return facts, [levels.astype(np.uint8).tobytes(), cells.astype("<f8").tobytes()]


def _note(read: Read) -> str:
    """Return how the picture was reduced from the slice; "" if it was not."""
    if not read.numbers.size:
        return "no elements"
    notes = []
    if read.step != (1, 1):
        notes.append(f"each cell is the mean of {read.step[0]} x {read.step[1]} elements")
    if read.stride != (1, 1):
        notes.append(f"of which every {read.stride[0]} x {read.stride[1]}th was read")
    return ", ".join(notes)


def is_attention(capture: Capture) -> bool:
    """Return whether a value is attention weights: each row, a query's weights over the keys, sums to 1.

    Its axes are (batch, heads, queries, keys); or (heads or batch, queries, keys) with as many keys as queries, since
    with other lengths the value may as well be word probabilities. Rows that contain a NaN are ignored.
    """
    array = capture.value._array
    plausible = array.ndim == 4 or (array.ndim == 3 and array.shape[1] == array.shape[2])
    if not plausible or array.dtype.kind != "f" or array.shape[-1] < 2 or 0 in array.shape:
        return False
    rows = array.reshape(-1, array.shape[-1])[: max(1, _MOST_READ // array.shape[-1])]
    rows = np.asarray(rows.get() if hasattr(rows, "get") else rows, np.float64)
    rows = rows[np.isfinite(rows).all(axis=1)]
    # A float16 weight has 11 bits, a bfloat16 weight 8; their errors add up in a row.
    return bool(len(rows) and rows.min() >= 0.0 and np.abs(rows.sum(axis=1) - 1.0).max() < 0.01)


def choices(captures: Iterable[Capture], capture: Capture, query: str = "") -> tuple[list[Choice], int]:
    """Return the captures to compare with, of the same shape and with all requested words, and their total number.

    Captures of the same cell, direction and slot come first, then the nearest in time.
    """
    shape, origin = capture.shape, (capture.path, capture.direction, capture.slot)
    terms = query.lower().split()
    fitting = [candidate for candidate in captures if candidate.index != capture.index and candidate.shape == shape]
    if terms:
        fitting = [candidate for candidate in fitting if _has(candidate, terms)]

    def distance(candidate: Capture) -> tuple[bool, int]:
        return (candidate.path, candidate.direction, candidate.slot) != origin, abs(candidate.index - capture.index)

    nearest = sorted(fitting, key=distance)[:_MOST_CHOICES]
    return [{"index": candidate.index, "label": choice_label(candidate)} for candidate in nearest], len(fitting)


def _has(capture: Capture, terms: Sequence[str]) -> bool:
    label = choice_label(capture).lower()
    # A number matches from its first digit on: step 7 does not match step 17.
    return all(re.search((r"(?<!\d)" if word[0].isdigit() else "") + re.escape(word), label) for word in terms)


def choice_label(capture: Capture) -> str:
    """Return the label of a capture in a list."""
    return f"step {capture.step}: {capture.key}"


def source_view(cell: object, path: str) -> Source:
    """Return the `construct` of a cell's class, if Python finds its source."""
    construct = getattr(type(cell), "construct", None)
    try:
        lines, first = inspect.getsourcelines(construct)  # type: ignore[arg-type]  # None raises TypeError as well
        location = f"{file_label(inspect.getsourcefile(construct) or '')}, line {first}"  # type: ignore[arg-type]
    except (OSError, TypeError):
        lines, first, location = [], 0, "the source of this class cannot be found"
    excerpt = textwrap.dedent("".join(lines[:_MOST_LINES])).splitlines()
    title = f"{type(cell).__name__}.construct"
    return {
        "type": "source",
        "path": path,
        "title": title,
        "location": location,
        "first": first,
        "lines": pieces(excerpt),
    }
