"""Which cells a session watches, and the tap that observes them."""
