"""AdaFactor: the second moment of a matrix stored as row and column factors."""

from __future__ import annotations

import numpy as np

from ...base.argument_checks import check_type
from ...base.types import Array
from ...cpu.array_module import array_module
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from ...tensors.initializer import initializer
from ...tensors.parameter import Parameter, ParameterTuple
from ..cell import Cell
from .optimizer import Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, take

__all__ = ["AdaFactor"]


class AdaFactor(Optimizer):
    """AdaFactor (Shazeer and Stern 2018): the second moment of a matrix is stored as row and column factors.

    The moment's decay factor in step t is 1 - t**-decay_rate. A step is g over the root of the moment, limited by
    ``clip_threshold``, times the learning rate, and averaged with ``beta1``. Parameters of one axis store their full
    moment.

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``; ``weight_decay`` of a group is not
            used.
        learning_rate: the learning rate; None, the default, with ``relative_step``.
        eps: two numbers: the one added to g**2, and the lower bound of a parameter's size in ``scale_parameter``.
        clip_threshold: the largest root mean square of a step, at least 0.
        decay_rate: the exponent of the moment's decay factor, above 0 and at most 1.
        beta1: the decay factor of the average of steps, from 0 to below 1; 0 or None for no average.
        weight_decay: this multiple of the learning rate and the parameter is subtracted: a number, at least 0.
        scale_parameter: multiply the learning rate by the root mean square of the parameter; without effect if
            ``learning_rate`` is not one number.
        relative_step: the learning rate is min(1e-2, 1 / sqrt(t)).
        warmup_init: with ``relative_step``, 1e-6 * t instead of 1e-2.
        compression: stored, otherwise unused; the moments have the parameter's dtype.
        loss_scale: the gradients are divided by it; above 0.

    Raises:
        TypeError: ``params`` holds no parameters, or a number is of the wrong kind.
        ValueError: a number outside its range, ``learning_rate`` together with ``relative_step`` or neither of them,
            or ``warmup_init`` without ``relative_step``.
    """

    _keeps_numbers = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        learning_rate: Rate | None = None,
        eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = 0.8,
        beta1: float | None = 0.9,
        weight_decay: float = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
        compression: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        if learning_rate is not None and relative_step:
            raise ValueError("For 'AdaFactor', 'learning_rate' and 'relative_step' cannot both be given")
        if learning_rate is None and not relative_step:
            raise ValueError("For 'AdaFactor', without 'relative_step' a 'learning_rate' must be given")
        if warmup_init and not relative_step:
            raise ValueError("For 'AdaFactor', 'warmup_init' needs 'relative_step'")
        if isinstance(weight_decay, Cell):
            raise TypeError("For 'AdaFactor', 'weight_decay' must be a number, not a cell; use Adam or Momentum")
        beta1 = 0.0 if beta1 is None else beta1
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        check_type(eps, tuple | list, "AdaFactor", "eps", "a tuple or list")
        if len(eps) != 2:
            raise ValueError(f"For 'AdaFactor', 'eps' must be two numbers, but got {eps!r}")
        for argument, number in (("clip_threshold", clip_threshold), ("decay_rate", decay_rate), ("beta1", beta1)):
            self._check_number(number, argument, 0.0)
        if not 0 < decay_rate <= 1 or not 0 <= beta1 < 1:
            raise ValueError(f"For 'AdaFactor', 'decay_rate' {decay_rate} or 'beta1' {beta1} is out of range")
        self.eps, self.clip_threshold, self.decay_rate, self.beta1 = (eps[0], eps[1]), clip_threshold, decay_rate, beta1
        # As in MindSpore, a rate that changes from step to step is not scaled.
        self.scale_parameter = scale_parameter and isinstance(learning_rate, int | float | None)
        self.relative_step, self.warmup_init = relative_step, warmup_init
        self.compression = compression
        self.step = self.scalar_state("afactor_step", 0.0, (1,))
        if beta1 > 0:
            self.exp_avg = self.state_like_parameters("exp_avg")
        rows: list[Parameter] = []
        columns: list[Parameter] = []
        full: list[Parameter] = []
        for p in self.parameters:
            shapes: tuple[tuple[int, ...], ...] = ((1,), (1,), p.shape)
            if p.ndim > 1:
                shapes = (p.shape[:-1], (*p.shape[:-2], p.shape[-1]), (1,))
            for squares_states, prefix, shape in zip(
                (rows, columns, full), ("exp_avg_sq_row", "exp_avg_sq_col", "exp_avg_sq"), shapes, strict=True
            ):
                first = initializer("zeros", shape, p.dtype)
                squares_states.append(Parameter(first, f"{prefix}_{p.name}", requires_grad=False))
        self.exp_avg_sq_row, self.exp_avg_sq_col = ParameterTuple(rows), ParameterTuple(columns)
        self.exp_avg_sq = ParameterTuple(full)

    def before_step(self, step: Number) -> None:
        xp = array_module(step) if updates.is_on_gpu(step) else np
        take(self.step, xp.asarray(step, np.float32).reshape(1))

    def _prepared(self, index: int, value: Array, g: Array, decay: float) -> Array:
        return (g / self.loss_scale if self.loss_scale != 1.0 else g).astype(value.dtype, copy=False)

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        if self.relative_step:
            rate = updates.adafactor_rate(step, self.warmup_init)
        matrix = value.ndim > 1
        squares_states = (
            [self.exp_avg_sq_row[index], self.exp_avg_sq_col[index]] if matrix else [self.exp_avg_sq[index]]
        )
        mean = self.exp_avg[index] if self.beta1 > 0 else None
        new, squares, mean_now = updates.adafactor(
            value,
            [state._array for state in squares_states],
            mean._array if mean is not None else None,
            gradient,
            rate,
            updates.adafactor_share(step, self.decay_rate),
            self.beta1,
            self.eps,
            self.clip_threshold,
            float(self.weight_decay),
            self.scale_parameter,
        )
        for state, array in zip(squares_states, squares, strict=True):
            state._rebind(array)
        if mean is not None:
            mean._rebind(mean_now)
        return new
