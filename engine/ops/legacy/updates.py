"""Primitive classes that are an optimizer's update of one parameter: ``Adam``, ``ApplyFtrl``, ``SGD``, ...

Each gives an update rule of ``cpu.optim.updates`` MindSpore's order of inputs: the parameter and its state come first
and are set to their new values; the rest are numbers and the gradient. The operator ``adam`` is the optimizers' step.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...base.surfaces import PrimitiveRow, declare, prim
from ...base.types import Array
from ...cpu.array_module import array_module
from ...cpu.optim import adam as adam_kernels
from ...cpu.optim import updates as rules
from ...tape.tape import no_recording
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor

__all__: list[str] = []

Formula = Callable[..., tuple[Any, ...]]
Scalar: TypeAlias = "Array | float"
_ARGUMENTS = {
    "p": "the Parameter (or Tensor) that is updated.",
    "m": "the running mean of the gradients, of the shape of ``p``; updated.",
    "v": "the running mean of their squares, likewise; updated.",
    "power1": "``beta1`` to the power of the step's number.",
    "power2": "``beta2`` to the power of the step's number.",
    "lr": "the learning rate.",
    "beta1": "the decay of ``m``.",
    "beta2": "the decay of ``v``.",
    "eps": "a number added to the divisor.",
    "g": "the gradient, of the shape of ``p``.",
    "use_nesterov": "whether to take Nesterov's form, which looks one step ahead.",
    "use_locking": "accepted for MindSpore; one thread updates.",
    "largest": "the largest ``v`` so far, of the shape of ``p``; updated.",
    "epsilon": "a number added to the divisor.",
    "squares": "the sum of the squared gradients so far, of the shape of ``p``; updated.",
    "update_slots": "whether ``squares`` is updated; otherwise it is used as it is.",
    "alpha": "the learning rate.",
    "sign_decay": "the factor of the product of signs.",
    "beta": "the decay of ``m``.",
    "l1": "the L1 regularization, from 0 on.",
    "l2": "the L2 regularization, from 0 on.",
    "delta": "the gradient, of the shape of ``p``.",
    "moved": "the momentum sum of the steps, of the shape of ``p``; updated.",
    "momentum": "the factor of the momentum.",
    "accum": "the momentum sum, of the shape of ``p``; updated.",
}
"""Texts on arguments that several formulas have."""

adam = Operator("adam", adam_kernels.adam)
"""A step of Adam on arrays, for the optimizers; by its Triton kernel if possible."""


def _update(
    settings: PrimitiveRow, *targets: int, only_parameter: bool = False
) -> Callable[[Formula], Callable[..., Any]]:
    """Return a decorator that declares the Primitive of a formula.

    Args:
        settings: the row of the class.
        *targets: the positions of the inputs that are set to new values; the formula returns these in the same order.
        only_parameter: whether to return the parameter alone, not all inputs with new values.
    """
    name = settings.name

    def declared(formula: Formula) -> Callable[..., Any]:
        formula.__doc__ = _documented(formula, settings, targets, only_parameter or len(targets) == 1)

        @declare(primitive=settings)
        @functools.wraps(formula)
        def run(*inputs: Any, **attrs: Any) -> Any:
            for index in targets:
                if index >= len(inputs) or not isinstance(inputs[index], Tensor):
                    kind = type(inputs[index]).__name__ if index < len(inputs) else "nothing"
                    raise TypeError(f"For '{name}', input {index} must be a Parameter or a Tensor, but got {kind}")
            states = tuple(inputs[index] for index in targets)
            arrays = [x._array if isinstance(x, Tensor) else x for x in inputs]
            with no_recording():
                new = [
                    array_module(target._array).asarray(array, dtype=target._array.dtype)
                    for target, array in zip(states, formula(*arrays, **attrs), strict=True)
                ]
                for index, target, array in zip(targets, states, new, strict=True):
                    if array.size != target.size:
                        raise ValueError(
                            f"For '{name}', input {index} has the shape {target.shape}, but with the other inputs "
                            f"its new value would have {array.shape}"
                        )
                for target, array in zip(states, new, strict=True):
                    target._rebind(array.reshape(target.shape))
            values = tuple(Tensor._wrap(target._array) for target in states)
            return values[0] if only_parameter or len(states) == 1 else values

        run.__signature__ = _as_called(formula, only_parameter or len(targets) == 1)  # type: ignore[attr-defined]
        return run

    return declared


def _documented(formula: Formula, settings: PrimitiveRow, targets: Sequence[int], bare: bool) -> str:
    """Return a formula's docstring, completed by the shared texts on arguments; a whole one is returned as it is."""
    sentence, _, entries = inspect.cleandoc(formula.__doc__ or "").partition("\n\nArgs:\n")
    if "\n\nReturns:" in entries:
        return formula.__doc__ or ""
    texts = _ARGUMENTS | dict(re.findall(r"^    (\w+): (.*)$", entries, re.MULTILINE))
    inputs = [name for name in inspect.signature(formula).parameters if name != "_"]
    arguments = dict.fromkeys([*inputs, *(name for name, _ in settings.parameters)])
    states = [f"``{inputs[index]}``" for index in targets]
    returns = (
        f"{states[0]}, which has its new value"
        if bare
        else f"A tuple of {', '.join(states)}, which have their new values"
    )
    lines = [
        *(sentence, "", "Args:", *(f"    {name}: {texts[name]}" for name in arguments), ""),
        *("Returns:", f"    {returns}.", ""),
        *("Raises:", f"    TypeError: {' or '.join(states)} is neither a Parameter nor a Tensor."),
        "    ValueError: one of these would have a different number of elements afterwards.",
    ]
    return "\n".join(lines)


