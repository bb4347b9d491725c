"""Optimizers and update Primitives against their published formulas, written anew in NumPy's float64.

Each case is a function of the gradients that walks all steps with plain arithmetic, with all options; the parameters
(and for Primitives the state) are compared element by element after every step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, mint, nn, ops
from hookscope.engine.base import surfaces
from hookscope.engine.cpu.optim import updates as rules
from hookscope.engine.experimental import optim

Array = np.ndarray[Any, Any]
R = np.random.default_rng(20)
START = R.standard_normal((3, 4))
GRADIENTS = R.standard_normal((7, 3, 4))
GRADIENTS[2] *= 3.0  # so that the largest second moment is not the last
GRADIENTS[4, 0] = 0.0
RATE = 0.0625  # exact in float32, in which an optimizer keeps it
DECAY, SCALE = 0.125, 8.0

Steps = Iterator[Array]
Walk = Callable[..., Steps]


def sgd(grads: Array, mu: float = 0, damp: float = 0, nesterov: bool = False, decay: float = 0) -> Steps:
    p, v = START, None
    for g in grads:
        g = g + decay * p
        if mu:
            v = g if v is None else mu * v + (1 - damp) * g
            g = g + mu * v if nesterov else v
        p = p - RATE * g
        yield p


def momentum(grads: Array, mu: float, nesterov: bool = False, decay: float = 0) -> Steps:
    p, v = START, np.zeros_like(START)
    for g in grads:
        g = g + decay * p
        v = mu * v + g
        p = p - RATE * (g + mu * v if nesterov else v)
        yield p


def adam(
    grads: Array,
    b1: float = 0.75,
    b2: float = 0.875,
    eps: float = 1e-3,
    decay: float = 0,
    apart: float = 0,
    amsgrad: bool = False,
    nesterov: bool = False,
    eps_inside_correction: bool = False,
) -> Steps:
    """Yield Adam's steps; ``eps_inside_correction`` adds eps to the corrected sqrt(v_hat), as in the paper."""
    p, m, v, most = START, 0.0 * START, 0.0 * START, 0.0 * START
    for t, g in enumerate(grads, 1):
        g = g + decay * p
        p = p - RATE * apart * p
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g**2
        most = np.maximum(most, v)
        under = most if amsgrad else v
        over = b1 * m + (1 - b1) * g if nesterov else m
        if eps_inside_correction:
            p = p - RATE * (over / (1 - b1**t)) / (np.sqrt(under / (1 - b2**t)) + eps)
        else:
            p = p - RATE * math.sqrt(1 - b2**t) / (1 - b1**t) * over / (np.sqrt(under) + eps)
        yield p


def adam_weight_decay(grads: Array, decay: float = 0, b1: float = 0.75, b2: float = 0.875, eps: float = 1e-3) -> Steps:
    p, m, v = START, 0.0 * START, 0.0 * START
    for g in grads:
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        p = p - RATE * (m / (np.sqrt(v) + eps) + decay * p)
        yield p


