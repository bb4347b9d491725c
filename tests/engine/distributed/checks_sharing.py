"""Checks of ranks with divided optimizers: the bits of undivided ones, the state on each rank, checkpoints."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, experimental, mint, nn, ops
from hookscope.engine.nn.optim import _sharing as sharing
from hookscope.engine.train import BackupAndRestore, Callback, CheckpointConfig, ModelCheckpoint
from tests import strict_device
from tests.engine.distributed.checks_checkpoints import data, data_parallel, folder_of_all, model

old, new = nn, experimental.optim
Make = Callable[[Any], Any]


class Net(nn.Cell):
    """Parameters of several sizes and dtypes, more than there are ranks, some of them without weight decay."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.last = nn.Dense(5, 7), nn.LayerNorm([7]), nn.Dense(7, 2)
        self.half = Parameter(Tensor(np.linspace(-1, 1, 7), ms.float16), "half")
        self.scale = Parameter(Tensor(np.float32(1.5)), "scale")

    def construct(self, x: Tensor) -> Tensor:
        hidden = self.norm(ops.tanh(self.first(x))) * self.half.astype(ms.float32)
        return self.last(hidden) * self.scale


class Falling(nn.Cell):
    def construct(self, step: Tensor) -> Tensor:
        return 0.5 / (step + 1)


def groups(net: Net) -> list[Any]:
    return [
        {"params": net.first.trainable_params(), "lr": [0.1, 0.05, 0.02], "weight_decay": 0.1},
        {"params": net.last.trainable_params(), "grad_centralization": True},
        {"params": [net.half, *net.norm.trainable_params(), net.scale], "lr": nn.ExponentialDecayLR(0.1, 0.5, 2)},
    ]


def each(net: Net) -> list[Any]:
    return net.trainable_params()


def new_groups(net: Net) -> list[Any]:
    others = [net.half, *net.norm.trainable_params(), *net.last.trainable_params(), net.scale]
    return [{"params": net.first.trainable_params(), "lr": 0.02}, {"params": others}]


def growing(net: Net) -> Any:
    first, second = new_groups(net)
    optimizer = new.Adam([first], lr=0.01)
    optimizer.add_param_group(second)
    return optimizer


OPTIMIZERS: dict[str, Make] = {
    "Adam": lambda net: old.Adam(each(net), 0.05, weight_decay=0.1),
    "Adam with groups": lambda net: old.Adam(groups(net), 0.05, weight_decay=Falling(), loss_scale=8.0),
    "Adam, Nesterov": lambda net: old.Adam(each(net), [0.1, 0.05], use_nesterov=True),
    "Adam, AMSGrad": lambda net: old.Adam(each(net), 0.05, use_amsgrad=True),
    "LazyAdam": lambda net: old.LazyAdam(each(net), 0.05),
    "AdamOffload": lambda net: old.AdamOffload(each(net), 0.05),
    "AdamWeightDecay": lambda net: old.AdamWeightDecay(each(net), 0.05, weight_decay=0.1),
    "AdamWeightDecay with groups": lambda net: old.AdamWeightDecay(groups(net), 0.05, weight_decay=Falling()),
    "Lamb": lambda net: old.Lamb(each(net), 0.05, weight_decay=0.1),
    "Lamb with groups": lambda net: old.Lamb(groups(net), 0.05, weight_decay=0.2),
    "Momentum": lambda net: old.Momentum(each(net), 0.05, 0.9, weight_decay=0.1, loss_scale=4.0),
    "Momentum with groups": lambda net: old.Momentum(groups(net), 0.05, 0.9, use_nesterov=True),
    "SGD": lambda net: old.SGD(each(net), 0.05, momentum=0.9, weight_decay=0.01),
    "RMSProp": lambda net: old.RMSProp(each(net), 0.05, centered=True, momentum=0.5),
    "Adagrad": lambda net: old.Adagrad(each(net), learning_rate=0.05),
    "FTRL": lambda net: old.FTRL(each(net), learning_rate=0.05, l1=0.01),
    "ProximalAdagrad": lambda net: old.ProximalAdagrad(each(net), learning_rate=0.05),
    "AdaMax": lambda net: old.AdaMax(each(net), 0.05),
    "Adadelta": lambda net: old.Adadelta(each(net), 0.5),
    "AdaFactor": lambda net: old.AdaFactor(each(net)),
    "ASGD": lambda net: old.ASGD(each(net), 0.05, t0=2.0),
    "Rprop": lambda net: old.Rprop(each(net), 0.05),
    "LARS": lambda net: old.LARS(old.Momentum(each(net), 0.05, 0.9, weight_decay=0.1)),
    "experimental Adam": lambda net: new.Adam(new_groups(net), lr=0.05, weight_decay=0.1),
    "experimental Adam that takes a group later": growing,
    "experimental AdamW": lambda net: new.AdamW(each(net), lr=0.05, amsgrad=True),
    "experimental SGD": lambda net: new.SGD(each(net), lr=0.05, momentum=0.9, maximize=True),
    "experimental RMSprop": lambda net: new.RMSprop(each(net), lr=0.05, centered=True, momentum=0.5),
    "experimental Adagrad": lambda net: new.Adagrad(each(net), lr=0.05),
    "experimental Adadelta": lambda net: new.Adadelta(each(net), lr=0.5),
    "experimental Adamax": lambda net: new.Adamax(each(net), lr=0.05),
    "experimental NAdam": lambda net: new.NAdam(each(net), lr=0.05),
    "experimental RAdam": lambda net: new.RAdam(each(net), lr=0.05),
    "experimental ASGD": lambda net: new.ASGD(each(net), lr=0.05, t0=2.0),
    "experimental Rprop": lambda net: new.Rprop(each(net), lr=0.05),
    "mint Adam": lambda net: mint.optim.Adam(new_groups(net), lr=0.05, amsgrad=True),
    "mint AdamW": lambda net: mint.optim.AdamW(new_groups(net), lr=0.05),
    "mint SGD": lambda net: mint.optim.SGD(each(net), 0.05, momentum=0.9, nesterov=True),
}


