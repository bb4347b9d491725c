"""Programs whose Python values change between calls, by all the ways in which code can read one.

Each runs twice, in two namespaces: eagerly, and by jit. Results, their bits, the state after the call, errors and the
position in the stream of random numbers must be the same after each call.
"""

from __future__ import annotations

import contextlib
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.compile import plans_of
from hookscope.engine.compile.function import CompiledFunction
from hookscope.engine.tape.hooks import hooks_off
from hookscope.engine.tape.tape import no_gradients
from hookscope.engine.tensors import precision, random

IMPORTS = """
import array, collections, contextlib, contextvars, copy, dataclasses, enum, functools, io, itertools, math, operator
import os, pickle, random, sys, threading, types, weakref
import numpy as np
import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
"""

# Each program has ``f``, which is called six times; ``change(i)`` runs before call i, ``args(i)`` gives its arguments,
# ``after(result)`` runs after it, and ``post()`` gives what else must be the same.
PROGRAMS = """
# param hasattr used
p = Parameter(Tensor([1.0, 2.0, 3.0, 4.0]), name="w")
def f(x): return x * p if hasattr(p, "fo" + "o") else x + p
def change(i):
    if i == 3: p.foo = float(i)

# mask
def f(x):
    y = x[x > 3.0]
    return y.sum() / (y.shape[0] + 1)

# mask gradient
def f(x): return ms.grad(lambda a: (a[a > 3.0] * a[a > 3.0]).sum())(x)

# mask written
def f(x):
    y = x * 2.0
    y[y > 5.0] = 1.0
    return y

# tensor that is drawn
def f(x): return x + Tensor(shape=(4,), dtype=ms.float32, init="normal")

# layer that is drawn and not used
def f(x):
    nn.Dense(4, 2)
    return x * 2

# index out of range after a draw
def f(x): return ops.gather(ops.rand(9), x.astype(ms.int32), 0), ops.rand(2)
def args(i): return (Tensor([1.0, 2.0 + 20 * (i == 3)]),)

# draw that is not used
def f(x):
    ops.rand(4)
    return x * 2

# draw beside a constant
def f(x): return x + ops.dropout(Tensor([1.0, 2.0, 3.0, 4.0]), p=0.5, training=True)

# shape alone
p = Parameter(Tensor([1.0, 2.0]), name="w")
def f(x): return x * p.shape[0]
def change(i): p.set_data(Tensor(np.ones(2 + i, np.float32)), slice_shape=True)

# shape of what is not used
p = Parameter(Tensor([1.0, 2.0]), name="w")
def f(x): return x * (p * 2).shape[0]
def change(i): p.set_data(Tensor(np.ones(2 + i, np.float32)), slice_shape=True)

# place in the stream
def f(x): return x * 2, ms.get_rng_state(), ops.rand(4)

# place in the stream that is gone back to
def f(x):
    place = ms.get_rng_state()
    y = ops.rand(4)
    ms.set_rng_state(place)
    return x * y

# value of before a step
w = Parameter(Tensor([1.0, 2.0, 3.0, 4.0]), name="w")
opt = nn.SGD([w], 0.1)
def f(x):
    before = w.data
    opt((x * 0.5,))
    return before * 2

# value of before a change after a step
w, v = Parameter(Tensor([1.0, 2.0, 3.0, 4.0]), name="w"), Parameter(Tensor([1.0, 1.0, 1.0, 1.0]), name="v")
opt = nn.SGD([w], 0.1)
def f(x):
    before = v.data
    opt((x * 0.5,))
    ops.assign(v, x)
    return x * 3, before * 2

# layer that is drawn
def f(x): return nn.Dense(4, 2)(x.reshape((1, 4)))

# tensor of a random one
def f(x): return x + Tensor(ops.rand(4))

# number of a random one
def f(x): return x * float(ops.rand(1))

# numbers of two random ones
def f(x): return x * Tensor([float(ops.rand(1)), ops.randn(1).item(), 1.0, 2.0])

# list of random ones
def f(x): return x.reshape((4, 1)) * Tensor([ops.rand(1), ops.rand(1)]).reshape((1, 2))

# candidates that are drawn
def f(x): return x + ops.UniformCandidateSampler(1, 4, False, 9)(Tensor([[0]], ms.int64))[0]

# index with a tensor within a list
def f(x): return x[([x[0].astype(ms.int32) % 3, 1],)] * 2

# powers below 0
def f(x): return ops.pow(Tensor([1, 2, 3, 4]), (4.5 - x).astype(ms.int64) * 1)

# segments below 0
def f(x): return ops.unsorted_segment_sum(x, (4.5 - x).astype(ms.int32), 9)

# singular values that are not finite
def f(x): return ops.cond(x.reshape((2, 2)) / (x[0] - 3.0))

# step between checks
net = nn.Dense(4, 4)
opt = nn.SGD(net.trainable_params(), 0.1)
g = ms.value_and_grad(lambda x: net(x.reshape((1, 4))).sum(), None, net.trainable_params())
def f(x):
    v, gr = g(x)
    opt(gr)
    return v, ops.unsorted_segment_sum(x, (4.5 - x).astype(ms.int32), 9)
def post(): return shown(list(net.get_parameters()))

# step after a tensor that another step left
net, other = nn.Dense(4, 4), nn.Dense(4, 4)
opt, opt2 = nn.SGD(net.trainable_params(), 0.1), nn.Momentum(other.trainable_params(), 0.1, 0.9)
g = ms.value_and_grad(lambda x: net(x.reshape((1, 4))).sum(), None, net.trainable_params())
g2 = ms.value_and_grad(lambda x: other(x.reshape((1, 4))).sum(), None, other.trainable_params())
def f(x):
    opt(g(x)[1])
    opt2(g2(x)[1])
    ops.assign(other.weight, net.weight)
    ops.assign(net.bias, other.bias * 0.5)
    opt2(g2(x)[1])
    opt(g(x)[1])
    return g2(x)[0]
def post(): return shown([*net.get_parameters(), *other.get_parameters()])

# getattr dunder
state = {"k": 1.0}
class C:
    def __getattr__(self, n):
        return state["k"]
c = C()
def f(x): return x * c.foo
def change(i): state["k"] = float(i)

# match by name
class C: pass
c = C()
def f(x):
    match c:
        case C(rate=rate): return x * rate
    return x
def change(i):
    if i: c.rate = i / 2

# match by place
class C: __match_args__ = ("a", "b")
c = C()
c.a, c.b = 2.0, 3.0
def f(x):
    match c:
        case C(a, b): return x * a + b
def change(i):
    c.b = float(i)
    if i == 3: C.__match_args__ = ("b", "a")

# getattr of a module
m = types.ModuleType("m")
def f(x): return x * getattr(m, "ra" + "te", 1.0)
def change(i):
    if i: m.rate = float(i)

# values of a module
m = types.ModuleType("m")
def f(x): return x * sum(v for k, v in m.__dict__.items() if isinstance(v, float))
def change(i): setattr(m, "a" * i, 2.0)

# names of functions and classes
class C: pass
def g(): pass
def f(x): return x * len(g.__name__ + (g.__doc__ or "") + C.__name__ + C.__qualname__) + len(g.__annotations__)
def change(i):
    if i == 1: g.__name__ = "another"
    if i == 2: g.__doc__ = "text"
    if i == 3: C.__name__ = "Another"
    if i == 4: C.__qualname__ = "a.b.c"
    if i == 5: g.__annotations__["a"] = int

# name of a cell's class
class N(nn.Cell):
    def construct(self, x): return x * len(self.cls_name)
n = N()
def f(x): return n(x)
def change(i): N.__name__ = "N" * (i + 1)

# class of a library
import fractions
third = fractions.Fraction(1, 3)
def f(x): return x * third.rate + fractions.Fraction.rate
def change(i): fractions.Fraction.rate = float(i)
def post():
    if third.rate == 5.0: del fractions.Fraction.rate

# precision of decimals
import decimal
def f(x): return x * float(decimal.Decimal(1) / 3)
def change(i): decimal.getcontext().prec = 28 if i == 5 else i + 1

# settings of NumPy
halves = np.array([0.5])
def f(x): return x * float(np.float32(1.0) / np.float32(0.0) > 1) + len(str(halves / 3))
def change(i):
    np.seterr(divide="raise" if i == 3 else "ignore")
    np.set_printoptions(precision=8 if i == 5 else i)
def post():
    if len(calls) == 5: np.seterr(divide="warn")
    calls.append(1)
calls = []

# units of time
T = np.timedelta64(3, "D")
def f(x): return x * float(T / np.timedelta64(1, "s"))
def change(i):
    global T
    T = np.timedelta64(3, "DhmsDh"[i])

# partial of a function in C
p, before = functools.partial(sys.getrecursionlimit), sys.getrecursionlimit()
def f(x): return x * p()
def change(i): sys.setrecursionlimit(before if i == 5 else before + i + 1)

# written attributes
import string
t, w, m = Tensor([1.0]), Parameter(Tensor([1.0]), name="w"), types.ModuleType("m")
opt = nn.SGD([w], 0.1)
def f(x):
    t.last = w.last = opt.last = m.last = string.last = Tensor.kept = 5
    return x
def post(): return [one.__dict__.get("last") for one in (t, w, opt, m, string)], getattr(Tensor, "kept", None)
def change(i):
    if i: del t.last, w.last, opt.last, m.last, string.last, Tensor.kept

# attribute written by object
class O: pass
o = O()
def f(x):
    object.__setattr__(o, "last", 5)
    return x
def post(): return o.__dict__.pop("last", None)

# written attributes that stay
m, w = types.ModuleType("m"), Parameter(Tensor([1.0]), name="w")
def f(x):
    m.last = w.last = x * 2
    return x
def post(): return shown(m.last), shown(w.last)

# result with an attribute
def f(x):
    y = x * 2
    y.tag = 7
    return y
def after(y): assert y.tag == 7

# result with a hook
def f(x):
    y = x * 2
    y.register_hook(lambda g: g * 3)
    return y
def after(y): assert y._gradient_hooks

# layout of an argument
def f(x): return x * x.stride()[0] + x.strides[1] + x.is_contiguous()
def args(i):
    x = np.arange(6 + i % 2, dtype=np.float32)[i % 2:]
    return (Tensor(x.reshape((2, 3))) if i % 3 else Tensor(x.reshape((3, 2))).T,)

# layout of a parameter
p = Parameter(Tensor(np.ones((2, 3), np.float32)), name="p")
def f(x): return x * p.is_contiguous() + p.shape[0]
def change(i):
    p.set_data(Tensor(np.ones((2, 3), np.float32)) if i % 2 else Tensor(np.ones((3, 2), np.float32)).T)

# layout decides what is a view
kept = []
def f(x, y):
    y.reshape((6,))[1] = 5.0
    return x.reshape((6,))
def args(i):
    x, y = [Tensor(np.arange(6, dtype=np.float32).reshape((2, 3))) for _ in range(2)]
    kept[:] = [x if i % 2 else Tensor(np.arange(6, dtype=np.float32).reshape((3, 2))).T, y if i % 3 else y.T]
    return tuple(kept)
def after(y): y[0] = 7.0
def post(): return shown(kept)

# layout of a parameter that is reshaped
p = Parameter(Tensor(np.ones((2, 3), np.float32)), name="p")
def f(x): return p.reshape((6,))
def change(i):
    p.set_data(Tensor(np.ones((2, 3), np.float32)) if i % 2 else Tensor(np.ones((3, 2), np.float32)).T)
def after(y): y[0] = 7.0
def post(): return shown(p)

# weak reference to what ends
class C: k = 5.0
c = C()
w = weakref.ref(c)
def f(x): return x * (1.0 if w() is None else w().k)
def change(i):
    global c
    if i == 3: c = None

# an argument that is known by who it is alone
known = [Tensor([1.0])]
def f(x): return x * (2 if any(x is one for one in known) else 3)
def args(i): return (known[0] if i % 2 else Tensor([1.0]),)

# an item that is known by who it is alone
known = [Tensor([1.0])]
def f(given): return given[0] * (2 if given[0] is known[0] else 3)
def args(i): return ([known[0] if i % 2 else Tensor([1.0])],)

# a keyword named self
@ms.jit
def g(x, self=1.0): return x * self
def f(x): return x
def after(y): global z; z = g(y, self=3.0)
def post(): return shown(z)

# names of parameters
net = nn.Dense(2, 2)
def f(x): return x * len(next(iter(net.parameters_dict())))
def change(i): net.weight.name = "w" * (i + 1)

# names of gradients
p = Parameter(Tensor([1.0]), name="p")
f = ms.grad(lambda x: (x * p).sum(), 0, [p], return_ids=True)
def change(i): p.name = "p" * (i + 1)

# annotations read by others
import typing
def g(a: int): pass
def f(x): return x * len(typing.get_type_hints(g))
def change(i): g.__annotations__["b" * (i + 1)] = int

# class of the engine whose cell is made inside
kept = nn.ReLU.construct
def f(x): return nn.ReLU()(x) * getattr(nn.Tanh, "rate", 1.0)
def change(i):
    nn.ReLU.construct = (lambda self, x: x * 3) if i in (2, 3) else kept
    nn.Tanh.rate = float(i)
    if i == 5: del nn.Tanh.rate

# getattribute
state = {"k": 1.0}
class C:
    def __getattribute__(self, n):
        return state["k"]
c = C()
def f(x): return x * c.foo
def change(i): state["k"] = float(i)

# descriptor
class D:
    def __init__(self): self.v = 1.0
    def __get__(self, o, t=None): return self.v
d = D()
class C:
    foo = d
c = C()
def f(x): return x * c.foo
def change(i): d.v = float(i)

# descriptor weak
vals = {}
class D:
    def __get__(self, o, t=None): return vals[id(o)]
class C:
    foo = D()
c = C()
def f(x): return x * c.foo
def change(i): vals[id(c)] = float(i)

# metaclass attr
class M(type):
    scale = 1.0
    @property
    def foo(cls): return cls.scale
class C(metaclass=M): pass
def f(x): return x * C.foo
def change(i): M.scale = float(i)

# metaclass getattr
S = [1.0]
class M(type):
    def __getattr__(cls, n): return S[0]
class C(metaclass=M): pass
def f(x): return x * C.foo
def change(i): S[0] = float(i)

# property state
class C:
    _v = 0.0
    @property
    def foo(self):
        self._v += 1.0
        return self._v
c = C()
def f(x): return x * c.foo

# slots
class C:
    __slots__ = ("foo",)
c = C()
def f(x): return x * c.foo
def change(i): c.foo = float(i)

# slots and dict
class B:
    __slots__ = ("foo",)
class C(B): pass
c = C()
def f(x): return x * c.foo
def change(i): c.foo = float(i)

# zero of another sign
S = [0.0]
def f(x): return (x + 1) / Tensor(S[0])
def change(i): S[0] = (0.0, -0.0)[i % 2]

# lru
S = [1.0]
@functools.lru_cache
def g(a): return S[0] * a
def f(x): return x * g(2)
def change(i):
    S[0] = float(i)
    if i > 2: g.cache_clear()

# lru method
class C:
    k = 1.0
    @functools.cache
    def g(self): return self.k
c = C()
def f(x): return x * c.g()
def change(i):
    c.k = float(i); C.g.cache_clear()

# gen arg
def f(x, g):
    for k in g: x = x * k
    return x
def args(i): return Tensor([1.0, 2.0]), (float(j) for j in range(1, i + 2))

# gen attr
g = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
def f(x): return x * next(g)

# count global
g = itertools.count()
def f(x): return x * next(g)

# cycle attr
class C: pass
c = C(); c.it = itertools.cycle([1.0, 2.0])
def f(x): return x * next(c.it)

# cycle for
class C: pass
c = C(); c.it = iter([1.0, 2.0, 3., 4., 5., 6.,7.])
def f(x):
    for k in c.it:
        return x * k

# module getattr
m = types.ModuleType("mm")
S = [1.0]
m.__getattr__ = lambda n: S[0]
def f(x): return x * m.foo
def change(i): S[0] = float(i)

# module by a text
m = types.ModuleType("mmg"); m.K = 1.0
def f(x): return x * getattr(m, "K")
def change(i): m.K = float(i)

# module by a name that is made up
m = types.ModuleType("mmg"); m.K = [1.0]
def f(x): return x * getattr(m, "".join(["K"]))[0]
def change(i): m.K[0] = float(i)

# module by its dictionary
m = types.ModuleType("mmg"); m.K = 1.0
def f(x): return x * m.__dict__["K"]
def change(i): m.K = float(i)

# module hasattr
m = types.ModuleType("mmg")
def f(x): return x * (2 if hasattr(m, "K") else 1)
def change(i):
    if i == 3: m.K = 3.0

# module dir
m = types.ModuleType("mmg")
def f(x): return x * len(dir(m))
def change(i): setattr(m, f"a{i}", 1)

# module of a library by a name that is made up
def f(x): return x * getattr(math, "ta" + "u")
def change(i): math.tau = float(i)
def post(): math.tau = 2 * math.pi

# module of the engine hasattr
def f(x): return x * (2 if hasattr(ms, "example") else 1)
def change(i):
    if i > 2: ms.example = 3.0
def post():
    if hasattr(ms, "example"): del ms.example

# from import
m = types.ModuleType("mmfrom"); sys.modules["mmfrom"] = m
m.K = 1.0
def f(x):
    from mmfrom import K
    return x * K
def change(i): m.K = float(i)

# import late
def f(x):
    import mmlate
    return x * mmlate.K
def change(i):
    m = types.ModuleType("mmlate"); sys.modules["mmlate"] = m
    m.K = float(i)

# import sub
pk = types.ModuleType("pkx"); sys.modules["pkx"] = pk; pk.__path__ = []
m = types.ModuleType("pkx.sub"); sys.modules["pkx.sub"] = m; pk.sub = m
m.K = 1.0
def f(x):
    from pkx.sub import K
    return x * K
def change(i): m.K = float(i)

# import star as
pk = types.ModuleType("pky"); sys.modules["pky"] = pk; pk.__path__ = []
m = types.ModuleType("pky.sub"); sys.modules["pky.sub"] = m; pk.sub = m
m.K = 1.0
def f(x):
    import pky.sub as s
    return x * s.K
def change(i):
    m2 = types.ModuleType("pky.sub"); sys.modules["pky.sub"] = m2; pk.sub = m2; m2.K = float(i)

# exec code
K = 1.0
def f(x):
    d = {}
    exec("k = K * 2", globals(), d)
    return x * d["k"]
def change(i):
    global K; K = float(i)

# eval code
K = 1.0
def f(x): return x * eval("K")
def change(i):
    global K; K = float(i)

# globals fn
K = 1.0
def f(x): return x * globals()["K"]
def change(i):
    global K; K = float(i)

# sys modules
K = 1.0
m = types.ModuleType("mm3"); sys.modules["mm3"] = m
def f(x): return x * sys.modules["mm3"].Kx
def change(i): m.Kx = float(i)

# func globals
K = 1.0
def h(): pass
def f(x): return x * h.__globals__["K"]
def change(i):
    global K; K = float(i)

# func dict
def h(): pass
def f(x): return x * h.scale
def change(i): h.scale = float(i)

# own func attr
def f(x): return x * g.scale
def g(): return 1
g.scale = 1.0
def change(i): g.scale = float(i)

# func defaults attr
def h(a=1.0): return a
def f(x): return x * h.__defaults__[0]
def change(i): h.__defaults__ = (float(i),)

# defaults
def h(a=1.0): return a
def f(x): return x * h()
def change(i): h.__defaults__ = (float(i),)

# kwdefaults inplace
def h(*, a=1.0): return a
def f(x): return x * h()
def change(i): h.__kwdefaults__["a"] = float(i)

# kwdefaults replaced
def h(*, a=1.0): return a
def f(x): return x * h()
def change(i): h.__kwdefaults__ = {"a": float(i)}

# code replaced
def h(): return 1.0
def h2(): return 5.0
def f(x): return x * h()
def change(i):
    if i == 3: h.__code__ = h2.__code__

# partial
def h(a, b): return a * b
p = functools.partial(h, b=2.0)
def f(x): return p(x)
def change(i): p.keywords["b"] = float(i)

# partial setstate
def h(a, b): return b * a
p = functools.partial(h, 2.0)
def f(x): return p(x)
def change(i): p.__setstate__((h, (float(i),), {}, None))

# wrapped
def deco(fn):
    @functools.wraps(fn)
    def inner(*a): return fn(*a) * inner.k
    inner.k = 1.0
    return inner
@deco
def h(x): return x + 1
def f(x): return h(x)
def change(i): h.k = float(i)

# coroutine
S=[1.0]
async def h(x): return x * S[0]
def f(x):
    co = h(x)
    try: co.send(None)
    except StopIteration as e: return e.value
def change(i): S[0] = float(i)

# contextvar
V = contextvars.ContextVar("V", default=1.0)
def f(x): return x * V.get()
def change(i): V.set(float(i))

# threading local
L = threading.local()
def f(x): return x * L.k
def change(i): L.k = float(i)

# weakref attr
class C: pass
c = C(); r = weakref.ref(c)
def f(x): return x * r().k
def change(i): c.k = float(i)

# weakref that dies
class C: pass
c = C(); r = weakref.ref(c)
def f(x): return x * (2 if r() is None else 1)
def change(i):
    global c
    if i == 3: c = None

# weakref of code that dies
names = {}
exec("def g(): return 1", names)
r = weakref.ref(names["g"].__code__)
def f(x): return x * (2 if r() is None else 1)
def change(i):
    if i == 3: names.clear()

# weakproxy
class C: pass
c = C(); r = weakref.proxy(c)
def f(x): return x * r.k
def change(i): c.k = float(i)

# weakvaluedict
class C: pass
c = C(); r = weakref.WeakValueDictionary(); r["a"] = c
def f(x): return x * r["a"].k
def change(i): c.k = float(i)

# weakkeydict
class C: pass
c = C(); r = weakref.WeakKeyDictionary(); r[c] = 1.0
def f(x): return x * r[c]
def change(i): r[c] = float(i)

# random
def f(x): return x * random.random()

# environ
os.environ["AA_K"] = "1"
def f(x): return x * float(os.environ["AA_K"])
def change(i): os.environ["AA_K"] = str(i)

# getenv
def f(x): return x * float(os.getenv("AA_K", "1"))
def change(i): os.environ["AA_K"] = str(i)

# nprandom
def f(x): return x * float(np.random.rand())

# nprandom gen
g = np.random.default_rng(0)
def f(x): return x * float(g.random())

# nprandom tensor
def f(x): return x * Tensor(np.random.rand(4).astype(np.float32))

# np inplace
A = np.ones(4, np.float32)
def f(x): return x * Tensor(A)
def change(i): A[0] = i

# np operand
A = np.ones(4, np.float32)
def f(x): return x * A
def change(i): A[0] = i

# np item
A = np.ones(4, np.float32)
def f(x): return x * float(A[0])
def change(i): A[0] = i

# np arg
A = np.ones(4, np.float32)
def f(x, a): return x * float(a[0])
def args(i):
    A[0] = i
    return Tensor([1.0, 2.0]), A

# np arg fresh
def f(x, a): return x * float(a[0])
def args(i): return Tensor([1.0, 2.0]), np.array([float(i)])

# np view dtype
A = np.ones(4, np.int32)
def f(x): return x * float(A.sum())
def change(i):
    if i == 3: A.dtype = np.int16
    if i == 4: A.shape = (2, 4)

# np strides
A = np.ones((2, 2))
def f(x): return x * float(A.strides[0])
def change(i):
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy 2.4 advises against it
        if i == 3: A.strides = A.strides[::-1]

# np shape
A = np.arange(4.0)
def f(x): return x * float(A.shape[0])
def change(i):
    if i == 3: A.shape = (2, 2)

# np bool0
A = np.array(1.0)
def f(x): return x * float(A)
def change(i): A[...] = i

# memoryview
A = bytearray(b"123")
def f(x): return x * A[0]
def change(i): A[0] = i

# array array
import array
A = array.array("f", [1.0, 2.0])
def f(x): return x * A[0]
def change(i): A[0] = i

# deque
D = collections.deque([1.0, 2.0])
def f(x): return x * D[0]
def change(i): D.rotate(1)

# defaultdict
D = collections.defaultdict(lambda: 3.0)
def f(x): return x * D["a"]
def change(i): 
    if i > 2: D["a"] = float(i)

# ordereddict
D = collections.OrderedDict(a=1.0, b=2.0)
def f(x):
    for v in D.values(): x = x * v + 1
    return x
def change(i): D.move_to_end("a", i % 2 == 0)

# counter
D = collections.Counter("abc")
def f(x): return x * D["a"]
def change(i): D["a"] += 1

# chainmap
D = {"a": 1.0}; M = collections.ChainMap({}, D)
def f(x): return x * M["a"]
def change(i): D["a"] = float(i)

# userdict
class UD(collections.UserDict): pass
M = UD(a=1.0)
def f(x): return x * M["a"]
def change(i): M["a"] = float(i)

# dictsub
class UD(dict):
    def __getitem__(self, k): return self.k * dict.__getitem__(self, k)
M = UD(a=1.0); M.k = 1.0
def f(x): return x * M["a"]
def change(i): M.k = float(i)

# set order
M = {3, 1, 2}
def f(x):
    for v in M: x = x * v + 1
    return x
def change(i):
    if i == 2: M.add(7)
    if i == 3: M.discard(1)

# set order2
M = {0, 8}
def f(x):
    for v in M: x = x * (v + 1) + 1
    return x
def change(i):
    if i % 2: M.clear(); M.add(8); M.add(0)
    else: M.clear(); M.add(0); M.add(8)

# set eq types
M = {1.0}
def f(x):
    for v in M: x = x + (1 if type(v) is int else 5)
    return x
def change(i):
    M.clear(); M.add(1 if i % 2 else 1.0)

# set true
M = {1, 2}
def f(x):
    return x * sum(v if v is not True else 100 for v in M)
def change(i):
    M.clear(); M.add(True if i % 2 else 1); M.add(2)

# key eq types
def f(x, s): return x * sum(100 if v is True else v for v in s)
def args(i): return Tensor([1.0, 2.0]), frozenset([True if i % 2 else 1, 2])

# key bool int
def f(x, s): return x + (100 if s is True else s)
def args(i): return Tensor([1.0, 2.0]), (True, 1, 1.0)[i % 3]

# key negzero
def f(x, s): return x * s
def args(i): return Tensor([1.0, 2.0]), (0.0, -0.0)[i % 2]

# key enum int
class E(enum.IntEnum):
    A = 1
    B = 2
def f(x, s): return x * (10 if isinstance(s, E) else 1)
def args(i): return Tensor([1.0, 2.0]), (1, E.A)[i % 2]

# key strsub
class S(str):
    k = 1.0
s = S("a")
def f(x, s): return x * s.k
def args(i):
    s = S("a"); s.k = float(i)
    return Tensor([1.0, 2.0]), s

# key intsub
class S(int):
    k = 1.0
def f(x, s): return x * s.k
def args(i):
    s = S(3); s.k = float(i)
    return Tensor([1.0, 2.0]), s

# global floatsub
class S(float): pass
s = S(3); s.k = 1.0
def f(x): return x * s.k
def change(i): s.k = float(i)

# enum attr
class E(enum.Enum):
    A = 1
E.A.k = 1.0
def f(x): return x * E.A.k
def change(i): E.A.k = float(i)

# enum mutable value
class E(enum.Enum):
    A = [1.0]
def f(x): return x * E.A.value[0]
def change(i): E.A.value[0] = float(i)

# tuple key sub
P = collections.namedtuple("P", "a b")
def f(x, p): return x * p.a
def args(i): return Tensor([1.0, 2.0]), P(float(i), 2.0)

# dict order arg
def f(x, d):
    for k, v in d.items(): x = x * v + 1
    return x
def args(i): return Tensor([1.0, 2.0]), ({"a": 1.0, "b": 2.0} if i % 2 else {"b": 2.0, "a": 1.0})

# obj arg fresh
class C: pass
def f(x, c): return x * c.k
def args(i):
    c = C(); c.k = float(i)
    return Tensor([1.0, 2.0]), c

# lambda arg
def f(x, g): return x * g()
def args(i): return Tensor([1.0, 2.0]), (lambda: float(i))

# set arg
def f(x, s): return x * sum(s)
def args(i): return Tensor([1.0, 2.0]), {float(i), 2.0}

# super attr
class A:
    k = 1.0
    def g(self): return self.k
class B(A):
    def g(self): return super().g() * 2
b = B()
def f(x): return x * b.g()
def change(i): A.k = float(i)

# base replaced
class A:
    def g(self): return 1.0
class A2:
    def g(self): return 3.0
class Z: pass
class Z1(A, Z): pass
class B(Z1): pass
b = B()
def f(x): return x * b.g()
def change(i):
    if i == 3: Z1.__bases__ = (A2, Z)

# class swap
class A:
    def g(self): return 1.0
class B:
    def g(self): return 2.0
b = A()
def f(x): return x * b.g()
def change(i): b.__class__ = (A, B)[i % 2]

# isinstance registry
import abc
class I(abc.ABC): pass
class A: pass
a = A()
def f(x): return x * (2 if isinstance(a, I) else 1)
def change(i):
    if i == 3: I.register(A)

# instance eq
class A:
    v = 1.0
    def __eq__(self, o): return self.v == o
    __hash__ = None
a = A()
def f(x): return x * (2 if a == 1.0 else 1)
def change(i): a.v = float(i)

# operator dunder
class A:
    v = 1.0
    def __rmul__(self, o): return o + self.v
    def __mul__(self, o): return o + self.v
a = A()
def f(x): return (2 * a) * x
def change(i): a.v = float(i)

# len bool dunder
class A:
    v = 1
    def __len__(self): return self.v
a = A()
def f(x): return x * 5 if a else x
def change(i): a.v = i % 2

# contains dunder
class A:
    v = 1
    def __contains__(self, k): return k == self.v
a = A()
def f(x): return x * 5 if 1 in a else x
def change(i): a.v = i % 2

# format dunder
class A:
    v = 1
    def __format__(self, s): return str(self.v)
a = A()
def f(x): return x * float(f"{a}")
def change(i): a.v = i

# with dunder
class A:
    v = 1
    def __enter__(self): return self.v
    def __exit__(self, *a): pass
a = A()
def f(x):
    with a as k: return x * k
def change(i): a.v = i

# repr reading
def f(x): return x + len(repr(x))
def args(i): return (Tensor([10.0**i, 1.0]),)

# fstring tensor
def f(x): return x + len(f"{x}")
def args(i): return (Tensor([10.0**i, 1.0]),)

# arg tensor attr
def f(x): return x * x.foo
def args(i):
    x = Tensor([1.0, 2.0]); x.foo = float(i)
    return x,

# arg tensor hook
def f(x): return ms.grad(lambda y: (y * y).sum())(x)
def args(i):
    x = Tensor([1.0, 2.0])
    if i % 2: x.register_hook(lambda g: g * 10)
    return x,

# inplace arg
log = []
def f(x):
    x[0] = 5.0
    return x * 2
def args(i):
    x = Tensor([1.0 + i, 2.0]); log.append(x)
    return x,
post = lambda: [t.asnumpy().tolist() for t in log]

# inplace arg iadd
log = []
def f(x):
    x += 1
    return x * 2
def args(i):
    x = Tensor([1.0 + i, 2.0]); log.append(x)
    return x,
post = lambda: [t.asnumpy().tolist() for t in log]

# inplace arg view
log = []
def f(x):
    x[0] = 7.0
    return x * 2
def args(i):
    b = Tensor([[1.0 + i, 2.0], [3., 4.]])
    log.append(b)
    x = b[0] if i % 2 else Tensor([1.0, 2.0])
    return x,
post = lambda: [t.asnumpy().tolist() for t in log]

# inplace two views
log = []
def f(x, y):
    x[0] = 7.0
    return x * 2 + y
def args(i):
    b = Tensor([1.0 + i, 2.0])
    log.append(b)
    return b, (b[:] if i % 2 else Tensor([1.0, 2.0]))
post = lambda: [t.asnumpy().tolist() for t in log]

# result view of arg
log = []
def f(x): return x[0:1]
def args(i):
    b = Tensor([1.0 + i, 2.0]); log.append(b)
    return b,
def after(r): r[0] = 9.0
post = lambda: [t.asnumpy().tolist() for t in log]

# result is arg
def f(x): return x
def args(i): return Tensor([1.0 + i, 2.0]),
def after(r): r[0] = 9.0

# result is list arg
L = [1.0, 2.0]
def f(x, l): return l
def args(i): return Tensor([1.0]), L
def after(r): r.append(3.0)

# result is global list
L = [1.0, 2.0]
same_ = []
def f(x): return L
def after(r): same_.append(r is L)
post = lambda: same_

# result list twice
same_ = []
def f(x):
    a = [1.0]
    return a, a
def after(r): same_.append(r[0] is r[1])
post = lambda: same_

# result tensor twice
same_ = []
def f(x):
    a = x + 1
    return a, a
def after(r):
    same_.append(r[0] is r[1]); r[0][0] = 100.0
    same_.append(r[1].asnumpy().tolist())
post = lambda: same_

# result two views
same_ = []
def f(x):
    a = x + 1
    return a, a[0:2]
def after(r):
    r[0][0] = 100.0
    same_.append(r[1].asnumpy().tolist())
post = lambda: same_

# result view root gone
def f(x):
    a = x + 1
    return a[0:2]

# list arg alias
def f(x, a, b):
    a.append(5.0)
    k = b.pop()
    return x * k
def args(i):
    a = [1.0]
    return Tensor([1.0, 2.0]), a, (a if i % 2 == 0 else [1.0])

# list arg is
def f(x, a, b): return x * (2 if a is b else 3)
def args(i):
    a = [1.0]
    return Tensor([1.0, 2.0]), a, (a if i % 2 == 0 else [1.0])

# list arg is global
G = [1.0]
def f(x, a): return x * (2 if a is G else 3)
def args(i): return Tensor([1.0, 2.0]), (G if i % 2 == 0 else [1.0])

# state counter
class C:
    n = 0
c = C()
def f(x):
    c.n += 1
    return x
post = lambda: c.n

# list append result
L = []
def f(x):
    y = x * 2
    L.append(y)
    return y
post = lambda: len(L)

# list append unread
L = []
def f(x):
    L.append(1)
    return x * 2
post = lambda: len(L)

# global rebind
N = 0
def f(x):
    global N
    N = 5
    return x * 2
def change(i):
    global N
    N = i
post = lambda: N

# set attr const
class C:
    n = 0
c = C()
def f(x):
    c.n = 5
    return x * 2
def change(i): c.n = i
post = lambda: c.n

# set attr same
class C:
    n = 5
c = C()
def f(x):
    c.n = 5
    return x * 2
def change(i):
    if i > 2: c.__dict__.pop("n", None)
post = lambda: (c.n, "n" in vars(c))

# set attr new
class C: pass
c = C()
def f(x):
    c.n = 5
    return x * 2
def change(i):
    if i > 2: c.__dict__.pop("n", None)
post = lambda: vars(c)

# setattr write only
class C: pass
c = C()
def f(x):
    setattr(c, "n", 5)
    return x * 2
def change(i):
    if i > 2: c.__dict__.pop("n", None)
post = lambda: vars(c)

# list setitem same
L = [1.0, 2.0]
def f(x):
    L[0] = 1.0
    return x * 2
post = lambda: L

# list swap back
L = [1.0, 2.0]
def f(x):
    L.append(3.0); L.pop()
    return x * L[0]
def change(i): L[0] = float(i % 2)
post = lambda: L

# dict touch
D = {"a": 1.0, "b": 2.0}
def f(x):
    v = D.pop("a"); D["a"] = v
    return x * v
post = lambda: list(D)

# logging
import io
buf = io.StringIO()
def f(x):
    buf.write("a")
    return x * 2
post = lambda: buf.getvalue()

# nonlocal counter
def mk():
    n = 0
    def g(x):
        nonlocal n
        n += 1
        return x * n
    return g
g = mk()
def f(x): return g(x)

# nonlocal write
def mk():
    n = 0
    def g(x):
        nonlocal n
        n = 5
        return x * 2
    def get(): return n
    def put(v):
        nonlocal n
        n = v
    return g, get, put
g, get, put = mk()
def f(x): return g(x)
def change(i): put(i)
post = lambda: get()

# bound builtin
D = {"a": 1.0}
get = D.get
def f(x): return x * get("a")
def change(i): D["a"] = float(i)

# bound builtin2
L = [1.0]
get = L.__getitem__
def f(x): return x * get(0)
def change(i): L[0] = float(i)

# bound index
class C: pass
c = C(); c.k = 1.0
get = c.__getattribute__
def f(x): return x * get("k")
def change(i): c.k = float(i)

# attrgetter
class C: pass
c = C(); c.k = 1.0
get = operator.attrgetter("k")
def f(x): return x * get(c)
def change(i): c.k = float(i)

# asdict
@dataclasses.dataclass
class Cfg:
    k: float = 1.0
c = Cfg()
def f(x): return x * dataclasses.asdict(c)["k"]
def change(i): c.k = float(i)

# dc eq
@dataclasses.dataclass
class Cfg:
    k: float = 1.0
c = Cfg(); d = Cfg(3.0)
def f(x): return x * (2 if c == d else 1)
def change(i): c.k = float(i)

# dc repr
@dataclasses.dataclass
class Cfg:
    k: float = 1.0
c = Cfg()
def f(x): return x * len(repr(c))
def change(i): c.k = 10.0 ** i

# dc hash
@dataclasses.dataclass(unsafe_hash=True)
class Cfg:
    k: int = 1
c = Cfg()
T = {Cfg(1): 1.0, Cfg(2): 2.0}
def f(x): return x * T.get(c, 9.0)
def change(i): c.k = i

# dc replace
@dataclasses.dataclass
class Cfg:
    k: float = 1.0
    j: float = 2.0
c = Cfg()
def f(x): return x * dataclasses.replace(c, j=3.0).k
def change(i): c.k = float(i)

# dc slots
@dataclasses.dataclass(slots=True)
class Cfg:
    k: float = 1.0
c = Cfg()
def f(x): return x * c.k
def change(i): c.k = float(i)

# ns eq
a = types.SimpleNamespace(k=1.0); b = types.SimpleNamespace(k=3.0)
def f(x): return x * (2 if a == b else 1)
def change(i): a.k = float(i)

# ns repr
a = types.SimpleNamespace(k=1.0)
def f(x): return x * len(f"{a}")
def change(i): a.k = 10.0**i

# str format attr
a = types.SimpleNamespace(k=1.0)
class C: pass
c = C(); c.k = 1.0
def f(x): return x * float("{0.k}".format(c))
def change(i): c.k = float(i)

# star dict
K = {"k": 1.0}
def h(x, k=0.0): return x * k
def f(x): return h(x, **K)
def change(i): K["k"] = float(i)

# star args
K = [1.0]
def h(x, k=0.0): return x * k
def f(x): return h(x, *K)
def change(i): K[0] = float(i)

# map filter
K = [1.0, 2.0]
def f(x): return x * sum(map(lambda k: k * 2, K))
def change(i): K[0] = float(i)

# dunder replaced
class A:
    def __mul__(self, o): return o * 2
a = A()
def f(x): return (a * 3.0) * x
def m2(self, o): return o * 5
def change(i):
    if i == 3: A.__mul__ = m2

# dunder added
class A: pass
a = A()
def f(x): return x * 5 if a else x
def change(i):
    if i == 3: A.__bool__ = lambda s: False

# getattr added
class A:
    k = 1.0
a = A()
def f(x): return x * a.k
def change(i):
    if i == 3: A.__getattribute__ = lambda s, n: 7.0

# setattr added
seen = []
class A: pass
a = A()
def f(x):
    a.k = 1.0
    return x * 2
def change(i):
    if i == 3: A.__setattr__ = lambda s, n, v: seen.append(n)
post = lambda: len(seen)

# try attr added
class A: pass
a = A()
def f(x):
    try: return x * a.k
    except AttributeError: return x
def change(i):
    if i == 3: a.k = 3.0

# try key added
D = {}
def f(x):
    try: return x * D["k"]
    except KeyError: return x
def change(i):
    if i == 3: D["k"] = 3.0

# hasattr added
class A: pass
a = A()
def f(x): return x * 2 if hasattr(a, "k") else x
def change(i):
    if i == 3: a.k = 3.0

# numpy random by a name that is made up
def f(x): return x * float(getattr(np, "ran" + "dom").random_sample())
def change(i): np.random.seed(i)

# method of a named tuple
import typing
class Batch(typing.NamedTuple):
    first: object
    by: float
    def total(self): return self.first * self.by
def args(i): return (Batch(Tensor([1.0, 2.0]), 2.0),)
def f(batch): return batch.total()
def total(self): return self.first + self.by
def change(i):
    if i == 3: Batch.total = total

# getattr default
class A: pass
a = A()
def f(x): return x * getattr(a, "k", 1.0)
def change(i):
    if i == 3: a.k = 3.0

# try name added
def f(x):
    try: return x * KK
    except NameError: return x
def change(i):
    global KK
    if i == 3: KK = 3.0

# suppress attr
import contextlib
class A: pass
a = A()
def f(x):
    with contextlib.suppress(AttributeError):
        x = x * a.k
    return x
def change(i):
    if i == 3: a.k = 3.0

# param name
p = Parameter(Tensor([1.0, 2.0]), name="w")
def f(x): return x * len(p.name)
def change(i): p.name = "w" * (i + 1)

# param attr
p = Parameter(Tensor([1.0, 2.0]), name="w")
def f(x): return x * p.foo
def change(i): p.foo = float(i)

# param hasattr
p = Parameter(Tensor([1.0, 2.0]), name="w")
def f(x): return x * p if hasattr(p, "foo") else x
def change(i): 
    if i == 3: p.foo = float(i)

# param try
p = Parameter(Tensor([1.0, 2.0]), name="w")
def f(x):
    try: return x * p.foo
    except AttributeError: return x
def change(i): 
    if i == 3: p.foo = float(i)

# param layerwise
p = Parameter(Tensor([1.0, 2.0]), name="w")
def f(x): return x * (2 if p.layerwise_parallel else 1)
def change(i): p.layerwise_parallel = i % 2 == 1

# param reqgrad
p = Parameter(Tensor([1.0, 2.0]), name="w")
def f(x): return x * (2 if p.requires_grad else 1)
def change(i): p.requires_grad = i % 2 == 1
"""

