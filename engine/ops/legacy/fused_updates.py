"""Primitive classes that fuse an optimizer's update with something else, as ``FusedSparseAdam``.

Most update the rows of a table that a gradient has indices of. As with the classes of ``updates.py``, the parameter
and its state are set to their new values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_number, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array
from ...cpu.array_module import array_module
from ...cpu.arrays.segments import combined_at
from ...cpu.optim import adam as adam_kernels
from ...cpu.optim import updates as rules
from ...tape.tape import no_recording
from ...tensors.backend import to_host
from ...tensors.tensor import Tensor
from ..arguments import check_tensor
from .updates import Scalar, _update

__all__: list[str] = []

Rule = Callable[..., tuple[Any, ...]]


def _numbers(name: str, above: tuple[str, ...] = (), **numbers: object) -> None:
    """Raise unless the floats are not negative, those in ``above`` positive, and ``lr_power`` not positive."""
    for argument, value in numbers.items():
        check_number(check_type(value, float, name, argument), name, argument)
        wrong = value > 0 if argument == "lr_power" else value <= 0 if argument in above else value < 0  # type: ignore[operator]
        if wrong:
            bound = (
                "not be above 0" if argument == "lr_power" else "be above 0" if argument in above else "not be negative"
            )
            raise ValueError(f"For '{name}', '{argument}' must {bound}, but got {value}")


def _named_rows(name: str, table: Array, g: Array, indices: Array) -> tuple[Array, Array]:
    """Return the rows of the table with gradients, and the gradients; as in MindSpore, other indices are ignored."""
    rows = to_host(indices)
    if rows.dtype.kind not in "iu":
        raise TypeError(f"For '{name}', 'indices' must hold integers, but got {rows.dtype}")
    if rows.ndim != 1 or g.shape != (*rows.shape, *table.shape[1:]):
        raise ValueError(
            f"For '{name}', 'grad' must have a row of the shape {table.shape[1:]} for each of 'indices', but got "
            f"{g.shape} for {rows.shape}"
        )
    valid = (rows >= 0) & (rows < len(table))
    return (rows, g) if valid.all() else (rows[valid], g[array_module(g).asarray(valid)])


def _sums(g: Array, groups: Array, count: int) -> Array:
    """Return the sums of the rows of ``g`` by their groups, in single precision."""
    xp = array_module(g)
    wide, shape = g.astype(np.result_type(g.dtype, np.float32) if g.dtype.kind == "f" else np.float32), g.shape[1:]
    if xp is not np:
        return combined_at(xp.add, wide, xp.asarray(groups), (count, *shape), 0)
    total = np.zeros((count, *shape), wide.dtype)
    np.add.at(total, groups, wide)
    return total


def _step_rows(name: str, held: tuple[Array, ...], g: Array, indices: Array, rule: Rule, sums: bool) -> tuple[Any, ...]:
    """Return the parameter and its state after one step of the rows ``indices``.

    Args:
        name: of the class, for errors.
        held: the parameter and its state, arrays (rows, ...).
        g: the gradient of the row for each of ``indices``.
        indices: the rows.
        rule: takes rows of ``held`` and their gradients, and returns the new rows.
        sums: whether the gradients of a row that is repeated are summed first; otherwise each makes a step.
    """
    numbers, g = _named_rows(name, held[0], g, indices)
    new = tuple(array.copy() for array in held)
    rows, groups = np.unique(numbers, return_inverse=True)
    if sums:
        steps = [(rows, _sums(g, groups, len(rows)))]
    else:
        # First the first gradient of each row, then the second of those that have one, and so on.
        turns = np.array([np.count_nonzero(numbers[:i] == number) for i, number in enumerate(numbers)], int)
        steps = [(numbers[turns == turn], g[turns == turn]) for turn in range(turns.max(initial=-1) + 1)]
    for spots, part in steps:
        for array, updated in zip(new, rule(*(array[spots] for array in new), part), strict=True):
            array[spots] = updated
    return new


@_update(prim("ApplyAdagradDA", use_locking=False), 0, 1, 2, only_parameter=True)
def _adagrad_da(
    var: Array,
    gradient_accumulator: Array,
    gradient_squared_accumulator: Array,
    grad: Array,
    lr: Scalar,
    l1: Scalar,
    l2: Scalar,
    global_step: Array | int,
    **_: Any,
) -> tuple[Any, ...]:
    """Take one step of Adagrad by dual averaging (Duchi et al. 2011), from the sums a of gradients and s of squares.

    It is -lr * sign(a) * max(abs(a) - l1 * global_step, 0) / (l2 * global_step * lr + sqrt(s)).

    Args:
        var: the Parameter (or Tensor) that is updated.
        gradient_accumulator: a, of the shape of ``var``; updated.
        gradient_squared_accumulator: s, likewise; updated.
        grad: the gradient, of the shape of ``var``.
        lr: the learning rate.
        l1: the L1 regularization, from 0 on.
        l2: the L2 regularization, from 0 on.
        global_step: the number of the step.
        use_locking: accepted for MindSpore; one thread updates.

    Returns:
        ``var``, which has its new value.

    Raises:
        TypeError: ``var`` or one of the sums is neither a Parameter nor a Tensor.
        ValueError: one of these would have a different number of elements afterwards.
    """
    xp = array_module(var)
    total, squares = gradient_accumulator + grad, gradient_squared_accumulator + grad * grad
    excess = xp.sign(total) * xp.maximum(abs(total) - l1 * global_step, 0)
    return -lr * excess / (l2 * global_step * lr + xp.sqrt(squares)), total, squares


@declare(primitive=prim("AdamNoUpdateParam", use_locking=False, use_nesterov=False))
def _adam_step_alone(
    m: Tensor,
    v: Tensor,
    beta1_power: Tensor | float,
    beta2_power: Tensor | float,
    lr: Tensor | float,
    beta1: Tensor | float,
    beta2: Tensor | float,
    epsilon: Tensor | float,
    gradient: Tensor,
    use_locking: bool,
    use_nesterov: bool,
) -> Tensor:
    """Return the change of a parameter by one step of Adam (Kingma and Ba 2015); the state is updated.

    Args:
        m: the running mean of the gradients, a Parameter (or Tensor); updated.
        v: the running mean of their squares, likewise; updated.
        beta1_power: ``beta1`` to the power of the step's number.
        beta2_power: ``beta2`` to the power of the step's number.
        lr: the learning rate.
        beta1: the decay of ``m``.
        beta2: the decay of ``v``.
        epsilon: a number added to the divisor.
        gradient: the gradient, of the shape of ``m``.
        use_locking: accepted for MindSpore; one thread updates.
        use_nesterov: whether to take Nesterov's form, which looks one step ahead.

    Returns:
        A tensor of the shape and dtype of ``gradient``.

    Raises:
        TypeError: ``m``, ``v`` or ``gradient`` is not a Tensor, or a setting is not a bool.
        ValueError: they have different shapes.
    """
    name = "AdamNoUpdateParam"
    for argument, flag in (("use_locking", use_locking), ("use_nesterov", use_nesterov)):
        check_bool(flag, name, argument)
    for argument, tensor in (("m", m), ("v", v), ("gradient", gradient)):
        if check_tensor(tensor, name, argument).shape != m.shape:
            raise ValueError(f"For '{name}', '{argument}' must have the shape {m.shape}, but got {tensor.shape}")
    power1, power2, rate, b1, b2, eps = (
        x._array if isinstance(x, Tensor) else x for x in (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
    )
    g = gradient._array
    with no_recording():
        settings = (rules.corrected_rate(rate, power1, power2), b1, b2, eps, use_nesterov)
        (step, new_m, new_v) = adam_kernels.adam(array_module(g).zeros_like(g), m._array, v._array, g, *settings)
        m._rebind(new_m.astype(m._array.dtype).reshape(m.shape))
        v._rebind(new_v.astype(v._array.dtype).reshape(v.shape))
    return Tensor._wrap(step.astype(g.dtype).reshape(g.shape))


@_update(prim("FusedCastAdamWeightDecay", use_locking=False), 0, 1, 2)
def _adam_weight_decay_of_half(
    var: Array,
    m: Array,
    v: Array,
    lr: Scalar,
    beta1: Scalar,
    beta2: Scalar,
    epsilon: Scalar,
    decay: Scalar,
    gradient: Array,
    global_norm: Scalar,
    **_: Any,
) -> tuple[Any, ...]:
    """Take one step of Adam as in BERT, as ``AdamWeightDecay``, for parameters and gradients of half precision.

    Args:
        var: the Parameter (or Tensor) that is updated.
        m: the running mean of the gradients, of the shape of ``var``; updated.
        v: the running mean of their squares, likewise; updated.
        lr: the learning rate.
        beta1: the decay of ``m``.
        beta2: the decay of ``v``.
        epsilon: a number added to the divisor.
        decay: the weight decay.
        gradient: the gradient, of the shape of ``var``; computed with in Float32.
        global_norm: the divisor of the gradient.
        use_locking: accepted for MindSpore; one thread updates.

    Returns:
        A tuple of ``var``, ``m``, ``v``, which have their new values.

    Raises:
        TypeError: ``var``, ``m`` or ``v`` is neither a Parameter nor a Tensor.
        ValueError: one of these would have a different number of elements afterwards.
    """
    wide = gradient.astype(np.float32) / global_norm
    return rules.adam_weight_decay(var.astype(np.float32), m, v, wide, lr, beta1, beta2, epsilon, decay)


@_update(
    prim("FusedAdaFactor", enable_scale_parameter=False, enable_first_moment=False, enable_weight_decay=False),
    7,
    8,
    9,
    10,
    11,
    only_parameter=True,
)
def _adafactor(
    epsilon: Any,
    clip_threshold: Scalar,
    beta1: Scalar,
    beta2: Scalar,
    weight_decay: Scalar,
    learning_rate: Scalar,
    gradient: Array,
    param: Array,
    exp_avg: Array,
    exp_avg_sq_row: Array,
    exp_avg_sq_col: Array,
    exp_avg_sq: Array,
    enable_scale_parameter: bool,
    enable_first_moment: bool,
    enable_weight_decay: bool,
) -> tuple[Any, ...]:
    """Take one step of Adafactor (Shazeer and Stern 2018).

    Args:
        epsilon: two numbers: one added to squares, and the least size of a parameter that scales the rate.
        clip_threshold: the largest root mean square of a step, before the rate.
        beta1: the decay of ``exp_avg``.
        beta2: the decay of the means of squares.
        weight_decay: the weight decay.
        learning_rate: the learning rate.
        gradient: the gradient, of the shape of ``param``.
        param: the Parameter (or Tensor) that is updated.
        exp_avg: the running mean of the steps, of the shape of ``param``; updated with ``enable_first_moment``.
        exp_avg_sq_row: for two axes and more, the running mean of squares without the last axis; updated.
        exp_avg_sq_col: likewise without the last but one; updated.
        exp_avg_sq: for one axis, the running mean of squares; updated.
        enable_scale_parameter: whether the rate is multiplied by the root mean square of ``param``.
        enable_first_moment: whether the steps are averaged.
        enable_weight_decay: whether ``weight_decay`` counts.

    Returns:
        ``param``, which has its new value.

    Raises:
        TypeError: ``param`` or a mean is neither a Parameter nor a Tensor, or a setting is not a bool.
        ValueError: one of these would have a different number of elements afterwards.
    """
    for argument, flag in (
        ("enable_scale_parameter", enable_scale_parameter),
        ("enable_first_moment", enable_first_moment),
        ("enable_weight_decay", enable_weight_decay),
    ):
        check_bool(flag, "FusedAdaFactor", argument)
    first, second = (float(value) for value in epsilon)
    clip, b1, b2, decay, rate = (float(x) for x in (clip_threshold, beta1, beta2, weight_decay, learning_rate))
    is_vector = param.ndim == 1
    new, squares, mean = rules.adafactor(
        param,
        [exp_avg_sq] if is_vector else [exp_avg_sq_row, exp_avg_sq_col],
        exp_avg if enable_first_moment else None,
        gradient,
        rate,
        b2,
        b1,
        (first, second),
        clip,
        decay if enable_weight_decay else 0.0,
        enable_scale_parameter,
    )
    rows = [exp_avg_sq_row, exp_avg_sq_col] if is_vector else squares
    return new, exp_avg if mean is None else mean, *rows, squares[0] if is_vector else exp_avg_sq


_ADAM = """

    Args:
        var: the Parameter (or Tensor) that is updated, a table (rows, ...).
        m: the running mean of the gradients, of the shape of ``var``; updated.
        v: the running mean of their squares, likewise; updated.
        beta1_power: ``beta1`` to the power of the step's number.
        beta2_power: ``beta2`` to the power of the step's number.
        lr: the learning rate.
        beta1: the decay of ``m``.
        beta2: the decay of ``v``.
        epsilon: the number added to the divisor.
        gradient: the gradients of rows, a tensor (N, ...). Those of a row that is named twice are summed.
        indices: the rows, N ints; those outside the table are left out.
        use_locking: accepted for MindSpore's sake; one thread updates.
        use_nesterov: whether to take Nesterov's form, which looks one step ahead.

    Returns:
        a tuple of ``var``, ``m``, ``v``, which have their new values.

    Raises:
        TypeError: ``var``, ``m`` or ``v`` is neither a Parameter nor a Tensor, or ``indices`` are not integers.
        ValueError: ``gradient`` does not fit ``indices`` and ``var``.
    """


def _sparse_adam(name: str, sentence: str, lazy: bool) -> None:
    def formula(
        var: Array,
        m: Array,
        v: Array,
        beta1_power: Scalar,
        beta2_power: Scalar,
        lr: Scalar,
        beta1: Scalar,
        beta2: Scalar,
        epsilon: Scalar,
        gradient: Array,
        indices: Array,
        use_nesterov: bool,
        **_: Any,
    ) -> tuple[Any, ...]:
        rate = rules.corrected_rate(lr, beta1_power, beta2_power)

        def step(p: Array, m: Array, v: Array, g: Array) -> tuple[Any, ...]:
            return adam_kernels.adam(p, m, v, g, rate, beta1, beta2, epsilon, use_nesterov)  # type: ignore[arg-type]

        if lazy:
            return _step_rows(name, (var, m, v), gradient, indices, step, sums=True)
        rows, gradients = _named_rows(name, var, gradient, indices)
        return step(var, m, v, _sums(gradients, rows, len(var)))

    formula.__doc__ = sentence + _ADAM
    _update(prim(name, use_locking=False, use_nesterov=False), 0, 1, 2)(formula)


_sparse_adam(
    "FusedSparseAdam", "One step of Adam (Kingma and Ba 2015) where the gradient of most rows is 0.", lazy=False
)
_sparse_adam(
    "FusedSparseLazyAdam", "One step of Adam (Kingma and Ba 2015) of the rows that have a gradient alone.", lazy=True
)


_FTRL = """

    Args:
        var: the Parameter (or Tensor) that is updated, a table (rows, ...).
        accum: the sum of the squared gradients so far, of the shape of ``var``; updated.
        linear: the sum of the linear terms, likewise; updated.
        grad: the gradients of rows, a tensor (N, ...). Those of a row that is named twice {twice}.
        indices: the rows, N ints; those outside the table are left out.
        lr: the learning rate, a float above 0.
        l1: the L1 regularization, a float from 0 on.
        l2: the L2 regularization, likewise.
        lr_power: how the rate falls, a float up to 0: -1/2 in the paper.
        use_locking: accepted for MindSpore's sake; one thread updates.

    Returns:
        a tuple of ``var``, ``accum``, ``linear``, which have their new values.

    Raises:
        TypeError: ``var``, ``accum`` or ``linear`` is neither a Parameter nor a Tensor, ``indices`` are not integers,
            or a setting is not a float.
        ValueError: a setting out of range, or ``grad`` does not fit ``indices`` and ``var``.
    """


def _sparse_ftrl(name: str, sums: bool) -> None:
    def formula(
        var: Array,
        accum: Array,
        linear: Array,
        grad: Array,
        indices: Array,
        lr: float,
        l1: float,
        l2: float,
        lr_power: float,
        **_: Any,
    ) -> tuple[Any, ...]:
        _numbers(name, above=("lr",), lr=lr, l1=l1, l2=l2, lr_power=lr_power)

        def step(p: Array, squares: Array, z: Array, g: Array) -> tuple[Any, ...]:
            return rules.ftrl(p, squares, z, g, lr, l1, l2, lr_power)

        return _step_rows(name, (var, accum, linear), grad, indices, step, sums)

    twice = "are summed" if sums else "make a step each, in order"
    formula.__doc__ = "One step of FTRL (McMahan et al. 2013) of the rows that have a gradient." + _FTRL.format(
        twice=twice
    )
    _update(prim(name, "lr", "l1", "l2", "lr_power", use_locking=False), 0, 1, 2)(formula)


_sparse_ftrl("FusedSparseFtrl", sums=True)
_sparse_ftrl("SparseApplyFtrl", sums=False)


@_update(prim("FusedSparseProximalAdagrad", use_locking=False), 0, 1)
def _sparse_proximal_adagrad(
    var: Array, accum: Array, lr: Scalar, l1: Scalar, l2: Scalar, grad: Array, indices: Array, **_: Any
) -> tuple[Any, ...]:
    """Take one step of Adagrad of the rows with a gradient, then shrunk by ``l1`` and ``l2`` (Duchi and Singer 2009).

    Args:
        var: the Parameter (or Tensor) that is updated, a table (rows, ...).
        accum: the sum of the squared gradients so far, of the shape of ``var``; updated.
        lr: the learning rate.
        l1: the L1 regularization, from 0 on.
        l2: the L2 regularization, from 0 on.
        grad: the gradients of rows, a tensor (N, ...). Those of a row that is repeated are summed.
        indices: the rows, N ints; indices that are not rows of the table are ignored.
        use_locking: accepted for MindSpore; one thread updates.

    Returns:
        A tuple of ``var``, ``accum``, which have their new values.

    Raises:
        TypeError: ``var`` or ``accum`` is neither a Parameter nor a Tensor, or ``indices`` are not integers.
        ValueError: ``grad`` does not fit ``indices`` and ``var``.
    """

    def step(p: Array, squares: Array, g: Array) -> tuple[Any, ...]:
        return rules.proximal_adagrad(p, squares, g, lr, l1, l2)

    return _step_rows("FusedSparseProximalAdagrad", (var, accum), grad, indices, step, sums=True)


@_update(prim("SparseApplyAdagradV2", "lr", "epsilon", use_locking=False, update_slots=True), 0, 1)
def _sparse_adagrad_v2(
    var: Array, accum: Array, grad: Array, indices: Array, lr: float, epsilon: float, update_slots: bool, **_: Any
) -> tuple[Any, ...]:
    """Take one step of Adagrad (Duchi et al. 2011) of the rows with a gradient: p - lr * g / sqrt(accum + epsilon).

    MindSpore computes it so; its documentation has epsilon outside of the root, as in ``ApplyAdagradV2``.

    Args:
        var: the Parameter (or Tensor) that is updated, a table (rows, ...).
        accum: the sum of the squared gradients so far, of the shape of ``var``; updated.
        grad: the gradients of rows, a tensor (N, ...). Those of a row that is repeated make a step each, in order.
        indices: the rows, N ints; indices that are not rows of the table are ignored.
        lr: the learning rate, a float above 0.
        epsilon: a number added under the root, a float from 0 on.
        use_locking: accepted for MindSpore; one thread updates.
        update_slots: whether ``accum`` is updated; otherwise it is used as it is.

    Returns:
        A tuple of ``var``, ``accum``, which have their new values.

    Raises:
        TypeError: ``var`` or ``accum`` is neither a Parameter nor a Tensor, ``indices`` are not integers, or a setting
            is of the wrong kind.
        ValueError: a setting out of range, or ``grad`` does not fit ``indices`` and ``var``.
    """
    _numbers("SparseApplyAdagradV2", above=("lr",), lr=lr, epsilon=epsilon)
    check_bool(update_slots, "SparseApplyAdagradV2", "update_slots")

    def step(p: Array, squares: Array, g: Array) -> tuple[Any, ...]:
        accumulated = squares + g * g if update_slots else squares
        return p - lr * g / array_module(p).sqrt(accumulated + epsilon), accumulated

    return _step_rows("SparseApplyAdagradV2", (var, accum), grad, indices, step, sums=False)


_ROWS = """    grad: the gradients of rows, a tensor (N, ...).
        indices: the rows, N ints; those outside the table are left out. {twice}
        use_locking: accepted for MindSpore's sake; one thread updates."""