def trained(make: Make, rank: int, share: bool, steps: int = 4, scaled: bool = False) -> tuple[Net, Any]:
    ms.set_seed(1)
    net = Net()
    with data_parallel(enable_parallel_optimizer=share):
        optimizer, cell = make(net), nn.WithLossCell(net, nn.MSELoss())
        if scaled:
            step = nn.TrainOneStepWithLossScaleCell(cell, optimizer, nn.DynamicLossScaleUpdateCell(2.0**30, 2, 2))
        else:
            step = nn.TrainOneStepCell(cell, optimizer)
        rng = np.random.default_rng(rank)
        for number in range(steps):
            x = rng.standard_normal((3, 5)).astype(np.float32)
            if scaled and number == 1 and rank == 0:
                x[0, 0] = np.inf
            step(Tensor(x), Tensor(rng.standard_normal((3, 2)).astype(np.float32)))
    return net, optimizer


def raised(function: Callable[[], object]) -> Exception:
    try:
        function()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def bits(tensors: dict[str, Any]) -> dict[str, bytes]:
    return {name: tensor.asnumpy().tobytes() for name, tensor in tensors.items()}


def check_each_optimizer_has_the_bits_of_one_that_is_not_divided(rank: int, size: int) -> None:
    for name, make in OPTIMIZERS.items():
        net, reference = trained(make, rank, share=False)
        divided_net, divided = trained(make, rank, share=True)
        assert bits(divided_net.parameters_dict()) == bits(net.parameters_dict()), name
        state = divided.opt.whole_state() if name == "LARS" else divided.whole_state()
        reference = reference.opt if name == "LARS" else reference
        assert bits(state) == bits(reference.parameters_dict()), name
        assert {n: (t.shape, t.dtype) for n, t in state.items()} == {
            n: (t.shape, t.dtype) for n, t in reference.parameters_dict().items()
        }, name


def check_a_loss_scale_and_an_overflow_leave_the_same_bits(rank: int, size: int) -> None:
    for name in ("Adam", "Lamb", "mint AdamW"):
        net, reference = trained(OPTIMIZERS[name], rank, share=False, scaled=True)
        divided_net, divided = trained(OPTIMIZERS[name], rank, share=True, scaled=True)
        assert bits(divided_net.parameters_dict()) == bits(net.parameters_dict()), name
        assert bits(divided.whole_state()) == bits(reference.parameters_dict()), name
        assert all(np.isfinite(p.asnumpy()).all() for p in net.get_parameters())


def check_what_is_large_is_exchanged_in_parts(rank: int, size: int) -> None:
    net, reference = trained(OPTIMIZERS["Adam"], rank, share=False)
    at_once, sharing._TOGETHER = sharing._TOGETHER, 40
    try:
        divided_net, divided = trained(OPTIMIZERS["Adam"], rank, share=True)
        assert bits(divided.whole_state()) == bits(reference.parameters_dict())
    finally:
        sharing._TOGETHER = at_once
    assert bits(divided_net.parameters_dict()) == bits(net.parameters_dict())


