"""Import names of before the packages were divided by subject: ``hookscope.engine.core.taps`` is ``tape.taps`` now.

A finder at the head of sys.meta_path resolves them to the same module objects, so that programs written with the old
names keep working. An old name that a package has now is not in the table.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["install"]

_ENGINE = __name__.rsplit(".", 2)[0]
_ROOT = _ENGINE.rpartition(".")[0]
# (old package, new package): the modules, as OLD=NEW where the last part of the name has changed, too
_MOVED = {
    ("", ""): "graph=compile ranks=distributed serialization=formats",
    ("", "mindspore"): (
        "boost common communication device_context experimental hal jit log mint numpy parallel run_check runtime"
    ),
    ("autograd", "autograd"): "plain_backward=backward steps=backward watched_backward=regions",
    ("base", "base"): "recursion_room=recursion_limit",
    ("core", "autograd"): "function grad marks offloading saved_tensors walk=backward watched_backward=regions",
    ("core", "base"): (
        "absent=absent_names atomic_write checks=argument_checks file_labels later=deferred_checks modes "
        "names=module_names nearest=nearest_name places=code_origin shown=quoting silence=float_warnings surfaces "
        "types"
    ),
    ("core", "nn"): "func_graph",
    ("core", "tape"): "hooks progress recording=tape taps",
    ("core", "tensors"): (
        "backend beside=unrecorded blocks dtype dtype_names generator initializer interchange kinds=type_kinds "
        "nested operator overflow parameter placeholder precision printing random tensor views"
    ),
    ("cpu", "cpu"): "telling=notices",
    ("cpu", "cpu.arrays"): "copying elements masking matmul philox rows scattering segments sparse",
    ("cpu", "cpu.neural"): (
        "activation attention batch_norm convolution cross_entropy dropout layer_norm pooling recurrent softmax "
        "windows winograd"
    ),
    ("cpu", "cpu.optim"): "adam stepping updates",
    ("cpu.compiled", "cpu.compiled"): "words=memory_words",
    ("cpu.compiled", "cpu.compiled.arrays"): "copying products random_numbers scattering statistics",
    ("cpu.compiled", "cpu.compiled.library"): "blas loops philox scalars spans",
    ("cpu.compiled", "cpu.compiled.neural"): (
        "attention batch_norm convolution cross_entropy dropout gates gelu layer_norm pooling rectifiers recurrent "
        "softmax thin_groups winograd"
    ),
    ("cpu.compiled", "cpu.compiled.optim"): "updates",
    ("debug", "debug"): "captures=record comparing=compare pausing=stop",
    ("debug", "debug.compare"): "across_ranks=ranks",
    ("debug", "debug.diagnose"): "checks conditions cures offered_cures",
    ("debug", "debug.record"): "counts newest=newest_values rows tables",
    ("debug", "debug.stop"): "stepping",
    ("debug", "debug.watch"): (
        "hooks newest_session observer own_runs paths taken_roots=roots visits watches watching=attachment"
    ),
    ("debug.captures", "debug.record"): "by_array=array_table capturing=recorder given_up=evicted held=memory",
    ("debug.checks", "debug.diagnose"): (
        "causes condition_pauses examiner figures_by_step findings finiteness looked_for=selection "
        "nonfinite=nonfinite_text producer provenance report session_checks streaks"
    ),
    ("debug.comparing", "debug.compare"): "slopes=finite_differences",
    ("debug.conditions", "debug.diagnose.conditions"): "own=user",
    ("debug.pausing", "debug.stop"): "showing=display",
    ("debug.stop", "debug.stop"): "showing=display",
    ("debug.watch", "debug.watch"): "watching=attachment",
    ("distributed", "distributed"): "together=synchronization",
    ("graph", "compile"): "inputs=declared_inputs",
    ("graph", "compile.guards"): "arguments holding=guards reads=inspection words=memory_words",
    ("graph", "compile.loops"): "buffers gpu_loops scalars=scalar_programs",
    ("graph", "compile.passes"): "early_updates fusion recompute",
    ("graph", "compile.plan"): "following=recorded_calls guarded=guarded_plan",
    ("graph", "compile.trace"): "calls lengths shapes=shape_rules tracer",
    ("graph", "formats"): "mindir onnx",
    ("mint", "mindspore"): "functions=mint",
    ("nn", "nn"): "restoring=snapshots",
    ("nn", "nn.layers"): (
        "activation arrays conv derivatives dropout embedding image_similarity images linear matrices "
        "normalization norms padding pooling rnn special transformer"
    ),
    ("ops", "ops"): "matrices=linalg",
    ("ops", "ops.elementwise"): "arithmetic comparison complexes=complex_numbers elementary exponentials special",
    ("ops", "ops.higher_order"): "composite control hook_backward loops transforms",
    ("ops", "ops.image"): "boxes colors regions resizing",
    ("ops", "ops.indexing"): "gathering lookup scattering sequences sorting",
    ("ops", "ops.legacy"): (
        "drawing_primitives fused_updates looking=side_effects matrix_primitives picked_segments updates value_names"
    ),
    ("ops", "ops.linalg"): "bands diagonals products spectra",
    ("ops", "ops.neural"): (
        "activation adaptive_pooling attention convolution ctc deformable loss normalization pooling recurrent "
        "unpooling"
    ),
    ("ops", "ops.random"): "candidates drawing dropping=dropout",
    ("ops", "ops.reduction"): "statistics",
    ("ops", "ops.shapes"): "creation data_formats joining margins=padding rearranging shape=reshape slicing",
    ("ops", "ops.sparse"): "sparse_matrices=matrices sparse_parts=components sparse_tensors=tensors sparse_unary=unary",
    ("ops.linalg", "ops"): "decompositions=linalg",
    ("ops.sparse", "ops"): "functions=sparse",
    ("ranks", "distributed"): "together=synchronization",
    ("serialization", "formats"): (
        "converting=conversion exporting=export loading=load_checkpoint names=checkpoint_names "
        "saving=save_checkpoint turns=path_locks"
    ),
}
# Likewise below `hookscope`; they are resolved once the engine is imported.
_MOVED_ABOVE = {
    ("kernel", "kernel"): "held_file=descriptor",
    ("kernel", "kernel.alias"): "class_homes",
    ("kernel", "kernel.magics"): "last_call magic_options=options running=cell_body",
    ("kernel", "kernel.pauses"): (
        "answering=message_filter inbox paused_names=completion pausing=pauser pump visible_pause"
    ),
    ("kernel.ranks", "kernel.ranks"): "ending=script_end",
    ("kernel.remote", "kernel.magics"): "magic=rank_magics",
    ("kernel.remote", "kernel.remote"): "attached=attached_run started=child_ranks",
    ("widgets", "widgets"): "kept=saved_widget named=network_check own=panel_view single=view_widgets",
    ("widgets", "widgets.page"): "bundle page_types=message_types",
    ("widgets", "widgets.static_html"): "displays drawings export markup snapshot tables",
    ("widgets.ranks", "widgets.ranks"): "asking=requests forms=static_form shown=declaration standing=status",
    ("widgets.views.captures", "widgets.views.captures"): "pages=static_html",
    ("widgets.views.cells", "widgets.views.cells"): "pages=static_html shared=shared_parts",
    ("widgets.views.findings", "widgets.views.findings"): "found=rows pages=static_html",
    ("widgets.views.hooks", "widgets.views.hooks"): "listed=rows pages=static_html",
    ("widgets.views.parameters", "widgets.views.parameters"): "pages=static_html unusual=update_check",
    ("widgets.views.stepper", "widgets.views.stepper"): "pages=static_html watched=watch_expressions",
}
_NAMES = {
    f"{root}.{old_package}.{old}".replace("..", "."): f"{root}.{new_package}.{new or old}".replace("..", ".")
    for root, table in ((_ENGINE, _MOVED), (_ROOT, _MOVED_ABOVE))
    for (old_package, new_package), names in table.items()
    for old, _, new in (name.partition("=") for name in names.split())
}
_DIVIDED = {f"{_ENGINE}.core"}
"""Packages whose modules went to several packages: an empty package stands for each."""


def _new_name(name: str) -> str | None:
    """Return the new name of a module that has one, or is in a package that has one."""
    package, _, last = name.rpartition(".")
    if name in _NAMES or package == _ROOT or not package:
        return _NAMES.get(name)
    renamed = _new_name(package)
    return renamed and f"{renamed}.{last}"


class _Finder:
    """Finder and loader of the old names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_ROOT) or not (_new_name(fullname) or fullname in _DIVIDED):
            return None
        return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]  # no base class

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of the new name in the place of the empty one, as a module may do while it loads."""
        if new := _new_name(module.__name__):
            sys.modules[module.__name__] = import_module(new)


def install() -> None:
    """Resolve the old names from now on."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # else files below a renamed package would be loaded twice
    for old, new in _NAMES.items():
        package, _, name = old.rpartition(".")
        module = sys.modules.get(new)
        if module and getattr(sys.modules.get(package), name, module) is not module:
            # An import would set the package's attribute, which is something else now: the function ops.shape.
            sys.modules[old] = module
