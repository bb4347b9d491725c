"""Device of an operator: that of its arrays; errors if there is no usable GPU."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope import triton_kernels
from hookscope.engine import Parameter, Tensor, nn, ops, value_and_grad
from hookscope.engine.tensors import backend
from hookscope.engine.tensors.operator import OPERATORS
from tests import strict_device

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def cpu_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the device and other choices after a test."""
    for name in ("_device", "_device_reason", "_kernels"):
        monkeypatch.setattr(backend, name, getattr(backend, name))


def probe_says(monkeypatch: pytest.MonkeyPatch, mode: str, reason: str) -> None:
    result = triton_kernels.Probe(mode, reason, {})  # type: ignore[arg-type]
    monkeypatch.setattr(triton_kernels, "probe", lambda: result)
    monkeypatch.setattr(backend, "_kernels", backend._UNKNOWN)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Provide CuPy's stand-in, new tensors on it, no Triton."""
    modules = strict_device.make()
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    probe_says(monkeypatch, "cupy", "a stand-in for tests")
    ms.set_device("GPU")
    return modules["cupy"]


# Choosing a device


def test_without_a_gpu_asking_for_one_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    probe_says(monkeypatch, "none", "cupy is not installed")
    with pytest.raises(
        RuntimeError, match="For 'set_device', the GPU cannot be used: cupy is not installed; use 'CPU'"
    ):
        ms.set_device("GPU")
    assert ms.get_context("device_target") == "CPU"


@pytest.mark.parametrize(
    ("device", "error"), [("XPU", ValueError), ("", ValueError), (None, TypeError), (3, TypeError)]
)
def test_another_device_is_refused(device: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="'device_target' must be 'CPU' or 'GPU', but got"):
        ms.set_device(device)


@pytest.mark.parametrize("choose", [ms.set_device, lambda name: ms.set_context(device_target=name)])
def test_a_device_of_mindspore_s_that_is_not_there_is_a_runtime_error(choose: Any) -> None:
    with pytest.raises(RuntimeError, match="For 'set_device', 'Ascend' cannot be used: .*; use 'CPU'"):
        choose("Ascend")
    assert ms.get_context("device_target") == "CPU"


def test_auto_takes_the_cpu_where_no_gpu_runs_and_keeps_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    probe_says(monkeypatch, "none", "CuPy finds no CUDA device")
    ms.set_device("auto")
    assert "new tensors  CPU (CuPy finds no CUDA device)" in str(ms.device_report())


