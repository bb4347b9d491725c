"""Sums of gradients: one for each value, added in place where nothing else holds it, or kept part by part."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..base.reference_counts import BORROWS, NEVER, calibrated
from ..base.types import Array
from ..tape.tape import Node, Recording, Renaming
from ..tensors.operator import ARRAY_FUNCTIONS

__all__ = ["Sums", "accumulate", "add_in_place", "add_pairs", "keys_of_sums", "run_hook", "sum_of"]


def accumulate(gradients: dict[int, Any], key: int, gradient: Any, functions: Any) -> None:
    """Add a gradient to the sum for its array."""
    if isinstance(gradients, Sums) and gradients.add(key, gradient):
        return
    previous = gradients.get(key)
    gradients[key] = gradient if previous is None else functions.add(previous, gradient)


def keys_of_sums(gradients: dict[int, Any]) -> set[int]:
    """Return the names of the values that have a gradient so far."""
    return {key for key in (*gradients, *getattr(gradients, "parts", ())) if key in gradients}


def add_pairs(
    gradients: dict[int, Any], functions: Any, pairs: Iterable[tuple[Array, Any]], is_added: bool = False
) -> None:
    """Add each gradient to the sum for its array, as a new value; ``is_added``: they are in the sums already."""
    if not is_added:
        for array, gradient in pairs:
            accumulate(gradients, id(array), gradient, functions)


def add_in_place(
    gradients: dict[int, Any], functions: Any, pairs: Iterable[tuple[Array, Any]], is_added: bool = False
) -> None:
    """Add each gradient, an array, to the sum for its array, in place where nothing else holds that sum."""
    for array, gradient in pairs:
        previous = gradients.get(id(array))
        gradients[id(array)] = gradient if previous is None else sum_of(previous, gradient, functions)


def sum_of(total: Any, gradient: Any, functions: Any, sharing: int = 0) -> Any:
    """Return the sum of two gradients, computed in the first if it is large and nothing else holds it.

    ``sharing``: the number of other references to the first, which will be replaced by the sum.
    """
    if not total.ndim:  # Python's operators turn arrays without axes into NumPy scalars
        return functions.add(total, gradient)
    if total.size > _MIN_SIZE_IN_PLACE:
        if type(total) is np.ndarray:
            if sys.getrefcount(total) <= _MAX_REFERENCES + sharing:
                is_alike = total.dtype == gradient.dtype and total.shape == gradient.shape
                if is_alike and total.flags.owndata and total.flags.writeable:
                    total += gradient
                    return total
        elif functions is ARRAY_FUNCTIONS:
            return functions.add(total, gradient)  # on a GPU: CuPy's own sum is always in C order
    return total + gradient


_MIN_SIZE_IN_PLACE = 4096
"""Elements from which a sum in place saves more time than the check whether it is allowed."""
_MAX_REFERENCES = NEVER
"""References to a gradient held by the backward pass alone: by its dictionary and variable, and in ``sum_of``."""


def _adds_in_place(bound: int, box: list[Any]) -> bool:
    global _MAX_REFERENCES
    _MAX_REFERENCES = bound
    array = np.ones(_MIN_SIZE_IN_PLACE + 1, np.float32)
    gradients = {id(array): box.pop()}
    identity = id(gradients[id(array)])
    add_in_place(gradients, ARRAY_FUNCTIONS, [(array, array)])
    return id(gradients[id(array)]) == identity


_MAX_REFERENCES = calibrated(_adds_in_place, 2 if BORROWS else 4, _MIN_SIZE_IN_PLACE + 1)


Part = list[Any]
"""The name of a part of a gradient, the part, the sum of it and all previous parts, and its number."""


class Sums(dict[int, Any]):
    """The gradients of a backward pass over a tape on which values have several names, because of hooks on them.

    Without the hooks all gradients of such a value would be summed in order of arrival. This class keeps that order,
    under any name: a hook gets the sum of the parts under its own name, and if it changes nothing these parts keep
    their positions. Its replacement is one part, at the position of the hook.

    Args:
        recording: the tape.
        leaves: values whose parts are needed one by one (``parts_of``), with further names or not.
        functions: the operators to add with.
    """

    def __init__(self, recording: Recording, leaves: Iterable[Array], functions: Any) -> None:
        super().__init__()
        self.functions = functions
        self.added = 0  # of all values
        self.parts: dict[int, list[Part]] = {id(array): [] for array in leaves}  # of each name, shared by its names
        self.renamings: list[Node] = []  # held, so that no name is reused before the end of the backward pass
        marks = iter([*recording.marks, (len(recording.nodes) + 1, None, False)])
        begins, region, ended = next(marks)
        for index, node in enumerate((*recording.nodes, None)):
            while region is not None and begins == index:
                for name, inner in (region.inner_outputs if ended else region.inner_inputs).items():
                    self._share(*((id(inner), name) if ended else (name, id(inner))))
                begins, region, ended = next(marks)
            if node is not None and isinstance(node[0], Renaming):
                self.renamings.append(node)
                for x, output in zip(*node[1:3], strict=True):
                    if id(output) in recording.tracked:
                        self._share(id(x), id(output))

    def _share(self, name: int, further: int) -> None:
        self.parts[further] = self.parts.setdefault(name, [])

    def add(self, key: int, gradient: Any) -> bool:
        """Add to a value that has parts; return whether it has."""
        parts = self.parts.get(key)
        if parts is None:
            return False
        self.added += 1
        parts.append([key, gradient, self.functions.add(parts[-1][2], gradient) if parts else gradient, self.added])
        return True

    def get(self, key: int, default: Any = None) -> Any:
        """Return the sum of the parts under a name, as ``dict.get``."""
        parts = self.parts.get(key)
        if parts is None:
            return super().get(key, default)
        own_parts = self.parts_of(key)
        if not own_parts:
            return default
        if len(own_parts) == len(parts):
            return own_parts[-1][2]
        total = own_parts[0][1]
        for part in own_parts[1:]:
            total = self.functions.add(total, part[1])
        return total

    def pop(self, key: int, default: Any = None) -> Any:
        """Return ``get`` and remove all parts under the name."""
        if key not in self.parts:
            return super().pop(key, default)
        gradient = self.get(key, default)
        self.restore_parts(key, [])
        return gradient

    def __getitem__(self, key: int) -> Any:
        return self.get(key) if key in self.parts else super().__getitem__(key)

    def __setitem__(self, key: int, gradient: Any) -> None:
        if key in self.parts:
            self.restore_parts(key, [])
            self.add(key, gradient)
        else:
            super().__setitem__(key, gradient)

    def __contains__(self, key: object) -> bool:
        parts = self.parts.get(key)  # type: ignore[call-overload]  # the key of a dictionary may be any object
        return super().__contains__(key) if parts is None else any(part[0] == key for part in parts)

    def parts_of(self, key: int) -> list[Part]:
        """Return the parts under a name so far, for ``restore_parts``."""
        return [part for part in self.parts[key] if part[0] == key]

    def restore_parts(self, key: int, parts_before: list[Part]) -> None:
        """Remove all parts under a name that are not in ``parts_before``."""
        parts = self.parts[key]
        remaining = [part for part in parts if part[0] != key or any(part is other for other in parts_before)]
        for index, part in enumerate(remaining):
            if part is not parts[index]:  # the sum before it has changed
                part[2] = self.functions.add(remaining[index - 1][2], part[1]) if index else part[1]
        parts[:] = remaining

    def pass_on(
        self,
        node: Renaming,
        inputs: tuple[Array, ...],
        outputs: tuple[Array, ...],
        tracked: set[int],
        hooks: dict[int, Callable[[Any], Any]],
    ) -> list[tuple[Array, Any]]:
        """Move the gradients of the outputs to the inputs: part by part if the hooks changed nothing.

        Returns:
            pairs of an input and a part, already added.
        """
        grad_output = tuple([self.get(id(array)) for array in outputs])
        arrays = [_bare(g) for g in grad_output]
        if all(g is None for g in grad_output) and not node.runs_without_gradient:
            return []
        gradients = tuple([run_hook(hooks, array, g) for array, g in zip(outputs, grad_output, strict=True)])
        gradients = node.run_hooks(gradients, self.functions.wraps)
        new_names: dict[int, int] = {}
        pairs: list[tuple[int, Any]] = []
        for x, output, array, new in zip(inputs, outputs, arrays, gradients, strict=True):
            if id(output) not in self.parts:
                continue
            if id(x) not in tracked:  # another argument: only the hooks needed its gradient
                self.restore_parts(id(output), [])
                continue
            if _bare(new) is array:
                new_names[id(output)] = id(x)
                continue
            self.restore_parts(id(output), [])
            if new is not None:
                self.add(id(x), new)
                pairs.append((id(x), new))
        arrays_of = {id(x): x for x in inputs}
        return [(arrays_of[key], gradient) for key, gradient in (*pairs, *self.rename(new_names))]

    def rename(self, names: dict[int, int]) -> list[tuple[int, Any]]:
        """Move the parts under each of these names to another name of the same value.

        Returns:
            pairs of the other name and a part, in order of arrival.
        """
        pairs = []
        for parts in {id(self.parts[name]): self.parts[name] for name in names}.values():
            for part in parts:
                if part[0] in names:
                    part[0] = names[part[0]]
                    pairs.append((part[0], part[1]))
        return pairs


def _bare(gradient: Any) -> Any:
    """Return the array of a gradient, which may be a tensor: hooks may rebind it."""
    return getattr(gradient, "_array", gradient)


def run_hook(hooks: dict[int, Callable[[Any], Any]], array: Array, gradient: Any) -> Any:
    """Return the gradient of an array after its hook, if there is one."""
    hook = hooks.get(id(array))
    return gradient if hook is None or gradient is None else hook(gradient)
