"""What a parameter is to its network: which cells share it, and whether it is a running statistic and no weight."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hookscope.engine.debug.record.capture import cell_name

if TYPE_CHECKING:
    from hookscope.engine.debug import ParameterRow

_MOST_NAMED = 3
# What a normalization keeps for prediction: `moving_mean` in MindSpore, `running_var` in much ported code.
_RUNNING = re.compile(r"(?:^|[._])(?:moving|running)_\w+$")


def is_running_statistic(row: ParameterRow) -> bool:
    """Whether a cell keeps it by itself, from what passes: no gradient asks for it, and its name says so."""
    return not row.requires_grad and _RUNNING.search(row.name) is not None


def shared_text(row: ParameterRow) -> str:
    """Write who shares it: "shared by embed and head"; "" for one that is a single cell's."""
    if len(row.cells) < 2:
        return ""
    names = [cell_name(path) for path in row.cells]
    more = len(names) - _MOST_NAMED
    if more > 0:
        names[_MOST_NAMED:] = [f"{more} more {'cell' if more == 1 else 'cells'}"]
    return f"shared by {', '.join(names[:-1])} and {names[-1]}"
