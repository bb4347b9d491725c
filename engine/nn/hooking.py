"""Registering hooks on a cell. How they are called is in ``calling.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tape.hooks import HookEntry, HookHandle, check_arity
from ..tensors.parameter import Parameter
from .members import CellBase

__all__ = ["CellHooks"]

HOOK_KINDS = ("forward_pre", "forward", "backward_pre", "backward")


class CellHooks(CellBase):
    """The part of ``Cell`` that takes hooks."""

    def register_forward_pre_hook(
        self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, replace: bool = False
    ) -> HookHandle:
        """Call ``hook_fn(cell, inputs)`` before ``construct``, at every call of the cell from now on.

        Hooks run in the order in which they were registered, each with what the one before left. What a hook raises
        goes to the caller, with a note that names hook and cell.

        Args:
            hook_fn: gets the cell and the tuple of positional inputs; with ``with_kwargs`` it is called as
                ``hook_fn(cell, args, kwargs)``. None as its result changes nothing; a tuple becomes the inputs, another
                value the only input. With ``with_kwargs`` it returns None or the pair ``(args, kwargs)``.
            prepend: whether to run before the hooks of this kind that are there.
            with_kwargs: whether the hook sees and may change keyword inputs.
            replace: whether to take off the hooks of this kind whose function has the same qualified name first, so
                that running a notebook cell again does not pile them up.

        Returns:
            A handle; its ``remove()`` takes the hook off.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments. At a call: the ``kwargs`` that it returned are
                no dict.
            RuntimeError: at a call, with ``with_kwargs``: it returned something else than None or a pair.
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

        Hooks run in the order in which they were registered, each with the output that the one before left. What a hook
        raises goes to the caller, with a note that names hook and cell.

        Of a cell with its own ``bprop`` they run after it, unlike in MindSpore: what a hook computes is differentiated
        by itself, and ``bprop`` gets as ``out`` what ``construct`` returned, as ``dout`` the gradient with respect to
        that. ``set_context(bprop_forward_hooks=False)`` passes over them, as MindSpore does.

        Args:
            hook_fn: gets the cell, the tuple of positional inputs and what ``construct`` returned; with ``with_kwargs``
                it is called as ``hook_fn(cell, args, kwargs, output)``. None as its result changes nothing; anything
                else becomes the output.
            prepend: whether to run before the hooks of this kind that are there.
            with_kwargs: whether the hook sees keyword inputs.
            always_call: whether to run also when ``construct`` raised, with the output None; the error goes on
                afterwards.
            replace: whether to take off the hooks of this kind whose function has the same qualified name first.

        Returns:
            A handle; its ``remove()`` takes the hook off.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments.
        """
        expected = "hook(cell, args, kwargs, output)" if with_kwargs else "hook(cell, inputs, output)"
        check_arity(hook_fn, 4 if with_kwargs else 3, "register_forward_hook", expected)
        return self._register("forward", HookEntry(hook_fn, with_kwargs, always_call), prepend, replace)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any], *, replace: bool = False) -> HookHandle:
        """Call ``hook_fn(cell, grad_output)`` in each backward pass, when the gradients of the outputs are known.

        The calls of the cell that are differentiated must come after the registration. Hooks run in the order in which
        they were registered, each with what the one before left; not where no gradient arrives.

        Args:
            hook_fn: gets the cell and a tuple with a gradient for each tensor of the output, None where none arrived;
                of a container's, those that are directly in it, or where none is, all. None as its result changes
                nothing; a tuple of as many tensors, or a bare one for the only one, is what the backward pass goes on
                with.
            replace: whether to take off the hooks of this kind whose function has the same qualified name first.

        Returns:
            A handle; its ``remove()`` takes the hook off.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments. In the backward pass: it returned another
                number of gradients, or something that is no tensor.
            ValueError: in the backward pass: a gradient of another shape or dtype.
        """
        check_arity(hook_fn, 2, "register_backward_pre_hook", "hook(cell, grad_output)")
        return self._register("backward_pre", HookEntry(hook_fn), False, replace)

    def register_backward_hook(self, hook_fn: Callable[..., Any], *, replace: bool = False) -> HookHandle:
        """Call ``hook_fn(cell, grad_input, grad_output)`` in each backward pass, when gradients leave the inputs.

        The calls of the cell that are differentiated must come after the registration. Hooks run in the order in which
        they were registered, each with the ``grad_input`` that the one before left; not where no gradient arrives at
        the outputs.

        What is asked for decides what is known: the gradient of an input that is no constant (it is an argument of the
        differentiated function, a parameter, or computed from an argument or from what is asked for), if that of
        another input is needed. Where no input's is, as in the first layer of a network of which only the weights are
        differentiated, the hooks are called at the end of the backward pass, with ``(None,)``.

        Args:
            hook_fn: gets the cell and two tuples. ``grad_input`` has an entry for each positional input that is a
                tensor by itself: the gradient with respect to it, or None. Tensors in containers have none.
                ``grad_output`` has the gradient that arrived at each tensor of the output, after the backward pre
                hooks. None as its result changes nothing; a tuple of as many gradients, or a bare one for the only one,
                replaces ``grad_input``.
            replace: whether to take off the hooks of this kind whose function has the same qualified name first.

        Returns:
            A handle; its ``remove()`` takes the hook off.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments. In the backward pass: it returned another
                number of gradients, or something that is no tensor.
            ValueError: in the backward pass: a gradient of another shape or dtype.
        """
        check_arity(hook_fn, 3, "register_backward_hook", "hook(cell, grad_input, grad_output)")
        return self._register("backward", HookEntry(hook_fn), False, replace)

    def _register(self, kind: str, entry: HookEntry, prepend: bool, replace: bool) -> HookHandle:
        hooks = self._hooks[kind]
        if replace:
            name = getattr(entry.function, "__qualname__", None)
            for key, held in list(hooks.items()):
                if name is not None and getattr(held.function, "__qualname__", None) == name:
                    del hooks[key]
        handle = HookHandle(hooks, entry, prepend)
        # From now on calls look for hooks; `remove` need not know the cell to undo that.
        self.__dict__["_plain"] = False
        return handle

    def register_saved_tensors_hooks(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        """Let what ``construct`` keeps for its gradient go through ``pack_hook``, and back through ``unpack_hook``.

        See ``saved_tensors_hooks``; here the two are in force during ``construct`` of this cell. A second call replaces
        them. Without effect on a cell that is recomputed.

        Args:
            pack_hook: called with each tensor that is kept; what it returns is kept in its place, of any type.
            unpack_hook: called with that in the backward pass; returns the tensor to compute with.

        Raises:
            TypeError: a hook cannot be called with one argument.
            RuntimeError: in the backward pass: ``unpack_hook`` returned no tensor.
        """
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            check_arity(hook, 1, "register_saved_tensors_hooks", f"{name}(value)")
        self.__dict__["_saved_tensors_hooks"] = (pack_hook, unpack_hook)
        self._refresh()

    def register_parameter_forward_hook(self, hook: Callable[..., Any] | list[dict[str, Any]]) -> None:
        """Refused: in MindSpore a graph compiler calls these hooks where a parameter is used.

        Args:
            hook: a function, or a list of dictionaries ``{"params": [...], "hook": function}``.

        Raises:
            TypeError: ``hook`` is neither, or an entry holds something else.
            ValueError: an entry has other keys.
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