_EACH = "A row that is named twice makes two steps."
_ERRORS = """
    Raises:
        TypeError: a table is neither a Parameter nor a Tensor, or a setting or ``indices`` of the wrong type.
        ValueError: ``grad`` does not fit ``indices`` and ``var``, or a number is out of range.
    """


def _documented(sentence: str, arguments: str, returns: str, twice: str = _EACH) -> Callable[[Any], Any]:
    """Give a formula its docstring, with the arguments that all formulas share."""

    def document(formula: Any) -> Any:
        formula.__doc__ = f"""{sentence}

    Args:
        var: the Parameter (or Tensor) that is updated, a table (rows, ...).
{arguments}
    {_ROWS.format(twice=twice)}

    Returns:
        {returns}
{_ERRORS}"""
        return formula

    return document


@_update(prim("SparseApplyAdagrad", "lr", update_slots=True, use_locking=False), 0, 1)
@_documented(
    "One step of Adagrad (Duchi et al. 2011) of the rows that have a gradient: p - lr * g / sqrt(sum of g^2).",
    """        accum: the sums of squares, of the shape of ``var``; updated.
        lr: the learning rate, a float above 0.
        update_slots: whether the squares are added to the sums.""",
    "a tuple of ``var``, ``accum``, which have their new values.",
    "Those of a row that is named twice are summed.",
)
def _sparse_adagrad_of_old(
    var: Array, accum: Array, grad: Array, indices: Array, lr: float, update_slots: bool, **_: Any
) -> tuple[Any, ...]:
    _numbers("SparseApplyAdagrad", above=("lr",), lr=lr)
    check_bool(update_slots, "SparseApplyAdagrad", "update_slots")

    def step(p: Array, squares: Array, g: Array) -> tuple[Any, ...]:
        new = squares + g * g if update_slots else squares
        return p - lr * g / array_module(g).sqrt(new), new

    return _step_rows("SparseApplyAdagrad", (var, accum), grad, indices, step, sums=True)


