"""Loop kernels, generated as text for one fused group of operators and compiled by Numba.

A loop computes every element of a group (``graph.FusedLoop``) in one pass: it loads the inputs, computes the steps,
stores the outputs that other nodes use, and accumulates the sums. The text consists of the table's scalar expressions
and of axis numbers alone; it contains no text of the user's. Dimensions are arguments, so that equal groups of other
sizes share the machine code, which is cached on disk under the text's digest.

Adjacent axes that all arrays share are merged. Arrays are contiguous in the order of their axes, or all in the order of
the first that is not (``_Loop.__call__``). Large loops are split into parts fixed by the shapes. A sum over the
innermost axis is accumulated in the elements' dtype over runs of 4096; the sums of the runs are added in float64, part
by part. So the results do not depend on the number of threads.

Without Numba (``HOOKSCOPE_NUMBA=0``) NumPy computes the same steps into reused buffers (``buffers``). On a GPU the loop
is a Triton kernel (``gpu_loops``); without Triton, CuPy computes the same steps.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ...base.reference_counts import BORROWS, NEVER, calibrated
from ...cpu import compiling
from ...cpu.threads import share
from ...tensors.backend import runs_triton
from ..graph import FusedLoop, Store, Value
from .buffers import with_buffers
from .gpu_loops import loop_on_gpu
from .scalar_programs import INFIX, Step

__all__ = ["is_free", "loop", "written_over"]

_SHARED = 1 << 15
"""Minimum number of elements of a loop that is shared among threads."""
_PART = 8192
"""Approximate number of elements of a part."""
_RUN = 4096
_PARTIAL = 1 << 16
"""Maximum total of partial sums over the outermost axis."""

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)


def loop(node: FusedLoop, is_on_gpu: bool = False) -> Callable[..., tuple[Any, ...]]:
    """Return the function that computes a group.

    Args:
        node: the group.
        is_on_gpu: whether its arrays are CuPy's.

    Returns:
        A function of the inputs' arrays that returns a tuple of the outputs' arrays.
    """
    if is_on_gpu:
        cupy = sys.modules["cupy"]
        return loop_on_gpu(node) if runs_triton() else with_buffers(node, cupy)
    if not compiling.is_on():
        return with_buffers(node)
    compiled_loop = _Loop(node)
    return compiled_loop if compiled_loop.whole_index >= 0 else compiled_loop.call


def written_over(node: FusedLoop, last_uses: Sequence[Value]) -> Value | None:
    """Return an input whose array the output can reuse: elements are stored where they were loaded.

    Args:
        node: the group.
        last_uses: values that are not used afterwards.

    Returns:
        the input, or None; also None for a second output of elements, since the input may be reloaded before its store.
    """
    stored = [value for value, store in zip(node.outputs, node.stores, strict=True) if store.axes is None]
    if len(stored) != 1 or not compiling.is_on() or math.prod(node.shape) < _SHARED:
        return None
    (output,) = stored
    for value, varies in zip(node.inputs, node.varies, strict=True):
        varies_in_all = all(is_varying or n == 1 for is_varying, n in zip(varies, node.shape, strict=True))
        if value in last_uses and varies_in_all and value.shape == output.shape and value.dtype == output.dtype:
            return value
    return None


def is_free(array: Any) -> bool:
    """Return whether an array of a plan's variable has no other reference and can be overwritten."""
    base = array.base
    if base is not None:  # a reshaped result is often a view
        if type(base) is not np.ndarray or base.base is not None or sys.getrefcount(base) > _BASE_HERE:
            return False
        if base.nbytes != array.nbytes:
            return False
        owns_data = base.flags.owndata
    else:
        owns_data = type(array) is np.ndarray and array.flags.owndata
    return owns_data and array.flags.writeable and sys.getrefcount(array) <= _HELD_HERE


_HELD_HERE = _BASE_HERE = NEVER
"""Reference count of an array that only a plan's variable references, and of a base that only that array does."""


def _frees(bound: int, box: list[Any]) -> bool:
    global _HELD_HERE
    _HELD_HERE = bound
    array = box.pop()
    return is_free(array)


