"""Random programs, and random changes between their calls: a plan must never answer for a state that has changed.

    python -m tests.engine.compile.stale_plans --programs 10000 --seed 7 --jobs 2

A program is source text: a network, the functions and values that it reads, calls, and a change before each call. It
runs in two namespaces side by side, eagerly and by plans. After each call these must be the same: the result with its
types and bits (at O1 nearly), the identities of results, arguments and parameters, the effect of a write into a result,
all parameters, Python's state, and the position in the stream of random numbers. A failure prints the program.
"""

from __future__ import annotations

import argparse
import random as python_random
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor
from hookscope.engine.compile.function import MOST_PLANS, CompiledFunction, is_observed
from hookscope.engine.tensors import random

WAYS = ("function", "method", "cell", "gradient", "step", "inside")

START = '''
import abc, collections, collections.abc, copy, dataclasses, enum, functools, operator, types, typing
import numpy as np
import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.debug import DebugSession

G, H = 1.5, 0.5
LIST, TUPLE, DICT, KW = [0.5, 1.0], (1.0, 0.5), {"a": 0.5, "b": {"c": 2.0}}, {"k": 0.5}
ARR = np.array([0.5, 1.0, 1.5, 2.0], np.float32)
NS = types.SimpleNamespace(alpha=0.5)
LOG, SEEN = [], []
WEIGHT = Tensor([1.0, 0.5, 0.25, 2.0])

class Mode(enum.Enum):
    A = 1
    B = 2

MODE = Mode.A

@dataclasses.dataclass
class Config:
    rate: float = 0.5
    deep: tuple = (1, 2)

CFG = Config()

def helper(x, k=0.5, *, by=1.0):
    return x * k + by * G

def other(x):
    return x - H

def fold(x, *parts, scale=1.0):
    for part in parts:
        x = x + part * scale
    return x

def closure(value):
    def inner(x):
        return x * value
    def put(new):
        nonlocal value
        value = new
    return inner, put

INNER, PUT = closure(0.5)

class Lookup:
    def __getattr__(self, name):
        return DICT["a"]

LOOK = Lookup()

def factory(value):
    class Made:
        def __init__(self, by=1.0):
            self.by = by * value

        def __repr__(self):
            return f"Made({self.by * H})"

        def times(self, x):
            return x * self.by

    class More(Made):
        def __init__(self):
            super().__init__(G)

        def times(self, x):
            return super().times(x) + CFG.rate

    class Drawn(Made):
        def __init__(self):
            self.by = float(np.random.RandomState(3).rand()) * value

    def put(new):
        nonlocal value
        value = new

    return Made, More, Drawn, put

Made, More, Drawn, SET = factory(0.5)
MADE, DRAWN = Made(), Drawn()
@typing.runtime_checkable
class Scaled(typing.Protocol):
    maybe: float

@typing.runtime_checkable
class Goes(typing.Protocol):
    def go(self): ...

class Kinds(abc.ABC):
    @classmethod
    def __subclasshook__(cls, kind):
        return True if hasattr(kind, "kinds") else NotImplemented

class Asked(type):
    def __instancecheck__(cls, one):
        return hasattr(one, "maybe")
    def __getattr__(cls, name):
        return H

class Answers(metaclass=Asked):
    pass

class Thing:
    """A thing."""
    def __str__(self):
        return f"<{type(self).__name__} {G}>"

class Other:
    pass

class Slotted:
    __slots__ = ("maybe",)

class Poses:
    @property
    def __class__(self):
        return KIND

THING, SLOTTED, POSES, KIND = Thing(), Slotted(), Poses(), Other
MOD = types.ModuleType("mod")
MOD.__getattr__ = lambda name: H
PAIR = collections.namedtuple("PAIR", "a b")
ONE = PAIR(0.5, 1.0)
FLAGS = enum.Flag("FLAGS", "P Q")
COUNTS = collections.defaultdict(lambda: 0.5)

class Properties(types.ModuleType):
    factor = property(lambda self: G)

@functools.singledispatch
def single(one):
    return 0.5

def fits(one):
    match one:
        case Scaled():
            return 2.0
        case Goes():
            return 1.5
    return 0.5

def missing():
    value = COUNTS["x"]
    del COUNTS["x"]
    return value

def mix(x, y):
    if y is None:
        return x
    if isinstance(y, (list, tuple)):
        for part in y:
            x = mix(x, part)
        return x
    if isinstance(y, dict):
        for key, part in y.items():
            x = mix(x, part) if key != "off" else x
        return x
    return x + y

def total(out):
    if isinstance(out, Tensor):
        return out.sum() if out.dtype == ms.float32 else Tensor(0.0)
    if isinstance(out, (list, tuple)):
        return sum((total(part) for part in out), Tensor(0.0))
    if isinstance(out, dict):
        return total(list(out.values()))
    return Tensor(0.0)

def t(seed, *shape):
    return Tensor(np.random.RandomState(seed).rand(*shape).astype(np.float32) + 0.1)

class Custom(nn.Cell):
    slope = 2.0

    def construct(self, x):
        return x * 3.0

    def bprop(self, x, out, dout):
        return (dout * self.slope,)

class Sub(nn.Cell):
    def __init__(self):
        super().__init__()
        self.v = Parameter(Tensor([0.5, 1.0, 1.5, 2.0]), name="v")
        self.power = 1

    def extra(self, x):
        return x * 0.5

    def construct(self, x):
        for _ in range(self.power):
            x = self.extra(x) + self.v
        return x

def doubled(grads):
    return grads[0] * 2.0

class Net(nn.Cell):
    klass = 0.5

    def __init__(self):
        super().__init__()
        self.scale, self.count, self.cfg, self.items_ = 0.5, 0, {"a": 0.5}, [0.5]
        self.w = Parameter(Tensor([0.5, 0.25, 1.0, 2.0]), name="w")
        self.dense, self.sub, self.act, self.custom = nn.Dense(4, 4), Sub(), nn.ReLU(), Custom()
        self.drop, self.bn, self.rec = nn.Dropout(p=0.5), nn.BatchNorm1d(4), Sub()
        self.rec.recompute()
        self.cells_ = nn.CellList([nn.Tanh(), nn.Sigmoid()])
        self.seq = nn.SequentialCell(nn.Dense(4, 4), nn.Tanh())
        self.hb = ops.HookBackward(doubled)
        self.buf = Tensor([1.0, 2.0, 3.0, 4.0])
        self.noise = float(np.random.default_rng(3).random())

    @property
    def prop(self):
        return self.scale * 2

    def inner(self, x):
        return x + 0.25

    def construct(self, x, y=None, *, flag=False):
        x0 = x
BODY
        return RESULT
'''

