"""Distributions against integrals and sums of their own densities, and densities against the textbook."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import hookscope.engine as ms
from hookscope.engine import Tensor
from hookscope.engine.nn.probability import distribution as msd

LOG_2PI = math.log(2 * math.pi)
# family -> (parameters, others for divergences, where to integrate, the log of the density by the textbook)
CONTINUOUS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...], tuple[float, float], Callable[[Any], Any]]] = {
    "Normal": ((0.5, 2.0), (0.1, 1.5), (-25, 25), lambda x: -((x - 0.5) ** 2) / 8 - math.log(2) - LOG_2PI / 2),
    "LogNormal": (
        (0.2, 0.5),
        (0.1, 0.7),
        (1e-6, 60),
        lambda x: -((np.log(x) - 0.2) ** 2) * 2 - np.log(x) - math.log(0.5) - LOG_2PI / 2,
    ),
    "Uniform": ((0.5, 2.0), (0.0, 3.0), (0.5, 2.0), lambda x: np.full_like(x, -math.log(1.5))),
    "Exponential": ((0.7,), (1.2,), (0, 60), lambda x: math.log(0.7) - 0.7 * x),
    "Gamma": (([2.0], [1.5]), ([3.0], [1.0]), (1e-9, 40), lambda x: np.log(x) - 1.5 * x + 2 * math.log(1.5)),
    "Beta": (([2.0], [3.0]), ([1.5], [2.5]), (1e-9, 1 - 1e-9), lambda x: np.log(12 * x * (1 - x) ** 2)),
    "Gumbel": ((0.5, 2.0), (0.1, 2.5), (-12, 90), lambda x: -(x - 0.5) / 2 - np.exp(-(x - 0.5) / 2) - math.log(2)),
    "Logistic": ((0.5, 1.0), (), (-45, 45), lambda x: -(x - 0.5) - 2 * np.log1p(np.exp(-(x - 0.5)))),
    "Laplace": ((0.5, 2.0), (), (-79.5, 80.5), lambda x: -np.abs(x - 0.5) / 2 - math.log(4)),
    "HalfNormal": ((0.0, 2.0), (), (0, 25), lambda x: -(x**2) / 8 + 0.5 * math.log(2 / math.pi) - math.log(2)),
    "StudentT": (
        (5.0, 0.5, 2.0),
        (),
        (-800, 800),
        lambda x: -3 * np.log1p(((x - 0.5) / 2) ** 2 / 5) + math.log(4 / (3 * math.pi * math.sqrt(5))),
    ),
}
COUNTS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...], Callable[[int], float]]] = {
    "Bernoulli": ((0.3,), (0.6,), lambda k: (0.7, 0.3)[k] if k < 2 else 0.0),
    "Geometric": ((0.3,), (0.6,), lambda k: 0.3 * 0.7**k),
    "Poisson": (([2.5],), (), lambda k: math.exp(-2.5) * 2.5**k / math.factorial(k)),
    "Categorical": (([0.2, 0.3, 0.5],), ([0.5, 0.25, 0.25],), lambda k: (0.2, 0.3, 0.5)[k]),
}
LENGTH = {"Bernoulli": 2, "Categorical": 3}
PARTIAL = {"Laplace", "HalfNormal", "StudentT"}  # MindSpore has the density alone


def instance(name: str, parameters: tuple[Any, ...], **more: Any) -> Any:
    return getattr(msd, name)(*parameters, dtype=ms.float64, **more)


def tensors(parameters: tuple[Any, ...]) -> list[Tensor]:
    return [Tensor(np.asarray(parameter, np.float64)) for parameter in parameters]


def value(x: Any) -> Any:
    return np.squeeze(x.asnumpy())


def integral(x: Any, y: Any) -> float:
    return float(((y[1:] + y[:-1]) * np.diff(x)).sum() / 2)


def points(name: str) -> Any:
    low, high = CONTINUOUS[name][2]
    t = np.linspace(0, 1, 400_001)
    return low + (high - low) * t * t * (3 - 2 * t)  # closer together at the ends


@pytest.mark.parametrize("name", CONTINUOUS)
def test_densities_are_those_of_the_textbook_and_integrate_to_one(name: str) -> None:
    parameters, _, _, log_density = CONTINUOUS[name]
    x, dist = points(name), instance(name, parameters)
    prob = value(dist.prob(Tensor(x)))
    assert integral(x, prob) == pytest.approx(1, abs=1e-5)
    inside = x[1:-1:1000]
    np.testing.assert_allclose(value(dist.log_prob(Tensor(inside))), log_density(inside), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in CONTINUOUS if name not in PARTIAL])
def test_moments_entropy_and_divergence_are_integrals_of_the_density(name: str) -> None:
    parameters, other, _, _ = CONTINUOUS[name]
    x, dist = points(name), instance(name, parameters)
    p, log_p = value(dist.prob(Tensor(x))), value(dist.log_prob(Tensor(x)))
    mean = integral(x, x * p)
    var = integral(x, (x - mean) ** 2 * p)
    weighted = np.where(p > 0, p * np.where(p > 0, log_p, 0), 0)
    assert float(value(dist.mean())) == pytest.approx(mean, rel=1e-4)
    assert float(value(dist.var())) == pytest.approx(var, rel=1e-3)
    assert float(value(dist.sd())) == pytest.approx(math.sqrt(var), rel=1e-3)
    assert float(value(dist.entropy())) == pytest.approx(-integral(x, weighted), abs=1e-4)
    if name != "Uniform":
        assert float(value(dist.mode())) == pytest.approx(x[p.argmax()], abs=1e-2)
    if other:
        log_q = value(instance(name, other).log_prob(Tensor(x)))
        expected = integral(x, np.where(p > 1e-300, p * (np.where(p > 1e-300, log_p - log_q, 0)), 0))
        result = float(value(dist.kl_loss(name, *tensors(other))))
        assert result == pytest.approx(expected, abs=1e-4)
        total = result + float(value(dist.entropy()))
        assert float(value(dist.cross_entropy(name, *tensors(other)))) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in CONTINUOUS if name not in PARTIAL | {"Beta"}])
def test_cumulative_functions_are_integrals_of_the_density(name: str) -> None:
    x, dist = points(name), instance(name, CONTINUOUS[name][0])
    p = value(dist.prob(Tensor(x)))
    summed = np.concatenate([[0], np.cumsum((p[1:] + p[:-1]) * np.diff(x) / 2)])
    at = slice(40_000, 360_000, 4_000)
    cdf = value(dist.cdf(Tensor(x[at])))
    np.testing.assert_allclose(cdf, summed[at], atol=2e-5)
    np.testing.assert_allclose(value(dist.survival_function(Tensor(x[at]))), 1 - cdf, atol=1e-12)
    some = Tensor(x[at][(cdf > 1e-6) & (cdf < 1 - 1e-6)])
    np.testing.assert_allclose(np.exp(value(dist.log_cdf(some))), value(dist.cdf(some)), rtol=1e-9)
    np.testing.assert_allclose(np.exp(value(dist.log_survival(some))), 1 - value(dist.cdf(some)), rtol=1e-7)


# family -> (parameters of the object, others for one call, those of the other one of a divergence, SciPy's distribution
# of the same parameters, its mode)
FAMILIES: dict[str, tuple[tuple[Any, ...], tuple[Any, ...], tuple[float, ...], Callable[..., Any], Any]] = {
    "Normal": (([0.5, -1.0], 2.0), ([[1.5], [0.25]], [0.75, 1.5]), (0.3, 1.25), stats.norm, lambda loc, scale: loc),
    "LogNormal": (
        ([0.5, -1.0], 0.75),
        ([[0.125], [0.25]], [0.5, 1.5]),
        (0.3, 1.25),
        lambda loc, scale: stats.lognorm(scale, scale=np.exp(loc)),
        lambda loc, scale: np.exp(loc - scale**2),
    ),
    "Uniform": (
        ([0.5, -1.0], 2.0),
        ([[0.25], [0.75]], [1.0, 1.5]),
        (-2.0, 3.0),
        lambda a, b: stats.uniform(a, b - a),
        None,
    ),
    "Exponential": (
        ([0.5, 2.0],),
        ([[0.25], [1.5]],),
        (1.25,),
        lambda rate: stats.expon(scale=1 / rate),
        np.zeros_like,
    ),
    "Gamma": (
        ([1.5, 2.0], [0.5]),
        ([[3.0], [2.5]], [0.75, 1.5]),
        (1.75, 1.25),
        lambda a, rate: stats.gamma(a, scale=1 / rate),
        lambda a, rate: (a - 1) / rate,
    ),
    "Beta": (
        ([1.5, 2.0], [3.0]),
        ([[3.0], [2.5]], [1.75, 1.25]),
        (1.75, 1.25),
        stats.beta,
        lambda a, b: (a - 1) / (a + b - 2),
    ),
    "Gumbel": (([0.5, -1.0], 2.0), (), (), stats.gumbel_r, lambda loc, scale: loc),
    "Logistic": (([0.5, -1.0], 2.0), ([[3.0], [0.25]], [0.5, 1.5]), (), stats.logistic, lambda loc, scale: loc),
    "Cauchy": (([0.5, -1.0], 2.0), ([[3.0], [0.25]], [0.5, 1.5]), (0.3, 1.25), stats.cauchy, lambda loc, scale: loc),
    "Laplace": (([0.5, -1.0], 2.0), ([[3.0], [0.25]], [0.5, 1.5]), (), stats.laplace, None),
    "StudentT": (([2.5, 4.0], 0.5, 2.0), ([[3.0], [1.5]], [0.5, 1.5], 0.75), (), stats.t, None),
    "Bernoulli": (([0.25, 0.75],), ([[0.5], [0.875]],), (0.375,), stats.bernoulli, lambda p: p > 0.5),
    "Geometric": (([0.25, 0.75],), ([[0.5], [0.875]],), (0.375,), lambda p: stats.geom(p, loc=-1), np.zeros_like),
    "Poisson": (([0.25, 3.5],), ([[1.5], [2.875]],), (), stats.poisson, np.floor),
}
POINTS = np.array([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0])  # the ends of supports too, and what lies outside


def calls_of(name: str) -> list[tuple[Any, tuple[Any, ...], tuple[Any, ...]]]:
    """Return a distribution, the call's arguments, and the parameters that apply: the object's, the call's, or both."""
    own, other = FAMILIES[name][:2]
    results = [(instance(name, own), (), own)]
    if other:
        inputs = tensors(other)
        results += [(instance(name, own), tuple(inputs), other), (instance(name, ()), tuple(inputs), other)]
    if len(other) > 1:
        results += [
            (instance(name, own), (inputs[0],), (other[0], *own[1:])),
            (instance(name, own), (None, *inputs[1:]), (own[0], *other[1:])),
        ]
    return [(dist, at_call, tuple(np.asarray(item, np.float64) for item in used)) for dist, at_call, used in results]


