"""Registering hooks on a cell. How they are called is in ``calling.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.hooks import HookEntry, HookHandle, check_arity
from ..core.parameter import Parameter
from .members import CellBase

__all__ = ["CellHooks"]

HOOK_KINDS = ("forward_pre", "forward", "backward_pre", "backward")


class CellHooks(CellBase):
    """The part of ``Cell`` that takes hooks."""

    def register_forward_pre_hook(
        self,
        hook_fn: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        replace: bool = False,
    ) -> HookHandle:
        """Call ``hook_fn(cell, inputs)`` before ``construct``; what it returns replaces the inputs.

        Args:
            hook_fn: with ``with_kwargs`` called as ``hook_fn(cell, args, kwargs)`` and returning such a pair.
            prepend: run before the hooks that are there.
            replace: take off the hooks of this kind whose function has the same name first, so that running a
                notebook cell again does not pile them up.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments.
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
        """Call ``hook_fn(cell, inputs, output)`` after ``construct``; what it returns replaces the output.

        Args:
            hook_fn: with ``with_kwargs`` called as ``hook_fn(cell, args, kwargs, output)``.
            prepend: run before the hooks that are there.
            always_call: run also when ``construct`` raised, with the output None.
            replace: take off the hooks of this kind whose function has the same name first.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments.
        """
        expected = "hook(cell, args, kwargs, output)" if with_kwargs else "hook(cell, inputs, output)"
        check_arity(hook_fn, 4 if with_kwargs else 3, "register_forward_hook", expected)
        return self._register("forward", HookEntry(hook_fn, with_kwargs, always_call), prepend, replace)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any], *, replace: bool = False) -> HookHandle:
        """Call ``hook_fn(cell, grad_output)`` when the gradient arrives at the cell; what it returns replaces it."""
        check_arity(hook_fn, 2, "register_backward_pre_hook", "hook(cell, grad_output)")
        return self._register("backward_pre", HookEntry(hook_fn), False, replace)

    def register_backward_hook(self, hook_fn: Callable[..., Any], *, replace: bool = False) -> HookHandle:
        """Call ``hook_fn(cell, grad_input, grad_output)`` when the gradient leaves the cell.

        ``grad_input`` is the gradient with respect to the cell's inputs, ``grad_output`` the one that arrived at its
        outputs; both are tuples. What the hook returns replaces ``grad_input``.
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
        """What ``construct`` keeps for its gradient goes through ``pack_hook``, and back through ``unpack_hook``.

        See ``saved_tensors_hooks``.
        """
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            check_arity(hook, 1, "register_saved_tensors_hooks", f"{name}(value)")
        self.__dict__["_saved_tensors_hooks"] = (pack_hook, unpack_hook)
        self._refresh()

    def register_parameter_forward_hook(self, hook: Callable[..., Any] | list[dict[str, Any]]) -> None:
        """Refused: in MindSpore a graph compiler calls these hooks where a parameter is used.

        Raises:
            TypeError: ``hook`` is neither a function nor a list of ``{"params": [...], "hook": function}``.
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
