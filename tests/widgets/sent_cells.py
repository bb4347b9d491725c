"""The columns of the cell tree, read back into rows as the page does."""

from __future__ import annotations

from typing import Any

import numpy as np

KINDS = ("forward_pre", "forward", "backward_pre", "backward")
MOMENTS = (*KINDS, "bprop")


def sent_cells(texts: dict[str, Any], numbers: bytes, states: bytes) -> list[dict[str, Any]]:
    """Return one row for each cell, in the order of the tree."""
    depth, kind, shape, parameters = np.frombuffer(numbers, "<f8").reshape(4, -1)
    training, has_bprop, breaks, attached, *hooks = np.frombuffer(states, np.uint8).reshape(8, -1)
    return [
        {
            "path": path,
            "type": texts["types"][int(kind[k])],
            "shape": texts["shapes"][int(shape[k])],
            "depth": int(depth[k]),
            "parameters": int(parameters[k]),
            "training": bool(training[k]),
            "has_bprop": bool(has_bprop[k]),
            "breaks": [moment for bit, moment in enumerate(MOMENTS) if breaks[k] >> bit & 1],
            "attached": [kind for bit, kind in enumerate(KINDS) if attached[k] >> bit & 1],
            "hooks": {kind: int(counts[k]) for kind, counts in zip(KINDS, hooks, strict=True)},
        }
        for k, path in enumerate(texts["paths"])
    ]


def cells_of(panel: Any) -> list[dict[str, Any]]:
    """Return the cells that a panel shows."""
    return sent_cells(panel.tree, panel.tree_numbers, panel.tree_states)