@_update(prim("SparseApplyAdagradDA", use_locking=False), 0, 1, 2, only_parameter=True)
@_documented(
    "One step of Adagrad by dual averaging, as ``ApplyAdagradDA``, of the rows that have a gradient.",
    """        grad_accum: the sums of the gradients, of the shape of ``var``; updated.
        grad_square_accum: the sums of their squares, likewise; updated.
        lr: the learning rate, a number or a tensor of one.
        l1: the L1 regularization, likewise.
        l2: the L2 regularization, likewise.
        global_step: the number of the step, likewise.""",
    "``var``, which has its new value.",
)
def _sparse_adagrad_da(
    var: Array,
    grad_accum: Array,
    grad_square_accum: Array,
    grad: Array,
    indices: Array,
    lr: Scalar,
    l1: Scalar,
    l2: Scalar,
    global_step: Array | int,
    **_: Any,
) -> tuple[Any, ...]:
    def step(p: Array, total: Array, squares: Array, g: Array) -> tuple[Any, ...]:
        xp = array_module(p)
        total, squares = total + g, squares + g * g
        excess = xp.sign(total) * xp.maximum(abs(total) - l1 * global_step, 0)
        return -lr * excess / (l2 * global_step * lr + xp.sqrt(squares)), total, squares

    state = (var, grad_accum, grad_square_accum)
    return _step_rows("SparseApplyAdagradDA", state, grad, indices, step, sums=False)


