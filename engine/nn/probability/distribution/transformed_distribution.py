"""The distribution of a bijector's output."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops
from ....base.argument_checks import check_type
from ....tensors.tensor import Tensor
from .._parameters import FLOATING, check_dtype
from ..bijector.bijector import Bijector
from .distribution import Distribution

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of ``bijector.forward(x)`` for the values x of ``distribution``.

    Args:
        bijector: the function; it must be increasing.
        distribution: the distribution of x, of a floating dtype. Parameters given at a call are passed to it.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        name: the name in messages and print.

    Raises:
        TypeError: ``bijector`` is not a Bijector, ``distribution`` is not a Distribution, or is one of counts.
        ValueError: the mean is requested, and the bijector is not linear.
    """

    def __init__(
        self,
        bijector: Bijector,
        distribution: Distribution,
        seed: int | None = None,
        name: str = "transformed_distribution",
    ) -> None:
        param = dict(locals())
        check_type(bijector, Bijector, type(self).__name__, "bijector")
        check_type(distribution, Distribution, type(self).__name__, "distribution")
        check_dtype(distribution.dtype, FLOATING, type(self).__name__)
        super().__init__(seed, distribution.dtype, name, param)
        self._bijector, self._distribution = bijector, distribution
        self._is_linear_transformation = bijector.is_constant_jacobian
        self._is_scalar_batch = distribution.is_scalar_batch and bijector.is_scalar_batch
        self._batch_shape = distribution.batch_shape
        self.default_parameters = distribution.default_parameters
        self.parameter_names = distribution.parameter_names
        self.parameter_type = distribution.parameter_type
        shapes = distribution.batch_shape, bijector.batch_shape
        missing = shapes[0] is None or shapes[1] is None
        self._broadcast_shape = (
            None if missing else tuple(np.broadcast_shapes(*(argument or () for argument in shapes)))
        )

    @property
    def bijector(self) -> Bijector:
        """The function."""
        return self._bijector

    @property
    def distribution(self) -> Distribution:
        """The distribution of its inputs."""
        return self._distribution

    @property
    def is_linear_transformation(self) -> bool:
        """Whether the function's slope is constant."""
        return self._is_linear_transformation

    def _cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self.distribution("cdf", self.bijector("inverse", value), *args, **kwargs)

    def _log_prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        log_probability = self.distribution("log_prob", self.bijector("inverse", value), *args, **kwargs)
        # Where the probability is 0, the slope of the inverse may be infinite, and the sum NaN.
        corrected = log_probability + self.bijector("inverse_log_jacobian", value)
        return ops.where(log_probability == -math.inf, log_probability, corrected)

    def _mean(self, *args: Any, **kwargs: Any) -> Tensor:
        if not self.is_linear_transformation:
            raise ValueError(f"For '{self.name}', 'mean' is known for a linear bijector only")
        return self.bijector("forward", self.distribution("mean", *args, **kwargs))

    def _sample(self, *args: Any, **kwargs: Any) -> Tensor:
        return self.bijector("forward", self.distribution("sample", *args, **kwargs))
