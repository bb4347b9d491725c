"""Gradients of functions and cells: ``grad``, ``value_and_grad``, ``vjp``, ``jvp``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..base import modes
from ..base.argument_checks import check_bool, check_callable, check_type
from ..cpu.array_module import array_module
from ..tape import taps
from ..tape.tape import GradientComputation, Recording, active_observers, state
from ..tensors.nested import Sparse, gradients_like, replaced, tensors_in
from ..tensors.operator import TENSOR_FUNCTIONS, backward_functions
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor, as_tensor
from ..tensors.unrecorded import generate
from .backward import backward

__all__ = ["get_grad", "grad", "jvp", "value_and_grad", "vjp"]

Weights = Parameter | Iterable[Parameter] | None
"""Parameters to take gradients of: one, several, or none."""
_FOR_USERS = ("grad", "value_and_grad", "vjp", "GradOperation")


def grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Weights = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """Return a function for the gradients of ``fn``: of the sum of its output by inputs, weights or both.

    Args:
        fn: a function of Tensors, or a Cell.
        grad_position: the positional arguments to take gradients of, and after them keyword arguments in the order
            of the call; an int gives a bare Tensor, as does a tuple of one; a longer tuple gives a tuple. None: of
            none.
        weights: the Parameters to take gradients of: one gives a bare Tensor, a list or tuple gives a tuple. If
            ``requires_grad`` is off, the gradient is zeros.
        has_aux: whether the outputs of ``fn`` after the first are not differentiated but returned beside the gradients.
        return_ids: whether each gradient is returned as ``(position or Parameter name, gradient)``.
        sens_param: whether the last argument of the returned function is the gradient that arrives at the output;
            otherwise it is ones.
    Returns:
        a function of the arguments of ``fn``; with positions and weights its result is ``(gradients of inputs,
        gradients of weights)``.

    Raises:
        ValueError: neither positions nor weights, a position twice or negative, or ``has_aux`` and one output.
        RuntimeError: an empty tuple of positions.
        TypeError: ``fn`` is not callable, positions are not ints, weights are not Parameters, ``has_aux`` or
            ``return_ids`` is not a bool, an argument at a position holds no Tensor, or the gradient that arrives has
            a different dtype than the output.
        RuntimeError: a position beyond the arguments; the call is inside ``_no_grad``; or a different number of
            gradients arrive than there are outputs.
    """
    compute = _gradient_function(fn, grad_position, weights, has_aux, return_ids, sens_param, "grad")

    def gradients_of(*args: Any, **kwargs: Any) -> Any:
        output, gradients = compute(args, kwargs)
        return (gradients, tuple(output[1:])) if has_aux else gradients

    return gradients_of


def value_and_grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Weights = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """Return a function for the output of ``fn`` and its gradients; see ``grad``.

    Args:
        fn: a function of Tensors, or a Cell.
        grad_position: the arguments to take gradients of: an int, a tuple of ints, or None.
        weights: the Parameters to take gradients of: one, or a list or tuple of them.
        has_aux: whether the outputs of ``fn`` after the first are not differentiated.
        return_ids: whether each gradient is returned as ``(position or Parameter name, gradient)``.
        sens_param: whether the last argument of the returned function is the gradient that arrives at the output.

    Returns:
        a function of the arguments of ``fn``; it returns ``(output of fn, gradients)``, the gradients as in ``grad``.

    Raises:
        ValueError: neither positions nor weights, a position twice or negative, or ``has_aux`` and one output.
        RuntimeError: an empty tuple of positions.
        TypeError: ``fn`` is not callable, positions are not ints, weights are not Parameters, ``has_aux`` or
            ``return_ids`` is not a bool, an argument at a position holds no Tensor, or the gradient that arrives has
            a different dtype than the output.
        RuntimeError: a position beyond the arguments; the call is inside ``_no_grad``; or a different number of
            gradients arrive than there are outputs.
    """
    compute = _gradient_function(fn, grad_position, weights, has_aux, return_ids, sens_param, "value_and_grad")
    return lambda *args, **kwargs: compute(args, kwargs)


def _gradient_function(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None,
    weights: Weights,
    has_aux: bool,
    return_ids: bool,
    sens_param: bool,
    name: str,
) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Any]]:
    check_callable(fn, name, "fn", "a function or a Cell")
    positions = _positions(grad_position, name)
    parameters = _parameters(weights, name)
    if positions is None and parameters is None:
        raise ValueError(f"For '{name}', 'grad_position' and 'weights' must not both be None")
    for argument, flag in (("has_aux", has_aux), ("return_ids", return_ids)):
        check_bool(flag, name, argument)

    def compute(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        sens = None
        if sens_param:
            *positional, sens = args
            args = tuple(positional)
        output, of_inputs, of_weights = differentiate(
            fn, args, kwargs, positions or (), parameters, has_aux, sens, name
        )
        parts: list[Any] = []
        if positions is not None:
            labeled: Any = of_inputs
            if return_ids:  # without arguments there is no gradient of one
                labeled = list(zip(_with_tensors(positions, (*args, *kwargs.values())), of_inputs, strict=False))
            parts.append(labeled[0] if len(labeled) == 1 else tuple(labeled))
        if parameters is not None:
            labeled = [(p.name, g) for p, g in zip(parameters, of_weights, strict=True)] if return_ids else of_weights
            parts.append(labeled[0] if isinstance(weights, Parameter) else tuple(labeled))
        return output, parts[0] if len(parts) == 1 else tuple(parts)

    is_jit = "__wrapped_by_jit__" in getattr(fn, "__dict__", ())

    def compute_in_mode(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        if not (is_jit or modes.graph_mode()):
            return compute(args, kwargs)
        request = (name, positions, None if parameters is None else tuple(parameters), has_aux, return_ids, sens_param)
        result: tuple[Any, Any] = modes.graphs().call_gradient(fn, request, compute, args, kwargs)
        return result

    return compute_in_mode


def _with_tensors(positions: Sequence[int], arguments: Sequence[Any]) -> tuple[int, ...]:
    """Return the positions of arguments that hold tensors."""
    return tuple([position for position in positions if position >= len(arguments) or tensors_in(arguments[position])])


def _positions(grad_position: int | tuple[int, ...] | None, name: str) -> tuple[int, ...] | None:
    if grad_position is None:
        return None
    positions = (grad_position,) if isinstance(grad_position, int) else grad_position
    if not isinstance(positions, tuple) or not all(isinstance(p, int) and not isinstance(p, bool) for p in positions):
        raise TypeError(f"For '{name}', 'grad_position' must be an int or a tuple of ints, but got {grad_position!r}")
    if not positions:
        raise RuntimeError(f"For '{name}', 'grad_position' must name an input at least, but is empty")
    if any(p < 0 for p in positions) or len(set(positions)) != len(positions):
        raise ValueError(
            f"For '{name}', 'grad_position' must be positions from 0 on, each once, but got {grad_position!r}"
        )
    return positions


def _parameters(weights: Weights, name: str) -> list[Parameter] | None:
    if weights is None:
        return None
    parameters = [weights] if isinstance(weights, Parameter) else weights
    if (
        not isinstance(parameters, list | tuple)
        and hasattr(parameters, "__iter__")
        and not isinstance(parameters, Tensor)
    ):
        parameters = list(parameters)
    if not isinstance(parameters, list | tuple):
        raise TypeError(
            f"For '{name}', 'weights' must be a Parameter or a list or tuple of them, but got {type(weights).__name__}"
        )
    for index, parameter in enumerate(parameters):
        if not isinstance(parameter, Parameter):
            raise TypeError(
                f"For '{name}', entry {index} of 'weights' must be a Parameter, but got {type(parameter).__name__}"
            )
    return list(parameters)


def differentiate(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    positions: Sequence[int],
    weights: Sequence[Parameter] | None,
    has_aux: bool = False,
    sens: Any = None,
    name: str = "grad",
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """Run ``fn`` in a recording and its backward pass; return the output, the gradients of positions and of weights."""
    if state.gradients_disabled:
        raise RuntimeError(f"For '{name}', there are no gradients inside '_no_grad'")
    everything = (*args, *kwargs.values())  # positions continue through the keyword arguments, as in MindSpore
    if not everything:
        positions = ()
    for position in positions:
        if position >= len(everything):
            raise RuntimeError(
                f"For '{name}', position {position} is beyond the {len(everything)} arguments of the function"
            )
        if not tensors_in(everything[position]):
            # As in MindSpore an argument such as a dtype is ignored beside one that has a gradient.
            remaining = _with_tensors(positions, everything)
            if remaining:
                return differentiate(fn, args, kwargs, remaining, weights, has_aux, sens, name)
            raise TypeError(
                f"For '{name}', argument {position} must be a Tensor to have a gradient, "
                f"but got {type(everything[position]).__name__}"
            )
    everything = _separate_arguments(everything)
    args, kwargs = everything[: len(args)], dict(zip(kwargs, everything[len(args) :], strict=True))
    requested = [tensors_in(everything[p]) for p in positions]
    uses_placeholders = not (state.recordings or taps.operator_taps)
    output, run_backward = _record_function(fn, args, kwargs, requested, weights or (), uses_placeholders)
    targets = tensors_in(split_aux(output, has_aux, name)[0])
    gradients, of_weights = run_backward(targets, sens, name, True)
    of_inputs = [gradients_like(everything[p], part) for p, part in zip(positions, gradients, strict=True)]
    return output, of_inputs, of_weights


def _record_function(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    requested: list[list[Tensor]],
    weights: Sequence[Parameter],
    uses_placeholders: bool = False,
) -> tuple[Any, Callable[..., tuple[list[list[Tensor]], list[Tensor]]]]:
    """Run ``fn`` in a recording; return its output and a function for the backward pass from tensors in it.

    That function takes the tensors, the gradients that arrive at them, the caller's name, and whether this is the last
    backward pass. It returns the gradients of ``requested`` and of ``weights``. With ``uses_placeholders``, it may be
    called once.
    """
    computation, outer_recordings = GradientComputation(), state.recordings
    active_observers.append(computation)
    try:
        for tap in tuple(taps.operator_taps):
            tap.wait_for_trace()
        if taps.cell_taps and weights:
            taps.notify_differentiating(computation, fn, weights)
        leaves = [*(a for group in requested for a in group), *weights]
        recording = Recording(
            [t._array for t in leaves], [t._array for t in tensors_in((args, kwargs))], uses_placeholders
        )
        # The function may rebind its arguments and weights: gradients are those of the initial values.
        inputs_at_start = [[t._array for t in group] for group in requested]
        weights_at_start = [t._array for t in weights]
        for t in leaves:
            if t._gradient_hooks:
                recording.hooks[id(t._array)] = t._run_gradient_hooks
        # As in MindSpore, a use of a weight whose requires_grad is off at that time does not contribute to its
        # gradient; if it is off at the end, the gradient is zeros.
        depths = [len(w._untracked) for w in weights]
        for w in weights:
            if not w.requires_grad:
                w.pause_tracking()
        try:
            with recording:
                output = fn(*args, **kwargs)
        except BaseException as error:  # not `finally`, which with it would take more instructions
            for w, depth in zip(weights, depths, strict=True):
                w.resume_tracking(depth)
            taps.fail_gradient_call(weights, error)
            raise
        for w, depth in zip(weights, depths, strict=True):
            w.resume_tracking(depth)
    finally:
        state.recordings = outer_recordings  # also if an interrupt has kept the recording from ending
        active_observers.remove(computation)
    frozen = [id(array) for w, array in zip(weights, weights_at_start, strict=True) if not w.requires_grad]
    for key in frozen:
        recording.hooks.pop(key, None)

    def run_backward(
        targets: list[Tensor], sens: Any, name: str, last: bool = False
    ) -> tuple[list[list[Tensor]], list[Tensor]]:
        gradients = _propagate(recording, targets, sens, name, last)
        for key in frozen:
            gradients.pop(key, None)
        of_inputs = [
            [gradient_or_zeros(gradients.get(id(array)), array) for array in group] for group in inputs_at_start
        ]
        of_weights = [gradient_or_zeros(gradients.get(id(array)), array) for array in weights_at_start]
        for index, (weight, array) in enumerate(zip(weights, weights_at_start, strict=True)):
            if id(array) not in gradients and id(array) in recording.hooks:  # hooks also get zeros
                of_weights[index] = weight._run_gradient_hooks(of_weights[index])
        if taps.cell_taps and weights:
            taps.notify_parameter_gradients(list(zip(weights, of_weights, strict=True)))
            is_received = [id(array) in gradients for array in weights_at_start]
            received_gradients = [g if received else None for g, received in zip(of_weights, is_received, strict=True)]
            taps.notify_differentiated(targets, list(zip(weights, received_gradients, strict=True)))
        return of_inputs, of_weights

    return output, run_backward


def _separate_arguments(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with repeated arrays made separate tensors, so that each position has its own gradient."""
    array_ids: set[int] = set()
    separate = []
    for argument in args:
        if isinstance(argument, Tensor | Sparse):
            (tensor,) = tensors_in(argument)
            if id(tensor._array) in array_ids:
                tensor = TENSOR_FUNCTIONS.identity(tensor)
                argument = replaced(argument, [tensor])
            array_ids.add(id(tensor._array))
        separate.append(argument)
    return tuple(separate)


