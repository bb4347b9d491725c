"""Model: the training and evaluation loops around a network, a loss and an optimizer."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np

from .. import amp, nn
from ..base.argument_checks import check_bool, check_int, check_type
from ..base.module_names import is_of_the_engine
from ..distributed import settings as parallel
from ..distributed.world import world
from ..nn.cell import Cell
from ..tape import scalar_reports
from ..tape.progress import Work, progress
from ..tensors.tensor import Tensor
from .callback import Callback, CallbackManager, InternalCallbackParam, RunContext, TimeMonitor
from .callback.base import loss_of
from .callback.between_ranks import choose_writers, wait_for_writers
from .metrics import Loss, Metric, get_metrics

__all__ = ["Model"]

Callbacks: TypeAlias = "Callback | Iterable[Callback] | None"
"""Callbacks of a run: one, several, or None."""


class Batches(Protocol):
    """A source of batches for a run: a data set, or an object with these of its methods."""

    def get_dataset_size(self) -> int: ...
    def create_tuple_iterator(self, *, num_epochs: int) -> Iterable[Any]: ...


_OLD_MOMENTS = {"begin", "end", "epoch_begin", "epoch_end", "step_begin", "step_end"}


class Model:
    """A network with the objects for its training and evaluation.

    Args:
        network: the network, a cell; without ``loss_fn`` it returns the loss itself.
        loss_fn: the loss, a cell of (output, label).
        optimizer: the optimizer of its parameters; None for a network that is only evaluated or trains itself.
        metrics: a dictionary of metrics, or a set of their names.
        eval_network: a network for ``eval``; by default one is built from ``network`` and ``loss_fn``.
        eval_indexes: the positions of loss, prediction and label in the outputs of ``eval_network``; by default all
            outputs go to each metric.
        amp_level: "O0" to "O3" or "auto"; see ``amp.auto_mixed_precision``.
        boost_level: accepted for compatibility; boosting is for other devices.
        **kwargs: ``loss_scale_manager``, ``keep_batchnorm_fp32``, and ``boost_config_dict``, which is ignored.

    Raises:
        TypeError: an argument of the wrong kind; the text names it.
        ValueError: an unknown argument or level, or one that lacks another; the text names it.
    """

    def __init__(
        self,
        network: Cell,
        loss_fn: Cell | None = None,
        optimizer: nn.Optimizer | None = None,
        metrics: Mapping[str, Metric] | set[str] | None = None,
        eval_network: Cell | None = None,
        eval_indexes: list[int] | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs: Any,
    ) -> None:
        for name in kwargs:
            if name not in ("loss_scale_manager", "keep_batchnorm_fp32", "boost_config_dict", "acc_level"):
                raise ValueError(
                    "For 'Model', further arguments are 'loss_scale_manager', 'keep_batchnorm_fp32' and "
                    f"'boost_config_dict', but got '{name}'"
                )
        check_type(network, Cell, "Model", "network")
        check_type(amp_level, str, "Model", "amp_level")
        if amp_level not in ("O0", "O1", "O2", "O3", "auto"):
            raise ValueError(f"For 'Model', 'amp_level' must be 'O0' to 'O3' or 'auto', but got {amp_level!r}")
        if optimizer is None and amp_level != "O0":
            raise ValueError(f"For 'Model', 'amp_level' {amp_level!r} needs an 'optimizer'")
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._amp_level, self._boost_level = amp_level, boost_level
        self._loss_scale_manager: Any = kwargs.get("loss_scale_manager")
        if self._loss_scale_manager is not None and optimizer is None:
            raise ValueError("For 'Model', 'loss_scale_manager' needs an 'optimizer'")
        self._train_network = self._make_train_network(kwargs)
        self._train_network._get_attr_from_cell(network)
        self._metric_fns = get_metrics(metrics)
        self._eval_network: Any = eval_network
        self._eval_indexes = eval_indexes
        if self._metric_fns:
            self._make_eval_network(eval_network, eval_indexes)
        self._predict_network = network
        self._training: bool | None = None

    def _make_train_network(self, kwargs: dict[str, Any]) -> Cell:
        if self._optimizer is not None:
            settings = {k: v for k, v in kwargs.items() if k in ("loss_scale_manager", "keep_batchnorm_fp32")}
            return amp.build_train_network(
                self._network, self._optimizer, self._loss_fn, self._amp_level, self._boost_level, **settings
            )
        return self._network if self._loss_fn is None else nn.WithLossCell(self._network, self._loss_fn)

    def _make_eval_network(self, eval_network: Cell | None, eval_indexes: list[int] | None) -> None:
        if eval_network is not None:
            if eval_indexes is not None and not (isinstance(eval_indexes, list) and len(eval_indexes) == 3):
                raise ValueError(f"For 'Model', 'eval_indexes' must be a list of 3 places, but got {eval_indexes!r}")
            return
        if self._loss_fn is None:
            raise ValueError("For 'Model', 'metrics' need an 'eval_network' or a 'loss_fn'")
        to_float32 = self._amp_level in ("O2", "O3", "auto")
        self._eval_network = nn.WithEvalCell(self._network, self._loss_fn, to_float32)
        self._eval_indexes = [0, 1, 2]

    @property
    def train_network(self) -> Cell:
        """The network of a training step: with loss and optimizer."""
        return self._train_network

    @property
    def eval_network(self) -> Cell | None:
        """The network of an evaluation step."""
        return self._eval_network

    @property
    def predict_network(self) -> Cell:
        """The network."""
        return self._predict_network

    # Training

    def train(
        self,
        epoch: int,
        train_dataset: Batches,
        callbacks: Callbacks = None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train for ``epoch`` epochs.

        Args:
            epoch: the number of the last epoch.
            train_dataset: a data set whose columns are the inputs of the network, or data and label with a loss.
            callbacks: a callback or a list of them.
            dataset_sink_mode: accepted for compatibility; sinking is for devices that run the whole loop.
            sink_size: accepted for compatibility; -1 or above 0.
            initial_epoch: the number of epochs already completed.

        Raises:
            TypeError: an argument of the wrong kind; the text names it.
            ValueError: a number outside its range, or an empty data set.
            AttributeError: not a data set.
        """
        self._check_run("train", epoch, initial_epoch, train_dataset, sink_size, dataset_sink_mode)
        self._train(epoch, train_dataset, callbacks, initial_epoch)

    def fit(
        self,
        epoch: int,
        train_dataset: Batches,
        valid_dataset: Batches | None = None,
        valid_frequency: int | list[int] = 1,
        callbacks: Callbacks = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train the network, with evaluation in between.

        Args:
            epoch: the number of the last epoch.
            train_dataset: a data set whose columns are the inputs of the network, or data and label with a loss.
            valid_dataset: the data set of the evaluations; by default there are none.
            valid_frequency: the number of epochs between evaluations, or a list of epochs.
            callbacks: a callback or a list of them; a user's own must define ``on_train_...`` or ``on_eval_...``.
            dataset_sink_mode: accepted for compatibility, as for ``train``.
            valid_dataset_sink_mode: accepted for compatibility.
            sink_size: accepted for compatibility; -1 or above 0.
            initial_epoch: the number of epochs already completed.

        Raises:
            TypeError: an argument of the wrong kind; the text names it.
            ValueError: a number out of range, an empty data set, no metrics, or a callback whose methods do not name
                training or evaluation.
            AttributeError: not a data set.
        """
        self._check_run("fit", epoch, initial_epoch, train_dataset, sink_size, dataset_sink_mode)
        if not isinstance(valid_dataset_sink_mode, bool):
            raise TypeError(f"For 'Model.fit', 'valid_dataset_sink_mode' must be a bool: {valid_dataset_sink_mode!r}")
        if not isinstance(valid_frequency, int | list):
            raise TypeError(f"For 'Model.fit', 'valid_frequency' must be an int or a list, got {valid_frequency!r}")
        if isinstance(valid_frequency, int) and valid_frequency < 1:
            raise ValueError(f"For 'Model.fit', 'valid_frequency' must be above 0, but got {valid_frequency}")
        if valid_dataset is not None and not self._metric_fns:
            raise ValueError("For 'Model.fit', 'valid_dataset' needs 'metrics' in the Model")
        for callback in _callback_list(callbacks):
            old = set(vars(type(callback))) & _OLD_MOMENTS
            if old and not is_of_the_engine(type(callback)):
                raise ValueError(
                    f"For 'Model.fit', {type(callback).__name__} must define on_train_... or on_eval_... instead of "
                    f"{', '.join(sorted(old))}: which of the two is meant is not clear there"
                )
        self._train(epoch, train_dataset, callbacks, initial_epoch, valid_dataset, valid_frequency)

    def _check_run(
        self, name: str, epoch: int, initial_epoch: int, dataset: Batches, sink_size: int, sink_mode: bool
    ) -> None:
        caller = f"Model.{name}"
        check_bool(sink_mode, caller, "dataset_sink_mode", show=repr)
        for argument, value, least in (("epoch", epoch, 1), ("initial_epoch", initial_epoch, 0)):
            if check_int(value, caller, argument, show=repr) < least:
                raise ValueError(f"For '{caller}', '{argument}' must be at least {least}, but got {value}")
        if initial_epoch >= epoch:
            raise ValueError(f"For '{caller}', 'epoch' {epoch} must be above 'initial_epoch' {initial_epoch}")
        check_int(sink_size, caller, "sink_size", show=repr)
        if sink_size != -1 and sink_size <= 0:
            raise ValueError(f"For '{caller}', 'sink_size' must be -1 or above 0, but got {sink_size}")
        if _steps(dataset, f"For '{caller}'") == 0:
            raise ValueError(f"For '{caller}', the data set is empty: check its files and 'drop_remainder'")

    def _facts(self, callbacks: list[Callback]) -> InternalCallbackParam:
        facts = InternalCallbackParam(
            cur_step_num=0,
            loss_fn=self._loss_fn,
            optimizer=self._optimizer,
            network=self._network,
            parallel_mode=parallel.values["parallel_mode"],
            device_number=world().everybody.size,
            list_callback=callbacks,
            dataset_sink_mode=False,
            last_save_ckpt_step=None,
            latest_ckpt_file=None,
            train_dataset_element=None,
            loss_scale_mananger=self._loss_scale_manager,
        )
        return facts

    def _train(
        self,
        epochs: int,
        dataset: Batches,
        callbacks: Callbacks,
        initial_epoch: int,
        valid_dataset: Batches | None = None,
        valid_frequency: int | list[int] = 1,
    ) -> None:
        facts = self._facts(_callback_list(callbacks))
        facts.update(
            train_network=self._train_network,
            epoch_num=epochs - initial_epoch,
            mode="train",
            batch_num=_steps(dataset, "Model"),
            train_dataset=dataset,
        )
        context = RunContext(facts)
        total = facts.batch_num * facts.epoch_num
        self._set_mode(self._train_network, True, begins=True)
        with CallbackManager(facts.list_callback) as callback, self._work("training", total) as work:
            group = choose_writers(facts.list_callback)
            callback.on_train_begin(context)
            # One iterator for all epochs: each pass over it is shuffled again.
            batches = dataset.create_tuple_iterator(num_epochs=epochs - initial_epoch)
            for epoch in range(initial_epoch + 1, epochs + 1):
                facts.cur_epoch_num = epoch
                work.detail = f"epoch {epoch} of {epochs}"
                callback.on_train_epoch_begin(context)
                for batch in map(tuple, batches):
                    if self._loss_fn is not None and len(batch) != 2:
                        raise ValueError(
                            "For 'Model', a data set used with 'loss_fn' must have 2 columns, data and label, "
                            f"but it has {len(batch)}; put the loss into the network for others"
                        )
                    facts.cur_step_num += 1
                    facts.train_dataset_element = batch
                    callback.on_train_step_begin(context)
                    self._set_mode(self._train_network, True)
                    outputs = facts.net_outputs = self._train_network(*batch)
                    self._update_loss_scale(outputs)
                    if scalar_reports.listeners and self._loss_scale_manager is not None:
                        # The debugger's own loss is what was differentiated: the scaled one.
                        scalar_reports.report(self._network, {"unscaled loss": loss_of(outputs)})
                    callback.on_train_step_end(context)
                    work.advance()
                    _apply_requests(work, context)
                    if context.get_stop_requested():
                        break
                if valid_dataset is not None and _is_due(epoch, valid_frequency) and not work.stopping:
                    self._evaluate_between(valid_dataset, facts, callback)
                    _apply_requests(work, context)
                callback.on_train_epoch_end(context)
                facts.pop("metrics", None)
                facts.pop("eval_results", None)
                if context.get_stop_requested():
                    break
            callback.on_train_end(context)
            if group is not None:
                wait_for_writers(group)

    def _set_mode(self, network: Cell, training: bool, begins: bool = False) -> None:
        """Set the network's mode for training or evaluation: at the start of a run, and after a run in the other mode.

        Modes that a callback sets in parts of the network stay, as in MindSpore: this freezes a layer.
        """
        if begins or self._training is not training or network.training is not training:
            network.set_train(training)
            self._training = training

    def _work(self, what: str, total: int) -> Work:
        # A requested stop takes effect after the current step, as when a callback requests it.
        return progress(what, total, of=self._network, raises=False)

    def _update_loss_scale(self, outputs: Tensor) -> None:
        manager = self._loss_scale_manager
        if manager is not None and manager.get_drop_overflow_update() and isinstance(outputs, tuple):
            manager.update_loss_scale(bool(np.all(outputs[1].asnumpy())))

    # Evaluation

    def eval(
        self, valid_dataset: Batches, callbacks: Callbacks = None, dataset_sink_mode: bool = False
    ) -> dict[str, Any]:
        """Return the metrics of the network on a data set.

        Args:
            valid_dataset: a data set whose columns are the inputs of the evaluation network: data and label, if the
                Model built it.
            callbacks: a callback or a list of them.
            dataset_sink_mode: accepted for compatibility.

        Returns:
            their values by name.

        Raises:
            TypeError: ``dataset_sink_mode`` is not a bool.
            ValueError: the Model has no metrics.
        """
        check_bool(dataset_sink_mode, "Model.eval", "dataset_sink_mode", show=repr)
        if not self._metric_fns:
            raise ValueError("For 'Model.eval', the Model must be made with 'metrics'")
        facts = self._facts(_callback_list(callbacks))
        with CallbackManager(facts.list_callback) as callback:
            return self._evaluate(valid_dataset, facts, callback)

    def _evaluate(
        self, dataset: Batches, facts: InternalCallbackParam, callback: Callback, between: bool = False
    ) -> dict[str, Any]:
        """Evaluate; ``between`` epochs of training, add the values that the callbacks monitor to the facts."""
        facts.update(
            eval_network=self._eval_network,
            valid_dataset=dataset,
            batch_num=_steps(dataset, "For 'Model.eval'"),
            mode="eval",
            cur_step_num=0,
        )
        metrics = self._metric_fns or {}
        for metric in metrics.values():
            metric.clear()
        loss = Loss()
        context = RunContext(facts)
        callback.on_eval_begin(context)
        self._set_mode(self._eval_network, False, begins=True)
        callback.on_eval_epoch_begin(context)
        with self._work("evaluation", facts.batch_num) as work:
            for batch in map(tuple, dataset.create_tuple_iterator(num_epochs=1)):
                facts.cur_step_num += 1
                facts.eval_dataset_element = batch
                callback.on_eval_step_begin(context)
                self._set_mode(self._eval_network, False)
                outputs = facts.net_outputs = self._eval_network(*batch)
                callback.on_eval_step_end(context)
                self._update_metrics(outputs, loss)
                work.advance()
                _apply_requests(work, context)
                if context.get_stop_requested():
                    break
        callback.on_eval_epoch_end(context)
        values = facts.metrics = {name: metric.eval() for name, metric in metrics.items()}
        if scalar_reports.listeners:
            losses = {"eval_loss": loss.eval()} if loss._total_num else {}
            numbers = {f"eval_{name}": value for name, value in values.items()}
            scalar_reports.report(self._network, {**losses, **numbers})
        if between:
            facts.eval_results = copy.deepcopy(values)
            if self._eval_indexes is not None:
                facts.eval_results["eval_loss"] = loss.eval()
        callback.on_eval_end(context)
        return values

    def _evaluate_between(self, dataset: Batches, facts: InternalCallbackParam, callback: CallbackManager) -> None:
        """Evaluate in the middle of training, and restore the facts about training."""
        saved = {name: facts[name] for name in ("cur_step_num", "batch_num", "net_outputs", "mode")}
        # Of MindSpore's own callbacks only TimeMonitor is notified of an evaluation in between.
        notified = [
            item for item in callback._callbacks if isinstance(item, TimeMonitor) or not is_of_the_engine(type(item))
        ]
        with CallbackManager(notified) as inner:
            self._evaluate(dataset, facts, inner, between=True)
        facts.update(saved)

    def _update_metrics(self, outputs: Any, loss: Loss) -> None:
        values = (outputs,) if isinstance(outputs, Tensor) else outputs
        if not isinstance(values, tuple):
            raise ValueError(f"For 'Model', the eval network must return tensors, but got {type(outputs).__name__}")
        positions = self._eval_indexes
        if positions is not None and len(values) < 3:
            raise ValueError(f"For 'Model', the eval network must return loss, prediction and label, got {len(values)}")
        if positions is not None:
            loss.update(values[positions[0]])
        for metric in (self._metric_fns or {}).values():
            if positions is None:
                metric.update(*values)
            elif isinstance(metric, Loss):
                metric.update(values[positions[0]])
            else:
                metric.update(values[positions[1]], values[positions[2]])

    # Prediction and the rest

    def predict(self, *predict_data: Any, backend: str | None = None, config: object = None) -> Tensor:
        """Return the network's output, with training off.

        Args:
            *predict_data: its inputs: tensors, numbers, strings or None.
            backend: "lite" or None; both run here.
            config: accepted for compatibility.

        Raises:
            TypeError: an input of the wrong kind.
            ValueError: an empty tensor, or an unknown backend.
        """
        if backend not in ("lite", None):
            raise ValueError(f"For 'Model.predict', 'backend' must be 'lite' or None, but got {backend!r}")
        for value in predict_data:
            if isinstance(value, Tensor):
                if value.size == 0:
                    raise ValueError("For 'Model.predict', the input is empty")
            elif value is not None and not isinstance(value, int | float | str):
                raise TypeError(
                    f"For 'Model.predict', inputs must be tensors or numbers, but got {type(value).__name__}"
                )
        self._set_mode(self._predict_network, False)
        with progress("prediction", None, of=self._network, stoppable=False):  # it is a single call
            return self._predict_network(*predict_data)

    def build(
        self,
        train_dataset: Batches | None = None,
        valid_dataset: Batches | None = None,
        sink_size: int = -1,
        epoch: int = 1,
        sink_mode: bool = True,
    ) -> None:
        """Do nothing: an eager run builds nothing ahead.

        Args:
            train_dataset: accepted for compatibility.
            valid_dataset: accepted for compatibility.
            sink_size: accepted for compatibility.
            epoch: accepted for compatibility.
            sink_mode: accepted for compatibility.
        """

    def infer_train_layout(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError: a layout is for a cluster."""
        raise NotImplementedError("Model.infer_train_layout needs a cluster; here there is one process: call train")

    def infer_predict_layout(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError: a layout is for a cluster."""
        raise NotImplementedError("Model.infer_predict_layout needs a cluster; here there is one process: call predict")


def _callback_list(callbacks: Callbacks) -> list[Callback]:
    if callbacks is None:
        return []
    return list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]


def _steps(dataset: Batches, caller: str) -> int:
    if not hasattr(dataset, "get_dataset_size") or not hasattr(dataset, "create_tuple_iterator"):
        raise AttributeError(  # MindSpore's class of error
            f"{caller} needs a data set such as mindspore.dataset.GeneratorDataset(...), but got "
            f"{type(dataset).__name__}"
        )
    return int(dataset.get_dataset_size())


def _apply_requests(work: Work, context: RunContext) -> None:
    if work.stopping:
        context.request_stop()


def _is_due(epoch: int, frequency: int | list[int]) -> bool:
    return epoch % frequency == 0 if isinstance(frequency, int) else epoch in frequency
