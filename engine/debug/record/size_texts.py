"""Sizes of memory as people write and read them: ``512MB``, ``1GiB``, ``256 MiB``."""

from __future__ import annotations

import re

__all__ = ["parse_size", "size_text"]

_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGT", 1):
    _UNITS |= {_letter: 1 << 10 * _power, f"{_letter}IB": 1 << 10 * _power, f"{_letter}B": 1000**_power}

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


def parse_size(text: str) -> int:
    """Read a size in bytes: a number, with B, KB, MB, GB, TB, or KiB, MiB, GiB, TiB (K, M, G, T) behind it.

    Raises:
        ValueError: it is no such size, or less than a byte.
    """
    found = _SIZE.fullmatch(text.strip())
    unit = None if found is None else _UNITS.get(found[2].upper())
    size = 0 if found is None or unit is None else int(float(found[1]) * unit)
    if size < 1:
        raise ValueError(f"must be a size of 1 byte or more such as 512MB or 1GiB, got {text!r}")
    return size


def size_text(size: float) -> str:
    """Write a size: ``256 MiB``, ``1.3 GiB``."""
    number, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if number < 1024:
            break
        number, unit = number / 1024, larger
    return f"{number:.1f}".removesuffix(".0") + f" {unit}"