# Computations with x, an argument whose numbers differ from call to call.
NUMBERS = """
x.asnumpy().sum()
np.asarray(x).sum()
np.array(x)[0]
np.sum(x.asnumpy())
x[0].item()
x.tolist()[0]
float(x[0])
int(x[0])
bool(x[0] > 2)
memoryview(x.asnumpy())[0]
float(sorted([x[0], x[1]*0+2.5])[0])
1.0 * (3.0 in x)
1.0 * (x[0] == 3.0)
(1.0 if x[0] == 3.0 else 2.0)
[1.,2.,3.,4.,5.,6.,7.,8.,9.,10.][x[0].astype(ms.int32)]
float(max(x))
len(range(int(x[1])))
len('%s' % x)
len(str(x*1e3))
len(str(pickle.dumps(x)))
float(copy.copy(x)[0])
float(copy.deepcopy(x)[0])
copy.deepcopy(x)[0]
copy.copy(x)[0]
x.asnumpy().tobytes()[3]
float(np.frombuffer(x.asnumpy(), np.float32)[0])
float(np.frombuffer(x._array, np.float32)[0])
memoryview(x._array)[0]
len(str(x._array * 1))
float(np.stack([x._array]).sum())
float(x._array.view(np.int32)[0])
hash(x._array.tobytes()) % 7
bytes(x._array)[3]
bytearray(x._array)[3]
bytes(memoryview(x.asnumpy()))[3]
float(np.interp(1.0, x._array, x._array))
float(np.lexsort((x._array,))[0])
[float(k) for k in np.nditer(x._array)][0]
float(np.float32(x._array[0]))
(lambda a, *r: float(a))(*x)
float(np.ndarray.__getitem__(x._array, 0))
float(np.ndarray.item(x._array, 0))
(lambda e: (np.copyto(e, x._array), float(e[0]))[1])(np.zeros(4, np.float32))
(lambda e: (e.__setitem__(slice(None), x._array), float(e[0]))[1])(np.zeros(4, np.float32))
float(list(x._array)[0])
float(np.array([x._array, x._array])[0,0])
float(np.concatenate([[0.], x._array])[1])
float(np.dot([1,2,3,4], x._array))
float(np.array([1.,2,3,4]) @ x._array)
float(np.einsum('i->', x._array))
float(np.asarray(x._array, dtype=np.float64)[0])
float(np.ascontiguousarray(x._array)[0])
float(np.require(x._array, np.float64)[0])
float(np.fromiter(x, np.float32)[0])
__import__('struct').unpack('4f', x._array)[0]
float(x.numpy()[0]) if hasattr(x,'numpy') else 1.0
float(x._array[0])
Tensor(x.asnumpy())[0]
Tensor(x)[0]
[2.,3.,4.,5.,6.,7.,8.,9.,10.,11.,12.][int(x[0].item())]
float(np.where(x._array > 2, 1., 2.)[0])
pickle.loads(pickle.dumps(x))[0]
float(x.init_data()[0]) if hasattr(x,'init_data') else 1.0
x.nbytes
x.strides[0]
float(x.nonzero().shape[0])
hash(x) * 0 + 1
round(float(x[0]))
math.sqrt(x[0])
operator.index(x[0].astype(ms.int64))
sum(x)
1.0*any(x > 2)
max(x[0], x[1]*0+3)
Tensor(np.ones(4, np.float32)).reshape(tuple(x.shape)).sum()
ops.full((2,), x[0].item())[0]
ops.full((2,), x[0])[0]
ops.arange(int(x[0]) + 1).sum()
x[:int(x[0])+1].sum()
ops.ones((9,), ms.float32)[x[0].astype(ms.int32)]
x[x > 2].sum()
ops.unique(x)[0].sum()
ops.nonzero(x).sum()
ops.one_hot(x.astype(ms.int32), 12).sum()
ops.masked_select(x, x > 2).sum()
Tensor(x.asnumpy() + 1).sum()
Tensor.from_numpy(x.asnumpy())[0]
x.data.sum()
ops.repeat_interleave(x, 2).sum()
ops.tile(x, (int(x[0]) + 1,)).sum()
"""

