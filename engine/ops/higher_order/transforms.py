"""Transforms of functions: ``GradOperation``, ``vmap``, Jacobians, and derivatives of higher order.

All of them call the function as often as needed and combine the results: correct, and no faster than a loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...autograd.grad import differentiate, jvp, split_aux, vjp
from ...base.argument_checks import check_bool, check_callable, check_type
from ...tape import taps
from ...tensors.dtype import float32, numpy_dtype
from ...tensors.nested import tensors_in
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ..shapes.concatenation import stack
from ..shapes.conversion import cast
from ..shapes.creation import ones_like, zeros, zeros_like
from ..shapes.reshape import reshape

__all__ = ["GradOperation", "derivative", "jacfwd", "jacrev", "jet", "linearize", "vmap"]

Function = Callable[..., Any]
Axes = int | Sequence[Any] | None
"""An axis, None, or a tuple or list of these, nested like the value that it is for."""


class GradOperation:
    """Transform of a function into one that returns its gradients; ``grad`` is the newer form.

    Args:
        get_all: True: gradients of all arguments that hold tensors, as a tuple; False: that of the first one, bare.
        get_by_list: whether to return gradients of weights, which are given with the function; with ``get_all`` both.
        sens_param: whether the last argument (or the one named ``sens``) is the gradient of the output; otherwise it is
            ones.

    Raises:
        TypeError: an argument is not a bool.
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            check_bool(value, "GradOperation", name)
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param

    def __call__(self, fn: Function, weights: Parameter | Sequence[Parameter] | None = None) -> Function:
        """Return the function of gradients of ``fn``; if it is called without arguments, they are an empty tuple.

        Args:
            fn: a function of Tensors, or a Cell.
            weights: the Parameters to take gradients of, with ``get_by_list``: one, or a list or tuple of them; None is
                the trainable ones of the Cell ``fn``.

        Returns:
            A function of the arguments of ``fn``. It returns the gradients of the inputs or of the weights, or a tuple
            of both.

        Raises:
            TypeError: when the returned function is called: ``fn`` cannot be called, ``weights`` are not Parameters, an
                argument whose gradient is requested is not a Tensor, or ``sens`` has a different dtype than the output.
            ValueError: when it is called: ``sens`` has a different shape than the output.
            RuntimeError: when it is called: ``sens`` has no axes and the output has, it has a different number of
                gradients than there are outputs, or the call is inside ``_no_grad``.
        """

        def after_grad(*args: Any, **kwargs: Any) -> Any:
            return self._gradients(fn, weights, args, kwargs)

        return after_grad

    def _gradients(
        self,
        fn: Function,
        weights: Parameter | Sequence[Parameter] | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        check_callable(fn, "GradOperation", "fn", "a function or a Cell")
        sens = None
        if self.sens_param:
            if "sens" in kwargs:
                sens = kwargs.pop("sens")
            else:
                *positional, sens = args or (None,)
                args = tuple(positional)
            sens = Tensor(sens) if isinstance(sens, int | float) else sens
        everything = (*args, *kwargs.values())
        positions: tuple[int, ...] = () if self.get_by_list else (0,)
        if self.get_all:
            # As in MindSpore, a tuple, list or dictionary of tensors has no gradient here.
            positions = tuple(i for i, a in enumerate(everything) if isinstance(a, Tensor))
        parameters = self._parameters(fn, weights) if self.get_by_list else None
        _, of_inputs, of_weights = differentiate(
            fn, args, kwargs, positions, parameters, sens=sens, name="GradOperation"
        )
        if not self.get_by_list:
            return tuple(of_inputs) if self.get_all or not of_inputs else of_inputs[0]
        weight_gradients = of_weights[0] if isinstance(weights, Parameter) else tuple(of_weights)
        return (tuple(of_inputs), weight_gradients) if self.get_all else weight_gradients

    @staticmethod
    def _parameters(fn: Any, weights: Parameter | Sequence[Parameter] | None) -> list[Parameter]:
        if weights is None:
            return list(fn.trainable_params()) if hasattr(fn, "trainable_params") else []
        parameters = [weights] if isinstance(weights, Parameter) else weights
        if not isinstance(parameters, list | tuple) or not all(
            isinstance(parameter, Parameter) for parameter in parameters
        ):
            raise TypeError("For 'GradOperation', 'weights' must be a Parameter or a list or tuple of them")
        return list(parameters)


# Mapping over an axis


def vmap(fn: Any, in_axes: Axes = 0, out_axes: Axes = 0) -> Function:
    """Return a function that calls ``fn`` for each slice of its arguments and stacks the results.

    Args:
        fn: a function, or a CellList: then slice i goes to its cell i.
        in_axes: the axis to slice each argument along: an int for all, or a tuple, nested like the arguments; None
            passes an argument whole.
        out_axes: the axis to stack each output along, likewise; None for one that is the same for every slice.

    Returns:
        A function of the arguments of ``fn``; outputs have one more axis, as long as those that were sliced.

    Raises:
        RuntimeError: ``fn`` cannot be called, or an axis is not an int or does not fit an argument or output.
        ValueError: when the returned function is called: the mapped axis is empty.
    """
    several = getattr(fn, "__cell_as_list__", False)  # MindSpore's mark of a CellList
    if not callable(fn):
        raise RuntimeError(f"For 'vmap', 'fn' must be a function or a CellList, but got {type(fn).__name__}")
    for name, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        _check_axes(axes, name)
        if axes is None and not several:
            raise RuntimeError(f"For 'vmap', '{name}' must not be None alone, unless 'fn' is a CellList")

    def mapped(*args: Any) -> Any:
        axes = _spread(in_axes, args, "in_axes")
        sizes = {size for a, axis in zip(args, axes, strict=True) for size in _sizes(a, axis)}
        if several:
            sizes.add(len(fn))
        if len(sizes) != 1:
            raise RuntimeError(f"For 'vmap', the mapped axes must have one size, but got {sorted(sizes)}")
        (size,) = sizes
        if size == 0:
            raise ValueError("For 'vmap', the mapped axis must not be empty")
        results = []
        for i in range(size):
            slices = [_cut(a, axis, i) for a, axis in zip(args, axes, strict=True)]
            with taps.numbered_run("sample", i):
                results.append((fn[i] if several else fn)(*slices))
        return _stacked(results, out_axes)

    return mapped


def _check_axes(axes: Axes, name: str) -> None:
    if isinstance(axes, tuple | list):
        for axis in axes:
            _check_axes(axis, name)
    elif axes is not None and (not isinstance(axes, int) or isinstance(axes, bool)):
        raise RuntimeError(f"For 'vmap', an axis in '{name}' must be an int or None, but got {axes!r}")


def _spread(axes: Axes, values: Sequence[Any], name: str) -> Sequence[Any]:
    """Return one entry of ``axes`` for each value."""
    if not isinstance(axes, tuple | list):
        return [axes] * len(values)
    if len(axes) != len(values):
        raise RuntimeError(f"For 'vmap', '{name}' has {len(axes)} entries for {len(values)} values")
    return axes


def _axis_index(tensor: Tensor, axis: int, name: str, extra: int = 0) -> int:
    count = tensor.ndim + extra
    if not -count <= axis < count:
        raise RuntimeError(f"For 'vmap', axis {axis} in '{name}' is out of bounds for {count} axes")
    return axis % count


def _sizes(value: Any, axis: Any) -> list[int]:
    if axis is None:
        return []
    if isinstance(value, tuple | list):
        return [size for v, a in zip(value, _spread(axis, value, "in_axes"), strict=True) for size in _sizes(v, a)]
    if not isinstance(value, Tensor):
        raise RuntimeError(f"For 'vmap', only a Tensor can be mapped along axis {axis}, but got {type(value).__name__}")
    return [value.shape[_axis_index(value, axis, "in_axes")]]


def _cut(value: Any, axis: Any, index: int) -> Any:
    if axis is None:
        return value
    if isinstance(value, tuple | list):
        return type(value)(_cut(v, a, index) for v, a in zip(value, _spread(axis, value, "in_axes"), strict=True))
    part = value[(slice(None),) * _axis_index(value, axis, "in_axes") + (index,)]
    if isinstance(value, Parameter):
        part._of_parameter = True
    return part


def _stacked(results: list[Any], axes: Any) -> Any:
    first = results[0]
    if isinstance(first, tuple | list):
        entries = _spread(axes, first, "out_axes")
        return type(first)(_stacked([r[i] for r in results], axis) for i, axis in enumerate(entries))
    if isinstance(axes, tuple | list):
        if len(axes) != 1:
            raise RuntimeError(f"For 'vmap', 'out_axes' has {len(axes)} entries for 1 output")
        axes = axes[0]
    if axes is None:
        return first
    tensors = [r if isinstance(r, Tensor) else Tensor(r) for r in results]
    return stack(tensors, axis=_axis_index(tensors[0], axes, "out_axes", extra=1))


# Jacobians


def jacrev(fn: Function, grad_position: int | tuple[int, ...] = 0, has_aux: bool = False) -> Function:
    """Return a function that returns the Jacobian of ``fn`` by rows: one backward pass for each output element.

    Args:
        fn: a function of tensors.
        grad_position: with respect to which arguments; an int or a tuple of one gives bare Jacobians.
        has_aux: whether outputs after the first are excluded and returned with the Jacobian.

    Returns:
        A function; for several outputs its result is a tuple with an entry for each, for several positions each entry
        is a tuple. A Jacobian has the output's shape and then the input's.

    Raises:
        ValueError: a position is repeated, negative or beyond the arguments.
        TypeError: ``grad_position`` is neither an int nor a tuple of ints.
    """

    def rows(pick: Function, inputs: list[Tensor]) -> tuple[Any, list[list[Tensor]], Any]:
        value, pullback, *aux = vjp(pick, *inputs, has_aux=has_aux)
        outputs = tensors_in(value)
        entries = []
        for index, output in enumerate(outputs):
            lines = [
                pullback(*[basis if j == index else _zeros(y) for j, y in enumerate(outputs)])
                for basis in _basis(output)
            ]
            entries.append(
                [_joined([line[i] for line in lines], output.shape + x.shape, 0, x) for i, x in enumerate(inputs)]
            )
        return value, entries, aux[0] if aux else None

    return _jacobian(fn, grad_position, has_aux, rows, "jacrev")


def jacfwd(fn: Function, grad_position: int | tuple[int, ...] = 0, has_aux: bool = False) -> Function:
    """Return a function that returns the Jacobian of ``fn`` by columns: one ``jvp`` for each input element.

    Args:
        fn: a function of tensors.
        grad_position: with respect to which arguments; an int or a tuple of one gives bare Jacobians.
        has_aux: whether outputs after the first are excluded and returned with the Jacobian.

    Returns:
        A function; for several outputs its result is a tuple with an entry for each, for several positions each entry
        is a tuple. A Jacobian has the output's shape and then the input's.

    Raises:
        ValueError: a position is repeated, negative or beyond the arguments.
        TypeError: ``grad_position`` is neither an int nor a tuple of ints, ``has_aux`` is not a bool, or an argument at
            a position is not a floating Tensor.
    """

    def columns(pick: Function, inputs: list[Tensor]) -> tuple[Any, list[list[Tensor]], Any]:
        value, aux = split_aux(pick(*inputs), has_aux, "jacfwd")
        outputs = tensors_in(value)
        entries: list[list[Tensor]] = [[] for _ in outputs]
        for index, x in enumerate(inputs):
            lines = []
            for basis in _basis(x):
                directions = tuple([basis if j == index else _zeros(y) for j, y in enumerate(inputs)])
                lines.append(tensors_in(jvp(pick, tuple(inputs), directions, has_aux)[1]))
            for k, output in enumerate(outputs):
                block = _joined([line[k] for line in lines], output.shape + x.shape, -1, output)
                entries[k].append(block)
        return value, entries, aux

    return _jacobian(fn, grad_position, has_aux, columns, "jacfwd")


def _jacobian(
    fn: Function, grad_position: int | tuple[int, ...], has_aux: bool, compute: Function, name: str
) -> Function:
    check_bool(has_aux, name, "has_aux")

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        positions = (grad_position,) if isinstance(grad_position, int) else grad_position
        if not isinstance(positions, tuple) or not all(isinstance(p, int) for p in positions):
            raise TypeError(f"For '{name}', 'grad_position' must be an int or a tuple, but got {grad_position!r}")
        if len(set(positions)) != len(positions) or not all(0 <= p < len(args) for p in positions):
            raise ValueError(
                f"For '{name}', 'grad_position' must be positions below {len(args)}, each once, "
                f"but got {grad_position!r}"
            )
        for p in positions:
            if not isinstance(args[p], Tensor) or not (args[p].dtype.is_floating_point or args[p].dtype.is_complex):
                raise TypeError(f"For '{name}', argument {p} must be a floating Tensor, but got {args[p]!r}")

        def pick(*inputs: Tensor) -> Any:
            full = list(args)
            for p, x in zip(positions, inputs, strict=True):
                full[p] = x
            return fn(*full, **kwargs)

        value, blocks, aux = compute(pick, [args[p] for p in positions])
        entries = [parts[0] if len(positions) == 1 else tuple(parts) for parts in blocks]
        result = entries[0] if isinstance(value, Tensor) else tuple(entries)
        return (result, aux) if has_aux else result

    return jacobian


def _zeros(like: Tensor) -> Tensor:
    return zeros_like(like)


def _basis(like: Tensor) -> list[Tensor]:
    """Return for each element the tensor that is one there and zero elsewhere."""
    result = []
    for i in range(like.size):
        unit = np.zeros(like.size, numpy_dtype(like.dtype))
        unit[i] = 1
        result.append(Tensor(unit.reshape(like.shape), like.dtype))
    return result


def _joined(parts: list[Tensor], shape: tuple[int, ...], axis: int, like: Tensor) -> Tensor:
    return reshape(stack(parts, axis=axis), shape) if parts else zeros(shape, like.dtype)


# Derivatives along a curve


def jet(fn: Function, primals: Tensor | tuple[Tensor, ...], series: Tensor | tuple[Tensor, ...]) -> tuple[Any, Any]:
    """Return the output of ``fn`` and its derivatives along curves with given derivatives.

    Args:
        fn: a function of tensors.
        primals: the points of the curves: a tensor, or a tuple of them.
        series: for each the curve's first, second, ... derivatives, stacked along a first axis.

    Returns:
        ``(output, derivatives)``, the derivatives stacked likewise; for several outputs two lists.

    Raises:
        TypeError: ``primals`` and ``series`` are not both tensors or both tuples, or their dtypes differ.
        ValueError: their lengths or shapes do not fit.
    """
    if not (isinstance(primals, Tensor) and isinstance(series, Tensor)) and not (
        isinstance(primals, tuple) and isinstance(series, tuple)
    ):
        raise TypeError("For 'jet', 'primals' and 'series' must both be a Tensor or both a tuple")
    points = [primals] if isinstance(primals, Tensor) else list(primals)
    curves = [series] if isinstance(series, Tensor) else list(series)
    if len(points) != len(curves):
        raise ValueError(f"For 'jet', there are {len(points)} primals, but {len(curves)} series")
    for index, (point, curve) in enumerate(zip(points, curves, strict=True)):
        if point.dtype != curve.dtype:
            raise TypeError(f"For 'jet', primal {index} is {point.dtype}, but its series {curve.dtype}")
        if curve.shape == point.shape:
            curves[index] = curve.reshape((1, *curve.shape))
        elif curve.shape[1:] != point.shape:
            raise ValueError(f"For 'jet', entries of series {index} must have shape {point.shape}, got {curve.shape}")
    return _along(fn, points, curves, curves[0].shape[0], all_orders=True)


def derivative(fn: Function, primals: Tensor | Sequence[Tensor], order: int) -> tuple[Any, Any]:
    """Return the output of ``fn`` and its derivative of one order, at speed one: d^n/dt^n fn(x + t) at t = 0.

    Args:
        fn: a function of tensors.
        primals: the point: a Tensor, or a tuple of them, one for each argument; integers become Float32.
        order: the order of the derivative, from 1 on.

    Returns:
        ``(output, derivative)``; for several outputs two lists.

    Raises:
        TypeError: ``order`` is not an int.
        ValueError: ``order`` is below 1.
    """
    check_type(order, int, "derivative", "order")
    if order < 1:
        raise ValueError(f"For 'derivative', 'order' must be at least 1, but got {order}")
    points = [primals] if isinstance(primals, Tensor) else list(primals)
    curves = [stack([ones_like(p), *[zeros_like(p)] * (order - 1)]) for p in points]
    return _along(fn, points, curves, order, all_orders=False)


def linearize(fn: Function, inputs: Tensor | Sequence[Tensor]) -> tuple[Any, Function]:
    """Return the output of ``fn`` at ``inputs`` and the linear map from input directions to output directions.

    Args:
        fn: a function of tensors.
        inputs: the point: a Tensor, or a tuple or list of them, one for each argument.

    Returns:
        ``(output, linear)``; ``linear(v)`` takes Tensors of the shapes of ``inputs`` and runs ``fn`` again.

    Raises:
        TypeError: ``inputs`` is neither a Tensor nor a tuple or list.
    """
    check_type(inputs, Tensor | tuple | list, "linearize", "inputs", "a Tensor or a tuple")
    args = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    return fn(*args), lambda v: jvp(fn, args, v)[1]


def _along(fn: Function, points: list[Tensor], curves: list[Tensor], order: int, all_orders: bool) -> tuple[Any, Any]:
    """Return derivatives of ``fn`` along curves by a parameter t, at t = 0, as ``jvp`` of ``jvp`` of ..."""
    check_callable(fn, "jet", "fn", "a function or a Cell")
    points = [p if p.dtype.is_floating_point else cast(p, float32) for p in points]
    curves = [c if c.dtype.is_floating_point else cast(c, float32) for c in curves]

    def at(t: Tensor) -> Tensor:
        positions = []
        for point, curve in zip(points, curves, strict=True):
            offset: Any = 0.0
            for k in range(order, 0, -1):
                offset = (offset + curve[k - 1] / math.factorial(k)) * t
            positions.append(point + offset)
        return fn(*positions)

    def derived(function: Function) -> Function:
        return lambda t: jvp(function, t, Tensor(1.0, t.dtype))[1]

    start = Tensor(0.0, points[0].dtype)
    value, function, derivatives = at(start), at, []
    for k in range(order):
        function = derived(function)
        if all_orders or k == order - 1:
            derivatives.append(tensors_in(function(start)))
    outputs = tensors_in(value)
    series = [stack([f[i] for f in derivatives]) if all_orders else derivatives[-1][i] for i in range(len(outputs))]
    if isinstance(value, Tensor):
        return value, series[0]
    return outputs, series
