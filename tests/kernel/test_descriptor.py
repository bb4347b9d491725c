"""A held file is recognized by its identity, not by its number alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookscope.kernel.descriptor import Descriptor


def test_a_number_that_another_file_has_now_is_not_the_held_file(tmp_path: Path) -> None:
    with open(tmp_path / "held", "wb") as file:
        held = Descriptor(file.fileno())
        assert held.is_open()
        with open(tmp_path / "other", "wb") as other:
            duplicate = os.dup(file.fileno())
            os.dup2(other.fileno(), file.fileno())
            assert not held.is_open()
            os.dup2(duplicate, file.fileno())
            os.close(duplicate)
        assert held.is_open()
    assert not held.is_open()


def test_what_is_not_open_cannot_be_held() -> None:
    descriptor = os.dup(0)
    os.close(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        Descriptor(descriptor)
