"""Settings of a cell: mode, flags, precision, and settings for MindSpore's graph compiler or a cluster.

Settings that only tune the compiler are stored and readable. Those without a meaning in eager execution on
one device raise NotImplementedError with the alternative. A method without any effect warns once.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import context
from ..base.argument_checks import check_bool, check_type
from ..base.file_labels import warn_user
from ..base.modes import graph_mode, graphs
from ..base.nearest_name import did_you_mean
from ..ops import cast
from ..tensors.dtype import DType, bfloat16, float16, float32
from ..tensors.nested import replaced, tensors_in
from ..tensors.tensor import Tensor
from .members import CellBase
from .recompute import Contexts, RecomputeOptions

if TYPE_CHECKING:
    from .cell import Cell

__all__ = ["CellSettings"]

_WITH_EFFECT = {
    "jit_level": ("", "O0", "O1"),
    "exc_mode": ("auto",),
    "jit_syntax_level": ("", "LAX"),
    "debug_level": ("RELEASE",),
    "infer_boost": ("off", ""),
    "backend": ("ms_backend", "GE"),
}
"""For each option of a JitConfig the values that are followed, or that request the default behavior."""
_INSTEAD = {
    "jit_level": ": it is for other devices, and plans are those of 'O0'",
    "jit_syntax_level": ": jit(fullgraph=True) makes graph breaks errors",
    "debug_level": ": hookscope.engine.compile.plans_of shows the plans",
}
PRECISION_FLAGS = {"fp16": float16, "fp32": float32, "bf16": bfloat16}
_PARALLEL = "it is for (semi-)automatic parallel modes, and is ignored in others"
_RECOMPUTE_OPTIONS = ("mp_comm_recompute", "parallel_optimizer_comm_recompute", "recompute_slice_activation")


def _stored_property(
    name: str, kind: type, doc: str, default: Callable[[], Any] | None = None, positive: bool = False, ignored: str = ""
) -> Any:
    """Return a property that stores its value; without a default it does not exist before it is set."""
    key = f"_kept_{name}"

    def get(cell: CellBase) -> Any:
        if key not in cell.__dict__:
            if default is None:
                raise AttributeError(f"'{type(cell).__name__}' has no '{name}': it was not set")
            cell.__dict__[key] = default()
        return cell.__dict__[key]

    def set_(cell: CellBase, value: object) -> None:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(f"For 'Cell', '{name}' must be of type {kind.__name__}, but got {type(value).__name__}")
        if positive and value < 0:  # type: ignore[operator]  # only ints are
            raise ValueError(f"For 'Cell', '{name}' must not be negative, but got {value}")
        cell.__dict__[key] = value
        if ignored:
            _warn_without_effect(f"Cell.{name}", ignored)

    return property(get, set_, doc=doc)


_warned_methods: set[str] = set()


def _warn_without_effect(method: str, reason: str) -> None:
    """Warn once in a process that a method, or an option of one, has no effect here."""
    if method not in _warned_methods:
        _warned_methods.add(method)
        warn_user(f"'{method}' has no effect here: {reason}")


def _not_covered(subject: str, instead: str) -> NotImplementedError:
    return NotImplementedError(f"{subject}: {instead}")


class CellSettings(CellBase):
    """The settings part of ``Cell``."""

    # Mode and flags

    @property
    def phase(self) -> str:
        """The phase's name: "train" or "predict" by ``set_train``, or a user's."""
        return self._phase

    @phase.setter
    def phase(self, value: str) -> None:
        check_type(value, str, "Cell", "phase")
        self.__dict__["_phase"] = value

    def set_train(self, mode: bool = True) -> Cell:
        """Set training mode for this cell and all below; layers such as Dropout and BatchNorm depend on it.

        Args:
            mode: True for training, False for predict mode, the mode of a new cell. The name ``phase`` ("train" or
                "predict") is set on this cell only.

        Returns:
            This cell.
        """
        self.__dict__["_phase"] = "train" if mode else "predict"
        return self.add_flags_recursive(training=mode)

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Set the cell's flag ``requires_grad``; gradients do not depend on it.

        Args:
            requires_grad: the new value.

        Returns:
            This cell.
        """
        self.__dict__["requires_grad"] = requires_grad
        return self  # type: ignore[return-value]  # every CellSettings is a Cell

    def add_flags(self, **flags: Any) -> Cell:
        """Set attributes on this cell.

        Args:
            **flags: names and values; ``fp16``, ``fp32`` and ``bf16``, if true, also set the cell's precision, see
                ``to_float``.

        Returns:
            This cell.
        """
        self._flags.update(flags)
        self.__dict__.update(flags)
        for name, dtype in PRECISION_FLAGS.items():
            if flags.get(name, False):
                self.__dict__["mixed_precision_type"] = dtype
                self._refresh()
        return self  # type: ignore[return-value]

    def add_flags_recursive(self, **flags: Any) -> Cell:
        """Set attributes on this cell and all below.

        Args:
            **flags: names and values, see ``add_flags``.

        Returns:
            This cell.
        """
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self  # type: ignore[return-value]

    def get_flags(self) -> dict[str, Any]:
        """Return the attributes that ``add_flags`` set: the cell's own dictionary by name."""
        return self._flags

    # Precision

    def to_float(self, dst_type: DType) -> Cell:
        """Make every operator in this cell and below compute in ``dst_type``; parameters keep their dtype.

        The operators cast floating tensors among their operands, so the result is of ``dst_type`` too. Gradients have
        the dtype of their values.

        Args:
            dst_type: ``float16``, ``float32`` or ``bfloat16``.

        Returns:
            This cell.

        Raises:
            ValueError: ``dst_type`` is none of these.
        """
        if not isinstance(dst_type, DType) or dst_type not in tuple(PRECISION_FLAGS.values()):
            raise ValueError(f"For 'to_float', 'dst_type' must be float16, float32 or bfloat16, but got {dst_type!r}")
        return self.add_flags_recursive(**{name: dtype == dst_type for name, dtype in PRECISION_FLAGS.items()})

    def get_mixed_precision_type(self) -> DType | None:
        """Return the dtype that ``to_float`` set; None if it was not called."""
        return self.mixed_precision_type

    def set_mixed_precision_type(self, mixed_type: DType | None) -> None:
        """Set the precision of this cell only; cells that it calls compute in it too, unless they have their own.

        Args:
            mixed_type: ``float16``, ``float32`` or ``bfloat16``; None removes the setting.

        Raises:
            TypeError: ``mixed_type`` is none of these.
        """
        if mixed_type is not None and mixed_type not in tuple(PRECISION_FLAGS.values()):
            raise TypeError(
                f"For 'set_mixed_precision_type', give float16, float32, bfloat16 or None, but got {mixed_type!r}"
            )
        self.__dict__["mixed_precision_type"] = mixed_type
        self._refresh()

    def cast_inputs(self, inputs: Any, dst_type: DType) -> Any:
        """Return the inputs with their tensors cast; deprecated in MindSpore, where it returns None.

        Args:
            inputs: a tensor, or tuples, lists and dictionaries with tensors.
            dst_type: the element type.

        Returns:
            The same structure with other tensors.
        """
        return replaced(inputs, [cast(tensor, dst_type) for tensor in tensors_in(inputs)])

    # Recompute

    def recompute(
        self,
        *,
        use_reentrant: bool = True,
        output_recompute: bool = False,
        early_stop: bool = True,
        context_fn: Contexts | None = None,
        **kwargs: Any,
    ) -> None:
        """Save no activations of ``construct`` for the gradient; compute them again in the backward pass.

        Needs less memory and about one more forward computation. Values, gradients and random numbers are the same as
        without. It applies to the cells below: one that runs inside this cell is recomputed as a part of it, and one
        that is called separately, such as an entry of a ``CellList``, on its own. Gradients pass only through the
        result of ``construct``, not through tensors that it stores elsewhere, such as in an attribute.

        Args:
            use_reentrant: stored; with False ``context_fn`` may be given.
            output_recompute: stored as a flag of the cell; with True ``context_fn`` may be given too.
            early_stop: False means that ``construct`` runs to its end again; here it always does.
            context_fn: called without arguments at each call of the cell; returns two contexts, one around the first
                run and one around the second. None for none.
            **kwargs: ``mp_comm_recompute``, ``parallel_optimizer_comm_recompute``, ``recompute_slice_activation``:
                bools for a cluster; a true one warns once that it has no effect.

        Raises:
            ValueError: an unknown keyword, or ``context_fn`` with ``use_reentrant``.
            TypeError: ``output_recompute`` or one of ``kwargs`` is not a bool.
        """
        for name, value in {"output_recompute": output_recompute, **kwargs}.items():
            if name != "output_recompute" and name not in _RECOMPUTE_OPTIONS:
                near = did_you_mean(name, _RECOMPUTE_OPTIONS)
                raise ValueError(f"For 'recompute', there is no option '{name}'{near}")
            check_bool(value, "recompute", name)
            if name != "output_recompute" and value:
                _warn_without_effect(f"Cell.recompute({name}=True)", "there is one device, without slices or exchange")
        reentrant = use_reentrant and not output_recompute
        self.__dict__["_recompute"] = RecomputeOptions(reentrant, context_fn)
        self.add_flags(output_recompute=output_recompute)
        for _, cell in self.cells_and_names():
            options, scope = cell.__dict__["_recompute"], cell.__dict__["_scope"] or ""
            if options is None or options.is_parents:
                cell.__dict__["_recompute"] = RecomputeOptions(reentrant, context_fn, is_parents=True)
            cell.__dict__["_scope"] = scope if scope.startswith("recompute_") else f"recompute_{scope}"
            cell._refresh()

    # Names for the compiler

    def get_scope(self) -> str | None:
        """Return the scope that ``generate_scope`` set; None before."""
        return self.__dict__["_scope"]

    def generate_scope(self) -> None:
        """Set a scope such as ``Default/body-SequentialCell`` on every cell below that has none."""
        self._scope_below("Default")

    def _scope_below(self, prefix: str) -> None:
        with_class = context.get_context("reserve_class_name_in_scope")
        scopes = {
            name: f"{prefix}/{name}" + (f"-{type(cell).__name__}" if with_class in (None, True) else "")
            for name, cell in self.name_cells().items()
        }
        for name, cell in self.name_cells().items():
            previous_scope = cell.__dict__["_scope"]
            if previous_scope is None or previous_scope == "recompute_":
                cell.__dict__["_scope"] = (previous_scope or "") + scopes[name]
        for name, cell in self.name_cells().items():
            cell._scope_below(scopes[name])

    def update_cell_type(self, cell_type: str) -> None:
        """Store the cell's type, which MindSpore's quantization reads, as ``cell_type``. Warns once.

        Args:
            cell_type: a name.
        """
        _warn_without_effect("Cell.update_cell_type", "there is no quantization that reads the type; it is kept")
        self.__dict__["cell_type"] = cell_type

    # Stored for a graph compiler

    bprop_debug = _stored_property(
        "bprop_debug", bool, "Whether each run of a custom bprop is compared with the automatic gradient.", bool
    )
    cell_init_args = _stored_property(
        "cell_init_args", str, "A text that MindSpore keeps the constructor's arguments in."
    )
    parameter_layout_dict = _stored_property("parameter_layout_dict", dict, "Layouts of parameters on a cluster.", dict)
    parallel_parameter_name_list = _stored_property(
        "parallel_parameter_name_list", list, "Parameters on a cluster.", tuple
    )
    parallel_parameter_merge_net_dict = _stored_property(
        "parallel_parameter_merge_net_dict", dict, "A cluster's networks.", dict
    )
    pipeline_stage = _stored_property(
        "pipeline_stage", int, "The pipeline stage of this cell.", positive=True, ignored=_PARALLEL
    )
    pipeline_segment = _stored_property(
        "pipeline_segment", int, "The pipeline segment of this cell.", positive=True, ignored=_PARALLEL
    )

    @property
    def compile_phase(self) -> str | None:
        """A phase for the graph compiler; setting it sets it below too."""
        return self.__dict__.get("_compile_phase")

    @compile_phase.setter
    def compile_phase(self, value: str) -> None:
        check_type(value, str, "Cell", "compile_phase")
        for _, cell in self.cells_and_names():
            cell.__dict__["_compile_phase"] = value

    @property
    def compiled(self) -> bool:
        """Whether a plan was made for a call of the cell."""
        return "_compiled" in self.__dict__ and bool(graphs().has_plan(self))

    @property
    def compile_cache(self) -> set[str]:
        """MindSpore's cache of compiled graphs: empty; ``compiled`` is whether there is one."""
        return self.__dict__.setdefault("_compile_cache", set())

    @property
    def phase_cache(self) -> dict[str, Any]:
        """MindSpore's cache of compiled graphs by phase: empty."""
        return self.__dict__.setdefault("_phase_cache", {})

    @property
    def exist_names(self) -> set[str]:
        """Names of parameters in lists and tuples that were assigned."""
        return self.__dict__.setdefault("_exist_names", set())

    @property
    def exist_objs(self) -> set[Any]:
        """Parameters in lists and tuples that were assigned."""
        return self.__dict__.setdefault("_exist_objs", set())

    @property
    def jit_config_dict(self) -> dict[str, Any]:
        """The options of ``set_jit_config``."""
        return self.__dict__.setdefault("_jit_config_dict", {})

    def set_jit_config(self, jit_config: Any) -> None:
        """Set how the cell's calls run as graphs; a second call is ignored, as in MindSpore, with a warning.

        Args:
            jit_config: a JitConfig, of which ``jit_level`` is followed: "O1" fuses operators into loops, with different
                rounding. ``jit_config_dict`` has all of it; options without effect cause a warning.

        Raises:
            AttributeError: it is not a JitConfig.
        """
        options = getattr(jit_config, "jit_config_dict", None)
        if not isinstance(options, dict):
            raise AttributeError(
                f"For 'set_jit_config', 'jit_config' must be a JitConfig, but got {type(jit_config).__name__}"
            )
        if self.jit_config_dict:
            name = type(self).__name__
            warnings.warn(f"'{name}' has a jit config already, and the new one is ignored", stacklevel=2)
            return
        self.__dict__["_jit_config_dict"] = options
        for attribute in ("_compiled", "_gradients"):  # plans of another level
            self.__dict__.pop(attribute, None)
        for name, value in options.items():
            if value not in _WITH_EFFECT.get(name, ()):
                idle = f"{name}={value!r} has no effect here{_INSTEAD.get(name, '')}"
                warnings.warn(f"For 'set_jit_config', {idle}", stacklevel=2)

    def _get_attr_from_cell(self, network: Any) -> None:
        """Copy the jit config of a network inside this cell; MindSpore's name, for users' cells."""
        options = getattr(network, "jit_config_dict", None)
        if options:
            self.__dict__["_jit_config_dict"] = options

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Set the expected inputs, which graph mode compares with each call. ``get_inputs`` returns them.

        Args:
            *inputs: the inputs of ``construct`` in order.
            **kwargs: some of them by name; the others become None.

        Raises:
            ValueError: both positional and keyword inputs, or a keyword that ``construct`` does not have; or
                ``enable_dynamic`` has set shapes of ``construct``.
            TypeError: in graph mode, a different number of inputs than ``construct`` takes.
        """
        if inputs and kwargs:
            raise ValueError("For 'set_inputs', give positional inputs or keyword inputs, not both")
        names = list(inspect.signature(self.construct).parameters)
        for name in kwargs:
            if name not in names:
                raise ValueError(f"For 'set_inputs', 'construct' has no input '{name}'; its inputs are {names}")
        if getattr(self.construct, "_declared", None):
            raise ValueError("For 'set_inputs', 'enable_dynamic' has already declared the shapes")
        if graph_mode() and not kwargs:
            try:
                inspect.signature(self.construct).bind(*inputs)
            except TypeError as error:
                raise TypeError(f"For 'set_inputs', 'construct' of '{type(self).__name__}': {error}") from None
        self.__dict__["_inputs"] = tuple(kwargs.get(name) for name in names) if kwargs else inputs
        self.__dict__["_inputs_named"] = tuple(kwargs)

    def get_inputs(self) -> tuple[Any, ...] | None:
        """Return the inputs of ``set_inputs``; None before."""
        return self.__dict__.get("_inputs")

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Make a plan for a call with these inputs, as the first such call in graph mode does; nothing else changes.

        Args:
            *args: the positional inputs.
            **kwargs: the keyword inputs.

        Raises:
            RuntimeError: ``construct`` does not take these inputs.
        """
        graphs().compile_cell(self, args, kwargs)

    def compile_and_run(self, *args: Any, **kwargs: Any) -> Tensor:
        """Call the cell by a plan, in either mode.

        Args:
            *args: the positional inputs.
            **kwargs: the keyword inputs.

        Returns:
            The result of the call.

        Raises:
            RuntimeError: ``construct`` does not take these inputs.
        """
        return graphs().run_cell(self, args, kwargs)

    def run_construct(self, cast_inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the cell; deprecated in MindSpore.

        Args:
            cast_inputs: the positional inputs, a tuple.
            kwargs: the keyword inputs, a dictionary.

        Returns:
            The result of the call.
        """
        return self(*cast_inputs, **kwargs)

    def remove_redundant_parameters(self) -> None:
        """Do nothing except warn once; deprecated in MindSpore, where it does nothing either."""
        _warn_without_effect(
            "Cell.remove_redundant_parameters", "it is deprecated, and does nothing in MindSpore either"
        )

    def get_func_graph_proto(self) -> bytes | None:
        """Return the last compiled graph, for inspection.

        Returns:
            bytes of a ``ModelProto`` of MindSpore's ``train/anf_ir_pb2``; None before one was compiled.
        """
        proto: bytes | None = import_module("..formats.mindir.dump", __package__).func_graph_of(self)
        return proto

    # Stored or rejected for a cluster

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Cell:
        """Set which gradients several ranks reduce together: ``comm_fusion`` of the trainable parameters.

        Args:
            fusion_type: parameters with the same number other than 1 share a separate bucket; 0 is a bucket for each.
            recurse: whether to include the cells below.

        Returns:
            This cell.

        Raises:
            ValueError: ``fusion_type`` is not an int, or is negative.
        """
        if isinstance(fusion_type, bool) or not isinstance(fusion_type, int) or fusion_type < 0:
            raise ValueError(
                f"For 'Cell.set_comm_fusion', 'fusion_type' must be an int of at least 0, but got {fusion_type!r}"
            )
        for parameter in self.trainable_params(recurse):
            parameter.comm_fusion = fusion_type
        return self  # type: ignore[return-value]

    def set_broadcast_flag(self, mode: bool = True) -> Cell:
        """Set whether training of several ranks begins with the first one's parameters, for this cell and all below.

        Args:
            mode: False keeps each rank's own; stored as the flag ``broadcast_flag``.

        Returns:
            This cell.
        """
        return self.add_flags_recursive(broadcast_flag=mode)

    def set_boost(self, boost_type: str) -> Cell:
        """Store the flag ``less_bn`` on this cell and all below, without further effect; warns once.

        Args:
            boost_type: "less_bn".

        Returns:
            This cell.

        Raises:
            ValueError: an unsupported ``boost_type``.
        """
        if boost_type != "less_bn":
            raise ValueError(f"For 'set_boost', 'boost_type' must be \"less_bn\", but got {boost_type!r}")
        _warn_without_effect("Cell.set_boost", "nothing is computed differently; the flag is kept on the cells")
        return self.add_flags_recursive(less_bn=True)

    def set_data_parallel(self) -> None:
        """Do nothing except warn once: it is for modes other than data parallel, in which cells are divided."""
        _warn_without_effect("Cell.set_data_parallel", "cells are not divided among ranks")

    def shard(
        self,
        in_strategy: tuple[Any, ...],
        out_strategy: tuple[Any, ...] | None = None,
        parameter_plan: dict[str, Any] | None = None,
    ) -> None:
        """Do nothing except warn once: the division of cells is for (semi-)automatic parallel modes.

        Args:
            in_strategy: how inputs would be split.
            out_strategy: how outputs would be split.
            parameter_plan: how parameters would be split.

        Raises:
            TypeError: a strategy is not a tuple, or the plan is not a dictionary.
        """
        check_type(in_strategy, tuple, "Cell.shard", "in_strategy")
        check_type(out_strategy, tuple | None, "Cell.shard", "out_strategy")
        check_type(parameter_plan, dict | None, "Cell.shard", "parameter_plan")
        _warn_without_effect("Cell.shard", _PARALLEL)

    def offload(self, backward_prefetch: int | str = "Auto") -> None:
        """Offload the large arrays that the backward pass reads, and fetch them when it needs them.

        Results on the CPU are written to an unlinked file in the folder for temporary files and read through
        memory mapping; results on a GPU are kept in pinned memory of the host. Results are bitwise the same. Parameters
        and arrays with other references stay. After ``recompute`` too, the cell's inputs are offloaded.

        Args:
            backward_prefetch: how many arrays are prefetched while the gradient computes with the previous one,
                an int from 0 on; "Auto" for 1.

        Raises:
            TypeError: ``backward_prefetch`` is neither a str nor an int.
            ValueError: it is an unknown str, or negative.
            OSError: in a call of the cell: the file cannot be written.
        """
        if isinstance(backward_prefetch, bool) or not isinstance(backward_prefetch, int | str):
            raise TypeError(
                f"For 'offload', 'backward_prefetch' must be \"Auto\" or an int from 0 on, "
                f"but got {type(backward_prefetch).__name__}"
            )
        if backward_prefetch != "Auto" and (isinstance(backward_prefetch, str) or backward_prefetch < 0):
            raise ValueError(
                f"For 'offload', 'backward_prefetch' must be \"Auto\" or an int from 0 on, "
                f"but got {backward_prefetch!r}"
            )
        for _, cell in self.cells_and_names():  # cells inside too, so that arrays are offloaded right after use
            cell.__dict__["_offload"] = 1 if isinstance(backward_prefetch, str) else backward_prefetch
            cell._refresh()