@_update(prim("SparseApplyCenteredRMSProp", use_locking=False), 0, 1, 2, 3, only_parameter=True)
@_documented(
    "One step of RMSProp about the mean (Graves 2013) of the rows that have a gradient.",
    """        mg: the running mean of the gradients, of the shape of ``var``; updated.
        ms: that of their squares, likewise; updated.
        mom: the running sum of steps, likewise; updated.
        lr: the learning rate, a number or a tensor of one.
        rho: the decay of ``mg`` and ``ms``, likewise.
        momentum: the decay of ``mom``, likewise.
        epsilon: the number added under the root, likewise.""",
    "``var``, which has its new value.",
)
def _sparse_centered_rmsprop(
    var: Array,
    mg: Array,
    ms: Array,
    mom: Array,
    lr: Scalar,
    rho: Scalar,
    momentum: Scalar,
    epsilon: Scalar,
    grad: Array,
    indices: Array,
    **_: Any,
) -> tuple[Any, ...]:
    def step(p: Array, means: Array, squares: Array, moved: Array, g: Array) -> tuple[Any, ...]:
        squares, means = rho * squares + (1 - rho) * g * g, rho * means + (1 - rho) * g
        moved = momentum * moved + lr * g / array_module(g).sqrt(squares - means * means + epsilon)
        return p - moved, means, squares, moved

    return _step_rows("SparseApplyCenteredRMSProp", (var, mg, ms, mom), grad, indices, step, sums=False)


