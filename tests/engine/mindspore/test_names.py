"""Names: what MindSpore has is there, and what is not says so and names the nearest."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

import hookscope.engine as ms
from hookscope.engine.base import absent_names
from hookscope.engine.base.module_names import on_first_use

_FILE = Path(__file__).resolve().parents[3] / "benchmarks" / "name_coverage.py"
# Number of names of each list that are there. It may rise, but not fall.
AT_LEAST = {
    "cell": 87,
    "initializer": 20,
    "mint": 327,
    "mint_functional": 59,
    "mint_nn": 65,
    "nn": 229,
    "ops": 717,
    "parameter": 20,
    "primitives": 461,
    "tensor": 395,
    "top": 187,
}
MOST_USED_AT_LEAST = 293


@pytest.fixture(scope="module")
def coverage() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hookscope_coverage", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", AT_LEAST)
def test_no_name_that_was_there_is_lost(coverage: ModuleType, name: str) -> None:
    assert len(coverage.covered(name)) >= AT_LEAST[name]


def test_the_names_used_most_are_there(coverage: ModuleType) -> None:
    rows = coverage.usage()
    assert len(rows) == 300
    assert sum(coverage.is_there(prefix, name) for prefix, name in rows) >= MOST_USED_AT_LEAST


@pytest.mark.parametrize(
    ("path", "wrong", "nearest"),
    [
        ("", "Modell", "Model"),
        ("", "set_contxt", "set_context"),
        ("train", "LossMonitr", "LossMonitor"),
        ("mint", "matmull", "matmul"),
        ("mint.nn", "Linearr", "Linear"),
        ("mint.nn.functional", "relu7", "relu"),
        ("dataset", "MnistDatset", "MnistDataset"),
        ("numpy", "arrange", "arange"),
        ("nn", "Conv2D", "Conv2d"),
        ("ops", "matmull", "matmul"),
    ],
)
def test_a_name_that_is_not_covered_names_the_nearest(path: str, wrong: str, nearest: str) -> None:
    module = ms
    for part in filter(None, path.split(".")):
        module = getattr(module, part)
    with pytest.raises(AttributeError, match=f"'{wrong}' in hookscope.*the nearest name is '{nearest}'"):
        getattr(module, wrong)


def test_the_whole_text_of_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError) as raised:
        _ = ms.train.LossMonitr
    assert str(raised.value) == (
        "module 'mindspore.train' has no attribute 'LossMonitr' in hookscope, which stands in for mindspore; "
        "the nearest name is 'LossMonitor'"
    )
    assert raised.value.name == "LossMonitr"
    assert raised.value.obj is None  # of an object Python would add the nearest name too
    with pytest.raises(AttributeError) as raised:  # nothing is suggested for Python's own names
        _ = ms.train.__wrapped__
    assert str(raised.value) == (
        "module 'mindspore.train' has no attribute '__wrapped__' in hookscope, which stands in for mindspore"
    )


def test_a_members_name_that_is_not_there_names_the_nearest_one_alone() -> None:
    net = ms.nn.Dense(2, 1)
    with pytest.raises(AttributeError) as raised:
        _ = net.weigth
    assert str(raised.value) == "'Dense' object has no attribute 'weigth'; did you mean 'weight'?"
    with pytest.raises(AttributeError) as raised:
        _ = net.zzzzzz
    assert str(raised.value) == "'Dense' object has no attribute 'zzzzzz'"


@pytest.mark.parametrize(
    ("name", "instead"), [("Profiler", "cProfile"), ("shard", "one process"), ("load_mindir", "compiled")]
)
def test_what_cannot_be_here_says_in_one_line_what_to_use_instead(name: str, instead: str) -> None:
    with pytest.raises(NotImplementedError, match=instead) as raised:
        getattr(ms, name)()
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith(f"mindspore.{name} is not covered by hookscope: ")


def test_a_name_is_taken_from_its_file_when_it_is_first_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("hookscope.engine.tried")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(absent_names._ABSENT, "run it whole", {"elsewhere tried": "merge shard", "other": "all"})
    module.__getattr__ = on_first_use(module.__name__, names={"pi": "numpy"})  # type: ignore[method-assign]
    assert "pi" not in vars(module)
    assert module.pi == vars(module)["pi"] == math.pi
    assert module.shard is vars(module)["shard"] and module.shard.__name__ == module.shard.__qualname__ == "shard"
    with pytest.raises(NotImplementedError) as raised:
        module.shard(3, axis=1)
    assert str(raised.value) == "mindspore.tried.shard is not covered by hookscope: run it whole"
    with pytest.raises(AttributeError):
        _ = module.all


def test_a_name_is_absent_once_in_a_module() -> None:
    for module in {module for rows in absent_names._ABSENT.values() for modules in rows for module in modules.split()}:
        names = [
            name
            for rows in absent_names._ABSENT.values()
            for modules, written in rows.items()
            if module in modules.split()
            for name in written.split()
        ]
        assert len(names) == len(set(names)), module


def test_rooms_are_entered_when_they_are_first_asked_for(run_python: object) -> None:
    code = (
        "import sys; import hookscope.engine as ms; "
        "names = ('train', 'dataset', 'mindspore.mint', 'amp', 'mindspore.numpy', 'mindspore.experimental'); "
        "before = [n for n in names if 'hookscope.engine.' + n in sys.modules]; "
        "[getattr(ms, n.rpartition('.')[2]) for n in names]; "
        "print(before, all('hookscope.engine.' + n in sys.modules for n in names))"
    )
    assert run_python(code).stdout.strip() == "[] True"  # type: ignore[operator]


def test_mindspores_paths_lead_to_the_same_modules(run_python: object) -> None:
    code = (
        "import hookscope; hookscope.install_as_mindspore(); import mindspore as ms; "
        "import mindspore.train.callback as c, mindspore.dataset.vision as v, mindspore.mint.nn.functional as f; "
        "from mindspore.communication.management import get_rank; from mindspore.train.serialization import "
        "save_checkpoint; from mindspore import Model; "
        "print(c is ms.train.callback, v is ms.dataset.vision, f is ms.mint.nn.functional, get_rank(), "
        "save_checkpoint is ms.save_checkpoint, Model is ms.train.Model)"
    )
    assert run_python(code).stdout.strip() == "True True True 0 True True"  # type: ignore[operator]


def test_settings_of_a_cluster_are_kept_and_read_back() -> None:
    try:
        ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
        assert ms.get_auto_parallel_context("parallel_mode") == "data_parallel"
        assert ms.get_auto_parallel_context("gradients_mean") is True
    finally:
        ms.reset_auto_parallel_context()
    assert ms.get_auto_parallel_context("parallel_mode") == "stand_alone"
    with pytest.raises(ValueError, match="no setting 'x'"):
        ms.set_auto_parallel_context(x=1)
    with pytest.raises(ValueError, match="parallel_mode"):
        ms.set_auto_parallel_context(parallel_mode="x")


def test_settings_of_the_search_for_a_way_to_share_work_are_kept_and_read_back() -> None:
    names = (
        "fully_use_devices",
        "elementwise_op_strategy_follow",
        "enable_algo_approxi",
        "tensor_slice_align_enable",
        "tensor_slice_align_size",
        "algo_approxi_epsilon",
    )
    as_mindspores = [False, False, False, False, 16, 0.1]
    assert [ms.get_algo_parameters(name) for name in names] == as_mindspores
    try:
        ms.set_algo_parameters(fully_use_devices=True, algo_approxi_epsilon=0.3)
        assert [ms.get_algo_parameters(name) for name in names] == [True, False, False, False, 16, 0.3]
        with pytest.raises(ValueError, match="For 'set_algo_parameters', there is no setting 'x'"):
            ms.set_algo_parameters(enable_algo_approxi=True, x=1)
        assert ms.get_algo_parameters("enable_algo_approxi") is False  # nothing of a refused call is kept
    finally:
        ms.reset_algo_parameters()
    assert [ms.get_algo_parameters(name) for name in names] == as_mindspores
    with pytest.raises(ValueError, match="For 'get_algo_parameters', there is no setting 'x'"):
        ms.get_algo_parameters("x")


def test_there_is_one_process_and_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    ms.communication.release()  # whatever another test has begun
    ms.communication.init()
    assert capsys.readouterr().err == "hookscope runs in one process: communication has rank 0 of 1.\n"
    ms.communication.init()
    assert capsys.readouterr().err == ""
    assert (ms.communication.get_rank(), ms.communication.get_group_size()) == (0, 1)
    ms.communication.release()
    ms.communication.init()
    assert capsys.readouterr().err == "hookscope runs in one process: communication has rank 0 of 1.\n"
    ms.communication.release()


def test_a_group_of_processes_is_there_from_its_making_to_its_end() -> None:
    ms.communication.create_group("mine", [0])
    ms.communication.create_group("yours", [0])
    assert ms.communication.get_group_size("mine") == 1
    assert ms.communication.get_process_group_ranks("yours") == [0]
    ms.communication.destroy_group("mine")
    with pytest.raises(ValueError, match="For 'get_rank', there is no group 'mine'; create_group makes one"):
        ms.communication.get_rank("mine")
    assert ms.communication.get_comm_name("yours") == "yours"
    ms.communication.release()
    for name in (
        "get_rank",
        "get_group_size",
        "get_local_rank",
        "get_local_rank_size",
        "get_process_group_ranks",
        "get_comm_name",
        "destroy_group",
    ):
        with pytest.raises(ValueError, match=f"For '{name}', there is no group 'yours'"):
            getattr(ms.communication, name)("yours")
        with pytest.raises(TypeError, match=f"For '{name}', 'group' must be a str, but got int"):
            getattr(ms.communication, name)(3)


def test_a_generators_state_can_be_gone_back_to() -> None:
    state = ms.get_rng_state()
    first = ms.ops.rand(4).asnumpy().tolist()
    ms.set_rng_state(state)
    assert ms.ops.rand(4).asnumpy().tolist() == first
    left, right = ms.Generator().manual_seed(3), ms.Generator().manual_seed(3)
    assert left.draw(5) == right.draw(5) == (3, 0) and left.initial_seed() == 3
    assert left.draw(2) == (3, 5) and left.draw(1) == (3, 7)


def test_a_new_generator_begins_at_the_seed_0() -> None:
    subject = ms.Generator()
    assert subject.initial_seed() == 0 and subject.get_state().tolist() == [0] * 16
    assert subject.draw(4) == (0, 0) and subject.draw(1) == (0, 4)


def test_a_generator_gives_the_numbers_of_the_engines_own_stream_from_the_same_seed() -> None:
    state = ms.get_rng_state()
    try:
        ms.manual_seed(3)
        drawn = [ms.Tensor([0.0] * 5).uniform().tolist() for _ in range(2)]
    finally:
        ms.set_rng_state(state)
    subject = ms.Generator().manual_seed(3)
    assert [ms.Tensor([0.0] * 5).uniform(generator=subject).tolist() for _ in range(2)] == drawn


def test_a_class_made_of_what_cannot_be_here_says_what_to_use_instead() -> None:
    base: type = ms.dataset.DebugHook
    with pytest.raises(NotImplementedError, match="DebugHook is not covered by hookscope: "):

        class Own(base):
            pass