def _propagate(recording: Recording, targets: list[Tensor], sens: Any, name: str, last: bool) -> dict[int, Any]:
    functions = backward_functions()
    grad_outputs: list[Tensor | None] = [None] * len(targets) if sens is None else list(tensors_in(sens))
    if len(grad_outputs) != len(targets):
        raise RuntimeError(
            f"For '{name}', {len(targets)} gradients must arrive, one for each output, but got {len(grad_outputs)}"
        )
    return backward(recording, _seeds(recording, targets, grad_outputs, functions, name), functions, last)


def _seeds(
    recording: Recording, targets: list[Tensor], grad_outputs: list[Tensor | None], functions: Any, name: str
) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of an output and its initial gradient; ones created here are held by the backward pass alone."""
    for target, gradient in zip(targets, grad_outputs, strict=True):
        if gradient is not None and gradient.shape != target.shape:
            # The classes are MindSpore's.
            raise (ValueError if gradient.shape else RuntimeError)(
                f"For '{name}', the gradient that arrives must have the output's shape {target.shape}, "
                f"but got {gradient.shape}"
            )
        if id(target._array) not in recording.tracked:
            continue
        if gradient is None:
            gradient = generate(array_module(target._array).ones, shape=target.shape, dtype=target._array.dtype)
        if gradient._array.dtype != target._array.dtype:
            if name in _FOR_USERS:
                raise TypeError(
                    f"For '{name}', the gradient that arrives must have the output's dtype {target.dtype}, "
                    f"but got {gradient.dtype}"
                )
            gradient = TENSOR_FUNCTIONS.cast(gradient, dtype=target._array.dtype)
        yield target._array, gradient if functions.wraps else gradient._array


def summed_to(gradient: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a user's gradient, summed over the axes that broadcasting adds to ``shape``; unchanged on a mismatch."""
    full_shape = gradient.shape
    if full_shape == shape or len(full_shape) < len(shape):
        return gradient
    inner = full_shape[len(full_shape) - len(shape) :]
    if any(size not in (1, full_size) for size, full_size in zip(shape, inner, strict=True)):
        return gradient
    return TENSOR_FUNCTIONS.sum_to(gradient, shape=shape)