def same(result: Tensor, expected: Any, rtol: float = 1e-9) -> None:
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_parameters_of_a_call_stand_for_those_of_the_object_in_densities(name: str) -> None:
    for dist, at_call, used in calls_of(name):
        reference = FAMILIES[name][3](*used)
        x = POINTS.reshape(-1, *[1] * np.broadcast(*used, 0).ndim)
        # MindSpore's formula can differ from SciPy's outside of the support, and between whole numbers.
        supported = {"Beta": (x > 0) & (x < 1), "LogNormal": x > 0, "Gamma": x > 0}.get(name, np.full(x.shape, True))
        if name in COUNTS:
            supported = (x % 1 == 0) & ((name != "Bernoulli") | (x == 0) | (x == 1))
        inside = x[supported].reshape(-1, *x.shape[1:])
        density, log_density = (
            (reference.pmf, reference.logpmf) if name in COUNTS else (reference.pdf, reference.logpdf)
        )
        same(dist.prob(Tensor(inside), *at_call), density(inside))
        with np.errstate(divide="ignore"):
            same(dist.log_prob(Tensor(inside), *at_call), log_density(inside), 1e-7)
        if name in PARTIAL | {"Beta"}:
            continue
        if name in {"Poisson", "Gamma"}:
            x = inside
        same(dist.cdf(Tensor(x), *at_call), reference.cdf(x), 1e-7)
        same(dist.survival_function(Tensor(x), *at_call), reference.sf(x), 1e-7)
        with np.errstate(divide="ignore"):
            same(dist.log_cdf(Tensor(x), *at_call), reference.logcdf(x), 1e-7)
            same(dist.log_survival(Tensor(x), *at_call), reference.logsf(x), 1e-7)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in PARTIAL])
