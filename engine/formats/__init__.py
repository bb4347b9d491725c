"""Checkpoints: saved whole or not at all, checked whole before anything of a file reaches a network.

One file format a file (``ckpt.py``, ``safetensors.py``), with the same two functions: ``write(path, values, crc)`` and
``read(path, crc)``. Values are NumPy arrays, and strings, by name.

Whole networks go to files, and come from them, by ``export.py``.
"""

from ..base.module_names import on_first_use as _on_first_use
from .conversion import *
from .export import *
from .load_checkpoint import *
from .save_checkpoint import *

__getattr__ = _on_first_use(__name__)
