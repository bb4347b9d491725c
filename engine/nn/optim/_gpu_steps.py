"""A step over many tensors of a GPU: in one launch where Triton has a kernel, and left out by a flag that lies there.

The counterpart of ``cpu.stepping``. Numbers that are on the GPU stay there: the kernels read rates, powers and the
step by their addresses. Whether a step is to be left out, as after an overflow, nobody waits to hear: the step runs,
and what it changes is what it was before where the flag holds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ...base.types import Array
from ...cpu import updates
from ...cpu.array_module import array_module
from ...cpu.updates import Number
from ...tensors.backend import many_at_once
from ...tensors.tensor import Tensor
from ...tensors.views import is_held_alone
from ..cell import Cell

if TYPE_CHECKING:
    from .optimizer import Gradients, Update

__all__ = ["FORMS", "Form", "form_of", "step", "step_unless"]

_DTYPES = ("float32", "float16", "bfloat16")
_ARRAYS = {"adam_rows": (3,), "momentum_rows": (1, 2, 3)}
"""How many arrays of a tensor's a kernel may change: the parameter and its states."""


class Form(NamedTuple):
    """A rule as a kernel over many tensors takes it."""

    kernel: str
    rate: Number
    decay: float
    """What the rule itself takes off the parameter."""
    shared: tuple[Number | None, ...]
    """Numbers that are the same for all tensors, which may lie on the GPU."""
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
    """How a kernel takes a step of a rule; None where none does.

    Args:
        rule: of ``cpu.updates``.
        value: of the parameter, on a GPU.
        states: what the rule keeps.
        gradient: of the parameter, of its shape.
        numbers: what the rule takes by place after the gradient.
        settings: what it takes by name.
    """
    form = FORMS.get(rule)
    if form is None or value.size == 0 or many_at_once() is None or gradient.dtype.name not in _DTYPES:
        return None
    arrays = [value, *[one._array for one in states if one is not None]]
    for x in arrays:
        if x.dtype.name not in _DTYPES or x.shape != value.shape or not _is_plain(x):
            return None
    found = form(*numbers, **settings)
    return None if found is None or len(arrays) not in _ARRAYS[found.kernel] else found


def step(pairs: Sequence[tuple[Tensor, Update]]) -> None:
    """Let parameters and their states take their new values.

    Args:
        pairs: parameters with how they come about, all by one form.
    """
    kernels, flag = many_at_once(), _left_out.flag
    xp = array_module(pairs[0][0]._array)
    groups: dict[Any, list[Any]] = {}
    changed: list[tuple[Tensor, Array]] = []
    for parameter, update in pairs:
        held = [parameter, *[one for one in update.states if one is not None]]
        for one in held:
            _left_out.before.pop(id(one), None)  # the kernel sees to the flag
        targets = [one._array if is_held_alone(one) else xp.empty_like(one._array) for one in held]
        gradient = update.arguments[0]
        row = [gradient if _is_plain(gradient) else gradient.copy("C")]
        for one, target in zip(held, targets, strict=True):
            row += [one._array, target]
            changed.append((one, target))
        form, (decay, scale) = update.form, update.before
        places = [x if x is None or isinstance(x, float) else x.data.ptr for x in form.shared]
        kind = (*[x.dtype for x in row[::2]], scale, *places, form.settings)
        groups.setdefault(kind, []).append((form.rate, decay + form.decay, row, scale, form))
    for rows in groups.values():
        *_, scale, form = rows[0]
        kernels.step(form.kernel, [one[:3] for one in rows], flag, form.shared, loss_scale=scale, **dict(form.settings))
    for one, target in changed:
        one._rebind(target)


def _is_plain(x: Any) -> bool:
    """Whether a kernel may take an array by its address: in C order, from an address that divides by 16."""
    return bool(x.flags.c_contiguous) and x.data.ptr % 16 == 0


class _LeftOut(threading.local):
    """The step that is under way: where its flag holds, nothing shall change."""

    flag: Array | None = None

    def __init__(self) -> None:
        self.before: dict[int, tuple[Tensor, Array]] = {}


_left_out = _LeftOut()


def step_unless(flag: Array, optimizer: Cell, gradients: Gradients) -> None:
    """Call an optimizer; where a flag holds, its parameters and its state stay what they are.

    Args:
        flag: one bool on a GPU, which is not waited for.
        optimizer: an optimizer, or a cell around one.
        gradients: what it is called with.
    """
    with _leaving_out(flag, [*optimizer.get_parameters(), *optimizer.parameters]):
        optimizer(gradients)


@contextmanager
def _leaving_out(flag: Array, tensors: Sequence[Tensor]) -> Iterator[None]:
    outside = _left_out.flag, _left_out.before
    _left_out.flag, _left_out.before = flag, {id(one): (one, one._array) for one in tensors}
    try:
        yield
        xp = array_module(flag)
        for one, array in _left_out.before.values():
            if one._array is not array:
                one._rebind(xp.where(flag, xp.asarray(array), xp.asarray(one._array)))
    finally:
        _left_out.flag, _left_out.before = outside