def test_parameters_of_a_call_stand_for_those_of_the_object_in_moments_and_divergences(name: str) -> None:
    _, _, of_other, family, mode = FAMILIES[name]
    for dist, at_call, used in calls_of(name):
        reference, shape = family(*used), np.broadcast_shapes(*(item.shape for item in used))
        if name != "Cauchy":
            same(dist.mean(*at_call), np.broadcast_to(reference.mean(), shape), 1e-6)
            same(dist.var(*at_call), np.broadcast_to(reference.var(), shape), 1e-6)
            same(dist.sd(*at_call), np.broadcast_to(reference.std(), shape), 1e-6)
        if mode is not None:
            same(dist.mode(*at_call), np.broadcast_to(mode(*used), shape))
        if name != "Poisson":
            same(dist.entropy(*at_call), np.broadcast_to(reference.entropy(), shape), 1e-6)
        if not of_other:
            continue
        other = family(*of_other)
        log_of_other = other.logpmf if name in COUNTS else other.logpdf
        cross = np.empty(shape)
        for index in np.ndindex(shape):
            subject = family(*(np.broadcast_to(parameter, shape)[index] for parameter in used))
            cross[index] = -subject.expect(log_of_other)
        inputs = tensors(of_other)
        same(dist.cross_entropy(name, *inputs, *at_call), cross, 1e-5)
        same(dist.kl_loss(name, *inputs, *at_call), cross - reference.entropy(), 1e-4)


