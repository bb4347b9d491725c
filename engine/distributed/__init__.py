"""Ranks: the processes of one run that exchange arrays over MPI (``world``, ``worker``, ``exchange``).

Nothing here knows tensors or cells; ``engine.communication`` and ``ops.collectives`` are what users call.
"""
