"""Scripts that end with an exception: the failing cell and line, and the facts that an explanation must state."""
