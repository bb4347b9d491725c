"""Short texts of arbitrary values."""

from __future__ import annotations

import numpy as np
from plain_session import PlainTensor

from hookscope.widgets import texts


def test_a_tensor_is_written_short_whatever_its_size() -> None:
    text = texts.value_text(PlainTensor(np.arange(1e6)))
    assert text == "PlainTensor 1000000 float64 [0, 1, 2, 3, 4, 5, …]"


def test_a_value_whose_repr_raises_is_still_shown() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert texts.value_text(Broken()) == "<Broken: its repr raised RuntimeError>"


def test_a_long_value_is_cut() -> None:
    assert len(texts.value_text("x" * 10_000)) == 2000
