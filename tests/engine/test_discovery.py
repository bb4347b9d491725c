"""Discovery of names in the files of a package without a list: optimizers, metrics, families of kernels."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

import hookscope.triton_kernels as triton_kernels
from hookscope.engine import mint, nn, train
from hookscope.engine.base.module_names import names_in
from hookscope.engine.experimental import optim
from hookscope.engine.train.metrics import metric


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide an empty package that can be imported as ``found_package``."""
    room = tmp_path / "found_package"
    room.mkdir()
    (room / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.startswith("found_package")]:
        monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()
    return room


def test_a_file_that_is_added_is_found(package: Path) -> None:
    (package / "first.py").write_text("__all__ = ['One']\nclass One: ...\nclass Hidden: ...\n")
    (package / "second.py").write_text("__all__ = ['Two']\nclass Two: ...\n")
    (package / "_shared.py").write_text("__all__ = ['Shared']\nclass Shared: ...\n")
    (package / "apart.py").write_text("__all__ = ['Apart']\nclass Apart: ...\n")
    importlib.import_module("found_package")
    result = names_in("found_package", without=("apart",))
    assert {name: value.__module__ for name, value in result.items()} == {
        "One": "found_package.first",
        "Two": "found_package.second",
    }


def test_one_name_in_two_files_is_an_error(package: Path) -> None:
    for name in ("first", "second"):
        (package / f"{name}.py").write_text("__all__ = ['One']\nclass One: ...\n")
    importlib.import_module("found_package")
    with pytest.raises(ValueError, match="'One' is offered by two files of found_package, one of them second"):
        names_in("found_package")


NN = (
    "ASGD AdaFactor AdaMax Adadelta Adagrad Adam AdamOffload AdamWeightDecay FTRL LARS Lamb LazyAdam Momentum "
    "Optimizer ProximalAdagrad RMSProp Rprop SGD opt_init_args_register"
)
EXPERIMENTAL = "ASGD Adadelta Adagrad Adam AdamW Adamax NAdam Optimizer RAdam RMSprop Rprop SGD lr_scheduler"


@pytest.mark.parametrize(
    ("room", "names"), [(nn.optim, NN), (optim, EXPERIMENTAL), (mint.optim, "Adam AdamW FusedAdamW SGD")]
)
def test_all_optimizers_are_found(room: Any, names: str) -> None:
    assert sorted(room.__all__) == names.split()
    for name in room.__all__:
        assert getattr(room, name).__name__.rpartition(".")[2] == name
        assert room is not nn.optim or getattr(nn, name) is getattr(room, name)


def test_a_metric_is_known_by_the_name_at_its_class() -> None:
    assert train.names() == sorted(metric.METRICS)
    assert {value.__name__ for value in metric.METRICS.values()} <= set(train.metrics.__all__)
    assert isinstance(train.get_metric_fn("topk", 3), train.TopKCategoricalAccuracy)


def test_two_metrics_with_one_name_are_an_error() -> None:
    with pytest.raises(ValueError, match="'acc' is the name of"):
        metric.register("acc")(object)
    assert train.get_metric_fn("acc").__class__ is train.Accuracy


def test_families_of_kernels_are_the_files_of_the_package(monkeypatch: pytest.MonkeyPatch, package: Path) -> None:
    (package / "family.py").write_text("KERNELS = {'one': 1, 'two': 2}\n")
    (package / "library").mkdir()
    (package / "library" / "__init__.py").write_text("raise ImportError('no family')\n")
    importlib.import_module("found_package")
    monkeypatch.setattr(triton_kernels, "__path__", [str(package)])
    monkeypatch.setattr(triton_kernels, "__name__", "found_package")
    assert dict(triton_kernels.kernels.__wrapped__()) == {"one": 1, "two": 2}