def test_cauchys_distribution_has_a_density_and_no_moments() -> None:
    dist = instance("Cauchy", (0.5, 2.0))
    x = np.linspace(-9, 9, 50)
    np.testing.assert_allclose(value(dist.prob(Tensor(x))), 1 / (2 * math.pi * (1 + ((x - 0.5) / 2) ** 2)), rtol=1e-12)
    np.testing.assert_allclose(value(dist.cdf(Tensor(x))), np.arctan((x - 0.5) / 2) / math.pi + 0.5, rtol=1e-12)
    assert float(value(dist.entropy())) == pytest.approx(math.log(8 * math.pi))
    assert float(value(dist.kl_loss("Cauchy", *tensors((0.5, 2.0))))) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(value(dist.log_cdf(Tensor(x))), stats.cauchy.logcdf(x, 0.5, 2.0), rtol=1e-12)
    assert value(dist.mode()) == 0.5 and value(dist.mode(*tensors((3.0,)))) == 3.0
    # The cross entropy of Chyzak and Nielsen 2019.
    result = dist.cross_entropy("Cauchy", *tensors((-1.0, 0.7)))
    assert float(value(result)) == pytest.approx(math.log(math.pi * ((2.0 + 0.7) ** 2 + (0.5 + 1.0) ** 2) / 0.7))
    for function in (dist.mean, dist.sd, dist.var):
        with pytest.raises(ValueError, match="undefined"):
            function()


def test_samples_of_cauchys_distribution_are_spread_as_its_cumulative_function() -> None:
    x = msd.Cauchy([0.5, -3.0], [2.0, 0.1], seed=3).sample((10_000,))
    assert (x.shape, x.dtype) == ((10_000, 2), ms.float32)
    for column, parameters in zip(x.asnumpy().T, ((0.5, 2.0), (-3.0, 0.1)), strict=True):
        assert stats.kstest(column, "cauchy", parameters).pvalue > 1e-3


@pytest.mark.parametrize("name", COUNTS)
def test_counts_have_the_probabilities_of_the_textbook_and_their_sums(name: str) -> None:
    parameters, other, pmf = COUNTS[name]
    dist, k = getattr(msd, name)(*parameters), np.arange(LENGTH.get(name, 80))
    expected = np.array([pmf(int(n)) for n in k])
    p = value(dist.prob(Tensor(k, ms.float32)))
    np.testing.assert_allclose(p, expected, rtol=2e-5, atol=1e-7)
    np.testing.assert_allclose(value(dist.cdf(Tensor(k, ms.float32))), np.cumsum(expected), rtol=2e-5)
    mean = float((k * expected).sum())
    assert float(value(dist.mean())) == pytest.approx(mean, rel=1e-5)
    assert float(value(dist.var())) == pytest.approx(float(((k - mean) ** 2 * expected).sum()), rel=1e-5)
    assert int(value(dist.mode())) == int(expected.argmax())
    if other:
        nats = -float((expected * np.log(expected)).sum())
        q = value(getattr(msd, name)(*other).prob(Tensor(k, ms.float32))).astype(np.float64)
        assert float(value(dist.entropy())) == pytest.approx(nats, rel=1e-4)
        apart = float((expected * (np.log(expected) - np.log(np.maximum(q, 1e-300)))).sum())
        result = dist.kl_loss(name, *[Tensor(np.asarray(item, np.float32)) for item in other])
        assert float(value(result)) == pytest.approx(apart, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "of_a", "of_b"),
    [
        ("Bernoulli", [0.3, 0.5], [0.6, 0.2]),
        ("Geometric", [0.3, 0.8], [0.6, 0.1]),
        ("Categorical", [0.2, 0.3, 0.5], [0.5, 0.4, 0.1]),
    ],
)
def test_a_cross_entropy_of_counts_is_the_mean_of_the_other_logarithm(name: str, of_a: Any, of_b: Any) -> None:
    k = np.arange(2 if name == "Bernoulli" else 400)[:, None]

    def probabilities(argument: Any) -> Any:
        p = np.array(argument)
        return {
            "Bernoulli": lambda: np.where(k == 1, p, 1 - p),
            "Geometric": lambda: p * (1 - p) ** k,
            "Categorical": lambda: p[:, None],
        }[name]()

    want = -(probabilities(of_a) * np.log(probabilities(of_b))).sum(0)
    result = getattr(msd, name)(of_a).cross_entropy(name, Tensor(of_b))
    np.testing.assert_allclose(value(result), np.squeeze(want), rtol=1e-5)
    result = getattr(msd, name)().cross_entropy(name, Tensor(of_b), Tensor(of_a))
    np.testing.assert_allclose(value(result), np.squeeze(want), rtol=1e-5)


