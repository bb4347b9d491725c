"""Base of the distributions.

A family defines methods with a leading underscore for its formulas (``_log_prob``, ``_cdf``, ``_var``, ...); other
functions are derived from these here. Parameters are given to the constructor, or at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .... import ops
from ....base.argument_checks import check_int, check_not_negative, check_type
from ....tensors.dtype import DType
from ....tensors.tensor import Tensor
from ...cell import Cell
from .._parameters import ParamLike, all_scalars, as_tensor, check_dtype, parameter_dtype, shared_shape

__all__ = ["Distribution"]


def _as_it_is(x: Tensor) -> Tensor:
    return x


def _rest(x: Tensor) -> Tensor:
    return 1.0 - x


def _rest_of_exp(x: Tensor) -> Tensor:
    return 1.0 - ops.exp(x)


def _log_of_rest(x: Tensor) -> Tensor:
    return ops.log(1.0 - x)


def _log_of_rest_of_exp(x: Tensor) -> Tensor:
    return ops.log(1.0 - ops.exp(x))


def _ways(function: str, **others: Callable[[Any], Any]) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """Return the formulas of a family that give a function, the best first, each with its conversion to it."""
    return ((f"_{function}", _as_it_is), *((f"_{name}", change) for name, change in others.items()))


_WAYS = {
    "prob": _ways("prob", log_prob=ops.exp),
    "log_prob": _ways("log_prob", prob=ops.log),
    "cdf": _ways("cdf", log_cdf=ops.exp, survival_function=_rest, log_survival=_rest_of_exp),
    "log_cdf": _ways("log_cdf", cdf=ops.log, survival_function=_log_of_rest, log_survival=_log_of_rest_of_exp),
    "survival_function": _ways("survival_function", log_survival=ops.exp, cdf=_rest, log_cdf=_rest_of_exp),
    "log_survival": _ways("log_survival", survival_function=ops.log, cdf=_log_of_rest, log_cdf=_log_of_rest_of_exp),
    "sd": _ways("sd", var=ops.sqrt),
    "var": _ways("var", sd=ops.square),
    **{
        name: _ways(name) for name in ["mean", "mode", "entropy", "kl_loss", "cross_entropy", "sample", "get_dist_args"]
    },
}


class Distribution(Cell):
    """Base of the distributions; calling one with the name of a method calls that method.

    A family defines formulas (``_log_prob``, ``_cdf``, ``_var``, ...); other functions are derived from these.

    Args:
        seed: the seed of samples; with 0 or None they come from the engine's stream of random numbers.
        dtype: the dtype of samples.
        name: the name in messages.
        param: the arguments of the constructor; ``param["param_dict"]`` has the parameters by name.

    Raises:
        TypeError: ``name`` is not a string, ``seed`` is not an int, or parameters have several dtypes.
        ValueError: a negative seed, or parameters that do not broadcast.
    """

    _dist_type = ""  # the result of get_dist_type
    _labels: tuple[str, ...] = ()  # labels of the parameters in its repr

    def __init__(self, seed: int | None, dtype: DType, name: str, param: dict[str, Any]) -> None:
        super().__init__()
        owner = type(self).__name__
        check_type(name, str, owner, "name")
        seed = 0 if seed is None else seed
        check_not_negative(check_int(seed, name, "seed"), name, "seed")
        self._name, self._seed, self._dtype = name, seed, dtype
        self._parameters = {key: value for key, value in param.items() if key != "self" and not key.startswith("_")}
        self._draws = 0
        self._reset_parameters()
        if "distribution" not in self._parameters:
            parameters = self._parameters.get("param_dict", {})
            self.parameter_type = parameter_dtype(parameters, dtype)
            self._batch_shape = self._broadcast_shape = shared_shape(parameters)
            self._is_scalar_batch = all_scalars(parameters)

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype of samples."""
        return self._dtype

    @property
    def seed(self) -> int:
        """The seed of samples."""
        return self._seed

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return self._parameters

    @property
    def is_scalar_batch(self) -> bool:
        """Whether all parameters are plain numbers."""
        return self._is_scalar_batch

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The shape of the parameters; None if one is missing."""
        return self._batch_shape

    @property
    def broadcast_shape(self) -> tuple[int, ...] | None:
        """The shape of one sample; None if a parameter is missing."""
        return self._broadcast_shape

    def extend_repr(self) -> str:
        if not self._labels:
            return ""
        if not self.is_scalar_batch:
            return f"batch_shape = {self.broadcast_shape}"
        return ", ".join(
            f"{label} = {value}" for label, value in zip(self._labels, self.default_parameters, strict=True)
        )

    # Helpers for families.

    def _reset_parameters(self) -> None:
        self.default_parameters: list[Tensor | None] = []
        self.parameter_names: list[str] = []

    def _define(
        self,
        family: str,
        arguments: dict[str, Any],
        dtypes: tuple[DType, ...],
        no_numbers: tuple[type, ...] = (),
        **ranges: Callable[[Tensor | None, str], None] | None,
    ) -> None:
        """Construct a distribution of a family.

        Args:
            family: its name.
            arguments: the local variables of its constructor.
            dtypes: the allowed dtypes.
            no_numbers: types of plain numbers that are not allowed as parameters.
            **ranges: the check of each parameter's range, or None.

        Raises:
            TypeError: the wrong dtype, or a parameter that is a plain number where it must not be.
        """
        parameters = {name: arguments[name] for name in ranges}
        check_dtype(arguments["dtype"], dtypes, family)
        for name, value in parameters.items():
            if isinstance(value, no_numbers):
                raise TypeError(f"For '{family}', '{name}' must be a list, an array or a Tensor, but got {value}")
        arguments = {**arguments, "param_dict": parameters}
        Distribution.__init__(self, arguments["seed"], arguments["dtype"], arguments["name"], arguments)
        self._add_parameters(**parameters)
        for (name, check), value in zip(ranges.items(), self.default_parameters, strict=True):
            if check is not None:
                check(value, name)

    def _add_parameter(self, value: ParamLike, name: str) -> Tensor | None:
        """Store a parameter as a tensor; None stays None and must be given at each call."""
        tensor = None if value is None else as_tensor(value, self.parameter_type, name)
        self.default_parameters.append(tensor)
        self.parameter_names.append(name)
        return tensor

    def _add_parameters(self, **parameters: ParamLike) -> None:
        for name, value in parameters.items():
            attribute = f"_{name}_value" if name in _WAYS else f"_{name}"  # _mean is a formula
            setattr(self, attribute, self._add_parameter(value, name))

    def _check_value(self, value: Tensor, name: str) -> Tensor:
        return check_type(value, Tensor, self.name, name)

    def _check_name(self, dist: str) -> None:
        if dist != self._dist_type:
            raise ValueError(f"For '{self.name}', 'dist' must be '{self._dist_type}', but got {dist!r}")

    def _check_param_type(self, *args: Any) -> Any:
        """Return the parameters of this call, broadcast to one shape, with those of the object by default.

        Raises:
            TypeError: one is missing or is not a tensor, or the dtypes differ.
        """
        tensors: list[Any] = []
        for value, name, default in zip(args, self.parameter_names, self.default_parameters, strict=False):
            if value is None and default is None:
                raise TypeError(f"For '{self.name}', '{name}' was not given when it was made and must be given here")
            tensors.append(default if value is None else self._check_value(value, name))
        if any(value.dtype != tensors[0].dtype for value in tensors):
            raise TypeError(f"For '{self.name}', parameters must have one dtype, but got {[v.dtype for v in tensors]}")
        shape = np.broadcast_shapes(*[value.shape for value in tensors])
        tensors = [value.astype(self.parameter_type) for value in tensors]
        if len(tensors) == 1:
            return tensors[0]
        return tuple(value if value.shape == shape else ops.broadcast_to(value, shape) for value in tensors)

    def _at(self, value: Tensor, *args: Any) -> tuple[Any, Any]:
        """Return a value in the distribution's dtype, and the parameters of this call."""
        return self._check_value(value, "value").astype(self.dtype), self._check_param_type(*args)

    def _counted(self, value: Tensor, *args: Any) -> tuple[Any, Any]:
        """Return a value in the dtype of the parameters, for families of counts, and the parameters of this call."""
        return self._check_value(value, "value").astype(self.parameter_type), self._check_param_type(*args)

    def _of_other(self, **parameters: Any) -> Any:
        """Return the parameters of the other distribution of a divergence."""
        tensors = [self._check_value(value, name).astype(self.parameter_type) for name, value in parameters.items()]
        return tensors[0] if len(tensors) == 1 else tensors

    def _or_default(self, *args: Any) -> tuple[Any, ...]:
        return tuple(
            default if value is None else self._check_value(value, name)
            for value, name, default in zip(args, self.parameter_names, self.default_parameters, strict=True)
        )

    def _check_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return check_type(shape, tuple, self.name, "shape")

    def _stream(self) -> int | None:
        """Return the seed of the next draw; a distribution with a seed repeats the same sequence of draws."""
        if not self.seed:
            return None
        self._draws += 1
        return int(np.random.SeedSequence((self.seed, self._draws)).generate_state(1)[0])

    def _uniform(self, shape: tuple[int, ...]) -> Tensor:
        """Draw numbers evenly distributed over (0, 1), without the ends."""
        return ops.clamp(ops.rand(*shape, seed=self._stream()), 2.0**-25, 1.0 - 2.0**-24)

    # Public methods.

    def _call(self, function: str, *args: Any, **kwargs: Any) -> Any:
        for formula, change in _WAYS[function]:
            method = getattr(self, formula, None)
            if method is not None:
                return change(method(*args, **kwargs))
        self._not_implemented(function)

    def _not_implemented(self, function: str) -> NoReturn:
        raise NotImplementedError(f"'{function}' is not implemented for the distribution '{self.name}'")

    def prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the density at ``value``, or its probability for a distribution of counts.

        Args:
            value: a tensor.
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of ``value`` and the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("prob", value, *args, **kwargs)

    def log_prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the log of ``prob`` at ``value``.

        Args:
            value: a tensor.
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of ``value`` and the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("log_prob", value, *args, **kwargs)

    def cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the probability of at most ``value``.

        Args:
            value: a tensor.
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of ``value`` and the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("cdf", value, *args, **kwargs)

    def log_cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the log of the probability of at most ``value``.

        Args:
            value: a tensor.
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of ``value`` and the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("log_cdf", value, *args, **kwargs)

    def survival_function(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the probability of more than ``value``: 1 - cdf.

        Args:
            value: a tensor.
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of ``value`` and the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("survival_function", value, *args, **kwargs)

    def log_survival(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the log of the probability of more than ``value``.

        Args:
            value: a tensor.
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of ``value`` and the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("log_survival", value, *args, **kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the mean.

        Args:
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("mean", *args, **kwargs)

    def mode(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the most likely value.

        Args:
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("mode", *args, **kwargs)

    def sd(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the standard deviation.

        Args:
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("sd", *args, **kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the variance.

        Args:
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("var", *args, **kwargs)

    def entropy(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the entropy, in nats.

        Args:
            *args: parameters of the distribution for this call, as tensors in the order of the constructor; by default
                those of the object.
            **kwargs: the same by name.

        Returns:
            a tensor of the shape of the parameters broadcast.

        Raises:
            NotImplementedError: this distribution has no formula for it.
            TypeError: a value is not a tensor, or a parameter was given neither here nor to the
                constructor.
        """
        return self._call("entropy", *args, **kwargs)

    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """Return the Kullback-Leibler divergence KL(a || b) from this distribution a to b, in nats.

        Args:
            dist: the family of b, which must be that of a, such as "Normal".
            *args: the parameters of b, as tensors; then, if need be, those of a for this call.
            **kwargs: the same by name: those of b end in "_b".

        Returns:
            a tensor of the shape of all parameters broadcast.

        Raises:
            ValueError: ``dist`` is a different family.
            NotImplementedError: this distribution has no formula for it.
            TypeError: a parameter is not a tensor, or missing.
        """
        return self._call("kl_loss", dist, *args, **kwargs)

    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """Return the cross entropy of this distribution a and b: the entropy of a plus ``kl_loss``.

        Args:
            dist: the family of b, which must be that of a, such as "Normal".
            *args: the parameters of b, as tensors; then, if need be, those of a for this call.
            **kwargs: the same by name: those of b end in "_b".

        Returns:
            a tensor of the shape of all parameters broadcast.

        Raises:
            ValueError: ``dist`` is a different family.
            NotImplementedError: this distribution has no formula for it.
            TypeError: a parameter is not a tensor, or missing.
        """
        return self._call("cross_entropy", dist, *args, **kwargs)

    def sample(self, *args: Any, **kwargs: Any) -> Tensor:
        """Draw random values.

        Args:
            *args: the shape of the draws, a tuple, () by default; then, if need be, parameters for this call, as
                tensors.
            **kwargs: the same by name; the shape is ``shape``.

        Returns:
            a tensor of the distribution's dtype; its shape is the argument, followed by that of the parameters.

        Raises:
            NotImplementedError: this distribution cannot be sampled.
            TypeError: the shape is not a tuple, or a parameter is missing.
        """
        return self._call("sample", *args, **kwargs)

    def get_dist_args(self, *args: Any, **kwargs: Any) -> Any:
        """Return the parameters: the arguments, by default those of the object.

        Args:
            *args: parameters, as tensors; None for one of the object.
            **kwargs: the same by name.

        Returns:
            a tuple of tensors; None for one that was never given.
        """
        return self._call("get_dist_args", *args, **kwargs)

    def get_dist_type(self) -> str:
        """Return the name of the family, such as "Normal".

        Raises:
            NotImplementedError: a family without a name.
        """
        return self._get_dist_type()

    def _get_dist_type(self) -> str:
        return self._dist_type or self._not_implemented("get_dist_type")

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Return the result of ``self.<name>(...)``.

        Args:
            name: the name of a method, such as "log_prob".
            *args: the arguments of that method.
            **kwargs: the same by name.

        Raises:
            NotImplementedError: no such method, or no formula for it.
        """
        if name == "get_dist_type":
            return self._get_dist_type()
        if name not in _WAYS:
            self._not_implemented(name)
        return self._call(name, *args, **kwargs)
