"""Random tensors. All numbers come from the engine's one stream (``engine.random``) or from a ``seed`` of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import random
from ..core.backend import to_device, to_host
from ..core.dtype import DType, bool_, float32, int32, int64, numpy_dtype
from ..core.surfaces import declare, prim
from ..core.tensor import Tensor
from .arguments import check_tensor, ints_of

__all__ = [
    "bernoulli", "bernoulli_ext", "choice_with_mask", "gamma", "laplace", "multinomial",
    "multinomial_with_replacement", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "random_categorical", "random_gamma", "random_poisson", "randperm", "shuffle", "standard_laplace",
    "standard_normal", "uniform",
]  # fmt: skip


@np.errstate(all="ignore")
def _made(array: Any, dtype: Any = float32) -> Tensor:
    return Tensor._wrap(to_device(np.asarray(array).astype(numpy_dtype(dtype), copy=False)))


def _shape(size: Any, name: str) -> tuple[int, ...]:
    given = size[0] if len(size) == 1 and isinstance(size[0], list | tuple) else size
    wanted = ints_of(tuple(given), name, "size") if len(given) else ()
    if any(n < 0 for n in wanted):
        raise ValueError(f"For '{name}', 'size' must not be negative, but got {wanted}")
    return wanted


@np.errstate(all="ignore")
def _host(x: Any) -> Any:
    return to_host(x._array) if isinstance(x, Tensor) else np.asarray(x, np.float32)


def _inner(shape: tuple[int, ...], seed: Any) -> Any:
    """Uniform numbers inside (0, 1), in double precision."""
    return np.clip(random.uniform(shape, seed).astype(np.float64) + 2.0**-33, 2.0**-33, 1 - 2.0**-33)


def _floating(dtype: Any, name: str) -> DType:
    wanted = dtype or float32
    if numpy_dtype(wanted).kind not in "fV":
        raise ValueError(f"For '{name}', 'dtype' must be a floating dtype, but got {wanted}")
    return wanted


def rand(*size: Any, dtype: Any = None, seed: int | None = None) -> Any:
    """Numbers evenly spread over [0, 1)."""
    return _made(random.uniform(_shape(size, "rand"), seed), _floating(dtype, "rand"))


def randn(*size: Any, dtype: Any = None, seed: int | None = None) -> Any:
    """Numbers of the normal distribution with mean 0 and deviation 1."""
    return _made(random.normal(_shape(size, "randn"), seed), _floating(dtype, "randn"))


def rand_like(input: Tensor, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Numbers evenly spread over [0, 1), in the input's shape."""
    return rand(*check_tensor(input, "rand_like").shape, dtype=dtype or input.dtype, seed=seed)


