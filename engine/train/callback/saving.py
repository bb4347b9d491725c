"""Callbacks that save: checkpoints during training, a backup to resume from, and a last one on a signal."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...base.argument_checks import check_bool, check_type
from ...distributed.world import world
from ...formats import load_checkpoint, save_checkpoint
from ...formats.path_locks import wait_for_saves
from ...nn.cell import Cell
from ...tensors.tensor import Tensor
from .base import Callback, InternalCallbackParam, RunContext
from .between_ranks import Saver

__all__ = ["BackupAndRestore", "CheckpointConfig", "ModelCheckpoint", "OnRequestExit"]


class CheckpointConfig:
    """Schedule and options of ``ModelCheckpoint``.

    Args:
        save_checkpoint_steps: the number of steps between saves.
        save_checkpoint_seconds: or, without steps, the number of seconds between saves.
        keep_checkpoint_max: the maximum number of files; the oldest are deleted.
        keep_checkpoint_per_n_minutes: or, without that, one file per this many minutes is kept.
        integrated_save: accepted for compatibility; there is one device.
        async_save: write in the background, as ``save_checkpoint`` does.
        saved_network: save this network instead of the trained one.
        append_info: a list of "epoch_num", "step_num" and one dictionary, saved with the parameters.
        enc_key: files are not encrypted: a key is rejected at the first save.
        enc_mode: accepted for compatibility.
        exception_save: save when training ends with an exception.
        crc_check: add a checksum to the file.
        remove_redundancy: accepted for compatibility; one process saves nothing twice.
        format: "ckpt" or "safetensors".
        **kwargs: ``incremental``, accepted for compatibility.

    Raises:
        TypeError: an argument of the wrong kind.
        ValueError: no schedule, or conflicting arguments.
    """

    def __init__(
        self,
        save_checkpoint_steps: int | None = 1,
        save_checkpoint_seconds: int | None = 0,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_per_n_minutes: int | None = 0,
        integrated_save: bool = True,
        async_save: bool = False,
        saved_network: Cell | None = None,
        append_info: list[Any] | None = None,
        enc_key: bytes | None = None,
        enc_mode: str = "AES-GCM",
        exception_save: bool = False,
        crc_check: bool = False,
        remove_redundancy: bool = False,
        format: str = "ckpt",
        **kwargs: Any,
    ) -> None:
        numbers = (save_checkpoint_steps, save_checkpoint_seconds, keep_checkpoint_max, keep_checkpoint_per_n_minutes)
        names = (
            "save_checkpoint_steps",
            "save_checkpoint_seconds",
            "keep_checkpoint_max",
            "keep_checkpoint_per_n_minutes",
        )
        for name, value in zip(names, numbers, strict=True):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise TypeError(f"For 'CheckpointConfig', '{name}' must be an int or None, but got {value!r}")
            if value is not None and value < 0:
                raise ValueError(f"For 'CheckpointConfig', '{name}' must not be negative, but got {value}")
        if not any(numbers):
            raise ValueError(f"For 'CheckpointConfig', one of {names} must be above 0")
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise TypeError(f"For 'CheckpointConfig', 'saved_network' must be a Cell or None, got {saved_network!r}")
        for name, flag in (
            ("integrated_save", integrated_save),
            ("exception_save", exception_save),
            ("crc_check", crc_check),
            ("remove_redundancy", remove_redundancy),
        ):
            check_bool(flag, "CheckpointConfig", name, show=repr)
        if format == "safetensors" and (enc_key is not None or enc_mode != "AES-GCM" or crc_check or exception_save):
            raise ValueError("For 'CheckpointConfig', 'safetensors' excludes encryption, CRC and exception_save")
        self.save_checkpoint_steps = save_checkpoint_steps
        self.save_checkpoint_seconds = None if save_checkpoint_steps else save_checkpoint_seconds
        self.keep_checkpoint_max = keep_checkpoint_max
        self.keep_checkpoint_per_n_minutes = None if keep_checkpoint_max else keep_checkpoint_per_n_minutes
        if not keep_checkpoint_max and not keep_checkpoint_per_n_minutes:
            self.keep_checkpoint_max = 1
        check_type(async_save, bool | str, "CheckpointConfig", "async_save", "a bool or a str")
        self.integrated_save, self.async_save, self.saved_network = integrated_save, async_save, saved_network
        self.enc_key, self.enc_mode, self.crc_check, self.format = enc_key, enc_mode, crc_check, format
        self.exception_save, self.remove_redundancy = exception_save, remove_redundancy
        self.map_param_inc = kwargs.get("incremental", False)
        self.append_dict = _append_dict(append_info)

    def get_checkpoint_policy(self) -> dict[str, Any]:
        """Return the arguments by name as they apply: when to save and what to keep."""
        return {
            "save_checkpoint_steps": self.save_checkpoint_steps,
            "save_checkpoint_seconds": self.save_checkpoint_seconds,
            "keep_checkpoint_max": self.keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": self.keep_checkpoint_per_n_minutes,
            "saved_network": self.saved_network,
        }


def _append_dict(append_info: list[Any] | None) -> dict[str, Any] | None:
    if not append_info:
        return None
    check_type(append_info, list, "CheckpointConfig", "append_info")
    if sum(isinstance(entry, dict) for entry in append_info) > 1:
        raise TypeError("For 'CheckpointConfig', 'append_info' may hold one dict")
    entries: dict[str, Any] = {}
    for entry in append_info:
        if isinstance(entry, dict):
            for key, value in entry.items():
                if not isinstance(key, str) or not isinstance(value, int | float | str | Tensor):
                    raise TypeError(f"For 'CheckpointConfig', 'append_info' cannot hold a {type(value).__name__}")
                entries[key] = value
        elif not isinstance(entry, str):
            raise TypeError(f"For 'CheckpointConfig', 'append_info' holds strings and a dict, but got {entry!r}")
        elif entry not in ("epoch_num", "step_num"):
            raise ValueError(
                f"For 'CheckpointConfig', 'append_info' may name 'epoch_num' and 'step_num', but got {entry!r}"
            )
        else:
            entries[entry] = 0
    return entries


class ModelCheckpoint(Saver):
    """Saves a checkpoint named ``<prefix>-<epoch>_<step>.ckpt`` as the config says, and after the last step.

    If the folder already contains files of the prefix, names begin with ``<prefix>_1``, ``<prefix>_2`` and so on. A
    file that cannot be written ends the training with its error; in the background, when the next is due, or at the
    end.

    If data-parallel ranks would write the same files, the first rank writes. The others continue and wait for it at the
    end of the training. Ranks with different folders each write, as do those whose folder or prefix is a
    function.

    Args:
        prefix: the beginning of the names, or a function from the run's facts to it.
        directory: the folder, by default the working directory; or a function from the run's facts to it.
        config: the schedule and options.

    Raises:
        TypeError: ``directory`` is not a str, or ``config`` is not a CheckpointConfig.
        ValueError: ``prefix`` is neither a str without "/" nor a function.
    """

    def __init__(
        self,
        prefix: str | Callable[[Any], str] = "CKP",
        directory: str | Callable[[Any], str] | None = None,
        config: CheckpointConfig | None = None,
    ) -> None:
        super().__init__()
        if not callable(prefix) and (not isinstance(prefix, str) or "/" in prefix):
            raise ValueError(f"For 'ModelCheckpoint', 'prefix' must be a str without '/', or callable; got {prefix!r}")
        check_type(config, CheckpointConfig | None, "ModelCheckpoint", "config", "a CheckpointConfig")
        self._config = config or CheckpointConfig()
        self._prefix_function: Callable[[Any], str] | None = prefix if callable(prefix) else None
        self._directory_function: Callable[[Any], str] | None = directory if callable(directory) else None
        if not callable(directory):
            self._directory = os.getcwd() if directory is None else _make_folder(directory)
        if not callable(prefix):
            self._prefix = prefix if callable(directory) else _unused_prefix(self._directory, prefix)
        self._last_step = 0
        self._last_time = self._last_permanent = time.time()
        self._files: list[str] = []
        self._append = dict(self._config.append_dict or {})
        self._append_start = dict(self._append)
        self._facts: Any = None
        self.latest_ckpt_file_name = ""

    def _where(self) -> str:
        if self._prefix_function or self._directory_function:
            return ""
        return f"{self._directory}/{self._prefix}.{self._config.format}"

    def _when(self) -> str:
        steps = self._config.save_checkpoint_steps
        return f"each {steps} steps" if steps else ""

    def begin(self, run_context: RunContext) -> None:
        self._facts = run_context.original_args()
        self._last_step = min(self._last_step, self._facts.get("cur_step_num", 0))

    def step_end(self, run_context: RunContext) -> None:
        facts = self._facts = run_context.original_args()
        if self._prefix_function is not None:
            self._prefix = self._prefix_function(facts)
            if not isinstance(self._prefix, str) or "/" in self._prefix:
                raise ValueError(
                    f"For 'ModelCheckpoint', 'prefix' must return a str without '/', but got {self._prefix!r}"
                )
        if self._directory_function is not None:
            self._directory = _make_folder(self._directory_function(facts))
        self._save(facts)

    def end(self, run_context: RunContext) -> None:
        self._save(run_context.original_args(), last=True)
        self._wait()

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Do nothing: evaluation saves no checkpoints."""

    on_eval_step_end = on_eval_end = on_eval_begin

    def __exit__(self, *exc_info: object) -> None:
        if exc_info[0] is not None and self._config.exception_save and self._facts is not None:
            facts = self._facts
            name = f"{self._prefix}-{_step_text(facts)}_breakpoint.{self._config.format}"
            self._write(facts, self._network(facts), str(Path(self._directory) / name))

    def _save(self, facts: InternalCallbackParam, last: bool = False) -> None:
        step = facts.cur_step_num
        if step == self._last_step:
            return
        config = self._config
        if config.save_checkpoint_steps:
            due = step >= self._last_step + config.save_checkpoint_steps
        else:
            seconds = config.save_checkpoint_seconds
            due = bool(seconds) and time.time() - self._last_time > (seconds or 0)
        if not (due or last):
            return
        self._last_time, self._last_step = time.time(), step
        name = f"{self._prefix}-{_step_text(facts)}.{config.format}"
        path = str(Path(self._directory) / name)
        content = self._saved(self._network(facts))
        if self._writes:
            self._wait()
            self._make_room()
            self._write(facts, content, path)
            self._files.append(path)
        self.latest_ckpt_file_name = path
        facts.last_save_ckpt_step, facts.latest_ckpt_file = step, path

    def _wait(self) -> None:
        """Wait until the previous file is written, also in the background; raise its error to end training."""
        if self.latest_ckpt_file_name and self._writes:
            wait_for_saves(os.path.realpath(self.latest_ckpt_file_name))

    def _make_room(self) -> None:
        """Delete files that the config does not keep before another is written."""
        config = self._config
        if config.keep_checkpoint_max:
            while len(self._files) >= config.keep_checkpoint_max:
                _delete(self._files.pop(0))
        elif config.keep_checkpoint_per_n_minutes:
            if time.time() - self._last_permanent < 60 * config.keep_checkpoint_per_n_minutes:
                # The first file of each time span stays; later ones are deleted.
                while len(self._files) > 1:
                    _delete(self._files.pop())
            else:
                self._last_permanent = time.time()
                self._files.clear()

    def _network(self, facts: InternalCallbackParam) -> Cell:
        network = self._config.saved_network
        return facts.train_network if network is None else network

    def _write(self, facts: InternalCallbackParam, saved: Any, path: str) -> None:
        config = self._config
        for key, number in (("epoch_num", _epoch(facts)), ("step_num", facts.cur_step_num)):
            if key in self._append:
                self._append[key] = self._append_start[key] + number
        extra: dict[str, Any] = {} if config.format == "ckpt" else {"format": config.format}
        if config.crc_check:
            extra["crc_check"] = True
        if config.enc_key is not None:
            extra.update(enc_key=config.enc_key, enc_mode=config.enc_mode)
        save_checkpoint(saved, path, config.integrated_save, config.async_save, self._append or None, **extra)