@_update(prim("SparseApplyMomentum", use_locking=False, use_nesterov=False), 0, 1, only_parameter=True)
@_documented(
    "One step of momentum (Polyak 1964) of the rows that have a gradient: v = momentum * v + g; p - lr * v.",
    """        accum: v, of the shape of ``var``; updated.
        lr: the learning rate, a number or a tensor of one.
        momentum: the decay of v, likewise.
        use_nesterov: whether to take Nesterov's form, p - lr * (g + momentum * v).""",
    "``var``, which has its new value.",
)
def _sparse_momentum(
    var: Array, accum: Array, lr: Scalar, grad: Array, indices: Array, momentum: Scalar, use_nesterov: bool, **_: Any
) -> tuple[Any, ...]:
    check_bool(use_nesterov, "SparseApplyMomentum", "use_nesterov")

    def step(p: Array, v: Array, g: Array) -> tuple[Any, ...]:
        return rules.momentum(p, v, g, lr, momentum, use_nesterov)

    return _step_rows("SparseApplyMomentum", (var, accum), grad, indices, step, sums=False)


@_update(prim("SparseApplyProximalGradientDescent", use_locking=False), 0)
@_documented(
    "One step down the gradient, then toward 0 by l1 and l2 (Duchi and Singer 2009), of the rows that have a gradient.",
    """        alpha: the learning rate, a number or a tensor of one.
        l1: the L1 regularization, likewise.
        l2: the L2 regularization, likewise.""",
    "``var``, which has its new value.",
)
def _sparse_proximal_descent(
    var: Array, alpha: Scalar, l1: Scalar, l2: Scalar, grad: Array, indices: Array, **_: Any
) -> tuple[Any, ...]:
    def step(p: Array, g: Array) -> tuple[Any, ...]:
        return (rules.proximal_descent(p, g, alpha, l1, l2),)

    return _step_rows("SparseApplyProximalGradientDescent", (var,), grad, indices, step, sums=False)


