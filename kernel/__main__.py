"""Entry point of the kernelspec: `python -m hookscope.kernel -f FILE`."""

import os
import sys

if __name__ == "__main__":
    # `-m` puts the notebook's folder first on the path, where a user's numpy.py would shadow NumPy while the kernel
    # starts. IPython adds the folder again for the user's own imports.
    if sys.path[0] == os.getcwd():
        del sys.path[0]

    from hookscope.kernel.app import main

    main()
