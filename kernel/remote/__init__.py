"""Views of other processes in a notebook: ranks that it started, and runs that were started without it."""
