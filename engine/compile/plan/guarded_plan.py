"""Plans with their guards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base import modes
from ...tape.hooks import bprop_forward_hooks, hooks_enabled
from ...tape.tape import state
from ...tensors import backend, precision
from ...tensors.tensor import Tensor
from ..graph import Bind, Given, Whole
from ..guards.arguments import containers_in, has_views, is_bare
from ..guards.guards import Holding
from ..guards.inspection import Reads
from ..trace.lengths import Lengths
from .plan import Plan
from .recorded_calls import Following

__all__ = ["Guarded"]


def _around() -> tuple[Any, ...]:
    """Return the engine state that decides what operators do."""
    return (
        backend.device_target(),
        precision.current(),
        precision.operator_dtypes(),
        hooks_enabled(),
        bprop_forward_hooks(),
        state.gradients_disabled,
        modes.level,
    )


class Guarded:
    """A plan and its guards.

    Args:
        reads: the Python values that the code reads.
        plan: the plan.
        tensors: the tensors among the arguments.
        lengths: the symbolic dimensions; None if the shapes are fixed.
        following: computes calls inside active recordings, if the plan is for these.
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
        self.roots = reads.roots  # kept alive, so that no other object gets an identity that is a plan's key
        self.containers = reads.found.containers()
        external_ids = {id(t) for t, _ in plan.graph.externals}
        self.others = frozenset([id(t) for t in reads.tensors if type(t) is Tensor and is_bare(t)]) - external_ids
        self.around = _around()
        values = plan.graph.arguments[: len(tensors)]
        self.fits = None if lengths is None else lengths.fits([value.sizes or value.shape for value in values])
        shapes = [None if lengths is not None else value.shape for value in values]
        kinds = [type(t._array) for t in tensors]
        signatures = list(zip(kinds, shapes, [v.dtype for v in values], [v.layout for v in values], strict=True))
        self.holding = Holding(reads.found, plan.graph.externals, signatures)
        self.is_open = lengths is not None and lengths.are_open
        wholes = [node for node in plan.graph.nodes if isinstance(node, Whole)]
        effects = [t for t, _ in plan.graph.effects]
        effects += [node.tensor for node in plan.graph.nodes if isinstance(node, Bind)]
        changed = [t for t in effects if type(t) is not Given] + [t for node in wholes for t in node.changed]
        self.changed = frozenset(map(id, changed))
        self.written = [t.place for t in effects if type(t) is Given]

    def changes_under(self, tensors: Sequence[Tensor]) -> bool:
        """Return whether an argument is a view of a tensor that the plan changes, or has views and is changed itself.

        The former would change during the plan, the latter changes more than itself.
        """
        views = [t._view for t in tensors if t._view is not None]
        if any(id(view.root) in self.changed for view in views):
            return True
        return any(has_views(tensors[index]) for index in self.written)

    def meets(self, tensors: Sequence[Tensor]) -> bool:
        """Return whether an argument is a tensor that the code also reads from elsewhere, but not by its numbers."""
        return bool(self.others) and not self.others.isdisjoint(map(id, tensors))

    def shares(self, tensors: Sequence[Tensor], arguments: Any) -> bool:
        """Return whether a tensor, list or dictionary among the arguments is also read from elsewhere."""
        return self.meets(tensors) or not containers_in(arguments).isdisjoint(self.containers)

    def holds(self, arrays: list[Any]) -> bool:
        """Return whether all guards hold for arguments with these arrays."""
        if self.around != _around() or not self.holding.hold(arrays):
            return False
        return self.fits is None or self.fits(*[x.shape for x in arrays])