def test_numbers_of_a_categorical_distribution_are_along_the_last_axis() -> None:
    of_a = np.array([[[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], [[0.25, 0.5, 0.25], [0.1, 0.2, 0.7]]])
    of_a = np.concatenate([of_a, of_a[:, :1]], 1)  # (2, 3, 3): summing along another axis would fit too
    of_b, k = np.array([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6], [0.3, 0.3, 0.4]]), np.arange(3)
    mean = (k * of_a).sum(-1, keepdims=True)
    nats = -(of_a * np.log(of_a)).sum(-1)
    apart = (of_a * (np.log(of_a) - np.log(of_b))).sum(-1)
    another = Tensor(np.flip(of_a, -1).copy())
    rtol = 1e-5  # as in MindSpore an array or a tensor makes it float32
    for dist, inputs in (
        (instance("Categorical", (of_a,)), ()),
        (instance("Categorical", (another,)), (Tensor(of_a),)),
    ):
        same(dist.mean(*inputs), mean, rtol)
        same(dist.var(*inputs), ((k - mean) ** 2 * of_a).sum(-1, keepdims=True), rtol)
        same(dist.mode(*inputs), of_a.argmax(-1))
        same(dist.entropy(*inputs), nats, rtol)
        same(dist.kl_loss("Categorical", Tensor(of_b), *inputs), apart, 1e-4)
        same(dist.cross_entropy("Categorical", Tensor(of_b), *inputs), nats + apart, rtol)
        # A value between -1 and 0 counts as 0; others are rounded down.
        for x, number in ((-1.0, None), (-0.5, 0), (0.0, 0), (0.75, 0), (1.0, 1), (2.0, 2), (2.5, 2), (3.0, None)):
            expected = np.full((2, 3), np.nan) if number is None else of_a[..., number]
            same(dist.prob(Tensor([x]), *inputs), expected, rtol)
            below = np.full((2, 3), float(x > 0)) if number is None else of_a[..., : number + 1].sum(-1)
            same(dist.cdf(Tensor([x]), *inputs), below, rtol)
    values = np.array([[2.0, 0.0, 1.0]] * 4).reshape(4, 1, 3)
    picked = np.broadcast_to(np.stack([of_a[:, 0, 2], of_a[:, 1, 0], of_a[:, 2, 1]], -1), (4, 2, 3))
    same(instance("Categorical", (of_a,)).prob(Tensor(values)), picked, rtol)
    # MindSpore leaves axes of length 1 out.
    same(instance("Categorical", (of_a[:1],)).entropy(), nats[0], rtol)
    same(instance("Categorical", (of_a[:1],)).kl_loss("Categorical", Tensor(of_b)), apart[0], 1e-4)
    drawn = msd.Categorical(of_a, seed=5).sample((1000, 4))
    assert drawn.shape == (1000, 4, 2, 3)
    shares = (drawn.asnumpy()[..., None] == k).mean((0, 1))
    np.testing.assert_allclose(shares, of_a, atol=0.04)  # 5 standard deviations


def test_a_uniform_distribution_is_infinitely_far_from_one_that_does_not_cover_it() -> None:
    low_b, high_b = np.array([0.5, 0.0, 0.75, 0.0, 1.0]), np.array([2.0, 3.0, 2.5, 1.5, 1.5])
    with np.errstate(divide="ignore"):
        expected = np.log(np.where((low_b <= 0.5) & (high_b >= 2.0), high_b - low_b, np.inf))
    argument = tuple(Tensor(variant) for variant in (low_b, high_b))
    same(instance("Uniform", (0.5, 2.0)).cross_entropy("Uniform", *argument), expected)
    same(instance("Uniform", (0.5, 2.0)).kl_loss("Uniform", *argument), expected - math.log(1.5))
    same(instance("Uniform", (0.5, 2.0)).prob(Tensor([0.25, 0.5, 2.0, 2.25])), np.array([0, 1 / 1.5, 1 / 1.5, 0]), 1e-6)


def test_a_cumulative_function_of_bernoulli_steps_at_0_and_1() -> None:
    x = Tensor([[-0.5], [0.0], [0.5], [1.0], [2.0]])
    same(instance("Bernoulli", ([0.25, 0.75],)).cdf(x), np.array([[0, 0], [0.75, 0.25], [0.75, 0.25], [1, 1], [1, 1]]))


