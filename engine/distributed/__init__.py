"""Ranks: the processes of one run that exchange arrays over MPI (``world``, ``worker``, ``exchange``).

This package does not use tensors or cells; ``engine.communication`` and ``ops.collectives`` are its public interface.
"""