def gradient_or_zeros(gradient: Any, array: Any) -> Tensor:
    """Return a gradient of ``array`` as a tensor; zeros for None."""
    if gradient is None:
        return generate(array_module(array).zeros, shape=array.shape, dtype=array.dtype)
    return as_tensor(gradient)


def vjp(fn: Callable[..., Any], *inputs: Tensor, weights: Weights = None, has_aux: bool = False) -> tuple[Any, ...]:
    """Return the output of ``fn`` and a function from its gradient to those of the inputs (and weights).

    Args:
        fn: a function of Tensors, or a Cell.
        *inputs: its arguments, Tensors.
        weights: Parameters to take gradients of too: one, or a list or tuple of them; None for none.
        has_aux: whether the outputs of ``fn`` after the first are not differentiated and are returned separately.

    Returns:
        ``(output, vjp_fn)``, or ``(output, vjp_fn, aux)`` with ``has_aux``; ``vjp_fn`` takes one Tensor for each output
        and always returns a tuple of the inputs' gradients; with ``weights``, a pair of it and the weights' gradients.

    Raises:
        TypeError: an input is not a Tensor, or ``weights`` are not Parameters.
        ValueError: ``has_aux`` and one output; from ``vjp_fn``: a gradient of the wrong shape.
        RuntimeError: from ``vjp_fn``: the wrong number of gradients, or one without axes for an output that has some.
    """
    check_callable(fn, "vjp", "fn", "a function or a Cell")
    parameters = _parameters(weights, "vjp")
    for index, argument in enumerate(inputs):
        if not isinstance(argument, Tensor):
            raise TypeError(f"For 'vjp', input {index} must be a Tensor, but got {type(argument).__name__}")
    args = _separate_arguments(inputs)
    output, run_backward = _record_function(fn, args, {}, [[t] for t in args], parameters or ())
    value, aux = split_aux(output, has_aux, "vjp")
    targets = tensors_in(value)

    def vjp_fn(*sens: Any) -> tuple[Any, ...]:
        gradients, of_weights = run_backward(targets, sens, "vjp")
        of_inputs = tuple([g for (g,) in gradients])
        if parameters is None:
            return of_inputs
        return of_inputs, of_weights[0] if isinstance(weights, Parameter) else tuple(of_weights)

    return (value, vjp_fn, aux) if has_aux else (value, vjp_fn)