BODY = [
    ("x = x * self.scale", 4),
    ("x = x + G", 3),
    ("x = helper(x)", 4),
    ("x = helper(x, k=LIST[0])", 2),
    ("x = other(x)", 2),
    ("x = helper(x, **KW)", 2),
    ("x = fold(x, *LIST, scale=H)", 2),
    ("x = INNER(x)", 3),
    ("x = self.act(x)", 3),
    ("x = self.dense(x)", 4),
    ("x = self.sub(x)", 4),
    ("x = self.custom(x)", 3),
    ("x = self.rec(x)", 2),
    ("x = self.drop(x)", 3),
    ("x = self.bn(x)", 3),
    ("x = self.seq(x)", 2),
    ("x = self.inner(x)", 2),
    ("for cell in self.cells_:\n    x = cell(x)", 2),
    ("x = x * self.w", 3),
    ("x = x * self.prop", 2),
    ("x = x * Net.klass + self.klass", 2),
    ("x = x * CFG.rate", 3),
    ("x = x * NS.alpha", 2),
    ("x = x * LOOK.thing", 1),
    ("x = x * DICT['b']['c']", 2),
    ("x = x * self.cfg['a']", 2),
    ("x = x + self.items_[-1]", 2),
    ("x = x + Tensor(ARR)", 2),
    ("x = x * float(ARR[1])", 1),
    ("x = x * (2.0 if MODE is Mode.A else 0.5)", 2),
    ("x = x + sum(TUPLE)", 1),
    ("if self.training:\n    x = x * 0.5", 2),
    ("if x.shape[0] > 2:\n    x = x - x.mean(0)", 2),
    ("if flag:\n    x = x * 0.5", 2),
    ("x = mix(x, y)", 8),
    ("x = x + self.buf", 2),
    ("x = x * WEIGHT", 1),
    ("y2 = x[0]\nx = x + y2", 2),
    ("x = x * 1.0\nx[0] = self.scale", 2),
    ("x = x * 1.0\nx += 0.5", 2),
    ("x = x * 1.0\nz = x.reshape((-1,))\nz[0] = G\nx = x + 0.5", 2),
    ("x = x * 1.0\nz = x[0]\nz += 1.0", 1),
    ("ops.assign(self.w, self.w * 0.5 + x.mean(0))", 2),
    ("self.w += 0.125", 1),
    ("self.buf += 0.5", 1),
    ("x = x + ms.grad(lambda a: (a * a * self.w).sum())(x)", 3),
    ("x = x + ms.grad(lambda a: self.custom(a).sum())(x)", 2),
    ("x = x + ms.grad(lambda a: ms.grad(lambda b: (b * b * b).sum())(a).sum())(x)", 2),
    ("x = x + ms.value_and_grad(lambda a: (self.sub(a) * a).sum(), None, [self.w, self.sub.v])(x)[1][1].sum()", 2),
    ("x = self.hb(x)", 2),
    ("x = x + ops.rand(4)", 2),
    ("x = ops.dropout(x, p=0.25, training=self.training)", 1),
    ("try:\n    x = x * self.maybe\nexcept AttributeError:\n    x = x + 0.5", 1),
    ("x = x * getattr(self, 'extra_', 0.5)", 1),
    ("x = x * len(self.trainable_params()) * 0.1", 1),
    ("x = x * sum(p.sum() for p in self.sub.get_parameters())", 1),
    ("x = x * (2.0 if self.w.requires_grad else 0.5)", 1),
    ("x = ops.softmax(x, -1) if CFG.deep[0] else ops.tanh(x)", 2),
    ("from types import SimpleNamespace as S\nx = x * S(a=self.scale).a", 1),
    ("x.register_hook(lambda g: g * 0.5)", 2),
    ("x = functools.reduce(lambda a, b: a + b, LIST, x)", 1),
    ("x = ops.stack([x * k for k in self.items_]).sum(0)", 2),
    ("x = ops.topk(x, 2, -1)[0].sum() + x", 1),
    ("x = x + ops.sort(x)[0]", 1),
    ("x = x * x[x > 0.5].sum()", 0.15),
    ("x = x + ops.one_hot((x[0] * 0.5).astype(ms.int32), 4, 1.0, 0.5)", 1),
    ("x0[0] = G", 0.3),
    ("x0.add_(0.5)", 0.3),
    ("x = x + ops.unsorted_segment_sum(x[0], ops.clamp(x[0] * 2 - 0.5, -1, 3).astype(ms.int32), 4)", 0.5),
    ("x = x * (1.0 + ops.uniform((4,), Tensor(0.5), Tensor(1.0)))", 1),
    ("x = x + Tensor(ops.rand(4))", 0.5),
    ("x = Made().times(x)", 1),
    ("x = More().times(x)", 1),
    ("x = MADE.times(x)", 2),
    ("x = type(MADE)().times(x)", 1),
    ("x = MADE.__class__().times(x)", 1),
    ("x = x * (2.0 if isinstance(MADE, Drawn) else 0.5)", 1),
    ("x = DRAWN.times(x)", 1),
    ("x = x * len(repr(MADE))", 1),
    ("x = x * (len(str(self.noise)) + self.noise)", 1),
    ("x = Drawn().times(x)", 0.3),
    ("x = x * (2.0 if isinstance(THING, Scaled) else 0.5)", 2),
    ("x = x * (2.0 if isinstance(self.sub, Scaled) else 0.5)", 1),
    ("x = x * fits(THING)", 2),
    ("x = x * (2.0 if isinstance(SLOTTED, Scaled) else 0.5)", 1),
    ("x = x * fits(MOD)", 1),
    ("x = x * (2.0 if isinstance(THING, Kinds) else 0.5)", 1),
    ("x = x * (2.0 if isinstance(THING, Answers) else 0.5)", 1),
    ("x = x * Answers.some", 1),
    ("x = x * (2.0 if isinstance(POSES, (Thing, list)) else 0.5)", 1),
    ("x = x * MOD.factor", 2),
    ("x = x * (2.0 if isinstance(THING, collections.abc.Sequence) else 0.5)", 1),
    ("x = x * getattr(MOD, 'factor', 0.5)", 1),
    ("x = x * len(str(THING))", 1),
    ("x = x * len(object.__repr__(THING).split(' object')[0])", 1),
    ("x = x * len(f'{Thing}')", 1),
    ("x = x * len(('%s' % helper).split(' at ')[0]) + len(repr(other).split(' at ')[0])", 1),
    ("x = x * len(repr(ONE))", 1),
    ("x = x * len(ONE._asdict())", 1),
    ("x = x * len(str(MODE)) + len(repr(MODE))", 1),
    ("x = x * MODE.value", 1),
    ("x = x * sum(one.value for one in Mode)", 1),
    ("x = x * Mode(1).value + len(Mode['B'].name)", 1),
    ("x = x * len(FLAGS)", 0.5),
    ("x = x * len((Thing.__doc__ or '') + Thing.__module__ + Thing.__name__ + Thing.__qualname__)", 1),
    ("x = x * len((helper.__doc__ or '') + helper.__module__ + helper.__name__ + (MOD.__doc__ or ''))", 1),
    ("x = x * single(THING) + single(0.5)", 1),
    ("x = x * operator.attrgetter('scale')(self)", 1),
    ("x = x * missing()", 1),
    ("x = x * operator.attrgetter('sub.power')(self)", 1),
    ("x = x * (len(repr(self.seq)) % 7)", 1),
    ("x = x * hash(MODE.value)", 1),
    ("x = x * (len(str(self.sub)) % 7)", 1),
    ("x = x * (2.0 if {x: 1}.get(x) else 0.5)", 0.2),
    ("x = x * {PAIR(0.5, 1.0): 2.0}.get(ONE, 0.5)", 1),
    ("x = x * (hash(ONE) % 7)", 1),
    ("x = x * len(repr(typing.List[Thing]))", 0.5),
    ("self.count += 1", 0.15),
    ("LOG.append(1)", 0.15),
    ("x = x if float(x.sum()) > 0 else -x", 0.15),
    ("x = x * float(x.asnumpy().max())", 0.1),
    ("self.last = x", 0.1),
]
"""What ``construct`` is made of, and how often."""

