"""Operators that draw random numbers: distributions, dropout, candidate sampling."""

from .candidates import *
from .distributions import *
from .drawing import *
from .dropout import *
from .multinomial import *
