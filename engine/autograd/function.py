"""``_Function``: an operation with a gradient of the user's own, as a class with ``forward`` and ``backward``."""

from __future__ import annotations

import inspect
from typing import Any

from ..base.types import Array
from ..tape.tape import Differentiable, no_recording, record, state
from ..tensors.nested import replaced, tensors_in
from ..tensors.operator import TENSOR_FUNCTIONS
from ..tensors.tensor import Tensor
from ..tensors.views import outputs_of_node, put_together
from .grad import gradient_or_zeros, summed_to

__all__ = ["_Function"]


class _Function:
    """Base of operations with a gradient of their own; call them with ``Subclass.apply(...)``.

    ``forward(ctx, *args)`` computes; what it keeps with ``ctx.save_for_backward`` and as attributes of ``ctx``,
    ``backward(ctx, *gradients)`` uses: it gets a gradient for each output, None for one without a Tensor, and returns
    one for each argument, None where there is none. A subclass with ``setup_context(ctx, inputs, output)`` has a
    ``forward`` without ``ctx``.

    Attributes:
        saved_tensors: what ``save_for_backward`` was given.
        needs_input_grad: for each argument of ``apply`` whether its gradient is asked for.
        non_differentiable: what ``mark_non_differentiable`` was given.
        dirty_tensors: what ``mark_dirty`` was given.
        materialize_grads: whether ``backward`` gets zeros, not None, for an output that had no gradient.
    """

    saved_tensors: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()
    non_differentiable: tuple[Tensor, ...] = ()
    dirty_tensors: tuple[Tensor, ...] = ()
    materialize_grads = True

    @staticmethod
    def forward(ctx: _Function, *args: Any, **kwargs: Any) -> Any:
        """The computation; every subclass defines it.

        Args:
            ctx: keeps what ``backward`` needs; a subclass with ``setup_context`` leaves it out.
            *args: the arguments of ``apply``.
            **kwargs: keyword arguments of ``apply``, where there is a ``setup_context``.

        Returns:
            a Tensor, or a tuple with Tensors in it.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError("a subclass of _Function must define 'forward'")

    @staticmethod
    def backward(ctx: _Function, *grad_outputs: Any) -> Any:
        """The gradients of the arguments; every subclass defines it.

        Args:
            ctx: what ``forward`` had.
            *grad_outputs: the gradient that arrives at each output.

        Returns:
            one gradient for each argument of ``apply``, None where there is none: a Tensor, or a tuple of several.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError("a subclass of _Function must define 'backward'")

    @staticmethod
    def setup_context(ctx: _Function, inputs: tuple[Any, ...], output: Any) -> None:
        """Where a subclass defines it, keeps what ``backward`` needs, and ``forward`` has no ``ctx``.

        Args:
            ctx: where it is kept.
            inputs: the arguments of ``apply``, defaults among them.
            output: what ``forward`` returned.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError("this subclass of _Function defines no 'setup_context'")

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep Tensors for ``backward``, which finds them in ``saved_tensors``.

        Args:
            *tensors: the Tensors, or None; a second call replaces the first.

        Raises:
            RuntimeError: something else is given; what is no Tensor can be an attribute of ``ctx``.
        """
        for place, one in enumerate(tensors):
            if one is not None and not isinstance(one, Tensor):
                raise RuntimeError(
                    f"For 'save_for_backward', argument {place} must be a Tensor or None, but got "
                    f"{type(one).__name__}; keep it as an attribute of ctx"
                )
        self.saved_tensors = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which arguments ``forward`` changed in place.

        Args:
            *args: the Tensors, which ``forward`` returns too.

        Raises:
            RuntimeError: something else is given; ``apply`` raises it for a Tensor that is not returned, or whose
                gradient is asked for.
        """
        _check_tensors("mark_dirty", args)
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs have no gradient.

        Args:
            *args: the Tensors, as ``forward`` returns them.

        Raises:
            RuntimeError: something else is given.
        """
        _check_tensors("mark_non_differentiable", args)
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Say what ``backward`` gets for an output that had no gradient.

        Args:
            value: True for zeros, as it is at first; False for None.

        Raises:
            RuntimeError: it is not a bool.
        """
        if not isinstance(value, bool):
            raise RuntimeError(f"For 'set_materialize_grads', 'value' must be a bool, but got {type(value).__name__}")
        self.materialize_grads = value

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward``; in the backward pass ``backward`` gives the gradients.

        Args:
            *args: the arguments of ``forward`` behind ``ctx``.
            **kwargs: keyword arguments; only where there is a ``setup_context``.

        Returns:
            what ``forward`` returned, with new Tensors where a gradient is asked for.

        Raises:
            TypeError: keyword arguments without a ``setup_context``.
            NotImplementedError: the subclass has no ``forward``.
            RuntimeError: a Tensor that is marked as dirty is not returned, or its gradient is asked for. In the
                backward pass: ``backward`` returned too few gradients, one that does not fit, or one for what is no
                Tensor.
        """
        context = cls()
        apart = cls.setup_context is not _Function.setup_context
        if apart:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        elif kwargs:
            raise TypeError(f"'{cls.__name__}.apply' takes no keyword arguments, unless 'setup_context' is defined")
        arrays = [[t._array for t in tensors_in(a)] for a in args]  # now: `forward` may rebind its arguments
        inputs = tuple([array for some in arrays for array in some])
        context.needs_input_grad = tuple([_followed(a) for a in args])
        with no_recording():
            if apart:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(context, args, output)
            else:
                output = cls.forward(context, *args)
        if not state.recordings:
            given = {id(t) for t in tensors_in(args)}  # one that is handed back comes as a tensor apart, as below
            return replaced(output, [Tensor._wrap(t._array) if id(t) in given else t for t in tensors_in(output)])
        if context.dirty_tensors:
            cls._check_dirty(context, arrays, args, output)
        handed_back = {id(t) for t in tensors_in(args)}  # such a one comes as a tensor apart
        returned = [Tensor._wrap(t._array.view()) if id(t) in handed_back else t for t in tensors_in(output)]
        tensors, roots = outputs_of_node(returned, [t._array.view() for t in returned], tensors_in(args))
        fixed = {id(t) for t in context.non_differentiable}
        differentiable = [id(t) not in fixed for t in tensors_in(output)]
        results = replaced(output, list(tensors))
        for dirty in context.dirty_tensors:
            # What was changed in place goes on as the output that holds it.
            for held, tensor in zip(tensors_in(output), tensors, strict=True):
                if held is dirty:
                    dirty._rebind(tensor._array)
        followed = tuple([t._array for t, yes in zip(tensors, differentiable, strict=True) if yes])
        if followed:
            node = _FunctionNode(context, arrays, results, differentiable)
            record(node, inputs, followed, {})
        put_together(roots)
        return results

    @classmethod
    def _check_dirty(cls, context: _Function, arrays: list[list[Array]], args: tuple[Any, ...], output: Any) -> None:
        returned = {id(t) for t in tensors_in(output)}
        if not all(id(t) in returned for t in context.dirty_tensors):
            raise RuntimeError(f"'{cls.__name__}.forward' must return each Tensor that it marks as dirty")
        given = [id(t) for a in args for t in tensors_in(a)]
        before = dict(zip(given, [x for some in arrays for x in some], strict=True))
        leaves = {id(array) for recording in state.recordings for array in recording.leaves}
        if any(id(before.get(id(t))) in leaves for t in context.dirty_tensors):
            raise RuntimeError(f"'{cls.__name__}.forward' changes a Tensor in place whose gradient is asked for")


