"""Optimizers against their published formulas in float64, and what a step promises beside its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, grad, nn

Array = np.ndarray[Any, Any]
START = np.array([1.0, -2.0, 0.5])
GRADIENTS = np.random.default_rng(8).standard_normal((6, 3))
RATE = 0.05


def parameter(values: Any = START, dtype: Any = ms.float64, name: str = "w") -> Parameter:
    return Parameter(Tensor(np.asarray(values), dtype), name)


def sgd(momentum: float, dampening: float, decay: float, nesterov: bool) -> Array:
    p, v = START.copy(), None
    for gradient in GRADIENTS:
        g = gradient + decay * p
        if momentum:
            v = g if v is None else momentum * v + (1 - dampening) * g
            g = g + momentum * v if nesterov else v
        p = p - RATE * g
    return p


def momentum(factor: float, decay: float, scale: float, nesterov: bool) -> Array:
    p, v = START.copy(), np.zeros(3)
    for gradient in GRADIENTS:
        g = gradient / scale + decay * p
        v = factor * v + g
        p = p - RATE * (g + factor * v if nesterov else v)
    return p


def adam(decay: float, nesterov: bool) -> Array:
    p, m, v = START.copy(), np.zeros(3), np.zeros(3)
    for t, gradient in enumerate(GRADIENTS, 1):
        g = gradient + decay * p
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        rate = RATE * math.sqrt(1 - 0.9**t) / (1 - 0.8**t)
        p = p - rate * (0.8 * m + 0.2 * g if nesterov else m) / (np.sqrt(v) + 1e-6)
    return p


def adam_weight_decay(decay: float) -> Array:
    p, m, v = START.copy(), np.zeros(3), np.zeros(3)
    for g in GRADIENTS:
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        p = p - RATE * (m / (np.sqrt(v) + 1e-6) + decay * p)
    return p


Make = Callable[[list[Parameter]], nn.Optimizer]
BETAS = {"beta1": 0.8, "beta2": 0.9, "eps": 1e-6}
CASES: dict[str, tuple[Make, Array]] = {
    "sgd": (lambda p: nn.SGD(p, RATE), sgd(0, 0, 0, False)),
    "sgd, decay": (lambda p: nn.SGD(p, RATE, weight_decay=0.1), sgd(0, 0, 0.1, False)),
    "sgd, momentum": (lambda p: nn.SGD(p, RATE, 0.9, 0.2), sgd(0.9, 0.2, 0, False)),
    "sgd, nesterov": (lambda p: nn.SGD(p, RATE, 0.9, nesterov=True), sgd(0.9, 0, 0, True)),
    "momentum": (lambda p: nn.Momentum(p, RATE, 0.9), momentum(0.9, 0, 1, False)),
    "momentum, scaled": (lambda p: nn.Momentum(p, RATE, 0.9, 0.1, 8.0), momentum(0.9, 0.1, 8, False)),
    "momentum, nesterov": (lambda p: nn.Momentum(p, RATE, 0.9, use_nesterov=True), momentum(0.9, 0, 1, True)),
    "adam": (lambda p: nn.Adam(p, RATE, **BETAS), adam(0, False)),
    "adam, decay": (lambda p: nn.Adam(p, RATE, **BETAS, weight_decay=0.1), adam(0.1, False)),
    "adam, nesterov": (lambda p: nn.Adam(p, RATE, **BETAS, use_nesterov=True), adam(0, True)),
    "adamw": (lambda p: nn.AdamWeightDecay(p, RATE, **BETAS), adam_weight_decay(0)),
    "adamw, decay": (lambda p: nn.AdamWeightDecay(p, RATE, **BETAS, weight_decay=0.1), adam_weight_decay(0.1)),
}
each = pytest.mark.parametrize("make", [make for make, _ in CASES.values()], ids=list(CASES))


@pytest.mark.parametrize(("make", "want"), CASES.values(), ids=list(CASES))
def test_six_steps_are_those_of_the_formula(make: Make, want: Array) -> None:
    w = parameter()
    optimizer = make([w])
    for gradient in GRADIENTS:
        assert optimizer((Tensor(gradient),)) in ((True,), True)
    # The learning rate and Momentum's factor are kept as Float32, as in MindSpore.
    np.testing.assert_allclose(w.asnumpy(), want, rtol=1e-6)
    assert optimizer.global_step.item() == 6


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32], ids=str)
@each
def test_a_step_keeps_the_dtype_of_parameters_and_state(make: Make, dtype: ms.DType) -> None:
    w = parameter(dtype=dtype)
    optimizer = make([w])
    before = {p.name: p.dtype for p in optimizer.get_parameters()}
    for gradient in GRADIENTS[:2]:
        optimizer((Tensor(gradient, dtype),))
    assert w.dtype is dtype
    assert {p.name: p.dtype for p in optimizer.get_parameters()} == before


@each
def test_a_step_changes_no_value_that_is_held_elsewhere(make: Make) -> None:
    w = parameter()
    optimizer = make([w])
    gradient = Tensor(GRADIENTS[0])
    optimizer((gradient,))
    storages = [w._array, w.data, gradient._array, *(p._array for p in optimizer.get_parameters())]
    copies = [np.array(x) for x in storages]
    optimizer((gradient,))
    for now, before in zip(storages, copies, strict=True):
        np.testing.assert_array_equal(np.asarray(now), before)


@each
def test_a_step_is_not_recorded(make: Make) -> None:
    w = parameter()
    optimizer = make([w])

    def training_inside(x: Tensor) -> Tensor:
        y = x * w
        optimizer((Tensor(GRADIENTS[0]),))
        return y

    assert grad(training_inside)(Tensor(START)).tolist() == START.tolist()


@each
def test_training_makes_the_loss_smaller(make: Make) -> None:
    ms.set_seed(0)
    net = nn.SequentialCell(nn.Dense(3, 8, activation="tanh"), nn.Dense(8, 1))
    x = np.random.default_rng(0).standard_normal((32, 3)).astype(np.float32)
    y = Tensor(np.sin(x.sum(1, keepdims=True)))
    optimizer = make(net.trainable_params())
    step = ms.value_and_grad(lambda t: nn.MSELoss()(net(t), y), None, optimizer.parameters)
    losses = []
    for _ in range(30):
        loss, gradients = step(Tensor(x))
        optimizer(gradients)
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize(
    ("make", "spared"),
    [
        (lambda ps: nn.Momentum(ps, 0.1, 0.0, weight_decay=1.0), True),
        (lambda ps: nn.Adam(ps, 0.1, weight_decay=1.0), True),
        (lambda ps: nn.AdamWeightDecay(ps, 0.1, weight_decay=1.0), True),
        (lambda ps: nn.SGD(ps, 0.1, weight_decay=1.0), True),
    ],
)
def test_which_parameters_decay(make: Make, spared: bool) -> None:
    names = ["layer.weight", "layer.bias", "norm.gamma", "norm.beta"]
    parameters = [parameter(name=name) for name in names]
    make(parameters)([Tensor(np.zeros(3))] * 4)
    moved = [not np.array_equal(p.asnumpy(), START) for p in parameters]
    assert moved == [True, True, not spared, not spared]


def test_ftrl_spares_no_parameter() -> None:
    plain, gamma = parameter(name="w"), parameter(name="norm.gamma")
    nn.FTRL([plain, gamma], l1=0.0, weight_decay=1.0)([Tensor(np.full(3, 0.5))] * 2)
    np.testing.assert_array_equal(plain.asnumpy(), gamma.asnumpy())


def test_the_state_is_named_after_the_parameters() -> None:
    w = parameter(name="layer.w")
    assert [p.name for p in nn.Adam([w]).get_parameters()] == [
        "global_step",
        "learning_rate",
        "layer.w",
        "beta1_power",
        "beta2_power",
        "moment1.layer.w",
        "moment2.layer.w",
    ]
    assert [p.name for p in nn.Momentum([w], 0.1, 0.9).moments] == ["moments.layer.w"]


def test_the_learning_rate_can_be_read_and_set() -> None:
    w = parameter()
    optimizer = nn.SGD([w], 0.5)
    assert optimizer.get_lr().item() == 0.5
    optimizer.learning_rate.set_data(0.25)
    optimizer((Tensor(np.ones(3)),))
    np.testing.assert_allclose(w.asnumpy(), START - 0.25)


def test_a_bare_gradient_stands_for_the_only_one() -> None:
    w = parameter()
    nn.SGD([w], 0.5)(Tensor(np.ones(3)))
    np.testing.assert_allclose(w.asnumpy(), START - 0.5)


W = parameter()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: nn.SGD(W), TypeError, r"must be a list such as net.trainable_params\(\), but got Parameter"),
        (lambda: nn.SGD(3), TypeError, "but got int"),
        (lambda: nn.SGD([]), ValueError, "the list of parameters is empty"),
        (lambda: nn.SGD([Tensor([1.0])]), TypeError, "entry 0 of the parameters must be a Parameter, but got Tensor"),
        (lambda: nn.SGD([W, parameter()]), ValueError, "two parameters are named 'w'"),
        (lambda: nn.SGD([W], -1.0), ValueError, "'learning_rate' must be at least 0.0, but got -1.0"),
        (lambda: nn.SGD([W], "fast"), ValueError, "'learning_rate' must be a number, or a list of one for each step"),
        (lambda: nn.SGD([W], loss_scale=0), ValueError, "'loss_scale' must be above 0.0, but got 0"),
        (lambda: nn.SGD([W], nesterov=True), ValueError, "'nesterov' needs 'momentum' above 0 and 'dampening' 0"),
        (lambda: nn.SGD([W], weight_decay=-0.1), ValueError, "'weight_decay' must be at least 0.0"),
        (lambda: nn.Adam([W], beta1=1.0), ValueError, "'beta1' must be between 0 and 1, but got 1.0"),
        (lambda: nn.Adam([W], eps=0.0), ValueError, "'eps' must be above 0.0"),
        (lambda: nn.AdamWeightDecay([W], beta2=1.5), ValueError, "'beta2' must be between 0 and 1, but got 1.5"),
        (lambda: nn.Momentum([W], 0.1, -1.0), ValueError, "'momentum' must be at least 0.0"),
    ],
)
def test_optimizers_refuse(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"For '(SGD|Adam|Momentum|AdamWeightDecay)', .*{text}"):
        make()


@pytest.mark.parametrize(
    ("gradients", "text"),
    [
        ((), "one gradient for each of the 1 parameters, but got 0"),
        ((Tensor(np.ones(2)),), r"the gradient of 'w' must have the shape \(3,\), but got \(2,\)"),
    ],
)
def test_a_step_with_gradients_that_do_not_fit_changes_nothing(gradients: Any, text: str) -> None:
    w = parameter()
    optimizer = nn.SGD([w], 0.5)
    with pytest.raises(ValueError, match=text):
        optimizer(gradients)
    assert (w.tolist(), optimizer.global_step.item()) == (START.tolist(), 0)


def stepped(make: Any, steps: int = 4) -> list[list[float]]:
    """Return three parameters after some steps with gradients of a fixed seed."""
    parameters = [
        Parameter(Tensor(np.linspace(-1, 1, 6).reshape(2, 3).astype(np.float32)), name="w"),
        Parameter(Tensor(np.array([0.3, -0.2, 0.5], np.float32)), name="bias"),
        Parameter(Tensor(np.array([1.3, -1.2], np.float32)), name="gamma"),
    ]
    optimizer, numbers = make(parameters), np.random.RandomState(1)
    for _ in range(steps):
        optimizer(tuple(Tensor(numbers.randn(*p.shape).astype(np.float32)) for p in optimizer.parameters))
    return [p.asnumpy().ravel().tolist() for p in parameters]


@pytest.mark.parametrize(
    ("make", "bias", "gamma"),
    [
        (
            lambda p: nn.SGD(p, 0.1, 0.9, weight_decay=0.1, loss_scale=2.0),
            [0.08657, -0.10087, 0.43389],
            [1.56706, -1.62586],
        ),
        (lambda p: nn.Adam(p, 0.1, use_amsgrad=True), [0.13275, -0.01947, 0.33231], [1.66207, -1.51643]),
        (lambda p: nn.AdaMax(p, 0.1, weight_decay=0.1), [0.15078, -0.04102, 0.33111], [1.57435, -1.47998]),
        (lambda p: nn.Adagrad(p, learning_rate=0.1), [0.22455, -0.14764, 0.48428], [1.53959, -1.38874]),
        (lambda p: nn.Adadelta(p, 1.0, weight_decay=0.01), [0.29774, -0.19859, 0.50227], [1.31328, -1.20782]),
        (lambda p: nn.RMSProp(p, 0.1, momentum=0.5), [0.10952, -0.12835, 0.5402], [1.69442, -1.69972]),
        (lambda p: nn.RMSProp(p, 0.1, centered=True), [0.17219, -0.16319, 0.57859], [1.56899, -1.54077]),
        (lambda p: nn.ProximalAdagrad(p, 0.1, 0.1, 0.01, 0.02), [0.22157, -0.14205, 0.47462], [1.52109, -1.38113]),
        (lambda p: nn.ASGD(p, 0.1), [0.16588, -0.16195, 0.56772], [1.54933, -1.56115]),
        (lambda p: nn.Rprop(p, 0.1), [0.25, -0.15, 0.34], [1.8368, -1.48]),
        (lambda p: nn.AdaFactor(p, weight_decay=0.1), [0.29889, -0.19912, 0.49817], [1.30421, -1.20087]),
        (
            lambda p: nn.SGD([{"params": p[:1], "lr": [0.1, 0.2, 0.3, 0.4]}, {"params": p[1:]}], 0.1),
            [0.16589, -0.16195, 0.56774],
            [1.54939, -1.56121],
        ),
    ],
)
def test_four_steps_end_where_those_of_mindspore_end(make: Any, bias: list[float], gamma: list[float]) -> None:
    result = stepped(make)
    np.testing.assert_allclose(result[1], bias, atol=3e-5)
    np.testing.assert_allclose(result[2], gamma, atol=3e-5)


def test_adafactor_takes_a_rate_of_many_steps_as_it_is() -> None:
    # MindSpore 2.10: a rate that is one number is scaled by the parameter, a list or a Tensor is not.
    def three_steps(rate: Any, **keywords: Any) -> Array:
        w = Parameter(Tensor((np.arange(6, dtype=np.float32) / 3 + 0.5).reshape(2, 3)), "p")
        optimizer = nn.AdaFactor([w], rate, relative_step=False, **keywords)
        for count in range(1, 4):
            optimizer((Tensor(np.array([[1, -2, 3], [0.5, 1, -1]], np.float32)),))
            assert optimizer.step.asnumpy().tolist() == [count]
        return w.asnumpy()

    scaled = [[0.4249847, 0.9083487, 1.0871010], [1.4064394, 1.7397728, 2.2328238]]
    full = [[0.4481129, 0.8852205, 1.1116321], [1.4352854, 1.7686188, 2.2124267]]
    unaveraged = [[0.1080092, 1.2253243, 0.7508976], [1.0111016, 1.3444350, 2.5123701]]
    np.testing.assert_allclose(three_steps(0.1), scaled, rtol=2e-6)
    np.testing.assert_allclose(three_steps([0.1, 0.1, 0.1]), full, rtol=2e-6)
    np.testing.assert_allclose(three_steps(Tensor(0.1)), full, rtol=2e-6)
    np.testing.assert_allclose(three_steps(0.1, beta1=None), unaveraged, rtol=2e-6)


def test_adafactor_refuses_what_it_would_not_heed() -> None:
    with pytest.raises(ValueError, match="without 'relative_step' a 'learning_rate' must be given"):
        nn.AdaFactor([parameter()], relative_step=False)
    with pytest.raises(TypeError, match="'weight_decay' must be a number, not a cell"):
        nn.AdaFactor([parameter()], weight_decay=nn.ExponentialDecayLR(0.1, 0.9, 4))


@pytest.mark.parametrize(
    ("make", "allowed", "refused"),
    [
        (lambda p, x: nn.Adadelta(p, rho=x), (0.0, 1.0), (-0.5, 1.5)),
        (lambda p, x: nn.AdaFactor(p, decay_rate=x), (0.5, 1.0), (0.0, -0.5, 1.5)),
        (lambda p, x: nn.AdaFactor(p, beta1=x), (0.0, 0.5), (-0.5, 1.0)),
        (lambda p, x: nn.FTRL(p, lr_power=x), (0.0, -1.5), (0.5, 1e-6)),
        (lambda p, x: nn.RMSProp(p, epsilon=x), (1e-12, 2.0), (0.0, -1.0)),
        (lambda p, x: nn.Adam(p, beta1=x), (0.5,), (0.0, 1.0, -0.5)),
        (lambda p, x: nn.AdaMax(p, beta2=x), (0.5,), (0.0, 1.0, -0.5)),
    ],
)
def test_a_number_may_be_the_end_of_its_range_and_not_beyond(make: Any, allowed: Any, refused: Any) -> None:
    for number in allowed:
        make([parameter()], number)
    for number in refused:
        with pytest.raises(ValueError, match=str(number)):
            make([parameter()], number)


def test_what_an_optimizer_was_made_with_can_be_read_apart_from_rate_and_parameters() -> None:
    class Mine(nn.Optimizer):
        @nn.optim.optimizer.opt_init_args_register
        def __init__(self, params: Any, learning_rate: float = 0.5, kept: int = 3) -> None:
            super().__init__(learning_rate, params)

    parameters = [parameter()]
    optimizer = Mine(parameters, kept=4)
    assert optimizer.init_args == {"kept": 4}
    assert optimizer.init_learning_rate == 0.5
    assert list(optimizer.init_params) == ["params"] and optimizer.init_params["params"] is parameters


@pytest.mark.parametrize("rates", [[0.5, 0.25, 0.125], Tensor(np.array([0.5, 0.25, 0.125], np.float32))])
def test_after_the_last_rate_of_a_list_that_one_stays(rates: Any) -> None:
    w = parameter()
    optimizer, expected = nn.SGD([w], rates), START
    for rate in (0.5, 0.25, 0.125, 0.125, 0.125):
        assert optimizer.get_lr().asnumpy().tolist() == rate
        optimizer((Tensor(np.ones(3, np.float32)),))
        expected = expected - np.float32(rate)
        np.testing.assert_allclose(w.asnumpy(), expected, rtol=1e-6)


def test_a_rate_of_two_axes_and_a_group_without_parameters_are_named() -> None:
    with pytest.raises(ValueError, match=r"For 'SGD', 'learning_rate' must have at most 1 axis, .* shape \(2, 1\)"):
        nn.SGD([parameter()], Tensor(np.ones((2, 1), np.float32)))
    for inputs, error in ((None, ValueError), (3, TypeError)):
        with pytest.raises(error, match="For 'SGD', the 'params' of a group must be"):
            nn.SGD([{"params": inputs}], 0.1)


def test_gradients_of_several_axes_alone_are_centralized() -> None:
    shapes = ((3,), (2, 3), (2, 3, 2))
    parameters = [Parameter(Tensor(np.zeros(shape, np.float32)), f"p{len(shape)}") for shape in shapes]
    optimizer = nn.SGD([{"params": parameters, "grad_centralization": True}], 1.0)
    gradients = [np.random.default_rng(4).standard_normal(p.shape).astype(np.float32) for p in parameters]
    optimizer(tuple(Tensor(g) for g in gradients))
    expected = [gradients[0], *(g - g.mean(tuple(range(1, g.ndim)), keepdims=True) for g in gradients[1:])]
    for parameter, g in zip(parameters, expected, strict=True):
        np.testing.assert_allclose(parameter.asnumpy(), -g, rtol=1e-6, atol=1e-6)


def test_the_powers_of_the_betas_are_kept_as_state() -> None:
    for kind in (nn.Adam, nn.AdaMax):
        optimizer = kind([parameter()], beta1=0.5, beta2=0.75)
        for step in (1, 2, 3):
            optimizer((Tensor(np.ones(3, np.float32)),))
            assert optimizer.beta1_power.asnumpy().ravel().tolist() == [0.5**step]
    assert nn.AdaMax([parameter()]).beta1_power.asnumpy().tolist() == [1.0]


def test_lars_takes_the_weight_decays_of_the_groups_over_from_the_optimizer() -> None:
    parameters = [parameter(name="a"), parameter(name="b"), parameter(name="bias")]
    groups = [{"params": parameters[:1], "weight_decay": 0.25}, {"params": parameters[1:]}]
    inner = nn.Momentum(groups, 0.5, 0.0, weight_decay=0.125)
    optimizer = nn.LARS(inner, epsilon=1e-3, coefficient=0.5)
    assert [float(item.asnumpy()) for item in inner.get_weight_decay()] == [0.0, 0.0, 0.0]
    g = np.array([1.0, -2.0, 0.5])
    optimizer(tuple(Tensor(g.astype(np.float32)) for _ in parameters))
    lengths = np.linalg.norm(START), np.linalg.norm(g)
    for result, decay in zip(parameters[:2], (0.25, 0.125), strict=True):
        factor = 0.5 * lengths[0] / (lengths[1] + decay * lengths[0] + 1e-3)
        np.testing.assert_allclose(result.asnumpy(), START - 0.5 * factor * (g + decay * START), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(parameters[2].asnumpy(), START - 0.5 * g, rtol=1e-6)  # spared by its name


def test_groups_have_their_own_rate_decay_and_order() -> None:
    first, second = parameter(name="a"), parameter(name="b")
    groups: list[dict[str, Any]] = [
        {"params": [first], "lr": 0.5, "weight_decay": 0.1},
        {"params": [second]},
        {"order_params": [second, first]},
    ]
    optimizer = nn.SGD(groups, 0.25)
    optimizer((Tensor(np.ones(3, np.float32)), Tensor(np.zeros(3, np.float32))))
    np.testing.assert_allclose(second.asnumpy(), START - 0.25)
    np.testing.assert_allclose(first.asnumpy(), START - 0.5 * 0.1 * START, rtol=1e-6)
    assert [float(r.asnumpy()) for r in optimizer.get_lr()] == [0.25, 0.5]


def test_a_schedule_gives_the_rate_of_each_step() -> None:
    w = parameter()
    optimizer = nn.SGD([w], nn.ExponentialDecayLR(0.5, 0.5, 1))
    for _ in range(2):
        optimizer((Tensor(np.ones(3, np.float32)),))
    np.testing.assert_allclose(w.asnumpy(), START - 0.5 - 0.25)


@pytest.mark.parametrize(
    ("argument", "make"),
    [
        ("update_slots", lambda p: nn.Adagrad(p, update_slots=1)),
        ("use_locking", lambda p: nn.FTRL(p, use_locking=1)),
        ("use_locking", lambda p: nn.ProximalAdagrad(p, use_locking=1)),
        ("epsilon", lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9), epsilon="a")),
        ("coefficient", lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9), coefficient="a")),
        ("use_clip", lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9), use_clip=1)),
        ("lars_filter", lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9), lars_filter=1)),
    ],
)
def test_an_argument_of_another_type_is_refused_as_by_mindspore(argument: str, make: Any) -> None:
    with pytest.raises(TypeError, match=f"'{argument}' must be a"):
        make([parameter()])


# Methods of MindSpore's optimizers for a subclass with its own construct. The numbers are those of MindSpore 2.10.


class Bare(nn.Optimizer):
    def construct(self, gradients: Any) -> Any:
        return gradients


def parameter_of(name: str, values: Any) -> Parameter:
    return Parameter(Tensor(np.array(values, np.float32)), name)


def tensors(*values: Any) -> tuple[Tensor, ...]:
    return tuple(Tensor(np.array(value, np.float32)) for value in values)


def assert_equal(result: Any, expected: Any) -> None:
    for first, second in zip(result, expected, strict=True):
        np.testing.assert_allclose(first.asnumpy(), second, rtol=1e-6)


class Falling(nn.Cell):
    def construct(self, step: Tensor) -> Tensor:
        return 0.5 / (step + 1)


MATRIX, GAMMA = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [2.0, 3.0]


def test_gradients_are_decayed_and_scaled_by_what_the_optimizer_was_made_with() -> None:
    optimizer = Bare(0.1, [parameter_of("w", MATRIX), parameter_of("gamma", GAMMA)], weight_decay=0.5, loss_scale=4.0)
    inputs = tensors([[1.0, 1.0, 1.0], [2.0, 4.0, 9.0]], [8.0, 4.0])
    assert_equal(optimizer.decay_weight(inputs), ([[3, 5, 7], [10, 14, 21]], [8, 4]))
    assert_equal(optimizer.scale_grad(inputs), ([[0.25, 0.25, 0.25], [0.5, 1.0, 2.25]], [2, 1]))
    assert optimizer.flatten_gradients(inputs) is inputs and optimizer.gradients_centralization(inputs) is inputs
    assert optimizer.broadcast_params(inputs) is inputs
    plain = Bare(0.1, [parameter_of("w", MATRIX), parameter_of("gamma", GAMMA)])
    assert plain.decay_weight(inputs) is inputs and plain.scale_grad(inputs) is inputs


def test_gradients_of_groups_are_decayed_and_centralized_by_their_group() -> None:
    groups: list[dict[str, Any]] = [
        {
            "params": [parameter_of("a", [[1.0, 2.0], [3.0, 5.0]]), parameter_of("a2", [1.0, 3.0])],
            "weight_decay": 0.25,
            "grad_centralization": True,
        },
        {"params": [parameter_of("b", [[3.0, 5.0]])]},
    ]
    optimizer = Bare(0.1, groups, weight_decay=0.5)
    inputs = tensors([[1.0, 3.0], [2.0, 8.0]], [2.0, 6.0], [[2.0, 4.0]])
    assert_equal(optimizer.decay_weight(inputs), ([[1.25, 3.5], [2.75, 9.25]], [2.25, 6.75], [[3.5, 6.5]]))
    # MindSpore omits cases without a kernel; the mean of each row is the definition of Yong et al. 2020.
    assert_equal(optimizer.gradients_centralization(inputs), ([[-1, 1], [-3, 3]], [2, 6], [[2, 4]]))


@pytest.mark.parametrize(
    ("decay", "scale", "expected"),
    [
        (0.5, 1.0, 0.5),
        (0.5, 4.0, 2.0),
        (Tensor(0.5), 4.0, 2.0),
        (0, 4.0, 0.0),
        (Falling(), 1.0, 0.5),
        (Falling(), 4.0, 2.0),
    ],
)
def test_the_weight_decay_of_a_step_comes_with_the_loss_scale(decay: Any, scale: float, expected: float) -> None:
    optimizer = Bare(0.1, [parameter_of("w", MATRIX)], weight_decay=decay, loss_scale=scale)
    assert optimizer.get_weight_decay().asnumpy().ravel().tolist() == [expected]  # type: ignore[union-attr]
    groups: list[dict[str, Any]] = [
        {"params": [parameter_of("a", MATRIX)], "weight_decay": 0.25},
        {"params": [parameter_of("b", MATRIX), parameter_of("c", MATRIX)]},
    ]
    result = Bare(0.1, groups, weight_decay=decay, loss_scale=scale).get_weight_decay()
    assert [float(item.asnumpy().item()) for item in result] == [0.25 * scale, expected, expected]  # type: ignore[union-attr]
    optimizer.global_step.set_data(Tensor(np.array([4], np.int32)))
    expected = expected / 5 if isinstance(decay, Falling) else expected
    assert float(optimizer.get_weight_decay().asnumpy().item()) == pytest.approx(expected)  # type: ignore[union-attr]


def test_the_rate_of_a_parameter_is_that_of_its_group() -> None:
    a, b, c = parameter_of("a", MATRIX), parameter_of("b", MATRIX), parameter_of("c", MATRIX)
    falling = nn.ExponentialDecayLR(0.1, 0.5, 2)
    optimizer = Bare(0.25, [{"params": [a], "lr": [0.5, 0.125]}, {"params": [b], "lr": falling}, {"params": [c]}])
    listed, cell, common = optimizer.get_lr_parameter([a, b, c])
    assert (listed.name, listed.tolist()) == ("learning_rate_group_0", [0.5, 0.125])
    assert cell is falling and (common.name, common.item()) == ("learning_rate", 0.25)
    assert optimizer.get_lr_parameter(b) is falling and optimizer.get_lr_parameter((c,)) == [common]
    plain = Bare([0.5, 0.25], [a])
    assert plain.get_lr_parameter(a).tolist() == [0.5, 0.25]
    with pytest.raises(TypeError, match="'param' must be a Parameter or list, got int"):
        plain.get_lr_parameter(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'param' must be a Parameter or list, got list"):
        plain.get_lr_parameter([3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="the parameter 'b' is not in the optimizer"):
        plain.get_lr_parameter(b)


def test_the_rate_of_lars_is_that_of_the_optimizer_in_it() -> None:
    inner = nn.Momentum([parameter_of("w", MATRIX)], [0.5, 0.25], 0.9)
    outer: Any = nn.LARS(inner)
    assert outer.get_lr().item() == 0.5
    outer((Tensor(MATRIX),))
    assert outer.get_lr().item() == 0.25


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Tensor([0.5, -1.0]), [1.5, 1.0]),
        (np.array([3.0]), [4.0, 5.0]),
        (2, [3.0, 4.0]),
        (Tensor(0.25), [1.25, 2.25]),
        (Tensor(np.array([0.5, 1.5])), [1.5, 3.5]),
    ],
)
def test_what_is_added_to_a_parameter_keeps_its_dtype_and_is_not_recorded(value: Any, expected: list[float]) -> None:
    p, optimizer = parameter_of("p", [1.0, 2.0]), Bare(0.1, [parameter_of("w", MATRIX)])
    slope = ms.grad(lambda x: (x * optimizer.assignadd(p, value)).sum())(Tensor([1.0, 1.0]))
    assert p.tolist() == slope.tolist() == expected and p.dtype == ms.float32


def test_a_value_that_would_change_the_shape_of_a_parameter_is_not_added() -> None:
    p = parameter_of("p", [1.0, 2.0])
    with pytest.raises(ValueError, match=r"'value' must broadcast to the shape \(2,\), but got \(3, 2\)"):
        Bare(0.1, [p]).assignadd(p, Tensor(np.zeros((3, 2), np.float32)))
    assert p.tolist() == [1.0, 2.0]


def test_target_and_unique_are_kept_for_readers() -> None:
    optimizer = Bare(0.1, [parameter_of("w", MATRIX)])
    assert (optimizer.target, optimizer.unique) == ("CPU", True)
    optimizer.unique = False
    assert optimizer.unique is False
    for device in ("CPU", "GPU", "Ascend"):
        optimizer.target = device
    assert optimizer.target == "CPU"  # where the parameters are
    with pytest.raises(TypeError, match="'target' must be a str, but got int"):
        optimizer.target = 3  # type: ignore[assignment]
    with pytest.raises(ValueError, match="'target' must be 'CPU', 'GPU' or 'Ascend', got 'TPU'"):
        optimizer.target = "TPU"
    with pytest.raises(TypeError, match="'unique' must be a bool, but got int"):
        optimizer.unique = 1  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("rate", "base", "last"),  # as MindSpore 2.10 has them
    [
        (0.02, 0.1, None),
        (0.02, nn.CosineDecayLR(0.1, 0.2, 3), ["learning_rate_group_0"]),
        (0.02, [0.1, 0.2], ["learning_rate_group_0", "learning_rate"]),
        ([0.1, 0.2], 0.1, ["learning_rate_group_0", "learning_rate"]),
        (nn.CosineDecayLR(0.1, 0.2, 3), 0.1, ["learning_rate"]),
    ],
)
def test_constant_rates_beside_schedules_come_last(rate: Any, base: Any, last: list[str] | None) -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 1))
    first, second = net[0].trainable_params(), net[1].trainable_params()
    optimizer = nn.SGD([{"params": first, "lr": rate}, {"params": second}], base, momentum=0.0)
    names = [p.name for p in optimizer.get_parameters() if not p.name.startswith(("accum", "stat", "momentum"))]
    own = ["0.weight", "0.bias", "1.weight", "1.bias"]
    if last is None:
        assert names == ["global_step", "learning_rate_group_0", "learning_rate", *own]
    else:
        assert names == ["global_step", *own, *last]
    if base == 0.1:
        assert float(optimizer.get_lr_parameter(second[0]).asnumpy()) == np.float32(0.1)
        assert [float(r.asnumpy()) for r in optimizer.get_lr()[2:]] == [np.float32(0.1)] * 2


@pytest.mark.parametrize(
    ("name", "returned"),
    [
        *((name, (True, True)) for name in ("SGD", "Adam", "AdamWeightDecay", "RMSProp", "Adagrad", "FTRL")),
        *((name, (True, True)) for name in ("LazyAdam", "ProximalAdagrad", "AdaMax", "Adadelta", "AdamOffload")),
        *((name, True) for name in ("ASGD", "Rprop")),
    ],
)
def test_a_step_returns_what_mindspore_returns(name: str, returned: Any) -> None:
    ones = Tensor(np.ones(2, np.float32))
    weights = [Parameter(ones, name="v"), Parameter(ones, name="w")]
    assert getattr(nn, name)(weights, learning_rate=0.1)((ones, ones)) == returned


def test_a_group_without_params_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="group 0 has no 'params'"):
        nn.SGD([{"lr": 0.1}], 0.1)
