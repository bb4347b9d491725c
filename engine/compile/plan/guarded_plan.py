"""Plans with their guards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base import modes
from ...tape.hooks import bprop_forward_hooks, hooks_enabled
from ...tape.tape import state
from ...tensors import backend, precision
from ...tensors.tensor import Tensor
from ..graph import ArgumentRef, Binding, EagerCall
from ..guards.arguments import containers_in, has_views, is_bare
from ..guards.guards import Guards
from ..guards.inspection import Inspection
from ..trace.lengths import Lengths
from .plan import Plan
from .recorded_calls import PlannedCall

__all__ = ["GuardedPlan"]


def _engine_state() -> tuple[Any, ...]:
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


class GuardedPlan:
    """A plan and its guards.

    Args:
        inspection: the Python values that the code reads.
        plan: the plan.
        tensors: the tensors among the arguments.
        lengths: the symbolic dimensions; None if the shapes are fixed.
        planned_call: computes calls inside active recordings, if the plan is for these.
    """

    __slots__ = (
        "changed_arguments",
        "changed_tensors",
        "containers",
        "engine_state",
        "fits",
        "guards",
        "is_open",
        "other_tensors",
        "plan",
        "planned_call",
        "roots",
        "run",
    )

    def __init__(
        self,
        inspection: Inspection,
        plan: Plan,
        tensors: Sequence[Tensor],
        lengths: Lengths | None = None,
        planned_call: PlannedCall | None = None,
    ) -> None:
        self.plan = plan
        self.planned_call = planned_call
        self.run: Callable[..., Any] = plan.run if planned_call is None else planned_call.call
        self.roots = inspection.roots  # kept alive, so that no other object gets an identity that is a plan's key
        self.containers = inspection.snapshot.containers()
        external_ids = {id(t) for t, _ in plan.graph.externals}
        self.other_tensors = (
            frozenset([id(t) for t in inspection.tensors if type(t) is Tensor and is_bare(t)]) - external_ids
        )
        self.engine_state = _engine_state()
        values = plan.graph.arguments[: len(tensors)]
        self.fits = None if lengths is None else lengths.fits([value.sizes or value.shape for value in values])
        shapes = [None if lengths is not None else value.shape for value in values]
        kinds = [type(t._array) for t in tensors]
        signatures = list(zip(kinds, shapes, [v.dtype for v in values], [v.layout for v in values], strict=True))
        self.guards = Guards(inspection.snapshot, plan.graph.externals, signatures)
        self.is_open = lengths is not None and lengths.are_open
        eager_calls = [node for node in plan.graph.nodes if isinstance(node, EagerCall)]
        effects = [t for t, _ in plan.graph.effects]
        effects += [node.tensor for node in plan.graph.nodes if isinstance(node, Binding)]
        changed_tensors = [t for t in effects if type(t) is not ArgumentRef] + [
            t for node in eager_calls for t in node.changed
        ]
        self.changed_tensors = frozenset(map(id, changed_tensors))
        self.changed_arguments = [t.index for t in effects if type(t) is ArgumentRef]

    def changes_under(self, tensors: Sequence[Tensor]) -> bool:
        """Return whether an argument is a view of a tensor that the plan changes, or has views and is changed itself.

        The former would change during the plan, the latter changes more than itself.
        """
        views = [t._view for t in tensors if t._view is not None]
        if any(id(view.root) in self.changed_tensors for view in views):
            return True
        return any(has_views(tensors[index]) for index in self.changed_arguments)

    def meets(self, tensors: Sequence[Tensor]) -> bool:
        """Return whether an argument is a tensor that the code also reads from elsewhere, but not by its numbers."""
        return bool(self.other_tensors) and not self.other_tensors.isdisjoint(map(id, tensors))

    def shares(self, tensors: Sequence[Tensor], arguments: Any) -> bool:
        """Return whether a tensor, list or dictionary among the arguments is also read from elsewhere."""
        return self.meets(tensors) or not containers_in(arguments).isdisjoint(self.containers)

    def hold(self, arrays: list[Any]) -> bool:
        """Return whether all guards hold for arguments with these arrays."""
        if self.engine_state != _engine_state() or not self.guards.hold(arrays):
            return False
        return self.fits is None or self.fits(*[x.shape for x in arrays])
