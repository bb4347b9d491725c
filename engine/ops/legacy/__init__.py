"""Operators that only exist as Primitive classes, and the attributes of those classes.

Two are not classes: the operator ``updates.adam``, a step of the optimizers, and the function ``tensordump``.
"""

from .side_effects import *