def test_there_is_no_half_normal_density_below_0() -> None:
    x = np.array([-1.0, -1e-3, 0.0, 1e-3, 1.0])[:, None]
    for dist, at_call in (
        (instance("HalfNormal", ([0.5, -1.0], 2.0)), ()),
        (instance("HalfNormal", (3.0, 4.0)), tuple(tensors(([0.5, -1.0], 2.0)))),
    ):
        same(dist.prob(Tensor(x), *at_call), np.where(x >= 0, 2 * stats.norm([0.5, -1.0], 2.0).pdf(x), 0))


def test_modes_that_are_no_peak_are_not_numbers() -> None:
    np.testing.assert_array_equal(value(instance("Gamma", ([0.5, 1.0, 1.5], [2.0])).mode()), [np.nan, np.nan, 0.25])
    result = instance("Beta", ([1.0, 1.5, 0.5, 1.5], [1.5, 1.0, 1.5, 1.5])).mode()
    np.testing.assert_array_equal(value(result), [np.nan, np.nan, np.nan, 0.5])


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in PARTIAL])
def test_samples_with_the_parameters_of_a_call_are_spread_as_their_cumulative_function(name: str) -> None:
    own, other, _, family, _ = FAMILIES[name]
    count = 5_000
    for at_call, used in (((), own), (tuple(tensors(other)), other))[: 2 if other else 1]:
        dist = getattr(msd, name)(*own, seed=11)
        parameters = [np.asarray(item, np.float64) for item in used]
        shape = np.broadcast_shapes(*(parameter.shape for parameter in parameters))
        x = dist.sample((2, count), *at_call)
        assert (x.shape, x.dtype) == ((2, count, *shape), dist.dtype)
        for index in np.ndindex(shape):
            reference = family(*(np.broadcast_to(parameter, shape)[index] for parameter in parameters))
            drawn = x.asnumpy()[(slice(None), slice(None), *index)].ravel().astype(np.float64)
            if name in COUNTS:
                values = np.unique(drawn)
                result = (drawn <= values[:, None]).mean(-1)
                np.testing.assert_allclose(result, reference.cdf(values), atol=0.03)
            else:
                assert stats.kstest(drawn, reference.cdf).pvalue > 1e-4


def test_families_that_invert_their_cumulative_function_draw_one_quantile_with_one_seed() -> None:
    functions = {"Cauchy": stats.cauchy(0.5, 2.0).cdf, "Logistic": stats.logistic(0.5, 2.0).cdf}
    results = [cdf(instance(name, (0.5, 2.0), seed=3).sample((500,)).asnumpy()) for name, cdf in functions.items()]
    above = stats.expon(scale=1 / 0.5).sf(instance("Exponential", (0.5,), seed=3).sample((500,)).asnumpy())
    np.testing.assert_allclose(results[0], above, rtol=1e-5)
    np.testing.assert_allclose(results[1], above, rtol=1e-5)


@pytest.mark.parametrize("name", [*(name for name in CONTINUOUS if name not in PARTIAL), *COUNTS])
def test_samples_have_the_mean_and_variance_of_the_distribution(name: str) -> None:
    parameters = CONTINUOUS[name][0] if name in CONTINUOUS else COUNTS[name][0]
    dist, count = getattr(msd, name)(*parameters, seed=7), 40_000
    x = value(dist.sample((count,))).astype(np.float64)
    mean, var = float(value(dist.mean())), float(value(dist.var()))
    assert x.shape == (count,)
    assert abs(x.mean() - mean) < 5 * math.sqrt(var / count)
    assert abs(x.var() - var) < 5 * math.sqrt(((x - mean) ** 4).mean() / count)


def test_a_seed_repeats_a_sequence_of_draws_and_no_single_draw() -> None:
    left, right = (msd.Normal(0.0, 1.0, seed=3) for _ in range(2))
    first = [left.sample((5,)).asnumpy().tolist() for _ in range(2)]
    assert first == [right.sample((5,)).asnumpy().tolist() for _ in range(2)] and first[0] != first[1]


