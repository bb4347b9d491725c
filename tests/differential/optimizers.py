"""Optimizers of ``nn``, ``mint.optim`` and ``experimental.optim``: random options, groups, schedules, a few steps.

Compared are the parameters and the optimizer's own parameters (names and values) after each step, and the learning
rates of an experimental one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.differential.cases import Array, Case

BETAS = {"beta1": (0.9, 0.5), "beta2": (0.999, 0.8), "eps": (1e-8, 1e-3)}
BOOL = (False, True)
# Arguments of the optimizers of nn besides the parameters, the learning rate, weight_decay and loss_scale.
PLAIN: dict[str, dict[str, tuple[Any, ...]]] = {
    "Adam": {**BETAS, "use_amsgrad": BOOL, "use_nesterov": BOOL, "use_locking": BOOL},
    "AdamWeightDecay": BETAS,
    "AdamOffload": {**BETAS, "use_nesterov": BOOL},
    "LazyAdam": {**BETAS, "use_nesterov": BOOL},
    "AdaMax": BETAS,
    "Lamb": BETAS,
    "Adagrad": {"accum": (0.1, 0.5), "update_slots": BOOL},
    "Adadelta": {"rho": (0.9, 0.5), "epsilon": (1e-6, 1e-3)},
    "AdaFactor": {
        "eps": ((1e-30, 1e-3), (1e-6, 0.1)),
        "clip_threshold": (1.0, 0.5),
        "decay_rate": (0.8, 0.5),
        "beta1": (0.9, 0.0),
        "scale_parameter": BOOL,
        "relative_step": (False,),
        "compression": BOOL,
    },
    "ASGD": {"lambd": (1e-4, 0.1), "alpha": (0.75, 0.5), "t0": (1e6, 1.0)},
    "FTRL": {"initial_accum": (0.1, 1.0), "lr_power": (-0.5, -0.3), "l1": (0.0, 0.1), "l2": (0.0, 0.1)},
    "Momentum": {"momentum": (0.9, 0.0, 0.5), "use_nesterov": BOOL},
    "ProximalAdagrad": {"accum": (0.1, 0.5), "l1": (0.0, 0.1), "l2": (0.0, 0.1)},
    "RMSProp": {"decay": (0.9, 0.5), "momentum": (0.0, 0.5), "epsilon": (1e-10, 0.1), "centered": BOOL},
    "Rprop": {"etas": ((0.5, 1.2), (0.3, 2.0)), "step_sizes": ((1e-6, 50.0), (0.05, 0.2))},
    "SGD": {"momentum": (0.0, 0.9), "dampening": (0.0, 0.3), "nesterov": BOOL},
}
# Arguments of those of experimental.optim besides lr, weight_decay and maximize; mint.optim has some of them.
PAIR = {"betas": ((0.9, 0.999), (0.5, 0.8)), "eps": (1e-8, 1e-3)}
EXPERIMENTAL: dict[str, dict[str, tuple[Any, ...]]] = {
    "SGD": {"momentum": (0, 0.9, 0.5), "dampening": (0, 0.3), "nesterov": BOOL},
    "Adam": {**PAIR, "amsgrad": BOOL},
    "AdamW": {**PAIR, "amsgrad": BOOL},
    "Adamax": PAIR,
    "NAdam": {**PAIR, "momentum_decay": (0.004, 0.1)},
    "RAdam": PAIR,
    "Adagrad": {"lr_decay": (0.0, 0.1), "initial_accumulator_value": (0.0, 0.1), "eps": (1e-10, 1e-3)},
    "Adadelta": {"rho": (0.9, 0.5), "eps": (1e-6, 1e-3)},
    "ASGD": {"lambd": (1e-4, 0.1), "alpha": (0.75, 0.5), "t0": (1e6, 1.0)},
    "RMSprop": {"alpha": (0.99, 0.5), "eps": (1e-8, 0.1), "momentum": (0.0, 0.5), "centered": BOOL},
    "Rprop": {"etas": ((0.5, 1.2), (0.3, 2.0)), "step_sizes": ((1e-6, 50), (0.05, 0.2))},
}
MINT = ("Adam", "AdamW", "SGD", "FusedAdamW")
ROOMS = {"nn": tuple(PLAIN), "mint.optim": MINT, "experimental.optim": tuple(EXPERIMENTAL)}
NAMES = [f"{room}.{name}" for room, names in ROOMS.items() for name in names] + ["nn.LARS"]
WITHOUT_MAXIMIZE, WITHOUT_DECAY = ("NAdam", "RAdam"), ("Rprop",)
WITHOUT_SCALE = ("AdamWeightDecay", "Lamb", "ASGD", "Rprop")
RATES = (
    "0.1",
    "0.01",
    "1.0",
    "[0.1, 0.05, 0.2, 0.01]",
    "ms.Tensor([0.3, 0.2, 0.1, 0.4], ms.float32)",
    "ms.Tensor(0.2, ms.float32)",
    "ms.nn.ExponentialDecayLR(0.1, 0.5, 2)",
    "ms.nn.ExponentialDecayLR(0.1, 0.5, 2, True)",
    "ms.nn.CosineDecayLR(0.01, 0.1, 4)",
    "ms.nn.PolynomialDecayLR(0.1, 0.01, 3, 2.0)",
    "ms.nn.WarmUpLR(0.1, 3)",
    "ms.nn.InverseDecayLR(0.1, 0.5, 2)",
    "ms.nn.NaturalExpDecayLR(0.1, 0.5, 2)",
    "ms.nn.exponential_decay_lr(0.1, 0.9, 6, 2, 1)",
    "ms.nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2)",
)
SCHEDULES = (
    "StepLR(optimizer, 2, 0.5)",
    "ExponentialLR(optimizer, 0.7)",
    "ConstantLR(optimizer, 0.5, 2)",
    "LinearLR(optimizer, 0.3, 1.0, 3)",
    "PolynomialLR(optimizer, 3, 2.0)",
    "CosineAnnealingLR(optimizer, 3, 0.01)",
    "MultiStepLR(optimizer, [1, 3], 0.5)",
    "CosineAnnealingWarmRestarts(optimizer, 2)",
    "LambdaLR(optimizer, lambda n: 0.9 ** n)",
    "MultiplicativeLR(optimizer, lambda n: 0.8)",
    "CyclicLR(optimizer, 0.01, 0.1, 2, 2)",
)
PARAMETERS = ["layer.weight", "layer.bias", "LayerNorm.gamma"]
PROGRAM = """\
import numpy as np
def run(ms, {names}):
    params = [ms.Parameter(x + 0, name=name) for x, name in zip([{weights}], {given})]
    optimizer = {made}
    values, rates, states = [], [], []
    for step in range({steps}):
        optimizer(tuple(x * (1 - 0.7 * step) for x in ({gradients},)))
        {scheduled}
        state = sorted((p.name, p) for p in optimizer.get_parameters() if all(p is not one for one in params))
        values.append([ms.Tensor(p.asnumpy().copy()) for p in params])
        states.append([[name, ms.Tensor(p.asnumpy().copy())] for name, p in state])
    return values, rates, states
