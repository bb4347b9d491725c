"""Loop kernels for GPU arrays, generated as text for one fused group of operators and compiled by Triton.

As on a CPU (``cpu_loops``), the text consists of the table's scalar expressions and of axis numbers alone; it contains
no text of the user's. Dimensions and strides are arguments, so that equal groups of other sizes share the machine code,
which Triton caches on disk. A loop reads its inputs by their strides, without copying broadcast ones. Outputs have the
memory order of the first input that has all axes, if that is contiguous in some order.

A group is one kernel, which stores the elements and accumulates the sums over one set of axes. Sums over other axes are
a kernel each, which recomputes its summands. A program sums a tile at a time: each tile as a tree of at most 1024
numbers in float32, the tiles in float64. Maxima and minima involve no rounding. If sums are few and long, programs
split each into parts fixed by the shapes, which ``add_parts`` adds up. The result does not depend on the order in which
programs run.

Half precision is computed in float32 and rounded at each operator's result.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .... import triton_kernels
from ..graph import FusedLoop, Store
from .scalar_programs import FUNCTIONS, INFIX, Step, is_half

__all__ = ["loop_on_gpu", "planned"]

_TILE = 1024
_COLUMNS = 64
"""Maximum number of sums of a program if the innermost axis is not summed over."""
_PROGRAMS, _LEAST_TILES = 512, 4
"""Target number of programs: sums that yield fewer are split, with at least this many tiles per part."""
_MOST_LAYOUTS = 32
"""Maximum number of input layouts for which a loop caches its plan."""
_MANY_STEPS = 100
"""Number of steps from which a program computes fewer elements, so that they stay in registers."""


def loop_on_gpu(node: FusedLoop) -> Callable[..., tuple[Any, ...]]:
    """Return the function that computes a group.

    Args:
        node: the group.

    Returns:
        A function of the inputs' arrays that returns a tuple of the outputs' arrays.
    """
    by_layout: dict[tuple[tuple[int, ...], ...], triton_kernels.Plan] = {}

    def loop(*arrays: Any) -> tuple[Any, ...]:
        layout = tuple([x.strides for x in arrays])
        plan = by_layout.get(layout)
        if plan is None:
            if len(by_layout) >= _MOST_LAYOUTS:
                by_layout.clear()
            plan = by_layout[layout] = planned(node, arrays)
        return cast(tuple[Any, ...], plan.run(*arrays))

    return loop


def planned(node: FusedLoop, arrays: Sequence[Any]) -> triton_kernels.Plan:
    """Return the plan that computes a group whose inputs have these layouts.

    Args:
        node: the group.
        arrays: the inputs; their numbers are not read.
    """
    call = triton_kernels.Planner(len(arrays))
    operands = [triton_kernels.as_input(index, x) for index, x in enumerate(arrays)]
    return triton_kernels.Plan(call, _GroupLayout(node, call, operands).gives)


@dataclass(frozen=True)
class _Array:
    """Broadcast pattern of an input, or of all outputs other than sums: the kept and summed axes in which it varies."""

    kept_axes: tuple[bool, ...]
    added_axes: tuple[bool, ...]


class _GroupLayout:
    """A group for one layout of the inputs.

    Args:
        node: the group.
        call: planner that allocates arrays and records launches.
        operands: the inputs.
    """

    def __init__(self, node: FusedLoop, call: triton_kernels.Planner, operands: Sequence[Any]) -> None:
        self.node, self.call, self.operands = node, call, operands
        self.order = _order(node.shape, operands)
        self.axes = [axis for axis in self.order if node.shape[axis] != 1]
        strides = [self._strides(x, varies) for x, varies in zip(operands, node.varies, strict=True)]
        stores: dict[tuple[int, ...], list[int]] = {}
        for index, store in enumerate(node.stores):
            added = tuple([axis for axis in self.axes if axis in (store.axes or ())])
            stores.setdefault(added, []).append(index)
        self.gives = tuple(
            [
                self._output(store, value.shape, value.dtype)
                for store, value in zip(node.stores, node.outputs, strict=True)
            ]
        )
        elements = stores.pop((), [])
        if not stores:
            stores[()] = []
        for added, sums in stores.items():
            _Kernel(self, strides, elements, added, sums).launch()
            elements = []

    def _strides(self, x: Any, varies: tuple[bool, ...]) -> dict[int, int]:
        """Return the strides by axis of the loop, in elements; axes along which the array is broadcast are left out."""
        strides = iter([stride for n, stride in zip(x.shape, x.strides, strict=True) if n != 1])
        return {axis: next(strides) for axis, is_varying in enumerate(varies) if is_varying}

    def _output(self, store: Store, shape: tuple[int, ...], dtype: np.dtype[Any]) -> triton_kernels.Operand:
        """Return a new array whose memory order is the loop's."""
        order = [axis for axis in self.order if axis not in (store.axes or ())]
        kept_axes = sorted(order)
        if len(shape) == len(self.order):  # summed axes are kept with length 1
            order, kept_axes = self.order, list(range(len(shape)))
        return self.call.empty(shape, dtype, [kept_axes.index(axis) for axis in order])


