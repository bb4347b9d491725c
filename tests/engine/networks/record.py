"""MindSpore 2.10's own results of each program, saved in recorded/*.npz.

In an environment that has MindSpore, from this folder's parent:

    python networks/record.py             # all
    python networks/record.py resnet bert
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
FAMILIES = ("vision", "text", "generative", "tables_and_graphs", "learning")

if __name__ == "__main__":
    import mindspore

    mindspore.set_context(pynative_synchronize=True)  # so that an error is that of its own program
    sys.path.insert(0, str(FOLDER.parent))
    from networks.steps import PROGRAMS, arrays

    for family in FAMILIES:
        importlib.import_module(f"networks.{family}")
    for name, make in PROGRAMS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            path = FOLDER / "recorded" / f"{name}.npz"
            np.savez_compressed(path, **arrays(make()))
            print(name, path.stat().st_size)