def _epoch(facts: InternalCallbackParam) -> int:
    """Return the number of the epoch; 0 before the first, in which an error may end the run."""
    return int(facts.get("cur_epoch_num", 0))


def _step_text(facts: InternalCallbackParam) -> str:
    """Return the epoch and the step within it."""
    return f"{_epoch(facts)}_{(facts.cur_step_num - 1) % facts.batch_num + 1}"


def _make_folder(directory: str) -> str:
    if not isinstance(directory, str) or not directory.strip():
        raise TypeError(f"'directory' must be a str that is not empty, but got {directory!r}")
    path = os.path.realpath(directory)
    os.makedirs(path, exist_ok=True)
    return path


def _unused_prefix(directory: str, prefix: str) -> str:
    """Return the prefix, with a number appended if the folder holds checkpoints of it."""
    number = 0
    for name in os.listdir(directory):
        stem, extension = os.path.splitext(name)
        if extension not in (".ckpt", ".safetensors") or stem.endswith("_breakpoint") or not stem.startswith(prefix):
            continue
        suffix = stem[len(prefix) :]
        infix, dash, _ = suffix.partition("-")
        if not dash:
            continue
        if not infix:
            number = max(number, 1)
        elif infix.startswith("_") and infix[1:].isdigit():
            number = max(number, int(infix[1:]) + 1)
    return f"{prefix}_{number}" if number else prefix


