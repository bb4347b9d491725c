"""``mindspore.nn.probability``: distributions, and the invertible functions that transform them."""

from . import bijector, distribution

__all__ = ["bijector", "distribution"]
