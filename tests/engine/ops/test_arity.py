"""Wrong numbers and names of arguments: the error names what a user can call, never what it is made of."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops

MODULES = [
    "",
    "amp",
    "boost",
    "common",
    "communication",
    "communication.comm_func",
    "context",
    "tensors.initializer",
    "dataset",
    "dataset.text",
    "dataset.transforms",
    "dataset.vision",
    "experimental.optim",
    "experimental.optim.lr_scheduler",
    "hal",
    "log",
    "mint",
    "mint.distributed",
    "mint.linalg",
    "mint.nn",
    "mint.nn.functional",
    "mint.optim",
    "mint.special",
    "nn",
    "nn.probability.bijector",
    "nn.probability.distribution",
    "nn.utils",
    "numpy",
    "numpy.fft",
    "ops",
    "ops.primitives",
    "parallel",
    "runtime",
    "train",
    "train.callback",
]
NOT_CALLED = {"destroy_process_group", "init", "init_process_group", "release", "run_check"}
"""They start or end what other tests need."""
CALLED = re.compile(r"([\w.<>]+)\(\) (takes|got|missing|is missing)")

TAKING_ANY_NAME = {
    "CellDict",
    "CellList",
    "CheckpointConfig",
    "Identity",
    "Initializer",
    "JitConfig",
    "Stream",
    "Symbol",
    "add_flags",
    "enable_dynamic",
    "jit",
}
"""They take an unknown name, as MindSpore 2.10 does."""


class Odd:
    """A value that every function refuses."""


WAYS: dict[str, Callable[[Any], Any]] = {
    "too many": lambda function: function(*[Odd() for _ in range(60)]),
    "an unknown name": lambda function: function(unknown_name=Odd()),
    "too few": lambda function: function(),
}


def names_of(module: Any) -> list[str]:
    return [name for name in getattr(module, "__all__", dir(module)) if not name.startswith("_")]


def callables() -> Iterator[tuple[str, Any]]:
    lines = set[tuple[int, str]]()
    for row in MODULES:
        module = importlib.import_module(f"hookscope.engine.{row}".rstrip("."))
        for name in names_of(module):
            value = getattr(module, name, None)
            is_ours = str(getattr(value, "__module__", "")).startswith("hookscope")
            if not callable(value) or inspect.ismodule(value) or not is_ours or name in NOT_CALLED:
                continue
            if (id(value), name) not in lines:
                lines.add((id(value), name))
                yield f"{row}.{name}", value
    tensor = Tensor([[1.0, 2.0], [3.0, 4.0]])
    for name in dir(Tensor):
        if not name.startswith("_") and callable(value := getattr(tensor, name, None)):
            yield f"Tensor.{name}", value


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, Any]]:
    return list(callables())


def parse(text: str) -> str:
    """Return the name by which an error about arguments calls a function, or ""."""
    match = CALLED.search(text)
    return "" if match is None else match.group(1)


@pytest.mark.parametrize("way", WAYS)
def test_an_error_about_arguments_names_what_users_call(
    rows: list[tuple[str, Any]], way: str, capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    public = {name.rpartition(".")[2] for name, _ in rows}
    wrong, calls = [], []
    for name, value in rows:
        if isinstance(value, enum.EnumMeta):
            continue
        try:
            WAYS[way](value)
        except Exception as error:
            by = parse(str(error)) if isinstance(error, TypeError) else ""
            *owners, last = by.split(".")
            names = owners if last in ("__init__", "__new__", "__call__", "construct") else [last]
            if by and not (len(names) == 1 and names[0] in public):
                wrong.append(f"{name}: {error}")
        else:
            calls.append(name.rpartition(".")[2])
    assert not wrong, "\n".join(wrong[:20])
    if way == "an unknown name":
        assert set(calls) <= TAKING_ANY_NAME


OWN: list[tuple[Callable[[], Any], str]] = [
    (lambda: ops.abs(), "abs"),
    (lambda: ops.abs(Tensor(1.0), 1), "abs"),
    (lambda: Tensor(1.0).abs(1), "abs"),
    (lambda: Tensor(1.0).max(il=3), "max"),
    (lambda: Tensor(1.0).exp_(1), "exp"),
    (lambda: nn.ReLU(1, 2, 3), "ReLU.__init__"),
    (lambda: nn.ReflectionPad3d(), "ReflectionPad3d.__init__"),
    (lambda: nn.L1Loss(unknown=1), "L1Loss.__init__"),
    (lambda: nn.LSTM(), "LSTM.__init__"),
    (lambda: nn.RNN(), "RNN.__init__"),
    (lambda: ms.mint.mean(), "mean"),
    (lambda: ms.mint.nn.functional.mish(), "mish"),
    (lambda: Tensor(1.0).masked_fill_(), "masked_fill_"),
]


@pytest.mark.parametrize(("call", "name"), OWN, ids=[f"{name} {index}" for index, (_, name) in enumerate(OWN)])
def test_the_name_is_the_one_that_was_called(call: Callable[[], Any], name: str) -> None:
    with pytest.raises(TypeError) as raised:
        call()
    assert parse(str(raised.value)) == name


def test_gather_takes_only_the_names_of_its_form() -> None:
    x, index = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[0, 1]])
    calls = [lambda **n: x.gather(0, index, **n), lambda **n: x.gather(index, 0, **n), lambda **n: x.gather(dim=0, **n)]
    for call in calls:
        with pytest.raises(TypeError, match=r"gather\(\) got an unexpected keyword argument 'nonsense'"):
            call(nonsense=1)
    with pytest.raises(TypeError, match=r"gather\(\) got an unexpected keyword argument 'batch_dims'"):
        x.gather(0, index, batch_dims=1)
    with pytest.raises(TypeError, match=r"gather\(\) got multiple values for argument 'dim'"):
        x.gather(0, dim=0, index=index)
    assert x.gather(0, index).shape == (1, 2) and x.gather(index, axis=0).shape == (1, 2, 2)


def test_a_count_that_no_memory_holds_is_refused_before() -> None:
    with pytest.raises(ValueError, match="'count' must let the result fit into 1 GiB, but 2147483647 rows take"):
        ops.RandomChoiceWithMask(count=2**31 - 1)(Tensor([True, False]))
    assert ops.RandomChoiceWithMask(count=2**10)(Tensor([True, False]))[0].shape == (2**10, 1)


def test_an_error_about_arguments_of_a_method_names_a_class_of_the_users(rows: list[tuple[str, Any]]) -> None:
    public = {name.rpartition(".")[2] for name, _ in rows}
    kinds = [item for _, item in rows if isinstance(item, type) and not issubclass(item, (enum.Enum, Tensor))]
    wrong = set()
    for kind, key in [(item, key) for item in kinds for key in dir(item) if key == "__call__" or key[0] != "_"]:
        method = inspect.getattr_static(kind, key)
        if inspect.isfunction(method) and method.__module__.startswith("hookscope"):
            owner, _, name = method.__qualname__.rpartition(".")
            if owner not in public or not hasattr(kind, name):
                wrong.add(f"{kind.__name__}.{key}: {method.__qualname__}")
    assert not wrong, "\n".join(sorted(wrong)[:20])


X = Tensor([[1.0, 2.0], [3.0, 4.0]])
OF_METHODS: list[tuple[Callable[[], Any], str]] = [
    (lambda: nn.Cell().set_train(1, 2), "Cell.set_train() takes from 1 to 2 positional arguments but 3 were given"),
    (lambda: nn.ReLU().register_forward_hook(), "Cell.register_forward_hook() missing 1 required positional argument"),
    (lambda: nn.Dense(2, 2).get_buffer(), "Cell.get_buffer() missing 1 required positional argument: 'target'"),
    (lambda: nn.LSTM(2, 2)(), "LSTM.construct() missing 1 required positional argument: 'x'"),
    (lambda: nn.GRUCell(2, 2)(X), "GRUCell.construct() missing 1 required positional argument: 'hx'"),
    (lambda: nn.MaxPool2d()(X, X), "MaxPool2d.construct() takes 2 positional arguments but 3 were given"),
    (lambda: ms.mint.nn.ReLU6()(), "relu6() missing 1 required positional argument"),
    (lambda: nn.Conv2dTranspose(1, 1, 1)(odd=X), "Conv2dTranspose.construct() got an unexpected keyword argument"),
    (lambda: nn.Adam(params=[], odd=1), "Adam.__init__() got an unexpected keyword argument 'odd'"),
    (lambda: nn.SGD(params=[], odd=1), "SGD.__init__() got an unexpected keyword argument 'odd'"),
    (lambda: nn.Momentum(), "Momentum.__init__() missing a required argument: 'params'"),
    (lambda: ms.train.MAE().update(1, 2, odd=3), "MAE.update() got an unexpected keyword argument 'odd'"),
    (lambda: ms.COOTensor(Tensor([[0, 1]]), Tensor([1.0]), (2, 2)).astype(), "COOTensor.astype() missing 1 required"),
    (lambda: nn.SGD(nn.Dense(2, 2).trainable_params()).whole_state(1), "Optimizer.whole_state() takes 1 positional"),
]


@pytest.mark.parametrize(("call", "text"), OF_METHODS, ids=[text.partition("(")[0] for _, text in OF_METHODS])
def test_a_method_goes_by_its_public_name(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(text)}"):
        call()
