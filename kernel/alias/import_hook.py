"""Alias that makes `import mindspore` give Hookscope's engine.

A finder at the head of sys.meta_path resolves `mindspore` and everything below it from one table. An aliased import
binds the engine's own module object under a second name in sys.modules; the module is neither copied nor changed, so
`mindspore.nn is hookscope.engine.nn`. Only the `__module__` of its classes is MindSpore's (`class_homes.py`), and
`type(x)` prints `mindspore.common.tensor.Tensor`. `inspect` still finds their source. The engine is imported on first
use.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .class_homes import HOMES

ROOT = "mindspore"
ENGINE = "hookscope.engine"

# Name below mindspore -> name below hookscope.engine. MindSpore exports many of its names from several modules.
TABLE: dict[str, str] = {
    "": "",
    "_c_expression": "mindspore.common.c_expression",
    "_c_expression.typing": "tensors.dtype",
    "common": "mindspore.common",
    "common._grad_function": "autograd.function",
    "common.api": "mindspore.common.api",
    "common.dtype": "tensors.dtype",
    "common.dynamic_shape": "mindspore.common.api",
    "common.dynamic_shape.auto_dynamic_shape": "mindspore.jit",
    "common.dynamic_shape.enable_dynamic": "mindspore.jit",
    "common.generator": "tensors.generator",
    "common.hook_handle": "tape.hooks",
    "common.initializer": "tensors.initializer",
    "common.jit_config": "mindspore.jit",
    "common.lazy_inline": "mindspore.jit",
    "common.mutable": "mindspore.jit",
    "common.no_inline": "mindspore.jit",
    "common.np_dtype": "mindspore.common.np_dtype",
    "common.parameter": "tensors.parameter",
    "common.recompute": "nn.recompute",
    "common.seed": "tensors.random",
    "common.sparse_tensor": "ops.sparse.tensors",
    "common.symbol": "tensors.placeholder",
    "common.tensor": "tensors.tensor",
    "context": "context",
    "default_config": "",
    "device_manager": "context",
    "graph": "mindspore.common.api",
    "graph.api": "mindspore.common.api",
    "graph.dynamic_shape.auto_dynamic_shape": "mindspore.jit",
    "graph.dynamic_shape.enable_dynamic": "mindspore.jit",
    "graph.jit_begin_end": "mindspore.jit",
    "graph.jit_config": "mindspore.jit",
    "graph.jit_context": "mindspore.jit",
    "graph.jit_trace": "mindspore.jit",
    "graph.lazy_inline": "mindspore.jit",
    "graph.mutable": "mindspore.jit",
    "graph.no_inline": "mindspore.jit",
    "graph.symbol": "tensors.placeholder",
    "nn": "nn",
    "nn.cell": "nn.cell",
    "nn.dynamic_lr": "nn.dynamic_lr",
    "nn.grad": "nn",
    "nn.layer": "nn",
    "nn.learning_rate_schedule": "nn.learning_rate_schedule",
    "nn.loss": "nn.loss",
    "nn.metrics": "train.metrics",
    "nn.optim": "nn.optim",
    "nn.optim.optimizer": "nn.optim.optimizer",
    "nn.probability": "nn.probability",
    "nn.probability.bijector": "nn.probability.bijector",
    "nn.probability.distribution": "nn.probability.distribution",
    "nn.sparse": "nn",
    "nn.utils": "nn.utils",
    "nn.wrap": "nn.wrap",
    "ops": "ops",
    "ops.auto_generate": "ops",
    "ops.communication": "ops.communication",
    "ops.composite": "ops.higher_order.composite",
    "ops.function": "ops",
    "ops.function.comm_func": "mindspore.communication.in_place",
    "ops.functional": "ops",
    "ops.deprecated": "ops.primitives",
    "ops.functional_overload": "mindspore.mint",
    "ops.operations": "ops.primitives",
    "ops.primitive": "ops.primitives",
    "amp": "amp",
    "boost": "mindspore.boost",
    "boost.grad_accumulation": "mindspore.boost",
    "communication": "mindspore.communication",
    "communication.comm_func": "mindspore.communication.comm_func",
    "dataset": "dataset",
    "dataset.callback": "dataset.callback",
    "dataset.config": "dataset.config",
    "dataset.core": "dataset",
    "dataset.core.config": "dataset.config",
    "dataset.engine": "dataset",
    "dataset.text": "dataset.text",
    "dataset.transforms": "dataset.transforms",
    "dataset.vision": "dataset.vision",
    "device_context": "mindspore.device_context",
    "device_context.ascend": "mindspore.device_context.ascend",
    "device_context.cpu": "mindspore.device_context.cpu",
    "device_context.gpu": "mindspore.device_context.gpu",
    "experimental": "mindspore.experimental",
    "experimental.optim": "mindspore.experimental.optim",
    "experimental.optim.lr_scheduler": "mindspore.experimental.optim.lr_scheduler",
    "experimental.optim.optimizer": "mindspore.experimental.optim.optimizer",
    "hal": "mindspore.hal",
    "log": "mindspore.log",
    "mint": "mindspore.mint",
    "mint.distributed": "mindspore.mint.distributed",
    "mint.linalg": "mindspore.mint.linalg",
    "mint.nn": "mindspore.mint.nn",
    "mint.nn.functional": "mindspore.mint.nn.functional",
    "mint.nn.layer": "mindspore.mint.nn",
    "mint.optim": "mindspore.mint.optim",
    "mint.special": "mindspore.mint.special",
    "numpy": "mindspore.numpy",
    "numpy.fft": "mindspore.numpy.fft",
    "parallel": "mindspore.parallel",
    "parallel.auto_parallel": "mindspore.parallel",
    "parallel.nn": "nn.wrap",
    "run_check": "mindspore.run_check",
    "runtime": "mindspore.runtime",
    "tools": "context",
    "train": "train",
    "train.amp": "amp",
    "train.callback": "train.callback",
    "train.loss_scale_manager": "train.loss_scale",
    "train.metrics": "train.metrics",
    "train.model": "train.model",
    "train.serialization": "formats",
    "train.summary": "train.summary",
    "utils": "",
    "version": "",
}
# Row of the table above -> the files that MindSpore splits it into; each of them is an alias of the complete module.
_DIVIDED = {
    "common": "device dump file_system jit_begin_end jit_context jit_trace mindir_util storage",
    "communication": "_comm_helper management",
    "dataset": "debug debug.debug_hook debug.pre_defined_hook utils utils.browse_dataset utils.line_reader",
    "dataset.callback": "ds_callback",
    "dataset.engine": "cache_client datasets datasets_audio datasets_standard_format datasets_text "
    "datasets_user_defined datasets_vision iterators samplers",
    "dataset.text": "transforms utils",
    "dataset.transforms": "transforms",
    "dataset.vision": "transforms utils",
    "device_context.ascend": "device op_debug op_precision op_tuning",
    "device_context.cpu": "device op_tuning",
    "device_context.gpu": "device op_precision op_tuning",
    "experimental.optim": "adadelta adagrad adam adamax adamw asgd nadam radam rmsprop rprop sgd",
    "experimental": "map_parameter",
    "graph": "custom_backend custom_infer custom_pass dynamic_shape",
    "hal": "contiguous_tensors_handle device event memory stream",
    "mint.distributed": "distributed",
    "mint.nn.layer": "activation basic conv normalization padding pooling",
    "mint.optim": "adam adamw fused_adamw sgd",
    "nn.grad": "cell_grad",
    "nn.layer": "activation basic channel_shuffle combined container conv dense embedding image math normalization "
    "padding pooling rnn_cells rnns thor_layer timedistributed transformer",
    "nn.loss": "loss",
    "nn.optim": "ada_grad adadelta adafactor adam adamax adasum asgd ftrl lamb lars lazyadam momentum "
    "proximal_ada_grad rmsprop rprop sgd tft_wrapper thor",
    "nn.probability.bijector": "bijector exp gumbel_cdf invert power_transform scalar_affine softplus",
    "nn.probability.distribution": "bernoulli beta categorical cauchy distribution exponential gamma geometric gumbel "
    "half_normal laplace log_normal logistic normal poisson student_t transformed_distribution uniform",
    "nn.sparse": "sparse",
    "nn.utils": "init",
    "nn.wrap": "cell_wrapper grad_reducer loss_scale",
    "numpy": "array_creations array_ops dtypes logic_ops math_ops utils utils_const",
    "ops": "op_info_register signature vm_impl_registry",
    "ops.auto_generate": "gen_extend_func gen_ops_def gen_ops_prim",
    "ops.composite": "base multitype_ops",
    "ops.function": "array_func clip_func debug_func fft_func grad grad.grad_func image_func linalg_func math_func "
    "nn_func other_func parameter_func random_func reshard_func sparse_func sparse_unary_func spectral_func vmap_func",
    "ops.operations": "_embedding_cache_ops _sequence_ops array_ops comm_ops control_ops custom_ops debug_ops "
    "image_ops inner_ops linalg_ops manually_defined manually_defined._inner manually_defined.ops_def math_ops "
    "nn_ops other_ops random_ops reshard_ops sparse_ops spectral_ops",
    "parallel": "algo_parameter_config checkpoint_convert checkpoint_transform data_access_adapter distributed "
    "distributed.distributed_data_parallel distributed.flatten_grad_buffer function function.reshard_func "
    "parameter_broadcast shard strategy transform_safetensors",
    "parallel.nn": "parallel_cell_wrapper parallel_grad_reducer",
    "run_check": "run_check",
    "runtime": "device device_limit event executor memory stream stream_limit",
    "tools": "data_dump sdc_detect stress_detect",
    "train": "data_sink dataset_helper",
    "train.callback": "_backup_and_restore _callback _checkpoint _early_stop _history _lambda_callback _loss_monitor "
    "_lr_scheduler_callback _on_request_exit _reduce_lr_on_plateau _summary_collector _time_monitor",
    "train.metrics": "accuracy auc bleu_score confusion_matrix cosine_similarity dice error fbeta hausdorff_distance "
    "loss mean_surface_distance metric occlusion_sensitivity perplexity precision recall roc "
    "root_mean_square_surface_distance topk",
    "train.summary": "summary_record",
    "utils": "dlpack ms_dispatch runtime_execution_order_check sdc_detect stress_detect utils",
}
TABLE |= {f"{row}.{file}": TABLE[row] for row, files in _DIVIDED.items() for file in files.split()}
# Functions of mindspore.common until a program imports the modules of the same names, which then replace them, as in
# Python.
BOTH = frozenset(("common.lazy_inline", "common.mutable", "common.no_inline"))
# Packages that are imported on first use, each with everything below it.
LAZY_PACKAGES = frozenset(
    (
        "amp",
        "communication",
        "dataset",
        "device_context",
        "experimental",
        "hal",
        "log",
        "mint",
        "nn.metrics",
        "nn.probability",
        "numpy",
        "parallel",
        "runtime",
        "train",
    )
)


def mindspore_is_installed() -> bool:
    """Return whether the real MindSpore could be imported, without importing it."""
    if _loaded_mindspore() is not None:
        return True
    spec = PathFinder.find_spec(ROOT)
    # A folder that happens to be called mindspore has a spec too, but no origin.
    return spec is not None and spec.origin is not None


def install_as_mindspore() -> None:
    """Make `import mindspore` give Hookscope's engine from now on; repeated calls have no effect."""
    real = _loaded_mindspore()
    if real is not None:
        raise ImportError(
            f"hookscope cannot stand in for mindspore: MindSpore {getattr(real, '__version__', 'itself')} is "
            "already imported. Restart Python and install the alias before the first `import mindspore`.",
            name=ROOT,
        )
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())


