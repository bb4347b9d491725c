"""Choices that a user made in a session's panels, kept when the notebook's cell is run again.

`Choices` is the data, `clicks` records it while a panel handles a message, and `rerun` gives it to the session of the
next run. Only clicks are recorded: whatever code or a magic's line did, the next run does again.
"""

from __future__ import annotations

from hookscope.widgets.choices.choices import Choices, choices_of

__all__ = ["Choices", "choices_of"]