def test_the_environment_chooses(run_python: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKSCOPE_DEVICE", "no such")
    result = run_python("import hookscope.engine", check=False)
    assert result.returncode != 0
    assert "'device_target' must be 'CPU' or 'GPU', but got 'no such'" in result.stderr
    monkeypatch.setenv("HOOKSCOPE_DEVICE", "cpu")
    assert run_python("import hookscope.engine as ms; print(ms.get_context('device_target'))").stdout == "CPU\n"


def test_the_environment_chooses_as_set_device_does_and_unset_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    probe_says(monkeypatch, "none", "cupy is not installed")
    monkeypatch.setattr(backend, "_device_reason", "as it was")
    monkeypatch.delenv("HOOKSCOPE_DEVICE", raising=False)
    backend.choose_from_environment()
    assert "new tensors  CPU (as it was)" in str(ms.device_report())
    monkeypatch.setenv("HOOKSCOPE_DEVICE", "auto")
    backend.choose_from_environment()
    assert "new tensors  CPU (cupy is not installed)" in str(ms.device_report())
    monkeypatch.setenv("HOOKSCOPE_DEVICE", "gpu")
    with pytest.raises(RuntimeError, match="the GPU cannot be used: cupy is not installed"):
        backend.choose_from_environment()


def test_a_number_chooses_the_gpu_and_none_leaves_that_in_use(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    monkeypatch.setattr(gpu.cuda, "Device", lambda number: SimpleNamespace(use=lambda: used.append(number)))
    ms.set_device("GPU")
    assert used == []
    ms.set_device("GPU", 0)
    ms.set_device("GPU", 2)
    assert used == [0, 2]


def test_set_context_chooses_too(gpu: Any) -> None:
    ms.set_context(device_target="CPU")
    assert isinstance(Tensor([1.0])._array, np.ndarray)
    ms.set_context(device_target="GPU")
    assert Tensor([1.0]).device == "GPU:0"


# Choosing a kernel


@pytest.mark.parametrize("suits", [True, False])
def test_a_triton_kernel_runs_where_it_suits_and_cupys_function_elsewhere(
    gpu: Any, suits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def plan_for(name: str, kernel: Any, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        assert (name, kernel, attrs) == ("add", "the entry", {}) and inputs == (x._array, x._array)
        return SimpleNamespace(run=lambda x, y: (calls.append("triton"), x)[1]) if suits else None

    probe_says(monkeypatch, "triton", "a fake for tests")
    monkeypatch.setattr(triton_kernels, "kernels", lambda: {"add": "the entry"})
    monkeypatch.setattr(triton_kernels, "plan_for", plan_for)
    gpu.add = lambda x, y: (calls.append("cupy"), x)[1]
    x = Tensor([1.0])
    ops.add(x, x)
    assert calls == ["triton" if suits else "cupy"]


def test_an_operator_without_a_triton_kernel_runs_on_cupy(gpu: Any) -> None:
    x = Tensor([1.0, 2.0])
    assert backend.kernel_for(OPERATORS["sin"], (x._array,), {}) is gpu.sin
    assert backend.kernel_for(OPERATORS["reshape"], (x._array,), {"shape": (2, 1)}) is OPERATORS["reshape"].kernel


def test_numpy_arrays_stay_on_the_cpu_also_while_new_tensors_go_to_the_gpu(gpu: Any) -> None:
    on_cpu = Tensor([1.0]).move_to("CPU")
    assert isinstance((on_cpu + on_cpu)._array, np.ndarray)


def test_without_cupy_the_operators_own_kernel_runs() -> None:
    x = np.ones(2)
    assert backend.kernel_for(OPERATORS["add"], (x, x), {}) is np.add


def test_a_new_tensor_is_where_set_device_says_and_nowhere_else(gpu: Any) -> None:
    for name in ("GPU", "GPU:0", None):
        assert Tensor([1.0], device=name).device == ms.tensor(1.0, device=name).device == "GPU:0"
    with pytest.raises(ValueError, match="'device' must be 'GPU', the device of new tensors, but got 'CPU'"):
        Tensor([1.0], device="CPU")
    ms.set_device("CPU")
    assert Tensor([1.0], device="CPU").device == "CPU"
    for other in ("GPU", "meta", "cpu", 3):  # of these MindSpore 2.10 takes "meta", a tensor without values
        with pytest.raises(ValueError, match=f"For 'Tensor', 'device' must be 'CPU', .* but got {other!r}"):
            ms.tensor([1.0], device=other)  # type: ignore[arg-type]


def test_a_list_may_hold_tensors_on_the_device(gpu: Any) -> None:
    subject = Tensor([1.5, 2.5])
    assert Tensor([subject, [3.5, subject[0]]]).tolist() == [[1.5, 2.5], [3.5, 1.5]]


def test_arrays_of_two_devices_do_not_mix(gpu: Any) -> None:
    on_gpu = Tensor([1.0])
    with pytest.raises(TypeError, match="For 'add', the inputs .* do not fit"):
        on_gpu + on_gpu.move_to("CPU")


def test_a_cell_goes_where_it_is_told_with_its_values(gpu: Any) -> None:
    ms.set_device("CPU")
    net = nn.Dense(2, 1, weight_init=Tensor([[3.0, 4.0]]), bias_init="zeros")
    on_gpu = Tensor([1.0]).move_to("GPU")
    for target, kind in (("GPU:0", gpu.ndarray), ("CPU", np.ndarray), (on_gpu, gpu.ndarray), ("cpu", np.ndarray)):
        assert net.to(target) is net
        assert isinstance(net.weight._array, kind) and isinstance(net.bias._array, kind)
        assert net.weight.tolist() == [[3.0, 4.0]]
    net.to("GPU", ms.float16)
    assert isinstance(net.weight._array, gpu.ndarray) and net.weight.dtype is ms.float16
    assert isinstance(net.to_empty().weight._array, gpu.ndarray) and net.weight.tolist() == [[0.0, 0.0]]
    assert isinstance(net.to_empty(device="CPU").weight._array, np.ndarray)


@pytest.mark.parametrize(
    ("move", "name"),
    [
        (lambda: Tensor([1.0]).to("GPU"), "move_to"),
        (lambda: Tensor([1.0]).move_to("GPU"), "move_to"),
        (lambda: nn.Dense(2, 1).to("GPU"), "Cell.to"),
        (lambda: nn.Dense(2, 1).to_empty(device="GPU"), "Cell.to_empty"),
    ],
)
def test_nothing_is_moved_to_a_gpu_that_is_not_there(
    move: Callable[[], Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe_says(monkeypatch, "none", "cupy is not installed")
    with pytest.raises(RuntimeError, match=f"For '{name}', the GPU cannot be used: cupy is not installed; use 'CPU'"):
        move()


# The engine on arrays of a device


class Network(nn.Cell):
    """Network with one layer of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)  # before a batch norm a bias gets rounding for a gradient
        self.norm = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2, 2)
        self.flat = nn.Flatten()
        self.dense = nn.Dense(16, 6, activation="gelu")
        self.layer_norm = nn.LayerNorm((6,))
        self.drop = nn.Dropout(p=0.3)
        self.head = nn.Dense(6, 3)

    def construct(self, x: Tensor) -> Tensor:
        x = self.pool(ops.relu(self.norm(self.conv(x))))
        return self.head(self.drop(self.layer_norm(self.dense(self.flat(x)))))


def trained(optimizer: Callable[[Any], nn.Optimizer]) -> tuple[list[Any], set[type]]:
    """Return losses and parameters of three steps, and what kinds of arrays the parameters are."""
    ms.set_seed(4)
    net = Network().set_train()
    update = optimizer(net.trainable_params())
    numbers = np.random.default_rng(0)
    x = Tensor(numbers.standard_normal((5, 1, 4, 4)).astype(np.float32))
    y = Tensor(numbers.integers(0, 3, 5))
    step = value_and_grad(lambda: nn.CrossEntropyLoss()(net(x), y), None, net.trainable_params())
    results = []
    for _ in range(3):
        loss, gradients = step()
        update(gradients)
        results.append(loss.asnumpy())
    parameters = [*net.get_parameters(), *update.get_parameters()]
    return [*results, *(p.asnumpy() for p in net.get_parameters())], {type(p._array) for p in parameters}


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda ps: nn.SGD(ps, 0.1, 0.9),
        lambda ps: nn.Momentum(ps, 0.1, 0.9, weight_decay=0.1),
        lambda ps: nn.Adam(ps, 0.01),
        lambda ps: nn.AdamWeightDecay(ps, 0.01, weight_decay=0.1),
    ],
    ids=["sgd", "momentum", "adam", "adamw"],
)
def test_training_stays_on_the_device_and_gives_the_cpus_numbers(gpu: Any, optimizer: Any) -> None:
    on_gpu, kinds = trained(optimizer)
    assert kinds == {strict_device.ndarray}
    ms.set_device("CPU")
    on_cpu, kinds = trained(optimizer)
    assert kinds == {np.ndarray}
    for on_device, local in zip(on_gpu, on_cpu, strict=True):
        np.testing.assert_allclose(on_device, local, rtol=1e-5, atol=1e-6)


def test_second_derivatives_hooks_and_bprops_stay_on_the_device(gpu: Any) -> None:
    class Cube(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x * x * x

        def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
            return (dout * x * x * 3.0,)

    net = Cube()
    kinds: set[type] = set()
    net.register_backward_hook(lambda cell, into, out: kinds.update(type(g._array) for g in (*into, *out)))
    x = Tensor([2.0])
    x.register_hook(lambda g: kinds.add(type(g._array)))
    assert ms.grad(ms.grad(net))(x).asnumpy().tolist() == [12.0]
    assert kinds == {strict_device.ndarray}


def test_gradients_pass_from_one_device_to_the_other(gpu: Any) -> None:
    def function(x: Tensor) -> Tensor:
        on_cpu = x.move_to("CPU")
        assert type(on_cpu._array) is np.ndarray
        return (on_cpu * on_cpu).to("GPU:0") * x

    slope = ms.grad(function)(Tensor([2.0, 3.0]))
    assert type(slope._array) is strict_device.ndarray
    assert slope.asnumpy().tolist() == [12.0, 27.0]


def test_contiguous_is_computed_on_the_device_and_gradients_pass(gpu: Any) -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    result = x.T.contiguous()
    assert type(result._array) is strict_device.ndarray and result.is_contiguous() and not x.T.is_contiguous()
    assert ms.grad(lambda t: (t.T.contiguous() * t.T).sum())(x).asnumpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_writing_on_the_device_never_changes_what_is_held(gpu: Any) -> None:
    p = Parameter(Tensor([1.0, 2.0, 3.0]), "p")
    storage = p._array
    p[1] = 9.0
    p[2:] = Tensor([7.0])
    assert (p.asnumpy().tolist(), storage.get().tolist()) == ([1.0, 9.0, 7.0], [1.0, 2.0, 3.0])


def test_values_come_to_the_host_when_they_are_looked_at(gpu: Any) -> None:
    x = Tensor([1.0, 2.0])
    assert repr(x) == "Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])"
    assert (x.tolist(), x[1].item(), float(x[0]), bool(x[0] < x[1])) == ([1.0, 2.0], 2.0, 1.0, True)
    assert isinstance(x.asnumpy(), np.ndarray)


def test_a_checkpoint_moves_between_devices(gpu: Any, tmp_path: Any) -> None:
    net = nn.Dense(2, 1)
    ms.save_checkpoint(net, tmp_path / "x.ckpt")
    ms.set_device("CPU")
    other = nn.Dense(2, 1)
    ms.load_checkpoint(tmp_path / "x.ckpt", other)
    np.testing.assert_array_equal(other.weight.asnumpy(), net.weight.asnumpy())
    assert isinstance(other.weight._array, np.ndarray)


# The report


def test_the_report_tells_the_device_the_reasons_and_where_operators_run(monkeypatch: pytest.MonkeyPatch) -> None:
    result = triton_kernels.Probe("triton", "the self-test passed", {"triton": "3.9.0", "cupy": "14.2.0"})
    monkeypatch.setattr(triton_kernels, "probe", lambda: result)
    monkeypatch.setattr(triton_kernels, "kernels", lambda: {"add": None, "softmax": None})
    ms.set_device("CPU")
    report = ms.device_report()
    assert str(report).splitlines() == [
        "new tensors  CPU (chosen by the user)",
        "GPU          Triton kernels (the self-test passed)",
        "cupy         14.2.0",
        f"numpy        {np.__version__}",
        "triton       3.9.0",
        f"operators    {len(OPERATORS) - 2} by CuPy, 2 by Triton",
    ]
    assert report.operators() == {"CuPy": sorted(set(OPERATORS) - {"add", "softmax"}), "Triton": ["add", "softmax"]}


def test_the_report_without_a_gpu_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    probe_says(monkeypatch, "none", "cupy is not installed")
    report = ms.device_report()
    assert (report.gpu, report.gpu_reason) == ("none", "cupy is not installed")
    assert set(report.kernels.values()) == {"NumPy"}


# Settings


def test_settings_of_the_graph_compiler_are_kept_and_others_refused() -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE, jit_level="O1")
    assert (ms.get_context("mode"), ms.get_context("jit_level"), ms.get_context("save_graphs")) == (1, "O1", 0)
    with pytest.raises(ValueError, match="For 'set_context', there is no setting 'speed'"):
        ms.set_context(speed=3)
    with pytest.raises(ValueError, match="For 'get_context', there is no setting 'speed'"):
        ms.get_context("speed")
    with pytest.raises(ValueError, match=r"'mode' must be GRAPH_MODE \(0\) or PYNATIVE_MODE \(1\), but got 2"):
        ms.set_context(mode=2)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "complex64"])
def test_sparse_tensors_stay_on_the_gpu_and_are_multiplied_by_cupys_matrices(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    dense = np.array([[0, 1, 0], [2, 0, 3]])
    right = np.array([[1, 2], [3, 4], [5, 6]])
    kind = getattr(ms, dtype)
    x, y = Tensor(dense, kind), Tensor(right, kind)
    for variant in (x.to_coo(), x.to_csr(), x.to_coo().to_csr(), x.to_csr().to_coo()):
        assert {type(part._array) for part in variant.to_tuple()[:-1]} == {strict_device.ndarray}
        for result, want in (
            (variant.to_dense(), dense),
            (variant @ y, dense @ right),
            ((variant + variant).to_dense(), 2 * dense),
            ((variant * x).to_dense(), dense**2),
        ):
            assert type(result._array) is strict_device.ndarray and result.dtype == kind
            np.testing.assert_array_equal(result.asnumpy(), want)
    product = x.to_csr().mm(y.to_csr())
    assert product.dtype == kind and type(product.values._array) is strict_device.ndarray
    np.testing.assert_array_equal(product.to_dense().asnumpy(), dense @ right)
    assert "3" in repr(product)


def test_gradients_of_sparse_products_stay_on_the_gpu(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    indices, y = Tensor([[0, 1], [1, 0]]), Tensor([[1.0, 2.0], [3.0, 4.0]])

    def function(v: Tensor, y: Tensor) -> Tensor:
        x = ms.COOTensor(indices, v, (2, 2))
        row_sums = ops.csr_softmax(x.to_csr(), ms.float32).sum(1)
        return (x @ y).sum() + x.to_csr().mm(x.to_csr()).values.sum() + x.coalesce().values.sum() + row_sums.sum()

    by_values, by_dense = ms.grad(function, (0, 1))(Tensor([2.0, 5.0]), y)
    assert {type(by_values._array), type(by_dense._array)} == {strict_device.ndarray}
    assert by_values.tolist() == [7 + 10 + 1, 3 + 4 + 1] and by_dense.tolist() == [[5, 5], [2, 2]]