def _frees_base(bound: int, box: list[Any]) -> bool:
    global _BASE_HERE
    _BASE_HERE = bound
    array = box.pop().reshape(-1, 1)
    return is_free(array)


_HELD_HERE = calibrated(_frees, 1 if BORROWS else 3)
_BASE_HERE = calibrated(_frees_base, 2 if BORROWS else 3) if _HELD_HERE else NEVER


@dataclass(frozen=True)
class _Array:
    """An array of a loop: dtype, number of axes, and the (folded) axes of the loop in which it varies."""

    dtype: np.dtype[Any]
    ndim: int
    varies: tuple[bool, ...]


class _Loop:
    """A group as a function, compiled for arrays in C order, and again for each other order that occurs.

    Attributes:
        call: the function for arrays in C order, which accepts others too.
        whole_index: index of the first input with all axes, more than one of them longer than 1; -1 if there is none.
    """

    def __init__(self, node: FusedLoop) -> None:
        self.node = node
        self._axes = tuple(range(len(node.shape)))
        self._by_order = {self._axes: _CompiledLoop(node, self._axes)}
        self.call = self._by_order[self._axes].call
        has_two_axes = sum(n != 1 for n in node.shape) > 1
        shapes = [value.shape for value in node.inputs]
        self.whole_index = shapes.index(node.shape) if has_two_axes and node.shape in shapes else -1

    def __call__(self, *arrays: Any, into: Any = None) -> tuple[Any, ...]:
        """Compute the group.

        Args:
            *arrays: the inputs.
            into: the input that the output of elements overwrites, or None.

        Returns:
            The outputs, in the memory order of the first input that has all axes.
        """
        if arrays[self.whole_index].flags.c_contiguous:
            return self.call(*arrays) if into is None else self.call(*arrays, into=into)
        return self._ordered(arrays, into)

    def _ordered(self, arrays: tuple[Any, ...], into: Any) -> tuple[Any, ...]:
        node, reference = self.node, arrays[self.whole_index]
        strides = reference.strides
        order = tuple(sorted(self._axes, key=lambda axis: (-abs(strides[axis]), axis)))
        if not reference.transpose(order).flags.c_contiguous:
            order = self._axes
        compiled = self._by_order.get(order)
        if compiled is None:
            compiled = self._by_order[order] = _CompiledLoop(node, order)
        operands = []
        for x, varies in zip(arrays, node.varies, strict=True):
            shape = [n if is_varying else 1 for n, is_varying in zip(node.shape, varies, strict=True)]
            operands.append(compiling.ready(x.reshape(shape).transpose(order)))
            if x is into:
                into = operands[-1]
        results = zip(
            compiled.call(*operands) if into is None else compiled.call(*operands, into=into),
            compiled.back,
            node.outputs,
            strict=True,
        )
        return tuple([x.transpose(axes).reshape(value.shape) for x, axes, value in results])


class _CompiledLoop:
    """The loop for one order of the axes.

    Attributes:
        call: the function. For orders other than C, inputs have all axes of the loop in that order, and outputs those
            that are not summed over.
        back: for each output, the transposition that restores its axes.
    """

    def __init__(self, node: FusedLoop, order: tuple[int, ...]) -> None:
        is_c_order = order == tuple(range(len(order)))
        kept_axes = [[axis for axis in order if axis not in (store.axes or ())] for store in node.stores]
        patterns = [
            *[[varies[axis] for axis in order] for varies in node.varies],
            *[[axis in axes for axis in order] for axes in kept_axes],
        ]
        lengths, folded = _folded([node.shape[axis] for axis in order], patterns)
        shapes = [
            value.shape if is_c_order else tuple([node.shape[axis] for axis in axes])
            for value, axes in zip(node.outputs, kept_axes, strict=True)
        ]
        inputs = [
            _Array(value.dtype, len(value.shape) if is_c_order else len(order), varies)
            for value, varies in zip(node.inputs, folded, strict=False)
        ]
        outputs = [
            _Array(value.dtype, len(shape), varies)
            for value, shape, varies in zip(node.outputs, shapes, folded[len(inputs) :], strict=True)
        ]
        self.back = [tuple([axes.index(axis) for axis in sorted(axes)]) for axes in kept_axes]
        self.call = _function(node, lengths, inputs, outputs, shapes)


