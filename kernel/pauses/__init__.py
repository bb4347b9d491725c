"""Pauses of a running cell while its widgets stay live.

`pauser` has what users and the debugger call: `pause`, `resume` and `KernelPauser`. Below it, `pump` handles messages
during a pause, from its `inbox`, and `message_filter` says which. `visible_pause` shows a panel in which a user can
answer, and `completion` completes names of the paused function.
"""