def _as_called(formula: Formula, bare: bool) -> inspect.Signature:
    """Return the signature of a formula for callers of its class, with tensors instead of arrays."""
    signature = inspect.signature(formula)
    parameters = [
        parameter.replace(
            annotation=str(parameter.annotation).replace("Scalar", str(Scalar)).replace("Array", "Tensor")
        )
        for parameter in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters, return_annotation="Tensor" if bare else "tuple[Tensor, ...]")


@_update(prim("Adam", use_locking=False, use_nesterov=False), 0, 1, 2)
def _adam(
    p: Array,
    m: Array,
    v: Array,
    power1: Scalar,
    power2: Scalar,
    lr: Scalar,
    beta1: Any,
    beta2: Any,
    eps: Any,
    g: Array,
    use_nesterov: bool,
    **_: Any,
) -> tuple[Any, ...]:
    """Take one step of Adam (Kingma and Ba 2015): p - lr * sqrt(1 - power2) / (1 - power1) * m / (sqrt(v) + eps)."""
    return adam_kernels.adam(p, m, v, g, rules.corrected_rate(lr, power1, power2), beta1, beta2, eps, use_nesterov)


@_update(prim("AdamWeightDecay", use_locking=False), 0, 1, 2)
def _adam_weight_decay(
    p: Array,
    m: Array,
    v: Array,
    lr: Scalar,
    beta1: Scalar,
    beta2: Scalar,
    eps: Scalar,
    decay: Scalar,
    g: Array,
    **_: Any,
) -> tuple[Any, ...]:
    """Take one step of Adam as in BERT, without correction: p - lr * (m / (sqrt(v) + eps) + decay * p).

    Args:
        decay: the weight decay.
    """
    return rules.adam_weight_decay(p, m, v, g, lr, beta1, beta2, eps, decay)


@_update(prim("ApplyAdaMax"), 0, 1, 2)
def _ada_max(
    p: Array, m: Array, v: Array, power1: Scalar, lr: Scalar, beta1: Scalar, beta2: Scalar, eps: Scalar, g: Array
) -> tuple[Any, ...]:
    """Take one step of AdaMax (Kingma and Ba 2015): p - lr / (1 - power1) * m / (v + eps).

    Args:
        v: the largest gradient so far, which decays, of the shape of ``p``; updated.
    """
    return rules.adamax(p, m, v, g, lr, power1, beta1, beta2, eps)


@_update(prim("ApplyAdamWithAmsgrad", beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False), 0, 1, 2, 3)
def _amsgrad(
    p: Array,
    m: Array,
    v: Array,
    largest: Array,
    power1: Scalar,
    power2: Scalar,
    lr: Scalar,
    g: Array,
    beta1: float,
    beta2: float,
    epsilon: float,
    **_: Any,
) -> tuple[Any, ...]:
    """Take one step of AMSGrad (Reddi et al. 2018): Adam that divides by the largest ``v`` so far."""
    return rules.amsgrad(p, m, v, largest, g, rules.corrected_rate(lr, power1, power2), beta1, beta2, epsilon)


