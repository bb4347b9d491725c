"""Checkpoints: written completely or not at all, and checked completely before a network changes.

There is one module per file format (``ckpt.py``, ``safetensors.py``), with the same two functions: ``write(path,
values, crc)`` and ``read(path, crc)``. Values are NumPy arrays, and strings, by name.

``export.py`` writes and reads whole networks.
"""

from ..base.module_names import on_first_use as _on_first_use
from .conversion import *
from .export import *
from .load_checkpoint import *
from .save_checkpoint import *

__getattr__ = _on_first_use(__name__)
