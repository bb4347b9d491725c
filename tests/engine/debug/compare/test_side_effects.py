"""Conditions that run a copy of a cell leave unchanged whatever the copy would share with the cell."""

from __future__ import annotations

import inspect
import logging
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.compare.side_effects import side_effect

this_module = sys.modules[__name__]
log: list[int] = []
table = np.ones(3, np.float32)
rng = np.random.default_rng(0)
shared = nn.BatchNorm1d(3)
WIDTHS = [3, 3]
NAMES = ["a", "b"]


def numbers() -> Tensor:
    return Tensor(np.arange(12, dtype=np.float32).reshape(4, 3))


class InPlace(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        x.add_(1)
        x.register_hook(lambda g: g * 2)
        return x * x


class Logging(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        log.append(1)
        return x * 2


class Drawing(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * Tensor(rng.normal(size=3).astype(np.float32))


class UsesOuterCell(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return self.through(x)

    def through(self, x: Tensor) -> Tensor:
        return shared(x)


class Closure(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.call: Any = lambda x: self.norm(x)

    def construct(self, x: Tensor) -> Tensor:
        return self.call(x)


class CountingBprop(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.count = [0]
        self.of_count: Any = lambda: self.count

    def construct(self, x: Tensor) -> Tensor:
        return x * 1

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        count = self.of_count()
        count[0] += 1
        return (dout * float(count[0]),)


class Schedule:
    step = 0


class Stepping(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        Schedule.step += 1
        return x * 0.5**Schedule.step


class OwnList(nn.Cell):
    calls: list[int] = []  # noqa: RUF012  # shared by all cells of the class, which is what is tested

    def construct(self, x: Tensor) -> Tensor:
        self.calls.append(1)
        return x * float(len(self.calls))


class Leaving(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        if not self.training:
            raise SystemExit("only for training")
        return x * 2


class Counter:
    """An object with effects when it is made, called, read, copied or deleted."""

    made = 0

    def __init__(self) -> None:
        Counter.made += 1

    def __call__(self, x: Tensor) -> Tensor:
        log.append(1)
        return x

    def count_up(self) -> None:
        type(self).made += 1


class NotCopied:
    def __init__(self) -> None:
        self.count = 0

    def __deepcopy__(self, memo: Any) -> NotCopied:
        return self


class Making(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        Counter()
        return x * 2


class HoldingFunctions(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.before: list[Callable[[], None]] = [lambda: log.append(2)]
        self.after = {"count": partial(log.append, 3)}

    def construct(self, x: Tensor) -> Tensor:
        self.before[0]()
        self.after["count"]()
        return x * 2


class HoldingAClass(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.schedule = Schedule

    def construct(self, x: Tensor) -> Tensor:
        self.schedule.step += 1
        return x * 2


class HoldingWhatIsNotCopied(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.calls = NotCopied()

    def construct(self, x: Tensor) -> Tensor:
        self.calls.count += 1
        log.append(self.calls.count) if self.calls.count < 0 else None
        return x * float(self.calls.count)


class CountingOnItsType(nn.Cell):
    count = 0

    def construct(self, x: Tensor) -> Tensor:
        type(self).count += 1
        Schedule.step = type(self).count
        return x * 2


class Property(nn.Cell):
    @property
    def scale(self) -> float:
        log.append(4)
        return 2.0

    def construct(self, x: Tensor) -> Tensor:
        return x * self.scale


class ByName(nn.Cell):
    def bump(self) -> None:
        log.append(5)

    def construct(self, x: Tensor) -> Tensor:
        getattr(self, "bu" + "mp")()
        return x * 2


class Called(nn.Cell):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        log.append(6)
        return super().__call__(*args, **kwargs)

    def construct(self, x: Tensor) -> Tensor:
        return x * 2


class Trained(nn.Cell):
    def set_train(self, mode: bool = True) -> Trained:
        log.append(7)
        super().set_train(mode)
        return self

    def construct(self, x: Tensor) -> Tensor:
        return x * 2


class Assigned(nn.Cell):
    def __setattr__(self, name: str, value: Any) -> None:
        if name == "seen":
            log.append(8)
        super().__setattr__(name, value)

    def construct(self, x: Tensor) -> Tensor:
        self.seen = 1
        return x * 2


class OfAModule(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        this_module.log.append(9)
        return x * 2


class Importing(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        import os as system

        system.environ["HOOKSCOPE_TEST_OF_SIDE_EFFECTS"] += "1"
        return x * 2


class Printing(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        print("here")
        return x * 2


class Telling(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        logging.getLogger("side effects").warning("here")
        return x * 2


class WritingAFile(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        with open(os.environ["HOOKSCOPE_TEST_FILE"], "a") as file:
            file.write("x")
        return x * 2


class SettingNumpy(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        log.append(len(np.seterr(divide="ignore")))
        return x * 2


class SettingPython(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        sys.setrecursionlimit(sys.getrecursionlimit() + 1)
        return x * 2


class SettingTheContext(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        ms.set_context(save_graphs_path=ms.get_context("save_graphs_path") + "x")
        return x * 2


class DefaultList(nn.Cell):
    def construct(self, x: Tensor, seen: list[int] = log) -> Tensor:
        seen.append(10)
        return x * 2


class InPlaceOperator(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        seen = log
        seen += [11]
        return x * 2


class OfAFunction(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        counted.calls = counted.calls + 1
        return counted(x)


class Cached(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * drawn_once(2)


class OfTheEngine(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        nn.ReLU.made_here = getattr(nn.ReLU, "made_here", 0) + 1
        return x * 2


class ByBprop(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * 2

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        print("backward")
        return (dout * 2,)


class ByHookBackward(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.look = ops.HookBackward(lambda grad: log.append(12))

    def construct(self, x: Tensor) -> Tensor:
        return self.look(x) * 2

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (dout * 2,)


class Collecting(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.reduce = ops.AllReduce()

    def construct(self, x: Tensor) -> Tensor:
        return self.reduce(x)


class OwnAndGlobal(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.norm = shared

    def construct(self, x: Tensor) -> Tensor:
        return shared(x)


class OwnMethodInTheEngine(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.slope = ms.grad(self.energy)

    def energy(self, x: Tensor) -> Tensor:
        return self.norm(x).sum()

    def construct(self, x: Tensor) -> Tensor:
        return x + self.slope(x)


class HoldingABuiltin(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.say = partial(print, "net:")

    def construct(self, x: Tensor) -> Tensor:
        self.say("here")
        return x * 2


class TwoDefaults(nn.Cell):
    def construct(self, x: Tensor, seen: list[int] = log, scale: Any = table) -> Tensor:
        seen.append(14)
        return x * float(scale[0])


class OtherDefaults(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.steps = [lambda x, step=step: step(x) for step in (ops.relu, told)]

    def construct(self, x: Tensor) -> Tensor:
        for step in self.steps:
            step(x)
        return x * 2


class HoldingASingleton(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.one = Singleton()

    def construct(self, x: Tensor) -> Tensor:
        self.one.count += 1
        return x * float(self.one.count)


class HoldingAList(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.items = LoudList([1, 2])

    def construct(self, x: Tensor) -> Tensor:
        return x * 2


class Computed(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * Config.scale


class StoppedHere(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        if not self.training:
            raise Stop
        return x * 2


class OtherOrItself(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        (counted or self).calls = 1  # type: ignore[attr-defined]
        return x * 2


class Shuffling(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        np.random.shuffle(log)
        log.extend([1, 2, 3, 4]) if len(log) < 4 else None
        return x * 2


class WritingToItsInput(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        array = x.asnumpy()
        np.add(array, 1, out=array)
        return x * 2


class Singleton:
    here: Any = None

    def __new__(cls) -> Any:
        if cls.here is None:
            cls.here = super().__new__(cls)
            cls.here.count = 0
        return cls.here


class LoudList(list[int]):
    def append(self, value: int) -> None:
        print("append")
        super().append(value)


def scaled(x: Tensor) -> Tensor:
    return x * random.gauss(0.0, 1.0)


class Loud:
    def __get__(self, held: object, owner: type) -> float:
        print("computed")
        return 2.0


class Config:
    scale = Loud()


class Stop(BaseException):
    pass


def told(x: Tensor) -> Tensor:
    print("told")
    return x


def counted(x: Tensor) -> Tensor:
    return x * 2


counted.calls = 0  # type: ignore[attr-defined]


@lru_cache
def drawn_once(width: int) -> float:
    log.append(13)
    return float(width)


@dataclass(frozen=True)
class Settings:
    width: int = 3
    names: tuple[str, ...] = ("a", "b")


class Size(NamedTuple):
    width: int = 3


settings, size = Settings(), Size()


class Reading(nn.Cell):
    """A cell that reads much and changes nothing outside."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.CellList([nn.Dense(width, 3) for width in WIDTHS])
        self.seen: list[int] = []
        self.size = size

    def construct(self, x: Tensor) -> Tensor:
        import math

        outs = []
        for layer in self.layers:
            x = ops.relu(layer(x)) * self.size.width * size.width * math.sqrt(settings.width)
            outs.append(x)
        places = {}
        places["last"] = outs[-1]
        return ops.stack(outs).sum(0) * len(NAMES) * scaled(places["last"])


NAMED = {
    Logging: "log",
    Drawing: "rng",
    UsesOuterCell: "shared",
    Closure: "self.call",
    CountingBprop: "self.of_count",
    Stepping: "an attribute step",
    OwnList: "OwnList.calls",
    Making: "log",
    HoldingFunctions: "self.after",
    HoldingAClass: "an attribute step",
    HoldingWhatIsNotCopied: "NotCopied.__deepcopy__",
    CountingOnItsType: "an attribute count",
    Property: "log",
    ByName: "log",
    Called: "log",
    Trained: "log",
    Assigned: "__setattr__",
    OfAModule: "this_module.log",
    Importing: "os.environ",
    Printing: "print",
    Telling: "logging.getLogger",
    WritingAFile: "open",
    SettingNumpy: "np.seterr",
    SettingPython: "sys.setrecursionlimit",
    SettingTheContext: "ms.set_context",
    DefaultList: "a default of DefaultList.construct",
    InPlaceOperator: "log",
    OfAFunction: "an attribute calls",
    Cached: "drawn_once",
    OfTheEngine: "an attribute made_here",
    ByBprop: "print",
    ByHookBackward: "log",
    Collecting: "self.reduce",
    OwnAndGlobal: "shared",
    OwnMethodInTheEngine: "self.slope",
    HoldingABuiltin: "self.say",
    TwoDefaults: "a default of TwoDefaults.construct",
    OtherDefaults: "print",
    HoldingASingleton: "Singleton.__new__",
    HoldingAList: "print",
    Computed: "Config.scale",
    StoppedHere: "Stop",
    OtherOrItself: "an attribute calls",
    Shuffling: "log",
}
EVERY = [InPlace, Leaving, WritingToItsInput, *(make for make in NAMED if make is not Collecting)]


def start_over() -> None:
    global rng, shared
    log.clear()
    OwnList.calls.clear()
    drawn_once.cache_clear()
    rng, shared = np.random.default_rng(0), nn.BatchNorm1d(3).set_train()
    Singleton.here = None
    Schedule.step = Counter.made = CountingOnItsType.count = 0
    counted.calls = nn.ReLU.made_here = 0  # type: ignore[attr-defined]
    os.environ["HOOKSCOPE_TEST_OF_SIDE_EFFECTS"] = ""
    open(os.environ["HOOKSCOPE_TEST_FILE"], "w").close()
    np.seterr(divide="warn")
    np.random.seed(0)
    sys.setrecursionlimit(1000)
    ms.set_context(save_graphs_path=".")


def state_after(make: Callable[[], nn.Cell], watched: bool) -> list[Any]:
    start_over()
    cell = make().set_train()
    session = DebugSession(cell, conditions=["all"])
    if watched:
        session.attach()

    def function(x: Tensor) -> Tensor:
        y = x * 1
        z = cell(y)
        return z.sum() + y.sum()

    x = numbers()
    results = [ms.value_and_grad(function)(x) for _ in range(2)]
    session.detach()
    arrays = [t.asnumpy().tolist() for pair in results for t in pair]
    with open(os.environ["HOOKSCOPE_TEST_FILE"]) as file:
        outside = [
            list(log),
            rng.normal(),
            Schedule.step,
            len(OwnList.calls),
            Counter.made,
            counted.calls,  # type: ignore[attr-defined]
            nn.ReLU.made_here,
            CountingOnItsType.count,
            os.environ["HOOKSCOPE_TEST_OF_SIDE_EFFECTS"],
            np.geterr(),  # type: ignore[attr-defined]
            sys.getrecursionlimit(),
            drawn_once.cache_info(),
            ms.get_context("save_graphs_path"),
            file.read(),
        ]
    start_over()
    return [arrays, outside, [p.asnumpy().tolist() for c in (cell, shared) for p in c.get_parameters()]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", EVERY)
def test_watching_with_all_conditions_changes_neither_values_nor_what_is_outside(
    make: Callable[[], nn.Cell],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("HOOKSCOPE_TEST_FILE", str(tmp_path / "written"))
    monkeypatch.setenv("HOOKSCOPE_TEST_OF_SIDE_EFFECTS", "")
    limit, errors = sys.getrecursionlimit(), np.geterr()
    log = []
    for watched in (True, False):
        log.append((state_after(make, watched), capsys.readouterr().out, len(caplog.records)))
        caplog.clear()
    sys.setrecursionlimit(limit)
    np.seterr(**errors)
    assert log[0] == log[1]


@pytest.mark.parametrize("make", NAMED)
def test_what_may_change_is_named(make: Callable[[], nn.Cell]) -> None:
    assert side_effect(make()) == NAMED[make]


def test_a_cell_is_looked_at_under_mindspores_names_too() -> None:
    start = "from __future__ import annotations\nimport hookscope; hookscope.install_as_mindspore()\n"
    code = start + inspect.getsource(named_as_mindspores) + "named_as_mindspores()"
    subprocess.run([sys.executable, "-c", code], check=True)


def named_as_mindspores() -> None:
    import numpy as np
    from mindspore import Tensor, nn, ops  # type: ignore[import-not-found]

    from hookscope.engine.debug.compare.side_effects import is_plain, side_effect

    class Net(nn.Cell):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense, self.relu = nn.Dense(3, 3), ops.ReLU()

        def construct(self, x: Any) -> Any:
            return self.relu(ops.tanh(self.dense(x)))

    assert is_plain((Tensor(np.ones(3)), {"a": [1]}))
    assert side_effect(Net()) == ""


def test_a_cell_that_only_reads_is_looked_at() -> None:
    assert side_effect(Reading()) == ""
    assert side_effect(nn.SequentialCell(nn.Dense(3, 4), nn.LSTM(4, 4), nn.BatchNorm1d(4))) == ""


def test_a_class_is_searched_once_however_many_cells_it_has() -> None:
    def calls(cells: int) -> int:
        net, count = nn.SequentialCell(*[nn.Dense(2, 2) for _ in range(cells)]), 0

        def profile(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event == "call"

        previous = sys.getprofile()
        sys.setprofile(profile)
        try:
            assert side_effect(net) == ""
        finally:
            sys.setprofile(previous)
        return count

    few, many = calls(10), calls(110)
    assert (many - few) / 100 < 0.02 * few
