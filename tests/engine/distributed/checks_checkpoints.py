"""Checks of ranks that save and load: one file that all write, and callbacks of trainings that save."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, mint, nn
from hookscope.engine.dataset import NumpySlicesDataset
from hookscope.engine.train import BackupAndRestore, Callback, CheckpointConfig, Model, ModelCheckpoint


@contextmanager
def folder_of_all(rank: int) -> Iterator[Path]:
    """Yield a new folder, the same on all ranks, until all have left."""
    folder = [tempfile.mkdtemp() if rank == 0 else ""]
    mint.distributed.broadcast_object_list(folder, 0)
    yield Path(folder[0])
    mint.distributed.barrier()
    if rank == 0:
        shutil.rmtree(folder[0])


@contextmanager
def data_parallel(**settings: Any) -> Iterator[None]:
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, **settings)
    try:
        yield
    finally:
        ms.reset_auto_parallel_context()


def model(optimizer: Any = nn.Momentum, **settings: Any) -> Model:
    ms.set_seed(3)
    net = nn.SequentialCell(nn.Dense(4, 3), nn.ReLU(), nn.Dense(3, 2))
    options = {"momentum": 0.9} if optimizer is nn.Momentum else {}
    return Model(net, nn.MSELoss(), optimizer(net.trainable_params(), 0.05, **options, **settings))


def data(rank: int, steps: int = 4) -> NumpySlicesDataset:
    rng = np.random.default_rng(rank)
    x, y = rng.standard_normal((2 * steps, 4)), rng.standard_normal((2 * steps, 2))
    return NumpySlicesDataset((x.astype(np.float32), y.astype(np.float32)), shuffle=False).batch(2)


def check_ranks_that_save_to_one_path_leave_one_whole_file(rank: int, size: int) -> None:
    with folder_of_all(rank) as folder:
        path = folder / "x.ckpt"
        for number in range(10):
            ms.save_checkpoint({"x": Tensor(np.full(100_000, number * size + rank, np.float32))}, path)
            arrays = ms.load_checkpoint(path)["x"].asnumpy()
            assert len({*arrays.tolist()}) == 1  # of the last rank to save
        mint.distributed.barrier()
        assert os.listdir(folder) == ["x.ckpt"]
        assert ms.load_checkpoint(path)["x"].asnumpy()[0] // size == 9


def check_a_save_of_one_rank_needs_no_other(rank: int, size: int) -> None:
    with folder_of_all(rank) as folder, data_parallel():
        trained = model()
        trained.train(1, data(rank))
        if rank == 0:
            ms.save_checkpoint(trained.train_network, folder / "x.ckpt")
        mint.distributed.barrier()
        arrays = ms.load_checkpoint(folder / "x.ckpt")
        for p in trained.train_network.get_parameters():  # the same bits on all ranks
            assert arrays[p.name].asnumpy().tobytes() == p.asnumpy().tobytes()


def writers(folder: Path, rank: int) -> set[int]:
    """Return the ranks that wrote into a folder: each adds its number to its files' names."""
    return {int(ms.load_checkpoint(file)["rank"].asnumpy()) for file in folder.glob("*.ckpt")}


def saver(folder: Path, rank: int, **settings: Any) -> ModelCheckpoint:
    config = CheckpointConfig(2, keep_checkpoint_max=2, append_info=[{"rank": rank}], **settings)
    return ModelCheckpoint("a", str(folder), config)


def check_the_first_rank_writes_for_those_with_its_folder(rank: int, size: int) -> None:
    for settings in ({}, {"async_save": True}):
        with folder_of_all(rank) as folder, data_parallel():
            saving, trained = saver(folder, rank, **settings), model()
            trained.train(3, data(rank), callbacks=[saving])
            # At once and on each rank: when the training has ended, the files are there.
            assert sorted(file.name for file in folder.iterdir()) == ["a-3_2.ckpt", "a-3_4.ckpt"]
            assert saving.latest_ckpt_file_name == str(folder.resolve() / "a-3_4.ckpt")
            assert writers(folder, rank) == {0}
            arrays = ms.load_checkpoint(saving.latest_ckpt_file_name)
            for p in trained.train_network.get_parameters():
                assert arrays[p.name].asnumpy().tobytes() == p.asnumpy().tobytes()
            mint.distributed.barrier()
            again = saver(folder, rank)  # the folder has files by now, on all ranks
            trained.train(1, data(rank), callbacks=[again])
            assert again.latest_ckpt_file_name.endswith("a_1-1_4.ckpt")


def check_ranks_with_folders_of_their_own_each_write(rank: int, size: int) -> None:
    with folder_of_all(rank) as folder, data_parallel():
        own = folder / f"rank_{rank}"
        model().train(1, data(rank), callbacks=[saver(own, rank)])
        assert writers(own, rank) == {rank} and len(list(own.iterdir())) == 2


def check_a_callback_on_one_rank_alone_needs_no_other(rank: int, size: int) -> None:
    for alone in (0, size - 1):
        with folder_of_all(rank) as folder, data_parallel():
            model().train(2, data(rank), callbacks=[saver(folder, rank)] if rank == alone else [])
            mint.distributed.barrier()
            assert writers(folder, rank) == {alone}


def check_without_data_parallel_each_rank_writes(rank: int, size: int) -> None:
    with folder_of_all(rank) as folder:
        saving = saver(folder / str(rank), rank)
        with data_parallel():
            model().train(1, data(rank), callbacks=[saving])
        model().train(rank + 1, data(rank), callbacks=[saving])  # each rank takes its own number of steps
        assert len(list((folder / str(rank)).iterdir())) == 2


def check_a_training_that_was_cut_short_goes_on_from_the_backup_on_all_ranks(rank: int, size: int) -> None:
    class Cut(Callback):
        def on_train_epoch_end(self, run_context: Any) -> None:
            if run_context.original_args().cur_epoch_num == 2:
                raise InterruptedError

    def ended(trained: Model) -> list[bytes]:
        return [p.asnumpy().tobytes() for p in trained.train_network.get_parameters()]

    with folder_of_all(rank) as folder, data_parallel():
        reference = model()
        reference.train(3, data(rank))
        with suppress(InterruptedError):
            model().train(3, data(rank), callbacks=[BackupAndRestore(str(folder)), Cut()])
        mint.distributed.barrier()
        assert os.listdir(folder) == ["backup.ckpt"]
        rest = model()
        rest.train(3, data(rank), callbacks=[BackupAndRestore(str(folder))], initial_epoch=2)
        assert ended(rest) == ended(reference)
        assert os.listdir(folder) == []
