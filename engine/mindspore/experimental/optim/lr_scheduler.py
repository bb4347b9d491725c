"""Schedulers of the experimental optimizers, which change learning rates from epoch to epoch."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ....base.argument_checks import check_not_negative, check_one_of, check_type
from ....base.module_names import name_methods
from ....cpu.array_module import array_module
from ....tape.tape import no_recording
from ....tensors.dtype import float32
from ....tensors.parameter import Parameter
from ....tensors.tensor import Tensor
from .optimizer import Optimizer

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]


def _set(parameter: Parameter, value: float | Tensor) -> None:
    array = parameter._array
    with no_recording():
        parameter._rebind(array_module(array).full(array.shape, float(value), array.dtype))


Rates: TypeAlias = float | list[float] | tuple[float, ...]
"""A number for all groups, or one for each."""
Factor: TypeAlias = Callable[[Any], float]
"""A function of the epoch."""


def _check_optimizer(owner: str, optimizer: object) -> None:
    check_type(optimizer, Optimizer, owner, "optimizer", "of mindspore.experimental.optim")


def _kind(owner: str, name: str, value: Any, kinds: tuple[type, ...]) -> None:
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"For '{owner}', '{name}' must be of {names}, but got {type(value).__name__}")


class LRScheduler:
    """Base of the schedulers; a subclass defines ``get_lr``, and for ``step(epoch)`` perhaps ``_get_closed_form_lr``.

    A scheduler makes its first step when it is created. It does not affect groups that the optimizer gets later.

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an unsupported optimizer, or an epoch that is not an int.
        ValueError: an epoch below -1.
        KeyError: an epoch above -1, and a group without ``initial_lr``.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        owner = type(self).__name__
        _check_optimizer(owner, optimizer)
        _kind(owner, "last_epoch", last_epoch, (int,))
        if last_epoch < -1:
            raise ValueError(f"For '{owner}', 'last_epoch' must be at least -1, but got {last_epoch}")
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", Tensor(group["lr"].asnumpy().copy()))
            elif "initial_lr" not in group:
                raise KeyError(f"For '{owner}', with 'last_epoch' group {number} must have an 'initial_lr'")
        self.optimizer = optimizer
        self.base_lrs: list[Any] = [group["initial_lr"] for group in optimizer.param_groups]
        self._last_lr = list(optimizer.lrs)
        self.groups_num = len(optimizer.param_groups)
        self.last_epoch = Parameter(Tensor(last_epoch, float32), f"last_epoch_{owner}")
        self.step()

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in the epoch ``last_epoch``: numbers."""
        raise NotImplementedError(f"{type(self).__name__} does not define 'get_lr'")

    def get_last_lr(self) -> list[Tensor]:
        """Return the current learning rate of each group: copies, as tensors."""
        return [Tensor(rate.asnumpy().copy()) for rate in self._last_lr]

    def step(self, epoch: float | None = None) -> bool:
        """Advance to the next epoch, or to the given one, and set the learning rates.

        Args:
            epoch: the epoch to go to; None is the next.

        Returns:
            True.
        """
        if epoch is None:
            _set(self.last_epoch, float(self.last_epoch) + 1)
            values = self.get_lr()
        else:
            _set(self.last_epoch, epoch)
            values = getattr(self, "_get_closed_form_lr", self.get_lr)()
        for rate, value in zip(self._last_lr, values, strict=True):
            _set(rate, value)
        return True

    @property
    def _epoch(self) -> float:
        return float(self.last_epoch)

    def _times(self, factor: float) -> list[float]:
        return [float(rate) * factor for rate in self._last_lr]

    def _of_base(self, factor: float) -> list[float]:
        return [float(base) * factor for base in self.base_lrs]


class StepLR(LRScheduler):
    """The learning rate times ``gamma`` every ``step_size`` epochs: base * gamma**(epoch // step_size).

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        step_size: the number of epochs between two changes.
        gamma: the factor, a float.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``step_size`` is 0.
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        _kind("StepLR", "step_size", step_size, (int, bool))
        _kind("StepLR", "gamma", gamma, (float,))
        if not step_size:
            raise ValueError(f"For 'StepLR', 'step_size' must not be 0, but got {step_size}")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return self._times(1 if self._epoch == 0 or self._epoch % self.step_size else self.gamma)

    def _get_closed_form_lr(self) -> list[float]:
        return self._of_base(self.gamma ** (self._epoch // self.step_size))


class MultiStepLR(LRScheduler):
    """The learning rate times ``gamma`` at each of the epochs ``milestones``.

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        milestones: a list of epochs; a repeated one counts repeatedly.
        gamma: the factor.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an argument of the wrong type.
    """

    def __init__(self, optimizer: Optimizer, milestones: list[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        _kind("MultiStepLR", "milestones", milestones, (list,))
        for milestone in milestones:
            _kind("MultiStepLR", "milestones", milestone, (int, bool))
        _kind("MultiStepLR", "gamma", gamma, (float, int))
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return self._times(self.gamma ** self.milestones[int(self._epoch)])

    def _get_closed_form_lr(self) -> list[float]:
        count_passed = sum(count for epoch, count in self.milestones.items() if epoch <= self._epoch)
        return self._of_base(self.gamma**count_passed)


class ExponentialLR(LRScheduler):
    """The learning rate times ``gamma`` every epoch: base * gamma**epoch.

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        gamma: the factor, a float.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an argument of the wrong type.
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        _kind("ExponentialLR", "gamma", gamma, (float,))
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return self._times(self.gamma if self._epoch else 1)

    def _get_closed_form_lr(self) -> list[float]:
        return self._of_base(self.gamma**self._epoch)


class ConstantLR(LRScheduler):
    """The learning rate times ``factor`` before the epoch ``total_iters``, and unchanged from then on.

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        factor: from 0 to 1; a third by default.
        total_iters: the first epoch with the full rate.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``factor`` is out of range.
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"For 'ConstantLR', 'factor' must be from 0 to 1, but got {factor}")
        _kind("ConstantLR", "total_iters", total_iters, (int, bool))
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self._epoch == 0:
            return self._times(self.factor)
        return self._times(1 / self.factor if self._epoch == self.total_iters else 1)

    def _get_closed_form_lr(self) -> list[float]:
        return self._of_base(1 if self._epoch >= self.total_iters else self.factor)


class LinearLR(LRScheduler):
    """The learning rate times a factor that changes linearly from ``start_factor`` to ``end_factor``.

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        start_factor: the factor of epoch 0, above 0 and at most 1; a third by default.
        end_factor: the factor from the epoch ``total_iters`` on, from 0 to 1.
        total_iters: the number of epochs of the change.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a factor is out of range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(f"For 'LinearLR', 'start_factor' must be above 0 and at most 1, but got {start_factor}")
        if not 0 <= end_factor <= 1:
            raise ValueError(f"For 'LinearLR', 'end_factor' must be from 0 to 1, but got {end_factor}")
        _kind("LinearLR", "total_iters", total_iters, (int, bool))
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self._epoch == 0:
            return self._times(self.start_factor)
        if self._epoch > self.total_iters:
            return self._times(1)
        slope = self.end_factor - self.start_factor
        return self._times(1 + slope / (self.total_iters * self.start_factor + (self._epoch - 1) * slope))

    def _get_closed_form_lr(self) -> list[float]:
        progress = min(self.total_iters, self._epoch) / self.total_iters
        return self._of_base(self.start_factor + (self.end_factor - self.start_factor) * progress)


class PolynomialLR(LRScheduler):
    """The learning rate times (1 - epoch / total_iters)**power, which is 0 from ``total_iters`` on.

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        total_iters: the number of epochs until 0.
        power: the exponent, a float of at least 0; 1.0 is linear.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``power`` is negative.
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        _kind("PolynomialLR", "power", power, (float,))
        check_not_negative(power, "PolynomialLR", "power")
        _kind("PolynomialLR", "total_iters", total_iters, (int, bool))
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self._epoch == 0 or self._epoch > self.total_iters:
            return self._times(1)
        current, previous = (1 - epoch / self.total_iters for epoch in (self._epoch, self._epoch - 1))
        return self._times((current / previous) ** self.power)

    def _get_closed_form_lr(self) -> list[float]:
        return self._of_base((1 - min(self.total_iters, self._epoch) / self.total_iters) ** self.power)


class _Lambdas(LRScheduler):
    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | Sequence[Factor], last_epoch: int = -1) -> None:
        self.lr_lambdas: list[Factor] = _for_groups(type(self).__name__, optimizer, lr_lambda, "lr_lambda")
        super().__init__(optimizer, last_epoch)


class LambdaLR(_Lambdas):
    """The initial learning rate times ``lr_lambda(epoch)``.

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        lr_lambda: a function of the epoch (a Parameter) that returns a factor, or a list of one for each group.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: the numbers of functions and groups differ.
    """

    def get_lr(self) -> list[float]:
        return [float(base) * float(f(self.last_epoch)) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_Lambdas):
    """The learning rate times ``lr_lambda(epoch)`` in each epoch.

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        lr_lambda: a function of the epoch (a Parameter) that returns a factor, or a list of one for each group.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: the numbers of functions and groups differ.
    """

    def get_lr(self) -> list[float]:
        if self._epoch <= 0:
            return self._times(1)
        return [float(rate) * float(f(self.last_epoch)) for f, rate in zip(self.lr_lambdas, self._last_lr, strict=True)]


class CosineAnnealingLR(LRScheduler):
    """The learning rate along a cosine (Loshchilov and Hutter 2017) down to ``eta_min`` in ``T_max`` epochs, and up
    again.

    eta_min + (base - eta_min) * (1 + cos(pi * epoch / T_max)) / 2.

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        T_max: the number of epochs of the descent.
        eta_min: the minimum learning rate.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``T_max`` is 0.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        _kind("CosineAnnealingLR", "eta_min", eta_min, (float, int, bool))
        _kind("CosineAnnealingLR", "T_max", T_max, (int, bool))
        if not T_max:
            raise ValueError(f"For 'CosineAnnealingLR', 'T_max' must not be 0, but got {T_max}")
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        epoch, least = self._epoch, self.eta_min
        if epoch == 0:
            return self._times(1)
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            up = (1 - math.cos(math.pi / self.T_max)) / 2
            pairs = zip(self.base_lrs, self._last_lr, strict=True)
            return [float(rate) + (float(base) - least) * up for base, rate in pairs]
        current, previous = (1 + math.cos(math.pi * e / self.T_max) for e in (epoch, epoch - 1))
        return [current / previous * (float(rate) - least) + least for rate in self._last_lr]

    def _get_closed_form_lr(self) -> list[float]:
        high = (1 + math.cos(math.pi * self._epoch / self.T_max)) / 2
        return [self.eta_min + (float(base) - self.eta_min) * high for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """The learning rate along a cosine down to ``eta_min``, then restarted (Loshchilov and Hutter 2017).

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        T_0: the number of epochs of the first cycle, an int above 0.
        T_mult: the factor of the number of epochs of each next cycle, an int above 0.
        eta_min: the minimum learning rate.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``T_0`` or ``T_mult`` is not an int above 0.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,  # noqa: N803
        T_mult: int = 1,  # noqa: N803
        eta_min: float = 0,
        last_epoch: int = -1,
    ) -> None:
        owner = "CosineAnnealingWarmRestarts"
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"For '{owner}', '{name}' must be an int above 0, but got {value!r}")
        _kind(owner, "eta_min", eta_min, (float, int))
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_0 = Parameter(Tensor(T_0, float32), "T_0")
        self.T_i = Parameter(Tensor(T_0, float32), "T_i")
        self.T_cur = Parameter(Tensor(last_epoch, float32), "T_cur")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        high = (1 + math.cos(math.pi * float(self.T_cur) / float(self.T_i))) / 2
        return [self.eta_min + (float(base) - self.eta_min) * high for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> bool:
        """Advance to the next epoch, or to the given one, and set the learning rates.

        Args:
            epoch: the next epoch, possibly a fraction; None adds 1.

        Returns:
            True.

        Raises:
            ValueError: a negative epoch.
        """
        first, times = float(self.T_0), self.T_mult
        if epoch is None and self._epoch < 0:
            epoch = 0
        if epoch is None:
            epoch, current, length = self._epoch + 1, float(self.T_cur) + 1, float(self.T_i)
            if current >= length:
                current, length = current - length, length * times
        else:
            epoch = float(epoch)
            check_not_negative(epoch, "CosineAnnealingWarmRestarts", "epoch")
            current, length = epoch, first
            if epoch >= first and times == 1:
                current = epoch % first
            elif epoch >= first:
                restarts = int(math.log(epoch / first * (times - 1) + 1, times))
                current = epoch - first * (times**restarts - 1) / (times - 1)
                length = first * times**restarts
        _set(self.T_cur, current)
        _set(self.T_i, length)
        _set(self.last_epoch, math.floor(epoch))
        for rate, value in zip(self._last_lr, self.get_lr(), strict=True):
            _set(rate, value)
        return True


class CyclicLR(LRScheduler):
    """The learning rate from ``base_lr`` up to ``max_lr`` and down again, in cycles (Smith 2017).

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        base_lr: the minimum rate, or a list of one for each group.
        max_lr: the largest rate, or a list of one for each group.
        step_size_up: the number of rising epochs.
        step_size_down: the number of falling epochs; by default the same.
        mode: "triangular", "triangular2" (each cycle half as high) or "exp_range" (times ``gamma`` every epoch).
        gamma: the factor of "exp_range".
        scale_fn: instead of ``mode``, a function that returns the height of a cycle.
        scale_mode: the argument of ``scale_fn``: "cycle", its number from 1, or "iterations", the epoch.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        TypeError: an unsupported optimizer.
        ValueError: an unknown ``mode``, or the numbers of rates and groups differ.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Rates,
        max_lr: Rates,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ) -> None:
        base = _for_groups("CyclicLR", optimizer, base_lr, "base_lr")
        if last_epoch == -1:
            for rate, group in zip(base, optimizer.param_groups, strict=True):
                _set(group["lr"], rate)
        self.max_lrs = [Tensor(rate) for rate in _for_groups("CyclicLR", optimizer, max_lr, "max_lr")]
        up = float(step_size_up)
        self.total_step_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_up_ratio = up / self.total_step_size
        if scale_fn is None:
            check_one_of(mode, ("triangular", "triangular2", "exp_range"), "CyclicLR", "mode")
        self.mode, self.gamma, self._scale_fn = mode, gamma, scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [Tensor(rate) for rate in base]

    def scale_fn(self, x: float) -> float:
        """Return the height of a cycle as a fraction of the distance to ``max_lr``.

        Args:
            x: the number of the cycle, or the epoch, by ``scale_mode``.
        """
        if self._scale_fn is not None:
            return self._scale_fn(x)
        return {"triangular": 1.0, "triangular2": 1 / 2.0 ** (x - 1), "exp_range": self.gamma**x}[self.mode]

    def get_lr(self) -> list[float]:
        cycle = math.floor(1 + self._epoch / self.total_step_size)
        position = 1 + self._epoch / self.total_step_size - cycle
        ratio = self.step_up_ratio
        high = position / ratio if position <= ratio else (position - 1) / (ratio - 1)
        high *= float(self.scale_fn(float(cycle) if self.scale_mode == "cycle" else self._epoch))
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [float(base) + (float(most) - float(base)) * high for base, most in pairs]


def _for_groups(owner: str, optimizer: Optimizer, value: Any, name: str) -> list[Any]:
    """Return a value for each group, from a list or one value for all."""
    _check_optimizer(owner, optimizer)
    count = len(optimizer.param_groups)
    values = list(value) if isinstance(value, list | tuple) else [value] * count
    if len(values) != count:
        raise ValueError(f"For '{owner}', '{name}' must be one for each of the {count} groups, but got {len(values)}")
    return values


class SequentialLR:
    """Several schedulers in sequence; the next begins at each of the epochs ``milestones``.

    Args:
        optimizer: the common optimizer.
        schedulers: the schedulers, in their order.
        milestones: the first epochs of the second, the third, ... scheduler.
        last_epoch: the last completed epoch; -1 at the start.

    Raises:
        ValueError: a scheduler of another optimizer, or not one fewer milestones than schedulers.
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        for index, scheduler in enumerate(schedulers):
            if scheduler.optimizer is not optimizer:
                raise ValueError(f"For 'SequentialLR', scheduler {index} is of another optimizer")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"For 'SequentialLR', 'milestones' must be one fewer than the schedulers, "
                f"but got {len(milestones)} and {len(schedulers)}"
            )
        self._schedulers, self.milestones, self.optimizer = schedulers, milestones, optimizer
        self.last_epoch = Parameter(Tensor(last_epoch + 1, float32), "last_epoch_SequentialLR")
        for group in optimizer.param_groups:
            _set(group["lr"], group["initial_lr"])
        for scheduler in schedulers:
            _set(scheduler.last_epoch, float(scheduler.last_epoch) - 1)
        schedulers[0].step()
        self._last_lr = schedulers[0]._last_lr

    def step(self) -> None:
        """Advance to the next epoch, and set the learning rates."""
        _set(self.last_epoch, float(self.last_epoch) + 1)
        epoch = int(float(self.last_epoch))
        index = bisect_right(self.milestones, epoch)
        if index and self.milestones[index - 1] == epoch:
            self._schedulers[index].step(0)
        else:
            self._schedulers[index].step()

    def get_last_lr(self) -> list[Tensor]:
        """Return the current learning rate of each group: copies, as tensors."""
        return [Tensor(rate.asnumpy().copy()) for rate in self._last_lr]


class ReduceLROnPlateau:
    """The learning rate times ``factor`` after more than ``patience`` epochs without improvement of a metric.

    Args:
        optimizer: an optimizer of ``mindspore.experimental.optim``.
        mode: "min" or "max": whether less or more is better.
        factor: the factor of a rate, below 1.
        patience: the number of tolerated epochs without improvement.
        threshold: the minimum improvement that counts.
        threshold_mode: whether that is a fraction of the best so far ("rel") or a difference ("abs").
        cooldown: the number of epochs without monitoring after a reduction.
        min_lr: a lower bound, or a list of one for each group.
        eps: the minimum change; smaller ones are skipped.

    Raises:
        TypeError: an unsupported optimizer.
        ValueError: ``factor`` is 1 or more, an unknown mode, or the numbers of lower bounds and groups differ.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Rates = 0,
        eps: float = 1e-8,
    ) -> None:
        _check_optimizer("ReduceLROnPlateau", optimizer)
        owner = "ReduceLROnPlateau"
        if factor >= 1:
            raise ValueError(f"For '{owner}', 'factor' must be below 1, but got {factor}")
        floors = _for_groups(owner, optimizer, min_lr, "min_lr")
        check_one_of(mode, ("min", "max"), owner, "mode")
        check_one_of(threshold_mode, ("rel", "abs"), owner, "threshold_mode")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.min_lrs = [Tensor(floor, float32) for floor in floors]
        worst = math.inf if mode == "min" else -math.inf
        self.best = Parameter(Tensor(worst, float32), "best")
        self.last_epoch = Parameter(Tensor(0, float32), "last_epoch_ReduceLROnPlateau")
        self.cooldown_counter = Parameter(Tensor(0, float32), "cooldown_counter")
        self.wait = Parameter(Tensor(0, float32), "wait")
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def step(self, metrics: float | Tensor) -> bool:
        """Record the metric of an epoch, and reduce the learning rates if it is time.

        Args:
            metrics: a number, or a Tensor of one.

        Returns:
            True.
        """
        current, waits, cooldown = np.float32(float(metrics)), float(self.wait) + 1, float(self.cooldown_counter)
        _set(self.last_epoch, float(self.last_epoch) + 1)
        if self._improves(float(current)):
            _set(self.best, float(current))
            waits = 0
        if cooldown > 0:
            cooldown, waits = cooldown - 1, 0
        if waits > self.patience:
            for rate, floor in zip(self._last_lr, self.min_lrs, strict=True):
                old = float(rate)
                new = max(old * self.factor, float(floor))
                if old > new + self.eps:
                    _set(rate, new)
            cooldown, waits = self.cooldown, 0
        _set(self.wait, waits)
        _set(self.cooldown_counter, cooldown)
        return True

    def _improves(self, current: float) -> bool:
        best, sign = float(self.best), -1 if self.mode == "min" else 1
        bar = best * (1 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return current < bar if self.mode == "min" else current > bar

    def in_cooldown(self) -> bool:
        """Return whether it is in the cooldown after a reduction."""
        return float(self.cooldown_counter) > 0

    def get_last_lr(self) -> list[Tensor]:
        """Return the current learning rate of each group: copies, as tensors."""
        return [Tensor(rate.asnumpy().copy()) for rate in self._last_lr]


name_methods(globals())