RESULTS = [
    ("x", 8),
    ("(x, x.sum())", 3),
    ("{'a': x, 'b': 3, 'c': None}", 2),
    ("[x, None, self.scale]", 2),
    ("(x, LIST[0])", 1),
    ("x.sum()", 2),
    ("(x, (x * 2, [x.mean(0)]))", 1),
    ("x[0]", 1),
    ("x.reshape((-1,))", 1),
    ("(x, x)", 0.3),
    ("x0", 0.3),
    ("self.w", 0.3),
    ("(x, self.w * 1)", 1),
    ("x0[0]", 0.2),
    ("None", 0.2),
    ("(x, self.cfg)", 0.2),
    ("(x, x0)", 0.3),
    ("ops.chunk(x, 2, -1)", 0.5),
    ("(x, x[0], x.reshape((-1,))[1:])", 0.5),
    ("(x0, x0.reshape((-1,)))", 0.3),
    ("self.buf[1:]", 0.2),
]

CHANGES = [
    "net.scale = {f}",
    "net.__dict__['scale'] = {f}",
    "setattr(net.sub, 'power', {n})",
    "net.sub.power = {n}",
    "net.rec.power = {n}",
    "net.cfg['a'] = {f}",
    "net.cfg = {{'a': {f}}}",
    "net.items_.append({f})",
    "net.items_[0] = {f}",
    "LIST[0] = {f}",
    "LIST.append({f})",
    "del LIST[1:]",
    "DICT['b']['c'] = {f}",
    "DICT['a'] = {f}",
    "KW['k'] = {f}",
    "KW['by'] = {f}",
    "global G; G = {f}",
    "global H; H = {f}",
    "global CFG; CFG = Config({f})",
    "CFG.rate = {f}",
    "CFG.deep = ({n} - 1, 2)",
    "NS.alpha = {f}",
    "global MODE; MODE = Mode({n})",
    "ARR[1] = {f}",
    "PUT({f})",
    "global INNER, PUT; INNER, PUT = closure({f})",
    "helper.__defaults__ = ({f},)",
    "helper.__kwdefaults__['by'] = {f}",
    "helper.__kwdefaults__ = {{'by': {f}}}",
    "global other; other = lambda x: x * {f}",
    "other.__code__ = (lambda x: x + H).__code__",
    "Net.klass = {f}",
    "net.klass = {f}",
    "net.__dict__.pop('klass', None)",
    "Net.prop = property(lambda self: {f})",
    "Net.inner = lambda self, x: x * {f}",
    "net.inner = lambda x: x + {f}",
    "net.__dict__.pop('inner', None)",
    "Sub.extra = lambda self, x: x * {f}",
    "net.sub.extra = lambda x: x - {f}",
    "Custom.slope = {f}",
    "net.custom.slope = {f}",
    "net.custom.bprop = lambda x, out, dout: (dout * {f},)",
    "net.act = nn.Tanh()",
    "net.act = nn.ReLU()",
    "net.sub = Sub()",
    "net.dense = nn.Dense(4, 4)",
    "net.dense.activation_flag = False",
    "net.cells_.append(nn.Tanh())",
    "net.cells_[0] = nn.ReLU()",
    "net.seq.append(nn.Tanh())",
    "net.seq[1] = nn.Sigmoid()",
    "net.drop.p = {f} / 2",
    "net.w = Parameter(Tensor([{f}, 1.0, 2.0, 0.5]), name='w')",
    "net.w.set_data(Tensor([{f}, 1.0, 2.0, 0.5]))",
    "net.w.set_data(Tensor([{f}]), slice_shape=True)",
    "net.w.set_data(Tensor([{f}, 1.0, 0.5, 2.0]), slice_shape=True)",
    "net.w.set_dtype(ms.float16)",
    "net.w.set_dtype(ms.float32)",
    "net.sub.v.requires_grad = {b}",
    "net.w.requires_grad = {b}",
    "net.set_train({b})",
    "net.bn.set_train({b})",
    "net.drop.set_train({b})",
    "net.bn.momentum = {f} / 2",
    "net.bn.eps = {f}",
    "net.buf = Tensor([{f}, 1.0, 1.0, 1.0])",
    "global WEIGHT; WEIGHT = Tensor([{f}, 1.0, 1.0, 1.0])",
    "WEIGHT[0] = {f}",
    "HOOKS.append(net.sub.register_forward_pre_hook(lambda c, a: (a[0] * {f},)))",
    "HOOKS.append(net.sub.register_forward_hook(lambda c, a, o: o + {f}))",
    "HOOKS.append(net.register_forward_hook(lambda c, a, o: SEEN.append(1)))",
    "HOOKS.append(net.act.register_forward_hook(lambda c, a, o: o * {f}))",
    "HOOKS.append(net.sub.register_backward_hook(lambda c, i, o: (i[0] * {f},)))",
    "HOOKS.append(net.custom.register_backward_pre_hook(lambda c, o: (o[0] * {f},)))",
    "HOOKS.append(net.w.register_hook(lambda g: g * {f}))",
    "HOOKS.append(net.sub.v.register_hook(lambda g: g + {f}))",
    "HOOKS.pop().remove() if HOOKS else None",
    "HOOKS.pop(0).remove() if HOOKS else None",
    "ms.set_seed({n})",
    "global SESSION; SESSION = DebugSession(net, watch=['*']); SESSION.attach()",
    "SESSION and SESSION.detach()",
    "net.maybe = {f}",
    "net.__dict__.pop('maybe', None)",
    "net.extra_ = {f}",
    "net.hb = ops.HookBackward(lambda g: g[0] * {f})",
    "net.to_float(ms.float16)",
    "net.to_float(ms.float32)",
    "net.sub.recompute()",
    "net.rec.recompute(False)",
    "net.custom = Sub()",
    "net.construct = types.MethodType(Net.construct, net)",
    "net.__dict__.pop('construct', None)",
    "Lookup.__getattr__ = lambda self, name: {f}",
    "net.sub.__class__ = Sub",
    "net.act = lambda x: x * {f}",
    "net.sub.v = Parameter(Tensor([{f}, 1.0, 1.0, 1.0]), name='v')",
    "global MODEL; MODEL = copy.deepcopy(net)",
    "SET({f})",
    "MADE.by = {f}",
    "Made.__init__ = lambda self, by=1.0: self.__dict__.update(by=by * {f})",
    "net.noise = {f}",
    "More.__init__ = lambda self: Made.__init__(self, {f})",
    "Made.__repr__ = lambda self: 'M' * int({f} * 4)",
    "MADE.__class__ = More",
    "MADE.__class__ = Drawn",
    "Drawn.__init__ = Made.__init__",
    "DRAWN.by = {f}",
    "global Made, More, Drawn, SET, MADE; Made, More, Drawn, SET = factory({f}); MADE = Made()",
    "global doubled; doubled = lambda g: g[0]",
    "net.items_ = [{f}, {f}]",
    "net.requires_grad_ = {f}",
    "Config.rate = {f}",
    "THING.maybe = {f}",
    "THING.__dict__.pop('maybe', None)",
    "SLOTTED.maybe = {f}",
    "del SLOTTED.maybe",
    "THING.go = 1",
    "MOD.maybe = {f}",
    "THING.go = None",
    "Thing.go = lambda self: 1",
    "Thing.go = None",
    "Thing.kinds = 1",
    "Kinds.register(Thing)",
    "net.sub.maybe = {f}",
    "collections.abc.Sequence.register(Thing)",
    "Asked.__instancecheck__ = lambda cls, one: {b}",
    "global KIND; KIND = Thing",
    "global KIND; KIND = Other",
    "Asked.__getattr__ = lambda cls, name: {f}",
    "Answers.some = {f}",
    "MOD.factor = {f}",
    "MOD.__getattr__ = lambda name: {f}",
    "del MOD.__getattr__",
    "del MOD.factor",
    "MOD.__class__ = Properties",
    "MOD.__class__ = types.ModuleType",
    "Properties.factor = property(lambda self: {f})",
    "Thing.__qualname__ = 'Q' * {n} * 3",
    "Thing.__name__ = 'N' * {n} * 3",
    "Thing.__module__ = 'm' * {n} * 3",
    "Thing.__doc__ = 'd' * {n} * 3",
    "helper.__qualname__ = 'q' * {n} * 3",
    "helper.__name__ = 'n' * {n} * 3",
    "helper.__doc__ = 'd' * {n} * 3",
    "helper.__module__ = 'm' * {n} * 3",
    "MOD.__doc__ = 'd' * {n} * 3",
    "other.__qualname__ = 'o' * {n} * 3",
    "Thing.__str__ = lambda self: 's' * {n}",
    "del Thing.__str__",
    "Thing.__repr__ = lambda self: '<r object' + 'r' * {n}",
    "THING.__class__ = Other",
    "THING.__class__ = Thing",
    "PAIR.__name__ = 'P' * {n} * 3",
    "PAIR._fields = ('a', 'b')[:{n}]",
    "global ONE; ONE = PAIR({f}, 1.0)",
    "Mode.A._value_ = {n}",
    "Mode.A._name_ = 'A' * {n}",
    "Mode._member_names_.reverse()",
    "Mode._member_map_['B'] = Mode.A",
    "Mode._value2member_map_[1] = Mode.B",
    "Mode.__str__ = lambda self: 's' * {n}",
    "Mode.__qualname__ = 'M' * {n}",
    "Mode.__name__ = 'M' * {n} * 3",
    "single.register(Thing, lambda one: {f})",
    "single.register(float, lambda one: {f})",
    "Thing.__bases__ = (Other,)",
    "COUNTS.default_factory = lambda: {f}",
    "net.seq[0].in_channels = {n} * 100",
    "net.seq.__class__.__qualname__ = 'SequentialCell'",
    "Sub.__name__ = 'S' * {n} * 3",
    "Scaled.__annotations__['go'] = int",
    "Scaled.__annotations__.pop('go', None)",
    "net.sub.go = 1",
]