"""


def draw(rng: np.random.Generator, only: str) -> Case:
    """Draw an optimizer with its options, parameters, gradients and one to four steps."""
    names = [name for name in NAMES if name.startswith(only)]
    if not names:
        raise SystemExit(f"no optimizer begins with {only!r}")
    name = names[int(rng.integers(len(names)))]
    count = int(rng.integers(1, 4))
    inputs: list[Array] = []
    for _ in range(count):
        shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 4))))
        inputs += [rng.normal(size=shape).astype(np.float32) for _ in range(2)]
    if rng.random() < 0.1:
        inputs[1] = np.zeros_like(inputs[1])
    code = plain(rng, name, count) if name.startswith("nn.") else experimental(rng, name, count)
    scheduled = "pass"
    if code.startswith("ms.experimental") or code.startswith("ms.mint"):
        scheduled = "rates.append([float(group['lr']) for group in optimizer.param_groups])"
        if rng.random() < 0.5:
            schedule = SCHEDULES[int(rng.integers(len(SCHEDULES)))]
            code += f"\n    schedule = ms.experimental.optim.lr_scheduler.{schedule}"
            scheduled = f"schedule.step(); {scheduled}"
    source = PROGRAM.format(
        names=", ".join(f"x{i}" for i in range(2 * count)),
        weights=", ".join(f"x{2 * i}" for i in range(count)),
        given=PARAMETERS[:count],
        made=code,
        scheduled=scheduled,
        steps=int(rng.integers(1, 5)),
        gradients=", ".join(f"x{2 * i + 1}" for i in range(count)),
    )
    return Case(name, source, inputs, ["float32"] * len(inputs), gradient=False, title=code)


def one_of(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def options(
    rng: np.random.Generator, table: dict[str, tuple[Any, ...]], always: tuple[str, ...] = ()
) -> dict[str, str]:
    return {name: repr(one_of(rng, values)) for name, values in table.items() if name in always or rng.random() < 0.5}


def grouped(rng: np.random.Generator, name: str, count: int, own: dict[str, tuple[str, ...]]) -> str:
    """Return the parameters, or groups of them with options of their own."""
    if rng.random() < 0.6:
        return "params"
    cut = int(rng.integers(0, count))
    groups = []
    for part in (f"params[:{cut}]", f"params[{cut}:]")[0 if cut else 1 :]:
        chosen = {name: one_of(rng, values) for name, values in own.items() if rng.random() < 0.4}
        groups.append(
            "{" + ", ".join([f"'params': {part}", *(f"{name!r}: {value}" for name, value in chosen.items())]) + "}"
        )
    if name.startswith("nn.") and rng.random() < 0.1:
        groups.append("{'order_params': params}")
    return f"[{', '.join(groups)}]"


def plain(rng: np.random.Generator, name: str, count: int) -> str:
    kind = name[3:] if name != "nn.LARS" else str(one_of(rng, ["Momentum", "SGD", "Adam"]))
    chosen = options(rng, PLAIN[kind], ("momentum",) if kind == "Momentum" else ())
    if kind == "AdaFactor":
        chosen |= {"relative_step": "False"}
    rates = RATES if rng.random() < 0.5 else RATES[:3]
    if kind in ("Lamb", "Momentum", "AdaFactor") or rng.random() < 0.8:
        chosen["learning_rate"] = one_of(rng, rates)
    if rng.random() < 0.4:
        chosen["weight_decay"] = one_of(rng, ("0.1", "0.01", "0.0"))
    if kind not in WITHOUT_SCALE and rng.random() < 0.3:
        chosen["loss_scale"] = one_of(rng, ("2.0", "1024.0"))
    groups = grouped(rng, name, count, {"lr": ("0.05", "0.3"), "weight_decay": ("0.1", "0.0")})
    code = f"ms.nn.{kind}({', '.join([groups, *(f'{key}={value}' for key, value in chosen.items())])})"
    if name == "nn.LARS":
        lars = options(rng, {"epsilon": (1e-5, 0.1), "coefficient": (0.001, 0.1), "use_clip": BOOL})
        code = f"ms.nn.LARS({', '.join([code, *(f'{key}={value}' for key, value in lars.items())])})"
    return code


def experimental(rng: np.random.Generator, name: str, count: int) -> str:
    kind = name.rpartition(".")[2]
    chosen = options(rng, EXPERIMENTAL[kind.removeprefix("Fused")])
    if kind == "SGD" or rng.random() < 0.8:
        chosen["lr"] = one_of(rng, ("0.1", "0.01", "1.0"))
    if kind not in WITHOUT_DECAY and rng.random() < 0.4:
        chosen["weight_decay"] = one_of(rng, ("0.1", "0.01"))
    if kind not in WITHOUT_MAXIMIZE and rng.random() < 0.3:
        chosen["maximize"] = "True"
    own = {"lr": ("0.05", "0.3")} | ({} if kind in WITHOUT_DECAY else {"weight_decay": ("0.1", "0.0")})
    groups = grouped(rng, name, count, own)
    return f"ms.{name}({', '.join([groups, *(f'{key}={value}' for key, value in chosen.items())])})"