def _delete(path: str) -> None:
    with suppress(FileNotFoundError):  # already deleted by another program
        os.remove(path)


class BackupAndRestore(Saver):
    """Saves the parameters every ``save_freq`` epochs; a run that finds a backup resumes from it.

    If data-parallel ranks share the folder, the first one writes, and all resume from it.

    Args:
        backup_dir: the folder of ``backup.ckpt``.
        save_freq: "epoch" or a number of epochs.
        delete_checkpoint: delete the backup after a successful training.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``save_freq`` is below 1.
    """

    def __init__(self, backup_dir: str, save_freq: int | str = "epoch", delete_checkpoint: bool = True) -> None:
        super().__init__()
        if save_freq != "epoch" and (not isinstance(save_freq, int) or isinstance(save_freq, bool)):
            raise TypeError(f"For 'BackupAndRestore', 'save_freq' must be 'epoch' or an int, but got {save_freq!r}")
        if isinstance(save_freq, int) and save_freq <= 0:
            raise ValueError(f"For 'BackupAndRestore', 'save_freq' must be above 0, but got {save_freq}")
        if not isinstance(delete_checkpoint, bool):
            raise TypeError(f"For 'BackupAndRestore', 'delete_checkpoint' must be a bool, got {delete_checkpoint!r}")
        self.backup_file = str(Path(_make_folder(backup_dir)) / "backup.ckpt")
        self.save_freq = 1 if save_freq == "epoch" else save_freq
        self.delete_checkpoint = delete_checkpoint

    def _where(self) -> str:
        return self.backup_file

    def _when(self) -> str:
        return f"each {self.save_freq} epochs"

    def on_train_begin(self, run_context: RunContext) -> None:
        if os.path.exists(self.backup_file):
            load_checkpoint(self.backup_file, net=run_context.original_args().train_network)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        facts = run_context.original_args()
        if facts.cur_epoch_num % self.save_freq == 0:
            content = self._saved(facts.train_network)
            if self._writes:
                save_checkpoint(content, self.backup_file)

    def on_train_end(self, run_context: RunContext) -> None:
        if self._writes and self.delete_checkpoint:
            _delete(self.backup_file)


