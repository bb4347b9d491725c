"""``mindspore.nn.probability``: distributions, and the invertible functions that make new ones of them."""

from . import bijector, distribution

__all__ = ["bijector", "distribution"]