@_update(prim("ApplyAdamWithAmsgradV2", use_locking=False), 0, 1, 2, 3)
def _amsgrad_v2(
    p: Array,
    m: Array,
    v: Array,
    largest: Array,
    power1: Scalar,
    power2: Scalar,
    lr: Scalar,
    beta1: Scalar,
    beta2: Scalar,
    eps: Scalar,
    g: Array,
    **_: Any,
) -> tuple[Any, ...]:
    """Take one step of AMSGrad (Reddi et al. 2018): Adam that divides by the largest ``v`` so far."""
    return rules.amsgrad(p, m, v, largest, g, rules.corrected_rate(lr, power1, power2), beta1, beta2, eps)


@_update(prim("ApplyAdadelta"), 0, 1, 2)
def _adadelta(
    p: Array, squares: Array, steps: Array, lr: Scalar, rho: Scalar, eps: Scalar, g: Array
) -> tuple[Any, ...]:
    """Take one step of Adadelta (Zeiler 2012): p - lr * sqrt(steps + eps) / sqrt(squares + eps) * g.

    Args:
        squares: the running mean of the squared gradients, of the shape of ``p``; updated.
        steps: the running mean of the squared steps, of the shape of ``p``; updated.
        rho: the decay of both means.
        eps: a number added under both roots.
    """
    return rules.adadelta(p, squares, steps, g, lr, rho, eps)


@_update(prim("ApplyAdagrad", update_slots=True), 0, 1)
def _adagrad(p: Array, squares: Array, lr: Scalar, g: Array, update_slots: bool) -> tuple[Any, ...]:
    """Take one step of Adagrad (Duchi et al. 2011): p - lr * g / sqrt(squares)."""
    return rules.adagrad(p, squares, g, lr, 0.0, update_slots)


@_update(prim("ApplyAdagradV2", epsilon=1e-6, update_slots=True), 0, 1)
def _adagrad_v2(p: Array, squares: Array, lr: Scalar, g: Array, epsilon: float, update_slots: bool) -> tuple[Any, ...]:
    """Take one step of Adagrad (Duchi et al. 2011): p - lr * g / (sqrt(squares) + epsilon)."""
    return rules.adagrad(p, squares, g, lr, epsilon, update_slots)


@_update(prim("ApplyAddSign"), 0, 1)
def _add_sign(
    p: Array, m: Array, lr: Scalar, alpha: Scalar, sign_decay: Scalar, beta: Scalar, g: Array
) -> tuple[Any, ...]:
    """Take one step of AddSign (Bello et al. 2017): p - lr * (alpha + sign_decay * sign(g) * sign(m)) * g.

    Args:
        alpha: the factor of the gradient itself.
    """
    return rules.add_sign(p, m, g, lr, alpha, sign_decay, beta)


@_update(prim("ApplyPowerSign"), 0, 1)
def _power_sign(
    p: Array, m: Array, lr: Scalar, base: Scalar, sign_decay: Scalar, beta: Scalar, g: Array
) -> tuple[Any, ...]:
    """Take one step of PowerSign (Bello et al. 2017): p - lr * exp(base * sign_decay * sign(g) * sign(m)) * g.

    Args:
        base: the base factor in the exponent.
    """
    return rules.power_sign(p, m, g, lr, base, sign_decay, beta)


@_update(prim("ApplyFtrl", use_locking=False), 0, 1, 2, only_parameter=True)
def _ftrl(
    p: Array, squares: Array, linear: Array, g: Array, lr: Scalar, l1: Scalar, l2: Scalar, power: Scalar, **_: Any
) -> tuple[Any, ...]:
    """Take one step of FTRL, follow the regularized leader (McMahan et al. 2013).

    Args:
        linear: the linear term, of the shape of ``p``; updated.
        power: how the rate shrinks with ``squares``: -0.5 in the paper, from 0 down.
    """
    return rules.ftrl(p, squares, linear, g, lr, l1, l2, power)


@_update(prim("ApplyGradientDescent"), 0)
def _descent(p: Array, alpha: Scalar, delta: Array) -> tuple[Any, ...]:
    """Take one step of gradient descent: p - alpha * delta."""
    return (rules.descent(p, delta, alpha),)


@_update(prim("ApplyProximalGradientDescent"), 0)
def _proximal(p: Array, alpha: Scalar, l1: Scalar, l2: Scalar, delta: Array) -> tuple[Any, ...]:
    """Take one step of gradient descent, whose result is shrunk by ``l1`` and ``l2`` (Duchi and Singer 2009)."""
    return (rules.proximal_descent(p, delta, alpha, l1, l2),)


