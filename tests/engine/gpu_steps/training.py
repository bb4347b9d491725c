"""Steps of optimizers and of loss scales beside the CPU's: what ``test_by_cupy.py`` and ``interpreted.py`` share."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, amp, mint, nn
from hookscope.engine.experimental import optim
from tests import strict_device

__all__ = ["OPTIMIZERS", "READING", "SCALED", "Outcome", "scaled_training", "training"]

SHAPES = [(20, 32), (32,), (3, 5, 7), (1,)]


def in_groups(parameters: list[Parameter]) -> list[dict[str, Any]]:
    falls = nn.CosineDecayLR(0.01, 0.1, 4)
    first = {"params": parameters[:2], "lr": 0.1, "weight_decay": 0.2}
    return [first, {"params": parameters[2:], "lr": falls, "grad_centralization": True}]


# Name -> an optimizer of parameters.
OPTIMIZERS: dict[str, Callable[[list[Parameter]], Any]] = {
    "Adam": lambda p: nn.Adam(p, 0.01),
    "Adam, decay, scale, nesterov": lambda p: nn.Adam(p, 0.01, weight_decay=0.1, loss_scale=4.0, use_nesterov=True),
    "Adam, a rate each step": lambda p: nn.Adam(p, [0.1, 0.01]),
    "Adam, polynomial rate": lambda p: nn.Adam(p, nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)),
    "Adam, warm up": lambda p: nn.Adam(p, nn.WarmUpLR(0.1, 2)),
    "Adam, groups": lambda p: nn.Adam(in_groups(p), 0.01),
    "Adam, a decay of the step": lambda p: nn.Adam(p, 0.01, weight_decay=nn.ExponentialDecayLR(0.1, 0.9, 4)),
    "Adam, amsgrad": lambda p: nn.Adam(p, 0.01, use_amsgrad=True),
    "LazyAdam": lambda p: nn.LazyAdam(p, 0.01),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 0.01, weight_decay=0.1),
    "AdamWeightDecay, of some": lambda p: nn.AdamWeightDecay(
        [{"params": p[:2], "weight_decay": 0.1}, {"params": p[2:], "weight_decay": 0.0}], 0.01
    ),
    "AdamWeightDecay, a decay of the step": lambda p: nn.AdamWeightDecay(
        p, 0.01, weight_decay=nn.InverseDecayLR(0.1, 0.5, 4)
    ),
    "Momentum": lambda p: nn.Momentum(p, 0.1, 0.9),
    "Momentum, nesterov": lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.1, loss_scale=2.0, use_nesterov=True),
    "SGD": lambda p: nn.SGD(p, 0.1),
    "SGD, momentum": lambda p: nn.SGD(p, 0.1, 0.9, 0.3, weight_decay=0.1),
    "SGD, nesterov": lambda p: nn.SGD(p, 0.1, 0.9, nesterov=True),
    "Lamb": lambda p: nn.Lamb(p, 0.1, weight_decay=0.1),
    "LARS": lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9, weight_decay=0.1)),
    "LARS, clipped": lambda p: nn.LARS(nn.SGD(p, 0.1, 0.9), use_clip=True),
    "LARS, clipped at 1": lambda p: nn.LARS(nn.SGD(p, 0.1, 0.9), coefficient=0.1, use_clip=True),
    "AdaMax": lambda p: nn.AdaMax(p, 0.1),
    "Adagrad": lambda p: nn.Adagrad(p),
    "Adadelta": lambda p: nn.Adadelta(p),
    "FTRL": lambda p: nn.FTRL(p, l1=0.01),
    "RMSProp": lambda p: nn.RMSProp(p, centered=True),
    "ProximalAdagrad": lambda p: nn.ProximalAdagrad(p, l1=0.01, l2=0.1),
    "ASGD": lambda p: nn.ASGD(p, t0=1.0),
    "Rprop": lambda p: nn.Rprop(p),
    "AdaFactor": lambda p: nn.AdaFactor(p),
    "AdaFactor, its rate": lambda p: nn.AdaFactor(p, 0.1, relative_step=False, weight_decay=0.1, beta1=None),
    "AdaFactor, warm up": lambda p: nn.AdaFactor(p, warmup_init=True),
    "experimental Adadelta": lambda p: optim.Adadelta(p, weight_decay=0.1),
    "experimental Adagrad": lambda p: optim.Adagrad(p, lr_decay=0.1),
    "experimental Adam": lambda p: optim.Adam(p, 0.01),
    "experimental Adam, decay, upwards": lambda p: optim.Adam(p, 0.01, weight_decay=0.1, maximize=True),
    "experimental Adam, amsgrad": lambda p: optim.Adam(p, 0.01, amsgrad=True),
    "experimental Adam, groups": lambda p: optim.Adam([{"params": p[:2], "lr": 0.1}, {"params": p[2:]}], 0.01),
    "experimental Adamax": lambda p: optim.Adamax(p, 0.01),
    "experimental AdamW": lambda p: optim.AdamW(p, 0.01),
    "experimental AdamW, amsgrad": lambda p: optim.AdamW(p, 0.01, amsgrad=True),
    "experimental ASGD": lambda p: optim.ASGD(p, t0=1.0),
    "experimental NAdam": lambda p: optim.NAdam(p),
    "experimental RAdam": lambda p: optim.RAdam(p, 0.01, (0.9, 0.6)),
    "experimental RAdam, not rectified": lambda p: optim.RAdam(p, 0.01),
    "experimental RMSprop": lambda p: optim.RMSprop(p, momentum=0.9, centered=True),
    "experimental Rprop": lambda p: optim.Rprop(p),
    "experimental SGD": lambda p: optim.SGD(p, 0.1, weight_decay=0.1, maximize=True),
    "experimental SGD, momentum": lambda p: optim.SGD(p, 0.1, 0.9, 0.3),
    "experimental SGD, nesterov": lambda p: optim.SGD(p, 0.1, 0.9, nesterov=True),
    "mint Adam": lambda p: mint.optim.Adam(p, 0.01, weight_decay=0.1),
    "mint AdamW": lambda p: mint.optim.AdamW(p, 0.01, maximize=True),
    "mint AdamW, amsgrad": lambda p: mint.optim.AdamW(p, 0.01, amsgrad=True),
    "mint SGD": lambda p: mint.optim.SGD(p, 0.1, weight_decay=0.1),
    "mint SGD, momentum": lambda p: mint.optim.SGD(p, 0.1, 0.9, 0.3),
}


class Plain(nn.Optimizer):
    """A user's optimizer, which computes with Python's numbers."""

    def updated(self, index: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        return value - gradient * (rate / step)


# They take numbers of Python's, and wait for them.
READING: dict[str, Callable[[list[Parameter]], Any]] = {"Plain": lambda p: Plain(nn.ExponentialDecayLR(0.5, 0.9, 1), p)}


class Outcome:
    """Results of a training: its tensors as float64 arrays on the host, and what its last step did on the device."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.given: list[Any] = []
        self.launches: list[str] = []
        self.synchronizations = 0

    def keep(self, optimizer: Any) -> Outcome:
        for name, parameter in optimizer.parameters_and_names():
            self.values[name] = _host(parameter)
        for parameter in optimizer.parameters:
            self.values[f"trained {parameter.name}"] = _host(parameter)
        return self

    def counted(self, counts: strict_device.Counts | None) -> None:
        if counts is not None:
            self.launches = [event.name for event in counts.launches]
            self.synchronizations = len(counts.synchronizations)

    def agrees_with(self, other: Outcome, tolerance: float) -> None:
        assert self.values.keys() == other.values.keys()
        for name, value in self.values.items():
            np.testing.assert_allclose(value, other.values[name], rtol=4 * tolerance, atol=tolerance, err_msg=name)
        for own, others in zip(self.given, other.given, strict=True):
            for first, second in zip(own, others, strict=True):
                np.testing.assert_allclose(first, second, rtol=10 * tolerance, atol=tolerance)