ARGUMENTS = [
    ("X", 14),
    ("X, 0.5", 2),
    ("X, Y", 4),
    ("X, X", 2),
    ("X, y={f}", 2),
    ("X, flag={b}", 2),
    ("X, [Y, {f}]", 2),
    ("X, {{'a': Y, 'b': {f}}}", 2),
    ("X, (X, Y)", 1),
    ("X, net.w", 1),
    ("X, X[0]", 1),
    ("X, {{'b': {f}, 'off': 1.0}}", 1),
    ("X, ARR", 1),
    ("X, LIST", 1),
    ("X, WEIGHT", 1),
    ("X, net.buf", 1),
    ("X, np.float32({f})", 1),
    ("KEPT", 2),
    ("KEPT, X[0]", 1),
]

AROUND = [
    ("{call}", 20),
    ("in_thread(lambda: {call})", 1),
    ("ms.grad(lambda a: total(CALL(a)))(X)", 1),
    ("[{call}, {call}]", 2),
    ("CALL(X, total({call}))", 1),
]


@dataclass
class Program:
    """A network's text, the way to call it, and each call's changes, arguments and expression."""

    text: str
    way: str
    level: str
    steps: list[tuple[list[str], str, str]]

    def __str__(self) -> str:
        steps = "\n".join("; ".join([*changes, arguments, call]) for changes, arguments, call in self.steps)
        body = self.text.partition("x0 = x\n")[2]
        return f"# {self.way} {self.level}\n{body}\n{steps}"