@_update(prim("ApplyProximalAdagrad", use_locking=False), 0, 1)
def _proximal_adagrad(
    p: Array, squares: Array, lr: Scalar, l1: Scalar, l2: Scalar, g: Array, **_: Any
) -> tuple[Any, ...]:
    """Take one step of Adagrad, whose result is shrunk by ``l1`` and ``l2`` (Duchi and Singer 2009)."""
    return rules.proximal_adagrad(p, squares, g, lr, l1, l2)


@_update(prim("ApplyCenteredRMSProp", use_locking=False), 0, 1, 2, 3, only_parameter=True)
def _centered_rms(
    p: Array,
    mean: Array,
    squares: Array,
    moved: Array,
    g: Array,
    lr: Scalar,
    decay: Scalar,
    momentum: Scalar,
    eps: Scalar,
    **_: Any,
) -> tuple[Any, ...]:
    """Take one step of RMSProp by the variance of the gradient (Graves 2013).

    ``moved`` becomes momentum * moved + lr * g / sqrt(squares - mean * mean + eps), and is subtracted from ``p``.

    Args:
        mean: the running mean of the gradients, of the shape of ``p``; updated.
        squares: the running mean of the squared gradients, of the shape of ``p``; updated.
        decay: the decay of both means.
        eps: a number added under the root.
    """
    return rules.rmsprop(p, mean, squares, moved, g, lr, decay, momentum, eps)


@_update(prim("ApplyRMSProp", use_locking=False), 0, 1, 2, only_parameter=True)
def _rms(
    p: Array, squares: Array, moved: Array, lr: Scalar, g: Array, decay: Scalar, momentum: Scalar, eps: Scalar, **_: Any
) -> tuple[Any, ...]:
    """Take one step of RMSProp (Hinton 2012): moved = momentum * moved + lr * g / sqrt(squares + eps); p - moved.

    Args:
        squares: the running mean of the squared gradients, of the shape of ``p``; updated.
        decay: the decay of ``squares``.
        eps: a number added under the root.
    """
    p, _none, squares, moved = rules.rmsprop(p, None, squares, moved, g, lr, decay, momentum, eps)
    return p, squares, moved


@_update(prim("ApplyKerasMomentum", use_locking=False, use_nesterov=False), 0, 1)
def _keras_momentum(
    p: Array, accum: Array, lr: Scalar, g: Array, momentum: Scalar, use_nesterov: bool, **_: Any
) -> tuple[Any, ...]:
    """Take one step of descent with Keras's momentum: accum = momentum * accum - lr * g; p + accum."""
    return rules.keras_momentum(p, accum, g, lr, momentum, use_nesterov)


@_update(prim("ApplyMomentum", use_nesterov=False, use_locking=False, gradient_scale=1.0), 0, 1, only_parameter=True)
def _momentum(
    p: Array, accum: Array, lr: Scalar, g: Array, momentum: Scalar, use_nesterov: bool, gradient_scale: float, **_: Any
) -> tuple[Any, ...]:
    """Take one step of descent with momentum (Polyak 1964): accum = momentum * accum + g; p - lr * accum.

    Args:
        gradient_scale: the factor of the gradient.
    """
    return rules.momentum(p, accum, g * gradient_scale, lr, momentum, use_nesterov)


@_update(prim("SGD", dampening=0.0, weight_decay=0.0, nesterov=False), 0, 3, 5, only_parameter=True)
def _sgd(
    p: Array,
    g: Array,
    lr: Scalar,
    accum: Array,
    momentum: Scalar,
    first: Array,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
) -> tuple[Any, ...]:
    """Take one step of SGD: accum = momentum * accum + (1 - dampening) * g, in the first step g; p - lr * accum.

    Args:
        first: 1 before the first step, 0 after it, of the shape of ``p``; updated.
        dampening: how much of the gradient is left out of ``accum``.
        weight_decay: the L2 penalty: this much of ``p`` is added to the gradient.
        nesterov: whether to take Nesterov's form, which looks one step ahead.
    """
    xp = array_module(p)
    if weight_decay:
        g = g + weight_decay * p
    if (xp.asarray(momentum) <= 0).all():
        return rules.descent(p, g, lr), accum, first
    return *rules.sgd(p, accum, g, lr, momentum, dampening, nesterov, first > 0), xp.zeros_like(first)