def uninstall() -> None:
    """Remove the alias: a later `import mindspore` finds the installed package."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _AliasFinder)]
    if _loaded_mindspore() is None:
        _names.take_back()
        for name in [name for name in sys.modules if name == ROOT or name.startswith(ROOT + ".")]:
            del sys.modules[name]


def _loaded_mindspore() -> ModuleType | None:
    """Return the real MindSpore, if it has been imported."""
    module = sys.modules.get(ROOT)
    return None if module is None or module is sys.modules.get(ENGINE) else module


def _bind(room: str | None) -> None:
    """Bind the engine's modules in sys.modules under their aliases: a package of ``LAZY_PACKAGES``, or all others.

    They are bound together on first use. An ordinary import of each would set it as an attribute of its parent,
    replacing the engine's attribute: `mindspore.common.initializer` is both a function and a module.
    """
    for row in sorted(TABLE):  # a package before its contents
        if _room(row) != room or row in BOTH:
            continue
        alias = f"{ROOT}.{row}".rstrip(".")
        sys.modules[alias] = import_module(f"{ENGINE}.{TABLE[row]}".rstrip("."))
        parent, _, child = alias.rpartition(".")
        if parent and not hasattr(sys.modules[parent], child):
            setattr(sys.modules[parent], child, sys.modules[alias])
    _names.give()
    for row in sorted(TABLE):
        if _room(row) == room and row not in BOTH:
            _names.rename_rest(f"{ROOT}.{row}".rstrip("."))


class _Names:
    """Classes whose ``__module__`` is replaced by MindSpore's, with their original values."""

    def __init__(self) -> None:
        self.before: dict[type, str] = {}
        self._waiting: list[tuple[str, str, str]] = []
        self._getfile = inspect.getfile

    def give(self) -> None:
        """Rename the classes that are loaded by now; the others when their module is first used."""
        from hookscope.engine.base import module_names as names

        if not self.before:
            self._waiting = [(home, *_class_home(home, name)) for home, row in HOMES.items() for name in row.split()]
            names.loaded.append(self.give)
            inspect.getfile = self._written_in
        waiting, self._waiting = self._waiting, []
        for home, module, name in waiting:
            candidate = vars(sys.modules[module]).get(name) if module in sys.modules else None
            if not isinstance(candidate, type):
                self._waiting.append((home, module, name))
            elif candidate not in self.before and candidate.__module__.startswith(ENGINE):
                self._rename(candidate, f"{ROOT}.{home}")

    def rename_rest(self, alias: str) -> None:
        """Rename the remaining classes of the module behind an alias to that alias."""
        module = sys.modules[alias]
        for member in list(vars(module).values()):
            if isinstance(member, type) and member.__module__ == module.__name__:
                self._rename(member, alias)

    def _rename(self, cls: type, module: str) -> None:
        self.before[cls] = cls.__module__
        _set_module(cls, module)

    def take_back(self) -> None:
        """Restore each class's original ``__module__``."""
        from hookscope.engine.base import module_names as names

        if self.before:
            names.loaded.remove(self.give)
            inspect.getfile = self._getfile
        for renamed, module in self.before.items():
            _set_module(renamed, module)
        self.before = {}

    def _written_in(self, object: Any) -> str:
        """Return the file of an object as `inspect.getfile` would before the renaming, so that sources are found."""
        module = self.before.get(object) if isinstance(object, type) else None
        return self._getfile(object if module is None else sys.modules[module])


