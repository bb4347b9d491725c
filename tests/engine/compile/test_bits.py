"""Graph mode changes no bit: whole trainings under GRAPH_MODE and eagerly, compared byte for byte, watched and not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

import hookscope.engine as ms
from hookscope.engine.compile.function import CompiledFunction
from tests.engine.debug.test_bits import CASES, NETWORKS, Bits, Switch, everything


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[CompiledFunction]]:
    """Compile everything in a test, in GRAPH_MODE."""
    functions: list[CompiledFunction] = []
    before = CompiledFunction.__init__

    def note(self: CompiledFunction, *args: object, **kwargs: object) -> None:
        before(self, *args, **kwargs)  # type: ignore[arg-type]
        functions.append(self)

    monkeypatch.setattr(CompiledFunction, "__init__", note)
    ms.set_context(mode=ms.GRAPH_MODE)
    yield functions
    ms.set_context(mode=ms.PYNATIVE_MODE)


def trained(case: str, is_watched: bool = False) -> Bits:
    network, training, optimizer = CASES[case]
    ms.set_seed(7)
    net = NETWORKS[network]().set_train()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no plan can be made")
        if is_watched:
            with everything(net) as switch:
                return training(net, optimizer(net), switch)
        return training(net, optimizer(net), Switch())


@pytest.mark.parametrize("case", CASES)
def test_a_training_in_graph_mode_has_the_bits_of_an_eager_one(case: str, compiled: list[CompiledFunction]) -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    eager = trained(case)
    ms.set_context(mode=ms.GRAPH_MODE)
    assert trained(case) == eager
    print(case, [(c.name, c.counts, c.warned_reasons) for c in compiled])
    assert any(item.counts["replayed"] for item in compiled)


@pytest.mark.parametrize("case", CASES)
def test_a_watched_training_in_graph_mode_has_them_too(case: str, compiled: list[CompiledFunction]) -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    eager = trained(case)
    ms.set_context(mode=ms.GRAPH_MODE)
    assert trained(case, is_watched=True) == eager