def _choose(rng: python_random.Random, rows: list[tuple[str, float]]) -> str:
    return rng.choices([row[0] for row in rows], [row[1] for row in rows])[0]


def random_program(seed: int) -> Program:
    """Return a random program."""
    rng = python_random.Random(seed)

    def filled(text: str) -> str:
        return text.format(f=rng.choice((0.5, 1.0, 1.5)), n=rng.choice((1, 2)), b=rng.random() < 0.5, call="{call}")

    lines = [_choose(rng, BODY) for _ in range(rng.randint(2, 7))]
    body = "\n".join(" " * 8 + line for text in lines for line in text.split("\n"))
    way = rng.choice(WAYS)
    result = "total(x)" if way in ("gradient", "step") and rng.random() < 0.7 else _choose(rng, RESULTS)
    text = START.replace("BODY", body).replace("RESULT", result)
    pool = [filled(rng.choice(CHANGES)) for _ in range(rng.randint(1, 5))]
    terms = set(body.replace(".", " ").replace("(", " ").replace(")", " ").split())
    near = [change for change in CHANGES if any(len(word) > 3 and word in change for word in terms)]
    pool += [filled(rng.choice(near)) for _ in range(3) if near]
    usual = filled(_choose(rng, ARGUMENTS))
    rows, steps = rng.randint(1, 3), []
    for number in range(rng.randint(8, 14)):
        changes = [rng.choice(pool) for _ in range(rng.choice((1, 1, 2)))] if number > 1 and rng.random() < 0.25 else []
        arguments = usual if rng.random() < 0.9 else filled(_choose(rng, ARGUMENTS))
        made = f"X, Y = t({number}, {rows if rng.random() < 0.95 else rng.randint(1, 4)}, 4), t({number + 50}, 1, 4)"
        call = _choose(rng, AROUND).replace("{call}", f"CALL({arguments})")
        steps.append((changes, made, call))
    return Program(text, way, rng.choice(("O0", "O0", "O0", "O1")), steps)


