"""``_Function``: an operation with a user-defined gradient, as a class with ``forward`` and ``backward``."""

from __future__ import annotations

import inspect
from typing import Any

from ..base.types import Array
from ..tape.tape import Differentiable, no_recording, record, state
from ..tensors.nested import replaced, tensors_in
from ..tensors.operator import TENSOR_FUNCTIONS
from ..tensors.tensor import Tensor
from ..tensors.views import outputs_of_node, record_roots
from .grad import gradient_or_zeros, summed_to

__all__ = ["_Function"]


class _Function:
    """Base of operations with their own gradient; call them with ``Subclass.apply(...)``.

    ``forward(ctx, *args)`` computes the output. It keeps values for the backward pass with ``ctx.save_for_backward``
    and as attributes of ``ctx``. ``backward(ctx, *gradients)`` gets a gradient for each output, None for an output
    without a Tensor, and returns a gradient for each argument, None for an argument without one. A subclass with
    ``setup_context(ctx, inputs, output)`` has a ``forward`` without ``ctx``.

    Attributes:
        saved_tensors: the arguments of ``save_for_backward``.
        needs_input_grad: for each argument of ``apply`` whether its gradient is requested.
        non_differentiable: the arguments of ``mark_non_differentiable``.
        dirty_tensors: the arguments of ``mark_dirty``.
        materialize_grads: whether ``backward`` gets zeros, not None, for an output that had no gradient.
    """

    saved_tensors: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()
    non_differentiable: tuple[Tensor, ...] = ()
    dirty_tensors: tuple[Tensor, ...] = ()
    materialize_grads = True

    @staticmethod
    def forward(ctx: _Function, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass defines it.

        Args:
            ctx: keeps the values for ``backward``; a subclass with ``setup_context`` omits it.
            *args: the arguments of ``apply``.
            **kwargs: keyword arguments of ``apply``, if there is a ``setup_context``.

        Returns:
            a Tensor, or a tuple with Tensors in it.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError("a subclass of _Function must define 'forward'")

    @staticmethod
    def backward(ctx: _Function, *grad_outputs: Any) -> Any:
        """Return the gradients of the arguments; every subclass defines it.

        Args:
            ctx: the context that ``forward`` had.
            *grad_outputs: the gradient that arrives at each output.

        Returns:
            one gradient for each argument of ``apply``, None for one without: a Tensor, or a tuple of several.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError("a subclass of _Function must define 'backward'")

    @staticmethod
    def setup_context(ctx: _Function, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep the values for ``backward``, in a subclass whose ``forward`` has no ``ctx``.

        Args:
            ctx: keeps the values.
            inputs: the arguments of ``apply``, defaults included.
            output: the result of ``forward``.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError("this subclass of _Function defines no 'setup_context'")

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep Tensors for ``backward``, which finds them in ``saved_tensors``.

        Args:
            *tensors: the Tensors, or None; a second call replaces the first.

        Raises:
            RuntimeError: an argument is not a Tensor or None; keep other values as attributes of ``ctx``.
        """
        for index, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise RuntimeError(
                    f"For 'save_for_backward', argument {index} must be a Tensor or None, but got "
                    f"{type(tensor).__name__}; keep it as an attribute of ctx"
                )
        self.saved_tensors = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Mark the arguments that ``forward`` modified in place.

        Args:
            *args: the Tensors, which ``forward`` returns too.

        Raises:
            RuntimeError: an argument is not a Tensor; ``apply`` raises it for a Tensor that is not returned, or whose
                gradient is requested.
        """
        _check_tensors("mark_dirty", args)
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Mark the outputs that have no gradient.

        Args:
            *args: the Tensors, as ``forward`` returns them.

        Raises:
            RuntimeError: an argument is not a Tensor.
        """
        _check_tensors("mark_non_differentiable", args)
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Set the argument of ``backward`` for an output that had no gradient.

        Args:
            value: True for zeros (the default), False for None.

        Raises:
            RuntimeError: it is not a bool.
        """
        if not isinstance(value, bool):
            raise RuntimeError(f"For 'set_materialize_grads', 'value' must be a bool, but got {type(value).__name__}")
        self.materialize_grads = value

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward``, and record the node whose gradients ``backward`` computes.

        Args:
            *args: the arguments of ``forward`` after ``ctx``.
            **kwargs: keyword arguments; only with a ``setup_context``.

        Returns:
            the result of ``forward``, with new Tensors where a gradient is requested.

        Raises:
            TypeError: keyword arguments without a ``setup_context``.
            NotImplementedError: the subclass has no ``forward``.
            RuntimeError: a Tensor that is marked as dirty is not returned, or its gradient is requested. In the
                backward pass: ``backward`` returned too few gradients, one of the wrong shape, or one for an argument
                that is not a Tensor.
        """
        context = cls()
        has_setup = cls.setup_context is not _Function.setup_context
        if has_setup:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        elif kwargs:
            raise TypeError(f"'{cls.__name__}.apply' takes no keyword arguments, unless 'setup_context' is defined")
        arrays = [[t._array for t in tensors_in(a)] for a in args]  # now: `forward` may rebind its arguments
        inputs = tuple([array for group in arrays for array in group])
        context.needs_input_grad = tuple([_is_tracked(a) for a in args])
        with no_recording():
            if has_setup:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(context, args, output)
            else:
                output = cls.forward(context, *args)
        if not state.recordings:
            argument_ids = {id(t) for t in tensors_in(args)}  # a returned argument becomes a new tensor, as below
            return replaced(
                output, [Tensor._wrap(t._array) if id(t) in argument_ids else t for t in tensors_in(output)]
            )
        if context.dirty_tensors:
            cls._check_dirty(context, arrays, args, output)
        returnable = {id(t) for t in tensors_in(args)}  # a returned argument becomes a new tensor
        returned = [Tensor._wrap(t._array.view()) if id(t) in returnable else t for t in tensors_in(output)]
        tensors, roots = outputs_of_node(returned, [t._array.view() for t in returned], tensors_in(args))
        fixed = {id(t) for t in context.non_differentiable}
        differentiable = [id(t) not in fixed for t in tensors_in(output)]
        results = replaced(output, list(tensors))
        for dirty in context.dirty_tensors:
            # A tensor modified in place takes the array of its output.
            for output_tensor, tensor in zip(tensors_in(output), tensors, strict=True):
                if output_tensor is dirty:
                    dirty._rebind(tensor._array)
        followed = tuple(
            [t._array for t, is_differentiable in zip(tensors, differentiable, strict=True) if is_differentiable]
        )
        if followed:
            node = _FunctionNode(context, arrays, results, differentiable)
            record(node, inputs, followed, {})
        record_roots(roots)
        return results

    @classmethod
    def _check_dirty(cls, context: _Function, arrays: list[list[Array]], args: tuple[Any, ...], output: Any) -> None:
        returned = {id(t) for t in tensors_in(output)}
        if not all(id(t) in returned for t in context.dirty_tensors):
            raise RuntimeError(f"'{cls.__name__}.forward' must return each Tensor that it marks as dirty")
        argument_ids = [id(t) for a in args for t in tensors_in(a)]
        array_of_argument = dict(zip(argument_ids, [x for group in arrays for x in group], strict=True))
        leaves = {id(array) for recording in state.recordings for array in recording.leaves}
        if any(id(array_of_argument.get(id(t))) in leaves for t in context.dirty_tensors):
            raise RuntimeError(f"'{cls.__name__}.forward' changes a Tensor in place whose gradient is requested")


def _check_tensors(name: str, arguments: tuple[Any, ...]) -> None:
    for index, value in enumerate(arguments):
        if not isinstance(value, Tensor):
            raise RuntimeError(f"For '{name}', argument {index} must be a Tensor, but got {type(value).__name__}")


def _is_tracked(value: Any) -> bool:
    return any(id(t._array) in recording.tracked for recording in state.recordings for t in tensors_in(value))


class _FunctionNode(Differentiable):
    """The node of one call."""

    def __init__(self, context: _Function, arrays: list[list[Array]], results: Any, differentiable: list[bool]) -> None:
        self.name = type(context).__name__
        self.context = context
        self.arrays = arrays
        self.outputs = [t._array for t in tensors_in(results)]
        # The number of Tensors in each output: backward gets None for an output without any.
        self.counts = [len(tensors_in(result)) for result in results] if isinstance(results, tuple | list) else [1]
        self.differentiable = differentiable

    def backward(
        self,
        functions: Any,
        tracked: set[int],
        gradient: Any,
        output: Any,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
    ) -> list[tuple[Array, Any]]:
        """Call the user's ``backward`` and return its gradients as pairs of an array and a gradient."""
        grad_outputs = iter(gradient)
        gradients: list[Tensor | None] = []
        for array, is_differentiable in zip(self.outputs, self.differentiable, strict=True):
            g = next(grad_outputs) if is_differentiable else None
            missing = g is None and not self.context.materialize_grads
            gradients.append(None if missing else gradient_or_zeros(g, array))
        grad_tensors = iter(gradients)
        arguments: list[Tensor | None] = []
        for count in self.counts:
            arguments += [next(grad_tensors) for _ in range(count)] if count else [None]
        returned = type(self.context).backward(self.context, *arguments)
        results = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
        if len(results) < len(self.arrays):
            raise RuntimeError(
                f"the backward of '{self.name}' returned {len(results)} gradients for {len(self.arrays)} arguments; "
                "return one for each argument of apply, None where there is none"
            )
        for index, (arrays, result) in enumerate(zip(self.arrays, results, strict=False)):
            if result is not None and not arrays:
                raise RuntimeError(
                    f"the backward of '{self.name}' returned {type(result).__name__} as gradient {index}; it must be "
                    "None, because there is no Tensor as this argument of apply"
                )
        pairs: list[tuple[Array, Any]] = []
        for index, (arrays, result) in enumerate(zip(self.arrays, results, strict=False)):
            pairs += self._pairs(index, arrays, result, functions, tracked)
        return pairs

    def _pairs(
        self, index: int, arrays: list[Array], returned: Any, functions: Any, tracked: set[int]
    ) -> list[tuple[Array, Any]]:
        if returned is None or not any(id(array) in tracked for array in arrays):
            return []
        results = list(returned) if isinstance(returned, tuple | list) else [returned]
        if len(results) != len(arrays) or not all(isinstance(item, Tensor) for item in results):
            raise RuntimeError(
                f"the backward of '{self.name}' returned {type(returned).__name__} as gradient {index}; "
                "it must be a Tensor or None"
            )
        pairs = []
        for array, gradient in zip(arrays, results, strict=True):
            gradient = summed_to(gradient, array.shape)
            if gradient.shape != array.shape:
                raise RuntimeError(
                    f"the backward of '{self.name}' returned gradient {index} of shape {gradient.shape}, "
                    f"but the argument has shape {array.shape}"
                )
            if gradient._array.dtype != array.dtype:
                gradient = TENSOR_FUNCTIONS.cast(gradient, dtype=array.dtype)
            if id(array) in tracked:
                pairs.append((array, gradient if functions.wraps else gradient._array))
        return pairs