def _folded(lengths: list[int], patterns: list[list[bool]]) -> tuple[tuple[int, ...], list[tuple[bool, ...]]]:
    """Drop axes of length 1, and merge adjacent axes that all arrays treat alike."""
    axes: list[list[Any]] = []  # length, and for each array whether it varies
    for axis, length in enumerate(lengths):
        if length == 1:
            continue
        column = [pattern[axis] for pattern in patterns]
        if axes and axes[-1][1] == column:
            axes[-1][0] *= length
        else:
            axes.append([length, column])
    if not axes:
        axes.append([1, [True] * len(patterns)])
    return tuple([length for length, _ in axes]), [
        tuple([column[index] for _, column in axes]) for index in range(len(patterns))
    ]


def _parts(lengths: tuple[int, ...], outputs: list[_Array], stores: tuple[Store, ...]) -> tuple[int, int]:
    """Return the number of parts along the outermost axis, and the number of its entries in each."""
    total = math.prod(lengths)
    if total < _SHARED:
        return 1, lengths[0]
    step = max(1, _PART * lengths[0] // total)
    # Sums over the outermost axis are first added per part; the partial sums should be few compared with the inputs.
    for output, store in zip(outputs, stores, strict=True):
        if store.axes is not None and not output.varies[0]:
            size = _size_of_axes(lengths, output.varies)
            step = max(step, -(-lengths[0] * size // _PARTIAL), -(-lengths[0] * 4 * size // total))
    return -(-lengths[0] // step), step


def _size_of_axes(lengths: tuple[int, ...], varies: tuple[bool, ...]) -> int:
    return math.prod([n for n, is_varying in zip(lengths, varies, strict=True) if is_varying])


def _function(
    node: FusedLoop,
    lengths: tuple[int, ...],
    inputs: list[_Array],
    outputs: list[_Array],
    shapes: list[tuple[int, ...]],
) -> Callable[..., tuple[Any, ...]]:
    parts, step = _parts(lengths, outputs, node.stores)
    sizes = np.array([*lengths, step], np.int64)
    sizes.flags.writeable = False
    shared = parts > 1
    kernel = _kernel(node.steps, node.stores, len(lengths), inputs, outputs, shared)
    empty, specs = np.empty, list(zip(shapes, [value.dtype for value in node.outputs], strict=True))
    if not shared:
        return _small(kernel, sizes, len(inputs), specs)
    sums = [
        None
        if store.axes is None
        else (
            (1 if output.varies[0] else parts, _size_of_axes(lengths, output.varies)),
            _FLOAT64 if output.dtype.kind == "f" else _INT64,
            _size_of_axes(lengths, tuple([not is_varying for is_varying in output.varies])) if store.is_mean else 0,
        )
        for output, store in zip(outputs, node.stores, strict=True)
    ]

    def large(*arrays: Any, into: Any = None) -> tuple[Any, ...]:
        if into is not None and not into.flags.c_contiguous:
            into = None
        results = [
            np.zeros(partial[0], partial[1]) if partial is not None else empty(shape, dtype) if into is None else into
            for (shape, dtype), partial in zip(specs, sums, strict=True)
        ]
        try:
            share(kernel, parts, sizes, *arrays, *results)
        except TypeError:  # raised by the loop: an array has another layout than compiled
            share(kernel, parts, sizes, *[compiling.ready(x) for x in arrays], *results)
        for index, partial in enumerate(sums):
            if partial is not None:
                total = results[index].sum(axis=0)
                if partial[2]:
                    total = total / partial[2]
                shape, dtype = specs[index]
                results[index] = total.astype(dtype).reshape(shape)
        return tuple(results)

    return large


def _small(
    kernel: Any, sizes: Any, inputs: int, outputs: list[tuple[tuple[int, ...], np.dtype[Any]]]
) -> Callable[..., tuple[Any, ...]]:
    """Return a function, generated as text, that allocates the outputs and calls an unshared loop.

    A packed argument would cost as much as some elements.
    """
    input_names, output_names = [f"x{k}" for k in range(inputs)], [f"y{k}" for k in range(len(outputs))]
    names: dict[str, Any] = {"kernel": kernel, "sizes": sizes, "empty": np.empty, "ready": compiling.ready}
    lines = [f"def small({', '.join(input_names)}):"]
    for name, (shape, dtype) in zip(output_names, outputs, strict=True):
        names[f"of_{name}"] = dtype
        lines.append(f"    {name} = empty({shape!r}, of_{name})")
    lines += [
        "    try:",
        f"        kernel({', '.join(['sizes', *input_names, *output_names])})",
        "    except TypeError:",  # raised by Numba: an array has another layout than compiled
        f"        kernel({', '.join(['sizes', *[f'ready({x})' for x in input_names], *output_names])})",
        f"    return {', '.join(output_names)},",
    ]
    exec("\n".join(lines), names)  # contains only numbers of arrays and axes
    function: Callable[..., tuple[Any, ...]] = names["small"]
    return function


_compiled: dict[str, Any] = {}


def _kernel(
    steps: tuple[Step, ...],
    stores: tuple[Store, ...],
    axes: int,
    inputs: list[_Array],
    outputs: list[_Array],
    shared: bool,
) -> Any:
    """Return the compiled function of sizes, inputs and outputs; if shared, ``first`` and ``stop`` precede these."""
    text = _Text(steps, stores, axes, inputs, outputs, shared).text()
    digest = hashlib.sha256(repr((text, inputs, outputs)).encode()).hexdigest()[:24]
    compiled = _compiled.get(digest)
    if compiled is None:
        compiled = _compiled[digest] = _compile(text, digest, inputs, outputs, stores, shared)
    return compiled


def _compile(
    text: str, digest: str, inputs: list[_Array], outputs: list[_Array], stores: tuple[Store, ...], shared: bool
) -> Any:
    """Compile the text, or load it from the disk cache."""
    return compiling.generated(
        "scalars", digest, lambda: _entry(text, f"loop_{digest}", inputs, outputs, stores, shared)
    )


def _entry(
    text: str, name: str, inputs: list[_Array], outputs: list[_Array], stores: tuple[Store, ...], shared: bool
) -> Any:
    """Return the function to compile."""
    package = f"{compiling.__package__}.compiled"
    scalars, loops, building = (
        import_module(f"{package}.{file}") for file in ("library.scalars", "library.loops", "_building")
    )
    types = scalars.types
    element = {"float32": types.float32, "float64": types.float64, "bool": types.boolean}

    def kind(dtype: np.dtype[Any]) -> Any:
        return element.get(dtype.name) or getattr(types, dtype.name)

    names: dict[str, Any] = {
        **{dtype: getattr(types, dtype) for dtype in _NUMBERS},
        "inf": math.inf,
        "nan": math.nan,
        "np": np,
        "__name__": scalars.__name__,
        **{name: getattr(scalars, name) for name in scalars.__all__},
        **{f"{name}_double": function for name, function in scalars.double.items()},
        **{f"{name}_single": function for name, function in {**scalars.double, **scalars.single}.items()},
    }
    # The text consists of the table's own expressions alone.
    exec(compile(text.replace("def loop(", f"def {name}(", 1), str(scalars.__file__), "exec"), names)
    sizes = types.Array(types.int64, 1, "C", readonly=True)
    input_types = [types.Array(kind(x.dtype), x.ndim, "C", readonly=True) for x in inputs]
    output_types = []
    for x, store in zip(outputs, stores, strict=True):
        if shared and store.axes is not None:
            output_types.append(types.Array(types.float64 if x.dtype.kind == "f" else types.int64, 2, "C"))
        else:
            output_types.append(types.Array(kind(x.dtype), x.ndim, "C"))
    if shared:
        return loops.kernel(sizes, *input_types, *output_types, fastmath=frozenset())(names[name])
    return building.function(types.void(sizes, *input_types, *output_types))(names[name])


_NUMBERS = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

_OPERATIONS = {
    **INFIX,
    "div": "{} / {}",
    "pow": "{} ** {}",
    "neg": "-{}",
    "abs": "abs({})",
    "where": "choose({}, {}, {})",
}
_WITHOUT_SUFFIX = {"sqrt": "root", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint"}
_LIBRARY = {"atan2": "np.arctan2", "hypot": "np.hypot"}


class _Text:
    """Writer of a loop as Python for Numba."""

    def __init__(
        self,
        steps: tuple[Step, ...],
        stores: tuple[Store, ...],
        axes: int,
        inputs: list[_Array],
        outputs: list[_Array],
        shared: bool,
    ) -> None:
        self.steps, self.stores, self.axes = steps, stores, axes
        self.inputs, self.outputs, self.shared = inputs, outputs, shared
        self.lines: list[str] = []

    def text(self) -> str:
        """Return the source text of the function."""
        arrays = [f"x{k}" for k in range(len(self.inputs))] + [f"y{k}" for k in range(len(self.outputs))]
        self._write(0, f"def loop({'first, stop, ' if self.shared else ''}sizes, {', '.join(arrays)}):")
        for axis in range(self.axes):
            self._write(1, f"n{axis} = sizes[{axis}]")
        self._write(1, f"step = sizes[{self.axes}]")
        for k in range(len(self.inputs)):
            self._write(1, f"p{k} = pointer(x{k})")
        for k, (output, store) in enumerate(zip(self.outputs, self.stores, strict=True)):
            if store.axes is None:
                self._write(1, f"q{k} = pointer(y{k})")
            else:
                self._write(1, f"kept{k} = {self._product(output.varies, -1)}")
                if not self.shared:
                    self._write(1, f"memory{k} = take(8 * kept{k})")
                    self._write(1, f"sums{k} = {self._wide(output)}_at(memory{k}, kept{k})")
                    self._write(1, f"for i in range(kept{k}):")
                    self._write(2, f"sums{k}[i] = 0")
                self._write(1, f"q{k} = pointer({f'y{k}' if self.shared else f'sums{k}'})")
        depth = 1
        if self.shared:
            self._write(depth, "for part in range(first, stop):")
            depth += 1
            self._write(depth, "start = part * step")
            self._write(depth, "end = min(start + step, n0)")
        else:
            self._write(depth, "start = 0")
            self._write(depth, "end = n0")
        self._loops(depth)
        if not self.shared:
            self._finish()
        return "\n".join(self.lines) + "\n"

    def _write(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def _product(self, varies: tuple[bool, ...], axis: int) -> str:
        """Return the stride of an axis, in elements."""
        return " * ".join([f"n{k}" for k in range(axis + 1, self.axes) if varies[k]]) or "1"

    def _offset(self, varies: tuple[bool, ...]) -> str:
        """Return the offset of a run's first element."""
        terms = [
            f"i{axis} * ({self._product(varies, axis)})" if self._product(varies, axis) != "1" else f"i{axis}"
            for axis in range(self.axes - 1)
            if varies[axis]
        ]
        return " + ".join(terms) or "0"

    def _wide(self, array: _Array) -> str:
        return "float64" if array.dtype.kind == "f" else "int64"

    def _loops(self, depth: int) -> None:
        last_axis = self.axes - 1
        for axis in range(last_axis):
            bounds = "start, end" if axis == 0 else f"0, n{axis}"
            self._write(depth, f"for i{axis} in range({bounds}):")
            depth += 1
        for k, x in enumerate(self.inputs):
            self._write(depth, f"a{k} = {self._offset(x.varies)}")
        for k, (output, store) in enumerate(zip(self.outputs, self.stores, strict=True)):
            offset = self._offset(output.varies)
            if store.axes is not None and self.shared and not output.varies[0]:
                offset += f" + part * kept{k}"
            self._write(depth, f"b{k} = {offset}")
        begin, stop = ("start", "end") if last_axis == 0 else ("0", f"n{last_axis}")
        totals = [
            k
            for k, (output, store) in enumerate(zip(self.outputs, self.stores, strict=True))
            if store.axes is not None and not output.varies[last_axis]
        ]
        if totals:
            self._write(depth, f"for run in range({begin}, {stop}, {_RUN}):")
            depth += 1
            begin, stop = "run", f"min(run + {_RUN}, {stop})"
            for k in totals:
                self._write(depth, f"total{k} = {self._total(k)}(0)")
        inside = self._inside(last_axis)
        lines = [f"t{offset} = {self._step(step)}" for offset, step in enumerate(self.steps)]
        for line, is_inside in zip(lines, inside, strict=True):
            if not is_inside:
                self._write(depth, line)
        self._write(depth, f"for i in range({begin}, {stop}):")
        for line, is_inside in zip(lines, inside, strict=True):
            if is_inside:
                self._write(depth + 1, line)
        count = len(self.outputs)
        for k, (output, store) in enumerate(zip(self.outputs, self.stores, strict=True)):
            marks = f"{k + 1}, {count}"
            if store.axes is None:
                self._write(depth + 1, f"put(q{k}, b{k} + i, t{store.step}, {marks})")
            elif k in totals:
                self._write(depth + 1, f"total{k} = summed(total{k}, {self._total(k)}(t{store.step}))")
            else:
                value = f"fetch(q{k}, b{k} + i, {marks}) + {self._wide(output)}(t{store.step})"
                self._write(depth + 1, f"put(q{k}, b{k} + i, {value}, {marks})")
        for k in totals:
            marks = f"{k + 1}, {count}"
            value = f"fetch(q{k}, b{k}, {marks}) + {self._wide(self.outputs[k])}(total{k})"
            self._write(depth, f"put(q{k}, b{k}, {value}, {marks})")

    def _total(self, k: int) -> str:
        """Return the dtype of a run's sum."""
        dtype = self.outputs[k].dtype
        return dtype.name if dtype.kind == "f" else "int64"

    def _inside(self, last: int) -> list[bool]:
        """Return for each step whether its value varies along the innermost axis."""
        flags: list[bool] = []
        for name, _, *operands in self.steps:
            if name == "const":
                flags.append(False)
            elif name == "input":
                flags.append(self.inputs[operands[0]].varies[last])
            else:
                flags.append(any(flags[operand] for operand in operands))
        return flags

    def _step(self, step: Step) -> str:
        name, dtype, *operands = step
        if name == "const":
            return repr(operands[0]) if dtype.kind == "b" else f"{dtype.name}({operands[0]!r})"
        if name == "input":
            (k,) = operands
            varies = self.inputs[k].varies
            return f"fetch(p{k}, a{k}{' + i' if varies[self.axes - 1] else ''}, 0, {len(self.outputs)})"
        arguments = [f"t{operand}" for operand in operands]
        if name == "cast":
            return f"{dtype.name}({arguments[0]})"
        if name in ("max", "min"):
            sign, (a, b) = ">" if name == "max" else "<", arguments
            nan = f"({a} {sign} {b}) | ({a} != {a})" if dtype.kind == "f" else f"{a} {sign} {b}"
            return f"choose({nan}, {a}, {b})"
        if name in _OPERATIONS:
            text = _OPERATIONS[name].format(*arguments)
            narrow = dtype.kind in "iu" and name != "where"  # Numba widens integers
            return f"{dtype.name}({text})" if narrow else text
        if name in _WITHOUT_SUFFIX:
            return f"{_WITHOUT_SUFFIX[name]}({arguments[0]})"
        if name in _LIBRARY:
            return f"{_LIBRARY[name]}({', '.join(arguments)})"
        return f"{name}_{'single' if dtype == np.float32 else 'double'}({arguments[0]})"

    def _finish(self) -> None:
        """Write the code that stores the sums in the outputs."""
        for k, (output, store) in enumerate(zip(self.outputs, self.stores, strict=True)):
            if store.axes is None:
                continue
            value = f"sums{k}[i]"
            if store.is_mean:
                summed = " * ".join([f"n{axis}" for axis in range(self.axes) if not output.varies[axis]]) or "1"
                value = f"{value} / ({summed})"
            self._write(1, f"r{k} = pointer(y{k})")
            self._write(1, f"for i in range(kept{k}):")
            self._write(2, f"put(r{k}, i, {output.dtype.name}({value}), {k + 1}, {len(self.outputs)})")
            self._write(1, f"give_back(memory{k})")
