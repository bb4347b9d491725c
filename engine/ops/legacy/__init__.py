"""Operators that only exist as Primitive classes, and the attributes of those classes."""

from .side_effects import *
