"""Optimizer steps over many tensors on a GPU: a single launch if Triton has a kernel, and skipped by a GPU flag.

The counterpart of ``cpu.optim.stepping``. Numbers on the GPU stay there: the kernels read rates, powers and the
step by their addresses. A step that may be skipped, as after an overflow, runs without synchronizing: where the flag
holds, the previous values are kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ...base.types import Array
from ...cpu.array_module import array_module
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from ...tensors.backend import many_at_once
from ...tensors.tensor import Tensor
from ...tensors.views import is_sole_holder
from ..cell import Cell

if TYPE_CHECKING:
    from .optimizer import Gradients
    from .parameter_updates import Update

__all__ = ["FORMS", "Form", "form_of", "step", "step_unless"]

_DTYPES = ("float32", "float16", "bfloat16")
_ARRAYS = {"adam_rows": (3,), "momentum_rows": (1, 2, 3)}
"""Numbers of arrays per tensor that a kernel may change: the parameter and its states."""


class Form(NamedTuple):
    """A rule in the form of a kernel over many tensors."""

    kernel: str
    rate: Number
    decay: float
    """Weight decay that the rule itself applies to the parameter."""
    shared: tuple[Number | None, ...]
    """Numbers that are the same for all tensors and may be on the GPU."""
    settings: tuple[tuple[str, float | bool | str], ...]


def _moments(
    form: str,
    lr: Number,
    decay: float,
    powers: tuple[Number | None, ...],
    beta1: float,
    beta2: float,
    eps: float,
    nesterov: bool,
    apart: bool,
) -> Form:
    betas = ("beta1", float(beta1)), ("beta2", float(beta2)), ("eps", float(eps))
    settings = (*betas, ("form", form), ("apart", apart), ("use_nesterov", nesterov))
    return Form("adam_rows", lr, decay, powers, settings)


def _adam(
    lr: Number, power1: Number, power2: Number, beta1: float, beta2: float, eps: float, nesterov: bool
) -> Form | None:
    return _moments("adam", lr, 0.0, (power1, power2), beta1, beta2, eps, nesterov, apart=False)


def _adam_weight_decay(lr: Number, beta1: float, beta2: float, eps: float, decay: Number) -> Form | None:
    if not isinstance(decay, float):
        return None
    return _moments("adam_weight_decay", lr, decay, (None, None), beta1, beta2, eps, False, apart=True)


def _adamw(
    lr: Number, power1: Number, power2: Number, beta1: float, beta2: float, eps: float, decay: float
) -> Form | None:
    return _moments("adamw", lr, decay, (power1, power2), beta1, beta2, eps, False, apart=decay != 0.0)


def _summed(first: str, lr: Number, factor: Number | None, step: Number | None, share: float, nesterov: bool) -> Form:
    settings = (("first", first), ("share", share), ("use_nesterov", nesterov))
    return Form("momentum_rows", lr, 0.0, (factor, step), settings)


def _momentum(lr: Number, factor: Number, nesterov: bool) -> Form | None:
    return _summed("none", lr, factor, None, 1.0, nesterov)


def _sgd_by_step(lr: Number, factor: Number, dampening: float, nesterov: bool, step: Number) -> Form | None:
    return _summed("step", lr, factor, step, 1.0 - dampening, nesterov)


def _sgd_by_stat(lr: Number, factor: Number, dampening: float, nesterov: bool) -> Form | None:
    return _summed("stat", lr, factor, None, 1.0 - dampening, nesterov)


def _descent(lr: Number) -> Form | None:
    return _summed("none", lr, None, None, 1.0, False)


FORMS: dict[Callable[..., Any], Callable[..., Form | None]] = {
    updates.adam_by_powers: _adam,
    updates.adam_weight_decay: _adam_weight_decay,
    updates.adamw: _adamw,
    updates.descent: _descent,
    updates.momentum: _momentum,
    updates.sgd_by_stat: _sgd_by_stat,
    updates.sgd_by_step: _sgd_by_step,
}


def form_of(
    rule: Callable[..., Any],
    value: Array,
    states: Sequence[Tensor | None],
    gradient: Array,
    *numbers: Any,
    **settings: Any,
) -> Form | None:
    """Return the form in which a kernel takes a step of a rule; None if there is none.

    Args:
        rule: a rule of ``cpu.optim.updates``.
        value: the parameter's array, on a GPU.
        states: the states of the rule.
        gradient: the parameter's gradient, of its shape.
        numbers: the positional arguments of the rule after the gradient.
        settings: its keyword arguments.
    """
    form = FORMS.get(rule)
    if form is None or value.size == 0 or many_at_once() is None or gradient.dtype.name not in _DTYPES:
        return None
    arrays = [value, *[state._array for state in states if state is not None]]
    for x in arrays:
        if x.dtype.name not in _DTYPES or x.shape != value.shape or not _is_plain(x):
            return None
    result = form(*numbers, **settings)
    return None if result is None or len(arrays) not in _ARRAYS[result.kernel] else result


def step(pairs: Sequence[tuple[Tensor, Update]]) -> None:
    """Update parameters and their states.

    Args:
        pairs: parameters with their updates, all of one form.
    """
    kernels, flag = many_at_once(), _left_out.flag
    xp = array_module(pairs[0][0]._array)
    groups: dict[Any, list[Any]] = {}
    changed: list[tuple[Tensor, Array]] = []
    for parameter, update in pairs:
        tensors = [parameter, *[tensor for tensor in update.states if tensor is not None]]
        for tensor in tensors:
            _left_out.before.pop(id(tensor), None)  # the kernel handles the flag
        targets = [tensor._array if is_sole_holder(tensor) else xp.empty_like(tensor._array) for tensor in tensors]
        gradient = update.arguments[0]
        row = [gradient if _is_plain(gradient) else gradient.copy("C")]
        for tensor, target in zip(tensors, targets, strict=True):
            row += [tensor._array, target]
            changed.append((tensor, target))
        form, (decay, scale) = update.form, update.before
        addresses = [x if x is None or isinstance(x, float) else x.data.ptr for x in form.shared]
        kind = (*[x.dtype for x in row[::2]], scale, *addresses, form.settings)
        groups.setdefault(kind, []).append((form.rate, decay + form.decay, row, scale, form))
    for rows in groups.values():
        *_, scale, form = rows[0]
        kernels.step(
            form.kernel, [tensor[:3] for tensor in rows], flag, form.shared, loss_scale=scale, **dict(form.settings)
        )
    for tensor, target in changed:
        tensor._rebind(target)


def _is_plain(x: Any) -> bool:
    """Return whether a kernel may use an array by its address: in C order, aligned to 16 bytes."""
    return bool(x.flags.c_contiguous) and x.data.ptr % 16 == 0


class _LeftOut(threading.local):
    """The current step: where its flag holds, nothing must change."""

    flag: Array | None = None

    def __init__(self) -> None:
        self.before: dict[int, tuple[Tensor, Array]] = {}


_left_out = _LeftOut()


def step_unless(flag: Array, optimizer: Cell, gradients: Gradients) -> None:
    """Call an optimizer; if a flag holds, its parameters and its state keep their values.

    Args:
        flag: one bool on a GPU, used without synchronizing.
        optimizer: an optimizer, or a cell around one.
        gradients: the optimizer's argument.
    """
    with _leaving_out(flag, [*optimizer.get_parameters(), *optimizer.parameters]):
        optimizer(gradients)


@contextmanager
def _leaving_out(flag: Array, tensors: Sequence[Tensor]) -> Iterator[None]:
    previous = _left_out.flag, _left_out.before
    _left_out.flag, _left_out.before = flag, {id(tensor): (tensor, tensor._array) for tensor in tensors}
    try:
        yield
        xp = array_module(flag)
        for tensor, array in _left_out.before.values():
            if tensor._array is not array:
                tensor._rebind(xp.where(flag, xp.asarray(array), xp.asarray(tensor._array)))
    finally:
        _left_out.flag, _left_out.before = previous