class Side:
    """One of the two namespaces."""

    def __init__(self, program: Program, planned: bool) -> None:
        self.planned = planned
        self.graph = planned and program.way in ("cell", "gradient", "step")
        self.names: dict[str, Any] = {"__name__": "program", "HOOKS": [], "SESSION": None, "in_thread": _in_thread}
        ms.set_context(mode=ms.PYNATIVE_MODE)
        ms.set_seed(5)
        exec(compile(program.text, "<program>", "exec", dont_inherit=True), self.names)
        wrap = (lambda f: ms.jit(f, jit_level=program.level)) if planned else (lambda f: f)
        self.names["wrap"] = wrap
        ends = {
            "function": "net = Net()\n@wrap\ndef CALL(x, y=None, flag=False): return net(x, y, flag=flag)",
            "method": "Net.construct = wrap(Net.construct)\nnet = Net()\ndef CALL(*a, **k): return net(*a, **k)",
            "cell": "net = Net()\ndef CALL(*a, **k): return net(*a, **k)",
            "gradient": "net = Net()\ndef loss(*a, **k): return total(net(*a, **k))\n"
            "VG = ms.value_and_grad(loss, 0, net.trainable_params())\ndef CALL(*a, **k): return VG(*a, **k)",
            "inside": "net = Net()\n@wrap\ndef inner(*a, **k): return net(*a, **k)\n"
            "def loss(*a, **k): return total(inner(*a, **k))\n"
            "VG = ms.value_and_grad(loss, 0, net.trainable_params())\ndef CALL(*a, **k): return VG(*a, **k)",
            "step": "net = Net()\nclass Loss(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
            "        self.net = net\n    def construct(self, *a, **k): return total(self.net(*a, **k))\n"
            "STEP = nn.TrainOneStepCell(Loss(), nn.Momentum(net.trainable_params(), 0.01, 0.9))\n"
            "def CALL(*a, **k): return STEP(*a, **k)",
        }
        exec(ends[program.way] + "\nKEPT = t(99, 2, 4)", self.names)
        if planned and program.level == "O1" and program.way in ("cell", "step"):
            self.names["net"].set_jit_config(ms.JitConfig(jit_level="O1"))
        self.position = random.position()

    def step(self, changes: list[str], made: str, call: str) -> Any:
        """Run one call; return its result and the state after it."""
        names = self.names
        random.go_to(self.position)
        ms.set_context(mode=ms.GRAPH_MODE if self.graph else ms.PYNATIVE_MODE)
        try:
            for change in changes:
                try:
                    exec(change, names)
                except Exception as error:
                    names["SEEN"].append(type(error).__name__)
            exec(made, names)
            try:
                result = eval(call, names)
            except Exception as error:
                return type(error).__name__, str(error), self._state()
            results = plain_value(result), self._identities(result), self._state(), random.position()
            for tensor in _tensors(result):
                if tensor.ndim and tensor.dtype == ms.float32 and tensor.size:
                    tensor[0] = 0.5
                    break
            return results, plain_value(result), self._state()
        finally:
            self.position = random.position()
            ms.set_context(mode=ms.PYNATIVE_MODE)

    def _state(self) -> Any:
        names, net = self.names, self.names["net"]
        return [
            *[(p.name, plain_value(p)) for p in net.get_parameters()],
            [plain_value(names[name]) for name in ("X", "Y", "KEPT", "WEIGHT", "LIST", "LOG", "DICT", "SEEN")],
            plain_value(net.buf),
            net.count,
            plain_value(net.cfg),
            plain_value(getattr(net, "last", None)),
            net.training,
            net._plain,
        ]

    def _identities(self, result: Any) -> Any:
        names, net = self.names, self.names["net"]
        objects = [names["X"], names["Y"], names["KEPT"], names["WEIGHT"], *net.get_parameters()]
        identities = [
            next((i for i, other in enumerate(objects) if other is tensor), -1) for tensor in _tensors(result)
        ]
        tensors = list(_tensors(result))
        return identities, [[a is b for b in tensors] for a in tensors], isinstance(result, dict) and result is net.cfg