def _check_tensors(name: str, given: tuple[Any, ...]) -> None:
    for place, one in enumerate(given):
        if not isinstance(one, Tensor):
            raise RuntimeError(f"For '{name}', argument {place} must be a Tensor, but got {type(one).__name__}")


def _followed(value: Any) -> bool:
    return any(id(t._array) in recording.tracked for recording in state.recordings for t in tensors_in(value))


class _FunctionNode(Differentiable):
    """The node of one call."""

    def __init__(self, context: _Function, arrays: list[list[Array]], results: Any, differentiable: list[bool]) -> None:
        self.name = type(context).__name__
        self.context = context
        self.arrays = arrays
        self.outputs = [t._array for t in tensors_in(results)]
        # Of each output the number of its Tensors: backward gets None for one without any.
        self.counts = [len(tensors_in(one)) for one in results] if isinstance(results, tuple | list) else [1]
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
        """Call the user's ``backward`` and hand on what it returns."""
        arriving = iter(gradient)
        gradients: list[Tensor | None] = []
        for array, yes in zip(self.outputs, self.differentiable, strict=True):
            g = next(arriving) if yes else None
            missing = g is None and not self.context.materialize_grads
            gradients.append(None if missing else gradient_or_zeros(g, array))
        each = iter(gradients)
        handed: list[Tensor | None] = []
        for count in self.counts:
            handed += [next(each) for _ in range(count)] if count else [None]
        returned = type(self.context).backward(self.context, *handed)
        given = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
        if len(given) < len(self.arrays):
            raise RuntimeError(
                f"the backward of '{self.name}' returned {len(given)} gradients for {len(self.arrays)} arguments; "
                "return one for each argument of apply, None where there is none"
            )
        for place, (arrays, one) in enumerate(zip(self.arrays, given, strict=False)):
            if one is not None and not arrays:
                raise RuntimeError(
                    f"the backward of '{self.name}' returned {type(one).__name__} as gradient {place}; it must be "
                    "None, because there is no Tensor as this argument of apply"
                )
        found: list[tuple[Array, Any]] = []
        for place, (arrays, one) in enumerate(zip(self.arrays, given, strict=False)):
            found += self._pairs(place, arrays, one, functions, tracked)
        return found

    def _pairs(
        self, place: int, arrays: list[Array], returned: Any, functions: Any, tracked: set[int]
    ) -> list[tuple[Array, Any]]:
        if returned is None or not any(id(array) in tracked for array in arrays):
            return []
        given = list(returned) if isinstance(returned, tuple | list) else [returned]
        if len(given) != len(arrays) or not all(isinstance(one, Tensor) for one in given):
            raise RuntimeError(
                f"the backward of '{self.name}' returned {type(returned).__name__} as gradient {place}; "
                "it must be a Tensor or None"
            )
        pairs = []
        for array, gradient in zip(arrays, given, strict=True):
            gradient = summed_to(gradient, array.shape)
            if gradient.shape != array.shape:
                raise RuntimeError(
                    f"the backward of '{self.name}' returned gradient {place} of shape {gradient.shape}, "
                    f"but the argument has shape {array.shape}"
                )
            if gradient._array.dtype != array.dtype:
                gradient = TENSOR_FUNCTIONS.cast(gradient, dtype=array.dtype)
            if id(array) in tracked:
                pairs.append((array, gradient if functions.wraps else gradient._array))
        return pairs