def check_on_a_gpu_steps_and_overflows_have_the_same_bits_and_arrays_stay_there(rank: int, size: int) -> None:
    with strict_device.device():
        for name in ("Adam", "Momentum", "mint AdamW", "Lamb"):
            net, reference = trained(OPTIMIZERS[name], rank, share=False, scaled=True)
            divided_net, divided = trained(OPTIMIZERS[name], rank, share=True, scaled=True)
            assert bits(divided_net.parameters_dict()) == bits(net.parameters_dict()), name
            assert bits(divided.whole_state()) == bits(reference.parameters_dict()), name
            assert all(type(p._array).__module__ == "cupy" for p in divided_net.get_parameters())


def check_each_rank_keeps_about_its_share_of_the_state(rank: int, size: int) -> None:
    def state_size(share: bool) -> int:
        net = nn.SequentialCell(*[nn.Dense(64, 64) for _ in range(8)])
        with data_parallel(enable_parallel_optimizer=share):
            optimizer = nn.Adam(net.trainable_params())
        own = {id(p) for p in net.get_parameters()}
        # All objects reachable from it, under any name.
        results = {id(p): p for p in optimizer.get_parameters() if id(p) not in own}
        for value in vars(optimizer).values():
            for item in value if isinstance(value, tuple | list) else [value]:
                if isinstance(item, Tensor) and id(item) not in own:
                    results[id(item)] = item
        return sum(p.asnumpy().nbytes for p in results.values())

    numbers = 8 * (64 * 64 + 64) * 4 * 2
    assert numbers <= state_size(False) < numbers + 100
    assert abs(state_size(True) - numbers / size) < 1000


def check_what_must_not_be_divided_is_not(rank: int, size: int) -> None:
    net = Net()
    net.first.weight.layerwise_parallel = True
    net.last.weight.parallel_optimizer = False
    with data_parallel(enable_parallel_optimizer=True):
        optimizer = nn.SGD(net.trainable_params(), 1.0)
    names = [p.name for p in optimizer.parameters]
    filters = ops.AllGather()(Tensor(np.array([optimizer.optim_filter], np.int32))).asnumpy().sum(0)
    assert {name for name, ranks in zip(names, filters, strict=True) if ranks == size} == {
        "first.weight",
        "last.weight",
    }
    assert set(filters.tolist()) == {1, size} and optimizer.use_parallel
    before = net.first.weight.asnumpy()
    optimizer([Tensor(np.full(p.shape, rank + 1), p.dtype) for p in optimizer.parameters])
    np.testing.assert_array_equal(net.first.weight.asnumpy(), before - (rank + 1))


class Own(nn.Optimizer):
    """A network as users of MindSpore write one."""

    _support_parallel_optimizer = True

    def __init__(self, params: Any) -> None:
        super().__init__(0.5, params)
        self.sums = self.parameters.clone("sums", "zeros")

    def construct(self, gradients: Any) -> Any:
        def changed(parameter: Any, total: Any, gradient: Any, is_own: bool) -> Any:
            if is_own:
                total.set_data(total + gradient)
                parameter.set_data(parameter - self.get_lr() * total)
            return gradient

        done = self.hyper_map(changed, self.parameters, self.sums, gradients, self.optim_filter)
        return self.broadcast_params(done) if self.use_parallel else done


def check_an_optimizer_of_a_program_is_divided_where_it_says_that_it_can_be(rank: int, size: int) -> None:
    net, reference = trained(lambda net: Own(each(net)), rank, share=False)
    divided_net, divided = trained(lambda net: Own(each(net)), rank, share=True)
    assert bits(divided_net.parameters_dict()) == bits(net.parameters_dict())
    assert bits(divided.whole_state()) == bits(reference.parameters_dict())

    class Unknowing(Own):
        _support_parallel_optimizer = False

    message = str(raised(lambda: trained(lambda net: Unknowing(each(net)), rank, share=True)))
    assert message.startswith("For 'Unknowing', 'enable_parallel_optimizer' is for optimizers that define 'updated'")


def check_what_is_elsewhere_says_where_and_a_copy_knows_it_too(rank: int, size: int) -> None:
    _, optimizer = trained(OPTIMIZERS["Adam"], rank, share=True)
    for item in (optimizer, copy.deepcopy(optimizer)):
        for moment, own, parameter in zip(item.moment1, item.optim_filter, item.parameters, strict=True):
            assert moment.name == f"moment1.{parameter.name}" and moment.shape == parameter.shape
            assert isinstance(moment, Parameter) is own
            if not own:
                message = f"rank {moment.rank} keeps 'moment1.{parameter.name}', which has no 'asnumpy' here"
                assert moment.rank != rank and message in str(raised(lambda moment=moment: moment.asnumpy()))
    own = [p.name for p in optimizer.get_parameters() if p.name.startswith("moment1")]
    assert len(own) == sum(optimizer.optim_filter)


