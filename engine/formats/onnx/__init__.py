"""Graphs as ONNX files: ``write`` and ``read``, for ``engine/formats/export.py``.

``draft.py`` is the ONNX graph under construction. The converters of operators are in modules by subject:
``elementwise.py``, ``reductions.py``, ``shapes.py``, ``indexing.py``, ``layers.py``, ``gradients.py``. ``reading.py``
has the opposite direction: from nodes of a file to operators of the table.
"""

from .reading import read as read
from .writing import write as write
