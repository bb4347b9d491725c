"""``mindspore.dataset.text``: tokenizers, vocabularies, word vectors, and what else is done with text in a row."""

from . import transforms, utils
from .transforms import *
from .utils import *
