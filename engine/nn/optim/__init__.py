"""Optimizers: called with the gradients, they change the parameters."""

from .adam import *
from .adaptive import *
from .momentum import *
from .optimizer import *
