"""Many ranks of one script on this machine: `hookscope run --ranks N script.py`.

The launcher (`launch.py`) starts `mpiexec`, and that a guard for each rank (`guard.py`). The guard asks the launcher,
over a socket in a private folder, for its command and its pipes, starts the rank on them, and says how it ended. In the
rank `ending.py` says what the script raised. Nothing here imports mpi4py or the engine.
"""
