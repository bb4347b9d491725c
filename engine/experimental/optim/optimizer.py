"""The base of the experimental optimizers: groups of parameters, each with its settings and its learning rate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.dtype import float32, int32
from ...core.parameter import Parameter, ParameterTuple
from ...core.recording import no_recording
from ...core.tensor import Tensor
from ...nn.cell import Cell
from ...nn.optim.optimizer import take

__all__ = ["Optimizer"]


class Optimizer(Cell):
    """Base of the experimental optimizers.

    A subclass defines ``updated``; or, as in MindSpore, its own ``construct(self, gradients)`` with the help of
    ``param_groups`` and ``group_start_id``.

    Args:
        params: the parameters to change; or groups of them: dictionaries with ``params`` and settings of their own.
        defaults: settings of the groups that have none of their own; ``lr`` is kept as a Parameter.

    Raises:
        TypeError: something else than parameters, or a setting of the wrong kind.
        ValueError: no parameters, a negative setting, or a parameter in two groups.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        self._who = f"For '{type(self).__name__}'"
        if params is None:
            raise ValueError(f"{self._who}, 'params' must be a list of Parameters, but got None")
        if isinstance(params, Tensor) or not isinstance(params, Iterable):
            raise TypeError(f"{self._who}, 'params' must be a list of Parameters, but got {type(params).__name__}")
        given = list(params)
        if not given:
            raise ValueError(f"{self._who}, 'params' is empty: there is nothing to train")
        self.defaults = defaults
        self.state: dict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self.lrs: list[Parameter] = []
        self.group_start_id = [0]
        self._kept: dict[str, Any] = {}  # the state that there is, by the name of its attribute: its first values
        self._steps_before: list[int] = []  # of each group, how many steps there had been when it came
        # A plain attribute: it grows while the groups are taken.
        self.__dict__["parameters"] = ()
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)
        self.__dict__.pop("parameters")
        self.parameters = ParameterTuple(p for group in self.param_groups for p in group["params"])

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            for key in sorted(group):
                if key != "params":
                    value = group[key]
                    lines.append(f"    {key}: {value.value() if isinstance(value, Parameter) else value}")
        return "\n".join(lines) + "\n)"

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Take one more group.

        Raises:
            TypeError: no dictionary, or something else than parameters in it.
            ValueError: a parameter that another group has, or a negative learning rate or weight decay.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"{self._who}, a group must be a dictionary, but got {type(param_group).__name__}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(f"{self._who}, the 'params' of a group must have an order, such as a list, but got a set")
        group = param_group
        group["params"] = [given] if isinstance(given, Parameter) else list(given)
        taken = {id(p) for p in self.parameters}
        for one in group["params"]:
            if not isinstance(one, Parameter):
                raise TypeError(f"{self._who}, 'params' must hold Parameters, but got {type(one).__name__}")
            if id(one) in taken:
                raise ValueError(f"{self._who}, the parameter '{one.name}' is in more than one group")
        for key, default in self.defaults.items():
            group.setdefault(key, default)
        group["lr"] = self._rate(group.get("lr"), f"learning_rate_group_{len(self.param_groups)}")
        group["weight_decay"] = self._decay(group.get("weight_decay", 0.0))
        self.lrs.append(group["lr"])
        self.param_groups.append(group)
        counter = None if self._steps is None else getattr(self, self._steps, None)
        self._steps_before.append(0 if counter is None else int(counter._array.reshape(-1)[0]))
        self.group_start_id.append(self.group_start_id[-1] + len(group["params"]))
        everything = (*self.parameters, *group["params"])
        if not isinstance(self.parameters, ParameterTuple):  # while the first groups are taken
            self.__dict__["parameters"] = everything
        else:
            self.parameters = ParameterTuple(everything)
            added = ParameterTuple(group["params"])
            for name, init in self._kept.items():
                setattr(self, name, ParameterTuple((*getattr(self, name), *added.clone(name, init))))

    def _rate(self, value: Any, name: str) -> Parameter:
        if isinstance(value, Tensor):
            if value.ndim:
                raise ValueError(f"{self._who}, 'lr' must be a number or a Tensor of one, but got {value.shape}")
            return Parameter(value.astype(float32), name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{self._who}, 'lr' must be a number or a Tensor, but got {type(value).__name__}")
        if value < 0:
            raise ValueError(f"{self._who}, 'lr' must not be negative, but got {value}")
        return Parameter(Tensor(value, float32), name)

    def _decay(self, value: Any) -> float:
        if not isinstance(value, int | float):
            raise TypeError(f"{self._who}, 'weight_decay' must be a number, but got {type(value).__name__}")
        if value < 0:
            raise ValueError(f"{self._who}, 'weight_decay' must not be negative, but got {value}")
        return float(value)

    # For subclasses

    def _check(self, name: str, value: Any, above: bool = False, below: float | None = None, least: float = 0) -> None:
        """A number from ``least``, or above it, to below ``below``."""
        if isinstance(value, Tensor):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            kind = type(value).__name__
            raise TypeError(f"For '{type(self).__name__}', '{name}' must be a number, but got {kind}")
        if value < least or (above and value == least) or (below is not None and value >= below):
            allowed = f"{'above' if above else 'at least'} {least}" + (f" and below {below}" if below else "")
            raise ValueError(f"For '{type(self).__name__}', '{name}' must be {allowed}, but got {value}")

    def _keep(self, name: str, init: Any = "zeros") -> None:
        """Make the attribute ``name`` a state of each parameter, also of those of groups that come later."""
        self._kept[name] = init
        setattr(self, name, self.parameters.clone(name, init))

    def _counter(self, name: str) -> Parameter:
        return Parameter(Tensor(0, int32), name)

    def construct(self, gradients: Any) -> Any:
        """Change the parameters by their gradients, given in the same order.

        Raises:
            RuntimeError: another number of gradients.
            ValueError: one of another shape.
        """
        given = (gradients,) if isinstance(gradients, Tensor) else tuple(gradients)
        if len(given) != len(self.parameters):
            raise RuntimeError(f"{self._who}, there must be {len(self.parameters)} gradients, but got {len(given)}")
        with no_recording(), np.errstate(all="ignore"):
            step = self.before_step()
            place = 0
            for group, before in zip(self.param_groups, self._steps_before, strict=True):
                rate, decay = float(group["lr"]), group["weight_decay"]
                for parameter in group["params"]:
                    value, gradient = parameter._array, given[place]._array
                    if gradient.shape != value.shape:
                        raise ValueError(
                            f"{self._who}, the gradient of '{parameter.name}' must have the shape {value.shape}, "
                            f"but got {gradient.shape}"
                        )
                    gradient = gradient.astype(value.dtype, copy=False)
                    if group.get("maximize"):
                        gradient = -gradient
                    if decay and not self._decays_apart:
                        gradient = gradient + value * decay
                    take(parameter, self.updated(place, value, gradient, rate, step - before, group))
                    place += 1
            self.after_step()
        return True

    _decays_apart = False
    _steps: str | None = None

    def before_step(self) -> int:
        """Count the step; its number, from 1."""
        if self._steps is None:
            return 0
        counter: Parameter = getattr(self, self._steps)
        counter._rebind(counter._array + counter._array.dtype.type(1))
        return int(counter._array.reshape(-1)[0])

    def after_step(self) -> None:
        """What is done once after the parameters are changed."""

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        """The parameter's new array; ``place`` is its place among the parameters."""
        raise NotImplementedError(f"{type(self).__name__} defines neither 'updated' nor 'construct'")
