"""``mindspore.dataset.text``: tokenizers, vocabularies, word vectors, and other transforms of text in a row."""

from ...base.module_names import name_methods as _name_methods
from . import transforms, utils
from .transforms import *
from .utils import *

_name_methods(globals())