def _host(tensor: Tensor) -> Any:
    return tensor.asnumpy().astype(np.float64)


def _device(on_gpu: bool, triton: bool) -> Any:
    return strict_device.device(triton) if on_gpu else nullcontext()


def training(
    make: Callable[[list[Parameter]], Any], on_gpu: bool, triton: bool = False, dtype: Any = ms.float32
) -> Outcome:
    """Take four steps of an optimizer."""
    result = Outcome()
    with _device(on_gpu, triton) as counts:
        random = np.random.default_rng(0)
        inputs = [Parameter(Tensor(random.normal(size=shape), dtype), f"p{i}") for i, shape in enumerate(SHAPES)]
        optimizer = make(inputs)
        for _ in range(4):
            gradients = tuple(Tensor(random.normal(size=shape), dtype) for shape in SHAPES)
            if counts is not None:
                counts.clear()
            optimizer(gradients)
        result.counted(counts)
        return result.keep(optimizer)


SCALED: dict[str, tuple[str, str]] = {
    # Name -> the level of mixed precision, the optimizer.
    **{f"O0 {name}": ("O0", name) for name in ("Adam", "SGD, momentum", "AdamWeightDecay", "Lamb", "LARS")},
    "O2 Adam": ("O2", "Adam"),
    "O3 Momentum": ("O3", "Momentum"),
}