def randn_like(input: Tensor, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Numbers of the standard normal distribution, in the input's shape."""
    return randn(*check_tensor(input, "randn_like").shape, dtype=dtype or input.dtype, seed=seed)


def integers(low: int, high: int, shape: tuple[int, ...], seed: int | None = None) -> Any:
    """Integers evenly spread over [low, high)."""
    drawn = _inner(shape, seed) * (high - low)
    return np.minimum(np.floor(drawn).astype(np.int64), high - low - 1) + low


def randint(low: int, high: int, size: Any, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Integers evenly spread over [low, high).

    Raises:
        TypeError: a limit that is no int, or ``size`` no tuple.
        ValueError: no integer between the limits.
    """
    for name, value in (("low", low), ("high", high)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"For 'randint', '{name}' must be an int, but got {type(value).__name__}")
    if not isinstance(size, list | tuple):
        raise TypeError(f"For 'randint', 'size' must be a tuple, but got {type(size).__name__}")
    if low >= high:
        raise ValueError(f"For 'randint', 'low' must be less than 'high', but got {low} and {high}")
    return _made(integers(low, high, _shape((size,), "randint"), seed), dtype or int64)


def randint_like(input: Tensor, low: int, high: int, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Integers evenly spread over [low, high), in the input's shape."""
    return randint(low, high, check_tensor(input, "randint_like").shape, seed, dtype=dtype or input.dtype)


@declare(primitive=prim("RandpermV2", seed=0, offset=0, dtype=int64))
def randperm(n: Any, seed: int = 0, offset: int = 0, dtype: Any = int64) -> Tensor:
    """0, 1, ..., n - 1 in random order.

    Raises:
        ValueError: ``n`` is negative.
    """
    if int(n) < 0:
        raise ValueError(f"For 'randperm', 'n' must not be negative, but got {n}")
    return _made(_order(int(n), None), dtype)


def _order(n: int, seed: int | None) -> Any:
    return np.argsort(random.uniform((n,), seed), kind="stable")


def shuffle(x: Tensor, seed: int | None = None) -> Any:
    """The entries of the first axis in random order."""
    given = check_tensor(x, "shuffle", "x")
    return given[Tensor(_order(given.shape[0], seed))] if given.ndim else given


@np.errstate(all="ignore")
def uniform(shape: Any, minval: Any, maxval: Any, seed: int | None = None, dtype: Any = float32) -> Any:
    """Numbers evenly spread over [minval, maxval); integers for ``dtype`` Int32."""
    low, high = _host(minval), _host(maxval)
    wanted = np.broadcast_shapes(ints_of(shape, "uniform", "shape"), low.shape, high.shape)
    if numpy_dtype(dtype).kind == "i":
        return _made(np.floor(_inner(wanted, seed) * (high - low)) + low, dtype)
    return _made(random.uniform(wanted, seed) * (high - low) + low, dtype)


@np.errstate(all="ignore")
def normal(shape: Any, mean: Any, stddev: Any, seed: int | None = None) -> Any:
    """Numbers of the normal distribution with ``mean`` and deviation ``stddev``."""
    centre, width = _host(mean), _host(stddev)
    wanted = np.broadcast_shapes(ints_of(shape, "normal", "shape"), centre.shape, width.shape)
    return _made(random.normal(wanted, seed) * width + centre)


def standard_normal(shape: Any, seed: int | None = None) -> Tensor:
    """Numbers of the normal distribution with mean 0 and deviation 1."""
    return _made(random.normal(ints_of(shape, "standard_normal", "shape"), seed))


def standard_laplace(shape: Any, seed: int | None = None) -> Any:
    """Numbers of Laplace's distribution with mean 0 and scale 1."""
    return laplace(shape, 0.0, 1.0, seed)


@np.errstate(all="ignore")
def laplace(shape: Any, mean: Any, lambda_param: Any, seed: int | None = None) -> Any:
    """Numbers of Laplace's distribution."""
    centre, scale = _host(mean), _host(lambda_param)
    wanted = np.broadcast_shapes(ints_of(shape, "laplace", "shape"), centre.shape, scale.shape)
    drawn = _inner(wanted, seed) - 0.5
    return _made(centre - scale * np.sign(drawn) * np.log1p(-2 * np.abs(drawn)))


def _standard_gamma(alpha: Any, seed: int | None) -> Any:
    """Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000)."""
    raised = np.where(alpha < 1, alpha + 1, alpha)
    d = raised - 1 / 3
    c = 1 / np.sqrt(9 * d)
    found, open_ = np.zeros(alpha.shape), np.ones(alpha.shape, bool)
    for attempt in range(64):
        if not open_.any():
            break
        stream = None if seed is None else seed + 2 * attempt
        x = random.normal(alpha.shape, stream).astype(np.float64)
        u = _inner(alpha.shape, None if stream is None else stream + 1)
        v = (1 + c * x) ** 3
        good = (v > 0) & (np.log(u) < 0.5 * x * x + d - d * v + d * np.log(np.where(v > 0, v, 1)))
        found = np.where(open_ & good, d * v, found)
        open_ &= ~good
    extra = _inner(alpha.shape, None if seed is None else seed + 1_000_003)
    return np.where(alpha < 1, found * extra ** (1 / alpha), found)


def gamma(shape: Any, alpha: Tensor, beta: Tensor, seed: int | None = None) -> Tensor:
    """Numbers of the gamma distribution with shape ``alpha`` and rate ``beta``."""
    a, b = _host(alpha), _host(beta)
    wanted = (*ints_of(shape, "gamma", "shape"), *np.broadcast_shapes(a.shape, b.shape))
    return _made(_standard_gamma(np.broadcast_to(a, wanted).astype(np.float64), seed) / b)


def random_gamma(shape: Any, alpha: Tensor, seed: int | None = None) -> Tensor:
    """Numbers of the gamma distribution, ``shape`` of them for each ``alpha``."""
    a = _host(alpha)
    wanted = (*ints_of(shape, "random_gamma", "shape"), *a.shape)
    return _made(_standard_gamma(np.broadcast_to(a, wanted).astype(np.float64), seed), alpha.dtype)


def _poisson(rate: Any, seed: int | None) -> Any:
    """Counts by inversion (Devroye 1986, X.3); from a rate of 50 on as rounded normal numbers of Anscombe's root."""
    u = _inner(rate.shape, seed)
    small = np.where(rate < 50, rate, 0.0)
    term = np.exp(-small)
    total, count = term.copy(), np.zeros(rate.shape)
    for k in range(1, 200):
        more = u > total
        if not more.any():
            break
        count += more
        term = term * small / k
        total = total + term
    z = random.normal(rate.shape, None if seed is None else seed + 1).astype(np.float64)
    large = np.maximum(np.round((np.sqrt(rate + 3 / 8) + z / 2) ** 2 - 3 / 8), 0)
    return np.where(rate < 50, count, large)


def random_poisson(shape: Any, rate: Tensor, seed: int | None = None, dtype: Any = float32) -> Tensor:
    """Numbers of Poisson's distribution, ``shape`` of them for each ``rate``."""
    r = _host(rate)
    wanted = (*ints_of(shape, "random_poisson", "shape"), *r.shape)
    return _made(_poisson(np.broadcast_to(r, wanted).astype(np.float64), seed), dtype)


def poisson(shape: Any, mean: Tensor, seed: int | None = None) -> Tensor:
    """Numbers of Poisson's distribution with ``mean``."""
    m = _host(mean)
    wanted = np.broadcast_shapes(ints_of(shape, "poisson", "shape"), m.shape)
    return _made(_poisson(np.broadcast_to(m, wanted).astype(np.float64), seed))


def bernoulli(input: Tensor, p: Any = 0.5, seed: int | None = None) -> Any:
    """1 with probability ``p`` and 0 otherwise, in the input's shape and dtype.

    Raises:
        ValueError: ``p`` is not in [0, 1].
    """
    chance = _host(p)
    if ((chance < 0) | (chance > 1)).any():
        raise ValueError(f"For 'bernoulli', 'p' must be in [0, 1], but got {p}")
    x = check_tensor(input, "bernoulli")
    return _made(random.uniform(x.shape, seed) < chance, x.dtype)


@declare(primitive=prim("Bernoulli", seed=-1, offset=0))
def _bernoulli(x: Tensor, p: Any = 0.5, *, seed: int, offset: int) -> Tensor:
    """1 with probability ``p`` and 0 otherwise; of the seeds, -1 is none."""
    return bernoulli(x, p, None if seed == -1 else seed)


@declare(method="bernoulli")
def bernoulli_ext(input: Tensor, *, generator: Any = None) -> Any:
    """1 with the probability that the element of ``input`` is, and 0 otherwise."""
    return _made(random.uniform(check_tensor(input, "bernoulli_ext").shape) < _host(input), input.dtype)


# Of a tensor: numbers of a distribution in its shape and dtype. ``generator`` is taken as MindSpore takes it, and the
# numbers come from the engine's stream.


@declare(method="uniform", in_place="uniform_")
def _uniform_of_tensor(input: Tensor, from_: float = 0, to: float = 1, generator: Any = None) -> Tensor:
    """Numbers evenly spread over [from_, to)."""
    return _made(random.uniform(input.shape) * (float(to) - float(from_)) + float(from_), input.dtype)


@declare(in_place="normal_")
def _normal_of_tensor(input: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Numbers of the normal distribution with ``mean`` and deviation ``std``."""
    return _made(random.normal(input.shape) * float(std) + float(mean), input.dtype)


@declare(method=True)
@np.errstate(all="ignore")
def _log_normal(input: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Numbers whose logarithms have the normal distribution with ``mean`` and deviation ``std``."""
    return _made(np.exp(random.normal(input.shape) * float(std) + float(mean)), input.dtype)


@declare(in_place="exponential_")
def _exponential_of_tensor(input: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Numbers of the exponential distribution with rate ``lambd``."""
    return _made(-np.log1p(-random.uniform(input.shape)) / float(lambd), input.dtype)


@declare(in_place="bernoulli_")
def _bernoulli_of_tensor(input: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """1 with probability ``p`` and 0 otherwise."""
    return _made(random.uniform(input.shape) < _host(p), input.dtype)


@declare(in_place="random_")
def _random_of_tensor(input: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Tensor:
    """Integers evenly spread over [from_, to); without ``to``, up to the greatest that the dtype holds."""
    most = 2**24 if input.dtype.is_floating_point else int(np.iinfo(input._array.dtype).max)
    return _made(integers(int(from_), most if to is None else int(to), input.shape), input.dtype)


@declare(method=True, mint=True)
def multinomial(input: Tensor, num_samples: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """``num_samples`` indices, drawn with the weights of each row.

    Raises:
        ValueError: more samples than weights above 0, without ``replacement``.
    """
    weights = _host(check_tensor(input, "multinomial")).astype(np.float64)
    rows = weights.reshape(-1, weights.shape[-1])
    if replacement:
        edges = np.cumsum(rows, -1)
        u = _inner((rows.shape[0], num_samples), seed) * edges[:, -1:]
        found = (u[..., None] >= edges[:, None, :]).sum(-1)
    else:
        if num_samples > rows.shape[-1]:
            raise ValueError(f"For 'multinomial', at most {rows.shape[-1]} samples can be drawn, but got {num_samples}")
        # The keys log(u) / weight, largest first (Efraimidis and Spirakis 2006).
        keys = np.log(_inner(rows.shape, seed)) / np.where(rows > 0, rows, 1e-300)
        found = np.argsort(-keys, axis=-1, kind="stable")[:, :num_samples]
    return _made(found.reshape(*weights.shape[:-1], num_samples), int32 if replacement else int64)


def multinomial_with_replacement(x: Tensor, seed: int, offset: int, numsamples: int, replacement: bool = False) -> Any:
    """``numsamples`` indices, drawn with the weights of each row."""
    return multinomial(x, numsamples, replacement).astype(int64)


@declare(method=True, primitive=prim("RandomCategorical", dtype=int64))
def random_categorical(logits: Tensor, num_sample: int, seed: int = 0, dtype: Any = int64) -> Any:
    """``num_sample`` indices for each row, drawn with the softmax of the row."""
    weights = _host(logits).astype(np.float64)
    powers = np.exp(weights - weights.max(-1, keepdims=True))
    return multinomial(Tensor(powers), num_sample, True, seed or None).astype(dtype)


def choice_with_mask(input_x: Tensor, count: int = 256, seed: int | None = None) -> tuple[Any, Any]:
    """``count`` random places where the input holds, filled up with 0, and a mask of those that are filled."""
    places = np.argwhere(_host(input_x))
    chosen = places[_order(len(places), seed)[:count]]
    full = np.zeros((count, input_x.ndim), np.int32)
    full[: len(chosen)] = chosen
    return _made(full, int32), _made(np.arange(count) < len(chosen), bool_)


def _seeded(name: str, function: Callable[..., Tensor], **more: Any) -> None:
    """The class of a function; of its two seeds the first counts, and 0 is none."""

    @declare(primitive=prim(name, seed=0, seed2=0, **more))
    def drawn(*inputs: Any, seed: int, seed2: int, **settings: Any) -> Tensor:
        return function(*inputs, seed=seed or None, **settings)

    drawn.__doc__ = function.__doc__


def _uniform_real(shape: Any, *, seed: int | None) -> Tensor:
    """Numbers evenly spread over [0, 1)."""
    return uniform(shape, 0.0, 1.0, seed)


def _uniform_int(shape: Any, minval: Any, maxval: Any, *, seed: int | None) -> Tensor:
    """Int32 numbers evenly spread over [minval, maxval)."""
    wanted = tuple(shape) if isinstance(shape, list | tuple) else (int(shape),)
    return randint(int(minval), int(maxval), wanted, seed, dtype=int32)


def _multinomial(x: Tensor, num_samples: int, *, seed: int | None, dtype: Any) -> Tensor:
    """``num_samples`` indices, drawn with the weights of each row and put back."""
    return multinomial(x, num_samples, True, seed).astype(dtype)


_seeded("Gamma", gamma)
_seeded("Multinomial", _multinomial, dtype=int32)
_seeded("RandomGamma", random_gamma)
_seeded("RandomPoisson", random_poisson, dtype=int64)
_seeded("RandomShuffle", shuffle)
_seeded("StandardLaplace", standard_laplace)
_seeded("StandardNormal", standard_normal)
_seeded("UniformInt", _uniform_int)
_seeded("UniformReal", _uniform_real)
