"""Looking at other processes from a notebook: ranks that it has started, and runs that were started without it."""