@pytest.mark.parametrize("name", ["Normal", "LogNormal", "Exponential", "Logistic", "Gamma", "Beta", "Cauchy"])
def test_gradients_pass_through_to_the_value_and_the_parameters(name: str) -> None:
    parameters = tuple(CONTINUOUS[name][0]) if name in CONTINUOUS else (0.5, 2.0)
    dist = getattr(msd, name)(dtype=ms.float64)
    at = [Tensor(np.array([0.3, 0.6])), *[Tensor(np.resize(np.asarray(p, np.float64), 2)) for p in parameters]]

    def f(*arguments: Tensor) -> Any:
        return dist.log_prob(*arguments).sum()

    result = ms.grad(f, tuple(range(len(at))))(*at)
    for i, gradient in enumerate(result if isinstance(result, tuple) else (result,)):
        for j in range(2):
            step = np.zeros(2)
            step[j] = 1e-6
            moved = [f(*[a + Tensor(s * step) if k == i else a for k, a in enumerate(at)]) for s in (1, -1)]
            slope = (float(moved[0].asnumpy()) - float(moved[1].asnumpy())) / 2e-6
            assert float(gradient.asnumpy()[j]) == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_a_distribution_says_what_it_was_made_with_as_mindspores_does() -> None:
    wide = msd.Normal(Tensor(np.zeros((2, 1), np.float32)), Tensor(np.ones(3, np.float32)), name="mine")
    for dist, name, seed, shape, scalar in (
        (msd.Normal(0.0, 1.0, seed=3), "Normal", 3, (), True),
        (wide, "mine", 0, (2, 3), False),
        (msd.Normal(), "Normal", 0, None, True),
    ):
        assert (dist.name, dist.seed, dist.batch_shape, dist.broadcast_shape) == (name, seed, shape, shape)
        assert dist.is_scalar_batch is scalar and dist.dtype is ms.float32


def test_without_a_seed_samples_come_from_the_engines_stream() -> None:
    def drawn(seed: int | None) -> list[float]:
        ms.set_seed(5)
        dist = msd.Normal(0.0, 1.0, seed=seed)
        assert dist.seed == 0
        return dist.sample((3,)).asnumpy().tolist() + dist.sample((3,)).asnumpy().tolist()

    ms.set_seed(5)
    expected = ms.ops.standard_normal((3,)).asnumpy().tolist() + ms.ops.standard_normal((3,)).asnumpy().tolist()
    assert drawn(None) == drawn(0) == expected


def test_a_distribution_computes_in_the_dtype_of_its_tensors_as_mindspores_does() -> None:
    for inputs, dtype, expected in (
        (ms.float16, ms.float16, ms.float16),
        (ms.float16, ms.float32, ms.float16),
        (ms.float32, ms.float32, ms.float32),
        (ms.float64, ms.float64, ms.float32),
    ):
        dist = msd.Normal(Tensor([0.5], inputs), Tensor([2.0], inputs), dtype=dtype)
        assert dist.mean().dtype == dist.sd().dtype == expected and dist.sample((2,)).dtype == dtype
    for dtype in (ms.float16, ms.float32, ms.float64):
        assert msd.Normal(0.5, [2.0], dtype=dtype).mean().dtype == dtype
    assert msd.Bernoulli(0.5).mean().dtype == ms.float32  # its samples are ints


def test_gradients_pass_through_a_sample_to_the_parameters() -> None:
    dist = msd.Normal(seed=5)
    subject = ms.grad(lambda mean, sd: dist.sample((4,), mean, sd).sum(), (0, 1))(Tensor([1.0]), Tensor([2.0]))
    assert subject[0].asnumpy().tolist() == [4.0] and subject[1].asnumpy()[0] != 0


def test_a_method_is_called_by_its_name() -> None:
    dist, x = msd.Normal(0.0, 1.0), Tensor([0.5])
    for name in ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival"):
        assert dist(name, x).asnumpy() == getattr(dist, name)(x).asnumpy()
    assert dist("get_dist_type") == "Normal" and dist("sample", (2,)).shape == (2,)
    assert [item.asnumpy().tolist() for item in dist("get_dist_args", sd=x)] == [0.0, [0.5]]
    assert str(dist) == "Normal(mean = 0.0, standard deviation = 1.0)"


