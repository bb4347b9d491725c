"""Watched cells of a session, and the tap that observes them."""
