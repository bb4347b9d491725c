"""Base of the bijectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....base.argument_checks import check_type
from ....tensors.dtype import DType
from ....tensors.tensor import Tensor
from ...cell import Cell
from .._parameters import FLOATING, ParamLike, all_scalars, check_dtype, shared_shape

__all__ = ["Bijector"]

_FUNCTIONS = ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")


class Bijector(Cell):
    """A function with an inverse.

    A call with the name of a method calls that method; a call with a distribution returns the distribution of its
    output, a ``TransformedDistribution``. A subclass defines ``_forward``, ``_inverse``, ``_forward_log_jacobian``
    and ``_inverse_log_jacobian``.

    Args:
        is_constant_jacobian: whether its slope is constant.
        is_injective: whether it is injective.
        name: the name in messages; required.
        dtype: the dtype of its inputs; None for any floating one.
        param: the arguments of the constructor; ``param["param_dict"]`` has the parameters by name. None for none.

    Raises:
        TypeError: an argument of the wrong type.
    """

    _labels: tuple[str, ...] = ()  # labels of the parameters in its repr

    def __init__(
        self,
        is_constant_jacobian: bool = False,
        is_injective: bool = True,
        name: Any = None,
        dtype: DType | None = None,
        param: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        check_type(name, str, type(self).__name__, "name")
        check_type(is_constant_jacobian, bool, name, "is_constant_jacobian")
        check_type(is_injective, bool, name, "is_injective")
        if dtype is not None:
            check_dtype(dtype, FLOATING, type(self).__name__)
        self._name, self._dtype = name, dtype
        self._is_constant_jacobian, self._is_injective = is_constant_jacobian, is_injective
        arguments = {} if param is None else param
        self._parameters = {
            key: value for key, value in arguments.items() if key not in ("self", "param") and not key.startswith("_")
        }
        self.default_parameters: list[Any] = []
        self.parameter_names: list[str] = []
        self.common_dtype: DType | None = None
        parameters = self._parameters.get("param_dict")
        self._batch_shape = None if parameters is None else shared_shape(parameters)
        self._is_scalar_batch = parameters is not None and all_scalars(parameters)

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def dtype(self) -> DType | None:
        """The dtype of inputs; None for any floating one."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return self._parameters

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether its slope is constant."""
        return self._is_constant_jacobian

    @property
    def is_injective(self) -> bool:
        """Whether it is injective."""
        return self._is_injective

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def is_scalar_batch(self) -> bool:
        """Whether all parameters are plain numbers."""
        return self._is_scalar_batch

    def extend_repr(self) -> str:
        if not self._labels:
            return ""
        if not self.is_scalar_batch:
            return f"batch_shape = {self.batch_shape}"
        return ", ".join(f"{label} = {getattr(self, label)}" for label in self._labels)

    def shape_mapping(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the output: the broadcast shape of the input and the parameters.

        Args:
            shape: the shape of an input.
        """
        return tuple(np.broadcast_shapes(shape, self.batch_shape or ()))

    def _add_parameter(self, value: ParamLike, name: str) -> Tensor:
        """Store a parameter as a tensor.

        Raises:
            TypeError: None, a bool, not floating, or of a different dtype than the others.
        """
        if value is None or isinstance(value, bool):
            raise TypeError(f"For '{self.name}', '{name}' must be a number or a Tensor, but got {value}")
        tensor = value if isinstance(value, Tensor) else Tensor(value)
        check_dtype(tensor.dtype, FLOATING, self.name)
        expected = self.dtype or self.common_dtype or tensor.dtype
        if tensor.dtype != expected:
            raise TypeError(f"For '{self.name}', '{name}' must have the dtype {expected}, but got {tensor.dtype}")
        self.common_dtype = tensor.dtype
        self.default_parameters.append(value)
        self.parameter_names.append(name)
        return tensor

    def _check_value_dtype(self, value: Tensor) -> Tensor:
        if not isinstance(value, Tensor):
            raise TypeError(f"For '{self.name}', the input must be a Tensor, but got {type(value).__name__}")
        check_dtype(value.dtype, FLOATING if self.dtype is None else (self.dtype,), self.name)
        return value

    def _check_value(self, value: Tensor, name: str) -> Tensor:
        return check_type(value, Tensor, self.name, name)

    def cast_param_by_value(self, value: Tensor, para: Tensor) -> Tensor:
        """Return a parameter in the dtype of a value.

        Args:
            value: a tensor.
            para: the parameter, a tensor.
        """
        return para.astype(value.dtype)

    def _with(self, value: Tensor, *parameters: Tensor) -> tuple[Any, ...]:
        """Return the checked value, and parameters in its dtype."""
        value = self._check_value_dtype(value)
        return (value, *(self.cast_param_by_value(value, parameter) for parameter in parameters))

    def forward(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the function at ``value``.

        Args:
            value: a floating tensor.
            *args: further arguments of a subclass.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of ``value`` and the parameters broadcast, in the dtype of ``value``.

        Raises:
            TypeError: ``value`` is not a tensor, or of the wrong dtype.
        """
        return self._of("_forward")(value, *args, **kwargs)

    def inverse(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the inverse function at ``value``.

        Args:
            value: a floating tensor.
            *args: further arguments of a subclass.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of ``value`` and the parameters broadcast, in the dtype of ``value``.

        Raises:
            TypeError: ``value`` is not a tensor, or of the wrong dtype.
        """
        return self._of("_inverse")(value, *args, **kwargs)

    def forward_log_jacobian(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the logarithm of the absolute slope of the function at ``value``.

        Args:
            value: a floating tensor.
            *args: further arguments of a subclass.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of ``value`` and the parameters broadcast, in the dtype of ``value``.

        Raises:
            TypeError: ``value`` is not a tensor, or of the wrong dtype.
        """
        return self._of("_forward_log_jacobian")(value, *args, **kwargs)

    def inverse_log_jacobian(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the logarithm of the absolute slope of the inverse at ``value``.

        Args:
            value: a floating tensor.
            *args: further arguments of a subclass.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of ``value`` and the parameters broadcast, in the dtype of ``value``.

        Raises:
            TypeError: ``value`` is not a tensor, or of the wrong dtype.
        """
        return self._of("_inverse_log_jacobian")(value, *args, **kwargs)

    def _of(self, formula: str) -> Callable[..., Tensor]:
        return getattr(self, formula)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # The distributions import bijectors, so they are imported here.
        from ..distribution import Distribution, TransformedDistribution

        if args and isinstance(args[0], Distribution):
            return TransformedDistribution(self, args[0])
        return super().__call__(*args, **kwargs)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Tensor:
        """Return the result of ``self.<name>(...)``.

        Args:
            name: "forward", "inverse", "forward_log_jacobian" or "inverse_log_jacobian".
            *args: the arguments of that method.
            **kwargs: the same by name.

        Raises:
            Exception: an unknown name; the bare class, as in MindSpore.
        """
        if name not in _FUNCTIONS:
            # The bare class, as in MindSpore.
            raise Exception(f"For '{self.name}', the name must be one of {', '.join(_FUNCTIONS)}, but got {name!r}")
        return getattr(self, name)(*args, **kwargs)
