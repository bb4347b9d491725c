"""Operators on images: sampling, resizing, boxes, regions, colors."""

from .boxes import *
from .colors import *
from .regions import *
from .resizing import *
from .sampling import *
