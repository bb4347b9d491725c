"""A plan with its guards: what must be as it was when the plan was made, for a call to be computed by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import modes
from ..tape.hooks import bprop_forward_hooks, hooks_enabled
from ..tape.tape import state
from ..tensors import backend, precision
from ..tensors.tensor import Tensor
from .arguments import containers_in, has_views, is_bare
from .following import Following
from .graph import Bind, Given, Whole
from .holding import Holding
from .lengths import Lengths
from .plan import Plan
from .reads import Reads

__all__ = ["Guarded"]


def _around() -> tuple[Any, ...]:
    """What of the engine's own state decides what operators do."""
    return (
        backend.device_target(),
        precision.current(),
        precision.listed(),
        hooks_enabled(),
        bprop_forward_hooks(),
        state.refused,
        modes.level,
    )


class Guarded:
    """A plan and what must hold for it to be used.

    Args:
        reads: the Python values that the code reads.
        plan: the plan.
        tensors: those among the arguments.
        lengths: those that are left open; None where the shapes are to be what they were.
        following: what computes calls inside open recordings, if it is for these.
    """

    __slots__ = (
        "around",
        "changed",
        "containers",
        "fits",
        "following",
        "holding",
        "is_open",
        "others",
        "plan",
        "roots",
        "run",
        "written",
    )

    def __init__(
        self,
        reads: Reads,
        plan: Plan,
        tensors: Sequence[Tensor],
        lengths: Lengths | None = None,
        following: Following | None = None,
    ) -> None:
        self.plan = plan
        self.following = following
        self.run: Callable[..., Any] = plan.run if following is None else following.call
        self.roots = reads.roots  # while they live, no other object has an identity by which plans are kept
        self.containers = reads.found.containers()
        known = {id(t) for t, _ in plan.graph.externals}
        self.others = frozenset([id(t) for t in reads.tensors if type(t) is Tensor and is_bare(t)]) - known
        self.around = _around()
        given = plan.graph.arguments[: len(tensors)]
        self.fits = None if lengths is None else lengths.fits([value.sizes or value.shape for value in given])
        shapes = [None if lengths is not None else value.shape for value in given]
        kinds = [type(t._array) for t in tensors]
        forms = list(zip(kinds, shapes, [v.dtype for v in given], [v.layout for v in given], strict=True))
        self.holding = Holding(reads.found, plan.graph.externals, forms)
        self.is_open = lengths is not None and lengths.are_open
        wholes = [node for node in plan.graph.nodes if isinstance(node, Whole)]
        effects = [t for t, _ in plan.graph.effects]
        effects += [node.tensor for node in plan.graph.nodes if isinstance(node, Bind)]
        changed = [t for t in effects if type(t) is not Given] + [t for node in wholes for t in node.changed]
        self.changed = frozenset(map(id, changed))
        self.written = [t.place for t in effects if type(t) is Given]

    def changes_under(self, tensors: Sequence[Tensor]) -> bool:
        """Whether an argument is a view of a tensor that the plan changes, or one that it changes has to do with views.

        The one would change half-way, the other changes more than itself.
        """
        views = [t._view for t in tensors if t._view is not None]
        if any(id(view.root) in self.changed for view in views):
            return True
        return any(has_views(tensors[place]) for place in self.written)

    def meets(self, tensors: Sequence[Tensor]) -> bool:
        """Whether an argument is a tensor that the code reads from elsewhere, of which the plan needs no numbers."""
        return bool(self.others) and not self.others.isdisjoint(map(id, tensors))

    def shares(self, tensors: Sequence[Tensor], arguments: Any) -> bool:
        """Whether a tensor, a list or a dictionary among the arguments is one that the code reads from elsewhere."""
        return self.meets(tensors) or not containers_in(arguments).isdisjoint(self.containers)

    def holds(self, arrays: list[Any]) -> bool:
        """Whether all is as it was, for arguments that hold these arrays."""
        if self.around != _around() or not self.holding.hold(arrays):
            return False
        return self.fits is None or self.fits(*[x.shape for x in arrays])