def lamb(grads: Array, decay: float = 0, b1: float = 0.75, b2: float = 0.875, eps: float = 1e-3) -> Steps:
    p, m, v = START, 0.0 * START, 0.0 * START
    for t, g in enumerate(grads, 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        r = m / (1 - b1**t) / (np.sqrt(v / (1 - b2**t)) + eps) + decay * p
        p = p - RATE * np.linalg.norm(p) / np.linalg.norm(r) * r
        yield p


def adamax(grads: Array, decay: float = 0, inside: bool = False, b1: float = 0.75, b2: float = 0.875) -> Steps:
    p, m, u, eps = START, 0.0 * START, 0.0 * START, 1e-3
    for t, g in enumerate(grads, 1):
        g = g + decay * p
        m, u = b1 * m + (1 - b1) * g, np.maximum(b2 * u, abs(g) + (eps if inside else 0))
        p = p - RATE / (1 - b1**t) * m / (u + (0 if inside else eps))
        yield p


def nadam(grads: Array, decay: float = 0, psi: float = 0.01, b1: float = 0.75, b2: float = 0.875) -> Steps:
    p, m, v, product = START, 0.0 * START, 0.0 * START, 1.0
    for t, g in enumerate(grads, 1):
        g = g + decay * p
        mu, ahead = b1 * (1 - 0.5 * 0.96 ** (t * psi)), b1 * (1 - 0.5 * 0.96 ** ((t + 1) * psi))
        product *= mu
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        m_hat = ahead * m / (1 - product * ahead) + (1 - mu) * g / (1 - product)
        p = p - RATE * m_hat / (np.sqrt(v / (1 - b2**t)) + 1e-3)
        yield p


def radam(grads: Array, decay: float = 0, b1: float = 0.75, b2: float = 0.875) -> Steps:
    p, m, v = START, 0.0 * START, 0.0 * START
    infinite = 2 / (1 - b2) - 1
    for t, g in enumerate(grads, 1):
        g = g + decay * p
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        rho = infinite - 2 * t * b2**t / (1 - b2**t)
        by = m / (1 - b1**t)
        if rho > 5:
            r = math.sqrt((rho - 4) * (rho - 2) * infinite / ((infinite - 4) * (infinite - 2) * rho))
            by = by * r * math.sqrt(1 - b2**t) / (np.sqrt(v) + 1e-3)
        p = p - RATE * by
        yield p


def adagrad(
    grads: Array, first: float = 0.5, decay: float = 0, lr_decay: float = 0, eps: float = 0, update: bool = True
) -> Steps:
    p, a = START, np.full_like(START, first)
    for t, g in enumerate(grads):
        g = g + decay * p
        a = a + g**2 if update else a
        p = p - RATE / (1 + t * lr_decay) * g / (np.sqrt(a) + eps)
        yield p


def adadelta(grads: Array, decay: float = 0, rho: float = 0.75, eps: float = 1e-3) -> Steps:
    p, a, d = START, 0.0 * START, 0.0 * START
    for g in grads:
        g = g + decay * p
        a = rho * a + (1 - rho) * g**2
        by = np.sqrt(d + eps) / np.sqrt(a + eps) * g
        d = rho * d + (1 - rho) * by**2
        p = p - RATE * by
        yield p


def rmsprop(grads: Array, mu: float = 0, centered: bool = False, decay: float = 0, rho: float = 0.75) -> Steps:
    """Yield MindSpore's steps: eps and the root over all, the rate in the momentum, v from 1."""
    p, v, mean, u = START, np.ones_like(START), 0.0 * START, 0.0 * START
    for g in grads:
        g = g + decay * p
        v, mean = rho * v + (1 - rho) * g**2, rho * mean + (1 - rho) * g
        u = mu * u + RATE * g / np.sqrt(v - (mean**2 if centered else 0) + 1e-3)
        p = p - u
        yield p


def rmsprop_pytorch(grads: Array, mu: float = 0, centered: bool = False, decay: float = 0, rho: float = 0.75) -> Steps:
    p, v, mean, u = START, 0.0 * START, 0.0 * START, 0.0 * START
    for g in grads:
        g = g + decay * p
        v, mean = rho * v + (1 - rho) * g**2, rho * mean + (1 - rho) * g
        u = mu * u + g / (np.sqrt(v - (mean**2 if centered else 0)) + 1e-3)
        p = p - RATE * u
        yield p


def ftrl(grads: Array, l1: float = 0, l2: float = 0, power: float = -0.5, decay: float = 0) -> Steps:
    p, n, z = START, np.full_like(START, 0.5), 0.0 * START
    for g in grads:
        g = g + decay * p
        new = n + g**2
        z = z + g - (new**-power - n**-power) / RATE * p
        n = new
        p = np.where(abs(z) <= l1, 0, -(z - np.sign(z) * l1) / (n**-power / RATE + 2 * l2))
        yield p


def shrunk(p: Array, rate: Any, l1: float, l2: float) -> Array:
    return np.sign(p) * np.maximum(abs(p) - rate * l1, 0) / (1 + rate * l2)


def proximal_adagrad(grads: Array, l1: float = 0, l2: float = 0, decay: float = 0) -> Steps:
    p, a = START, np.full_like(START, 0.5)
    for g in grads:
        g = g + decay * p
        a = a + g**2
        p = shrunk(p - RATE * g / np.sqrt(a), RATE / np.sqrt(a), l1, l2)
        yield p


def asgd(grads: Array, lambd: float, alpha: float, decay: float = 0) -> Steps:
    p, eta = START, RATE
    for t, g in enumerate(grads, 1):
        g = g + decay * p
        p = p - eta * lambd * p - eta * g
        eta = RATE / (1 + lambd * RATE * t) ** alpha
        yield p


def rprop(grads: Array, etas: tuple[float, float], limits: tuple[float, float], decay: float = 0) -> Steps:
    p, before, size = START.copy(), 0.0 * START, np.full_like(START, RATE)
    for g in grads:
        g = g + decay * p
        for at in np.ndindex(*p.shape):
            sign = g[at] * before[at]
            if sign > 0:
                size[at] = size[at] * etas[1]
            elif sign < 0:
                size[at] = size[at] * etas[0]
                g[at] = 0.0
            size[at] = min(max(size[at], limits[0]), limits[1])
            p[at] -= np.sign(g[at]) * size[at]
            before[at] = g[at]
        yield p.copy()


def lars(grads: Array, decay: float, clip: bool, coefficient: float) -> Steps:
    p, v = START, 0.0 * START
    for g in grads:
        lengths = np.linalg.norm(p), np.linalg.norm(g)
        factor = coefficient * lengths[0] / (lengths[1] + decay * lengths[0] + 1e-3)
        v = 0.5 * v + (g + decay * p) * (min(factor / RATE, 1) if clip else factor)
        p = p - RATE * v
        yield p


def adafactor(
    grads: Array,
    relative: bool,
    warmup: bool = False,
    scale: bool = True,
    b1: float = 0.5,
    decay: float = 0,
    power: float = 0.8,
    eps: tuple[float, float] = (1e-30, 1e-3),
    start: Array = START,
) -> Steps:
    p, rows, columns, m = start, np.zeros(start.shape[:-1]), np.zeros((*start.shape[:-2], start.shape[-1])), 0.0 * start
    for t, g in enumerate(grads, 1):
        rate = min(1e-6 * t if warmup else 1e-2, 1 / math.sqrt(t)) if relative else RATE
        if scale:
            rate *= max(eps[1], math.sqrt(np.mean(p**2)))
        beta = 1 - t**-power
        squares = g**2 + eps[0]
        rows, columns = beta * rows + (1 - beta) * squares.mean(-1), beta * columns + (1 - beta) * squares.mean(-2)
        u = g / np.sqrt(rows[..., None] * columns[..., None, :] / rows.mean(-1)[..., None, None])
        u = rate * u / max(1, math.sqrt(np.mean(u**2)) / 0.75)
        if b1:
            u = m = b1 * m + (1 - b1) * u
        p = p - u - decay * rate * p
        yield p


B = {"beta1": 0.75, "beta2": 0.875, "eps": 1e-3}
D = {"weight_decay": DECAY, "loss_scale": SCALE}
LR = {"learning_rate": RATE}
# Class, its arguments, the formula and its numbers.
NN: list[tuple[str, dict[str, Any], Walk, dict[str, Any]]] = [
    ("SGD", {}, sgd, {}),
    ("SGD", {"momentum": 0.5}, sgd, {"mu": 0.5}),
    ("SGD", {"momentum": 0.5, "dampening": 0.25, **D}, sgd, {"mu": 0.5, "damp": 0.25, "decay": DECAY}),
    ("SGD", {"momentum": 0.5, "nesterov": True, **D}, sgd, {"mu": 0.5, "nesterov": True, "decay": DECAY}),
    ("Momentum", {"momentum": 0.5}, momentum, {"mu": 0.5}),
    ("Momentum", {"momentum": 0.5, **D}, momentum, {"mu": 0.5, "decay": DECAY}),
    ("Momentum", {"momentum": 0.5, "use_nesterov": True, **D}, momentum, {"mu": 0.5, "nesterov": True, "decay": DECAY}),
    *((name, {**B}, adam, {}) for name in ("Adam", "AdamOffload", "LazyAdam")),
    *((name, {**B, **D}, adam, {"decay": DECAY}) for name in ("Adam", "AdamOffload", "LazyAdam")),
    *(
        (name, {**B, "use_nesterov": True, **D}, adam, {"nesterov": True, "decay": DECAY})
        for name in ("Adam", "AdamOffload", "LazyAdam")
    ),
    ("Adam", {**B, "use_amsgrad": True, **D}, adam, {"amsgrad": True, "decay": DECAY}),
    ("Adam", {**B, "use_amsgrad": True, "use_nesterov": True}, adam, {"amsgrad": True, "nesterov": True}),
    ("AdaMax", {**B}, adamax, {}),
    ("AdaMax", {**B, **D}, adamax, {"decay": DECAY}),
    ("AdamWeightDecay", {**B}, adam_weight_decay, {}),
    ("AdamWeightDecay", {**B, "weight_decay": DECAY}, adam_weight_decay, {"decay": DECAY}),
    ("Lamb", {**B}, lamb, {}),
    ("Lamb", {**B, "weight_decay": DECAY}, lamb, {"decay": DECAY}),
    ("Adagrad", {"accum": 0.5}, adagrad, {}),
    ("Adagrad", {"accum": 0.5, **D}, adagrad, {"decay": DECAY}),
    ("Adagrad", {"accum": 0.5, "update_slots": False}, adagrad, {"update": False}),
    ("Adadelta", {"rho": 0.75, "epsilon": 1e-3}, adadelta, {}),
    ("Adadelta", {"rho": 0.75, "epsilon": 1e-3, **D}, adadelta, {"decay": DECAY}),
    *(
        (
            "RMSProp",
            {"decay": 0.75, "epsilon": 1e-3, "momentum": mu, "centered": centered, **more},
            rmsprop,
            {"mu": mu, "centered": centered, "decay": DECAY if more else 0},
        )
        for mu, centered, more in ((0.0, False, {}), (0.5, False, D), (0.0, True, {}), (0.5, True, D))
    ),
    *(
        (
            "FTRL",
            {"initial_accum": 0.5, "l1": l1, "l2": l2, "lr_power": power, **more},
            ftrl,
            {"l1": l1, "l2": l2, "power": power, "decay": DECAY if more else 0},
        )
        for l1, l2, power, more in ((0.0, 0.0, -0.5, {}), (0.5, 0.25, -0.5, D), (0.5, 0.25, -0.75, {}))
    ),
    *(
        (
            "ProximalAdagrad",
            {"accum": 0.5, "l1": l1, "l2": l2, **more},
            proximal_adagrad,
            {"l1": l1, "l2": l2, "decay": DECAY if more else 0},
        )
        for l1, l2, more in ((0.0, 0.0, {}), (0.5, 0.25, D), (0.0, 0.25, {}), (0.5, 0.0, {}))
    ),
    ("ASGD", {"lambd": 0.25, "alpha": 0.5, "t0": 3.0}, asgd, {"lambd": 0.25, "alpha": 0.5}),
    ("ASGD", {"lambd": 0.25, "alpha": 0.5, "weight_decay": DECAY}, asgd, {"lambd": 0.25, "alpha": 0.5, "decay": DECAY}),
    *(
        (
            "Rprop",
            {"etas": (0.25, 1.5), "step_sizes": (0.03, 0.09), "weight_decay": decay},
            rprop,
            {"etas": (0.25, 1.5), "limits": (0.03, 0.09), "decay": decay},
        )
        for decay in (0.0, DECAY)
    ),
    ("AdaFactor", {"learning_rate": None, "beta1": 0.5, "clip_threshold": 0.75}, adafactor, {"relative": True}),
    (
        "AdaFactor",
        {"learning_rate": None, "beta1": 0.5, "clip_threshold": 0.75, "warmup_init": True, "loss_scale": SCALE},
        adafactor,
        {"relative": True, "warmup": True},
    ),
    (
        "AdaFactor",
        {
            "relative_step": False,
            "scale_parameter": False,
            "beta1": 0.0,
            "clip_threshold": 0.75,
            "weight_decay": DECAY,
            "loss_scale": SCALE,
        },
        adafactor,
        {"relative": False, "scale": False, "b1": 0.0, "decay": DECAY},
    ),
    (
        "AdaFactor",
        {
            "relative_step": False,
            "beta1": 0.5,
            "clip_threshold": 0.75,
            "decay_rate": 1.0,
            "eps": (0.5, 4.0),
            "loss_scale": SCALE,
        },
        adafactor,
        {"relative": False, "power": 1.0, "eps": (0.5, 4.0)},
    ),
]
B2 = {"betas": (0.75, 0.875), "eps": 1e-3}
W = {"weight_decay": DECAY}
EXPERIMENTAL: list[tuple[str, dict[str, Any], Walk, dict[str, Any]]] = [
    ("SGD", {}, sgd, {}),
    ("SGD", {"momentum": 0.5, "dampening": 0.25, **W}, sgd, {"mu": 0.5, "damp": 0.25, "decay": DECAY}),
    ("SGD", {"momentum": 0.5, "nesterov": True, **W}, sgd, {"mu": 0.5, "nesterov": True, "decay": DECAY}),
    *(("Adam", {**B2, **W, "amsgrad": most}, adam, {"decay": DECAY, "amsgrad": most}) for most in (False, True)),
    *(
        ("AdamW", {**B2, **W, "amsgrad": most}, adam, {"apart": DECAY, "amsgrad": most, "eps_inside_correction": True})
        for most in (False, True)
    ),
    ("Adamax", {**B2, **W}, adamax, {"decay": DECAY, "inside": True}),
    ("NAdam", {**B2, **W, "momentum_decay": 0.01}, nadam, {"decay": DECAY}),
    ("RAdam", {**B2, **W}, radam, {"decay": DECAY}),
    (
        "Adagrad",
        {"lr_decay": 0.25, "initial_accumulator_value": 0.5, "eps": 1e-3, **W},
        adagrad,
        {"decay": DECAY, "lr_decay": 0.25, "eps": 1e-3},
    ),
    ("Adadelta", {"rho": 0.75, "eps": 1e-3, **W}, adadelta, {"decay": DECAY}),
    *(
        (
            "RMSprop",
            {"alpha": 0.75, "eps": 1e-3, "momentum": mu, "centered": centered, **W},
            rmsprop_pytorch,
            {"mu": mu, "centered": centered, "decay": DECAY},
        )
        for mu in (0.0, 0.5)
        for centered in (False, True)
    ),
    ("Rprop", {"etas": (0.25, 1.5), "step_sizes": (0.03, 0.09)}, rprop, {"etas": (0.25, 1.5), "limits": (0.03, 0.09)}),
    ("ASGD", {"lambd": 0.25, "alpha": 0.5, "t0": 3.0, **W}, asgd, {"lambd": 0.25, "alpha": 0.5, "decay": DECAY}),
]
MINT = [
    *(row for row in EXPERIMENTAL if row[0] in ("SGD", "AdamW")),
    *(("FusedAdamW", *row[1:]) for row in EXPERIMENTAL if row[0] == "AdamW"),
    *(
        ("Adam", {**B2, **W, "amsgrad": most}, adam, {"decay": DECAY, "amsgrad": most, "eps_inside_correction": True})
        for most in (False, True)
    ),
]


def follow(make: Callable[[list[Parameter]], Any], walk: Steps, sign: float = 1.0, scale: float = 1.0) -> None:
    """Compare every step of an optimizer with that of the formula, in float64."""
    w = Parameter(Tensor(START), "w")
    optimizer = make([w])
    for gradient, want in zip(GRADIENTS, walk, strict=True):
        assert optimizer((Tensor(sign * scale * gradient),)) in ((True,), True)
        # Powers of the betas and some settings are kept as float32.
        np.testing.assert_allclose(w.asnumpy(), want, rtol=2e-6, atol=1e-9)
    assert not np.allclose(w.asnumpy(), START, rtol=1e-5), "nothing moved"


@pytest.mark.parametrize(("name", "how", "walk", "numbers"), NN)
def test_an_optimizer_of_nn_steps_by_its_formula(
    name: str, how: dict[str, Any], walk: Walk, numbers: dict[str, Any]
) -> None:
    # The loss scale is divided out of the gradient alone, and so stands at the gradient of the formula.
    follow(lambda p: getattr(nn, name)(p, **{**LR, **how}), walk(GRADIENTS, **numbers), scale=how.get("loss_scale", 1))


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize(
    ("room", "name", "how", "walk", "numbers"),
    [*((optim, *row) for row in EXPERIMENTAL), *((mint.optim, *row) for row in MINT)],
)
def test_an_optimizer_of_experimental_and_of_mint_steps_by_its_formula(
    room: Any, name: str, how: dict[str, Any], walk: Walk, numbers: dict[str, Any], maximize: bool
) -> None:
    if maximize and name in ("NAdam", "RAdam"):
        pytest.skip("has no 'maximize'")
    more = {"maximize": True} if maximize else {}
    # Upwards along a gradient is downwards along its negative.
    make = lambda p: getattr(room, name)(p, **{"lr": RATE, **how, **more})  # noqa: E731
    follow(make, walk(GRADIENTS, **numbers), -1.0 if maximize else 1.0)


def test_adafactor_keeps_the_means_of_the_last_two_axes_and_whole_squares_of_one() -> None:
    start, grads = R.standard_normal((2, 3, 4)), R.standard_normal((3, 2, 3, 4))
    cube, line = Parameter(Tensor(start), "cube"), Parameter(Tensor(START[0]), "line")
    optimizer = nn.AdaFactor([cube, line], beta1=0.5, clip_threshold=0.75)
    states = optimizer.exp_avg_sq_row, optimizer.exp_avg_sq_col, optimizer.exp_avg_sq
    assert [[item.shape for item in kept] for kept in states] == [[(2, 3), (1,)], [(2, 4), (1,)], [(1,), (4,)]]
    assert [item.name for kept in states for item in kept] == [
        f"exp_avg_sq{which}_{name}" for which in ("_row", "_col", "") for name in ("cube", "line")
    ]
    p, squares, m = START[0], np.zeros(4), np.zeros(4)
    for t, (g, want) in enumerate(zip(grads, adafactor(grads, True, start=start), strict=True), 1):
        optimizer((Tensor(g), Tensor(g[0, 0])))
        beta = 1 - t**-0.8
        squares = beta * squares + (1 - beta) * (g[0, 0] ** 2 + 1e-30)
        u = g[0, 0] / np.sqrt(squares)
        m = 0.5 * m + 0.5 * min(1e-2, 1 / math.sqrt(t)) * max(1e-3, math.sqrt(np.mean(p**2))) * u / max(
            1, math.sqrt(np.mean(u**2)) / 0.75
        )
        p = p - m
        np.testing.assert_allclose(cube.asnumpy(), want, rtol=2e-6, atol=1e-9)
        np.testing.assert_allclose(line.asnumpy(), p, rtol=2e-6, atol=1e-9)


@pytest.mark.parametrize("room", [nn, optim])
def test_the_average_of_asgd_begins_after_t0(room: Any) -> None:
    w = Parameter(Tensor(START), "w")
    keywords = {"learning_rate": RATE} if room is nn else {"lr": RATE}
    optimizer = room.ASGD([w], **keywords, lambd=0.25, alpha=0.5, t0=3.0)
    average, share = START, 1.0
    for t, (gradient, p) in enumerate(zip(GRADIENTS, asgd(GRADIENTS, 0.25, 0.5), strict=True), 1):
        optimizer((Tensor(gradient),))
        average = p if share == 1.0 else average + share * (p - average)
        share = 1 / max(1.0, t - 3.0)
        np.testing.assert_allclose(optimizer.ax[0].asnumpy(), average, rtol=2e-6, atol=1e-9)


def test_before_t0_the_average_of_asgd_is_the_parameter_itself_however_far_it_was() -> None:
    p, far = np.array([1.0, -3.0], np.float32), np.array([2.0**30, -(2.0**30)], np.float32)
    new, average, _, _ = rules.asgd(p, far, p, 0.5, 0.5, 1.0, 0.0, 0.75, 9.0, 1)
    assert new.tolist() == average.tolist() == [0.5, -1.5]


@pytest.mark.parametrize("shape", [(3, 3, 4), (2, 3, 4), (2, 2, 4, 3)])
def test_adafactor_factors_each_of_several_matrices_by_itself(shape: tuple[int, ...]) -> None:
    start, gradients = R.standard_normal(shape), R.standard_normal((4, *shape))
    w = Parameter(Tensor(start), "w")
    optimizer = nn.AdaFactor([w], learning_rate=None, beta1=0.5, clip_threshold=0.75)
    for gradient, want in zip(gradients, adafactor(gradients, True, start=start), strict=True):
        optimizer((Tensor(gradient),))
        np.testing.assert_allclose(w.asnumpy(), want, rtol=2e-6, atol=1e-9)


@pytest.mark.parametrize("coefficient", [0.5, 0.03])  # with clip the factor is 1, or the coefficient's
@pytest.mark.parametrize("clip", [False, True])
def test_lars_scales_the_gradient_of_the_optimizer_in_it(clip: bool, coefficient: float) -> None:
    def make(p: list[Parameter]) -> Any:
        inner = nn.Momentum(p, RATE, 0.5, weight_decay=DECAY)
        return nn.LARS(inner, epsilon=1e-3, coefficient=coefficient, use_clip=clip)

    follow(make, lars(GRADIENTS, DECAY, clip, coefficient))


def test_lars_without_a_rate_leaves_the_gradient_its_length() -> None:
    for limit, factor in ((0.0, 1.0), (1.0, 0.5 / 3), (None, 0.5 / 3)):  # 0.5 * 1 / (2 + 1 * 1 + 0)
        result = rules.lars(np.array([1.0, 0.0]), np.array([0.0, 2.0]), 1.0, 0.5, 0.0, limit)
        np.testing.assert_allclose(result, np.array([1.0, 2.0]) * factor, rtol=1e-15)


def test_every_optimizer_has_a_formula_here() -> None:
    for room, rows in ((nn.optim, NN), (optim, EXPERIMENTAL), (mint.optim, MINT)):
        names = {name for name in room.__all__ if isinstance(getattr(room, name), type)}
        assert names - {"Optimizer", "LARS"} == {row[0] for row in rows}, room.__name__


# Primitive classes: one step of an update, from the inputs to the new parameter and state.

Update = Callable[..., tuple[Any, ...]]


def p_momentum(p: Any, v: Any, lr: Any, g: Any, mu: Any, use_nesterov: bool = False, gradient_scale: float = 1) -> Any:
    g = g * gradient_scale
    v = mu * v + g
    return p - lr * (g + mu * v if use_nesterov else v), v


def p_keras(p: Any, v: Any, lr: Any, g: Any, mu: Any, use_nesterov: bool = False) -> Any:
    v = mu * v - lr * g
    return p + (mu * v - lr * g if use_nesterov else v), v


def p_adam(p: Any, m: Any, v: Any, p1: Any, p2: Any, lr: Any, b1: Any, b2: Any, e: Any, g: Any, **how: Any) -> Any:
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
    over = b1 * m + (1 - b1) * g if how.get("use_nesterov") else m
    return p - lr * math.sqrt(1 - p2) / (1 - p1) * over / (np.sqrt(v) + e), m, v


def p_adam_decay(p: Any, m: Any, v: Any, lr: Any, b1: Any, b2: Any, e: Any, decay: Any, g: Any) -> Any:
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
    return p - lr * (m / (np.sqrt(v) + e) + decay * p), m, v


def p_adamax(p: Any, m: Any, v: Any, p1: Any, lr: Any, b1: Any, b2: Any, e: Any, g: Any) -> Any:
    m, v = b1 * m + (1 - b1) * g, np.maximum(b2 * v, abs(g))
    return p - lr / (1 - p1) * m / (v + e), m, v


def p_amsgrad_v2(p: Any, m: Any, v: Any, most: Any, p1: Any, p2: Any, lr: Any, b1: Any, b2: Any, e: Any, g: Any) -> Any:
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
    most = np.maximum(most, v)
    return p - lr * math.sqrt(1 - p2) / (1 - p1) * m / (np.sqrt(most) + e), m, v, most


def p_amsgrad(p: Any, m: Any, v: Any, most: Any, p1: Any, p2: Any, lr: Any, g: Any, **how: Any) -> Any:
    b1, b2, e = how.get("beta1", 0.9), how.get("beta2", 0.999), how.get("epsilon", 1e-8)
    return p_amsgrad_v2(p, m, v, most, p1, p2, lr, b1, b2, e, g)


def p_adadelta(p: Any, a: Any, d: Any, lr: Any, rho: Any, e: Any, g: Any) -> Any:
    a = rho * a + (1 - rho) * g**2
    by = np.sqrt(d + e) / np.sqrt(a + e) * g
    return p - lr * by, a, rho * d + (1 - rho) * by**2


def p_adagrad(p: Any, a: Any, lr: Any, g: Any, update_slots: bool = True, epsilon: float = 0.0) -> Any:
    a = a + g**2 if update_slots else a
    return p - lr * g / (np.sqrt(a) + epsilon), a


def p_adagrad_v2(p: Any, a: Any, lr: Any, g: Any, update_slots: bool = True, epsilon: float = 1e-6) -> Any:
    return p_adagrad(p, a, lr, g, update_slots, epsilon)


def p_add_sign(p: Any, m: Any, lr: Any, alpha: Any, decay: Any, beta: Any, g: Any) -> Any:
    m = beta * m + (1 - beta) * g
    return p - lr * (alpha + decay * np.sign(g) * np.sign(m)) * g, m


def p_power_sign(p: Any, m: Any, lr: Any, base: Any, decay: Any, beta: Any, g: Any) -> Any:
    m = beta * m + (1 - beta) * g
    return p - lr * np.exp(base * decay * np.sign(g) * np.sign(m)) * g, m


def p_ftrl(p: Any, n: Any, z: Any, g: Any, lr: Any, l1: Any, l2: Any, power: Any) -> Any:
    new = n + g**2
    z = z + g - (new**-power - n**-power) / lr * p
    return np.where(abs(z) <= l1, 0, (np.sign(z) * l1 - z) / (new**-power / lr + 2 * l2)), new, z


def p_proximal_adagrad(p: Any, a: Any, lr: Any, l1: Any, l2: Any, g: Any) -> Any:
    a = a + g**2
    return shrunk(p - lr / np.sqrt(a) * g, lr / np.sqrt(a), l1, l2), a


def p_centered(p: Any, mean: Any, v: Any, u: Any, g: Any, lr: Any, rho: Any, mu: Any, e: Any) -> Any:
    mean, v = rho * mean + (1 - rho) * g, rho * v + (1 - rho) * g**2
    u = mu * u + lr * g / np.sqrt(v - mean**2 + e)
    return p - u, mean, v, u


def p_rms(p: Any, v: Any, u: Any, lr: Any, g: Any, rho: Any, mu: Any, e: Any) -> Any:
    v = rho * v + (1 - rho) * g**2
    u = mu * u + lr * g / np.sqrt(v + e)
    return p - u, v, u


GRADIENT = object()
ADAM = (0.5625, 0.765625, RATE, 0.75, 0.875, 1e-3, GRADIENT)
# Class, its settings, how much state, what comes behind it, and one step of the formula.
PRIMITIVES: list[tuple[str, dict[str, Any], int, tuple[Any, ...], Update]] = [
    ("ApplyMomentum", {}, 1, (RATE, GRADIENT, 0.5), p_momentum),
    ("ApplyMomentum", {"use_nesterov": True}, 1, (RATE, GRADIENT, 0.5), p_momentum),
    ("ApplyMomentum", {"use_nesterov": True, "gradient_scale": 0.25}, 1, (RATE, GRADIENT, 0.5), p_momentum),
    ("ApplyMomentum", {"gradient_scale": 0.25}, 1, (RATE, GRADIENT, 0.5), p_momentum),
    ("ApplyKerasMomentum", {}, 1, (RATE, GRADIENT, 0.5), p_keras),
    ("ApplyKerasMomentum", {"use_nesterov": True}, 1, (RATE, GRADIENT, 0.5), p_keras),
    ("Adam", {}, 2, ADAM, p_adam),
    ("Adam", {"use_nesterov": True}, 2, ADAM, p_adam),
    ("AdamWeightDecay", {}, 2, (RATE, 0.75, 0.875, 1e-3, DECAY, GRADIENT), p_adam_decay),
    ("AdamWeightDecay", {}, 2, (RATE, 0.75, 0.875, 1e-3, 0.0, GRADIENT), p_adam_decay),
    ("ApplyAdaMax", {}, 2, (0.5625, RATE, 0.75, 0.875, 1e-3, GRADIENT), p_adamax),
    ("ApplyAdamWithAmsgrad", {}, 3, (0.5625, 0.765625, RATE, GRADIENT), p_amsgrad),
    (
        "ApplyAdamWithAmsgrad",
        {"beta1": 0.75, "beta2": 0.5, "epsilon": 0.01},
        3,
        (0.5625, 0.765625, RATE, GRADIENT),
        p_amsgrad,
    ),
    ("ApplyAdamWithAmsgradV2", {}, 3, (0.5625, 0.765625, RATE, 0.75, 0.5, 1e-3, GRADIENT), p_amsgrad_v2),
    ("ApplyAdadelta", {}, 2, (RATE, 0.75, 1e-3, GRADIENT), p_adadelta),
    ("ApplyAdagrad", {}, 1, (RATE, GRADIENT), p_adagrad),
    ("ApplyAdagrad", {"update_slots": False}, 1, (RATE, GRADIENT), p_adagrad),
    ("ApplyAdagradV2", {}, 1, (RATE, GRADIENT), p_adagrad_v2),
    ("ApplyAdagradV2", {"epsilon": 0.125, "update_slots": False}, 1, (RATE, GRADIENT), p_adagrad_v2),
    ("ApplyAddSign", {}, 1, (RATE, 0.75, 0.5, 0.25, GRADIENT), p_add_sign),
    ("ApplyPowerSign", {}, 1, (RATE, 0.75, 0.5, 0.25, GRADIENT), p_power_sign),
    *(
        ("ApplyFtrl", {}, 2, (GRADIENT, RATE, *numbers), p_ftrl)
        for numbers in ((0.0, 0.0, -0.5), (0.5, 0.25, -0.5), (0.5, 0.25, -0.75))
    ),
    ("ApplyGradientDescent", {}, 0, (RATE, GRADIENT), lambda p, lr, g: (p - lr * g,)),
    *(
        (
            "ApplyProximalGradientDescent",
            {},
            0,
            (RATE, l1, l2, GRADIENT),
            lambda p, lr, l1, l2, g: (shrunk(p - lr * g, lr, l1, l2),),
        )
        for l1, l2 in ((0.0, 0.25), (0.5, 0.25))
    ),
    *(
        ("ApplyProximalAdagrad", {}, 1, (RATE, l1, l2, GRADIENT), p_proximal_adagrad)
        for l1, l2 in ((0.0, 0.25), (0.5, 0.25))
    ),
    ("ApplyCenteredRMSProp", {}, 3, (GRADIENT, RATE, 0.75, 0.5, 4.0), p_centered),
    ("ApplyRMSProp", {}, 2, (RATE, GRADIENT, 0.75, 0.5, 1e-3), p_rms),
]


@pytest.mark.parametrize("of_tensors", [False, True], ids=["numbers", "tensors"])
@pytest.mark.parametrize(("name", "settings", "states", "rest", "formula"), PRIMITIVES)
def test_an_update_primitive_steps_by_its_formula(
    name: str, settings: dict[str, Any], states: int, rest: tuple[Any, ...], formula: Update, of_tensors: bool
) -> None:
    want: tuple[Any, ...] = (START, *(abs(START) * (0.5 + i) for i in range(states)))
    parameters = [Parameter(Tensor(x), f"held{i}") for i, x in enumerate(want)]
    update = getattr(ops, name)(**settings)
    for g in GRADIENTS:
        inputs = [Tensor(g) if x is GRADIENT else Tensor(x, ms.float64) if of_tensors else x for x in rest]
        result = update(*parameters, *inputs)
        want = formula(*want, *(g if x is GRADIENT else x for x in rest), **settings)
        for item, array in zip(parameters, want, strict=True):
            np.testing.assert_allclose(item.asnumpy(), array, rtol=1e-10, atol=1e-12)
    returned = result if isinstance(result, tuple) else (result,)
    for values, item in zip(returned, parameters, strict=False):
        assert type(values) is Tensor and values.tolist() == item.tolist()
    alone = "ApplyMomentum", "ApplyFtrl", "ApplyRMSProp", "ApplyCenteredRMSProp"
    assert len(returned) == (1 if name in alone else 1 + states)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"mu": 0.5},
        {"mu": 0.5, "damp": 0.25},
        {"mu": 0.5, "damp": 0.25, "decay": DECAY},
        {"mu": 0.5, "nesterov": True, "decay": DECAY},
        {"decay": DECAY},
    ],
)
def test_the_sgd_primitive_steps_by_its_formula(how: dict[str, Any]) -> None:
    p, v, stat = (Parameter(Tensor(x), "x") for x in (START, np.ones_like(START), np.ones_like(START)))
    update = ops.SGD(how.get("damp", 0.0), how.get("decay", 0.0), how.get("nesterov", False))
    for gradient, want in zip(GRADIENTS, sgd(GRADIENTS, **how), strict=True):
        result = update(p, Tensor(gradient), Tensor(RATE), v, Tensor(how.get("mu", 0.0)), stat)
        assert type(result) is Tensor and result.tolist() == p.tolist()
        np.testing.assert_allclose(p.asnumpy(), want, rtol=1e-6)
    assert stat.asnumpy().any() == (not how.get("mu"))