def _order(shape: tuple[int, ...], operands: Sequence[triton_kernels.Operand]) -> list[int]:
    """Return the axes in memory order, the outermost first."""
    axes = list(range(len(shape)))
    reference = next((x for x in operands if x.shape == shape), None)
    if reference is None or reference.is_contiguous:
        return axes
    order = sorted(axes, key=lambda axis: (-abs(reference.strides[axis]), axis))
    return order if reference.transposed(order).is_contiguous else axes


class _Kernel:
    """One launch over the group: stored elements, and sums over one set of axes.

    Args:
        layout: the group.
        strides: strides of the inputs, by axis.
        elements: the outputs that are stored element by element.
        added: the axes that are summed over.
        sums: the outputs that are sums over them.
    """

    def __init__(
        self,
        layout: _GroupLayout,
        strides: list[dict[int, int]],
        elements: list[int],
        added: tuple[int, ...],
        sums: list[int],
    ) -> None:
        node = layout.node
        self.layout, self.node, self.elements, self.sums = layout, node, elements, sums
        kept_axes = tuple([axis for axis in layout.axes if axis not in added])
        steps = _used_steps(node.steps, [node.stores[index].step for index in (*elements, *sums)])
        self.inputs = sorted({node.steps[step][2] for step in steps if node.steps[step][0] == "input"})
        element_strides: dict[int, int] = {}
        for axis in reversed(layout.axes):
            element_strides[axis] = math.prod(
                [node.shape[inner_axis] for inner_axis in layout.axes[layout.axes.index(axis) + 1 :]]
            )
        stride_maps = [*[strides[index] for index in self.inputs], *([element_strides] if elements else [])]
        self.rows, kept_lengths, kept_strides = _merged(node.shape, kept_axes, stride_maps)
        self.length, added_lengths, added_strides = _merged(node.shape, added, stride_maps)
        self.count = math.prod([node.shape[axis] for axis in layout.axes])
        tile = _TILE if len(steps) < _MANY_STEPS else _TILE // 4
        is_inner = bool(added) and added[-1] == layout.axes[-1]
        self.parts, step = 1, self.length
        if not added:
            blocks = {"BLOCK_M": tile}
        else:
            if is_inner:
                width = min(triton_kernels.next_power_of_2(self.length), tile)
                height = max(1, min(tile // width, triton_kernels.next_power_of_2(self.rows)))
            else:
                height = min(triton_kernels.next_power_of_2(self.rows), _COLUMNS)
                width = max(1, min(tile // height, triton_kernels.next_power_of_2(self.length)))
            blocks = {"BLOCK_M": height, "BLOCK_N": width}
            programs, tiles = -(-self.rows // height), -(-self.length // width)
            if programs < _PROGRAMS and tiles > _LEAST_TILES:
                self.parts = min(-(-tiles // _LEAST_TILES), -(-_PROGRAMS // programs))
                step = -(-tiles // self.parts) * width
                self.parts = -(-self.length // step)
        self.programs = -(-self.rows // blocks["BLOCK_M"]) * self.parts
        patterns = [
            _Array(tuple(map(bool, kept_pattern)), tuple(map(bool, added_pattern)))
            for kept_pattern, added_pattern in zip(kept_strides, added_strides, strict=True)
        ]
        farthest = max(
            [
                sum(
                    [
                        (n - 1) * abs(stride)
                        for n, stride in zip(kept_lengths + added_lengths, kept_pattern + added_pattern, strict=True)
                    ]
                )
                for kept_pattern, added_pattern in zip(kept_strides, added_strides, strict=True)
            ],
            default=0,
        )
        self.constants = {"LONG": triton_kernels.is_long(max(farthest, self.count) + 2 * _TILE), **blocks}
        scalars = [self.rows, *([self.length, step, self.parts, self.count // self.rows] if added else [])]
        scalars += [*kept_lengths[1:], *added_lengths[1:]]
        for kept_pattern, added_pattern in zip(kept_strides, added_strides, strict=True):
            scalars += [stride for stride in (*kept_pattern, *added_pattern) if stride]
        self.scalars = scalars
        text = _Text(self, steps, patterns, (len(kept_lengths), len(added_lengths)), bool(added), is_inner).text()
        name = f"loop_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
        self.kernel = triton_kernels.generated(text.replace("def loop(", f"def {name}(", 1), name)

    def launch(self) -> None:
        """Launch the kernel, and the addition of its parts."""
        layout, node, parts = self.layout, self.node, self.parts
        outputs = [layout.gives[index] for index in self.elements]
        for index in self.sums:
            wide_dtype = np.dtype(_wide(node.stores[index], node.outputs[index].dtype))
            outputs.append(layout.gives[index] if parts == 1 else layout.call.empty((parts, self.rows), wide_dtype))
        inputs = [layout.operands[index] for index in self.inputs]
        layout.call.launch(
            self.kernel, self.programs, (*inputs, *outputs), self.scalars, self.constants, contracts=False
        )
        if parts > 1:
            for index, partial in zip(self.sums, outputs[len(self.elements) :], strict=True):
                store = node.stores[index]
                divisor = self.count // self.rows if store.is_mean else 0
                triton_kernels.add_parts(layout.call, partial, layout.gives[index], divisor, store.extreme)


def _is_floating(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or is_half(dtype)


def _narrow(dtype: np.dtype[Any]) -> str:
    """Return the dtype in which a tile is summed, or its extreme found."""
    return "float64" if dtype == np.float64 else "float32" if _is_floating(dtype) else "int64"


def _wide(store: Store, dtype: np.dtype[Any]) -> str:
    """Return the dtype in which the results of tiles are accumulated."""
    return _narrow(dtype) if store.extreme or not _is_floating(dtype) else "float64"


def _used_steps(steps: tuple[Step, ...], stored: list[int]) -> list[int]:
    """Return the numbers of the steps that stored ones depend on, in order."""
    needed_steps = set(stored)
    for index in range(len(steps) - 1, -1, -1):
        if index in needed_steps and steps[index][0] not in ("input", "const"):
            needed_steps.update(steps[index][2:])
    return sorted(needed_steps)


def _merged(
    shape: tuple[int, ...], axes: tuple[int, ...], strides: list[dict[int, int]]
) -> tuple[int, list[int], list[list[int]]]:
    """Return the number of elements along some axes; their lengths and each array's strides after merging neighbors."""
    lengths = [shape[axis] for axis in axes]
    merged_lengths, merged_strides = triton_kernels.merge_axes(
        lengths, [tuple([by_axis.get(axis, 0) for axis in axes]) for by_axis in strides]
    )
    return math.prod(lengths), merged_lengths, merged_strides


_START = {"": "0", "max": 'float("-inf")', "min": 'float("inf")'}
"""Initial values of an empty sum and of empty extremes."""

_OPERATIONS = {**INFIX, "abs": "tl.abs({})", "where": "tl.where({}, {}, {})"}


class _Text:
    """Writer of a kernel as Python for Triton.

    Kept axes run along ``m``, summed ones along ``n``. A tile has both, the innermost axis last.
    """

    def __init__(
        self,
        kernel: _Kernel,
        steps: list[int],
        patterns: list[_Array],
        axes: tuple[int, int],
        adds: bool,
        is_inner: bool,
    ) -> None:
        self.node, self.kernel, self.steps, self.adds = kernel.node, kernel, steps, adds
        self.patterns, (self.kept_count, self.added_count), self.is_inner = patterns, axes, is_inner
        self.input_at = {index: k for k, index in enumerate(kernel.inputs)}
        self.varies: dict[int, tuple[bool, bool]] = {}
        for step in steps:
            self.varies[step] = self._varies(step)
        self.lines: list[str] = []

    def text(self) -> str:
        """Return the source text of the kernel."""
        kernel, adds = self.kernel, self.adds
        arguments = [f"x{k}" for k in range(len(kernel.inputs))]
        arguments += [f"y{k}" for k in range(len(kernel.elements))] + [f"z{k}" for k in range(len(kernel.sums))]
        arguments += ["rows", *(["length", "step", "parts", "each"] if adds else [])]
        arguments += [f"kn{axis}" for axis in range(1, self.kept_count)] + [
            f"an{axis}" for axis in range(1, self.added_count)
        ]
        for k, pattern in enumerate(self.patterns):
            arguments += [f"ks{k}_{axis}" for axis, is_varying in enumerate(pattern.kept_axes) if is_varying]
            arguments += [f"as{k}_{axis}" for axis, is_varying in enumerate(pattern.added_axes) if is_varying]
        arguments += ["LONG: tl.constexpr", "BLOCK_M: tl.constexpr", *(["BLOCK_N: tl.constexpr"] if adds else [])]
        self._write(0, f"def loop({', '.join(arguments)}):")
        self._write(1, "program = tl.program_id(0)")
        if self.kernel.parts > 1:
            self._write(1, "part = program % parts")
            self._write(1, "program = program // parts")
        self._write(1, "if LONG:")
        self._write(2, "program = program.to(tl.int64)")
        self._write(1, "m = program * BLOCK_M + tl.arange(0, BLOCK_M)")
        self._write(1, "m_inside = m < rows")
        self._axis_indices(1, "m", "k", self.kept_count)
        if adds:
            self._with_sums()
        else:
            self._write(1, "inside = m_inside")
            self._steps(1, self.steps)
            self._elements(1)
        return "\n".join(self.lines) + "\n"

    def _write(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def _axis_indices(self, depth: int, index: str, letter: str, axes: int) -> None:
        """Write the indices along each axis, from an index along all of them."""
        quotient = index
        for axis in range(axes - 1, 0, -1):
            self._write(depth, f"{letter}{axis} = {quotient} % {letter}n{axis}")
            self._write(depth, f"{letter}rest{axis} = {quotient} // {letter}n{axis}")
            quotient = f"{letter}rest{axis}"
        self._write(depth, f"{letter}0 = {quotient}")

    def _with_sums(self) -> None:
        sums = [self.node.stores[index] for index in self.kernel.sums]
        outputs = [self.node.outputs[index] for index in self.kernel.sums]
        outer_steps = [step for step in self.steps if not self.varies[step][1]]
        self._steps(1, outer_steps)
        for k, (store, value) in enumerate(zip(sums, outputs, strict=True)):
            self._write(1, f"total{k} = tl.full((BLOCK_M,), {_START[store.extreme]}, tl.{_wide(store, value.dtype)})")
        self._write(1, "begin = part * step" if self.kernel.parts > 1 else "begin = 0")
        self._write(1, "end = tl.minimum(begin + step, length)" if self.kernel.parts > 1 else "end = length")
        self._write(1, "for first in range(begin, end, BLOCK_N):")
        self._write(2, "n = first + tl.arange(0, BLOCK_N)")
        self._write(2, "if LONG:")
        self._write(3, "n = n.to(tl.int64)")
        self._write(2, "n_inside = n < end")
        self._write(2, f"inside = m_inside{self._along_m()} & n_inside{self._along_n()}")
        self._axis_indices(2, "n", "a", self.added_count)
        self._steps(2, [step for step in self.steps if self.varies[step][1]])
        self._elements(2)
        for k, (store, value) in enumerate(zip(sums, outputs, strict=True)):
            element = f"tl.where(inside, t{store.step}.to(tl.{_narrow(value.dtype)}), {_START[store.extreme]})"
            axis = int(self.is_inner)
            if store.extreme:
                self._write(2, f"of_tile = tl.reduce({element}, {axis}, {store.extreme}_of)")
                self._write(2, f"total{k} = {store.extreme}_of(total{k}, of_tile)")
            else:
                added = f"tl.sum({element}, axis={axis}).to(tl.{_wide(store, value.dtype)})"
                self._write(2, f"total{k} += {added}")
        for k, (store, value) in enumerate(zip(sums, outputs, strict=True)):
            if self.kernel.parts > 1:
                self._write(1, f"tl.store(z{k} + (part * rows + m), total{k}, mask=m_inside)")
                continue
            total = f"(total{k} / each)" if store.is_mean else f"total{k}"
            half = ".to(tl.float32)" if is_half(value.dtype) else ""  # bfloat16 can only be converted from it
            self._write(1, f"tl.store(z{k} + m, {total}{half}.to(tl.{_type(value.dtype)}), mask=m_inside)")

    def _along_m(self) -> str:
        return "[:, None]" if self.is_inner else "[None, :]"

    def _along_n(self) -> str:
        return "[None, :]" if self.is_inner else "[:, None]"

    def _varies(self, step: int) -> tuple[bool, bool]:
        """Return whether a step varies along the kept axes, and along the summed ones."""
        name, _, *operands = self.node.steps[step]
        if name == "const":
            return False, False
        if name == "input":
            pattern = self.patterns[self.input_at[operands[0]]]
            return any(pattern.kept_axes), any(pattern.added_axes)
        variations = [self.varies[operand] for operand in operands]
        return any(m for m, _ in variations), any(n for _, n in variations)

    def _address(self, pointer: str, k: int) -> tuple[str, str]:
        """Return the address of an array's elements, and the mask."""
        pattern = self.patterns[k]
        m = " + ".join([f"k{axis} * ks{k}_{axis}" for axis, is_varying in enumerate(pattern.kept_axes) if is_varying])
        n = " + ".join([f"a{axis} * as{k}_{axis}" for axis, is_varying in enumerate(pattern.added_axes) if is_varying])
        if not self.adds:
            return (f"{pointer} + ({m})", "inside") if m else (pointer, "")
        if m and n:
            return f"{pointer} + (({m}){self._along_m()} + ({n}){self._along_n()})", "inside"
        if m:
            return f"{pointer} + ({m}){self._along_m()}", f"m_inside{self._along_m()}"
        return (f"{pointer} + ({n}){self._along_n()}", f"n_inside{self._along_n()}") if n else (pointer, "")

    def _steps(self, depth: int, steps: list[int]) -> None:
        for step in steps:
            self._write(depth, f"t{step} = {self._step(self.node.steps[step])}")

    def _elements(self, depth: int) -> None:
        address, mask = self._address("{}", len(self.patterns) - 1)
        for k, index in enumerate(self.kernel.elements):
            step = self.node.stores[index].step
            target = address.format(f"y{k}")
            target, inside = (target, mask) if mask else (f"{target} + m", "m_inside")  # a single element
            self._write(depth, f"tl.store({target}, t{step}, mask={inside})")

    def _step(self, step: Step) -> str:
        name, dtype, *operands = step
        if name == "const":
            return _constant(operands[0], dtype)
        if name == "input":
            k = self.input_at[operands[0]]
            address, mask = self._address(f"x{k}", k)
            return f"tl.load({address}, mask={mask})" if mask else f"tl.load({address})"
        terms = [f"t{operand}" for operand in operands]
        if name == "cast":
            return f"{terms[0]}.to(tl.{_type(dtype)})"
        if name == "neg":
            return f"{terms[0]} * -1.0" if dtype.kind == "f" else f"-{terms[0]}"  # -x is 0 - x in older versions
        if name in ("max", "min"):
            nan = ", propagate_nan=tl.PropagateNan.ALL" if dtype.kind == "f" else ""
            return f"tl.{name}imum({', '.join(terms)}{nan})"
        if name in _OPERATIONS:
            return _OPERATIONS[name].format(*terms)
        is_single = dtype == np.float32
        if name == "div":
            return f"tl.div_rn({', '.join(terms)})" if is_single else " / ".join(terms)
        if name == "sqrt":
            return f"tl.sqrt_rn({terms[0]})" if is_single else f"tl.sqrt({terms[0]})"
        assert name in FUNCTIONS or name == "pow"
        return f"libdevice.{name}({', '.join(terms)})"


def _type(dtype: np.dtype[Any]) -> str:
    return "int1" if dtype.kind == "b" else dtype.name


def _constant(value: Any, dtype: np.dtype[Any]) -> str:
    number = repr(value) if math.isfinite(value) else f'float("{value}")'
    if is_half(dtype):
        return f"tl.full((), {number}, tl.float32).to(tl.{dtype.name})"
    return f"tl.full((), {number}, tl.{_type(dtype)})"
