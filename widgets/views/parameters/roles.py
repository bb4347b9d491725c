"""Roles of a parameter in its network: the cells that share it, and whether it is a running statistic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hookscope.engine.debug.record.capture import cell_name

if TYPE_CHECKING:
    from hookscope.engine.debug import ParameterRow

_MOST_NAMED = 3
# State of a normalization for prediction: `moving_mean` in MindSpore, `running_var` in much ported code.
_RUNNING = re.compile(r"(?:^|[._])(?:moving|running)_\w+$")


def is_running_statistic(row: ParameterRow) -> bool:
    """Return whether a parameter is a running statistic: it requires no gradient, and its name matches."""
    return not row.requires_grad and _RUNNING.search(row.name) is not None


def shared_text(row: ParameterRow) -> str:
    """Return the cells that share a parameter, as "shared by embed and head"; "" for a single cell's."""
    if len(row.cells) < 2:
        return ""
    names = [cell_name(path) for path in row.cells]
    more = len(names) - _MOST_NAMED
    if more > 0:
        names[_MOST_NAMED:] = [f"{more} more {'cell' if more == 1 else 'cells'}"]
    return f"shared by {', '.join(names[:-1])} and {names[-1]}"