def test_the_sgd_primitive_starts_each_element_by_itself() -> None:
    p, v, stat = (Parameter(Tensor(np.array(x)), "x") for x in ([1.0, 1.0], [4.0, 4.0], [1.0, 0.0]))
    ops.SGD()(p, Tensor(np.array([2.0, 2.0])), Tensor(0.5), v, Tensor(0.5), stat)
    assert v.asnumpy().tolist() == [2.0, 4.0]
    assert p.asnumpy().tolist() == [0.0, -1.0]


def test_every_update_primitive_has_a_formula_here() -> None:
    declared = surfaces.PRIMITIVES.items()
    reference = {
        name for name, (function, _) in declared if function.__module__ == "hookscope.engine.ops.legacy.updates"
    }
    assert reference == {row[0] for row in PRIMITIVES} | {"SGD"}


def test_an_update_with_a_gradient_that_does_not_fit_changes_nothing() -> None:
    p = Parameter(Tensor(np.ones(3)), "p")
    with pytest.raises(ValueError, match=r"For 'ApplyGradientDescent', input 0 has the shape \(3,\)"):
        ops.ApplyGradientDescent()(p, 0.5, Tensor(np.ones((2, 3))))
    assert p.asnumpy().tolist() == [1.0, 1.0, 1.0]


def test_l2_loss_is_half_the_sum_of_squares() -> None:
    assert ops.L2Loss()(Tensor(np.array([[1.0, -2.0], [3.0, 4.0]]))).item() == 15.0
    np.testing.assert_allclose(ops.L2Loss()(Tensor(START)).item(), (START**2).sum() / 2, rtol=1e-12)