def check_graph_mode_has_the_same_bits(rank: int, size: int) -> None:
    def ended(share: bool) -> dict[str, bytes]:
        ms.set_seed(1)
        net = Net()
        with data_parallel(enable_parallel_optimizer=share), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ranks exchange values, which plans do not
            optimizer = nn.Adam(net.trainable_params(), 0.05)
            step = ms.jit(lambda gradients: optimizer(gradients))
            for number in range(3):
                step(tuple(Tensor(np.full(p.shape, number - 1.5), p.dtype) for p in optimizer.parameters))
        return bits(net.parameters_dict())

    assert ended(True) == ended(False)


# Checkpoints


def saved_warning(cell: Any, path: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        ms.save_checkpoint(cell, path)
    return [str(item.message) for item in records]


def check_a_save_of_a_share_says_so_and_all_shares_are_the_whole(rank: int, size: int) -> None:
    with folder_of_all(rank) as folder:
        _, optimizer = trained(OPTIMIZERS["Adam"], rank, share=True)
        away = sum(2 for own in optimizer.optim_filter if not own)
        (message,) = saved_warning(optimizer, folder / f"{rank}.ckpt")
        assert f"lacks the optimizer's state on other ranks, {away} parameters such as 'moment1." in message
        state = optimizer.whole_state()
        assert saved_warning(state, folder / "whole.ckpt") == []
        mint.distributed.barrier()
        shares: dict[str, Any] = {}
        for item in range(size):
            shares |= ms.load_checkpoint(folder / f"{item}.ckpt")
        assert bits(shares) == bits(ms.load_checkpoint(folder / "whole.ckpt")) == bits(state)


def after_the_rest(arguments: Any, path: str, rank: int) -> dict[str, bytes]:
    ms.load_checkpoint(path, arguments.train_network)
    arguments.train(1, data(rank))
    return bits(arguments._network.parameters_dict())


def check_a_checkpoint_of_a_training_is_whole_and_loads_divided_or_not(rank: int, size: int) -> None:
    with folder_of_all(rank) as folder:
        saving = ModelCheckpoint("a", str(folder), CheckpointConfig(4))
        with data_parallel(enable_parallel_optimizer=True), warnings.catch_warnings():
            warnings.simplefilter("error")
            reference = model(nn.Adam)
            reference.train(2, data(rank), callbacks=[saving])
            path = str(folder / "a-1_4.ckpt")
            expected = bits(reference._network.parameters_dict())
            assert after_the_rest(model(nn.Adam), path, rank) == expected
        with data_parallel():
            undivided = model(nn.Adam)
            assert after_the_rest(undivided, path, rank) == expected
            names = {p.name for p in undivided.train_network.get_parameters()}
        assert set(ms.load_checkpoint(path)) == names


def check_a_callback_on_one_rank_alone_saves_its_share_and_says_so(rank: int, size: int) -> None:
    with folder_of_all(rank) as folder, data_parallel(enable_parallel_optimizer=True):
        saving = [ModelCheckpoint("a", str(folder), CheckpointConfig(4))] if rank == 0 else []
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            model(nn.Adam).train(1, data(rank), callbacks=saving)
        assert len(records) == (rank == 0)
        assert all("lacks the optimizer's state on other ranks" in str(item.message) for item in records)
        mint.distributed.barrier()
        assert [file.name for file in folder.iterdir()] == ["a-1_4.ckpt"]


def check_a_backup_is_whole(rank: int, size: int) -> None:
    class Cut(Callback):
        def on_train_epoch_end(self, run_context: Any) -> None:
            raise InterruptedError

    with folder_of_all(rank) as folder, data_parallel(enable_parallel_optimizer=True):
        reference = model(nn.Adam)
        reference.train(2, data(rank))
        callbacks = [BackupAndRestore(str(folder)), Cut()]
        assert isinstance(raised(lambda: model(nn.Adam).train(2, data(rank), callbacks=callbacks)), InterruptedError)
        mint.distributed.barrier()
        rest = model(nn.Adam)
        rest.train(2, data(rank), callbacks=[BackupAndRestore(str(folder))], initial_epoch=1)
        assert bits(rest._network.parameters_dict()) == bits(reference._network.parameters_dict())
