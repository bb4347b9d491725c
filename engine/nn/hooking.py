"""Registration of hooks on a cell. Their calls are in ``calling.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tape.hooks import HookEntry, HookHandle, check_arity
from ..tensors.parameter import Parameter
from .members import CellBase

__all__ = ["CellHooks"]

HOOK_KINDS = ("forward_pre", "forward", "backward_pre", "backward")


class CellHooks(CellBase):
    """The part of ``Cell`` that registers hooks."""

    def register_forward_pre_hook(
        self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, replace: bool = False
    ) -> HookHandle:
        """Call ``hook_fn(cell, inputs)`` before ``construct``, at every call of the cell from now on.

        Hooks run in the order of registration, each with the result of the previous one. An error of a hook propagates
        to the caller, with a note that names hook and cell.

        Args:
            hook_fn: gets the cell and the tuple of positional inputs; with ``with_kwargs`` it is called as
                ``hook_fn(cell, args, kwargs)``. A result of None changes nothing; a tuple becomes the inputs, another
                value the only input. With ``with_kwargs`` it returns None or the pair ``(args, kwargs)``.
            prepend: whether to run before the existing hooks of this kind.
            with_kwargs: whether the hook gets and may replace keyword inputs.
            replace: whether to first remove the hooks of this kind whose function has the same qualified name, so
                that repeated runs of a notebook cell do not accumulate them.

        Returns:
            A handle; its ``remove()`` removes the hook.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments. At a call: the ``kwargs`` that it returned are
                not a dict.
            RuntimeError: at a call, with ``with_kwargs``: it returned neither None nor a pair.
        """
        expected = "hook(cell, args, kwargs)" if with_kwargs else "hook(cell, inputs)"
        check_arity(hook_fn, 3 if with_kwargs else 2, "register_forward_pre_hook", expected)
        return self._register("forward_pre", HookEntry(hook_fn, with_kwargs), prepend, replace)

    def register_forward_hook(
        self,
        hook_fn: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
        replace: bool = False,
    ) -> HookHandle:
        """Call ``hook_fn(cell, inputs, output)`` after ``construct``, at every call of the cell from now on.

        Hooks run in the order of registration, each with the output of the previous one. An error of a hook propagates
        to the caller, with a note that names hook and cell.

        On a cell with its own ``bprop`` they run after it, unlike in MindSpore: the operators of a hook are
        differentiated separately; ``bprop`` gets as ``out`` the result of ``construct``, as ``dout`` the gradient with
        respect to that. ``set_context(bprop_forward_hooks=False)`` disables them, as in MindSpore.

        Args:
            hook_fn: gets the cell, the tuple of positional inputs and the result of ``construct``; with ``with_kwargs``
                it is called as ``hook_fn(cell, args, kwargs, output)``. A result of None changes nothing; anything
                else becomes the output.
            prepend: whether to run before the existing hooks of this kind.
            with_kwargs: whether the hook gets keyword inputs.
            always_call: whether to run also if ``construct`` raised, with the output None; the error propagates
                afterwards.
            replace: whether to first remove the hooks of this kind whose function has the same qualified name.

        Returns:
            A handle; its ``remove()`` removes the hook.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments.
        """
        expected = "hook(cell, args, kwargs, output)" if with_kwargs else "hook(cell, inputs, output)"
        check_arity(hook_fn, 4 if with_kwargs else 3, "register_forward_hook", expected)
        return self._register("forward", HookEntry(hook_fn, with_kwargs, always_call), prepend, replace)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any], *, replace: bool = False) -> HookHandle:
        """Call ``hook_fn(cell, grad_output)`` in each backward pass, when the gradients of the outputs are known.

        Only calls of the cell after the registration count. Hooks run in the order of registration, each with the
        result of the previous one; they do not run if no gradient arrives.

        Args:
            hook_fn: gets the cell and a tuple with a gradient for each tensor of the output, None where none arrived;
                for a container only direct entries, or all if there are none. A result of None changes nothing; a
                tuple of as many tensors, or a bare one for the only one, replaces the gradients.
            replace: whether to first remove the hooks of this kind whose function has the same qualified name.

        Returns:
            A handle; its ``remove()`` removes the hook.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments. In the backward pass: it returned the wrong
                number of gradients, or something that is not a tensor.
            ValueError: in the backward pass: a gradient of the wrong shape or dtype.
        """
        check_arity(hook_fn, 2, "register_backward_pre_hook", "hook(cell, grad_output)")
        return self._register("backward_pre", HookEntry(hook_fn), False, replace)

    def register_backward_hook(self, hook_fn: Callable[..., Any], *, replace: bool = False) -> HookHandle:
        """Call ``hook_fn(cell, grad_input, grad_output)`` in each backward pass, when gradients leave the inputs.

        Only calls of the cell after the registration count. Hooks run in the order of registration, each with the
        ``grad_input`` of the previous one; they do not run if no gradient arrives at the outputs.

        The requested gradients determine the available ones: an input that is not a constant (it is an argument of the
        differentiated function, a parameter, or computed from an argument or from a requested value) has a gradient if
        that of another input is needed. If none is needed, as in the first layer of a network of which only the weights
        are differentiated, the hooks run at the end of the backward pass, with ``(None,)``.

        Args:
            hook_fn: gets the cell and two tuples. ``grad_input`` has an entry for each positional input that is a
                tensor by itself: the gradient with respect to it, or None. Tensors in containers have none.
                ``grad_output`` has the gradient that arrived at each tensor of the output, after the backward pre
                hooks. A result of None changes nothing; a tuple of as many gradients, or a bare one for the only one,
                replaces ``grad_input``.
            replace: whether to first remove the hooks of this kind whose function has the same qualified name.

        Returns:
            A handle; its ``remove()`` removes the hook.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments. In the backward pass: it returned the wrong
                number of gradients, or something that is not a tensor.
            ValueError: in the backward pass: a gradient of the wrong shape or dtype.
        """
        check_arity(hook_fn, 3, "register_backward_hook", "hook(cell, grad_input, grad_output)")
        return self._register("backward", HookEntry(hook_fn), False, replace)

    def _register(self, kind: str, entry: HookEntry, prepend: bool, replace: bool) -> HookHandle:
        hooks = self._hooks[kind]
        if replace:
            name = getattr(entry.function, "__qualname__", None)
            for key, registered in list(hooks.items()):
                if name is not None and getattr(registered.function, "__qualname__", None) == name:
                    del hooks[key]
        handle = HookHandle(hooks, entry, prepend)
        # From now on calls check for hooks; `remove` need not undo this.
        self.__dict__["_plain"] = False
        return handle

    def register_saved_tensors_hooks(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        """Pass the values that ``construct`` saves for its gradient through ``pack_hook`` and ``unpack_hook``.

        See ``saved_tensors_hooks``; here the two are in force during ``construct`` of this cell. A second call replaces
        them. Without effect on a cell that is recomputed.

        Args:
            pack_hook: called with each saved tensor; its result, of any type, replaces the tensor.
            unpack_hook: called with that result in the backward pass; returns the tensor to compute with.

        Raises:
            TypeError: a hook cannot be called with one argument.
            RuntimeError: in the backward pass: ``unpack_hook`` did not return a tensor.
        """
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            check_arity(hook, 1, "register_saved_tensors_hooks", f"{name}(value)")
        self.__dict__["_saved_tensors_hooks"] = (pack_hook, unpack_hook)
        self._refresh()

    def register_parameter_forward_hook(self, hook: Callable[..., Any] | list[dict[str, Any]]) -> None:
        """Raise NotImplementedError: in MindSpore a graph compiler calls these hooks where a parameter is used.

        Args:
            hook: a function, or a list of dictionaries ``{"params": [...], "hook": function}``.

        Raises:
            TypeError: ``hook`` is neither, or an entry holds something else.
            ValueError: an entry has the wrong keys.
            NotImplementedError: otherwise.
        """
        entries: list[dict[str, Any]] = hook if isinstance(hook, list) else [{"params": [], "hook": hook}]
        for entry in entries:
            if not isinstance(entry, dict):
                raise TypeError(
                    "For 'register_parameter_forward_hook', 'hook' must be a function or a list of dictionaries, "
                    f"but got an entry of type {type(entry).__name__}"
                )
            if set(entry) != {"params", "hook"}:
                raise ValueError("For 'register_parameter_forward_hook', an entry has the keys 'params' and 'hook'")
            if not callable(entry["hook"]) or not all(isinstance(p, Parameter) for p in entry["params"]):
                raise TypeError("For 'register_parameter_forward_hook', 'params' holds Parameters, 'hook' a function")
        raise NotImplementedError(
            "register_parameter_forward_hook is called by MindSpore's graph compiler: use register_forward_pre_hook"
        )