def _in_thread(function: Callable[[], Any]) -> Any:
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(function())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(results[0], Exception):
        raise results[0]
    return results[0]


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _tensors(part)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


def plain_value(value: Any) -> Any:
    """Return a value as plain data with all of its bits."""
    if isinstance(value, Tensor):
        return type(value).__name__, type(value._array).__name__, np.array(value.asnumpy())
    if isinstance(value, tuple | list):
        return type(value).__name__, [plain_value(part) for part in value]
    if isinstance(value, dict):
        return {key: plain_value(part) for key, part in value.items()}
    return type(value).__name__, repr(value)


def difference(a: Any, b: Any, exact: bool) -> str:
    """Return the first difference between two values, or ""."""
    if isinstance(a, dict) and isinstance(b, dict):
        a, b = list(a.items()), list(b.items())
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        is_like = a.shape == b.shape and a.dtype == b.dtype
        if is_like and (a.tobytes() == b.tobytes() if exact else np.allclose(a, b, 2e-3, 2e-3, equal_nan=True)):
            return ""
    elif isinstance(a, tuple | list) and type(a) is type(b) and len(a) == len(b):
        results = [(index, difference(x, y, exact)) for index, (x, y) in enumerate(zip(a, b, strict=True))]
        return next((f"[{position}]{text}" for position, text in results if text), "")
    elif type(a) is type(b) and bool(a == b):
        return ""
    return f": {str(a)[:300]} | {str(b)[:300]}"


