"""Graphs as ONNX files: ``write`` makes one, ``read`` reads one, for ``engine/formats/export.py``.

``draft.py`` is the ONNX graph while it is made. What an operator of the table becomes stands at its name in a file by
subject: ``elementwise.py``, ``reductions.py``, ``shapes.py``, ``indexing.py``, ``layers.py``, ``gradients.py``.
``reading.py`` has the way back: what a step of a file is in operators of the table.
"""

from .reading import read as read
from .writing import write as write