def _set_module(cls: type, module: str) -> None:
    """Set a class's ``__module__`` and keep its ``__firstlineno__``.

    Python 3.13 deletes that on assignment, and `inspect.getsource` needs it."""
    line = vars(cls).get("__firstlineno__")
    cls.__module__ = module
    if line is not None:
        cls.__firstlineno__ = line  # type: ignore[attr-defined]


_names = _Names()


def _class_home(home: str, name: str) -> tuple[str, str]:
    """Return the engine's module that has a class of ``HOMES``, and the class's name there."""
    row, _, name = name.rpartition(":")
    row = row or home
    while row not in TABLE:
        row = row.rpartition(".")[0]
    return f"{ENGINE}.{TABLE[row]}".rstrip("."), name


def _room(row: str) -> str | None:
    """Return the package of ``LAZY_PACKAGES`` that contains a row of the table."""
    return next((package for package in LAZY_PACKAGES if f"{row}.".startswith(f"{package}.")), None)


class _AliasFinder(MetaPathFinder):
    """Finder for every name below mindspore; it raises for unknown ones, since engine files must not load twice."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != ROOT and not fullname.startswith(ROOT + "."):
            return None
        names = [f"{ROOT}.{row}".rstrip(".") for row in TABLE]
        if fullname not in names:
            from hookscope.engine.base.absent_names import check_module
            from hookscope.engine.base.nearest_name import suggestion

            check_module(fullname)
            raise ModuleNotFoundError(
                f"hookscope, which stands in for mindspore here, has no module {fullname!r}"
                f"{suggestion(fullname, names)}",
                name=fullname,
            )
        return ModuleSpec(fullname, _AliasLoader(), is_package=True)


class _AliasLoader(Loader):
    """Loader that replaces the new, empty module by the engine's, as a module may do while it loads.

    Returning it from `create_module` instead would overwrite its `__spec__`.
    """

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        row = module.__name__.partition(".")[2]
        if row in BOTH:
            sys.modules[module.__name__] = import_module(f"{ENGINE}.{TABLE[row]}")
        else:
            _bind(_room(row))