def scaled_training(level: str, optimizer: str, on_gpu: bool, triton: bool = False, own: bool = False) -> Outcome:
    """Take five steps with a dynamic scale of the loss; the gradients of the second and the third overflow.

    Args:
        level: of mixed precision.
        optimizer: of ``OPTIMIZERS``, by name.
        on_gpu: whether on the strict device.
        triton: whether with Triton's kernels.
        own: whether by ``DynamicLossScaler`` in a function, which here makes every step; else by a cell that leaves
            those out that overflow.
    """
    result = Outcome()
    with _device(on_gpu, triton) as counts:
        ms.set_seed(1)
        random = np.random.default_rng(0)
        net, loss = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 4)), nn.CrossEntropyLoss()
        data, labels = random.normal(size=(4, 6)), random.integers(0, 4, 4)
        trainer = (OPTIMIZERS | READING)[optimizer](net.trainable_params())
        step = _with_scaler(net, loss, trainer, level) if own else _with_cell(net, loss, trainer, level)
        for number in range(5):
            overflows = number in (1, 2) and not own
            x = Tensor(np.where(overflows, np.inf, data), ms.float32)
            y = Tensor(labels, ms.int32)
            if counts is not None:
                counts.clear()
            outputs = step(x, y)
            result.counted(counts)
            result.given.append([_host(output) for output in outputs])
        return result.keep(trainer)


def _with_cell(net: Any, loss: Any, optimizer: Any, level: str) -> Callable[..., Any]:
    manager = amp.DynamicLossScaleManager(2.0**16, 2, 2)
    return amp.build_train_network(net, optimizer, loss, level, loss_scale_manager=manager)


def _with_scaler(net: Any, loss: Any, optimizer: Any, level: str) -> Callable[..., Any]:
    network, scaler = amp.auto_mixed_precision(net, level), amp.DynamicLossScaler(2.0**10, 2, 2)
    slopes = ms.value_and_grad(lambda x, y: scaler.scale(loss(network(x), y)), None, optimizer.parameters)

    def step(x: Tensor, y: Tensor) -> Any:
        value, result = slopes(x, y)
        finite = amp.all_finite(result)
        optimizer(scaler.unscale(result))
        scaler.adjust(finite)
        return value, finite, scaler.scale_value

    return step
