"""Bijectors: inverses, slopes by differences, and the distributions of their outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor
from hookscope.engine.nn.probability import bijector as msb
from hookscope.engine.nn.probability import distribution as msd

BIJECTORS: dict[str, tuple[Any, Any]] = {
    "Exp": (msb.Exp(), np.exp),
    "Softplus": (msb.Softplus(2.0), lambda x: np.log1p(np.exp(2 * x)) / 2),
    "ScalarAffine": (msb.ScalarAffine(-2.0, 1.0), lambda x: 1 - 2 * x),
    "PowerTransform": (msb.PowerTransform(0.5), lambda x: (1 + x / 2) ** 2),
    "PowerTransform of 0": (msb.PowerTransform(0.0), np.exp),
    "GumbelCDF": (msb.GumbelCDF(1.0, 2.0), lambda x: np.exp(-np.exp(-(x - 1) / 2))),
    "Invert": (msb.Invert(msb.Exp()), np.log),
}
X = np.array([0.2, 0.7, 1.3, 3.0])


@pytest.mark.parametrize("name", BIJECTORS)
def test_functions_inverses_and_slopes_agree(name: str) -> None:
    b, f = BIJECTORS[name]
    y = b.forward(Tensor(X))
    np.testing.assert_allclose(y.asnumpy(), f(X), rtol=1e-12)
    np.testing.assert_allclose(b.inverse(y).asnumpy(), X, rtol=1e-9)
    slope = np.log(np.abs((f(X + 1e-6) - f(X - 1e-6)) / 2e-6))
    log_slope = b.forward_log_jacobian(Tensor(X)).asnumpy()
    np.testing.assert_allclose(np.broadcast_to(log_slope, 4), slope, atol=1e-7)
    back = b("inverse_log_jacobian", y).asnumpy()
    np.testing.assert_allclose(np.broadcast_to(back, 4), -slope, atol=1e-7)


@pytest.mark.parametrize("name", BIJECTORS)
def test_gradients_are_the_slopes(name: str) -> None:
    b, _ = BIJECTORS[name]
    gradient = ms.grad(lambda x: b.forward(x).sum())(Tensor(X)).asnumpy()
    log_slope = np.broadcast_to(b.forward_log_jacobian(Tensor(X)).asnumpy(), 4)
    np.testing.assert_allclose(np.log(np.abs(gradient)), log_slope, atol=1e-9)


def test_a_power_of_0_is_the_exponential_function_beside_others_too() -> None:
    b = msb.PowerTransform(np.array([0.0, 0.5]))
    x = np.array([[-3.0, -1.5], [-1.0, 0.0], [0.0, 0.5], [2.0, 2.0]])

    def f(x: Any) -> Any:
        return np.stack([np.exp(x[:, 0]), (1 + x[:, 1] / 2) ** 2], -1)

    slope = np.stack([np.exp(x[:, 0]), 1 + x[:, 1] / 2], -1)
    np.testing.assert_allclose(b.forward(Tensor(x)).asnumpy(), f(x), rtol=1e-6)
    np.testing.assert_allclose(ms.grad(lambda x: b.forward(x).sum())(Tensor(x)).asnumpy(), slope, rtol=1e-6)
    np.testing.assert_allclose(b.forward_log_jacobian(Tensor(x)).asnumpy(), np.log(slope), rtol=1e-6, atol=1e-7)
    second = np.stack([np.ones(4), 0.5 / (1 + x[:, 1] / 2)], -1)  # the slope of the log of the slope
    result = ms.grad(lambda x: b.forward_log_jacobian(x).sum())(Tensor(x)).asnumpy()
    np.testing.assert_allclose(result, second, rtol=1e-6)


def test_a_bijector_called_with_a_distribution_gives_that_of_its_output() -> None:
    distribution, reference = msb.Exp()(msd.Normal(0.2, 0.5)), msd.LogNormal(0.2, 0.5)
    x = Tensor([0.3, 1.0, 4.0])
    assert isinstance(distribution, msd.TransformedDistribution)
    for name in ("prob", "log_prob", "cdf", "log_cdf", "survival_function"):
        np.testing.assert_allclose(distribution(name, x).asnumpy(), reference(name, x).asnumpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="linear"):
        distribution.mean()
    line = msb.ScalarAffine(2.0, 1.0)(msd.Normal(Tensor([0.0, 1.0]), 1.0))
    assert line.mean().asnumpy().tolist() == [1.0, 3.0] and line.sample((3,)).shape == (3, 2)
    with pytest.raises(NotImplementedError):
        line.entropy()


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (TypeError, lambda: msb.Softplus(1)),
        (TypeError, lambda: msb.Softplus(True)),
        (TypeError, lambda: msb.Softplus(name=3)),  # type: ignore[arg-type]
        (ValueError, lambda: msb.PowerTransform(-1.0)),
        (ValueError, lambda: msb.GumbelCDF(0.0, 0.0)),
        (TypeError, lambda: msb.ScalarAffine(Tensor([1.0], ms.float16), Tensor([1.0]))),
        (TypeError, lambda: msb.Invert(1)),
        (TypeError, lambda: msb.Exp().forward(0.5)),
        (TypeError, lambda: msb.Exp().forward(Tensor([1, 2]))),
        (Exception, lambda: msb.Exp()("foo", Tensor([1.0]))),
        (TypeError, lambda: msd.TransformedDistribution(msb.Exp(), msd.Bernoulli(0.5))),
        (TypeError, lambda: msd.TransformedDistribution(msd.Normal(0.0, 1.0), msb.Exp())),
    ],
)
def test_bad_input_raises_what_mindspore_raises(error: type[Exception], call: Any) -> None:
    with pytest.raises(error) as raised:
        call()
    assert raised.type is error


def test_a_bijector_says_what_it_is_as_mindspores_does() -> None:
    for bijector, name, constant in (
        (msb.Exp(), "Exp", False),
        (msb.ScalarAffine(name="mine"), "mine", True),
        (msb.Invert(msb.Exp()), "InvertExp", False),
    ):
        assert (bijector.name, bijector.is_constant_jacobian, bijector.is_injective, bijector.batch_shape) == (
            name,
            constant,
            True,
            (),
        )

    for family in (msb.Exp, msb.Softplus, msb.ScalarAffine, msb.PowerTransform, msb.GumbelCDF):
        assert family().name == family.__name__ and family(name="mine").name == "mine"

    class Square(msb.Bijector):
        def __init__(self) -> None:
            super().__init__(is_injective=False, name="Square")

    assert Square().is_injective is False


def test_bijectors_print_as_mindspores_do() -> None:
    assert str(msb.Invert(msb.Exp())) == "Invert(\n  (_bijector): Exp(exp)\n)"
    assert str(msb.ScalarAffine(2.0, 1.0)) == "ScalarAffine(scale = 2.0, shift = 1.0)"
    assert str(msb.PowerTransform(Tensor([0.0, 2.0]))) == "PowerTransform(batch_shape = (2,))"


def test_the_room_is_entered_when_it_is_asked_for(run_python: object) -> None:
    code = (
        "import hookscope, sys; hookscope.install_as_mindspore(); import mindspore as ms, mindspore.nn as nn; "
        "before = 'hookscope.engine.nn.probability' in sys.modules; "
        "import mindspore.nn.probability.distribution as msd, mindspore.nn.probability.bijector as msb; "
        "from mindspore.nn.probability.distribution import Normal; "
        "print(before, msd is ms.nn.probability.distribution, msb is nn.probability.bijector, Normal is msd.Normal)"
    )
    assert run_python(code).stdout.strip() == "False True True True"  # type: ignore[operator]


def test_a_bijector_of_the_users_own_needs_no_parameters() -> None:
    class Doubled(msb.Bijector):
        def __init__(self) -> None:
            super().__init__(name="Doubled")

        def _forward(self, x: Tensor) -> Tensor:
            return self._check_value(x, "x") * 2.0

    assert Doubled()("forward", Tensor([1.5, -2.0])).asnumpy().tolist() == [3.0, -4.0]
    with pytest.raises(TypeError, match="For 'Doubled', 'x' must be a Tensor, but got float"):
        Doubled().forward(1.5)  # type: ignore[arg-type]


def test_a_bijector_keeps_its_arguments_and_tells_the_shape_of_its_output() -> None:
    scale, shift = Tensor([[1.0], [2.0]]), Tensor([0.5, 1.0, 1.5])
    bijector = msb.ScalarAffine(scale, shift)
    assert list(bijector.parameters) == ["scale", "shift", "name", "param_dict"]
    assert bijector.parameters["scale"] is scale and bijector.parameters["name"] == "ScalarAffine"
    for shape in ((), (3,), (4, 1, 1), (5, 2, 3)):
        assert (
            bijector.shape_mapping(shape)
            == np.broadcast_shapes(shape, (2, 3))
            == bijector.forward(ms.ops.ones(shape)).shape
        )
    assert msb.Exp().shape_mapping((4, 2)) == (4, 2)
