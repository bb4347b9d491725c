"""Sizes of memory as text: ``512MB``, ``1GiB``, ``256 MiB``."""

from __future__ import annotations

import re

__all__ = ["parse_size", "size_text"]

_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGT", 1):
    _UNITS |= {_letter: 1 << 10 * _power, f"{_letter}IB": 1 << 10 * _power, f"{_letter}B": 1000**_power}

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


def parse_size(text: str) -> int:
    """Return the number of bytes that a text such as ``512MB`` means.

    The text is a number, which may have a unit: B; KB, MB, GB and TB, powers of 1000; or KiB, MiB, GiB and TiB, or
    K, M, G and T, powers of 1024. Upper and lower case are equal.

    Raises:
        ValueError: it is not such a size, or less than a byte.
    """
    match = _SIZE.fullmatch(text.strip())
    unit = None if match is None else _UNITS.get(match[2].upper())
    size = 0 if match is None or unit is None else int(float(match[1]) * unit)
    if size < 1:
        raise ValueError(f"must be a size of 1 byte or more such as 512MB or 1GiB, got {text!r}")
    return size


def size_text(size: float) -> str:
    """Format a size: ``256 MiB``, ``1.3 GiB``."""
    number, unit = float(size), "B"
    for larger_unit in ("KiB", "MiB", "GiB", "TiB"):
        if number < 1024:
            break
        number, unit = number / 1024, larger_unit
    return f"{number:.1f}".removesuffix(".0") + f" {unit}"
