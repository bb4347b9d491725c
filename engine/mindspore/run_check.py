"""``mindspore.run_check``: a check that the installation computes."""

from __future__ import annotations

import numpy as np

from ..tensors import backend
from ..tensors.tensor import Tensor

__all__ = ["run_check"]


def run_check() -> None:
    """Run a small computation and print that it works."""
    from .. import __hookscope__, __version__

    total = Tensor(np.ones((2, 3), np.float32)) + Tensor(np.ones((2, 3), np.float32))
    right = bool((total.asnumpy() == 2).all())
    print(f"MindSpore version:  {__version__} (hookscope {__hookscope__})")
    result = "calculation is correct" if right else "calculation is WRONG"
    print(f"The result of addition {result}, hookscope runs on platform [{backend.device_target()}].")