@_update(prim("SparseApplyRMSProp", "rho", "momentum", "epsilon", use_locking=False), 0, 1, 2)
@_documented(
    "One step of RMSProp (Tieleman and Hinton 2012) of the rows that have a gradient.",
    """        ms: the running mean of the squares of gradients, of the shape of ``var``; updated.
        mom: the running sum of steps, likewise; updated.
        lr: the learning rate, a number or a tensor of one.
        rho: the decay of ``ms``, a float.
        momentum: the decay of ``mom``, a float.
        epsilon: the number added under the root, a float above 0.""",
    "a tuple of ``var``, ``ms``, ``mom``, which have their new values.",
)
def _sparse_rmsprop(
    var: Array,
    ms: Array,
    mom: Array,
    lr: Scalar,
    grad: Array,
    indices: Array,
    rho: float,
    momentum: float,
    epsilon: float,
    **_: Any,
) -> tuple[Any, ...]:
    _numbers("SparseApplyRMSProp", above=("epsilon",), rho=rho, momentum=momentum, epsilon=epsilon)

    def step(p: Array, squares: Array, moved: Array, g: Array) -> tuple[Any, ...]:
        squares = rho * squares + (1 - rho) * g * g
        moved = momentum * moved + lr * g / array_module(g).sqrt(squares + epsilon)
        return p - moved, squares, moved

    return _step_rows("SparseApplyRMSProp", (var, ms, mom), grad, indices, step, sums=False)