def split_aux(output: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """Return the differentiated output and the auxiliary outputs: a tuple, or bare if there is one.

    Raises:
        ValueError: ``has_aux`` without a second output.
    """
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) > 1):
        raise ValueError(
            f"For '{name}', with 'has_aux' the function must return a tuple of more than one output, "
            f"but got {type(output).__name__}"
        )
    return output[0], output[1] if len(output) == 2 else tuple(output[1:])


def jvp(
    fn: Callable[..., Any], inputs: Tensor | Sequence[Tensor], v: Tensor | Sequence[Tensor], has_aux: bool = False
) -> tuple[Any, ...]:
    """Return the output of ``fn`` and its derivative in the direction ``v``: the Jacobian times ``v``.

    Reverse mode twice: the vjp of ``fn`` is linear in its argument, and the derivative of that linear map is the jvp.

    Args:
        fn: a function of Tensors, or a Cell; it runs twice.
        inputs: its arguments: a Tensor, or a tuple or list of them; a value that is not a Tensor, such as a dtype, is
            passed unchanged.
        v: the direction: one Tensor for each of ``inputs``, of its shape; for other values, anything.
        has_aux: whether the outputs of ``fn`` after the first are not differentiated and are returned separately.

    Returns:
        ``(output, derivative)``, or ``(output, derivative, aux)`` with ``has_aux``; the derivative is a Tensor, or for
        several outputs a tuple.

    Raises:
        TypeError: ``inputs`` or ``v`` is neither a Tensor nor a tuple or list, no input is a Tensor, or an input
            contains Tensors.
        ValueError: ``v`` does not fit ``inputs``, or ``has_aux`` and one output.
    """
    for name, operand in (("inputs", inputs), ("v", v)):
        check_type(operand, Tensor | tuple | list, "jvp", name, "a Tensor, or a tuple or list of them")
    args = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    directions = tuple(v) if isinstance(v, tuple | list) else (v,)
    tensor_indices = [index for index, a in enumerate(args) if tensors_in(a)]
    # Without any Tensor, the first argument is the wrong one.
    for argument in [args[index] for index in tensor_indices] or args[:1]:
        check_type(argument, Tensor, "jvp", "inputs", "a Tensor, or a tuple or list of them")
    shapes = [getattr(d, "shape", None) for d in directions]
    if len(args) != len(shapes) or any(args[index].shape != shapes[index] for index in tensor_indices):
        raise ValueError("For 'jvp', 'v' must have one tensor for each of 'inputs', of the same shape")
    directions = tuple([directions[index] for index in tensor_indices])
    first = fn(*args)
    value, aux = split_aux(first, has_aux, "jvp")
    dummies = tuple(
        [generate(array_module(t._array).zeros, shape=t.shape, dtype=t._array.dtype) for t in tensors_in(value)]
    )

    def run_backward(*grad_outputs: Tensor) -> tuple[Any, ...]:
        at_start = [args[index]._array for index in tensor_indices]
        recording = Recording(at_start)
        with recording:
            output = fn(*args)
        targets = tensors_in(output[0] if has_aux else output)
        gradients = _propagate(recording, targets, grad_outputs, "jvp", True)
        return tuple([gradient_or_zeros(gradients.get(id(array)), array) for array in at_start])

    with taps.mute_taps():  # neither the second run nor the backward pass of zeros is user code
        _, derivative, _ = differentiate(
            run_backward, dummies, {}, range(len(dummies)), None, sens=directions, name="jvp"
        )
    derivatives = derivative[0] if isinstance(value, Tensor | Sparse) else tuple(derivative)
    return (value, derivatives, aux) if has_aux else (value, derivatives)


def get_grad(gradients: Any, identifier: int | str | Parameter) -> Tensor:
    """Return the gradient for a position or Parameter from gradients made with ``return_ids=True``.

    Args:
        gradients: the result of a ``grad`` function, or the second part of that of a ``value_and_grad`` function.
        identifier: the position, the Parameter, or its name.

    Returns:
        the gradient, a Tensor.

    Raises:
        TypeError: ``identifier`` is none of these.
        RuntimeError: there is no gradient for it.
    """
    check_type(identifier, int | str | Parameter, "get_grad", "identifier", "a position, a Parameter or its name")
    key = identifier.name if isinstance(identifier, Parameter) else identifier
    gradient = _find(gradients, key)
    if gradient is None:
        raise RuntimeError(f"For 'get_grad', there is no gradient for {key!r}")
    return gradient


def _find(gradients: Any, identifier: int | str) -> Tensor | None:
    if not isinstance(gradients, tuple):
        return None
    if len(gradients) == 2 and isinstance(gradients[1], Tensor) and not isinstance(gradients[0], Tensor | tuple):
        return gradients[1] if gradients[0] == identifier else None
    return next((g for g in (_find(part, identifier) for part in gradients) if g is not None), None)