PARAMETERS: dict[str, dict[str, Any]] = {
    "Bernoulli": {"probs": [0.25, 0.5]},
    "Beta": {"concentration1": [2.0], "concentration0": [3.0, 4.0]},
    "Categorical": {"probs": [[0.25, 0.75], [0.5, 0.5]]},
    "Cauchy": {"loc": 0.5, "scale": 2.0},
    "Exponential": {"rate": 0.75},
    "Gamma": {"concentration": [2.0, 3.0], "rate": [1.5]},
    "Geometric": {"probs": 0.25},
    "Gumbel": {"loc": [0.5, 1.0], "scale": 2.0},
    "LogNormal": {"loc": 0.25, "scale": [[0.5], [1.5]]},
    "Logistic": {"loc": 0.5, "scale": 2.0},
    "Normal": {"mean": [1.0, 2.0], "sd": [[3.0], [4.0]]},
    "Poisson": {"rate": [2.5]},
    "Uniform": {"low": -1.0, "high": [2.0, 3.0]},
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_family_tells_its_name_its_arguments_and_its_parameters(name: str) -> None:
    parameters, dist = PARAMETERS[name], getattr(msd, name)(**PARAMETERS[name], seed=4)
    assert dist.get_dist_type() == dist("get_dist_type") == name
    shape = np.broadcast_shapes(*[np.shape(parameter) for parameter in parameters.values()])
    assert dist.broadcast_shape == (shape[:-1] if name == "Categorical" else shape)
    # MindSpore keeps the parts that these two are made of instead.
    names = ["bijector", "distribution"] if name in {"Gumbel", "LogNormal"} else list(parameters)
    assert list(dist.parameters)[: len(names)] == names and dist.parameters["seed"] == 4
    if "param_dict" in dist.parameters:
        assert dist.parameters["param_dict"] == parameters

    def lists(result: Any) -> list[Any]:
        return [item.asnumpy().tolist() for item in result]

    expected = list(parameters.values())
    assert lists(dist.get_dist_args()) == lists(dist("get_dist_args", None)) == expected
    own = [name for name in parameters if name not in ("mean", "sd")]  # of the normal distribution they are methods
    assert lists(getattr(dist, name) for name in own) == [parameters[name] for name in own]
    another = Tensor([7.0, 8.0])
    assert lists(dist.get_dist_args(another)) == [[7.0, 8.0], *expected[1:]]
    with pytest.raises(TypeError, match="must be a Tensor, but got float"):
        dist.get_dist_args(0.5)
    if name != "Gumbel":
        bare = getattr(msd, name)()
        assert bare.get_dist_args() == (None,) * len(parameters) and bare.broadcast_shape is None
        assert all(getattr(bare, name) is None for name in own)


def test_a_family_with_the_density_alone_tells_neither_name_nor_parameters() -> None:
    for name in PARTIAL:
        dist = getattr(msd, name)(*CONTINUOUS[name][0])
        for function in (dist.get_dist_type, dist.get_dist_args):
            with pytest.raises(NotImplementedError, match="'get_dist_.*' is not implemented for"):
                function()


X = Tensor([0.5])
WRONG: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    "no tensor": (TypeError, lambda: msd.Normal(0.0, 1.0).prob(0.5)),
    "no parameters": (TypeError, lambda: msd.Normal().prob(X)),
    "shape is a list": (TypeError, lambda: msd.Normal(0.0, 1.0).sample([2])),
    "other family": (ValueError, lambda: msd.Normal(0.0, 1.0).kl_loss("Gamma", X, X)),
    "sd not above 0": (ValueError, lambda: msd.Normal(0.0, 0.0)),
    "dtypes differ": (TypeError, lambda: msd.Normal(X.astype(ms.float16), X)),
    "a bool": (TypeError, lambda: msd.Normal(True, 1.0)),
    "integer dtype": (TypeError, lambda: msd.Normal(0.0, 1.0, dtype=ms.int32)),
    "seed": (ValueError, lambda: msd.Normal(0.0, 1.0, seed=-1)),
    "seed type": (TypeError, lambda: msd.Normal(0.0, 1.0, seed=1.5)),  # type: ignore[arg-type]
    "name": (TypeError, lambda: msd.Normal(0.0, 1.0, name=1)),  # type: ignore[arg-type]
    "shapes": (ValueError, lambda: msd.Normal(Tensor([1.0, 2.0]), Tensor([1.0, 2.0, 3.0]))),
    "low above high": (ValueError, lambda: msd.Uniform(2.0, 1.0)),
    "probs": (ValueError, lambda: msd.Bernoulli(1.0)),
    "sum": (ValueError, lambda: msd.Categorical([0.2, 0.3])),
    "rank": (ValueError, lambda: msd.Categorical(0.5)),
    "scalar": (TypeError, lambda: msd.Gamma(1.0, 2.0)),
    "no such function": (NotImplementedError, lambda: msd.Normal(0.0, 1.0)("foo", X)),
    "not of this family": (NotImplementedError, lambda: msd.Laplace(0.0, 1.0).mean()),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_raises_what_mindspore_raises(case: str) -> None:
    error, call = WRONG[case]
    with pytest.raises(error):
        call()


def test_a_family_of_the_users_own_gets_what_follows_from_its_formulas() -> None:
    class Mine(msd.Distribution):
        def __init__(self, rate: Any) -> None:
            super().__init__(None, ms.float32, "Mine", {"param_dict": {"rate": rate}})
            self.rate = self._add_parameter(rate, "rate")

        def _log_survival(self, value: Any, rate: Any = None) -> Any:
            return -self._check_param_type(rate) * self._check_value(value, "value")

    own = Mine(2.0)
    assert float(own.cdf(X).asnumpy()[0]) == pytest.approx(1 - math.exp(-1))
    assert float(own.log_cdf(X).asnumpy()[0]) == pytest.approx(math.log(1 - math.exp(-1)))
    with pytest.raises(NotImplementedError, match="'prob'"):
        own.prob(X)
