"""The tape of a gradient request, the taps that observe a run, and hooks on values. On arrays, not tensors."""
