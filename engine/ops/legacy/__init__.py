"""Operators that only exist as Primitive classes, and what those classes say of themselves."""

from .side_effects import *