NETWORK = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = 1.0
        self.w = Parameter(Tensor(np.ones(4, np.float32)), name="w")
        self.sub, self.drop, self.leaky, self.bn = nn.ReLU(), nn.Dropout(p=0.5), nn.LeakyReLU(), nn.BatchNorm1d(2)
        self.drop.set_train()
        self.dense = nn.Dense(4, 4)
        self.seq, self.lst = nn.SequentialCell(nn.ReLU(), nn.Tanh()), nn.CellList([nn.ReLU()])
        self.tup, self.dct, self.prim = (nn.ReLU(),), {{"a": nn.ReLU()}}, ops.Softmax(-1)
        self.buf, self.nick = Tensor([1.0]), "q"
        self.register_buffer("rb", Tensor(np.ones(4, np.float32)))
        self.add_flags(a=False)

    def append(self, cell):
        self.insert_child_to_cell(f"n{{len(self._cells)}}", cell)

    def construct(self, x):
        {body}
        return x

ms.set_seed(1)
net = Net()

def f(x):
    return net(x)

def change(i):
    {change}
"""

# Bodies of ``construct``, and changes of the network between calls.
CHANGES = [
    ("for c in self.cells(): x = c(x)", "net.append(nn.Tanh())"),
    ("x = x * len(list(self.cells()))", "net.append(nn.Tanh())"),
    ("x = x * len(self.name_cells())", "net.append(nn.Tanh())"),
    ("x = x * len(list(self.cells_and_names()))", "net.append(nn.Tanh())"),
    ("x = x * len(list(self.cells_and_names()))", "net.sub.extra = nn.Tanh()"),
    ("x = x * len(self.trainable_params())", "net.w.requires_grad = not net.w.requires_grad"),
    ("x = x * len(self.trainable_params())", 'net.sub.w2 = Parameter(Tensor([1.0]), name=f"zz{i}")'),
    ("x = x + sum(p.sum() for p in self.get_parameters())", 'net.sub.w2 = Parameter(Tensor([1.0]), name=f"zz{i}")'),
    ("x = x * len(self.parameters_dict())", 'net.sub.w2 = Parameter(Tensor([1.0]), name=f"zz{i}")'),
    ("x = x * len(self.seq)", "net.seq.append(nn.Tanh())"),
    ("x = self.seq[0](x)", "net.seq[0] = nn.Tanh() if i % 2 else nn.ReLU()"),
    ("for c in self.lst: x = c(x)", "net.lst.append(nn.Tanh())"),
    ("for c in self.lst: x = c(x)", "net.lst[0] = nn.Sigmoid()"),
    ("x = self.seq(x)", "net.seq.append(nn.Tanh())"),
    ("x = x * (2 if self.training else 1)", "net.set_train(i % 2 == 1)"),
    ("x = x * (2 if self.sub.training else 1)", "net.sub.set_train(i % 2 == 1)"),
    ("x = x * len(self.phase)", "net.set_train(i % 2 == 1)"),
    ('x = x * (2 if self.get_flags().get("a") else 1)', "net.add_flags(a=i % 2 == 1)"),
    ("x = x * (2 if self.a else 1)", "net.add_flags(a=i % 2 == 1)"),
    ("x = x * self.a", 'net.__dict__["a"] = float(i)'),
    ("x = x * self.a", "net.a = float(i)"),
    ("x = self.sub(x)", "net.sub = nn.Tanh() if i % 2 else nn.ReLU()"),
    ("x = self.drop(x)", "net.drop.p = 0.1 * i"),
    ("x = self.drop(x)", "net.drop.set_train(i % 2 == 1)"),
    ("x = self.dense(x)", "net.dense.activation = nn.Tanh() if i % 2 else None; net.dense.activation_flag = bool(i%2)"),
    ("x = self.dense(x)", "net.dense.has_bias = i % 2 == 0"),
    ("x = self.dense(x)", 'net.dense.weight = Parameter(Tensor(np.full((4,4), i, np.float32)), name="w")'),
    ("x = self.dense(x)", "net.dense.weight.set_data(Tensor(np.full((4,4), i, np.float32)))"),
    (
        "x = self.dense(x)",
        "net.dense.weight.set_data(Tensor(np.full((4+i,4), i, np.float32)), slice_shape=True); "
        "net.dense.has_bias=False",
    ),
    ("x = x * self.w", "net.w.set_dtype(ms.float16 if i % 2 else ms.float32)"),
    ("x = self.leaky(x - 2)", "net.leaky.alpha = 0.1 * i"),
    ("x = x * 2", "net.construct = (lambda x: x * 3) if i == 3 else net.construct"),
    ("x = x * 2", "Net.construct = (lambda self, x: x * 3) if i == 3 else Net.construct"),
    ("x = self.sub(x)", "net.sub.construct = (lambda x: x * 3) if i == 3 else net.sub.construct"),
    ("x = self.sub(x)", "net.h = net.sub.register_forward_pre_hook(lambda c, a: (a[0] * 5,)) if i == 3 else None"),
    ("x = self.sub(x)", "net.h = net.sub.register_forward_hook(lambda c, a, o: o * 5) if i == 3 else None"),
    ("x = self.sub(x)", "net.h = net.register_forward_hook(lambda c, a, o: o * 5) if i == 3 else None"),
    ("x = self.dense(x)", "net.dense.to_float(ms.float16) if i == 3 else None"),
    ("x = self.dense(x)", "net.to_float(ms.float16) if i == 3 else None"),
    ("x = x * self.buf", "net.buf = Tensor([float(i)])"),
    ("x = x * self.rb", "net.rb.assign_value(Tensor([float(i), 1., 1., 1.]))"),
    ("x = x * self.rb", 'net.register_buffer("rb", Tensor([float(i), 1., 1., 1.]))'),
    ("for c in self.tup: x = c(x)", "net.tup = (nn.Tanh(),) if i % 2 else (nn.ReLU(), nn.Sigmoid())"),
    ("for c in self.dct.values(): x = c(x)", 'net.dct["a"] = nn.Tanh() if i % 2 else nn.ReLU()'),
    ("x = self.bn(x.reshape((2, 2)))", "net.bn.set_train(i % 2 == 1)"),
    ("x = self.bn(x.reshape((2, 2)))", "net.bn.eps = 0.1 * (i + 1)"),
    ("x = self.bn(x.reshape((2, 2)))", "net.bn.set_train(); net.bn.momentum = 0.1 * (i + 1)"),
    ("x = self.prim(x)", "net.prim.axis = 0"),
    ("x = self.prim(x.reshape((2,2)))", "net.prim = ops.Softmax(i % 2)"),
    ("x = self.prim(x.reshape((2,2)))", 'net.prim.add_prim_attr("axis", i % 2); net.prim.axis = i % 2'),
    ("x = self.sub(x)", "net.sub.recompute() if i == 3 else None"),
    ("x = x * len(self.w.name)", 'net.update_parameters_name("a.")'),
    ("x = x * len(self.nick)", 'net.nick = "a" * i'),
    ("x = x * len(self.param_prefix)", 'net.sub.w3 = None; net._param_prefix = "a" * i'),
    (
        "x = ms.grad(lambda y: self.sub(y).sum())(x)",
        "net.sub.bprop = (lambda x, out, dout: (dout * 7,)) if i == 3 else None",
    ),
    ("x = x * len(self.trainable_params())", "net.set_grad(i % 2 == 1); net.sub.requires_grad = i % 2 == 1"),
    ("x = x * len(self.trainable_params())", "net.dense.weight.requires_grad = i % 2 == 1"),
    ("x = x * (2 if self.mixed_precision_type else 1)", "net.mixed_precision_type = None"),
]


def shown(value: Any) -> Any:
    """Return a value with all of its bits."""
    if isinstance(value, Tensor):
        array = value.asnumpy()
        return type(value).__name__, array.shape, str(value.dtype), array.tobytes()
    if isinstance(value, tuple | list):
        return type(value).__name__, [shown(part) for part in value]
    if isinstance(value, dict):
        return {key: shown(part) for key, part in value.items()}
    return type(value).__name__, repr(value)


def run(text: str, way: str) -> list[Any]:
    """Return the results of six calls of a program, and the state after each.

    Args:
        text: the program.
        way: "plain", "jit", or "graph": in GRAPH_MODE.
    """
    names: dict[str, Any] = {"__name__": "program"}
    exec(IMPORTS, names)
    names["shown"] = shown
    exec(compile(text, f"<program {way}>", "exec", dont_inherit=True), names)
    ms.set_seed(3)
    names["random"].seed(0)
    f = ms.jit(names["f"]) if way == "jit" else names["f"]
    ms.set_context(mode=ms.GRAPH_MODE if way == "graph" else ms.PYNATIVE_MODE)
    results = []
    for i in range(6):
        names.get("change", lambda i: None)(i)
        arguments = names["args"](i) if "args" in names else (Tensor(np.arange(4, dtype=np.float32) + i),)
        try:
            result = f(*arguments)
            results.append((shown(result), random.position()))
            names.get("after", lambda result: None)(result)
        except Exception as error:
            results.append((type(error), str(error), random.position()))
        results.append(names["post"]() if "post" in names else None)
    return results


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    modules = set(sys.modules)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no plan can be made")
        yield
    ms.set_context(mode=ms.PYNATIVE_MODE)
    for name in set(sys.modules) - modules:
        if type(sys.modules[name]) is types.ModuleType and getattr(sys.modules[name], "__spec__", None) is None:
            del sys.modules[name]


def _programs() -> Iterator[Any]:
    for block in PROGRAMS.split("\n# ")[1:]:
        name, _, text = block.partition("\n")
        yield pytest.param(text, id=name)


@pytest.mark.parametrize("text", list(_programs()))
def test_a_plan_sees_each_change(text: str) -> None:
    assert run(text, "jit") == run(text, "plain")


@pytest.mark.parametrize("expression", NUMBERS.strip().split("\n"))
def test_numbers_of_a_tensor_are_never_frozen(expression: str) -> None:
    text = f"def f(x):\n    return x * ({expression})\n"
    assert run(text, "jit") == run(text, "plain")


@pytest.mark.parametrize("way", ["jit", "graph"])
@pytest.mark.parametrize(("body", "change"), CHANGES)
def test_a_plan_sees_what_is_done_to_a_network(body: str, change: str, way: str) -> None:
    text = NETWORK.format(body=body.replace("\n", "\n        "), change=change)
    assert run(text, way) == run(text, "plain")


def test_a_plan_sees_what_is_put_into_classes_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    dense = ms.nn.Dense(2, 2)
    monkeypatch.setattr(Tensor, "twice", lambda self: self * 2.0, raising=False)
    monkeypatch.setattr(ms.nn.Dense, "louder", lambda self, x: self(x) * 2.0, raising=False)

    def of_classes(x: Any) -> Any:
        return dense.louder(x.twice()).mean() + dense(x)

    compiled = ms.jit(of_classes)
    x = Tensor(np.array([[1.0, -2.0]], np.float32))
    changes: list[tuple[type, str, Any]] = [
        (Tensor, "twice", lambda self: self * 3.0),
        (ms.nn.Dense, "louder", lambda self, x: self(x) * 5.0),
        (Tensor, "mean", lambda self: self.sum()),
        (ms.nn.Dense, "construct", lambda self, x: x @ self.weight),
        (Tensor, "__mul__", lambda self, other: self + other),
        (Tensor, "__matmul__", lambda self, other: self - 1.0),
    ]
    for kind, name, value in changes:
        for _ in range(2):
            assert compiled(x).asnumpy().tobytes() == of_classes(x).asnumpy().tobytes(), (kind, name)
        monkeypatch.setattr(kind, name, value, raising=False)
    for _ in range(2):
        assert compiled(x).asnumpy().tobytes() == of_classes(x).asnumpy().tobytes()
    assert compiled._compiled.counts["replayed"] >= len(changes)


def multiplied(x: Any) -> Any:
    return MATMUL(x, x) * 1.5


def differentiated(x: Any) -> Any:
    return ms.grad(lambda x: (x * x).sum())(x)


MATMUL, HOOKED = ops.MatMul(), nn.Tanh()
HOOKED.register_forward_hook(lambda cell, inputs, output: output * 2)
STATES: dict[str, tuple[Any, Any]] = {
    "precision": (multiplied, lambda: precision.scope(ms.float16)),
    "precision of operators": (
        multiplied,
        lambda: precision.scope(None, precision.OperatorDtypes(frozenset((ops.MatMul,)), ms.float16)),
    ),
    "no hooks": (lambda x: HOOKED(x), hooks_off),
    "no gradients": (differentiated, no_gradients),
}


@pytest.mark.parametrize("name", STATES)
def test_a_plan_is_not_for_another_state_of_the_engine(name: str) -> None:
    function, inside = STATES[name]
    compiled, x = ms.jit(function), Tensor(np.array([[1.1, 2.3], [3.7, 4.9]], np.float32))

    def outcome(function: Any) -> Any:
        try:
            return shown(function(x))
        except RuntimeError as error:
            return str(error)

    for state in (contextlib.nullcontext, inside, contextlib.nullcontext):
        for _ in range(3):
            with state():
                assert outcome(compiled) == outcome(function)
    assert outcome(function) != outcome(lambda x: _within(inside, function, x))
    assert plans_of(compiled)[0].counts["replayed"] > 3


def _within(state: Any, function: Any, x: Any) -> Any:
    with state():
        return function(x)


def test_each_level_of_the_context_has_plans_of_its_own() -> None:
    compiled = CompiledFunction(lambda x: ops.exp(x) + 1.0, "f", level="")
    try:
        for level, traced in (("O0", 1), ("O1", 2), ("O0", 2), ("O1", 2)):
            ms.set_context(jit_level=level)
            compiled(Tensor([1.0, 2.0]))
            assert compiled.counts["traced"] == traced
    finally:
        ms.set_context(jit_level="O0")