class OnRequestExit(Callback):
    """Ends training after the step in which a signal arrives, with a checkpoint from which the next run resumes.

    Args:
        save_ckpt: save ``rank_0/<file_name>_train.ckpt`` (``..._eval.ckpt``) then, and load it at the start; an
            evaluation without its own file loads that of the training.
        save_mindir: accepted for compatibility; MindIR is a graph compiler's format.
        file_name: the beginning of the file's name.
        directory: the parent of the folder ``rank_0``, or of another rank's, as in MindSpore.
        config_file: accepted for compatibility; it is for clusters.
        sig: the number of the signal; SIGTERM by default.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: SIGKILL.

    Attributes:
        train_name: the path of a training's file without its suffix.
        eval_name: the same for an evaluation.
    """

    def __init__(
        self,
        save_ckpt: bool = True,
        save_mindir: bool = True,
        file_name: str = "Net",
        directory: str = "./",
        config_file: str | None = None,
        sig: int = signal.SIGTERM,
    ) -> None:
        super().__init__()
        for name, flag in (("save_ckpt", save_ckpt), ("save_mindir", save_mindir)):
            check_bool(flag, "OnRequestExit", name, show=repr)
        check_type(sig, int, "OnRequestExit", "sig", "a signal's number", show=repr)
        if sig == getattr(signal, "SIGKILL", None):
            raise ValueError("For 'OnRequestExit', 'sig' cannot be SIGKILL: nothing can answer it")
        self.save_ckpt, self.save_mindir, self.sig = save_ckpt, save_mindir, sig
        self.exit = False
        check_type(file_name, str, "OnRequestExit", "file_name", show=repr)
        folder = _make_folder(str(Path(_make_folder(directory)) / f"rank_{world().everybody.rank}"))
        self.train_name, self.eval_name = [str(Path(folder) / f"{file_name}_{mode}") for mode in ("train", "eval")]
        self._before: Any = None

    def _listen(self, mode: str, network: Cell) -> None:
        self.exit = False
        self._before = signal.signal(self.sig, self._on_signal)
        # An evaluation without its own checkpoint uses that of the training.
        names = (self.eval_name, self.train_name) if mode == "eval" else (self.train_name,)
        files = [file for file in (f"{name}.ckpt" for name in names) if os.path.isfile(file)]
        if self.save_ckpt and files:
            load_checkpoint(files[0], net=network)

    def _on_signal(self, number: int, frame: object) -> None:
        self.exit = True

    def _leave(self, mode: str, network: Cell) -> None:
        self._give_back()
        if self.exit and self.save_ckpt:
            save_checkpoint(network, f"{self.train_name if mode == 'train' else self.eval_name}.ckpt")

    def _give_back(self) -> None:
        """Restore the previous signal handler."""
        if self._before is not None:
            signal.signal(self.sig, self._before)
            self._before = None

    def __exit__(self, *exc_info: object) -> None:
        # A run that ends with an error does not notify callbacks of its end.
        self._give_back()

    def on_train_begin(self, run_context: RunContext) -> None:
        self._listen("train", run_context.original_args().train_network)

    def on_train_step_end(self, run_context: RunContext) -> None:
        if self.exit:
            run_context.request_stop()

    on_train_epoch_end = on_train_step_end  # it may have arrived during an evaluation between epochs

    def on_train_end(self, run_context: RunContext) -> None:
        self._leave("train", run_context.original_args().train_network)

    def on_eval_begin(self, run_context: RunContext) -> None:
        self._listen("eval", run_context.original_args().eval_network)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        if self.exit:
            run_context.request_stop()

    def on_eval_end(self, run_context: RunContext) -> None:
        self._leave("eval", run_context.original_args().eval_network)
