"""Ranks of one script on this machine: `hookscope run --ranks N script.py`.

The launcher (`launch.py`) starts `mpiexec`, which starts a guard for each rank (`guard.py`). The guard requests its
command and pipes from the launcher, over a socket in a private folder, starts the rank on them, and reports how it
ended. In the rank, `script_end.py` reports the script's exception. Nothing here imports mpi4py or the engine.
"""