@contextmanager
def counting(counts: Counter[str], reasons: Counter[str]) -> Iterator[None]:
    """Count the calls of all functions inside the block: those by plans, and the eager ones by reasons."""
    whys: dict[tuple[int, Any], str] = {}
    references: list[CompiledFunction] = []  # keeps each identity in use
    give_up, traced, call = CompiledFunction._reject, CompiledFunction._trace, CompiledFunction.__call__
    without_plan = CompiledFunction._without_plan

    def told(self: CompiledFunction, key: Any, why: str, line: str) -> None:
        whys[id(self), key] = why
        give_up(self, key, why, line)

    def told_once(self: CompiledFunction, why: str, *args: Any) -> Any:
        reasons[why] += 1
        return without_plan(self, why, *args)

    def tried(self: CompiledFunction, key: Any, *args: Any, **kwargs: Any) -> Any:
        before, told_before = self.counts["eager"], reasons.total()
        try:
            return traced(self, key, *args, **kwargs)
        finally:
            if self.counts["eager"] > before and reasons.total() == told_before:
                full = sum(map(len, self.plans.values())) >= MOST_PLANS or len(self._failures) >= MOST_PLANS
                again = "it has 16 plans already" if full else "it changes a value of Python that it reads, once"
                reasons[whys.get((id(self), key), again)] += 1

    def called(self: CompiledFunction, *args: Any, **kwargs: Any) -> Any:
        references.append(self)
        before = dict(self.counts)
        is_attended, told_before = is_observed(), reasons.total()
        try:
            return call(self, *args, **kwargs)
        finally:
            for name, count in self.counts.items():
                counts[name] += count - before[name]
            if reasons.total() - told_before < self.counts["eager"] - before["eager"]:
                refused = (
                    "a kernel refuses the numbers" if self.counts["refused"] > before["refused"] else "views change"
                )
                reasons["somebody watches, or a gradient is asked for around it" if is_attended else refused] += 1

    CompiledFunction._reject, CompiledFunction._trace, CompiledFunction.__call__ = told, tried, called  # type: ignore[method-assign]
    CompiledFunction._without_plan = told_once  # type: ignore[method-assign]
    try:
        yield
    finally:
        CompiledFunction._reject, CompiledFunction._trace, CompiledFunction.__call__ = give_up, traced, call  # type: ignore[method-assign]
        CompiledFunction._without_plan = without_plan  # type: ignore[method-assign]


def run(program: Program) -> str:
    """Return the first call in which the two sides differ, and the difference."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sides = [Side(program, False), Side(program, True)]
        for number, step in enumerate(program.steps):
            plain, planned = [side.step(*step) for side in sides]
            result = difference(plain, planned, program.level == "O0")
            if result:
                return f"call {number}, {result}"
        for side in sides:
            if side.names["SESSION"] is not None:
                side.names["SESSION"].detach()
    return ""


def trial(seeds: range) -> tuple[int, Counter[str], Counter[str], list[tuple[int, str]]]:
    """Run the programs of these seeds; return how many calls they make, how these run, and which programs differ."""
    counts, reasons = Counter[str](), Counter[str]()
    wrong, calls = [], 0
    for seed in seeds:
        program = random_program(seed)
        calls += len(program.steps)
        with counting(counts, reasons):
            result = run(program)
        if result:
            wrong.append((seed, f"{program}\n{result}"))
    return calls, counts, reasons, wrong


def main() -> None:
    """Run programs and print a summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--show", type=int, default=3, help="how many wrong programs are printed")
    options = parser.parse_args()
    last = options.seed + options.programs
    parts = [range(first, min(first + 20, last)) for first in range(options.seed, last, 20)]
    calls, counts, reasons, wrong = 0, Counter[str](), Counter[str](), list[tuple[int, str]]()
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for of_part in pool.map(trial, parts):
            calls += of_part[0]
            counts += of_part[1]
            reasons += of_part[2]
            for seed, text in of_part[3]:
                wrong.append((seed, text))
                if len(wrong) <= options.show:
                    print(f"--- seed {seed}\n{text}", flush=True)
    every = counts["traced"] + counts["replayed"] + counts["eager"]
    print(f"{options.programs} programs, {calls} steps; {every} calls of functions with plans:")
    for how in ("traced", "replayed", "eager"):
        print(f"{counts[how]:8} {how}, {100 * counts[how] / max(every, 1):.1f} %")
    for reason, count in reasons.most_common(25):
        print(f"{count:16} {reason}")
    print(f"wrong answers: {len(wrong)} {[seed for seed, _ in wrong[:40]]}")


if __name__ == "__main__":
    main()
